"""Classes that are missing from a part of a split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.leakage.detectors.finding import Finding, cannot_tell
from course_lib.leakage.detectors.parts import Parts, parts_of
from course_lib.leakage.detectors.wording import counted, listed

_KIND = "class_missing"


def find_missing_classes(
    split: Any,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    *,
    class_names: Sequence[str] | None = None,
) -> Finding:
    """Find classes that some part of the split has no sample of.

    Parameters
    ----------
    split : Split, SplitManifest or Parts
        Which sample lies in which part.
    labels : sequence of str or int, optional
        Each sample's class, or its place in ``class_names``, in the order of the split's ids. Without
        them the split's own counts are read, which for a manifest are those in ``split.json``.
    class_names : sequence of str, optional
        The classes that there have to be; those that occur in any part where left out.

    Returns
    -------
    Finding
        No sample is listed, as the trouble is with those that are not there.
    """
    counts = _recorded(split) if labels is None else _counted(parts_of(split), labels, class_names)
    if not counts:
        return cannot_tell(_KIND, "Nothing gives the classes of the samples, so none can be missed.")
    classes = list(class_names or sorted({name for part in counts.values() for name in part}))
    absent = [
        (part, name) for part, in_part in counts.items() for name in classes if not in_part.get(name, 0)
    ]
    figures = {
        "samples": sum(sum(part.values()) for part in counts.values()),
        "classes": len(classes),
        "missing": len(absent),
    }
    if not absent:
        sentence = f"No part lacks any of the {counted(len(classes), 'class', 'classes')}."
        return Finding(_KIND, "clear", sentence, (), figures)
    by_part = [
        f"{part} has no sample of {listed([name for where, name in absent if where == part])}"
        for part in counts
        if any(where == part for where, _ in absent)
    ]
    sentence = (
        f"{'; '.join(by_part)}: no figure of that part says anything about "
        f"{'this class' if len(absent) == 1 else 'these classes'}."
    )
    return Finding(_KIND, "found", sentence, (), figures)


def _recorded(split: Any) -> dict[str, Mapping[str, int]]:
    counts = getattr(split, "counts", None)
    if callable(counts):
        counts = counts()
    return {str(part): dict(in_part) for part, in_part in (counts or {}).items()}


def _counted(
    parts: Parts, labels: Sequence[Any] | NDArray[Any], class_names: Sequence[str] | None
) -> dict[str, Mapping[str, int]]:
    parts.aligned(labels, "labels")
    values = np.asarray(labels)
    by_place = class_names is not None and np.issubdtype(values.dtype, np.integer)
    counts: dict[str, Mapping[str, int]] = {}
    for code, part in enumerate(parts.names):
        tally = Counter(values[parts.codes == code].tolist())
        counts[part] = {
            str(class_names[value]) if by_place and class_names is not None else str(value): count
            for value, count in tally.items()
        }
    return counts
