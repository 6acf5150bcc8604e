"""Reading files one after another while each open is set to take a while, and the link is set too.

The files are real and really read; the set times only keep them waiting. So a rate from here says how a set
time per open turns into files and bytes per second, and nothing about this machine's own disk.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from course_lib.errors import CourseError
from course_lib.stores.cache_state import CacheState, observe_cache
from course_lib.stores.folder import FolderStore
from course_lib.stores.latency import SetLatencyStore

MOST_BYTES = 200_000_000
"""Files of one case never take more of the disk than this."""

_MOST_READERS = 64


@dataclass(frozen=True)
class OpenCase:
    """Files to read, and the times that are set for it.

    Attributes
    ----------
    sizes : tuple of int
        Bytes of each file; ``(80_000,) * 100`` stands for a hundred files of 80 KB.
    open_seconds : float
        Set time of each open.
    bytes_per_second : float or None
        Set bandwidth of one reader; None leaves the real one.
    readers : int
        Threads that share the files.

    Raises
    ------
    CourseError
        When there is nothing to read, or more than `MOST_BYTES`.
    """

    sizes: tuple[int, ...]
    open_seconds: float = 0.002
    bytes_per_second: float | None = None
    readers: int = 1

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 0:
            raise CourseError("There are no files to open", expected="1 file or more, of 0 B or more")
        if self.byte_count > MOST_BYTES:
            raise CourseError(
                f"{len(self.sizes):,} files take {self.byte_count:,} B of disk",
                expected=f"at most {MOST_BYTES:,} B",
                next_step="take fewer or smaller files",
            )
        if not 1 <= self.readers <= _MOST_READERS:
            raise CourseError(
                "The number of readers is out of range",
                expected=f"1 to {_MOST_READERS}",
                found=f"{self.readers:,}",
            )

    @property
    def byte_count(self) -> int:
        """Bytes of all files together."""
        return sum(self.sizes)


@dataclass(frozen=True)
class TimedOpens:
    """How long a case took, in each repeat.

    Attributes
    ----------
    case : OpenCase
        What was read, and what was set.
    seconds : tuple of float
        From the first open to the last byte, in each repeat.
    cache : CacheState
        What was found in the page cache before the first repeat; the files had just been written.
    """

    case: OpenCase
    seconds: tuple[float, ...]
    cache: CacheState

    @property
    def file_rates(self) -> tuple[float, ...]:
        """Files per second of each repeat."""
        return tuple(len(self.case.sizes) / seconds for seconds in self.seconds)

    @property
    def byte_rates(self) -> tuple[float, ...]:
        """Bytes per second of each repeat."""
        return tuple(self.case.byte_count / seconds for seconds in self.seconds)

    @property
    def files_per_second(self) -> float:
        """The median repeat's files per second."""
        return statistics.median(self.file_rates)

    @property
    def bytes_per_second(self) -> float:
        """The median repeat's bytes per second."""
        return statistics.median(self.byte_rates)

    @property
    def median_seconds(self) -> float:
        """The median repeat's time."""
        return statistics.median(self.seconds)


def time_opens(cases: Mapping[str, OpenCase], *, repeats: int = 3, seed: int = 2026) -> dict[str, TimedOpens]:
    """Read the files of each case in a shuffled order, the cases in turn, and time it.

    Parameters
    ----------
    cases : mapping of str to OpenCase
        By name; which of them begins changes with each repeat.
    repeats : int
        How often each case is run.
    seed : int
        Decides contents and order of the files.

    Raises
    ------
    CourseError
        When there is no case or no repeat, or the temporary folder does not take the files.
    """
    if not cases or repeats < 1:
        raise CourseError("There is nothing to time", expected="1 case or more, and 1 repeat or more")
    names = list(cases)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    with TemporaryDirectory(prefix="course-opens-") as folder:
        stores = {name: FolderStore(Path(folder) / str(place)) for place, name in enumerate(names)}
        files = {name: _written(stores[name], cases[name], seed) for name in names}
        caches = {name: observe_cache(map(stores[name].path_of, files[name])) for name in names}
        for repeat in range(repeats):
            first = repeat % len(names)
            for name in names[first:] + names[:first]:
                seconds[name].append(_read_through(stores[name], cases[name], files[name]))
    return {name: TimedOpens(cases[name], tuple(seconds[name]), caches[name]) for name in names}


def _written(store: FolderStore, case: OpenCase, seed: int) -> list[str]:
    """Write the files of a case; return their names in the order in which they are to be read."""
    draw = random.Random(seed)
    payload = draw.randbytes(max(case.sizes))
    names = [f"{number:06}.bin" for number in range(len(case.sizes))]
    for name, size in zip(names, case.sizes, strict=True):
        store.write(name, payload[:size])
    draw.shuffle(names)
    return names


def _read_through(store: FolderStore, case: OpenCase, names: list[str]) -> float:
    slow = SetLatencyStore(store, open_seconds=case.open_seconds, bytes_per_second=case.bytes_per_second)
    if case.readers == 1:
        began = time.perf_counter()
        for name in names:
            slow.read(name)
        return time.perf_counter() - began
    with ThreadPoolExecutor(case.readers) as pool:
        began = time.perf_counter()
        for _ in pool.map(slow.read, names):
            pass
        return time.perf_counter() - began
