"""One run of one candidate, inside the watched process."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import psutil

from course_lib.datasets.origin import Origin
from course_lib.loading.conditions import LoaderConditions, check_batches
from course_lib.loading.loaders import ExplainedLoader, build_loader
from course_lib.loading.opening import on_disk, open_samples
from course_lib.loading.probe import time_batches
from course_lib.loading.readiness import check_readiness, open_files
from course_lib.loading.results import LoaderRun, WorkerMemory, digest_of_ids
from course_lib.loading.samples import LoadedSamples
from course_lib.loading.sharded import WHAT_OPENS
from course_lib.loading.worker_start import default_start_method
from course_lib.stores import evict, observe_cache
from course_lib.watched import Emit

_SECONDS_BETWEEN_SIGNS = 5.0
_MOST_SIGNS_WHILE_PREPARING = 360
_MOST_SIGNS_WHILE_LISTING = 24


@dataclass(frozen=True)
class Prepared:
    """Candidates that can run here, with their data source resolved.

    Attributes
    ----------
    candidates : dict
        Name to conditions, in the order given.
    origin : Origin or None
        Where the data came from.
    notes : list of str
        What had to be changed, in sentences.
    """

    candidates: dict[str, LoaderConditions]
    origin: Origin | None
    notes: list[str]


def prepare(candidates: Mapping[str, LoaderConditions], emit: Emit) -> Prepared:
    """Have the data made where they are not there, and look whether the workers find room.

    Raises
    ------
    CourseError
        When a candidate cannot run here.
    """
    resolved: dict[str, LoaderConditions] = {}
    notes: list[str] = []
    origin = None
    workers_start = True
    # One worker tells for all candidates whether workers start here, so the most workers come first.
    by_workers = sorted(candidates.items(), key=lambda item: -item[1].workers)
    with signs_of_life(emit, _most_signs(candidates.values())):
        for name, candidate in by_workers:
            samples = open_samples(on_disk(candidate))
            origin = samples.origin
            if origin is not None:
                candidate = candidate.with_changes(source=origin.kind)
            readiness = check_readiness(
                candidate,
                samples.batch_bytes(candidate.batch_size),
                start_a_worker=not resolved,
            )
            if readiness.note:
                workers_start = False
                notes.append(readiness.note)
            if not workers_start:
                candidate = candidate.with_changes(workers=0)
            resolved[name] = candidate
    distinct: dict[str, LoaderConditions] = {}
    for name in candidates:
        if resolved[name] not in distinct.values():
            renamed = not workers_start and name.startswith("workers ")
            distinct["workers 0" if renamed else name] = resolved[name]
    if any(candidate.layout == "shards" and candidate.open_ms for candidate in distinct.values()):
        notes.append(WHAT_OPENS)
    return Prepared(distinct, origin, notes)


def run_once(
    name: str,
    conditions: LoaderConditions,
    *,
    repeat: int,
    turn: int,
    warmup_batches: int,
    measured_batches: int | None,
    tell: Callable[[float], None],
) -> LoaderRun:
    """Observe the cache, load with the probe watching, and observe again.

    Parameters
    ----------
    name : str
        Of the candidate.
    conditions : LoaderConditions
        Of the candidate, with a resolved source.
    repeat, turn : int
        For the result.
    warmup_batches, measured_batches : int
        As :func:`course_lib.loading.probe.time_batches` takes them.
    tell : callable
        Called with the time at each batch.
    """
    paths = open_samples(on_disk(conditions)).paths()
    watch = _Watch(conditions, warmup_batches, measured_batches, tell)
    if conditions.cache == "evict":
        before = evict(paths, on_file=lambda: tell(time.monotonic()))
    else:
        before = observe_cache(paths)
    try:
        timing = time_batches(
            watch.make_loader,
            warmup_batches=warmup_batches,
            measured_batches=measured_batches,
            on_batch=watch.note,
        )
        ids = watch.delivered_ids()
    finally:
        watch.close()
    return LoaderRun(
        candidate=name,
        conditions=conditions,
        repeat=repeat,
        turn=turn,
        timing=timing,
        cache_before=before,
        cache_after=observe_cache(paths),
        delivered_digest=digest_of_ids(ids),
        delivered_batches=watch.batches,
        delivered_samples=len(ids),
        worker_memory_bytes=watch.worker_memory,
        open_files=watch.open_files,
        cpu_seconds=watch.cpu_seconds,
        machine_busy_share=watch.machine_busy_share,
        start_method=(conditions.start_method or default_start_method()) if conditions.workers else "",
    )


class _Watch:
    """Makes the loader, and looks at batches and processes at moments that are in no batch wait."""

    def __init__(
        self,
        conditions: LoaderConditions,
        warmup_batches: int,
        measured_batches: int | None,
        tell: Callable[[float], None],
    ) -> None:
        self.batches = 0
        self.worker_memory: tuple[WorkerMemory, ...] = ()
        self.open_files = 0
        self.cpu_seconds = 0.0
        self.machine_busy_share: float | None = None
        self._conditions = conditions
        self._warmed_up_after = warmup_batches
        self._measured_batches = measured_batches
        self._tell = tell
        self._positions: list[int] = []
        self._samples: LoadedSamples | None = None
        self._loader: ExplainedLoader | None = None
        self._last = 0

    def make_loader(self) -> ExplainedLoader:
        self._samples = open_samples(self._conditions)
        self._loader = build_loader(self._samples, self._conditions)
        available = check_batches(self._conditions, len(self._samples))
        self._last = (
            available if self._measured_batches is None else self._warmed_up_after + self._measured_batches
        )
        return self._loader

    def note(self, batch: Any) -> None:
        # As numbers: a tensor that a worker handed over keeps a file open as long as it lives.
        self._positions += batch["position"].tolist()
        self.batches += 1
        self._tell(time.monotonic())
        if self.batches == self._warmed_up_after:
            self.cpu_seconds = _cpu_seconds()
            self._machine_times = psutil.cpu_times()
        elif self.batches == self._last:
            self.cpu_seconds = _cpu_seconds() - self.cpu_seconds
            self.machine_busy_share = _busy_share(self._machine_times, psutil.cpu_times())
            self.worker_memory = tuple(_worker_memory())
            pids = [None, *(process.pid for process in multiprocessing.active_children())]
            self.open_files = max(_open_files(pid) for pid in pids)

    def delivered_ids(self) -> list[str]:
        assert self._samples is not None
        return self._samples.sample_ids(self._positions)

    def close(self) -> None:
        """Give the loader up, which ends its workers."""
        self._loader = None


def _cpu_seconds() -> float:
    """Return the processor time of this process and its workers so far."""
    seconds = time.process_time()
    for worker in multiprocessing.active_children():
        with suppress(psutil.Error):
            times = psutil.Process(worker.pid).cpu_times()
            seconds += times.user + times.system
    return seconds


def _busy_share(before: Any, after: Any) -> float | None:
    """Return which share of the machine's time all programs together used, between two moments."""
    passed = sum(after) - sum(before)
    idle = sum(
        getattr(after, kind) - getattr(before, kind) for kind in ("idle", "iowait") if hasattr(after, kind)
    )
    return min(max(1 - idle / passed, 0.0), 1.0) if passed > 0 else None


def _worker_memory() -> Iterator[WorkerMemory]:
    for worker in multiprocessing.active_children():
        with suppress(psutil.Error):
            memory = psutil.Process(worker.pid).memory_full_info()
            yield WorkerMemory(int(memory.uss), getattr(memory, "pss", None))


def _open_files(pid: int | None) -> int:
    try:
        return open_files(pid)
    except psutil.Error:
        return 0


def _most_signs(candidates: Iterable[LoaderConditions]) -> int:
    """Return how long making the data may take: a folder of the reader's own only has to be listed.

    It may lie on a mount that stalls, which has to end sooner than data that are downloaded and unpacked.
    """
    listed = all(candidate.path and candidate.layout != "shards" for candidate in candidates)
    return _MOST_SIGNS_WHILE_LISTING if listed else _MOST_SIGNS_WHILE_PREPARING


@contextmanager
def signs_of_life(emit: Emit, most: int = _MOST_SIGNS_WHILE_PREPARING) -> Iterator[None]:
    """Emit while data are unpacked or generated, which may take minutes; for half an hour at most.

    Parameters
    ----------
    emit : callable
        Gets an event every 5 s.
    most : int
        So many events at most: what takes longer has to count as hung.
    """
    done = threading.Event()

    def say() -> None:
        for _ in range(most):
            emit({"kind": "preparing"})
            if done.wait(_SECONDS_BETWEEN_SIGNS):
                return

    thread = threading.Thread(target=say, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
