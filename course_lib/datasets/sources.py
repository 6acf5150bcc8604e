"""Where a data set's files are on this machine: mirror folder or official download, checked by digest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from course_lib.datasets.downloads import is_downloadable, official_path, shortened
from course_lib.datasets.settings import Source, resolved_source
from course_lib.errors import CourseError
from course_lib.files import sha256_file
from course_lib.manifests import DataManifest, PublishedFile
from course_lib.paths import mirror_folder

FileKind = Literal["mirror", "official"]
_REPLACE = "replace it by a whole copy, or choose another data source"


@dataclass(frozen=True)
class FoundFile:
    """A file whose bytes are the ones that its manifest names.

    Attributes
    ----------
    path : Path
        Where it lies.
    kind : {"mirror", "official"}
        In the mirror folder, or downloaded from the publisher.
    sha256 : str
        Its digest, 64 hexadecimal digits.
    """

    path: Path
    kind: FileKind
    sha256: str


def find_file(dataset: str, file: PublishedFile, *, source: Source = "auto") -> FoundFile | None:
    """Find one file of a data set and check its digest.

    Parameters
    ----------
    dataset : str
        Name of the data set.
    file : PublishedFile
        The file as its manifest describes it.
    source : {"auto", "official", "mirror", "generated"}, optional
        "auto" takes what the learner chose; without a choice the mirror's file, then an official
        download that is already here.

    Returns
    -------
    FoundFile or None
        None when the caller should generate the data.

    Raises
    ------
    CourseError
        When the source that was asked for has no such file, and whenever the file that was found is
        damaged: it is never replaced in silence.
    """
    source = resolved_source(source)
    if source == "generated":
        return None
    candidates = _candidates(dataset, file)
    if source == "auto":
        for kind, candidate in candidates.items():
            if candidate.is_file():
                return _verified(file, candidate, kind)
        return None
    path = candidates.get(source)
    if path is None or not path.is_file():
        raise _not_there(dataset, file, source)
    return _verified(file, path, source)


def find_data_set(manifest: DataManifest, *, source: Source = "auto") -> dict[str, FoundFile] | None:
    """Find all files of a data set from one source, so that its parts never come from two.

    Parameters
    ----------
    manifest : DataManifest
        The data set's description.
    source : {"auto", "official", "mirror", "generated"}, optional
        As in :func:`find_file`.

    Returns
    -------
    dict of str to FoundFile, or None
        By file name; None when the caller should generate the data.

    Raises
    ------
    CourseError
        As :func:`find_file` does.
    """
    source = resolved_source(source)
    if source == "generated":
        return None
    kinds: tuple[FileKind, ...] = ("mirror", "official") if source == "auto" else (source,)
    for kind in kinds:
        files = files_of_kind(manifest, kind)
        if source == "auto" and not is_complete(manifest, kind):
            continue
        found = {file.name: find_file(manifest.name, file, source=kind) for file in files}
        return {name: file for name, file in found.items() if file is not None}
    return None


def files_of_kind(manifest: DataManifest, kind: FileKind) -> tuple[PublishedFile, ...]:
    """Return the files that make up the data set in a mirror, or at its publisher."""
    if kind == "mirror":
        return tuple(file for file in manifest.files if file.mirror_path)
    return tuple(file for file in manifest.files if is_downloadable(file))


def is_complete(manifest: DataManifest, kind: FileKind) -> bool:
    """Tell whether all files of one kind are there, without reading them."""
    files = files_of_kind(manifest, kind)
    return bool(files) and not missing_files(manifest, kind)


def missing_files(manifest: DataManifest, kind: FileKind) -> tuple[PublishedFile, ...]:
    """Return the files of one kind that are not there."""
    missing = []
    for file in files_of_kind(manifest, kind):
        path = _candidates(manifest.name, file).get(kind)
        if path is None or not path.is_file():
            missing.append(file)
    return tuple(missing)


def path_of_kind(dataset: str, file: PublishedFile, kind: FileKind) -> Path | None:
    """Return where a file of one kind lies or would lie; None where there is no such place."""
    return _candidates(dataset, file).get(kind)


def wrong_size(file: PublishedFile, path: Path) -> CourseError | None:
    """Return what is wrong with a file's length, without reading it."""
    size = path.stat().st_size
    if size == file.bytes:
        return None
    return CourseError(
        f"{path} is {'cut short' if size < file.bytes else 'longer than the published file'}",
        expected=f"{file.bytes:,} bytes",
        found=f"{size:,}",
        next_step=_REPLACE,
    )


def _candidates(dataset: str, file: PublishedFile) -> dict[FileKind, Path]:
    candidates: dict[FileKind, Path] = {}
    mirror = mirror_folder() if file.mirror_path else None
    if mirror is not None:
        candidates["mirror"] = mirror / file.mirror_path
    if is_downloadable(file):
        candidates["official"] = official_path(dataset, file)
    return candidates


def _verified(file: PublishedFile, path: Path, kind: FileKind) -> FoundFile:
    try:
        problem = wrong_size(file, path)
        if problem is not None:
            raise problem
        digest = sha256_file(path)
    except OSError as error:
        raise CourseError(
            f"{path} could not be read",
            found=error.strerror or str(error),
            next_step="check its permissions, or choose another data source",
        ) from error
    if digest != file.sha256:
        raise CourseError(
            f"{path} is damaged or another file",
            expected=f"SHA-256 {shortened(file.sha256)}",
            found=shortened(digest),
            next_step=_REPLACE,
        )
    return FoundFile(path, kind, digest)


def _not_there(dataset: str, file: PublishedFile, kind: FileKind) -> CourseError:
    if kind == "official":
        if not is_downloadable(file):
            return CourseError(
                f"{file.name} has no official download",
                next_step="choose the mirror or generated data",
            )
        return CourseError(
            f"{file.name} has not been downloaded yet", next_step=f"run `course data fetch {dataset}`"
        )
    if not file.mirror_path:
        return CourseError(
            f"{file.name} is not part of a mirror", next_step="choose official or generated data"
        )
    mirror = mirror_folder()
    if mirror is None:
        return CourseError(
            f"{file.name} should come from a mirror, and there is none",
            next_step="set COURSE_DATA to the mirror's folder, or choose another data source",
        )
    return CourseError(
        f"{file.mirror_path} is not in the mirror {mirror}",
        next_step="add the file to the mirror, or choose another data source",
    )
