"""A store over a local folder, or any mounted path."""

from __future__ import annotations

import os
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
        """Return the names that begin with ``prefix``, sorted; hidden files and folders are left out.

        Raises
        ------
        CourseError
            When the folder is not there or cannot be listed.
        """
        # Only the folder that the prefix names has to be walked.
        start = self.root / prefix.rpartition("/")[0]
        if start != self.root and not start.is_dir():
            return []
        names = []
        for folder, subfolders, files in os.walk(start, onerror=self._raise):
            subfolders[:] = [name for name in subfolders if not name.startswith(".")]
            inside = Path(folder).relative_to(self.root).as_posix()
            before = "" if inside == "." else f"{inside}/"
            names += [before + name for name in files if not name.startswith(".")]
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
                payload = file.read(length)
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

    def _raise(self, error: OSError) -> None:
        raise CourseError(
            f"{self.root} could not be listed",
            found=error.strerror or str(error),
            next_step="check the path and your rights to it",
        ) from error


def _cannot_read(name: str, error: OSError | ValueError) -> CourseError:
    reason = error.strerror if isinstance(error, OSError) else None
    return CourseError(
        f"{name} could not be read",
        found=reason or str(error),
        next_step="check that it is still there and that you may read it",
    )
