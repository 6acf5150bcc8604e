"""Comparing a split manifest with the samples that are there now, and with another manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.splits.files import SplitManifest, digest_as_written
from course_lib.splits.given import need_type
from course_lib.splits.lines import are_in_order
from course_lib.splits.making import make_split
from course_lib.splits.samples import SampleTable

_READ_FIRST = "read it first: read_split(folder)"


@dataclass(frozen=True)
class Verification:
    """What became of the samples of a split.

    Attributes
    ----------
    ok : bool
        Whether the manifest is the recipe applied to these very samples.
    missing, unexpected, changed, misplaced : tuple of str
        Ids that only the manifest has, that only the data have, whose content, label or group is another one,
        and that the recipe puts into another split.
    sentences : tuple of str
        The same for people.
    """

    ok: bool
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    changed: tuple[str, ...]
    misplaced: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class SplitDiff:
    """How one manifest differs from another.

    Attributes
    ----------
    moved : dict
        Ids by (split in the first manifest, split in the second).
    added, removed, changed : tuple of str
        Ids that only the second has, that only the first has, and whose digest or group differs.
    sentences : tuple of str
        The same for people.
    """

    moved: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    sentences: tuple[str, ...] = ()

    @property
    def same(self) -> bool:
        """Tell whether every sample is in both, in the same split and with the same digest."""
        return not (self.moved or self.added or self.removed or self.changed)


def verify_split(manifest: SplitManifest, samples: SampleTable) -> Verification:
    """Compare a manifest with the samples, and with what its recipe makes of them.

    Returns
    -------
    Verification
    """
    need_type(manifest, SplitManifest, "A split manifest", _READ_FIRST)
    need_type(
        samples, SampleTable, "A sample table", "make one first: sample_table(ids, labels, dataset=...)"
    )
    theirs = _Rows(manifest.ids, manifest.groups, manifest.sample_digests)
    digests = samples.sample_digests() if samples.content is not None else None
    here, there = _common(theirs.ids, samples.ids)
    ours = _Rows(samples.ids, samples.groups, digests)
    missing, unexpected = _others(theirs.ids, here), _others(ours.ids, there)
    changed = _texts(theirs.ids, here[_differing(theirs, here, ours, there)])
    sentences = []
    if (manifest.dataset, manifest.variant) != (samples.dataset, samples.variant):
        sentences.append(f"The manifest is of {manifest.title}, the samples are of {samples.title}.")
    _say(sentences, missing, "of the manifest", "not in the data")
    _say(sentences, unexpected, "of the data", "not in the manifest")
    _say(sentences, changed, "", "changed in content, label or group")
    problems = list(sentences)
    misplaced: tuple[str, ...] = ()
    if not problems:
        try:
            again = make_split(samples, manifest.recipe, allow_missing_classes=True)
        except CourseError as error:
            problems.append(f"The recipe cannot be repeated: {error}")
        else:
            misplaced = _texts(theirs.ids, here[manifest.codes[here] != again.codes[there]])
            _say(problems, misplaced, "", f"in another split than {manifest.recipe} gives")
            if manifest.counts != again.counts():
                problems.append("The manifest counts other numbers of samples by class than the data give.")
    if not problems:
        problems += _unlike_what_is_written(manifest)
    ok = not problems
    if ok:
        problems.append(
            f"All {len(manifest):,} samples are there, "
            f"and the recipe {manifest.recipe} puts each where it stands."
        )
    problems += _not_compared(theirs, ours)
    return Verification(ok, missing, unexpected, changed, misplaced, tuple(problems))


def diff_splits(first: SplitManifest, second: SplitManifest) -> SplitDiff:
    """Tell which samples moved, came, went or changed between two manifests.

    Returns
    -------
    SplitDiff
    """
    for manifest in (first, second):
        need_type(manifest, SplitManifest, "A split manifest", _READ_FIRST)
    rows = [_Rows(manifest.ids, manifest.groups, manifest.sample_digests) for manifest in (first, second)]
    here, there = _common(first.ids, second.ids)
    removed, added = _others(first.ids, here), _others(second.ids, there)
    changed = _texts(first.ids, here[_differing(rows[0], here, rows[1], there)])
    moved = {}
    for code, name in enumerate(first.names):
        for other_code, other_name in enumerate(second.names):
            if name != other_name:
                between = (first.codes[here] == code) & (second.codes[there] == other_code)
                if between.any():
                    moved[name, other_name] = _texts(first.ids, here[between])
    sentences: list[str] = []
    for (name, other_name), ids in moved.items():
        _say(sentences, ids, "", f"in {name} in the first manifest and in {other_name} in the second")
    _say(sentences, added, "", "only in the second manifest")
    _say(sentences, removed, "", "only in the first manifest")
    _say(sentences, changed, "", "changed in content, label or group")
    sentences += _not_compared(*rows)
    return SplitDiff(moved, added, removed, changed, tuple(sentences))


@dataclass(frozen=True)
class _Rows:
    ids: pa.Array
    groups: pa.Array | None
    digests: NDArray[np.uint8] | None


def _unlike_what_is_written(manifest: SplitManifest) -> list[str]:
    """Return what shows that a manifest of the right samples in the right splits was edited all the same."""
    if not are_in_order(manifest.ids):
        return ["The manifest's samples are not in the order of their ids, or not each once."]
    if digest_as_written(manifest) != manifest.digest:
        return ["The manifest's lines, seed or digests are not as the workbook writes them: it was edited."]
    return []


def _not_compared(first: _Rows, second: _Rows) -> list[str]:
    sentences = []
    if first.digests is None or second.digests is None:
        sentences.append("Contents were not compared, as one side has no digests of them.")
    if (first.groups is None) != (second.groups is None):
        sentences.append("Groups were not compared, as one side has none.")
    return sentences


def _common(first: pa.Array, second: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the common ids in both arrays, ascending in the first."""
    places = pc.index_in(first, second)
    here = np.flatnonzero(pc.is_valid(places).to_numpy(zero_copy_only=False))
    return here, places.drop_null().to_numpy().astype(np.int64)


def _others(ids: pa.Array, common: NDArray[np.int64]) -> tuple[str, ...]:
    others = np.ones(len(ids), dtype=bool)
    others[common] = False
    return _texts(ids, np.flatnonzero(others))


def _texts(ids: pa.Array, places: NDArray[np.int64]) -> tuple[str, ...]:
    chosen: Sequence[str] = ids.take(pa.array(places, type=pa.int64())).to_pylist()
    return tuple(sorted(chosen, key=lambda text: text.encode("utf-8")))


def _differing(
    first: _Rows, here: NDArray[np.int64], second: _Rows, there: NDArray[np.int64]
) -> NDArray[np.bool_]:
    differing = np.zeros(len(here), dtype=bool)
    if first.digests is not None and second.digests is not None:
        differing |= (first.digests[here] != second.digests[there]).any(axis=1)
    if first.groups is not None and second.groups is not None:
        unlike = pc.not_equal(first.groups.take(pa.array(here)), second.groups.take(pa.array(there)))
        differing |= unlike.to_numpy(zero_copy_only=False)
    return differing


def _say(sentences: list[str], ids: Sequence[str], whose: str, what: str) -> None:
    if ids:
        some = ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else ".")
        noun, verb = ("sample", "is") if len(ids) == 1 else ("samples", "are")
        sentences.append(
            " ".join(part for part in (f"{len(ids):,} {noun}", whose, verb, what) if part) + f": {some}"
        )
