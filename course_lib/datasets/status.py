"""What the loaders would use on this machine, told without reading the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

from course_lib.datasets.origin import OriginKind
from course_lib.datasets.settings import Source, resolved_source
from course_lib.datasets.sources import (
    FileKind,
    files_of_kind,
    is_complete,
    missing_files,
    path_of_kind,
    wrong_size,
)
from course_lib.errors import CourseError
from course_lib.manifests import DataManifest, load_manifest, manifest_names, variant_names
from course_lib.paths import mirror_folder

_NAMES_OF_KIND: dict[FileKind, str] = {"mirror": "the mirror", "official": "the official download"}


@dataclass(frozen=True)
class DatasetStatus:
    """Which source a data set would be loaded from now.

    Attributes
    ----------
    dataset, variant : str
        Which data set; the variant is "" where there is one only.
    source : {"official", "mirror", "generated"}
        What its loader would use, or was told to use in vain when there is a problem.
    detail : str
        Why, for a reader.
    bytes_on_disk : int
        Bytes of the files that would be read; 0 for generated data.
    problem : str
        What keeps the loader from working, with the next step; "" when nothing does.
    """

    dataset: str
    variant: str
    source: OriginKind
    detail: str
    bytes_on_disk: int
    problem: str = ""


def data_status() -> tuple[DatasetStatus, ...]:
    """Tell for each data set and variant which source would be used.

    Only the presence and the size of files are looked at; digests are checked when data are loaded.

    Returns
    -------
    tuple of DatasetStatus
        In the order of the names, a data set's default variant first.
    """
    source = resolved_source("auto")
    return tuple(
        _status(load_manifest(name, variant), source)
        for name in manifest_names()
        for variant in variant_names(name)
    )


def _status(manifest: DataManifest, source: Source) -> DatasetStatus:
    try:
        mirror_folder()
    except CourseError as error:
        if source in ("auto", "mirror"):
            return DatasetStatus(
                manifest.name, manifest.variant, "mirror", "COURSE_DATA names no folder", 0, str(error)
            )
    if source == "generated":
        return DatasetStatus(manifest.name, manifest.variant, "generated", "chosen in the settings", 0)
    if source != "auto":
        return _status_of_kind(manifest, source, "chosen in the settings")
    for kind in get_args(FileKind):
        if is_complete(manifest, kind):
            return _status_of_kind(manifest, kind, f"{_NAMES_OF_KIND[kind]} is complete")
    return DatasetStatus(
        manifest.name,
        manifest.variant,
        "generated",
        f"{_absence(manifest, 'mirror')}, {_absence(manifest, 'official')}; made here from a seed",
        0,
    )


def _status_of_kind(manifest: DataManifest, kind: FileKind, reason: str) -> DatasetStatus:
    problem = ""
    byte_count = 0
    for file in files_of_kind(manifest, kind):
        path = path_of_kind(manifest.name, file, kind)
        if path is None or not path.is_file():
            problem = problem or _remedy_for_absence(manifest, kind)
            continue
        byte_count += path.stat().st_size
        trouble = wrong_size(file, path)
        problem = problem or (str(trouble) if trouble else "")
    return DatasetStatus(manifest.name, manifest.variant, kind, reason, byte_count, problem)


def _absence(manifest: DataManifest, kind: FileKind) -> str:
    if kind == "mirror" and mirror_folder() is None:
        return "no mirror (COURSE_DATA is not set)"
    files, missing = files_of_kind(manifest, kind), missing_files(manifest, kind)
    place = "in the mirror" if kind == "mirror" else "downloaded"
    if len(missing) == len(files):
        return f"not {place}"
    names = ", ".join(file.mirror_path if kind == "mirror" else file.name for file in missing)
    return f"only partly {place} ({names} missing)"


def _remedy_for_absence(manifest: DataManifest, kind: FileKind) -> str:
    remedy = (
        f"run `course data fetch {manifest.name}`"
        if kind == "official"
        else "set COURSE_DATA to a mirror folder that has it"
    )
    sentence = CourseError(
        f"{manifest.title_with_variant} is {_absence(manifest, kind)}",
        next_step=f"{remedy}, or choose another data source",
    )
    return str(sentence)
