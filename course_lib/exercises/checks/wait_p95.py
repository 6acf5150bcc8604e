"""Checks ``batch_wait_p95(waits)``: the element with index int(0.95 (n - 1)) of the sorted waits."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Sequence
from numbers import Real

from course_lib.exercises.answers import described
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

PARAMETERS = ("waits",)

_LENGTHS = (100, 110, 40, 21, 7, 2, 1)


def check(batch_wait_p95: FunctionOnTrial) -> None:
    """Raise at the first property that ``batch_wait_p95`` does not have.

    Raises
    ------
    PropertyFailedError
        With the symptom of the mistake where it is a known one.
    UntouchedError
        When the function is still a stub.
    """
    for length in _LENGTHS:
        waits = _waits(length)
        about = f"{length} wait{'s' if length > 1 else ''}"
        got = batch_wait_p95(waits, on=about)
        if isinstance(got, bool) or not isinstance(got, Real):
            raise PropertyFailedError(
                f"On {about} it returned {described(got)}; one number of seconds is asked for.", "no_number"
            )
        expected = sorted(waits)[int(0.95 * (length - 1))]
        if float(got) != expected:
            raise _failure(float(got), waits, about)


def _waits(length: int) -> list[float]:
    """Return waits in seconds in the order they came: mostly short, a few long, no two alike."""
    draw = random.Random(length)
    waits = [0.004 + 0.003 * draw.random() for _ in range(length)]
    for place in draw.sample(range(length), k=length // 10):
        waits[place] += 0.05 + 0.1 * draw.random()
    return waits


def _interpolated(waits: Sequence[float]) -> float:
    ordered = sorted(waits)
    place = 0.95 * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def _element(place: Callable[[int], int], *, in_order: bool = True) -> Callable[[Sequence[float]], float]:
    def element(waits: Sequence[float]) -> float:
        listed = sorted(waits) if in_order else waits
        return listed[min(max(place(len(listed)), 0), len(listed) - 1)]

    return element


_MISTAKES: dict[str, tuple[Callable[[Sequence[float]], float], ...]] = {
    "unsorted": (
        _element(lambda n: int(0.95 * (n - 1)), in_order=False),
        _element(lambda n: int(0.95 * n), in_order=False),
    ),
    "mean": (statistics.fmean,),
    "interpolates": (_interpolated,),
    "longest": (max,),
    "next_index": (_element(lambda n: int(0.95 * (n - 1)) + 1),),
    "wrong_end": (_element(lambda n: n - 1 - int(0.95 * (n - 1))), _element(lambda n: int(0.05 * (n - 1)))),
}


def _failure(got: float, waits: Sequence[float], about: str) -> PropertyFailedError:
    for symptom, mistakes in _MISTAKES.items():
        if any(abs(got - mistake(waits)) <= 1e-12 for mistake in mistakes):
            return PropertyFailedError(f"On {about} it returned {got:.6f} s.", symptom)
    if got not in waits:
        return PropertyFailedError(
            f"On {about} it returned {got:.6f} s, and no batch took that long.", "invented"
        )
    longer = sum(wait > got for wait in waits)
    return PropertyFailedError(
        f"On {about} it returned {got:.6f} s, and {longer} of the waits are longer than that.", "other_place"
    )
