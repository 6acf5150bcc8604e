"""Whether a run with workers fits into this machine, asked before it starts."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from course_lib.errors import CourseError
from course_lib.loading.worker_start import why_workers_cannot_start
from course_lib.units import format_bytes

if TYPE_CHECKING:
    from course_lib.loading.conditions import LoaderConditions

_FILES_PER_WORKER = 8
_FILES_PER_BATCH = 3
_FILES_KEPT_FREE = 32


class SharedMemory(NamedTuple):
    """Bytes of the memory that processes share, free and altogether."""

    free_bytes: int
    total_bytes: int


@dataclass(frozen=True)
class Readiness:
    """What a run with workers needs, and what there is.

    Attributes
    ----------
    workers : int
        Workers that the run can have: those asked for, or 0 where none can start here.
    note : str
        Why there are fewer than asked for; "" where there are not.
    shared_memory_needed_bytes : int
        Room for the batches that workers prepare ahead.
    shared_memory_free_bytes : int or None
        Room there is; None where the system sets no fixed limit.
    open_files_needed : int
        Open files of the consuming process, at most.
    open_files_limit : int or None
        How many it may have; None where the system sets no such limit.
    """

    workers: int
    note: str
    shared_memory_needed_bytes: int
    shared_memory_free_bytes: int | None
    open_files_needed: int
    open_files_limit: int | None


def check_readiness(
    conditions: LoaderConditions, batch_bytes: int, *, start_a_worker: bool = True
) -> Readiness:
    """Look before a run whether its workers can start, and find room.

    Parameters
    ----------
    conditions : LoaderConditions
        The run.
    batch_bytes : int
        Bytes of one batch as tensors, as ``LoadedSamples.batch_bytes`` tells.
    start_a_worker : bool, optional
        Start a worker to see whether it answers, which takes about a second.

    Raises
    ------
    CourseError
        When shared memory or the limit of open files is too small, with what is needed.
    """
    memory = shared_memory()
    free_bytes = None if memory is None else memory.free_bytes
    limit = open_files_limit()
    if not conditions.workers:
        return Readiness(0, "", 0, free_bytes, 0, limit)
    # Each worker has its prefetched batches waiting and one at work; the consumer holds one more.
    batches = conditions.workers * (conditions.prefetch + 1) + 1
    needed_bytes = batches * batch_bytes
    if free_bytes is not None and needed_bytes > free_bytes:
        raise CourseError(
            "There is too little shared memory for the batches of this run",
            expected=f"at least {format_bytes(needed_bytes)} ({batches:,} batches of "
            f"{format_bytes(batch_bytes)})",
            found=f"{format_bytes(free_bytes)} free",
            next_step="lower workers, prefetch or batch_size, or start the container with more `--shm-size`",
        )
    needed_files = (
        open_files() + _FILES_KEPT_FREE + conditions.workers * _FILES_PER_WORKER + batches * _FILES_PER_BATCH
    )
    if limit is not None and needed_files > limit:
        raise CourseError(
            "These workers need more open files than this process may have",
            expected=f"a limit of at least {needed_files:,}",
            found=f"{limit:,}",
            next_step="lower workers or prefetch, or raise the limit (`ulimit -n` on Linux and macOS)",
        )
    reason = why_workers_cannot_start() if start_a_worker else ""
    note = f"Workers cannot start here ({reason}), so the run has 0 workers." if reason else ""
    return Readiness(0 if reason else conditions.workers, note, needed_bytes, free_bytes, needed_files, limit)


def shared_memory() -> SharedMemory | None:
    """Return the memory that workers hand batches over in; None where it has no fixed limit."""
    folder = Path("/dev/shm")
    if not folder.is_dir():
        return None
    usage = shutil.disk_usage(folder)
    return SharedMemory(usage.free, usage.total)


def open_files_limit() -> int | None:
    """Return how many files this process may have open; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def open_files(pid: int | None = None) -> int:
    """Return how many files (on Windows: handles) a process has open, by default this one."""
    import psutil

    process = psutil.Process(pid)
    return int(getattr(process, "num_handles" if sys.platform == "win32" else "num_fds")())
