"""Every detector that a split manifest, and the data behind it where they are, allow to run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.leakage.detectors.classes import find_missing_classes
from course_lib.leakage.detectors.edits import find_edited_manifest
from course_lib.leakage.detectors.exact import find_exact_duplicates
from course_lib.leakage.detectors.fields import find_field_too_good
from course_lib.leakage.detectors.finding import KINDS, Finding, cannot_tell
from course_lib.leakage.detectors.future import find_future_in_training
from course_lib.leakage.detectors.groups import find_spread_groups
from course_lib.leakage.detectors.label_maps import find_changed_labels
from course_lib.leakage.detectors.material import Material, load_material
from course_lib.leakage.detectors.parts import Parts, parts_of
from course_lib.leakage.detectors.rates import find_drifting_rate

if TYPE_CHECKING:
    from course_lib.splits import SplitManifest


def check_manifest(folder: Path, *, data: str = "", near_duplicates: bool = True) -> tuple[Finding, ...]:
    """Run every detector that can be run on a split manifest.

    Parameters
    ----------
    folder : Path
        With ``samples.csv`` and ``split.json``.
    data : str, optional
        Name of the data set to compare with; the one that the manifest names where left out.
    near_duplicates : bool, optional
        Search for near duplicates too, which takes a minute or two for 60,000 images.

    Returns
    -------
    tuple of Finding
        One for each of `KINDS`, in their order. What needs data that are not here "cannot tell".

    Raises
    ------
    CourseError
        When the folder holds no split manifest, or ``data`` names no data set of the workbook.
    """
    from course_lib.splits import read_split

    # An edited manifest is read all the same: that it was edited is one of the answers.
    manifest = read_split(folder, trust=True)
    try:
        material = load_material(data or manifest.dataset, manifest.variant)
    except CourseError as error:
        if data:
            raise
        return _in_order(_from_manifest(folder, manifest, None), str(error))
    known, rows = _known(manifest, material)
    if not len(known):
        why = f"The data of {material.samples.title} have none of the manifest's samples."
        return _in_order(_from_manifest(folder, manifest, None), why)
    findings = _from_manifest(folder, manifest, material)
    findings += _from_data(manifest, material, known, rows, near_duplicates)
    return _in_order(findings, "The search was left out, as asked.")


def _from_manifest(folder: Path, manifest: SplitManifest, material: Material | None) -> list[Finding]:
    return [
        find_edited_manifest(folder, material.samples if material else None),
        find_spread_groups(manifest),
        find_missing_classes(manifest),
        *([] if material else [find_exact_duplicates(manifest)]),
        cannot_tell(
            "fitted_on_everything",
            "A manifest holds no fitted statistic; ask find_statistic_fitted_on_everything about yours.",
        ),
    ]


def _from_data(
    manifest: SplitManifest,
    material: Material,
    known: NDArray[np.intp],
    rows: NDArray[np.intp],
    near_duplicates: bool,
) -> list[Finding]:
    samples = material.samples
    parts = Parts(manifest.ids.take(known), manifest.codes[known], manifest.names)
    times = None if samples.times is None else samples.times[rows]
    findings = [
        find_exact_duplicates(parts, digests=None if samples.content is None else samples.content[rows]),
        find_future_in_training(parts, times),
        find_changed_labels(manifest, samples),
    ]
    if times is None:
        why = "The data do not say when the samples came into being, so no drift can be seen."
        findings.append(cannot_tell("drifting_rate", why))
    else:
        findings.append(find_drifting_rate(np.array(samples.class_names)[samples.labels[rows]], times))
    if material.frame is None:
        findings.append(cannot_tell("field_too_good", "The samples are no rows of a table with fields."))
    else:
        training = rows[parts.codes == 0]
        findings.append(find_field_too_good(material.frame, material.label, rows=np.sort(training)))
    if near_duplicates:
        findings.append(material.near_duplicates(parts, rows))
    return findings


def _known(manifest: SplitManifest, material: Material) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of the samples that the data have, in the manifest and in the data."""
    import pyarrow.compute as pc

    places = pc.index_in(parts_of(manifest).arrow_ids(), value_set=material.samples.ids)
    known = np.flatnonzero(np.asarray(places.is_valid()))
    return known, np.asarray(places.drop_null(), dtype=np.intp)


def _in_order(findings: list[Finding], why: str) -> tuple[Finding, ...]:
    by_kind: dict[str, Any] = {finding.kind: finding for finding in findings}
    return tuple(by_kind.get(kind) or cannot_tell(kind, why) for kind in KINDS)
