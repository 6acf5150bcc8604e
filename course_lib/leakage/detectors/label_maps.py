"""Label maps: the same code must mean the same class to everybody."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.leakage.detectors.finding import Finding, cannot_tell
from course_lib.leakage.detectors.parts import parts_of
from course_lib.leakage.detectors.wording import counted, listed

if TYPE_CHECKING:
    from course_lib.splits import SampleTable

_KIND = "label_map_changed"


def find_label_map_change(
    described: Mapping[str, int] | Sequence[str], observed: Mapping[str, int] | Sequence[str]
) -> Finding:
    """Compare the label map that is described with the one in use.

    Parameters
    ----------
    described, observed : mapping of str to int, or sequence of str
        Code of each class, or the classes in the order of their codes.

    Returns
    -------
    Finding

    Raises
    ------
    CourseError
        When a map gives two classes one code, or one class two.
    """
    expected, found = _codes(described, "described"), _codes(observed, "observed")
    if not expected or not found:
        return cannot_tell(_KIND, "One of the two label maps is empty, so there is nothing to compare.")
    changed = sorted(name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name))
    figures = {"classes": len(expected), "changed_classes": len(changed)}
    if not changed:
        return Finding(_KIND, "clear", f"All {len(expected)} classes have the codes described.", (), figures)
    told = [f"{name} is {_shown(found, name)} instead of {_shown(expected, name)}" for name in changed]
    sentence = (
        f"{counted(len(changed), 'class has', 'classes have')} another code than described "
        f"({listed(told)}): figures by class would carry the wrong names."
    )
    return Finding(_KIND, "found", sentence, (), figures)


def find_changed_labels(manifest: Any, samples: SampleTable) -> Finding:
    """Find samples that a split manifest records under another label than the data give.

    The manifest holds a digest of content and label together. Where it differs from the data's, every
    other class is tried: one that fits shows that the content is the same and the label is not.

    Parameters
    ----------
    manifest : SplitManifest
        Ids and the recorded digests.
    samples : SampleTable
        The data set, in any order; samples that it lacks are left out.

    Returns
    -------
    Finding
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if samples.content is None or manifest.sample_digests is None:
        return cannot_tell(_KIND, "One side has no digests of the samples, so labels cannot be compared.")
    parts = parts_of(manifest)
    places = pc.index_in(parts.arrow_ids(), value_set=samples.ids)
    known = np.flatnonzero(np.asarray(places.is_valid()))
    if not len(known):
        return cannot_tell(_KIND, "The data set has none of the manifest's samples.")
    rows = np.asarray(places.take(pa.array(known)), dtype=np.intp)
    recorded = manifest.sample_digests[known]
    differing = np.flatnonzero((samples.sample_digests()[rows] != recorded).any(axis=1))
    names = list(dict.fromkeys([*samples.class_names, *_recorded_names(manifest)]))
    moves: dict[tuple[str, str], list[int]] = {}
    for at in differing:
        row = rows[at]
        name = _name_that_fits(samples.content[row].tobytes(), recorded[at].tobytes(), names)
        if name is not None:
            moves.setdefault((samples.class_names[samples.labels[row]], name), []).append(int(known[at]))
    changed = sorted(position for positions in moves.values() for position in positions)
    figures = {
        "samples": len(known),
        "changed_samples": len(changed),
        "changed_classes": len({name for move in moves for name in move}),
    }
    if not changed:
        return Finding(
            _KIND, "clear", "Every sample is recorded under the label that the data give.", (), figures
        )
    told = [f"{old} recorded as {new}" for old, new in sorted(moves)]
    sentence = (
        f"{counted(len(changed), 'sample is', 'samples are')} recorded under another label than the data "
        f"give, with the same content ({listed(told)})."
    )
    return Finding(_KIND, "found", sentence, tuple(sorted(parts.ids_at(changed))), figures)


def _codes(label_map: Mapping[str, int] | Sequence[str], which: str) -> dict[str, int]:
    if isinstance(label_map, Mapping):
        codes = {str(name): int(code) for name, code in label_map.items()}
    else:
        codes = {str(name): code for code, name in enumerate(label_map)}
        if len(codes) != len(label_map):
            raise CourseError(f"The {which} label map names a class twice", found=", ".join(label_map))
    if len(set(codes.values())) != len(codes):
        raise CourseError(f"The {which} label map gives two classes one code", found=codes)
    return codes


def _recorded_names(manifest: Any) -> list[str]:
    return sorted({name for in_part in manifest.counts.values() for name in in_part})


def _shown(codes: Mapping[str, int], name: str) -> str:
    return str(codes[name]) if name in codes else "absent"


def _name_that_fits(content: bytes, recorded: bytes, class_names: Sequence[str]) -> str | None:
    start = content.hex().encode() + b"\n"
    for name in class_names:
        if hashlib.sha256(start + name.encode("utf-8")).digest() == recorded:
            return name
    return None
