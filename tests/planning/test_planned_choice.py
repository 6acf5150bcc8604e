"""The cheapest of several storage plans, and how often to save: constraints, prices, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.planning import (
    Constraints,
    checkpoint_plan,
    choice_plan,
    exact_interval,
    interval_plan,
)

MONTH = 30 * 86_400
SLOW: dict[str, Any] = {
    **{"name": "slow", "storage": "ordinary", "samples_per_second": 900, "cold_start_seconds": 60},
    **{"worst_loss_seconds": 600, "peak_bytes": 6e11, "disk_bytes": 1e12, "stored_bytes": 5e11},
    **{"waiting_seconds": 36_000},
}
FAST: dict[str, Any] = {**SLOW, "name": "fast", "storage": "fast", "waiting_seconds": 0}
PRICES: dict[str, Any] = {"gb_month_prices": {"ordinary": 0.05, "fast": 0.1}, "device_hour_price": 3}


def chosen(*offers: dict[str, Any], **more: Any) -> Any:
    return choice_plan(**{"offers": list(offers), "cycle_seconds": MONTH, **PRICES, **more})


def test_the_cheapest_plan_is_the_one_with_the_lowest_sum() -> None:
    plan = chosen(SLOW, FAST)
    assert (plan.cheapest, plan.cheapest_cost, plan.met) == ("fast", 50, ("fast", "slow"))
    assert plan.costs["slow"] == {
        **{"storage_cost": 25, "waiting_cost": 30, "rebuild_cost": 0, "request_cost": 0},
        "total_cost": 55,
    }
    assert plan.binding == "storage" and not plan.unpriced


def test_constraints_come_before_prices() -> None:
    plan = chosen(SLOW, {**FAST, "samples_per_second": 100}, constraints={"samples_per_second": 500})
    assert plan.cheapest == "slow" and plan.refused == {
        "fast": ("100 samples/s of the 500 that training needs",)
    }
    none = chosen(SLOW, constraints=Constraints(worst_loss_seconds=60))
    assert (none.cheapest, none.binding, none.met) == ("", "constraints", ())


def test_a_missing_price_leaves_no_sum_and_0_is_a_price() -> None:
    plan = chosen(SLOW, FAST, gb_month_prices={"fast": 0}, device_hour_price=None)
    assert plan.unpriced == ("GB and month of ordinary storage", "device and hour")
    assert (plan.cheapest, plan.cheapest_cost, plan.costs, plan.binding) == ("", None, {}, "prices")
    assert plan.met == ("slow", "fast"), "in the order given"
    free = chosen(FAST, gb_month_prices={"fast": 0}, device_hour_price=None)
    assert not free.unpriced and free.cheapest_cost == 0
    asked = chosen({**FAST, "requests": 5000}, thousand_requests_price=None)
    assert asked.unpriced == ("1,000 requests",)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"offers": []}, "nothing to choose from"),
        ({"offers": "slow"}, "offers are no list"),
        ({"offers": [SLOW, SLOW]}, "Two offers have one name"),
        (
            {"offers": [{**SLOW, "colour": 1}]},
            r"An offer \('slow'\): there are fields that are not known.*colour",
        ),
        ({"offers": [{**SLOW, "peak_bytes": None}]}, "not complete.*no peak_bytes"),
        ({"offers": [{**SLOW, "name": " "}]}, "name of an offer is no text"),
        ({"offers": [{**SLOW, "stored_bytes": -1}]}, "stored bytes is out of range"),
        ({"offers": [{**SLOW, "disk_bytes": 0}]}, "disk_bytes of the offer 'slow' is out of range"),
        ({"offers": [5]}, "An offer is not known"),
        ({"gb_month_prices": 0.05}, "prices of storage are not known"),
        ({"gb_month_prices": {"ordinary": -1}}, "price of ordinary storage is out of range"),
        ({"device_hour_price": "3"}, "price of a device and hour is no number"),
        ({"constraints": {"headroom_ratio": 10}}, "percentage"),
        ({"constraints": {"beauty": 1}}, "The constraints: there are fields that are not known"),
        ({"cycle_seconds": 3600}, "longer than the cycle"),
        ({"devices": 1.5}, "whole number"),
    ],
)
def test_bad_offers_get_one_sentence(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence) as caught:
        chosen(SLOW, **{"offers": [SLOW], **change}) if "offers" not in change else chosen(**change)
    assert "\n" not in str(caught.value)


@given(st.lists(st.floats(0, 1e5), min_size=1, max_size=6), st.floats(0, 10))
def test_no_plan_is_cheaper_than_the_cheapest(waits: list[float], price: float) -> None:
    offers = [{**SLOW, "name": str(number), "waiting_seconds": wait} for number, wait in enumerate(waits)]
    plan = chosen(*offers, device_hour_price=price)
    assert plan.cheapest_cost == min(costs["total_cost"] for costs in plan.costs.values())


def test_least_lost_time_or_the_bearable_loss_sets_the_interval() -> None:
    by_cost = interval_plan(save_seconds=60, mean_seconds_between_failures=11_135)
    assert by_cost.binding == "time of saves" and by_cost.computing_seconds == by_cost.exact_seconds
    assert by_cost.loss_limit_seconds == np.inf
    by_loss = interval_plan(save_seconds=120, mean_seconds_between_failures=86_400, bearable_loss_seconds=720)
    assert by_loss.binding == "bearable loss"
    assert (by_loss.computing_seconds, by_loss.interval_seconds) == (480, 600)


@given(st.floats(1, 1e4), st.floats(1e2, 1e7), st.integers(0, 3))
def test_the_loss_of_an_interval_is_that_of_its_checkpoint_plan(
    save: float, between: float, failed: int
) -> None:
    loss = (2 * failed + 4) * save
    plan = interval_plan(
        save_seconds=save,
        mean_seconds_between_failures=between,
        bearable_loss_seconds=loss,
        failed_saves=failed,
    )
    assert plan.computing_seconds <= exact_interval(save_seconds=save, mean_seconds_between_failures=between)
    saving = checkpoint_plan(
        bytes=1, interval_seconds=plan.interval_seconds, save_seconds=save, failed_saves=failed
    )
    assert plan.worst_loss_seconds == pytest.approx(saving.worst_loss_seconds)
    assert plan.worst_loss_seconds <= loss * (1 + 1e-9)


def test_a_loss_that_leaves_nothing_but_saving_is_refused() -> None:
    with pytest.raises(CourseError, match=r"nothing but saving: .* saves of 120 s in plan 2 of 2"):
        interval_plan(
            save_seconds=np.array([60.0, 120.0]),
            mean_seconds_between_failures=86_400,
            bearable_loss_seconds=240,
        )
