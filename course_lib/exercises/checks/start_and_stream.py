"""Checks ``first_sample_and_steady_rate(times)``: the wait for the first sample, and the rate after it."""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass
from numbers import Real
from typing import Any

from course_lib.exercises.answers import described
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

PARAMETERS = ("times",)

_LATER_SECONDS = 10.0


@dataclass(frozen=True)
class _Case:
    about: str
    times: tuple[float, ...]

    @property
    def rate(self) -> float:
        return (len(self.times) - 1) / (self.times[-1] - self.times[0])


def _cases() -> list[_Case]:
    stalled = [2.0 + 0.5 * place for place in range(9)]
    draw = random.Random(2026)
    cases = [
        _Case("two samples", (3.0, 3.5)),
        _Case("a slow start, then a sample every 10 ms", tuple(6 + place / 100 for place in range(200))),
        _Case("a fast start, then a sample every 40 ms", tuple(0.05 + place / 25 for place in range(90))),
        _Case("a stream with one long stall", (*stalled, 30.0, 30.25, 30.5)),
    ]
    for number in range(8):
        now, times = draw.uniform(0.1, 20), []
        for _ in range(draw.randint(3, 60)):
            times.append(now)
            now += draw.uniform(0.001, 0.4)
        cases.append(_Case(f"drawn arrivals {number + 1}", tuple(times)))
    return cases


def _mistakes(times: tuple[float, ...]) -> dict[str, tuple[float, float]]:
    """Return what typical mistakes give for some arrivals, by symptom."""
    count, first, last = len(times), times[0], times[-1]
    gaps = [after - before for before, after in itertools.pairwise(times)]
    right = (count - 1) / (last - first)
    return {
        "mean_over_everything": (first, count / last),
        "counts_one_too_many": (first, count / (last - first)),
        "mean_of_rates": (first, sum(1 / gap for gap in gaps) / len(gaps)),
        "swapped": (right, first),
        "seconds_per_sample": (first, 1 / right),
        "rate_with_start": (first, (count - 1) / last),
        "start_is_not_first": (gaps[0], right),
    }


def check(first_sample_and_steady_rate: FunctionOnTrial) -> None:
    """Raise at the first property that ``first_sample_and_steady_rate`` does not have.

    Raises
    ------
    PropertyFailedError
        With the symptom of the mistake where it is a known one.
    UntouchedError
        When the function is still a stub.
    """
    for case in _cases():
        got = _two_numbers(first_sample_and_steady_rate, case.times, case.about)
        later = tuple(time + _LATER_SECONDS for time in case.times)
        moved = _two_numbers(
            first_sample_and_steady_rate, later, f"{case.about}, all {_LATER_SECONDS:g} s later"
        )
        if problem := _problem(case, got, moved):
            raise PropertyFailedError(f"On {case.about} {problem}", _symptom(got, case))


def _problem(case: _Case, got: tuple[float, float], moved: tuple[float, float]) -> str:
    """Return the first property that is missing, in words; "" where all are there."""
    if not _near(moved[0] - got[0], _LATER_SECONDS):
        return (
            f"everything came {_LATER_SECONDS:g} s later, and the wait went from {got[0]:.4g} to "
            f"{moved[0]:.4g}."
        )
    if not _near(moved[1], got[1]):
        return (
            f"everything came {_LATER_SECONDS:g} s later, and the steady rate went from {got[1]:.4g} to "
            f"{moved[1]:.4g} samples/s, though the stream is the same."
        )
    if not _near(got[0], case.times[0]):
        return f"it returned a wait of {got[0]:.4g} s, which is not when the first sample arrived."
    if not _near(got[1], case.rate):
        return (
            f"it returned {got[1]:.4g} samples/s; at that rate other samples would have arrived in the time "
            "after the first one than did."
        )
    return ""


def _two_numbers(function: FunctionOnTrial, times: tuple[float, ...], about: str) -> tuple[float, float]:
    got: Any = function(list(times), on=about)
    parts = list(got) if isinstance(got, tuple | list) else []
    if len(parts) != 2 or any(isinstance(one, bool) or not isinstance(one, Real) for one in parts):
        raise PropertyFailedError(
            f"On {about} it returned {described(got)}; two numbers are asked for, the wait and the rate.",
            "no_two_numbers",
        )
    wait, rate = (float(one) for one in parts)
    if not (math.isfinite(wait) and math.isfinite(rate)):
        raise PropertyFailedError(f"On {about} it returned {described(got)}.", "no_two_numbers")
    return wait, rate


def _symptom(got: tuple[float, float], case: _Case) -> str:
    """Return the mistake that gives what was got, "" for none that is known."""
    return next((name for name, value in _mistakes(case.times).items() if _both_near(got, value)), "")


def _both_near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return _near(one[0], other[0]) and _near(one[1], other[1])


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-6)
