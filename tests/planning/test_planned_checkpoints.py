"""Checkpoints: size, bursts, losses, and the best interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.planning import (
    BYTES_PER_PARAMETER,
    bytes_per_parameter,
    checkpoint_bytes,
    checkpoint_plan,
    daly,
    exact_interval,
    interval_for_loss,
    young,
)

LESSON = {"bytes": 8e9, "interval_seconds": 600, "save_seconds": 20}
costs = st.floats(0.1, 1e4)
between_failures = st.floats(10.0, 1e7)


@pytest.mark.parametrize(
    ("parameters", "gigabytes"), [(8_030_261_248, 112.4), (69_882_617_856, 978.4), (405_853_388_800, 5_682)]
)
def test_bytes_by_the_rule_of_fourteen(parameters: int, gigabytes: float) -> None:
    assert checkpoint_bytes(parameters=parameters) / 1e9 == pytest.approx(gigabytes, rel=5e-4)


def test_decimal_and_binary_readings_of_the_smallest_one() -> None:
    assert checkpoint_bytes(parameters=8_030_261_248) / 2**30 == pytest.approx(104.7, abs=0.05)


def test_the_first_named_rule_is_the_default_one() -> None:
    first = next(iter(BYTES_PER_PARAMETER))
    assert checkpoint_bytes(parameters=1000) == 1000 * bytes_per_parameter(first)
    with pytest.raises(CourseError, match="This rule is not known"):
        bytes_per_parameter("guessed")


def test_an_average_hides_the_burst() -> None:
    plan = checkpoint_plan(**LESSON)
    assert plan.average_bytes_per_second / 1e6 == pytest.approx(13.3, abs=0.05)
    assert plan.burst_bytes_per_second / 1e6 == pytest.approx(400)


@pytest.mark.parametrize(("failed", "minutes"), [(0, 12), (1, 22), (2, 32)])
def test_the_worst_loss_grows_with_failed_saves(failed: int, minutes: float) -> None:
    plan = checkpoint_plan(bytes=8e9, interval_seconds=600, save_seconds=120, failed_saves=failed)
    assert plan.worst_loss_seconds == minutes * 60


@pytest.mark.parametrize(
    ("reading", "binding"),
    [(50e6, "loss on failure"), (150e6, "training reads")],
)
def test_a_save_takes_bandwidth_from_training_reads(reading: float, binding: str) -> None:
    plan = checkpoint_plan(**LESSON, reading_bytes_per_second=reading, bandwidth_bytes_per_second=500e6)
    assert plan.reading_left_bytes_per_second == pytest.approx(100e6)
    assert (plan.binding, plan.reading_slowed) == (binding, reading > 100e6)


def test_a_burst_that_the_bandwidth_cannot_carry_binds_first_and_leaves_nothing() -> None:
    plan = checkpoint_plan(**LESSON, bandwidth_bytes_per_second=300e6)
    assert (plan.binding, plan.reading_left_bytes_per_second) == ("save burst", 0)


@pytest.mark.parametrize(
    ("cost", "between", "by_young", "by_daly", "exactly"),
    [
        (120, 492_750, 10_874.7, 10_794.9, 10_794.9),
        (60, 11_135, 1_155.9, 1_116.3, 1_116.3),
        (600, 1_800, 1_469.7, 1_096.9, 1_100.0),
        (3_600, 1_800, 3_600, 1_800, 1_705.6),
    ],
)
def test_the_three_intervals(
    cost: float, between: float, by_young: float, by_daly: float, exactly: float
) -> None:
    inputs = {"save_seconds": cost, "mean_seconds_between_failures": between}
    assert young(**inputs) == pytest.approx(by_young, abs=0.06)
    assert daly(**inputs) == pytest.approx(by_daly, abs=0.06)
    assert exact_interval(**inputs) == pytest.approx(exactly, abs=0.06)


def test_the_mean_time_between_failures_of_the_published_run() -> None:
    assert pytest.approx(11_135, abs=0.5) == 54 * 86_400 / 419


def _wasted(interval: float, cost: float, between: float) -> float:
    """Return the expected time per second of work with exponential failures, restart left out."""
    return between * math.expm1((interval + cost) / between) / interval


@given(cost=costs, between=between_failures)
def test_no_other_interval_wastes_less_than_the_exact_one(cost: float, between: float) -> None:
    best = exact_interval(save_seconds=cost, mean_seconds_between_failures=between)
    assert 0 < best <= young(save_seconds=cost, mean_seconds_between_failures=between) * (1 + 1e-9)
    if (cost + 1.1 * best) / between < 500:
        least = _wasted(best, cost, between)
        assert least <= _wasted(best * 0.9, cost, between) * (1 + 1e-9)
        assert least <= _wasted(best * 1.1, cost, between) * (1 + 1e-9)


@given(loss=st.floats(10, 1e6), save=st.floats(0.1, 1e3), failed=st.integers(0, 5))
def test_the_interval_for_a_loss_gives_back_that_loss(loss: float, save: float, failed: int) -> None:
    if (loss - save) / (failed + 1) < save:
        with pytest.raises(CourseError, match="No interval keeps the loss so small"):
            interval_for_loss(bearable_loss_seconds=loss, save_seconds=save, failed_saves=failed)
        return
    interval = interval_for_loss(bearable_loss_seconds=loss, save_seconds=save, failed_saves=failed)
    plan = checkpoint_plan(bytes=1e9, interval_seconds=interval, save_seconds=save, failed_saves=failed)
    assert plan.worst_loss_seconds == pytest.approx(loss)


def test_arrays_give_what_single_plans_give() -> None:
    intervals = np.array([60.0, 600.0, 6000.0])
    many = checkpoint_plan(
        bytes=8e9,
        interval_seconds=intervals,
        save_seconds=20,
        reading_bytes_per_second=np.array([1e6, 2e8, 1e6]),
        bandwidth_bytes_per_second=500e6,
    )
    assert many.binding.tolist() == ["loss on failure", "training reads", "loss on failure"]
    assert many.average_bytes_per_second == pytest.approx(8e9 / intervals)
    exact = exact_interval(save_seconds=np.array([600.0, 3600.0]), mean_seconds_between_failures=1800)
    assert exact == pytest.approx([1100.0, 1705.6], abs=0.06)


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"interval_seconds": 10}, "The interval is shorter than the save"),
        ({"bytes": -1}, "bytes of a checkpoint is out of range"),
        ({"save_seconds": math.inf}, "time of a save is out of range"),
        ({"failed_saves": -1}, "number of failed saves is out of range"),
        ({"interval_seconds": "10 min"}, "is no number"),
    ],
)
def test_bad_checkpoints_get_one_sentence(changed: dict[str, object], sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence):
        checkpoint_plan(**{**LESSON, **changed})
