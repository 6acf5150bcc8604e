"""The tools of the bench: plain looks that cost nothing, and one detector for each kind of fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from course_lib.leakage import detectors
from course_lib.leakage.custody.folders import SPLIT, TABLE, CaseFiles
from course_lib.leakage.custody.material import CHANGING_FIELDS
from course_lib.leakage.detectors import Finding, Parts

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOOKS: dict[str, str] = {
    "class_counts": "samples by part and class",
    "times": "first and last day of each part",
    "manifest": "what the split manifest says about itself",
    "label_maps": "the published label map beside the loader's",
}
"""Every plain look by its id, with what it shows."""


@dataclass(frozen=True)
class Look:
    """A table that a plain look gives; what it means is for the learner to say.

    Attributes
    ----------
    tool : str
        A key of `LOOKS`.
    columns : tuple of str
    rows : tuple of tuples
        One value for each column.
    """

    tool: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int, ...], ...]

    @property
    def title(self) -> str:
        """What the look shows."""
        return LOOKS[self.tool]

    def __str__(self) -> str:
        lines = [self.columns, *self.rows]
        return "\n".join([self.title, *("  ".join(map(str, line)) for line in lines)])


def run_detector(kind: str, files: CaseFiles) -> Finding:
    """Run the detector of one kind on a case's files."""
    return _DETECTORS[kind](_Aligned(files))


def looked(tool: str, files: CaseFiles) -> Look:
    """Take one of the plain looks at a case's files."""
    return _LOOKS[tool](_Aligned(files))


class _Aligned:
    """The data of the samples that the manifest lists, in the order of the table."""

    def __init__(self, files: CaseFiles) -> None:
        self.files = files
        codes = dict(zip(files.manifest.ids.to_pylist(), files.manifest.codes.tolist(), strict=True))
        ids = files.table["sample_id"].tolist()
        self.kept: NDArray[np.intp] = np.array(
            [position for position, sample_id in enumerate(ids) if sample_id in codes], dtype=np.intp
        )
        if len(self.kept) < len(codes):
            raise files.changed(
                TABLE,
                "every sample that the manifest lists",
                f"{len(codes) - len(self.kept):,} fewer",
            )
        self.parts = Parts(
            [ids[position] for position in self.kept],
            np.array([codes[ids[position]] for position in self.kept], dtype=np.int8),
            files.manifest.names,
        )
        self.train = self.kept[self.parts.codes == 0]

    @property
    def class_labels(self) -> NDArray[np.str_]:
        """The class name of each kept sample."""
        return np.array(self.files.class_names)[self.files.samples.labels[self.kept]]


def _exact(data: _Aligned) -> Finding:
    content = data.files.samples.content
    assert content is not None
    return detectors.find_exact_duplicates(data.parts, digests=content[data.kept])


def _near(data: _Aligned) -> Finding:
    if data.files.form == "news":
        texts = data.files.table["text"].to_numpy()[data.kept].tolist()
        return detectors.find_near_duplicate_texts(data.parts, texts)
    if data.files.form == "pictures":
        return detectors.find_near_duplicate_images(data.parts, data.files.pictures[data.kept])
    rows = data.files.fields.iloc[data.kept].reset_index(drop=True)
    return detectors.find_near_duplicate_rows(data.parts, rows, ignoring=CHANGING_FIELDS)


def _groups(data: _Aligned) -> Finding:
    return detectors.find_spread_groups(data.parts, data.files.table["client"].to_numpy()[data.kept].tolist())


def _future(data: _Aligned) -> Finding:
    times = data.files.samples.times
    assert times is not None
    return detectors.find_future_in_training(data.parts, times[data.kept])


def _statistics(data: _Aligned) -> Finding:
    fields = data.files.fields
    return detectors.find_statistic_fitted_on_everything(
        data.files.statistics, fields.iloc[data.train], fields
    )


def _label_map(data: _Aligned) -> Finding:
    published = data.files.about["published_label_map"]
    return detectors.find_label_map_change(_by_name(published), _by_name(data.files.loader_map))


def _by_name(label_map: dict[str, str]) -> dict[str, int]:
    return {name: int(code) for code, name in label_map.items()}


def _classes(data: _Aligned) -> Finding:
    return detectors.find_missing_classes(
        data.parts, data.class_labels.tolist(), class_names=data.files.class_names
    )


def _manifest(data: _Aligned) -> Finding:
    # With the data at hand the detector would also object to a split that was never made by its recipe,
    # which is the fault of other kinds; so the data name the samples only where the digest is broken.
    folder = data.files.folder / SPLIT
    finding: Finding = detectors.find_edited_manifest(folder)
    if finding.status == "found":
        finding = detectors.find_edited_manifest(folder, data.files.samples)
    return finding


def _field(data: _Aligned) -> Finding:
    frame = data.files.fields.iloc[data.train].assign(label=data.files.samples.labels[data.train])
    return detectors.find_field_too_good(frame, "label")


def _drift(data: _Aligned) -> Finding:
    times = data.files.samples.times
    assert times is not None
    return detectors.find_drifting_rate(data.class_labels, times[data.kept])


_DETECTORS: dict[str, Callable[[_Aligned], Finding]] = {
    "exact_duplicate": _exact,
    "near_duplicate": _near,
    "group_spread": _groups,
    "future_in_training": _future,
    "fitted_on_everything": _statistics,
    "label_map_changed": _label_map,
    "class_missing": _classes,
    "manifest_edited": _manifest,
    "field_too_good": _field,
    "drifting_rate": _drift,
}


def _look_at_classes(data: _Aligned) -> Look:
    names = data.files.class_names
    rows = []
    for code, part in enumerate(data.parts.names):
        labels = data.class_labels[data.parts.codes == code]
        rows.append((part, len(labels), *(int((labels == name).sum()) for name in names)))
    return Look("class_counts", ("part", "samples", *names), tuple(rows))


def _look_at_times(data: _Aligned) -> Look:
    days = data.files.table["day"].to_numpy()[data.kept]
    rows = []
    for code, part in enumerate(data.parts.names):
        in_part = days[data.parts.codes == code].tolist()
        rows.append((part, min(in_part, default="none"), max(in_part, default="none")))
    return Look("times", ("part", "first day", "last day"), tuple(rows))


def _look_at_manifest(data: _Aligned) -> Look:
    manifest = data.files.manifest
    recorded = ", ".join(f"{part} {sum(counts.values())}" for part, counts in manifest.counts.items())
    rows = (
        ("recipe", str(manifest.recipe)),
        ("samples recorded in split.json", recorded),
        ("lines in samples.csv", len(manifest.ids)),
        ("samples in the data", len(data.files.table)),
        ("recorded digest", manifest.digest[:16] + "…"),
    )
    return Look("manifest", ("what", "value"), rows)


def _look_at_label_maps(data: _Aligned) -> Look:
    published, loader = data.files.about["published_label_map"], data.files.loader_map
    codes = sorted({*published, *loader}, key=int)
    rows = tuple((int(code), published.get(code, "none"), loader.get(code, "none")) for code in codes)
    return Look("label_maps", ("code", "published", "loader"), rows)


_LOOKS: dict[str, Callable[[_Aligned], Look]] = {
    "class_counts": _look_at_classes,
    "times": _look_at_times,
    "manifest": _look_at_manifest,
    "label_maps": _look_at_label_maps,
}
