"""Table rows that are equal but for a few named fields, on both sides of a split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.leakage.detectors.exact import pairs_across, sets_of_equal
from course_lib.leakage.detectors.finding import Finding, cannot_tell
from course_lib.leakage.detectors.parts import parts_of
from course_lib.leakage.detectors.wording import counted, listed

if TYPE_CHECKING:
    import pandas

_KIND = "near_duplicate"


def find_near_duplicate_rows(split: Any, frame: pandas.DataFrame, *, ignoring: Sequence[str]) -> Finding:
    """Find rows in two parts that are equal in every field but those named.

    Rows that are equal throughout are exact duplicates, and left to `find_exact_duplicates`.

    Parameters
    ----------
    split : Split, SplitManifest or Parts
        Which sample lies in which part.
    frame : pandas.DataFrame
        One row for each sample, in the order of the split's ids.
    ignoring : sequence of str
        The fields that may differ. Missing values are equal to each other.

    Returns
    -------
    Finding
        ``together`` holds the sets of such rows; the figure ``repeats`` counts rows that repeat an earlier
        one in whatever part, rows equal throughout among them.

    Raises
    ------
    CourseError
        For a field that is not there, no field left to compare, or a frame of another length.
    """
    parts = parts_of(split)
    parts.aligned(frame, "rows")
    absent = [name for name in ignoring if name not in frame.columns]
    kept = [name for name in frame.columns if name not in set(ignoring)]
    if absent or not kept:
        raise CourseError(
            "Rows cannot be compared",
            expected="some of the fields " + ", ".join(map(str, frame.columns)),
            found=f"no field {', '.join(absent)}" if absent else "all of them to be ignored",
        )
    if frame.empty:
        return cannot_tell(_KIND, "There are no rows to compare.")
    alike, equal = _numbered(frame, kept), _numbered(frame, list(frame.columns))
    places = sets_of_equal(alike)
    crossing, near_pairs, identical_pairs = [], 0, 0
    for at in places:
        across = pairs_across(parts.codes[at])
        same = sum(pairs_across(parts.codes[at][equal[at] == value]) for value in np.unique(equal[at]))
        identical_pairs += same
        if across > same:
            near_pairs += across - same
            crossing.append(at)
    together = tuple(sorted(tuple(sorted(parts.ids_at(at))) for at in crossing))
    figures = {
        "samples": len(parts),
        "repeats": sum(len(at) - 1 for at in places),
        "sets": len(together),
        "pairs": near_pairs,
        "identical_pairs": identical_pairs,
    }
    but_for = f"but for {listed(list(ignoring))}" if ignoring else "throughout"
    if not together:
        return Finding(_KIND, "clear", f"No two rows in different parts are equal {but_for}.", (), figures)
    ids = tuple(sorted({sample_id for ids in together for sample_id in ids}))
    sentence = (
        f"{counted(near_pairs, 'pair')} of rows in different parts, {len(ids):,} rows in all, "
        f"{'is' if near_pairs == 1 else 'are'} equal {but_for}."
    )
    return Finding(_KIND, "found", sentence, ids, figures, together)


def _numbered(frame: pandas.DataFrame, names: list[str]) -> NDArray[np.intp]:
    """Return one number for each row, the same for rows that are equal in ``names``."""
    grouped = frame.groupby(names, dropna=False, sort=False, observed=True)
    return grouped.ngroup().to_numpy()
