"""Three ways to find the samples of a data set on slow storage, run over a store with a set latency.

Scanning at the start lists every folder and looks up every file before the first sample. Looking up per
sample starts at once and pays for it with each sample. A saved file list (a manifest) costs one read.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from course_lib.errors import CourseError
from course_lib.stores.latency import SetLatencyStore
from course_lib.stores.store import Store

StartUpCase = Literal["scan at the start", "look up per sample", "saved file list"]

CASES: tuple[StartUpCase, ...] = ("scan at the start", "look up per sample", "saved file list")

LIST_NAME = "file_list.json"
"""Where the saved file list lies in the store."""


@dataclass(frozen=True)
class StartUpCurve:
    """One real run: when how many samples had been delivered.

    Attributes
    ----------
    case : str
        One of `CASES`.
    seconds : tuple of float
        Since the start; the first entry is 0.
    delivered : tuple of int
        Samples delivered by then; the first entry is 0.
    counts : dict
        Operations that the store served: ``{"open": n, "stat": n, "list": n}``.
    """

    case: StartUpCase
    seconds: tuple[float, ...]
    delivered: tuple[int, ...]
    counts: dict[str, int]

    @property
    def first_sample_seconds(self) -> float:
        """Time from the start to the first sample."""
        return self.seconds[1]

    @property
    def steady_samples_per_second(self) -> float:
        """Samples after the first one over the time they took; nan for a single sample."""
        seconds = self.seconds[-1] - self.seconds[1]
        return (self.delivered[-1] - self.delivered[1]) / seconds if seconds > 0 else float("nan")

    def as_dict(self) -> dict[str, Any]:
        """Return the curve and its two figures as plain values."""
        return {
            "case": self.case,
            "seconds": list(self.seconds),
            "delivered": list(self.delivered),
            "counts": dict(self.counts),
            "first_sample_seconds": self.first_sample_seconds,
            "steady_samples_per_second": self.steady_samples_per_second,
        }


@dataclass(frozen=True)
class StartUpComparison:
    """The same samples in the same order, found in several ways.

    Attributes
    ----------
    curves : tuple of StartUpCurve
        One per case, in the order they ran.
    set_seconds : dict
        The latencies that were set (not measured): ``{"open": s, "stat": s, "list": s}``.
    sample_count, folder_count, seed : int
        The data, and what decides the order of the samples.
    """

    curves: tuple[StartUpCurve, ...]
    set_seconds: dict[str, float]
    sample_count: int
    folder_count: int
    seed: int

    def __getitem__(self, case: str) -> StartUpCurve:
        """Return the curve of one case.

        Raises
        ------
        CourseError
            When it did not run.
        """
        for curve in self.curves:
            if curve.case == case:
                return curve
        raise CourseError(
            f"The case {case!r} did not run",
            expected=f"one of {', '.join(curve.case for curve in self.curves)}",
        )


def make_small_objects(
    store: Store, *, samples: int = 200, folders: int = 4, bytes_per_sample: int = 900, seed: int = 2026
) -> tuple[str, ...]:
    """Write samples dealt out to folders, and the saved list of their names; return the folders' names.

    Parameters
    ----------
    store : Store
        An empty one.
    samples, folders, bytes_per_sample : int
        How many samples of how many bytes in how many folders.
    seed : int
        Decides their contents.
    """
    if not (samples >= 1 and 1 <= folders <= samples and bytes_per_sample >= 0):
        raise CourseError(
            "These samples cannot be made",
            expected="1 sample or more, and from 1 folder to as many as there are samples",
            found=f"{samples:,} samples in {folders:,} folders",
        )
    contents = random.Random(seed)
    names = [f"class_{number % folders:03}/{number:06}.bin" for number in range(samples)]
    for name in names:
        store.write(name, contents.randbytes(bytes_per_sample))
    store.publish(LIST_NAME, json.dumps(names).encode("utf-8"))
    return tuple(f"class_{number:03}" for number in range(folders))


def compare_start_up(
    store: Store,
    folders: Sequence[str],
    *,
    open_seconds: float = 0.002,
    stat_seconds: float = 0.002,
    list_seconds: float = 0.01,
    cases: Sequence[StartUpCase] = CASES,
    most_samples: int | None = None,
    seed: int = 2026,
    on_sample: Callable[[StartUpCase, float, int], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] = time.sleep,
) -> StartUpComparison:
    """Deliver the samples of a store in each of several ways, with the latencies set here.

    Parameters
    ----------
    store : Store
        As `make_small_objects` left it.
    folders : sequence of str
        The folders that a scan lists.
    open_seconds, stat_seconds, list_seconds : float
        Set time of each operation.
    cases : sequence of str
        Which ways, some of `CASES`.
    most_samples : int, optional
        Deliver no more than so many in each; a scan at the start still looks at all.
    seed : int
        Decides the order of the samples, the same in each case.
    on_sample : callable, optional
        Called with the case, the seconds since its start and the samples delivered.
    clock, sleep : callable
        Seconds, and waiting for so many of them.

    Raises
    ------
    CourseError
        When the store lacks something, or has no samples.
    """
    if wrong := [case for case in cases if case not in CASES]:
        raise CourseError(f"There is no case {wrong[0]!r}", expected=f"one of {', '.join(CASES)}")
    curves = []
    names: list[str] = []
    for case in cases:
        slow = SetLatencyStore(
            store,
            open_seconds=open_seconds,
            stat_seconds=stat_seconds,
            list_seconds=list_seconds,
            clock=clock,
            sleep=sleep,
        )
        begin = clock()
        seconds, delivered = [0.0], [0]
        names = _found(case, slow, folders)
        for name in _in_order(names, seed, most_samples):
            if case == "look up per sample":
                slow.stat(name)
            slow.read(name)
            seconds.append(clock() - begin)
            delivered.append(len(delivered))
            if on_sample is not None:
                on_sample(case, seconds[-1], delivered[-1])
        curves.append(StartUpCurve(case, tuple(seconds), tuple(delivered), dict(slow.counts)))
    return StartUpComparison(tuple(curves), dict(slow.set_seconds), len(names), len(folders), seed)


def _found(case: StartUpCase, store: SetLatencyStore, folders: Sequence[str]) -> list[str]:
    """Return the samples' names as the case finds them out.

    A reader that looks up per sample makes the names by its own rule and asks for each when it needs it:
    the list stands for that rule, so reading it costs nothing there.
    """
    if case == "scan at the start":
        names = [name for folder in folders for name in store.list(f"{folder}/")]
        for name in names:
            store.stat(name)
    else:
        source: Store = store if case == "saved file list" else store.store
        names = json.loads(source.read(LIST_NAME))
    if not names:
        raise CourseError("The store has no samples", next_step="make some with make_small_objects")
    return sorted(names)


def _in_order(names: list[str], seed: int, most: int | None) -> Iterator[str]:
    order = list(names)
    random.Random(seed).shuffle(order)
    yield from order[:most]
