"""Training, or loading alone, over and over, with a few figures a second: the work behind the live panel."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import count
from typing import Any

from course_lib.errors import CourseError
from course_lib.loading.steps import PARTS, Step, timed_steps
from course_lib.loading.training_conditions import TrainingConditions

TASK = "course_lib.loading.live:live_task"
IMPORTS = ("course_lib.loading.candidates", "course_lib.loading.live", "torchvision.io")
"""What a prepared process imports, so that a start waits for the data alone."""

WORK = ("train", "load")

PRESETS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "slow open": {"loader": {"open_ms": 4.0}},
    "slow decode": {"loader": {"decode_repeats": 30}},
    "too few workers": {"loader": {"open_ms": 1.0, "workers": 1}},
    "cold start": {"loader": {"cache": "evict"}},
    "slow device": {"compute_repeats": 8},
}
"""Conditions that each preset changes; open times are set, repeated work is real."""

POINT_SECONDS = 0.2
WINDOW_SECONDS = 1.0
_MOST_SECONDS_TO_PREPARE = 1_800.0


def with_preset(conditions: TrainingConditions, preset: str) -> TrainingConditions:
    """Return the conditions with what a preset changes.

    Raises
    ------
    CourseError
        When there is no such preset.
    """
    if preset not in PRESETS:
        raise CourseError(f"There is no preset {preset!r}", expected=" or ".join(PRESETS), found=preset)
    return conditions.with_changes(**PRESETS[preset])


def live_task(request: Mapping[str, Any], emit: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Train or load over and over, epoch after epoch, until the process is stopped.

    Runs in a watched process.

    Parameters
    ----------
    request : mapping
        "conditions" (of :meth:`TrainingConditions.as_dict`), "work" ("train" or "load"), "preset" (may be
        left out) and "seconds" (may be left out: so long after the data were found the task ends by itself).
    emit : callable
        Gets "starting" events until the first batch is done, one "started" event, then about five "point"
        events a second; see :meth:`LiveFigures.point`.

    Returns
    -------
    dict
        "seconds", "batches", "samples" and "samples_per_second" of the whole run.

    Raises
    ------
    CourseError
        For conditions that no run can have, and when a sample or a worker fails.
    """
    work = request.get("work", "train")
    if work not in WORK:
        raise CourseError("There is no such work", expected=" or ".join(WORK), found=repr(work))
    conditions = with_preset(
        TrainingConditions.from_dict(request["conditions"]), request.get("preset", "as it is")
    )
    figures = LiveFigures()
    with _points(figures, emit):
        _work(conditions, work, figures, emit, float(request.get("seconds") or "inf"))
    return figures.result()


class LiveFigures:
    """Running figures of the last second or so; one thread adds steps while one other asks for points.

    Parameters
    ----------
    clock : callable, optional
        Seconds of a clock that never goes back.
    window_seconds : float, optional
        Steps that ended longer ago are forgotten, except for the last one.
    """

    def __init__(
        self, *, clock: Callable[[], float] = time.perf_counter, window_seconds: float = WINDOW_SECONDS
    ) -> None:
        self._clock = clock
        self._window_seconds = window_seconds
        # Appending to a deque and taking from it are safe between threads without a lock of our own.
        self._new_steps: deque[Step] = deque()
        self._steps: deque[Step] = deque()
        self._begun = self._last_ended = clock()
        self._batches = self._samples = 0
        self._quiet_limit_seconds = _MOST_SECONDS_TO_PREPARE
        self.epoch = 0
        self.is_waiting = True
        self.has_begun = threading.Event()

    def add(self, step: Step) -> None:
        """Take a step in that has just ended; the rest is left to :meth:`point`, so that loading goes on."""
        self._new_steps.append(step)
        self._last_ended = step.ended

    def _take_new_steps(self) -> list[Step]:
        taken = []
        while self._new_steps:
            taken.append(self._new_steps.popleft())
        self._steps.extend(taken)
        self._batches += len(taken)
        self._samples += sum(step.samples for step in taken)
        return taken

    def opened(self, batch_seconds_at_most: float) -> None:
        """Take note that the samples are there: from now on a batch may take so long and no longer."""
        self._last_ended = self._clock()
        self._quiet_limit_seconds = batch_seconds_at_most

    def watched(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches, noting when somebody waits for the next one."""
        for batch in batches:
            self.is_waiting = False
            yield batch
            self.is_waiting = True

    @property
    def seems_alive(self) -> bool:
        """Whether the last step ended lately; else silence lets a watchdog see that the run hangs."""
        return self._clock() - self._last_ended < self._quiet_limit_seconds

    def point(self) -> dict[str, Any]:
        """Return the figures of the moment.

        Returns
        -------
        dict
            "kind" ("point", or "starting" before the first step has ended), "seconds" since the start,
            "samples_per_second" (samples of the window over its time), "batch_wait_ms" (mean over the
            window's batches), "batch_waits_ms" (of each batch since the last point), "waiting_share",
            "transfer_share", "compute_share" (of the window's time), "batches" and "samples" so far, and
            "epoch". A step that takes longer than all of the window's counts as it goes, so that a
            standstill shows.
        """
        new = self._take_new_steps()
        now = self._clock()
        while len(self._steps) > 1 and self._steps[0].ended < now - self._window_seconds:
            self._steps.popleft()
        steps = self._steps
        if not steps:
            return {"kind": "starting", "seconds": now - self._begun}
        overdue = now - steps[-1].ended - max(step.total for step in steps)
        overdue = max(overdue, 0.0)
        spent = {part: sum(getattr(step, part) for step in steps) for part in PARTS}
        spent["waiting" if self.is_waiting else "compute"] += overdue
        elapsed = sum(step.total for step in steps) + overdue
        return {
            "kind": "point",
            "seconds": now - self._begun,
            "samples_per_second": sum(step.samples for step in steps) / elapsed,
            "batch_wait_ms": 1e3 * spent["waiting"] / len(steps),
            "batch_waits_ms": [round(1e3 * step.waiting, 3) for step in new],
            **{f"{part}_share": spent[part] / elapsed for part in PARTS},
            "batches": self._batches,
            "samples": self._samples,
            "epoch": self.epoch,
        }

    def result(self) -> dict[str, Any]:
        """Return the figures of the whole run: total samples over total time."""
        self._take_new_steps()
        seconds = self._last_ended - self._begun
        return {
            "seconds": seconds,
            "batches": self._batches,
            "samples": self._samples,
            "samples_per_second": self._samples / seconds if seconds else 0.0,
        }


@contextmanager
def _points(figures: LiveFigures, emit: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """Emit a point about five times a second from a thread, so that slow batches do not keep it back."""
    is_over = threading.Event()

    def keep_emitting() -> None:
        while not is_over.is_set():
            if figures.seems_alive:
                emit(figures.point())
            # The first batch is shown at once; after it, only the end is worth waking up for.
            (is_over if figures.has_begun.is_set() else figures.has_begun).wait(POINT_SECONDS)

    emitter = threading.Thread(target=keep_emitting, name="live points", daemon=True)
    emitter.start()
    try:
        yield
    finally:
        is_over.set()
        figures.has_begun.set()
        emitter.join()


def _work(
    conditions: TrainingConditions,
    work: str,
    figures: LiveFigures,
    emit: Callable[[dict[str, Any]], None],
    seconds: float,
) -> None:
    from course_lib.loading.candidates import Bench
    from course_lib.loading.device import synchronise

    bench = Bench(conditions)
    epochs, about = bench.live_input()
    emit({"kind": "started", **about})
    figures.opened(conditions.loader.batch_seconds_at_most)
    transfer, compute = bench.live_work(trains=work == "train")

    def all_batches() -> Iterator[Any]:
        for epoch in count():
            figures.epoch = epoch
            yield from figures.watched(epochs(epoch))

    end = time.perf_counter() + seconds
    for step in timed_steps(all_batches(), transfer, compute, synchronise=partial(synchronise, bench.device)):
        figures.add(step)
        if not figures.has_begun.is_set():
            figures.has_begun.set()
        if step.ended >= end:
            return
