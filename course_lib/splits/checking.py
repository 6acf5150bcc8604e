"""What every split must hold to, looked at after it was made and whoever made it."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.splits.given import shown
from course_lib.splits.recipe import Recipe
from course_lib.splits.samples import SampleTable


def class_counts(samples: SampleTable, recipe: Recipe, codes: NDArray[np.int8]) -> NDArray[np.int64]:
    """Return the number of samples by split and class, shape (splits, classes)."""
    splits, classes = len(recipe.names), len(samples.class_names)
    cells = codes.astype(np.int32) * np.int32(classes) + samples.labels
    return np.bincount(cells, minlength=splits * classes).reshape(splits, classes)


def check_split(
    samples: SampleTable, recipe: Recipe, codes: NDArray[np.int8], *, allow_missing_classes: bool = False
) -> None:
    """Raise CourseError, naming what cannot be met and why, unless the split keeps every promise.

    Each sample stands in exactly one split; no split is empty; none lacks a class (unless that is allowed);
    groups are whole; nothing in a split is later than, or as late as, anything in the next; the official test
    set is the last split and nothing else; and in each stratum every split has its share within one sample.

    Parameters
    ----------
    samples : SampleTable
    recipe : Recipe
    codes : ndarray of int8, shape (n,)
        Place of each sample's split in ``recipe.names``.
    allow_missing_classes : bool, optional
        Accept a split without a sample of some class.
    """
    if len(codes) != len(samples) or codes.min() < 0 or codes.max() >= len(recipe.names):
        raise CourseError(
            f"A split of {samples.title} is not complete",
            expected=f"one of {', '.join(recipe.names)} for each of {len(samples):,} samples",
            found=f"{int(np.count_nonzero((codes >= 0) & (codes < len(recipe.names)))):,} that have one",
            next_step="make the split anew",
        )
    counts = class_counts(samples, recipe, codes)
    if recipe.kind == "ordered":
        _check_time_order(samples, recipe, codes)
    _check_not_empty(samples, recipe, counts)
    if recipe.kind in ("grouped", "grouped-stratified"):
        _check_groups_whole(samples, recipe, codes)
    if recipe.kind == "official":
        _check_official_test_set(samples, recipe, codes)
    if not allow_missing_classes:
        _check_classes(samples, recipe, codes, counts)
    if recipe.kind in ("stratified", "official", "random"):
        _check_shares(samples, recipe, counts)


def missing_column(samples: SampleTable, recipe: Recipe, what: str, argument: str) -> CourseError:
    """Return the error for a recipe that needs a column which the samples do not have."""
    return CourseError(
        f"The recipe {recipe} needs {what}, which {samples.title} does not have",
        next_step=f"choose another kind of split, or pass `{argument}` when making the sample table",
    )


def _check_not_empty(samples: SampleTable, recipe: Recipe, counts: NDArray[np.int64]) -> None:
    for name, size in zip(recipe.names, counts.sum(axis=1).tolist(), strict=True):
        if size == 0:
            reason = {
                "ordered": "samples of one time stay together, and there are too few times",
                "official": "the publisher's parts leave nothing for it",
            }.get(recipe.kind, "there are too few samples for its share")
            raise CourseError(
                f"The split {name} of {samples.title} would be empty under {recipe}: {reason}",
                found=f"{len(samples):,} samples in all",
                next_step="choose fewer splits or other ratios",
            )


def _check_classes(
    samples: SampleTable, recipe: Recipe, codes: NDArray[np.int8], counts: NDArray[np.int64]
) -> None:
    lacking = np.argwhere(counts == 0)
    if not len(lacking):
        return
    split, label = lacking[np.argmin(counts.sum(axis=0)[lacking[:, 1]])].tolist()
    size = int(counts[:, label].sum())
    raise CourseError(
        f"The split {recipe.names[split]} of {samples.title} would lack the class "
        f"{shown(samples.class_names[label])} under {recipe}",
        expected="every class in every split",
        found=_why_missing(samples, recipe, label, size),
        next_step="merge the class with another, choose other ratios, or allow missing classes",
    )


def _why_missing(samples: SampleTable, recipe: Recipe, label: int, size: int) -> str:
    samples_of_it = f"{size:,} sample{'s' if size != 1 else ''} of this class in all"
    if recipe.kind in ("grouped", "grouped-stratified") and samples.groups is not None:
        members = samples.groups.filter(samples.labels == label)
        groups = pc.count_distinct(members).as_py()
        return f"{samples_of_it}, in {groups} group{'s' if groups != 1 else ''} that stay whole"
    if recipe.kind == "ordered":
        return f"{samples_of_it}, and time alone decides where they stand"
    if recipe.kind == "official" and samples.official is not None:
        test = int(np.count_nonzero((samples.labels == label) & (samples.official == 1)))
        return f"{samples_of_it}, {test:,} of them in the publisher's test set"
    return f"{samples_of_it}, too few for the smallest share of {float(min(recipe.ratios)):.3g}"


def _check_groups_whole(samples: SampleTable, recipe: Recipe, codes: NDArray[np.int8]) -> None:
    if samples.groups is None:
        raise missing_column(samples, recipe, "the samples' groups", "groups")
    encoded = pc.dictionary_encode(samples.groups)
    groups = encoded.indices.to_numpy()
    one_code = np.empty(len(encoded.dictionary), dtype=np.int8)
    one_code[groups] = codes
    spread = one_code[groups] != codes
    if spread.any():
        group = groups[int(np.argmax(spread))]
        places = ", ".join(recipe.names[code] for code in np.unique(codes[groups == group]))
        raise CourseError(
            f"A group of {samples.title} is spread over splits",
            expected="groups that stay whole",
            found=f"group {shown(encoded.dictionary[int(group)].as_py())} in {places}",
            next_step="make the split with a grouped recipe",
        )


def _check_time_order(samples: SampleTable, recipe: Recipe, codes: NDArray[np.int8]) -> None:
    if samples.times is None:
        raise missing_column(samples, recipe, "the samples' times", "times")
    latest = None
    for code, name in enumerate(recipe.names):
        times = samples.times[codes == code]
        if not len(times):
            continue
        if latest is not None and times.min() <= latest[1]:
            raise CourseError(
                f"The splits of {samples.title} are not in the order of time",
                expected=f"everything in {latest[0]} before everything in {name}",
                found=f"a sample of {name} that is not later",
                next_step="make the split with an ordered recipe",
            )
        latest = (name, times.max())


def _check_official_test_set(samples: SampleTable, recipe: Recipe, codes: NDArray[np.int8]) -> None:
    if samples.official is None:
        raise missing_column(samples, recipe, "the publisher's parts", "official")
    wrong = (samples.official == 1) != (codes == len(recipe.names) - 1)
    if wrong.any():
        raise CourseError(
            f"The official test set of {samples.title} is not kept apart",
            expected=f"exactly its samples in {recipe.names[-1]}",
            found=f"{int(wrong.sum()):,} samples on the wrong side",
            next_step="make the split with an official recipe",
        )


def _check_shares(samples: SampleTable, recipe: Recipe, counts: NDArray[np.int64]) -> None:
    divided = counts[: len(recipe.ratios)]
    strata = divided.sum(axis=1, keepdims=True) if recipe.kind == "random" else divided
    for label in range(strata.shape[1]):
        total = int(strata[:, label].sum())
        for split, ratio in enumerate(recipe.ratios):
            if abs(int(strata[split, label]) - total * ratio) >= 1:
                raise CourseError(
                    f"The split {recipe.names[split]} of {samples.title} does not have its share",
                    expected=f"{float(total * ratio):.1f} samples within one",
                    found=f"{int(strata[split, label]):,}",
                    next_step=f"make the split anew by {recipe}",
                )
