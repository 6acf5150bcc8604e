"""A store over a local folder, or any mounted path."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.files import cannot_write, write_atomically
from course_lib.stores.store import StoreStat, checked_name


@dataclass(frozen=True)
class FolderStore:
    """The files below a folder, under their paths relative to it.

    Parameters
    ----------
    root : Path
        The folder; it need not exist before something is written.
    """

    root: Path

    def list(self, prefix: str = "") -> list[str]:
        """Return the names that begin with ``prefix``, sorted, as `file_names` finds them.

        Raises
        ------
        CourseError
            When the folder is not there or cannot be listed, or the prefix leads out of it.
        """
        # Only the folder that the prefix names has to be walked.
        inside = prefix.rpartition("/")[0]
        start = self.path_of(inside) if inside else self.root
        if start != self.root and not start.is_dir():
            return []
        before = f"{inside}/" if inside else ""
        try:
            names = [before + name for name in file_names(start)]
        except OSError as error:
            raise CourseError(
                f"{self.root} could not be listed",
                found=error.strerror or str(error),
                next_step="check the path and your rights to it",
            ) from error
        return sorted(name for name in names if name.startswith(prefix))

    def stat(self, name: str) -> StoreStat:
        """Return what is known of an object without reading it.

        Raises
        ------
        CourseError
            When it is not there.
        """
        try:
            return StoreStat(self.path_of(name).stat().st_size)
        except OSError as error:
            raise _cannot_read(name, error) from error

    def read(self, name: str) -> bytes:
        """Return all bytes of an object.

        Raises
        ------
        CourseError
            When it is not there or cannot be read.
        """
        try:
            return self.path_of(name).read_bytes()
        except OSError as error:
            raise _cannot_read(name, error) from error

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """Return ``length`` bytes from ``start``.

        Raises
        ------
        CourseError
            When the object is not there, cannot be read or ends before.
        """
        try:
            with self.path_of(name).open("rb") as file:
                file.seek(start)
                # Room is made for what is asked for before it is read, and the file may be shorter.
                payload = file.read(min(length, os.fstat(file.fileno()).st_size))
        except (OSError, ValueError) as error:
            raise _cannot_read(name, error) from error
        if len(payload) != length:
            raise CourseError(
                f"{name} ends too early",
                expected=f"{length:,} bytes from byte {start:,}",
                found=f"{len(payload):,}",
                next_step="make or download it again",
            )
        return payload

    def write(self, name: str, payload: bytes) -> None:
        """Write an object; one that is interrupted may be there in part.

        Raises
        ------
        CourseError
            When the folder or the disk does not take it.
        """
        path = self.path_of(name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(payload)
        except OSError as error:
            raise cannot_write(path, error) from error

    def publish(self, name: str, payload: bytes) -> None:
        """Write an object so that it is there whole or not at all.

        Raises
        ------
        CourseError
            When the folder or the disk does not take it.
        """
        write_atomically(self.path_of(name), payload)

    def path_of(self, name: str) -> Path:
        """Return where an object lies."""
        return self.root / checked_name(name)


def file_names(folder: Path) -> Iterator[str]:
    """Yield the files below a folder, relative to it, in no order.

    Hidden files and folders are left out, and so is what would keep a reader waiting for ever: pipes,
    sockets and devices. Links to folders are not followed; a link to nowhere is a file that cannot be read.

    Raises
    ------
    OSError
        When the folder or one below it cannot be listed.
    """
    waiting = [""]
    while waiting:
        before = waiting.pop()
        with os.scandir(folder / before) as entries:
            for entry in entries:
                if entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{before}{entry.name}/")
                elif _is_for_reading(entry):
                    yield before + entry.name


def _is_for_reading(entry: os.DirEntry[str]) -> bool:
    try:
        if entry.is_file():
            return True
        entry.stat()
    except OSError:
        # A link to nowhere or in a ring.
        return True
    return False


def _cannot_read(name: str, error: OSError | ValueError) -> CourseError:
    reason = error.strerror if isinstance(error, OSError) else None
    return CourseError(
        f"{name} could not be read",
        found=reason or str(error),
        next_step="check that it is still there and that you may read it",
    )
