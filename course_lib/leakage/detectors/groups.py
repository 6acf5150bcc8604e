"""Groups that are spread over parts: the same client, patient or camera on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.leakage.detectors.finding import Finding, cannot_tell
from course_lib.leakage.detectors.parts import parts_of
from course_lib.leakage.detectors.wording import counted

_KIND = "group_spread"


def find_spread_groups(split: Any, groups: Sequence[Any] | None = None) -> Finding:
    """Find groups with samples in two parts or more.

    Parameters
    ----------
    split : Split, SplitManifest or Parts
        Which sample lies in which part.
    groups : sequence, optional
        Each sample's group, in the order of the split's ids; the split's own where left out.

    Returns
    -------
    Finding
        ``together`` holds one tuple of ids for each spread group, ``sample_ids`` all of these samples.

    Raises
    ------
    CourseError
        When there is not one group for each sample, or a sample has none.
    """
    import pyarrow as pa

    parts = parts_of(split)
    if groups is None:
        groups = getattr(split.samples if hasattr(split, "samples") else split, "groups", None)
    if groups is None:
        return cannot_tell(
            _KIND, "Nothing says which samples belong to one group, so nobody can tell whether one is spread."
        )
    parts.aligned(groups, "groups")
    column = groups if isinstance(groups, (pa.Array, pa.ChunkedArray)) else pa.array(list(groups))
    encoded = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = encoded.dictionary_encode()
    if encoded.null_count:
        raise CourseError("Every sample needs a group", found=f"{encoded.null_count:,} samples without one")
    codes = np.asarray(encoded.indices, dtype=np.int64)
    count = len(encoded.dictionary)
    pairs = np.unique(codes * len(parts.names) + parts.codes)
    spread = np.flatnonzero(np.bincount(pairs // len(parts.names), minlength=count) > 1)
    figures = {"groups": count, "spread_groups": len(spread)}
    if not len(spread):
        return Finding(_KIND, "clear", f"Each of the {count:,} groups lies in one part.", (), figures)
    members = np.flatnonzero(np.isin(codes, spread))
    members = members[np.argsort(codes[members], kind="stable")]
    sets = np.split(members, np.flatnonzero(np.diff(codes[members])) + 1)
    together = tuple(sorted(tuple(sorted(parts.ids_at(at))) for at in sets))
    sentence = (
        f"{counted(len(spread), 'group has', 'groups have')} samples in two parts or more: the model is "
        "tested on somebody whom it has met in training."
    )
    return Finding(
        _KIND, "found", sentence, tuple(sorted(i for ids in together for i in ids)), figures, together
    )
