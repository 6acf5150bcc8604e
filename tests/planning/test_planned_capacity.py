"""Capacity over the life cycle of a training job."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.planning import KINDS, capacity_plan

LESSON = {
    "raw_bytes": 200e9,
    "processed_bytes": 300e9,
    "cache_bytes": 100e9,
    "checkpoint_bytes": 8e9,
    "checkpoints_kept": 3,
}
SIZES = ["raw_bytes", "processed_bytes", "manifests_bytes", "cache_bytes", "checkpoint_bytes"]
SIZES += ["download_bytes", "scratch_bytes"]
NUMBERS = ["jobs", "checkpoints_kept", "failed_attempts"]
sizes = st.floats(1, 1e15)
inputs = st.fixed_dictionaries({**dict.fromkeys(SIZES, sizes), **dict.fromkeys(NUMBERS, st.integers(1, 50))})


def test_the_lesson_s_total_and_its_peak_while_the_next_checkpoint_is_written() -> None:
    plan = capacity_plan(**LESSON)
    assert (plan.static_bytes, plan.peak_bytes, plan.binding) == (624e9, 632e9, "save")


def test_four_jobs_with_private_caches_need_300_gb_more() -> None:
    plan = capacity_plan(**LESSON, jobs=4)
    assert (plan.static_bytes, plan.peak_bytes, plan.local_bytes) == (924e9, 932e9, 400e9)


def test_four_jobs_with_one_shared_cache_need_no_more_than_one() -> None:
    plan = capacity_plan(**LESSON, jobs=4, shared_cache=True)
    assert (plan.static_bytes, plan.local_bytes) == (624e9, 100e9)


def test_persistent_and_local_space_stand_apart() -> None:
    plan = capacity_plan(**LESSON, jobs=4)
    assert plan.persistent_static_bytes == 524e9
    assert plan.persistent_peak_bytes == 532e9
    assert plan.static_bytes == plan.persistent_static_bytes + plan.local_bytes


def test_the_timeline_shows_what_lies_there_at_each_stage() -> None:
    plan = capacity_plan(
        **LESSON, manifests_bytes=1e9, download_bytes=50e9, scratch_bytes=20e9, failed_attempts=2
    )
    assert {stage.name: stage.total_bytes for stage in plan.timeline} == {
        "download": 250e9,
        "convert": 571e9,
        "train": 625e9,
        "save": 633e9,
        "retry": 649e9,
    }
    assert plan.binding == "retry"
    by_name = {stage.name: stage.by_kind for stage in plan.timeline}
    assert by_name["retry"]["failed attempts"] == 16e9
    assert by_name["save"]["being written"] == 8e9
    assert not {"downloads", "scratch"} & set(by_name["train"])
    for kinds in by_name.values():
        assert list(kinds) == [kind for kind in KINDS if kind in kinds]


def test_large_scratch_makes_conversion_the_fullest_stage() -> None:
    assert capacity_plan(**LESSON, scratch_bytes=500e9).binding == "convert"


def test_a_disk_of_the_static_total_is_too_small_for_the_peak() -> None:
    plan = capacity_plan(**LESSON, disk_bytes=624e9)
    assert (plan.enough, plan.binding, plan.left_bytes) == (False, "disk space", -8e9)
    assert dict(plan.rows())["left at the peak"] == "-8 GB"
    assert capacity_plan(**LESSON, disk_bytes=632e9).enough


def test_the_reserve_lies_on_top_of_the_peak() -> None:
    plan = capacity_plan(**LESSON, reserve_ratio=0.25, disk_bytes=700e9)
    assert (plan.needed_bytes, plan.enough) == (790e9, False)
    assert capacity_plan(**LESSON, reserve_ratio=0.25, disk_bytes=790e9).enough


def test_local_disks_are_compared_with_the_caches_and_the_other_disk_with_the_rest() -> None:
    small = capacity_plan(**LESSON, jobs=4, disk_bytes=600e9, local_disk_bytes=300e9)
    assert (small.binding, small.enough) == ("local space", False)
    assert small.left_bytes == 68e9
    fits = capacity_plan(**LESSON, jobs=4, disk_bytes=600e9, local_disk_bytes=400e9)
    assert (fits.binding, fits.enough) == ("save", True)
    short = capacity_plan(**LESSON, jobs=4, disk_bytes=500e9, local_disk_bytes=400e9)
    assert (short.binding, short.enough) == ("persistent space", False)


def test_without_a_disk_nothing_is_said_about_it() -> None:
    plan = capacity_plan(**LESSON)
    assert (plan.disk_bytes, plan.left_bytes, plan.enough) == (None, None, None)


def test_a_plan_is_json_with_its_timeline() -> None:
    plain = json.loads(json.dumps(capacity_plan(**LESSON).to_dict(), allow_nan=False))
    assert plain["timeline"][3] == {
        "stage": "save",
        "bytes": {
            "raw": 200e9,
            "processed": 300e9,
            "manifests": 0,
            "checkpoints": 24e9,
            "being written": 8e9,
            "cache": 100e9,
        },
    }


@given(inputs)
def test_the_peak_is_the_fullest_stage_and_never_below_the_static_total(given: dict[str, float]) -> None:
    plan = capacity_plan(**given)
    totals = {stage.name: stage.total_bytes for stage in plan.timeline}
    assert plan.peak_bytes == max(totals.values()) == totals[str(plan.binding)]
    assert plan.peak_bytes >= plan.static_bytes + given["checkpoint_bytes"] * (1 - 1e-9) - 1
    for stage in plan.timeline:
        assert sum(stage.by_kind.values()) == pytest.approx(stage.total_bytes)


@given(inputs, st.sampled_from(SIZES + NUMBERS))
def test_more_of_anything_never_needs_less(given: dict[str, float], name: str) -> None:
    more = capacity_plan(**(given | {name: given[name] * 2}))
    assert more.peak_bytes >= capacity_plan(**given).peak_bytes


@given(st.lists(inputs, min_size=1, max_size=4), st.floats(1, 1e16))
def test_an_array_of_plans_equals_the_plans_one_by_one(given: list[dict[str, float]], disk: float) -> None:
    many = capacity_plan(
        **{name: np.array([one[name] for one in given]) for name in given[0]},
        disk_bytes=disk,
        local_disk_bytes=disk,
    )
    for place, values in enumerate(given):
        one = capacity_plan(**values, disk_bytes=disk, local_disk_bytes=disk)
        assert many.binding[place] == one.binding
        assert many.enough[place] == one.enough
        assert many.peak_bytes[place] == one.peak_bytes


@pytest.mark.parametrize("name", [*SIZES, *NUMBERS, "reserve_ratio", "disk_bytes", "local_disk_bytes"])
@pytest.mark.parametrize("value", [-1, math.nan, math.inf, 1e31, "8 GB", True])
def test_bad_input_is_refused(name: str, value: float) -> None:
    with pytest.raises(CourseError):
        capacity_plan(**(LESSON | {name: value}))


def test_a_reserve_of_20_is_recognised_as_a_percentage() -> None:
    with pytest.raises(CourseError, match=r"reserve.*write 0\.2 for 20%"):
        capacity_plan(**LESSON, reserve_ratio=20)


def test_a_plan_of_nothing_is_refused() -> None:
    with pytest.raises(CourseError, match="takes any space"):
        capacity_plan()
