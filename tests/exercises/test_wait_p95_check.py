"""The check of a p95 knows the mistakes that people make with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from course_lib.exercises.answers import UntouchedError
from course_lib.exercises.checks import wait_p95
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

Function = Callable[[Sequence[float]], object]


def right(waits: Sequence[float]) -> float:
    return sorted(waits)[int(0.95 * (len(waits) - 1))]


def symptom(function: Function) -> str:
    with pytest.raises(PropertyFailedError) as caught:
        wait_p95.check(FunctionOnTrial(function, "batch_wait_p95"))
    return caught.value.symptom


@pytest.mark.parametrize(
    "function",
    [right, lambda waits: np.sort(waits)[int(0.95 * (len(waits) - 1))],
     lambda waits: np.percentile(waits, 95, method="lower")],
)  # fmt: skip
def test_any_way_to_the_right_wait_is_right(function: Function) -> None:
    wait_p95.check(FunctionOnTrial(function, "batch_wait_p95"))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda w: w[int(0.95 * (len(w) - 1))], "unsorted"),
        (lambda w: sum(w) / len(w), "mean"),
        (lambda w: float(np.percentile(w, 95)), "interpolates"),
        (lambda w: float(np.quantile(w, 0.95)), "interpolates"),
        (lambda w: sorted(w)[min(math.ceil(0.95 * (len(w) - 1)), len(w) - 1)], "next_index"),
        (lambda w: sorted(w)[int(0.95 * len(w))], "next_index"),
        (lambda w: sorted(w)[math.ceil(0.95 * len(w)) - 1], "next_index"),
        (max, "longest"),
        (lambda w: sorted(w, reverse=True)[int(0.95 * (len(w) - 1))], "wrong_end"),
        (lambda w: sorted(w)[int(0.5 * (len(w) - 1))], "other_place"),
        (lambda w: 1.0, "invented"),
        (lambda w: "0.01", "no_number"),
        (lambda w: int(0.95 * (len(w) - 1)), "invented"),
        (lambda w: [right(w)], "no_number"),
        (lambda w: w.sort() or right(w), "changes_inputs"),
        (lambda w: 1 / 0, "raises"),
    ],
)
def test_each_mistake_is_recognised(function: Function, expected: str) -> None:
    assert symptom(function) == expected


def test_a_stub_is_untouched() -> None:
    def stub(waits: Sequence[float]) -> float:
        raise NotImplementedError

    with pytest.raises(UntouchedError):
        wait_p95.check(FunctionOnTrial(stub, "batch_wait_p95"))
