"""Rates of metadata operations on any path: create, scan, stat, open, read and remove small files."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, BrokenExecutor, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.stores.cache_state import evict, file_system_of
from course_lib.stores.metadata_folder import check_folder, own_folder, remove_leftovers
from course_lib.stores.metadata_result import OPERATIONS, MetadataResult, OperationRates
from course_lib.stores.metadata_work import Done, Share, perform
from course_lib.watched import Emit, JsonValue, WatchedTaskError, run_watched

DEFAULT_MOST_BYTES = 1_000_000_000

_MOST_PROCESSES = 64
_SECONDS_BETWEEN_SIGNS = 0.5
_SECONDS_TO_REMOVE = 20.0
_SECONDS_TO_MEET = 60.0

Progress = Callable[[dict[str, Any]], None]


def measure_metadata(
    path: Path,
    *,
    files: int = 1000,
    bytes_per_file: int = 4096,
    directories: int = 1,
    processes: int = 1,
    repeats: int = 3,
    seed: int = 2026,
    most_bytes: int = DEFAULT_MOST_BYTES,
    on_progress: Progress | None = None,
) -> MetadataResult:
    """Measure the rates of metadata operations in an empty folder, and remove everything that was made.

    Parameters
    ----------
    path : Path
        An empty folder on the storage to measure.
    files, bytes_per_file : int
        How many files of how many bytes each repeat makes.
    directories : int
        Directories over which the files are dealt out.
    processes : int
        Processes that share the files and work at the same time.
    repeats : int
        How often everything is done.
    seed : int
        Decides contents and shuffled orders.
    most_bytes : int
        Refuse to take more of the disk than this.
    on_progress : callable, optional
        Called about twice a second, as long as the work goes on, with ``operation``, ``repeat`` and ``done``.

    Raises
    ------
    CourseError
        When the folder does not fit or the file system refuses something.
    """
    _check_numbers(files, bytes_per_file, directories, processes, repeats)
    check_folder(path, files, bytes_per_file, directories, most_bytes)
    counts: dict[str, list[int]] = {operation: [] for operation in OPERATIONS}
    seconds: dict[str, list[float]] = {operation: [] for operation in OPERATIONS}
    caches = []
    sign = _Sign(on_progress)
    file_system = file_system_of(path)
    with own_folder(path, directories) as root:
        shares = [
            Share(str(root), files, bytes_per_file, directories, processes, process, seed)
            for process in range(processes)
        ]
        with _team(shares, sign) as perform_together:
            for repeat in range(repeats):
                for operation in OPERATIONS:
                    if operation == "read":
                        sign.begin("evict", repeat)
                        everything = [file for share in shares for file in share.paths()]
                        caches.append(evict(everything, on_file=sign.advance))
                    sign.begin(operation, repeat)
                    done = perform_together(operation, repeat)
                    counts[operation].append(sum(each.count for each in done))
                    seconds[operation].append(
                        max(each.ended for each in done) - min(each.began for each in done)
                    )
    rates = tuple(OperationRates(name, tuple(counts[name]), tuple(seconds[name])) for name in OPERATIONS)
    return MetadataResult(
        files, bytes_per_file, directories, processes, seed, rates, tuple(caches), file_system
    )


def measure_metadata_watched(
    path: Path,
    *,
    silence_seconds: float = 60.0,
    on_progress: Progress | None = None,
    **conditions: int,
) -> MetadataResult:
    """Do the same in a watched process: a mount that stalls is an error after a while, not a hang.

    Parameters
    ----------
    path, on_progress, **conditions
        As for `measure_metadata`.
    silence_seconds : float
        How long one single operation may take.

    Raises
    ------
    CourseError
        As for `measure_metadata`, and when the storage does not answer.
    """
    path = Path(path)
    request = {"path": str(path.absolute()), **conditions}
    with leftovers_removed(path):
        found = run_watched(
            f"{__name__}:metadata_task", request, on_event=on_progress, silence_seconds=silence_seconds
        )
    return MetadataResult.from_dict(found)


@contextlib.contextmanager
def leftovers_removed(path: Path) -> Iterator[None]:
    """Remove what a watched measurement left in ``path`` when it was killed inside this block."""
    try:
        yield
    except BaseException as error:
        if isinstance(error, WatchedTaskError) or not isinstance(error, CourseError):
            request = {"path": str(path.absolute())}
            with contextlib.suppress(CourseError):
                run_watched(f"{__name__}:removal_task", request, limit_seconds=_SECONDS_TO_REMOVE)
        raise


def metadata_task(request: dict[str, JsonValue], emit: Emit) -> JsonValue:
    """Measure as a watched task; the request holds the arguments of `measure_metadata`."""
    conditions = {name: value for name, value in request.items() if name != "path"}
    return measure_metadata(Path(request["path"]), on_progress=emit, **conditions).as_dict()


def removal_task(request: dict[str, JsonValue], emit: Emit) -> JsonValue:
    """Remove, as a watched task, what a killed measurement left in ``path``."""
    remove_leftovers(Path(request["path"]))


class _Sign:
    """Tells how far the work is, about twice a second and only while it goes on."""

    def __init__(self, on_progress: Progress | None) -> None:
        self._on_progress = on_progress
        self._operation = ""
        self._repeat = self._done = 0
        self._next = 0.0

    def begin(self, operation: str, repeat: int) -> None:
        self._operation, self._repeat, self._done = operation, repeat, 0

    def advance(self, done: int | None = None) -> None:
        """Count one more file, or set how many are done."""
        before, self._done = self._done, self._done + 1 if done is None else done
        if self._on_progress is None or self._done == before or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _SECONDS_BETWEEN_SIGNS
        self._on_progress({"operation": self._operation, "repeat": self._repeat, "done": self._done})


Together = Callable[[str, int], list[Done]]


@contextlib.contextmanager
def _team(shares: list[Share], sign: _Sign) -> Iterator[Together]:
    """Yield a function that performs an operation on all shares at the same time."""
    if len(shares) == 1:
        yield lambda operation, repeat: [perform(shares[0], operation, repeat, sign.advance)]
        return
    context = multiprocessing.get_context("spawn")
    with _starting():
        meeting = context.Barrier(len(shares))
        # The last place tells the workers to stop.
        progress: Any = context.RawArray("Q", len(shares) + 1)
        pool = ProcessPoolExecutor(
            len(shares), mp_context=context, initializer=_join_team, initargs=(meeting, progress)
        )
    try:

        def perform_together(operation: str, repeat: int) -> list[Done]:
            progress[:-1] = [0] * len(shares)
            with _starting():
                futures = [pool.submit(_perform_as_member, share, operation, repeat) for share in shares]
            return _all_done(futures, progress, sign)

        yield perform_together
    finally:
        progress[-1] = 1
        meeting.abort()
        pool.shutdown(wait=True, cancel_futures=True)


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise CourseError(
            "The processes could not be started",
            found=error.strerror or str(error),
            next_step="measure with fewer processes, or raise the limits (`ulimit -n`, `ulimit -u`)",
        ) from error


def _all_done(futures: list[Future[Done]], progress: Any, sign: _Sign) -> list[Done]:
    waiting = set(futures)
    while waiting:
        finished, waiting = wait(waiting, timeout=_SECONDS_BETWEEN_SIGNS, return_when=FIRST_EXCEPTION)
        sign.advance(sum(progress[:-1]))
        for future in finished:
            try:
                future.result()
            except (BrokenExecutor, threading.BrokenBarrierError) as error:
                raise CourseError(
                    "The processes could not work together",
                    found=str(error).rstrip(".") or type(error).__name__,
                    next_step="measure with fewer processes, or with one",
                ) from error
    return [future.result() for future in futures]


_member: dict[str, Any] = {}


def _join_team(meeting: Any, progress: Any) -> None:
    # Ctrl-C reaches the whole group of a terminal: the measuring process tells the others to stop.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _member.update(meeting=meeting, progress=progress)


def _perform_as_member(share: Share, operation: str, repeat: int) -> Done:
    # Nobody takes a second share before everybody has taken one: each waits here with its own.
    _member["meeting"].wait(_SECONDS_TO_MEET)
    progress = _member["progress"]

    def advance() -> None:
        progress[share.process] += 1
        if progress[len(progress) - 1]:
            raise CourseError("The measurement was stopped")

    return perform(share, operation, repeat, advance)


def _check_numbers(files: int, bytes_per_file: int, directories: int, processes: int, repeats: int) -> None:
    for what, value, low, high, dealt_out in (
        ("The number of files", files, 1, 10_000_000, False),
        ("The number of bytes per file", bytes_per_file, 0, 1 << 40, False),
        ("The number of directories", directories, 1, 100_000, True),
        ("The number of processes", processes, 1, _MOST_PROCESSES, True),
        ("The number of repeats", repeats, 1, 1000, False),
    ):
        high = min(high, files) if dealt_out else high
        shown = f"{value:,}" if isinstance(value, int) else repr(value)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise CourseError(f"{what} is out of range", expected=f"{low:,} to {high:,}", found=shown)
