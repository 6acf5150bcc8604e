"""What a live run has shown so far: its windows, their middle, and two runs side by side in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.loading.steps import PARTS
from course_lib.widgets.texts import text

SETTLING_SECONDS = 1.0
FEWEST_SECONDS = 5.0


@dataclass(frozen=True)
class LivePoint:
    """What a task tells about five times a second.

    Attributes
    ----------
    seconds : float
        Since the start of the work.
    samples_per_second : float
        Samples of the window that ends now, of about a second, over its length.
    batch_wait_ms : float
        Mean wait for a batch in that window.
    waits_ms : tuple of float
        Wait for each batch since the point before.
    shares : mapping of str to float
        Parts of the window from 0 to 1: waiting, transfer, compute; empty for a task without steps.
    """

    seconds: float
    samples_per_second: float
    batch_wait_ms: float
    waits_ms: tuple[float, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_event(cls, event: Mapping[str, Any]) -> LivePoint | None:
        """Return the point that an event holds; None for an event of another kind."""
        if "samples_per_second" not in event:
            return None
        return cls(
            float(event["seconds"]),
            float(event["samples_per_second"]),
            float(event["batch_wait_ms"]),
            tuple(float(wait) for wait in event.get("batch_waits_ms", ())),
            {part: float(event[f"{part}_share"]) for part in PARTS if f"{part}_share" in event},
        )


@dataclass(frozen=True)
class LiveFigures:
    """The middle of a run's points; those of its first second are left out.

    Attributes
    ----------
    seconds : float
        Time from the first point that counts to the last.
    first_seconds : float
        From the start of the work to the first point.
    batches : int
        Batches whose waits are known.
    rate, rate_low, rate_high : float
        Samples per second: the median of the points, and where nine of ten lie.
    wait_p50_ms, wait_p95_ms : float
        Batch wait: element ``int(share * (n - 1))`` of the sorted waits.
    shares : mapping of str to float
        Mean shares of waiting, transfer and compute; empty for a task without steps.
    """

    seconds: float
    first_seconds: float
    batches: int
    rate: float
    rate_low: float
    rate_high: float
    wait_p50_ms: float
    wait_p95_ms: float
    shares: Mapping[str, float]


def settled(points: Sequence[LivePoint]) -> list[LivePoint]:
    """Return the points that count: those after the first second of a run."""
    return [point for point in points if point.seconds > points[0].seconds + SETTLING_SECONDS - 1e-9]


def figures_of(points: Sequence[LivePoint]) -> LiveFigures | None:
    """Return the figures of a run; None before any point counts."""
    counted = settled(points)
    if not counted:
        return None
    rates = np.sort([point.samples_per_second for point in counted])
    waits = [wait for point in counted for wait in point.waits_ms]
    ordered = np.sort(waits or [point.batch_wait_ms for point in counted])
    return LiveFigures(
        counted[-1].seconds - counted[0].seconds,
        points[0].seconds,
        len(waits),
        float(np.median(rates)),
        _element(rates, 0.05),
        _element(rates, 0.95),
        _element(ordered, 0.50),
        _element(ordered, 0.95),
        {
            part: float(np.mean([point.shares[part] for point in counted]))
            for part in PARTS
            if all(part in point.shares for point in counted)
        },
    )


def changed_factors(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of what differs between two requests, in their order.

    Examples
    --------
    >>> changed_factors({"loader": {"workers": 0}, "steps": 4}, {"loader": {"workers": 2}, "steps": 4})
    ('loader.workers',)
    """
    left, right = dict(_leaves(one)), dict(_leaves(other))
    names = dict.fromkeys([*left, *right])
    return tuple(name for name in names if left.get(name) != right.get(name))


def verdict(a: LiveFigures, b: LiveFigures, factors: Sequence[str]) -> str:
    """Return what two live runs tell of each other, in words.

    There is no winner inside the noise, none when more than one factor was changed, and even outside
    the noise one run each is a demonstration.

    Parameters
    ----------
    a, b : LiveFigures
        The run that is kept, and the new one.
    factors : sequence of str
        What differs between A and B, in words.
    """
    if len(factors) > 1:
        return text("live.refused", count=len(factors), factors=", ".join(factors))
    if min(a.seconds, b.seconds) < FEWEST_SECONDS:
        return text("live.too_short", fewest=FEWEST_SECONDS)
    if not factors:
        return text("live.nothing_changed", a=a.rate, b=b.rate)
    (factor,) = factors
    if a.rate_low <= b.rate_high and b.rate_low <= a.rate_high:
        return text("live.within_noise", factor=factor, a=a.rate, b=b.rate)
    if not min(a.rate, b.rate) > 0:
        return text("live.standstill", factor=factor, name="A" if b.rate > 0 else "B")
    if b.rate > a.rate:
        return text("live.ahead", factor=factor, times=b.rate / a.rate, ahead="B", behind="A")
    return text("live.ahead", factor=factor, times=a.rate / b.rate, ahead="A", behind="B")


def _element(ordered: Any, share: float) -> float:
    return float(ordered[int(share * (len(ordered) - 1))])


def _leaves(request: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in request.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value
