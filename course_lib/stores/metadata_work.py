"""One process's share of a metadata measurement."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.files import cannot_write
from course_lib.stores.metadata_folder import file_path


@dataclass(frozen=True)
class Share:
    """The files that one process works on: every ``processes``-th, beginning with its own number.

    Attributes
    ----------
    root : str
        The measurement's folder, with its directories.
    files, bytes_per_file, directories, processes, seed
        As in the whole measurement.
    process : int
        This process's number, from 0.
    """

    root: str
    files: int
    bytes_per_file: int
    directories: int
    processes: int
    process: int
    seed: int

    def paths(self) -> list[Path]:
        """Return its files, in the order of their numbers."""
        root = Path(self.root)
        numbers = range(self.process, self.files, self.processes)
        return [file_path(root, number, self.directories) for number in numbers]


@dataclass(frozen=True)
class Done:
    """What one process did of one operation.

    Attributes
    ----------
    count : int
        Operations.
    began, ended : float
        Readings of ``time.perf_counter``, which all processes of a machine share.
    """

    count: int
    began: float
    ended: float


def perform(share: Share, operation: str, repeat: int, advance: Callable[[], None]) -> Done:
    """Do one operation on each file of a share.

    Parameters
    ----------
    share : Share
        Whose files.
    operation : str
        One of `OPERATIONS`.
    repeat : int
        Each repeat has orders of its own.
    advance : callable
        Called after each file; may raise to end the work.

    Raises
    ------
    CourseError
        When the file system refuses; the sentence says what.
    """
    paths = share.paths()
    if operation != "create":
        random.Random(f"{share.seed} {repeat} {operation} {share.process}").shuffle(paths)
    payload = random.Random(share.seed).randbytes(share.bytes_per_file)
    act: Callable[[Path], int]
    if operation == "scan":
        paths = sorted({path.parent for path in paths})
        act = _scan
    elif operation == "create":

        def act(path: Path) -> int:
            return _create(path, payload)
    else:
        act = {"stat": _stat, "open": _open, "read": _read, "remove": _remove}[operation]
    count = 0
    path = Path(share.root)
    began = time.perf_counter()
    try:
        for path in paths:
            count += act(path)
            advance()
    except OSError as error:
        if operation in ("create", "remove"):
            raise cannot_write(path, error) from error
        raise CourseError(
            f"{operation} failed on {path}",
            found=error.strerror or str(error),
            next_step="check that the storage is still there and that nobody else works in the folder",
        ) from error
    return Done(count, began, time.perf_counter())


def _create(path: Path, payload: bytes) -> int:
    with path.open("xb", buffering=0) as file:
        file.write(payload)
    return 1


def _scan(directory: Path) -> int:
    with os.scandir(directory) as entries:
        return sum(1 for _ in entries)


def _stat(path: Path) -> int:
    path.stat()
    return 1


def _open(path: Path) -> int:
    path.open("rb", buffering=0).close()
    return 1


def _read(path: Path) -> int:
    with path.open("rb", buffering=0) as file:
        file.read()
    return 1


def _remove(path: Path) -> int:
    path.unlink()
    return 1
