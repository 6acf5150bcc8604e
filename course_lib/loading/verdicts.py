"""What repeated runs allow to say: a winner only outside the noise, and where more workers stop helping."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.loading.results import LoaderComparison

FEWEST_REPEATS = 3
_SHARE_OF_FULL_CORES = 0.8

Reason = Literal["none", "cores full", "other programs", "waiting for the store", "start-up", "unclear"]


@dataclass(frozen=True)
class Summary:
    """The values of one candidate over its repeats.

    Attributes
    ----------
    median, low, high : float
        Median, smallest and largest value.
    values : tuple of float
        All of them, in the order of the repeats.
    """

    median: float
    low: float
    high: float
    values: tuple[float, ...]


@dataclass(frozen=True)
class Verdict:
    """Whether one candidate is ahead.

    Attributes
    ----------
    winner : str or None
        The candidate whose range lies apart from all others'; None where there is none.
    sentence : str
        The same in words, with the figures.
    """

    winner: str | None
    sentence: str


@dataclass(frozen=True)
class Plateau:
    """Where more workers stop helping.

    Attributes
    ----------
    workers : int or None
        The smallest number of workers that no larger one beats outside the noise; None where the
        largest one tried is still ahead.
    reason : {"none", "cores full", "other programs", "waiting for the store", "start-up", "unclear"}
        The likely reason.
    sentence : str
        Place and reason in words, with the evidence.
    control : str
        The run that would refute the reason, and how; "" where there is no plateau.
    """

    workers: int | None
    reason: Reason
    sentence: str
    control: str


def summarise(values: Sequence[float]) -> Summary:
    """Return median and range of repeated values.

    Raises
    ------
    CourseError
        When there are none.
    """
    if not values:
        raise CourseError("There are no runs to summarise", expected="at least 1", found="0")
    return Summary(statistics.median(values), min(values), max(values), tuple(values))


def total_rate(*, amounts: Iterable[float], seconds: Iterable[float]) -> float:
    """Return the rate over several runs: total work over total time (the rule of MLPerf Storage too).

    The mean of the runs' rates is another number and no rate: 1 GB in 1 s and 1 GB in 9 s are
    0.2 GB/s, while the mean of the rates is 0.556.

    Parameters
    ----------
    amounts : iterable of float
        The work of each run: samples, bytes, or seconds of computing.
    seconds : iterable of float
        The time of each run, in the same order.

    Returns
    -------
    float
        Work a second.

    Raises
    ------
    CourseError
        For no runs, unequally many amounts and times, and for an amount or a time that is not above 0.

    Examples
    --------
    >>> total_rate(amounts=[1e9, 1e9], seconds=[1, 9]) / 1e9
    0.2
    """
    work, time = list(amounts), list(seconds)
    if not work or len(work) != len(time):
        raise CourseError(
            "Every run needs its amount and its time",
            expected="as many amounts as times, at least 1",
            found=f"{len(work)} and {len(time)}",
        )
    for what, values in (("work", work), ("time", time)):
        if wrong := [value for value in values if not 0 < value < math.inf]:
            raise CourseError(
                f"The {what} of a run is out of range", expected="a number above 0", found=wrong[0]
            )
    return math.fsum(work) / math.fsum(time)


def compare(
    values: Mapping[str, Sequence[float]], *, unit: str = "samples/s", higher_is_better: bool = True
) -> Verdict:
    """Name a winner only where its range overlaps with no other's.

    Parameters
    ----------
    values : mapping of str to sequence of float
        Of each candidate the values of its repeats.
    unit : str, optional
        Stands behind the figures.
    higher_is_better : bool, optional
        False for times.
    """
    if len(values) < 2:
        return Verdict(None, "There is one candidate, so there is nothing to compare.")
    fewest = min(len(of_candidate) for of_candidate in values.values())
    if fewest < FEWEST_REPEATS:
        return Verdict(
            None,
            f"No winner: with {fewest} repeat{'' if fewest == 1 else 's'} the noise is unknown, "
            f"and at least {FEWEST_REPEATS} are needed.",
        )
    summaries = {name: summarise(of_candidate) for name, of_candidate in values.items()}
    ranked = sorted(summaries, key=lambda name: summaries[name].median, reverse=higher_is_better)
    first, second = ranked[:2]
    best = summaries[first]
    overlapping = [
        name for name in ranked[1:] if summaries[name].low <= best.high and best.low <= summaries[name].high
    ]
    if overlapping:
        other = overlapping[0]
        return Verdict(
            None,
            f"No winner: the ranges of {first} ({_ranged(best)}) and {other} ({_ranged(summaries[other])}) "
            f"overlap, so their difference is within the noise ({unit}).",
        )
    ratio = best.median / summaries[second].median
    if not higher_is_better:
        ratio = summaries[second].median / best.median
    return Verdict(
        first,
        f"{first} is ahead: {_shown(best)} against {_shown(summaries[second])} {unit} of {second}, "
        f"{ratio:.2f} times in the median, and the ranges lie apart.",
    )


def plateau(sweep: LoaderComparison) -> Plateau:
    """Tell where more workers stop helping, the likely reason, and what would refute it.

    Parameters
    ----------
    sweep : LoaderComparison
        From ``measure_loader(..., vary={"workers": [...]})``.

    Raises
    ------
    CourseError
        When something else was varied.
    """
    if sweep.plan.get("factor") != "workers":
        raise CourseError(
            "A plateau is looked for in a sweep over workers",
            expected="a comparison that varies workers",
            found=f"one that varies {sweep.plan.get('factor') or 'nothing'}",
        )
    by_workers = {sweep.conditions(name).workers: name for name in sweep.candidates()}
    tried = sorted(by_workers)
    summaries = {workers: sweep.summary(by_workers[workers]) for workers in tried}
    if len(tried) < 2 or min(len(summary.values) for summary in summaries.values()) < FEWEST_REPEATS:
        return Plateau(
            None,
            "none",
            f"Two numbers of workers with at least {FEWEST_REPEATS} repeats each are needed.",
            "",
        )
    knee = next(
        workers
        for workers in tried
        if not any(summaries[more].low > summaries[workers].high for more in tried if more > workers)
    )
    if knee == tried[-1]:
        return Plateau(
            None, "none", f"No plateau up to {knee} workers: {_shown(summaries[knee])} samples/s.", ""
        )
    beyond = [by_workers[workers] for workers in tried if workers > knee]
    reason, evidence, control = _likely_reason(sweep, beyond)
    return Plateau(
        knee,
        reason,
        f"From {knee} workers on ({_ranged(summaries[knee])} samples/s) more workers do not help outside "
        f"the noise; the likely reason is {_REASONS[reason]}: {evidence}.",
        control,
    )


# As it is written in Python, and as an option of the command.
_BYTES = "transforms='bytes' (--transforms bytes)"
_MEMORY = "layout='memory' (--layout memory)"

_REASONS: dict[Reason, str] = {
    "cores full": "that the cores are full",
    "other programs": "that other programs keep the cores busy",
    "waiting for the store": "waiting for the store",
    "start-up": "the start of the workers",
    "unclear": "unclear",
}


def _likely_reason(sweep: LoaderComparison, beyond: Sequence[str]) -> tuple[Reason, str, str]:
    """Return the reason, its evidence and the control, from the runs with more workers than help."""
    runs = [run for run in sweep.runs if run.candidate in beyond]
    cores = int(sweep.plan["usable_cores"])
    own = statistics.median(run.cpu_seconds / (run.timing.elapsed_seconds * cores) for run in runs)
    told = [run.machine_busy_share for run in runs if run.machine_busy_share is not None]
    of_all = statistics.median(told) if told else 0.0
    used = f"the run used {own:.0%} of the time of {cores} cores"
    if told:
        used += f", all programs together {of_all:.0%} of the machine's"
    started = statistics.median(run.timing.first_batch_seconds for run in runs)
    steady = statistics.median(run.timing.elapsed_seconds for run in runs)
    conditions = runs[0].conditions
    is_set = conditions.open_ms > 0 or conditions.bandwidth_bytes_per_second is not None
    not_warm = any(run.cache_before.kind in ("cold", "partly warm") for run in runs)
    if own < _SHARE_OF_FULL_CORES and conditions.layout != "memory" and (is_set or not_warm):
        slow = "a latency is set" if is_set else "the files were not in the page cache"
        return (
            "waiting for the store",
            f"{slow}, and {used}",
            f"Run the sweep with {_MEMORY}: the same rate without the store would refute it",
        )
    if own < of_all / 2 and of_all >= _SHARE_OF_FULL_CORES:
        return (
            "other programs",
            used,
            "Repeat the sweep when they are quiet: the same plateau would refute it",
        )
    if max(own, of_all) >= _SHARE_OF_FULL_CORES:
        return (
            "cores full",
            used,
            f"Run the sweep with {_BYTES}: a plateau at the same rate without decoding would refute it",
        )
    if started > steady:
        return (
            "start-up",
            f"the first batch took {started:.2f} s, all measured ones {steady:.2f} s; {used}",
            "Run the sweep with ten times the samples: a plateau at the same place would refute it",
        )
    return (
        "unclear",
        used,
        f"Run the sweep with {_MEMORY} and with {_BYTES}, and see which one changes the rate",
    )


def _shown(summary: Summary) -> str:
    digits = 0 if summary.median >= 100 else 3
    return f"{summary.median:,.{digits}f} ({summary.low:,.{digits}f} to {summary.high:,.{digits}f})"


def _ranged(summary: Summary) -> str:
    """Return the same for a place that stands in brackets already."""
    digits = 0 if summary.median >= 100 else 3
    return f"{summary.median:,.{digits}f}, range {summary.low:,.{digits}f} to {summary.high:,.{digits}f}"
