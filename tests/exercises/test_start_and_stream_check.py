"""The check of first sample and steady rate: any way of computing both, and the mistakes told apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from course_lib.exercises.checks.start_and_stream import PARAMETERS, check
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

Answer = Callable[[Sequence[float]], Any]


def failure(answer: Answer) -> PropertyFailedError | None:
    trial = FunctionOnTrial(answer, "first_sample_and_steady_rate")
    trial.require_parameters(PARAMETERS)
    try:
        check(trial)
    except PropertyFailedError as found:
        return found
    return None


def symptom(answer: Answer) -> str | None:
    found = failure(answer)
    return found.symptom if found else None


@pytest.mark.parametrize(
    "answer",
    [
        lambda t: (t[0], (len(t) - 1) / (t[-1] - t[0])),
        lambda t: [t[0], 1 / np.mean(np.diff(t))],
        lambda t: (min(t), np.diff(t).size / np.ptp(t)),
    ],
)
def test_every_right_way_is_accepted(answer: Answer) -> None:
    assert failure(answer) is None


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda t: (t[0], len(t) / t[-1]), "mean_over_everything"),
        (lambda t: (t[0], len(t) / (t[-1] - t[0])), "counts_one_too_many"),
        (lambda t: (t[0], float(np.mean(1 / np.diff(t)))), "mean_of_rates"),
        (lambda t: ((len(t) - 1) / (t[-1] - t[0]), t[0]), "swapped"),
        (lambda t: (t[0], (t[-1] - t[0]) / (len(t) - 1)), "seconds_per_sample"),
        (lambda t: (t[0], (len(t) - 1) / t[-1]), "rate_with_start"),
        (lambda t: (t[1] - t[0], (len(t) - 1) / (t[-1] - t[0])), "start_is_not_first"),
        (lambda t: (t[0], 1 / float(np.median(np.diff(t)))), ""),
        (lambda t: (t[0] + 1, (len(t) - 1) / (t[-1] - t[0])), ""),
        (lambda t: (len(t) - 1) / (t[-1] - t[0]), "no_two_numbers"),
        (lambda t: (t[0], "fast"), "no_two_numbers"),
        (lambda t: (t[0], float("nan")), "no_two_numbers"),
        (lambda t: (True, 5.0), "no_two_numbers"),
    ],
)
def test_each_mistake_is_recognised(answer: Answer, expected: str) -> None:
    assert symptom(answer) == expected


def test_what_moves_with_the_start_is_said_without_the_right_rate() -> None:
    found = failure(lambda t: (t[0], len(t) / t[-1]))
    assert found is not None and "the stream is the same" in found.message
