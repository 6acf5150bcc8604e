"""The folder in which metadata is measured: may it be used, and removing exactly what was made in it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import re
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.files import cannot_write
from course_lib.units import format_bytes

RESERVE_BYTES = 1_000_000_000
"""So much stays free, or a tenth of the file system where that is less."""

_BLOCK_BYTES = 4096
_OWN_FOLDER = re.compile(r"course-metadata-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}")
_OWN_DIRECTORY = re.compile(r"d\d{5,}")
_OWN_FILE = re.compile(r"f\d{7,}")


def file_path(root: Path, index: int, directories: int) -> Path:
    """Return where file ``index`` lies when files are dealt out to ``directories`` in turn."""
    return root / f"d{index % directories:05}" / f"f{index:07}"


@contextlib.contextmanager
def own_folder(path: Path, directories: int) -> Iterator[Path]:
    """Yield a new folder in ``path`` with empty directories; it is removed with the files made in them.

    Raises
    ------
    CourseError
        When ``path`` does not take it.
    """
    root = path / f"course-metadata-{_this_machine()}-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        try:
            root.mkdir()
            for number in range(directories):
                (root / f"d{number:05}").mkdir()
        except OSError as error:
            raise cannot_write(root, error) from error
        yield root
    finally:
        _remove(root)


def check_folder(path: Path, files: int, bytes_per_file: int, directories: int, most_bytes: int) -> None:
    """See that the measurement may take place in ``path``; removes what an earlier one had to leave there.

    Raises
    ------
    CourseError
        When it is no folder, not empty, or would be left without its reserve of free space.
    """
    try:
        if not path.is_dir():
            raise CourseError(
                f"{path} is not a folder" if path.exists() else f"{path} does not exist",
                expected="an empty folder on the storage to measure",
                next_step="make one and name it",
            )
        remove_leftovers(path)
        others = [entry.name for entry in path.iterdir()]
    except OSError as error:
        raise CourseError(
            f"{path} cannot be looked at",
            found=error.strerror or str(error),
            next_step="check the path and your rights to it",
        ) from error
    if others:
        raise CourseError(
            f"{path} is not empty",
            expected="an empty folder, so that nothing of yours is touched",
            found=f"{min(others)}" + (f" and {len(others) - 1:,} more" if len(others) > 1 else ""),
            next_step=_what_to_do(others),
        )
    needed_bytes = (files * max(1, -(-bytes_per_file // _BLOCK_BYTES)) + directories) * _BLOCK_BYTES
    if needed_bytes > most_bytes:
        raise CourseError(
            f"{files:,} files of {format_bytes(bytes_per_file)} take {format_bytes(needed_bytes)} of disk",
            expected=f"at most {format_bytes(most_bytes)}",
            next_step="measure fewer or smaller files",
        )
    _check_space(path, needed_bytes, files + directories)


def remove_leftovers(path: Path) -> None:
    """Remove what measurements left in ``path`` that were killed on this machine."""
    import psutil

    for entry in path.iterdir():
        if (made := _OWN_FOLDER.fullmatch(entry.name)) and made[1] == _this_machine():
            maker = int(made[2])
            if maker == os.getpid() or not psutil.pid_exists(maker):
                _remove(entry)


def _what_to_do(others: list[str]) -> str:
    if all(_OWN_FOLDER.fullmatch(name) for name in others):
        return "wait for the measurement that is at work there, or remove its folder"
    return "make a new folder beside it and name that"


def _check_space(path: Path, needed_bytes: int, needed_inodes: int) -> None:
    usage = shutil.disk_usage(path)
    reserve = min(RESERVE_BYTES, usage.total // 10)
    if usage.free - needed_bytes < reserve:
        raise CourseError(
            f"{path} has too little free space for {format_bytes(needed_bytes)}",
            expected=f"{format_bytes(reserve)} to stay free",
            found=f"{format_bytes(usage.free)} free now",
            next_step="measure fewer or smaller files, or free some space",
        )
    if hasattr(os, "statvfs"):
        counts = os.statvfs(path)
        # A file system that makes its inodes as it needs them reports none at all.
        if counts.f_files and counts.f_favail < needed_inodes:
            raise CourseError(
                f"{path} cannot take {needed_inodes:,} more files",
                found=f"room for {counts.f_favail:,} (free inodes)",
                next_step="measure fewer files",
            )


def _remove(root: Path) -> None:
    """Remove the files and directories that a measurement makes, by their names, and nothing else."""
    with contextlib.suppress(OSError):
        for directory in list(root.iterdir()):
            if not _OWN_DIRECTORY.fullmatch(directory.name):
                continue
            with contextlib.suppress(OSError):
                for file in list(directory.iterdir()):
                    if _OWN_FILE.fullmatch(file.name):
                        file.unlink(missing_ok=True)
                directory.rmdir()
        root.rmdir()


def _this_machine() -> str:
    return hashlib.sha256(platform.node().encode("utf-8", "replace")).hexdigest()[:8]
