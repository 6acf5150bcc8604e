"""Caches: hits by bytes, cold starts of several jobs, time to fill, break-even."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.planning import ONLY_BYTES, cache_plan, hit_rate_by_bytes

CASE = {
    "data_bytes": 100e9,
    "cache_bytes": 75e9,
    "remote_bytes_per_second": 200e6,
    "local_bytes_per_second": 2e9,
}
sizes = st.floats(1e3, 1e13)
rates = st.floats(1e3, 1e11)
jobs = st.integers(1, 64)


def test_the_hit_rate_is_the_share_of_bytes_that_fit() -> None:
    assert hit_rate_by_bytes(cache_bytes=75e9, data_bytes=100e9) == 0.75
    assert hit_rate_by_bytes(cache_bytes=200e9, data_bytes=100e9) == 1
    assert hit_rate_by_bytes(cache_bytes=0, data_bytes=100e9) == 0
    assert hit_rate_by_bytes(cache_bytes=[0, 50, 500], data_bytes=100).tolist() == [0, 0.5, 1]  # type: ignore[union-attr]


def test_one_job_cold_warm_and_without_a_cache() -> None:
    plan = cache_plan(**CASE)
    assert plan.hit_rate == 0.75
    assert plan.uncached_seconds == plan.cold_seconds == 500
    assert plan.warm_seconds == 125
    assert plan.fill_seconds == plan.rebuild_seconds == 375
    assert plan.binding == "remote share"
    assert ONLY_BYTES in plan.assumptions


def test_jobs_that_start_together_share_the_remote_side_and_private_caches_fill_once_each() -> None:
    one, four = cache_plan(**CASE), cache_plan(**CASE, jobs=4)
    assert four.cold_seconds == 4 * one.cold_seconds
    assert four.fill_seconds == 4 * one.fill_seconds
    assert four.local_bytes == 4 * one.local_bytes


def test_a_shared_cache_fetches_once_what_it_keeps() -> None:
    plan = cache_plan(**CASE, jobs=4, shared=True)
    assert plan.fill_seconds == 375
    assert plan.cold_seconds == 375 + 4 * 125
    assert plan.local_bytes == 75e9


def test_a_whole_cache_on_a_slow_disk_is_limited_by_local_reads() -> None:
    plan = cache_plan(**(CASE | {"cache_bytes": 100e9, "local_bytes_per_second": 100e6}))
    assert plan.binding == "local reads"
    assert plan.warm_seconds == 1000
    assert plan.break_even_epochs == math.inf
    assert dict(plan.rows())["epochs to break even"] == "never"
    assert not plan.pays


def test_preparing_pays_after_the_epochs_that_win_it_back() -> None:
    plan = cache_plan(**CASE, prepare_seconds=750)
    assert plan.break_even_epochs == 3
    assert plan.rebuild_seconds == 750 + 375
    assert not cache_plan(**CASE, prepare_seconds=750, epochs=3).pays
    assert cache_plan(**CASE, prepare_seconds=750, epochs=4).pays


def test_what_a_shared_cache_spares_in_its_first_epoch_counts_towards_the_preparing() -> None:
    plan = cache_plan(**CASE, jobs=4, shared=True, prepare_seconds=1875)
    assert (plan.uncached_seconds, plan.cold_seconds, plan.warm_seconds) == (2000, 875, 500)
    assert plan.break_even_epochs == 1.5
    assert cache_plan(**CASE, jobs=4, shared=True).break_even_epochs == 1


def test_a_cache_of_nothing_answers_nothing_and_never_pays() -> None:
    plan = cache_plan(**(CASE | {"cache_bytes": 0}), epochs=100)
    assert (plan.hit_rate, plan.fill_seconds, plan.break_even_epochs) == (0, 0, math.inf)
    assert plan.warm_seconds == plan.uncached_seconds
    assert not plan.pays


@given(sizes, sizes, rates, rates, jobs, st.booleans(), st.floats(0, 1e6), st.integers(1, 1000))
def test_the_break_even_is_where_both_ways_take_as_long(
    data: float, cache: float, remote: float, local: float, n: int, shared: bool, prepare: float, epochs: int
) -> None:
    plan = cache_plan(
        data_bytes=data,
        cache_bytes=cache,
        remote_bytes_per_second=remote,
        local_bytes_per_second=local,
        jobs=n,
        shared=shared,
        prepare_seconds=prepare,
        epochs=epochs,
    )
    assert 0 <= plan.hit_rate <= 1
    assert plan.break_even_epochs >= 1
    if abs(plan.seconds_with_cache / plan.seconds_without_cache - 1) > 1e-6:
        assert plan.pays == (epochs > plan.break_even_epochs) or plan.break_even_epochs == epochs == 1
    assert plan.cold_seconds >= plan.warm_seconds * (1 - 1e-9)
    assert plan.rebuild_seconds >= plan.fill_seconds


@given(sizes, sizes, rates, rates, jobs, st.booleans(), st.floats(1.01, 10))
def test_a_larger_cache_hits_no_less_and_more_remote_rate_never_takes_longer(
    data: float, cache: float, remote: float, local: float, n: int, shared: bool, factor: float
) -> None:
    def plan(**changed: float):
        given = {"data_bytes": data, "cache_bytes": cache, "remote_bytes_per_second": remote}
        given |= {"local_bytes_per_second": local, "jobs": n}
        return cache_plan(**(given | changed), shared=shared)

    assert plan(cache_bytes=cache * factor).hit_rate >= plan().hit_rate
    faster = plan(remote_bytes_per_second=remote * factor)
    for name in ("cold_seconds", "warm_seconds", "fill_seconds", "uncached_seconds"):
        assert getattr(faster, name) <= getattr(plan(), name)
        assert getattr(plan(jobs=n + 1), name) >= getattr(plan(), name) * (1 - 1e-12)


@given(st.lists(st.tuples(sizes, sizes, rates, rates, jobs, st.floats(0, 1e6)), min_size=1, max_size=4))
def test_an_array_of_caches_equals_the_caches_one_by_one(inputs: list[tuple[float, ...]]) -> None:
    names = [*CASE, "jobs", "prepare_seconds"]
    many = cache_plan(**dict(zip(names, np.array(inputs).T, strict=True)))
    for place, values in enumerate(inputs):
        one = cache_plan(**dict(zip(names, values, strict=True)))
        assert many.binding[place] == one.binding
        assert many.pays[place] == one.pays
        for name in ("hit_rate", "cold_seconds", "warm_seconds", "fill_seconds", "break_even_epochs"):
            assert getattr(many, name)[place] == pytest.approx(getattr(one, name))


@pytest.mark.parametrize("name", [*CASE, "jobs", "prepare_seconds", "epochs"])
@pytest.mark.parametrize("value", [-1, math.nan, math.inf, 1e31, "1 GB", True])
def test_bad_input_is_refused(name: str, value: float) -> None:
    with pytest.raises(CourseError):
        cache_plan(**(CASE | {name: value}))
