"""Metadata operations, files against shards."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.planning import layout_gain, metadata_plan
from course_lib.shards.case import ShardCase

MILLION = {"files": 1_000_000, "seconds_per_operation": 0.002}
CASE = {
    "start_seconds_before": 18 * 60,
    "start_seconds_after": 2 * 60,
    "samples_per_second_before": 260,
    "samples_per_second_after": 1450,
    "synthetic_samples_per_second": 1800,
    "bytes_per_sample": 40e3,
}


def test_serial_opens_of_2_ms_are_500_a_second() -> None:
    plan = metadata_plan(**MILLION)
    assert plan.serial_operations_per_second == plan.operations_per_second == 500
    assert plan.scan_seconds == plan.open_seconds == 2000
    assert plan.binding == "round trips"


def test_opens_side_by_side_do_not_speed_up_the_scan() -> None:
    plan = metadata_plan(**MILLION, concurrency=16)
    assert (plan.operations_per_second, plan.open_seconds, plan.scan_seconds) == (8000, 125, 2000)


def test_more_places_than_shards_do_not_make_a_single_open_faster() -> None:
    assert metadata_plan(**MILLION, concurrency=1000).shard_open_seconds == 0.002


def test_a_metadata_server_s_limit_binds_when_more_wait_than_it_answers() -> None:
    plan = metadata_plan(**MILLION, concurrency=160, server_operations_per_second=6000)
    assert (plan.binding, plan.operations_per_second) == ("metadata server", 6000)
    assert metadata_plan(**MILLION, concurrency=2, server_operations_per_second=6000).binding == "round trips"


def test_where_both_limits_are_the_same_more_at_once_is_no_help() -> None:
    plan = metadata_plan(
        files=1e6, seconds_per_operation=0.002, concurrency=8, server_operations_per_second=4000
    )
    assert (plan.binding, plan.operations_per_second) == ("metadata server", 4000)


def test_a_million_samples_of_40_kb_are_157_shards_by_payload_and_165_packed() -> None:
    plan = metadata_plan(**MILLION)
    assert plan.payload_bytes == 40e9
    assert plan.payload_bytes / plan.shard_bytes == 156.25
    assert (plan.shards, plan.shards_packed) == (157, 165)
    assert plan.record_bytes == 41_984
    assert plan.container_overhead == pytest.approx(0.0496)
    assert plan.operations_saved == 1_000_000 - 165
    assert plan.shard_scan_seconds == pytest.approx(0.33)


def test_the_case_worked_through() -> None:
    gain = layout_gain(**CASE)
    assert gain.start_gain == 9
    assert gain.rate_gain == pytest.approx(5.58, abs=0.005)
    assert gain.synthetic_share == pytest.approx(0.806, abs=0.0005)
    assert gain.before_bytes_per_second == 10.4e6
    assert gain.after_bytes_per_second == 58e6
    assert gain.binding == "input"


def test_a_layout_as_fast_as_synthetic_input_leaves_the_training_step_to_bind() -> None:
    assert layout_gain(**(CASE | {"samples_per_second_after": 1800})).binding == "training step"


@given(st.integers(1, 10**7), st.integers(1, 10**7), st.integers(20_480, 10**9))
def test_shards_and_records_are_those_of_the_packer(files: int, size: int, target: int) -> None:
    case = ShardCase(files, size, target)
    assume(case.record_bytes <= target // 10_240 * 10_240 - 1024)
    assume(target <= case.payload_bytes)
    plan = metadata_plan(files=files, seconds_per_operation=0.001, bytes_per_sample=size, shard_bytes=target)
    assert plan.shards == case.shards_by_payload
    assert plan.shards_packed == case.shards_packed
    assert plan.record_bytes == case.record_bytes
    assert plan.container_overhead == pytest.approx(case.overhead)


@given(st.integers(10_000, 10**9), st.floats(1e-6, 10), st.integers(1, 10_000), st.floats(1, 1e6))
def test_rates_stay_within_their_limits_and_more_at_once_is_never_slower(
    files: int, seconds: float, at_once: int, server: float
) -> None:
    def plan(**changed: float):
        given = {"files": files, "seconds_per_operation": seconds, "concurrency": at_once}
        given |= {"server_operations_per_second": server}
        return metadata_plan(**(given | changed))

    assert plan().operations_per_second <= server
    assert plan().operations_per_second <= at_once / seconds
    assert plan(concurrency=at_once + 1).open_seconds <= plan().open_seconds
    assert plan(files=files + 1).open_seconds >= plan().open_seconds
    assert plan(seconds_per_operation=seconds * 2).scan_seconds >= plan().scan_seconds
    assert plan().open_seconds >= seconds
    assert plan().shard_scan_seconds < plan().scan_seconds


@given(
    st.lists(
        st.tuples(st.integers(10_000, 10**9), st.floats(1e-6, 10), st.integers(1, 999), st.floats(3e4, 1e6)),
        min_size=1,
        max_size=4,
    )
)
def test_an_array_of_plans_equals_the_plans_one_by_one(inputs: list[tuple[float, ...]]) -> None:
    names = ["files", "seconds_per_operation", "concurrency", "bytes_per_sample"]
    many = metadata_plan(
        **dict(zip(names, np.array(inputs).T, strict=True)), server_operations_per_second=1e4
    )
    for place, values in enumerate(inputs):
        one = metadata_plan(**dict(zip(names, values, strict=True)), server_operations_per_second=1e4)
        assert many.binding[place] == one.binding
        for name in ("operations_per_second", "open_seconds", "scan_seconds", "shards", "shards_packed"):
            assert getattr(many, name)[place] == getattr(one, name)


def test_a_shard_larger_than_the_data_is_refused_in_words() -> None:
    with pytest.raises(CourseError, match=r"larger than the data.*256 MB for 40 MB; lower the target"):
        metadata_plan(files=1000, seconds_per_operation=0.002)


def test_a_shard_too_small_for_one_sample_is_refused_in_words() -> None:
    with pytest.raises(CourseError, match="too small for one sample"):
        metadata_plan(**MILLION, shard_bytes=[256e6, 40e3])


@pytest.mark.parametrize(
    "name", [*MILLION, "concurrency", "bytes_per_sample", "shard_bytes", "server_operations_per_second"]
)
@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, 1e31, "2 ms", True])
def test_bad_input_is_refused(name: str, value: float) -> None:
    with pytest.raises(CourseError):
        metadata_plan(**(MILLION | {name: value}))


@pytest.mark.parametrize("name", CASE)
@pytest.mark.parametrize("value", [0, -1, math.nan, "18 min"])
def test_bad_input_of_a_comparison_is_refused(name: str, value: float) -> None:
    with pytest.raises(CourseError):
        layout_gain(**(CASE | {name: value}))
