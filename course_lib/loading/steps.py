"""Time of training steps, split into waiting for the batch, moving it to the device, and computing."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError

PARTS = ("waiting", "transfer", "compute")


class Step(NamedTuple):
    """One step: seconds of each part, seconds from limit to limit, samples, and the clock at its end."""

    waiting: float
    transfer: float
    compute: float
    total: float
    samples: int
    ended: float


@dataclass(frozen=True, eq=False)
class StepTimes:
    """Times of the measured steps of one run, warm-up left out.

    Attributes
    ----------
    waiting, transfer, compute : ndarray of shape (steps,), float64
        Seconds until the batch was there, until it was on the device, and until the model had trained on it.
    total : ndarray of shape (steps,), float64
        Seconds from the end of the step before to the end of this one, clocked by itself and no sum of the
        parts, so that work outside all parts would show.
    sample_count : int
        Samples of all measured steps.
    """

    waiting: NDArray[np.float64]
    transfer: NDArray[np.float64]
    compute: NDArray[np.float64]
    total: NDArray[np.float64]
    sample_count: int

    @property
    def step_count(self) -> int:
        """Number of measured steps."""
        return len(self.total)

    @property
    def step_seconds(self) -> float:
        """Seconds of a step: total time over steps."""
        return float(self.total.sum()) / len(self.total)

    @property
    def samples_per_second(self) -> float:
        """Total samples over total time."""
        return self.sample_count / float(self.total.sum())

    def part_seconds(self, part: str) -> float:
        """Return the seconds of one part in a step: that part's total over steps."""
        return float(getattr(self, part).sum()) / len(self.total)

    def shares(self) -> dict[str, float]:
        """Return each part's share of the running time, as ratios that add up to about 1."""
        running = float(self.total.sum())
        return {part: float(getattr(self, part).sum()) / running for part in PARTS}

    @property
    def covered_share(self) -> float:
        """Share of the running time that the three parts account for."""
        return sum(self.shares().values())

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a record."""
        arrays = {name: getattr(self, name).tolist() for name in (*PARTS, "total")}
        return {**arrays, "sample_count": self.sample_count}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StepTimes:
        """Return the times that :meth:`as_dict` gave."""
        arrays = {name: np.asarray(values[name], dtype=np.float64) for name in (*PARTS, "total")}
        return cls(**arrays, sample_count=int(values["sample_count"]))


def timed_steps(
    batches: Iterable[Any],
    transfer: Callable[[Any], Any],
    compute: Callable[[Any], None],
    *,
    synchronise: Callable[[], None],
    clock: Callable[[], float] = time.perf_counter,
) -> Iterator[Step]:
    """Run steps one after another and yield the times of each, until the batches end.

    Parameters
    ----------
    batches : iterable
        Gives the batches; waiting for it is the first part of a step.
    transfer, compute : callable
        Move a batch to the device and return it there; train on it.
    synchronise : callable
        Waits until the device's queued work is done. It is called at every limit between parts, because
        otherwise only the submission of work would be timed; so transfer and computing never overlap here.
    clock : callable, optional
        Seconds of a clock that never goes back.

    Yields
    ------
    Step
        What the caller does between two steps counts towards the total of the later one, and towards none of
        its parts.
    """
    source = iter(batches)
    synchronise()
    ended = clock()
    while True:
        started = clock()
        try:
            batch = next(source)
        except StopIteration:
            return
        arrived = clock()
        placed = transfer(batch)
        synchronise()
        moved = clock()
        compute(placed)
        synchronise()
        computed = clock()
        samples = sample_count_of(batch)
        before, ended = ended, clock()
        yield Step(arrived - started, moved - arrived, computed - moved, ended - before, samples, ended)


def time_steps(
    batches: Iterable[Any],
    transfer: Callable[[Any], Any],
    compute: Callable[[Any], None],
    *,
    synchronise: Callable[[], None],
    steps: int,
    warmup_steps: int = 0,
    clock: Callable[[], float] = time.perf_counter,
    on_step: Callable[[Step], None] | None = None,
) -> StepTimes:
    """Time ``steps`` steps after ``warmup_steps`` that are left out.

    Parameters
    ----------
    batches, transfer, compute, synchronise, clock
        As :func:`timed_steps` takes them.
    steps, warmup_steps : int
        How many are measured, and how many are done before.
    on_step : callable, optional
        Called after each step; what it takes counts towards the total of the next one.

    Raises
    ------
    CourseError
        When the data run out; no batch is ever used twice to go on.
    """
    needed = warmup_steps + steps
    source = timed_steps(batches, transfer, compute, synchronise=synchronise, clock=clock)
    seen = []
    for step in islice(source, needed):
        seen.append(step)
        if on_step is not None:
            on_step(step)
    if len(seen) < needed:
        raise CourseError(
            f"The data ran out after {len(seen)} batches",
            expected=f"{needed} ({warmup_steps} of warm-up and {steps} measured)",
            next_step="lower the number of measured steps or the batch size, or take more samples",
        )
    measured = seen[warmup_steps:]
    waiting, transferring, computing, total = np.asarray([step[:4] for step in measured], dtype=np.float64).T
    return StepTimes(waiting, transferring, computing, total, sum(step.samples for step in measured))


def sample_count_of(batch: Any) -> int:
    """Return how many samples a batch holds, by its labels where it has any.

    Parameters
    ----------
    batch : mapping, tuple, list or tensor
        What a loader delivered.
    """
    # A plain dict is what our own loaders give; asking for its type is much faster than for a mapping.
    if type(batch) is dict or isinstance(batch, Mapping):
        batch = batch["label"] if "label" in batch else next(iter(batch.values()))
    elif isinstance(batch, tuple | list):
        batch = batch[-1]
    return len(batch)
