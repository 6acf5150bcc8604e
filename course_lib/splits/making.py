"""Making a split: a function of the samples' ids, classes, groups and times, and of the recipe."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.splits.checking import check_split, class_counts, missing_column
from course_lib.splits.given import need_type
from course_lib.splits.grouping import place_groups
from course_lib.splits.ordering import keyed_digests, order_by_digest
from course_lib.splits.recipe import Recipe
from course_lib.splits.samples import SampleTable
from course_lib.splits.shares import apportion


@dataclass(frozen=True, eq=False, repr=False)
class Split:
    """Which split each sample belongs to.

    Attributes
    ----------
    samples : SampleTable
        What was split.
    recipe : Recipe
        How.
    codes : ndarray of int8, shape (n,)
        For each sample the place of its split in ``names``, in the order of ``samples``.
    notes : tuple of str
        What a reader should know: ties, cuts that were moved, shares that whole groups do not allow.
    """

    samples: SampleTable
    recipe: Recipe
    codes: NDArray[np.int8]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        sizes = np.bincount(self.codes, minlength=len(self.names))
        parts = ", ".join(f"{name} {size:,}" for name, size in zip(self.names, sizes, strict=True))
        return f"Split({self.samples.title}, {self.recipe}: {parts})"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the splits; a code is a place in them."""
        return self.recipe.names

    @property
    def ids(self) -> pa.Array:
        """Return the ids of all samples, aligned with ``codes``."""
        return self.samples.ids

    def positions(self, name: str) -> NDArray[np.int64]:
        """Return the places of a split's samples in the sample table, ascending."""
        return positions_of(self.names, self.codes, name)

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of samples by split and class name."""
        return {
            name: dict(zip(self.samples.class_names, row, strict=True))
            for name, row in zip(
                self.names, class_counts(self.samples, self.recipe, self.codes).tolist(), strict=True
            )
        }


def positions_of(names: tuple[str, ...], codes: NDArray[np.int8], name: str) -> NDArray[np.int64]:
    """Return where ``codes`` name the split called ``name``; a CourseError lists the splits there are."""
    if name not in names:
        raise CourseError(
            f"There is no split called {name!r}",
            expected="one of " + ", ".join(names),
            next_step="choose one of these",
        )
    return np.flatnonzero(codes == names.index(name)).astype(np.int64, copy=False)


def make_split(samples: SampleTable, recipe: Recipe, *, allow_missing_classes: bool = False) -> Split:
    """Split the samples by the recipe, check the result and return it.

    The order of the samples, the process, the platform and the versions of libraries play no role: a keyed
    digest of each id decides, under a key made of the recipe and its seed; equal digests are ordered by id.

    Parameters
    ----------
    samples : SampleTable
    recipe : Recipe
    allow_missing_classes : bool, optional
        Accept a split without a sample of some class.

    Returns
    -------
    Split

    Raises
    ------
    CourseError
        When the recipe needs a column that the samples lack, or the result would break a promise: an empty
        split, a missing class, more splits than groups, ...

    Examples
    --------
    >>> from course_lib.splits import parse_recipe, sample_table
    >>> calls = sample_table([f"row-{number}" for number in range(20)], ["no", "yes"] * 10, dataset="calls")
    >>> make_split(calls, parse_recipe("stratified-80-20")).counts()
    {'train': {'no': 8, 'yes': 8}, 'test': {'no': 2, 'yes': 2}}
    """
    need_type(
        samples, SampleTable, "A sample table", "make one first: sample_table(ids, labels, dataset=...)"
    )
    need_type(recipe, Recipe, "A recipe", "parse it first: parse_recipe('stratified-80-20')")
    if recipe.kind == "ordered":
        codes, notes = _ordered(samples, recipe)
    elif recipe.kind == "official":
        codes, notes = _official(samples, recipe)
    elif recipe.kind in ("grouped", "grouped-stratified"):
        codes, notes = _grouped(samples, recipe)
    else:
        codes = np.full(len(samples), -1, dtype=np.int8)
        notes = _stratify(samples, recipe, np.arange(len(samples), dtype=np.int64), codes)
    check_split(samples, recipe, codes, allow_missing_classes=allow_missing_classes)
    return Split(samples, recipe, codes, tuple(notes))


def _key(recipe: Recipe) -> str:
    return f"{recipe.shares_text} seed {recipe.seed}"


def _stratify(
    samples: SampleTable, recipe: Recipe, positions: NDArray[np.int64], codes: NDArray[np.int8]
) -> list[str]:
    """Set the codes of the samples at ``positions``, stratum by stratum, and return notes."""
    strata = _strata(samples, recipe, positions)
    digests = keyed_digests(samples.ids, _key(recipe))
    sizes, ties = _sizes_of_strata([len(stratum) for stratum in strata], recipe)
    for stratum, stratum_sizes in zip(strata, sizes, strict=True):
        codes[order_by_digest(stratum, digests, samples.ids)] = np.repeat(
            np.arange(len(stratum_sizes), dtype=np.int8), stratum_sizes
        )
    if not ties:
        return []
    what = f"{ties} of {len(strata)} classes" if recipe.kind != "random" else "the last sample"
    return [
        f"In {what} two splits had the same claim to the last sample: it went to the split that was furthest "
        "behind its share over the classes before, and else to the one named first."
        if recipe.kind != "random"
        else "Two splits had the same claim to the last sample: it went to the one named first."
    ]


def _strata(samples: SampleTable, recipe: Recipe, positions: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the positions of each stratum; classes ordered by name, so that codes play no role."""
    if recipe.kind == "random":
        return [positions]
    labels = samples.labels if len(positions) == len(samples) else samples.labels[positions]
    # numpy sorts narrow whole numbers by counting them.
    narrow = labels.astype(np.min_scalar_type(len(samples.class_names)))
    by_class = positions[np.argsort(narrow, kind="stable")]
    ends = np.cumsum(np.bincount(labels, minlength=len(samples.class_names)))
    segments = np.split(by_class, ends[:-1])
    by_name = sorted(range(len(segments)), key=lambda code: samples.class_names[code].encode("utf-8"))
    return [segments[code] for code in by_name]


def _sizes_of_strata(totals: list[int], recipe: Recipe) -> tuple[list[list[int]], int]:
    """Return the size of each split in each stratum, and in how many a tie had to be broken."""
    if recipe.counts:
        whole = sum(totals)
        first, tied = apportion(recipe.counts[0], [Fraction(total, whole) for total in totals])
        return [[size, total - size] for size, total in zip(first, totals, strict=True)], int(tied)
    behind = [Fraction(0)] * len(recipe.ratios)
    sizes, ties = [], 0
    for total in totals:
        counts, tied = apportion(total, recipe.ratios, behind)
        behind = [
            lag + total * ratio - count
            for lag, ratio, count in zip(behind, recipe.ratios, counts, strict=True)
        ]
        sizes.append(counts)
        ties += tied
    return sizes, ties


def _official(samples: SampleTable, recipe: Recipe) -> tuple[NDArray[np.int8], list[str]]:
    if samples.official is None:
        raise missing_column(samples, recipe, "the publisher's parts", "official")
    codes = np.full(len(samples), len(recipe.ratios), dtype=np.int8)
    training = np.flatnonzero(samples.official == 0).astype(np.int64, copy=False)
    if recipe.counts and len(training) != sum(recipe.counts):
        raise CourseError(
            f"The recipe {recipe} does not fit the official training set of {samples.title}",
            expected=" + ".join(f"{count:,}" for count in recipe.counts)
            + f" = {sum(recipe.counts):,} samples",
            found=f"{len(training):,}",
            next_step="choose sizes that sum to this, or shares in percent such as official-90-10",
        )
    return codes, _stratify(samples, recipe, training, codes)


def _ordered(samples: SampleTable, recipe: Recipe) -> tuple[NDArray[np.int8], list[str]]:
    if samples.times is None:
        raise missing_column(samples, recipe, "the samples' times", "times")
    sizes, tied = apportion(len(samples), recipe.ratios)
    order = np.argsort(samples.times, kind="stable")
    in_order = samples.times[order]
    notes = []
    if tied:
        notes.append("Two splits had the same claim to the last sample: it went to the one named first.")
    cuts = []
    for before, after, wanted in zip(recipe.names, recipe.names[1:], np.cumsum(sizes).tolist(), strict=False):
        cut = _cut_between_times(in_order, wanted)
        if cut != wanted:
            notes.append(
                f"The cut between {before} and {after} was moved from {wanted:,} to {cut:,} samples, "
                "as samples of one time stay together."
            )
        cuts.append(cut)
    codes = np.empty(len(samples), dtype=np.int8)
    codes[order] = np.searchsorted(np.array(cuts), np.arange(len(samples)), side="right")
    return codes, notes


def _cut_between_times(in_order: NDArray[np.int64], wanted: int) -> int:
    """Return the place nearest to ``wanted`` at which a new time begins; the earlier one of two alike."""
    if wanted in (0, len(in_order)) or in_order[wanted - 1] != in_order[wanted]:
        return wanted
    earlier = int(np.searchsorted(in_order, in_order[wanted], side="left"))
    later = int(np.searchsorted(in_order, in_order[wanted], side="right"))
    return earlier if wanted - earlier <= later - wanted else later


def _grouped(samples: SampleTable, recipe: Recipe) -> tuple[NDArray[np.int8], list[str]]:
    if samples.groups is None:
        raise missing_column(samples, recipe, "the samples' groups", "groups")
    encoded = pc.dictionary_encode(samples.groups)
    group_codes = encoded.indices.to_numpy()
    group_count = len(encoded.dictionary)
    if group_count < len(recipe.ratios):
        raise CourseError(
            f"{samples.title} cannot be split by the recipe {recipe}, as groups stay whole",
            expected=f"at least {len(recipe.ratios)} groups, one for each split",
            found=f"{group_count}",
            next_step="choose fewer splits",
        )
    stratified = recipe.kind == "grouped-stratified"
    placed = place_groups(
        encoded.dictionary,
        group_codes,
        samples.labels if stratified else np.zeros(len(samples), dtype=np.int32),
        len(samples.class_names) if stratified else 1,
        recipe.ratios,
        _key(recipe),
    )
    codes = placed[group_codes]
    wanted, _ = apportion(len(samples), recipe.ratios)
    got = np.bincount(codes, minlength=len(recipe.names)).tolist()
    notes = [
        f"{group_count:,} groups were kept whole, the largest parts of a class placed first; "
        "between equal claims the digest of the group's name decided, and then the split named first."
    ]
    if got != wanted:
        sizes = ", ".join(
            f"{name} {size:,} in place of {target:,}"
            for name, size, target in zip(recipe.names, got, wanted, strict=True)
            if size != target
        )
        notes.append(f"Whole groups do not give the exact shares: {sizes}.")
    return codes, notes
