"""Cost over one cycle: constraints first, then the cheapest plan that meets them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.planning import MONTH_SECONDS, Constraints, Offer, Prices, cheapest, cycle_cost

PRICES = Prices(per_gb_month=0.02, per_device_hour=3.0, per_thousand_requests=0.4)
CYCLE = {"prices": PRICES, "stored_bytes": 1e12, "cycle_seconds": MONTH_SECONDS}
CHEAP = Offer("cheap", 260, 1080, 720, 600e9, 640e9, cycle_cost(**CYCLE, devices=4, waiting_seconds=5e4))
GOOD = Offer("good", 1450, 120, 720, 600e9, 1000e9, cycle_cost(**CYCLE, devices=4, waiting_seconds=6e4))
BEST = Offer("best", 1800, 60, 720, 600e9, 2000e9, cycle_cost(**CYCLE, devices=4, waiting_seconds=9e4))


def test_the_parts_of_a_cycle_add_up() -> None:
    plan = cycle_cost(**CYCLE, devices=4, waiting_seconds=36_000, rebuild_seconds=3_600, requests=2_000_000)
    assert plan.storage_cost == pytest.approx(20)
    assert plan.waiting_cost == pytest.approx(120)
    assert plan.rebuild_cost == pytest.approx(12)
    assert plan.request_cost == pytest.approx(800)
    assert (plan.total_cost, plan.binding) == (pytest.approx(952), "requests")


def test_cheap_storage_that_keeps_devices_waiting_costs_more() -> None:
    waiting = cycle_cost(**CYCLE, devices=8, waiting_seconds=200_000)
    dearer = cycle_cost(
        **{**CYCLE, "prices": replace(PRICES, per_gb_month=0.1)}, devices=8, waiting_seconds=2_000
    )
    assert waiting.storage_cost < dearer.storage_cost
    assert waiting.total_cost > dearer.total_cost


@pytest.mark.parametrize(
    ("missing", "needed"),
    [
        ("per_gb_month", {}),
        ("per_device_hour", {"waiting_seconds": 10}),
        ("per_thousand_requests", {"requests": 10}),
    ],
)
def test_a_price_is_never_guessed(missing: str, needed: dict[str, float]) -> None:
    with pytest.raises(CourseError, match="is missing"):
        cycle_cost(**{**CYCLE, "prices": replace(PRICES, **{missing: None})}, **needed)


def test_a_price_that_nothing_needs_may_be_missing() -> None:
    assert cycle_cost(**{**CYCLE, "prices": Prices(per_gb_month=0.02)}).total_cost == pytest.approx(20)


def test_constraints_come_before_the_price() -> None:
    choice = cheapest([CHEAP, GOOD, BEST], Constraints(samples_per_second=1000))
    assert CHEAP.cost.total_cost < GOOD.cost.total_cost < BEST.cost.total_cost
    assert choice.best is GOOD
    assert [offer.name for offer in choice.met] == ["good", "best"]
    assert list(choice.refused) == ["cheap"]
    assert "260 samples/s of the 1,000" in choice.refused["cheap"][0]


@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        ({"cold_start_seconds": 600}, "a cold start of 1,080 s"),
        ({"worst_loss_seconds": 600}, "a loss of up to 720 s"),
        ({"headroom_ratio": 0.2}, "6% of the disk free"),
    ],
)
def test_each_missed_constraint_is_named(constraint: dict[str, float], words: str) -> None:
    choice = cheapest([CHEAP], Constraints(**constraint))
    assert choice.best is None
    assert words in choice.refused["cheap"][0]


@given(st.lists(st.tuples(st.floats(1, 5000), st.floats(0, 1e5)), min_size=1, max_size=12))
def test_nothing_that_meets_the_constraints_is_cheaper_than_the_choice(
    offers: list[tuple[float, float]],
) -> None:
    several = [
        Offer(str(number), rate, 1, 1, 1, 2, cycle_cost(**CYCLE, waiting_seconds=waiting))
        for number, (rate, waiting) in enumerate(offers)
    ]
    choice = cheapest(several, Constraints(samples_per_second=1000))
    good = [offer.cost.total_cost for offer in several if offer.samples_per_second >= 1000]
    assert (choice.best.cost.total_cost if choice.best else None) == min(good, default=None)
    assert len(choice.met) + len(choice.refused) == len(several)


def test_costs_of_many_plans_at_once() -> None:
    waiting = np.array([0.0, 36_000.0])
    plan = cycle_cost(**CYCLE, devices=4, waiting_seconds=waiting)
    assert plan.total_cost == pytest.approx([20, 140])
    assert plan.binding.tolist() == ["storage", "waiting devices"]


@pytest.mark.parametrize(
    ("offers", "sentence"),
    [
        ([], "nothing to choose from"),
        ([GOOD, GOOD], "have one name"),
        (
            [GOOD, replace(BEST, cost=cycle_cost(**{**CYCLE, "cycle_seconds": 1e5}))],
            "same experiment cycle",
        ),
    ],
)
def test_offers_that_cannot_be_compared_are_refused(offers: list[Offer], sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence):
        cheapest(offers, Constraints())


def test_more_waiting_than_the_cycle_is_long_is_refused() -> None:
    with pytest.raises(CourseError, match="longer than the cycle"):
        cycle_cost(**{**CYCLE, "cycle_seconds": 100}, waiting_seconds=90, rebuild_seconds=20)


@pytest.mark.parametrize(
    "constraint",
    [{"samples_per_second": float("nan")}, {"headroom_ratio": 20}, {"cold_start_seconds": "10 min"}],
)
def test_constraints_that_mean_nothing_are_refused(constraint: dict[str, Any]) -> None:
    with pytest.raises(CourseError, match="constraint"):
        Constraints(**constraint)


@pytest.mark.parametrize(
    "changed",
    [
        {"samples_per_second": float("nan")},
        {"disk_bytes": 0},
        {"cost": cycle_cost(**CYCLE, waiting_seconds=np.array([0.0, 1.0]))},
    ],
)
def test_offers_that_mean_nothing_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(CourseError, match="good"):
        replace(GOOD, **changed)
