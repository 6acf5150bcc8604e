"""What all plans share: checked inputs, the lowest limit, tables and JSON."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.planning import Plan, Prices, checkpoint_plan, cycle_cost, metadata_plan, object_plan
from course_lib.planning.core import (
    Number,
    binding_of,
    broadcasting,
    choose,
    count,
    highest_of,
    lowest_of,
    not_negative,
    positive,
    ratio,
    refuse_where,
    rounded_down,
    rounded_up,
)
from course_lib.planning.rows import formatted, label_of

CHECKS = {"positive": positive, "not_negative": not_negative, "ratio": ratio, "count": count}
NO_NUMBERS = [True, np.True_, "100 KB", "4", b"4", None, [], [True], ["4"], [[1], [1, 2]], {}, 1j]
OUT_OF_RANGE = [-1, -0.5, math.nan, math.inf, -math.inf, 1e31, 10**400, [1, math.nan], np.array([-1.0, 1.0])]


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS)
@pytest.mark.parametrize("value", NO_NUMBERS + OUT_OF_RANGE, ids=lambda value: repr(value)[:20])
def test_bad_input_is_refused_in_one_sentence_that_names_it(check, value) -> None:
    with pytest.raises(CourseError, match=r"^The width .*expected.*found") as refused:
        check("The width", value)
    assert str(refused.value).count(".") < 6
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("value", [0, 0.0, [1, 0], np.zeros(3)])
def test_zero_is_positive_nowhere_and_a_count_nowhere(value) -> None:
    for check in (positive, count):
        with pytest.raises(CourseError, match="found 0"):
            check("The width", value)
    not_negative("The width", value)


@pytest.mark.parametrize(("value", "said"), [(1e31, "absurdly large"), (1e-31, "absurdly small")])
def test_absurd_values_are_called_absurd(value: float, said: str) -> None:
    with pytest.raises(CourseError, match=said):
        positive("The width", value)


@pytest.mark.parametrize("value", [75, 75.0, [0.5, 75]])
def test_a_percentage_is_recognised_where_a_ratio_belongs(value) -> None:
    with pytest.raises(CourseError, match=r"percentage: .*found 75; write 0\.75 for 75%"):
        ratio("The hit rate", value)


def test_a_ratio_that_is_no_percentage_either_gets_no_such_hint() -> None:
    for value in (101, -0.1):
        with pytest.raises(CourseError, match="out of range") as refused:
            ratio("The hit rate", value)
        assert "%" not in str(refused.value)


@pytest.mark.parametrize("value", [1.5, [1, 2.5]])
def test_a_count_with_decimals_is_refused(value) -> None:
    with pytest.raises(CourseError, match="whole number"):
        count("The number of jobs", value)


def test_numbers_come_back_as_float_and_arrays_as_float64() -> None:
    assert isinstance(positive("x", 3), float)
    assert isinstance(positive("x", np.float32(3)), float)
    assert isinstance(positive("x", np.array(3)), float)
    array = positive("x", [1, 2])
    assert isinstance(array, np.ndarray)
    assert array.dtype == np.float64
    assert ratio("x", 0) == 0
    assert ratio("x", 1) == 1
    assert count("x", 0, least=0) == 0


@given(st.lists(st.floats(0, 1e6), min_size=2, max_size=4))
def test_the_lowest_limit_binds_alike_for_numbers_and_arrays(limits: list[float]) -> None:
    names = [f"limit {place}" for place in range(len(limits))]
    name, lowest = binding_of(names, limits)
    assert lowest == min(limits)
    assert name == names[limits.index(min(limits))]
    words, values = binding_of(names, [np.array([limit, 1e9]) for limit in limits])
    assert isinstance(words, np.ndarray)
    assert isinstance(values, np.ndarray)
    assert words[0] == name
    assert values.tolist() == [lowest, 1e9]


def test_small_helpers_work_on_numbers_and_arrays() -> None:
    array = np.array([1.5, 3.0])
    assert (lowest_of(2.0, 3.0), highest_of(2.0, 3.0)) == (2, 3)
    assert (rounded_up(1.5), rounded_down(1.5)) == (2, 1)
    assert np.array_equal(lowest_of(2.0, array), [1.5, 2])
    assert np.array_equal(highest_of(2.0, array), [2, 3])
    assert np.array_equal(rounded_up(array), [2, 3])
    assert np.array_equal(rounded_down(array), [1, 3])
    assert choose(True, "a", "b") == "a"
    assert choose(array > 2, "a", "b").tolist() == ["b", "a"]


def test_a_combination_is_refused_wherever_it_holds() -> None:
    with pytest.raises(CourseError, match="found both; choose one"):
        refuse_where(True, "It cannot be", found=lambda: "both", next_step="choose one")
    for nothing in (False, np.array([False, False])):
        refuse_where(nothing, "It cannot be", found=lambda: 1 / 0, next_step="")


def test_a_refusal_over_arrays_is_about_one_plan_and_names_it() -> None:
    intervals, saves = np.array([600.0, 60.0, 30.0]), np.array([300.0, 120.0, 90.0])
    with pytest.raises(CourseError, match="found 60 s for saves of 120 s in plan 2 of 3;"):
        checkpoint_plan(bytes=8e9, interval_seconds=intervals, save_seconds=saves)
    with pytest.raises(CourseError, match="found 60 s for saves of 90 s in plan 2 of 2;"):
        checkpoint_plan(bytes=8e9, interval_seconds=60, save_seconds=np.array([30.0, 90.0]))
    with pytest.raises(CourseError, match="found 7 B of 5 B in plan 2 of 4;"):
        object_plan(round_trip_seconds=0.02, object_bytes=np.array([[9.0, 5.0], [2.0, 8.0]]), range_bytes=7.0)
    with pytest.raises(CourseError, match="a target of 2 GB for 1 GB in plan 1 of 2;"):
        metadata_plan(
            files=np.array([1e5, 10]), seconds_per_operation=1, bytes_per_sample=1e4, shard_bytes=2e9
        )
    with pytest.raises(CourseError, match="found 70 s in a cycle of 60 s in plan 2 of 2;"):
        cycle_cost(
            prices=Prices(),
            stored_bytes=0,
            cycle_seconds=np.array([900.0, 60.0]),
            waiting_seconds=np.array([300.0, 70.0]),
        )


def test_arrays_that_do_not_fit_are_refused_with_their_shapes() -> None:
    @broadcasting
    def product(*, width: Number, height: Number) -> Number:
        return width * height

    with pytest.raises(CourseError, match=r"do not fit.*width \(2,\), height \(3,\)"):
        product(width=np.ones(2), height=np.ones(3))
    assert np.shape(product(width=np.ones((2, 1)), height=np.ones(3))) == (2, 3)


def test_another_value_error_is_not_taken_for_arrays_that_do_not_fit() -> None:
    @broadcasting
    def broken(*, width: float) -> float:
        raise ValueError("something else")

    with pytest.raises(ValueError, match="something else"):
        broken(width=1)


@dataclass(frozen=True)
class _Sketch(Plan):
    hit_rate: Number
    data_bytes: Number
    limit_bytes_per_second: Number | None
    break_even_epochs: Number
    fits: object


def _sketch(**changed) -> _Sketch:
    given = {"hit_rate": 0.75, "data_bytes": 40e9, "limit_bytes_per_second": None, "fits": True}
    given |= {"break_even_epochs": math.inf, "binding": "data", "assumptions": ("One.",), "source": "sum"}
    return _Sketch(**(given | changed))


def test_rows_show_every_field_that_was_given_with_its_unit_and_the_binding_constraint_last() -> None:
    assert _sketch().rows() == (
        ("hit rate (by bytes)", "75%"),
        ("data", "40 GB"),
        ("epochs to break even", "never"),
        ("fits", "yes"),
        ("binding constraint", "data"),
    )


def test_rows_of_arrays_show_ranges() -> None:
    plan = _sketch(
        data_bytes=np.array([1e9, 40e9]),
        fits=np.array([True, False]),
        binding=np.array(["data", "time"]),
        hit_rate=np.array([0.5, 0.5]),
    )
    rows = dict(plan.rows())
    assert rows["data"] == "1 GB to 40 GB"
    assert rows["fits"] == "yes in 1 of 2"
    assert rows["hit rate (by bytes)"] == "50%"
    assert rows["binding constraint"] == "data, time"


def test_a_plan_becomes_json_that_any_reader_takes() -> None:
    plain = _sketch(data_bytes=np.array([1.0, np.inf]), fits=np.True_).to_dict()
    assert json.loads(json.dumps(plain, allow_nan=False)) == {
        "hit_rate": 0.75,
        "data_bytes": [1.0, None],
        "limit_bytes_per_second": None,
        "break_even_epochs": None,
        "fits": True,
        "binding": "data",
        "assumptions": ["One."],
        "source": "sum",
    }


@pytest.mark.parametrize(
    ("field", "value", "label", "text"),
    [
        ("remote_bytes_per_second", 51.2e6, "read from the remote side", "51.2 MB/s"),
        ("samples_per_second", 512.0, "samples wanted", "512 samples/s"),
        ("samples_per_second_after", 1450.0, "samples after", "1,450 samples/s"),
        ("serial_operations_per_second", 500.0, "serial operations", "500 operations/s"),
        ("bytes_per_sample", 100e3, "bytes per sample", "100 KB"),
        ("seconds_per_operation", 0.002, "time per operation", "2 ms"),
        ("start_seconds_before", 1080.0, "start before", "18 min"),
        ("left_bytes", -40e9, "left at the peak", "-40 GB"),
        ("container_overhead", 0.0496, "container overhead", "4.96%"),
        ("rate_gain", 5.5769, "rate gain", "5.58x"),
        ("available_bytes_per_second", math.inf, "bandwidth there is", "no limit"),
        ("batches_per_second", 0.25, "batches of each consumer", "0.25 batches/s"),
        ("shared", False, "shared", "no"),
    ],
)
def test_a_field_s_name_gives_its_label_and_unit(field: str, value: float, label: str, text: str) -> None:
    assert label_of(field) == label
    assert formatted(field, value) == text
