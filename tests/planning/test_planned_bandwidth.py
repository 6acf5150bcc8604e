"""From consumption to bandwidth and back."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib import units
from course_lib.errors import CourseError
from course_lib.planning import ONLY_BYTES, read_bandwidth, samples_from_bandwidth

LESSON = {"batches_per_second": 4, "batch_size": 128, "bytes_per_sample": 100e3}
amounts = st.floats(1e-3, 1e9)
counts = st.integers(1, 10_000)
shares = st.floats(0, 1)


@pytest.mark.parametrize(
    ("changed", "megabytes"),
    [({}, 51.2), ({"bytes_per_sample": 50e3}, 25.6), ({"consumers": 4}, 204.8)],
)
def test_the_lesson_s_bandwidths(changed: dict[str, float], megabytes: float) -> None:
    assert read_bandwidth(**(LESSON | changed)).bytes_per_second == pytest.approx(megabytes * 1e6)


def test_three_of_four_bytes_from_a_cache_leave_a_quarter_to_the_remote_side_but_not_at_a_cold_start() -> (
    None
):
    plan = read_bandwidth(**LESSON, consumers=4, hit_rate=0.75)
    assert plan.remote_bytes_per_second == pytest.approx(51.2e6)
    assert plan.cold_bytes_per_second == pytest.approx(204.8e6)


def test_a_bandwidth_between_the_warm_and_the_cold_need_suffices_only_once_warm() -> None:
    plan = read_bandwidth(**LESSON, consumers=4, hit_rate=0.75, available_bytes_per_second=100e6)
    assert (plan.enough, plan.enough_cold, plan.binding) == (True, False, "consumers")
    assert ONLY_BYTES in plan.assumptions


def test_a_bandwidth_that_is_too_low_binds_and_sets_the_rate() -> None:
    plan = read_bandwidth(**LESSON, available_bytes_per_second=25.6e6)
    assert (plan.binding, plan.enough) == ("bandwidth", False)
    assert plan.served_samples_per_second == pytest.approx(256)


def test_without_a_bandwidth_to_compare_with_nothing_is_said_about_it() -> None:
    plan = read_bandwidth(**LESSON)
    assert (plan.available_bytes_per_second, plan.enough, plan.enough_cold) == (None, None, None)
    assert "enough" not in dict(plan.rows())
    assert ONLY_BYTES not in plan.assumptions


def test_the_only_bytes_sentence_says_what_the_condition_is() -> None:
    assert "only the byte-bandwidth condition" in ONLY_BYTES


def test_the_representation_stands_in_the_plan() -> None:
    assert read_bandwidth(**LESSON, representation="decoded pixels").representation == "decoded pixels"


def test_samples_from_a_bandwidth() -> None:
    assert samples_from_bandwidth(bytes_per_second=51.2e6, bytes_per_sample=100e3) == 512
    assert samples_from_bandwidth(bytes_per_second=51.2e6, bytes_per_sample=100e3, hit_rate=0.75) == 2048
    assert samples_from_bandwidth(bytes_per_second=1, bytes_per_sample=1, hit_rate=1) == math.inf


@given(amounts, counts, amounts, counts, st.floats(0, 0.999))
def test_samples_and_bandwidth_survive_the_round_trip(
    batches: float, size: int, sample: float, consumers: int, hits: float
) -> None:
    plan = read_bandwidth(
        batches_per_second=batches,
        batch_size=size,
        bytes_per_sample=sample,
        consumers=consumers,
        hit_rate=hits,
    )
    back = samples_from_bandwidth(
        bytes_per_second=plan.remote_bytes_per_second, bytes_per_sample=sample, hit_rate=hits
    )
    assert back == pytest.approx(plan.samples_per_second)
    assert plan.bytes_per_second == pytest.approx(units.bandwidth(float(plan.samples_per_second), sample))


@given(amounts, counts, amounts, shares, amounts)
def test_nothing_starves_below_the_capacity_and_nothing_is_served_above_it(
    batches: float, size: int, sample: float, hits: float, available: float
) -> None:
    plan = read_bandwidth(
        batches_per_second=batches,
        batch_size=size,
        bytes_per_sample=sample,
        hit_rate=hits,
        available_bytes_per_second=available,
    )
    assert plan.served_samples_per_second <= plan.samples_per_second
    if plan.enough:
        assert plan.served_samples_per_second == plan.samples_per_second
    else:
        assert plan.binding == "bandwidth"
        assert plan.served_samples_per_second * sample * (1 - hits) == pytest.approx(available)
    assert plan.remote_bytes_per_second <= plan.cold_bytes_per_second


@given(amounts, counts, amounts, counts, shares, st.floats(1.01, 10))
def test_more_consumption_never_needs_less_and_more_hits_never_need_more(
    batches: float, size: int, sample: float, consumers: int, hits: float, factor: float
) -> None:
    def need(**changed: float) -> float:
        given = {"batches_per_second": batches, "batch_size": size, "bytes_per_sample": sample}
        given |= {"consumers": consumers, "hit_rate": hits}
        return float(read_bandwidth(**(given | changed)).remote_bytes_per_second)  # type: ignore[arg-type]

    assert need(batches_per_second=batches * factor) >= need()
    assert need(batch_size=size + 1) >= need()
    assert need(bytes_per_sample=sample * factor) >= need()
    assert need(consumers=consumers + 1) >= need()
    assert need(hit_rate=hits / factor) >= need()


@given(st.lists(st.tuples(amounts, shares, amounts), min_size=1, max_size=5))
def test_an_array_of_plans_equals_the_plans_one_by_one(inputs: list[tuple[float, float, float]]) -> None:
    samples, hits, available = np.array(inputs).T
    fixed = {"batches_per_second": 4, "batch_size": 128}
    many = read_bandwidth(
        **fixed, bytes_per_sample=samples, hit_rate=hits, available_bytes_per_second=available
    )
    for place, (sample, hit, there) in enumerate(inputs):
        one = read_bandwidth(**fixed, bytes_per_sample=sample, hit_rate=hit, available_bytes_per_second=there)
        assert many.binding[place] == one.binding
        assert many.enough[place] == one.enough
        assert many.served_samples_per_second[place] == pytest.approx(one.served_samples_per_second)
        assert many.remote_bytes_per_second[place] == one.remote_bytes_per_second


def test_arrays_of_everything_hitting_ask_nothing_of_the_remote_side() -> None:
    plan = read_bandwidth(**LESSON, hit_rate=[1.0, 0.5], available_bytes_per_second=1e3)
    assert plan.served_samples_per_second[0] == 512  # type: ignore[index]
    assert samples_from_bandwidth(bytes_per_second=1, bytes_per_sample=1, hit_rate=[1.0])[0] == math.inf  # type: ignore[index]


@pytest.mark.parametrize("name", [*LESSON, "consumers", "available_bytes_per_second"])
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, 1e31, "100 KB"])
def test_bad_input_is_refused(name: str, value: float) -> None:
    with pytest.raises(CourseError):
        read_bandwidth(**(LESSON | {name: value}))


def test_a_hit_rate_of_75_is_recognised() -> None:
    with pytest.raises(CourseError, match=r"hit rate.*write 0\.75"):
        read_bandwidth(**LESSON, hit_rate=75)


def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(CourseError, match="do not fit"):
        read_bandwidth(batches_per_second=[1, 2], batch_size=[1, 2, 3], bytes_per_sample=1)
