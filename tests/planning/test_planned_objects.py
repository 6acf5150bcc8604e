"""Requests to an object store, and the limit that is met first."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.planning import ObjectPlan, object_plan

SMALL = {"round_trip_seconds": 0.02, "object_bytes": 10e3}
seconds = st.floats(1e-4, 1.0)
sizes = st.floats(1.0, 1e9)
counts = st.integers(1, 1000)


def test_the_lesson_s_serial_requests() -> None:
    plan = object_plan(**SMALL)
    assert plan.requests_per_second == pytest.approx(50)
    assert plan.bytes_per_second == pytest.approx(0.5e6)
    assert (plan.serial_requests_per_second, plan.binding) == (plan.requests_per_second, "round trips")


@pytest.mark.parametrize(
    ("given_too", "binding", "requests"),
    [
        ({"concurrency": 8}, "round trips", 400),
        ({"concurrency": 1000, "requests_per_second_per_prefix": 5500}, "request limit", 5500),
        (
            {"concurrency": 1000, "requests_per_second_per_prefix": 5500, "prefixes": 2},
            "request limit",
            11000,
        ),
        ({"concurrency": 1000, "bandwidth_bytes_per_second": 1e6}, "bandwidth", 100),
        ({"concurrency": 1000, "memory_limit_bytes": 45e3}, "memory in flight", 200),
    ],
)
def test_the_lowest_limit_binds(given_too: dict[str, float], binding: str, requests: float) -> None:
    plan = object_plan(**SMALL, **given_too)
    assert (plan.binding, plan.requests_per_second) == (binding, pytest.approx(requests))


def test_a_ranged_read_takes_several_requests_for_an_object() -> None:
    plan = object_plan(round_trip_seconds=0.02, object_bytes=25e6, range_bytes=10e6, concurrency=3)
    assert plan.requests_per_object == 3
    assert plan.in_flight_bytes == pytest.approx(30e6)
    assert plan.objects_per_second == pytest.approx(plan.requests_per_second / 3)


@given(size=st.floats(1e3, 1e9), share=st.floats(0.01, 1), link=st.floats(1e4, 1e9))
def test_a_short_last_range_is_not_counted_as_a_whole_one(size: float, share: float, link: float) -> None:
    plan = object_plan(
        round_trip_seconds=0.02,
        object_bytes=size,
        range_bytes=size * share,
        concurrency=1000,
        bandwidth_bytes_per_second=link,
    )
    assert plan.objects_per_second * size == pytest.approx(plan.bytes_per_second)
    assert plan.bytes_per_second <= link * (1 + 1e-9)
    if plan.binding == "bandwidth":
        assert plan.bytes_per_second == pytest.approx(link)


@given(trip=seconds, size=sizes, few=counts, more=counts, link=st.floats(1e3, 1e10))
def test_more_in_flight_never_delivers_less_nor_more_than_the_link(
    trip: float, size: float, few: int, more: int, link: float
) -> None:
    def plan(concurrency: int) -> ObjectPlan:
        return object_plan(
            round_trip_seconds=trip,
            object_bytes=size,
            concurrency=concurrency,
            bandwidth_bytes_per_second=link,
        )

    low, high = plan(min(few, more)), plan(max(few, more))
    assert low.bytes_per_second <= high.bytes_per_second <= link * (1 + 1e-9)


@given(st.lists(st.tuples(seconds, sizes, counts), min_size=1, max_size=20))
def test_arrays_give_what_single_plans_give(inputs: list[tuple[float, float, int]]) -> None:
    trips, objects, at_once = (np.array(column, dtype=float) for column in zip(*inputs, strict=True))
    limits = {"bandwidth_bytes_per_second": 1e8, "memory_limit_bytes": 1e10}
    many = object_plan(round_trip_seconds=trips, object_bytes=objects, concurrency=at_once, **limits)
    for place, (trip, size, number) in enumerate(inputs):
        one = object_plan(round_trip_seconds=trip, object_bytes=size, concurrency=number, **limits)
        assert one.binding == many.binding[place]
        assert one.bytes_per_second == pytest.approx(many.bytes_per_second[place])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"round_trip_seconds": 0}, "round trip is out of range"),
        ({"object_bytes": float("nan")}, "bytes per object is out of range"),
        ({"concurrency": 2.5}, "concurrency is no whole number"),
        ({"range_bytes": 20e3}, "A range is larger than the object"),
        ({"memory_limit_bytes": 5e3}, "memory does not hold one request"),
        ({"object_bytes": "10 KB"}, "is no number"),
    ],
)
def test_bad_input_gets_one_sentence(changed: dict[str, object], sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence):
        object_plan(**{**SMALL, **changed})


@given(trip=seconds, size=sizes, link=st.floats(1e3, 1e10), rate=st.floats(1.0, 1e5))
def test_one_after_another_has_the_limits_of_a_single_request_in_flight(
    trip: float, size: float, link: float, rate: float
) -> None:
    limits = {"bandwidth_bytes_per_second": link, "requests_per_second_per_prefix": rate}
    many, one = (
        object_plan(round_trip_seconds=trip, object_bytes=size, concurrency=number, **limits)
        for number in (64, 1)
    )
    assert many.serial_bytes_per_second == one.bytes_per_second <= link * (1 + 1e-9)
    assert many.serial_requests_per_second == one.requests_per_second
    assert object_plan(**SMALL, bandwidth_bytes_per_second=125e6).serial_bytes_per_second == 0.5e6
