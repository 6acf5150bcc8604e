"""Folders of small image files with an index of names and checksums, published whole or not at all."""

from __future__ import annotations

import hashlib
import shutil
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from course_lib.datasets.bars import is_watched
from course_lib.datasets.downloads import need_disk_space, one_process_at_a_time
from course_lib.errors import CourseError
from course_lib.files import folder_published_whole

_INDEX_NAME = "index.npz"
_BYTES_OF_AN_IMAGE_ON_DISK = 4096
_UNREADABLE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    EOFError,
    NotImplementedError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)


@dataclass(frozen=True)
class ImageIndex:
    """What an image folder holds, in arrays: a worker process pays a few bytes for each image.

    Attributes
    ----------
    names : ndarray of bytes, shape (images,)
        ``part/class/NNNN.jpg``, sorted.
    checksums : ndarray of uint32, shape (images,)
        CRC-32 of each file.
    sha256 : str
        Digest over names and contents of all files, whatever the order they were written in.
    """

    names: NDArray[np.bytes_]
    checksums: NDArray[np.uint32]
    sha256: str


def published_image_folder(
    target: Path,
    files: Iterable[tuple[str, bytes]],
    *,
    class_names: Iterable[str],
    file_count: int,
    doing: str,
    progress: bool = True,
) -> ImageIndex:
    """Return the index of an image folder, writing the folder first when it is not there.

    Of several processes that ask at once, one writes; one that dies leaves no folder behind that
    could be taken for whole.

    Parameters
    ----------
    target : Path
        The folder.
    files : iterable of (str, bytes)
        Relative path, with forward slashes, and content; read only when the folder is not there.
    class_names : iterable of str
        The folders in which images may lie.
    file_count : int
        How many there must be.
    doing : str
        What the progress bar says, such as "unpacking cifar10".
    progress : bool, optional
        Show a progress bar.

    Raises
    ------
    CourseError
        When the disk has no room, the folder cannot be written or is damaged, or the number of files
        differs.
    """
    if not target.is_dir():
        with one_process_at_a_time(target.parent / f".{target.name}.lock", doing, progress=progress):
            if not target.is_dir():
                for leftover in target.parent.glob(f".{target.name}.*.part"):
                    shutil.rmtree(leftover, ignore_errors=True)
                need_disk_space(target, file_count * _BYTES_OF_AN_IMAGE_ON_DISK)
                with folder_published_whole(target) as folder:
                    _write(folder, files, file_count, doing, progress)
    return _read_index(target, class_names, file_count)


def missing_images(folder: Path, names: NDArray[np.bytes_]) -> list[str]:
    """Return the names of the index that have no file; other files and folders do not matter."""
    present: set[str] = set()
    for parent in sorted({name.rpartition("/")[0] for name in names.astype(str)}):
        if (folder / parent).is_dir():
            present.update(f"{parent}/{entry.name}" for entry in (folder / parent).iterdir())
    return [name for name in names.astype(str) if name not in present]


def _write(
    folder: Path, files: Iterable[tuple[str, bytes]], file_count: int, doing: str, progress: bool
) -> None:
    from tqdm import tqdm

    made: set[Path] = set()
    names, checksums, digests = [], [], []
    # On stdout: JupyterLab shows what comes on stderr as if it were an error.
    for name, payload in tqdm(
        files,
        desc=doing.capitalize(),
        total=file_count,
        unit="image",
        disable=not (progress and is_watched(sys.stdout)),
        leave=False,
        file=sys.stdout,
    ):
        path = folder / name
        if path.parent not in made:
            path.parent.mkdir(parents=True, exist_ok=True)
            made.add(path.parent)
        path.write_bytes(payload)
        names.append(name)
        checksums.append(zlib.crc32(payload))
        digests.append(hashlib.sha256(payload).hexdigest())
    if len(set(names)) != file_count:
        raise CourseError(
            f"{doing.capitalize()} gave the wrong number of images",
            expected=f"{file_count:,}",
            found=f"{len(set(names)):,}",
            next_step="get a whole copy of the archive, or choose another data source",
        )
    order = np.argsort(np.array(names, dtype=np.bytes_))
    lines = "".join(f"{names[at]} {digests[at]}\n" for at in order)
    np.savez(
        folder / _INDEX_NAME,
        names=np.array(names, dtype=np.bytes_)[order],
        checksums=np.array(checksums, dtype=np.uint32)[order],
        sha256=np.array(hashlib.sha256(lines.encode("utf-8")).hexdigest(), dtype=np.bytes_),
    )


def _read_index(folder: Path, class_names: Iterable[str], file_count: int) -> ImageIndex:
    try:
        with np.load(folder / _INDEX_NAME, allow_pickle=False) as content:
            names, checksums = content["names"], content["checksums"]
            sha256 = content["sha256"].item().decode("ascii")
    except _UNREADABLE as error:
        raise damaged_folder(folder, f"its {_INDEX_NAME} cannot be read") from error
    classes = {name.encode("utf-8") for name in class_names}
    fits = (
        names.dtype.kind == "S"
        and checksums.dtype == np.uint32
        and names.shape == checksums.shape == (file_count,)
        and all(name.count(b"/") == 2 and name.split(b"/")[1] in classes for name in names.tolist())
    )
    if not fits:
        raise damaged_folder(folder, f"its {_INDEX_NAME} holds something else")
    return ImageIndex(names, checksums, sha256)


def damaged_folder(folder: Path, found: str) -> CourseError:
    """Say that an unpacked or generated folder is not what it was, and how to get it anew."""
    return CourseError(
        f"The image folder {folder} is damaged",
        found=found,
        next_step="delete that folder, it is made again at the next load",
    )


def zip_images(archive: Path, class_names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the path and the bytes of each image in a zip of ``train|test/class/NNNN.jpg``.

    Raises
    ------
    CourseError
        When the archive is damaged, or has a member at any other place.
    """
    import re

    classes = "|".join(re.escape(name) for name in class_names)
    allowed = re.compile(rf"(train|test)/({classes})/\d{{4}}\.jpg")
    try:
        with zipfile.ZipFile(archive) as opened:
            for member in opened.infolist():
                if member.is_dir():
                    continue
                if not allowed.fullmatch(member.filename):
                    raise CourseError(
                        f"{archive} has a member that does not belong there",
                        expected="train|test/class/NNNN.jpg",
                        found=repr(member.filename),
                        next_step="get the published archive",
                    )
                yield member.filename, opened.read(member)
    except zipfile.BadZipFile as error:
        raise CourseError(
            f"{archive} is damaged or cut short", found=str(error), next_step="replace it by a whole copy"
        ) from error
