"""The check of a proof of equality knows the ways in which such proofs are too weak."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from course_lib.exercises.checks import same_samples
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

Layout = dict[str, Any]
Function = Callable[[Layout, Layout], object]


def right(files: Layout, shards: Layout) -> bool:
    return (
        Counter(files["samples"]) == Counter(shards["samples"]) and files["label_map"] == shards["label_map"]
    )


def symptom(function: Function) -> str:
    with pytest.raises(PropertyFailedError) as caught:
        same_samples.check(FunctionOnTrial(function, "same_samples"))
    return caught.value.symptom


def test_any_full_comparison_is_right() -> None:
    same_samples.check(FunctionOnTrial(right, "same_samples"))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda f, s: f == s, "compares_order"),
        (lambda f, s: False, "always_different"),
        (lambda f, s: True, "misses_a_loss"),
        (lambda f, s: len(f["samples"]) == len(s["samples"]), "ignores_ids"),
        (lambda f, s: {i for i, _, _ in f["samples"]} == {i for i, _, _ in s["samples"]}, "misses_a_repeat"),
        (lambda f, s: sorted(i for i, _, _ in f["samples"]) == sorted(i for i, _, _ in s["samples"]),
         "counts_classes"),
        (lambda f, s: sorted(f["samples"]) == sorted(s["samples"]), "ignores_label_map"),
        (lambda f, s: set(f["samples"]) == set(s["samples"]) and f["label_map"] == s["label_map"],
         "misses_a_repeat"),
        (lambda f, s: int(right(f, s)), "no_bool"),
        (lambda f, s: f["samples"].sort() or s["samples"].sort() or right(f, s), "changes_inputs"),
    ],
)  # fmt: skip
def test_each_weak_proof_is_recognised(function: Function, expected: str) -> None:
    assert symptom(function) == expected
