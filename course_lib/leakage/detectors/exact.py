"""Exact duplicates: samples with the same content in two parts, whatever their names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.leakage.detectors.finding import Finding, cannot_tell
from course_lib.leakage.detectors.parts import Parts, parts_of
from course_lib.leakage.detectors.wording import counted

if TYPE_CHECKING:
    from course_lib.splits import SampleTable

_KIND = "exact_duplicate"


def find_exact_duplicates(
    split: Any, samples: SampleTable | None = None, *, digests: NDArray[np.uint8] | None = None
) -> Finding:
    """Find samples whose content lies in two parts or more, under whatever ids.

    Parameters
    ----------
    split : Split, SplitManifest or Parts
        Which sample lies in which part.
    samples : SampleTable, optional
        The data set with content digests, in any order. Without it a `Split` gives its own, and a
        `SplitManifest` the digests of content *with* label, which overlook copies under another label.
    digests : ndarray of uint8, shape (samples, 32), optional
        The content digests themselves, in the order of the split's ids.

    Returns
    -------
    Finding
        ``together`` holds one tuple of ids for each content that lies in two parts or more.

    Raises
    ------
    CourseError
        When digests are not 32 bytes for each sample, or the data set lacks samples of the split.
    """
    parts = parts_of(split)
    if digests is None:
        digests = _digests(split, samples, parts)
    if digests is None:
        return cannot_tell(_KIND, "Nothing gives the content of the samples, so copies cannot be found.")
    if digests.shape != (len(parts), 32):
        raise CourseError(
            "Content digests must be 32 bytes for each sample",
            expected=f"shape ({len(parts)}, 32)",
            found=f"shape {digests.shape}",
        )
    places = sets_of_equal(np.ascontiguousarray(digests).view("V32").ravel())
    crossing = [at for at in places if len(np.unique(parts.codes[at])) > 1]
    together = tuple(sorted(tuple(sorted(parts.ids_at(at))) for at in crossing))
    figures = {
        "samples": len(parts),
        "sets": len(together),
        "repeats": sum(len(at) - 1 for at in places),
        "pairs": sum(pairs_across(parts.codes[at]) for at in crossing),
    }
    if not together:
        return Finding(_KIND, "clear", "No sample's content lies in two parts.", (), figures)
    sentence = (
        f"{counted(len(together), 'content lies', 'contents lie')} in two parts or more, "
        f"under {counted(sum(map(len, together)), 'id')}: the model has seen these test answers before."
    )
    return Finding(_KIND, "found", sentence, _flat(together), figures, together)


def sets_of_equal(values: NDArray[Any]) -> list[NDArray[np.intp]]:
    """Return the positions of every value that occurs more than once, each in rising order."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    inverse = inverse.ravel()
    order = np.argsort(inverse, kind="stable")
    repeated = order[counts[inverse[order]] > 1]
    edges = np.flatnonzero(np.diff(inverse[repeated])) + 1
    return np.split(repeated, edges) if len(repeated) else []


def pairs_across(codes: NDArray[np.int8]) -> int:
    """Return how many pairs of these samples lie in two different parts."""
    counts = np.unique(codes, return_counts=True)[1].astype(np.int64)
    return int((counts.sum() ** 2 - (counts**2).sum()) // 2)


def _flat(together: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(sorted({sample_id for ids in together for sample_id in ids}))


def _digests(split: Any, samples: SampleTable | None, parts: Parts) -> NDArray[np.uint8] | None:
    if samples is not None:
        return None if samples.content is None else samples.content[parts.positions_in(samples)]
    if hasattr(split, "samples"):
        content: NDArray[np.uint8] | None = split.samples.content
        return content
    return getattr(split, "sample_digests", None)
