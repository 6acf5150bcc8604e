"""Lesson 09: constraints first, then cost over one experiment cycle; every price is the reader's own."""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.planning import (
    MONTH_SECONDS,
    ChoicePlan,
    Constraints,
    StorageOffer,
    cache_plan,
    checkpoint_plan,
)
from course_lib.widgets.amounts import shown_amount
from course_lib.widgets.controls import Control
from course_lib.widgets.panels.planning_capacity import lesson_plan
from course_lib.widgets.panels.planning_prices import PriceControl
from course_lib.widgets.plan_panel import PlanPanel
from course_lib.widgets.svg import Bar, bar_chart, format_number
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance

CONSTRAINTS = Constraints(
    samples_per_second=1000.0, cold_start_seconds=3600.0, worst_loss_seconds=900.0, headroom_ratio=0.1
)
"""What every plan of the lesson has to do; assumed."""

ORDINARY, FAST = "ordinary", "fast"
"""The two kinds of storage, by which a plan's price is found."""

# Of ordinary and of fast storage for 1 GB and month, and of a device for an hour; made up.
_INVENTED = {
    "dear_device": (0.05, 0.2, 3.0),
    "cheap_device": (0.05, 0.2, 0.1),
    "cheap_fast": (0.05, 0.07, 3.0),
}
_SAMPLE_BYTES = 100e3
_DATA_BYTES = 300e9
_WANTED_SAMPLES = 2048.0
_LOCAL_RATE = 1e9


@dataclass(frozen=True)
class _Case:
    """A storage plan of the lesson; all its figures are assumed."""

    name: str
    remote_bytes_per_second: float
    fast: bool
    disk_bytes: float = 1e12
    cache_bytes: float = 0.0
    interval_seconds: float = 600.0
    rebuilds: int = 0


def _cases() -> tuple[_Case, ...]:
    return (
        _Case(text("planning.case_archive"), 30e6, fast=False),
        _Case(text("planning.case_ordinary"), 125e6, fast=False),
        _Case(text("planning.case_cached"), 125e6, fast=False, cache_bytes=300e9, rebuilds=2),
        _Case(text("planning.case_fast"), 500e6, fast=True),
        _Case(text("planning.case_full"), 500e6, fast=True, disk_bytes=550e9),
        _Case(text("planning.case_hourly"), 125e6, fast=False, interval_seconds=3600.0),
    )


def storage_offers(*, epochs: int = 40) -> tuple[StorageOffer, ...]:
    """Return the lesson's six plans with what each does over a cycle in which the data are read so often."""
    return tuple(_offer(case, epochs) for case in _cases())


def _offer(case: _Case, epochs: int) -> StorageOffer:
    reading = cache_plan(
        data_bytes=_DATA_BYTES,
        cache_bytes=case.cache_bytes,
        remote_bytes_per_second=case.remote_bytes_per_second,
        local_bytes_per_second=_LOCAL_RATE,
        epochs=epochs,
    )
    space = lesson_plan(cache_bytes=case.cache_bytes, disk_bytes=case.disk_bytes)
    saving = checkpoint_plan(bytes=8e9, interval_seconds=case.interval_seconds, save_seconds=20)
    computing = _DATA_BYTES / _SAMPLE_BYTES / _WANTED_SAMPLES
    cold, warm = float(reading.cold_seconds), float(reading.warm_seconds)
    return StorageOffer(
        case.name,
        FAST if case.fast else ORDINARY,
        samples_per_second=min(_WANTED_SAMPLES, _DATA_BYTES / _SAMPLE_BYTES / warm),
        cold_start_seconds=cold,
        worst_loss_seconds=float(saving.worst_loss_seconds),
        peak_bytes=float(space.peak_bytes),
        disk_bytes=case.disk_bytes,
        stored_bytes=float(space.static_bytes),
        waiting_seconds=max(0.0, cold - computing) + (epochs - 1) * max(0.0, warm - computing),
        rebuild_seconds=case.rebuilds * float(reading.rebuild_seconds),
    )


def cost_view(plan: ChoicePlan) -> View:
    """Return the plans with the constraint that each misses, and the cost of those that miss none.

    As long as a price is missing, the view shows what there would be to pay for: a sum with a gap in it looks
    like a cheap plan. A price of 0 is a price.
    """
    missing = ", ".join(plan.unpriced)
    amounts_of = _amounts_of if missing else _costs_of
    amounts = {offer.name: amounts_of(plan, offer) for offer in plan.offers if offer.name in plan.met}
    heads = tuple(amounts_of(plan, plan.offers[0]))
    # Stored bytes share no axis with hours, and a total is no part of itself.
    bar_heads = heads[1:] if missing else heads[:-1]
    bars = [Bar(name, figures[head], head) for name, figures in amounts.items() for head in bar_heads]
    title = _cost_title(plan)
    rows = tuple(
        (
            offer.name,
            "; ".join(plan.refused.get(offer.name, ())) or text("planning.meets"),
            *(_shown(head, amounts[offer.name][head]) if offer.name in amounts else None for head in heads),
        )
        for offer in plan.offers
    )
    summary = text("planning.cost_summary", constraints=_needed(plan.constraints))
    if any(one in storage_offers() for one in plan.offers):
        summary = f"{summary} {text('planning.cost_assumed')}"
    cycle = shown_amount(plan.cycle_seconds, "seconds")
    note = text("planning.cost_source", cycle=cycle, devices=plan.devices)
    axis = text("planning.hours_axis") if missing else text("planning.cost_axis")
    return View(
        title,
        summary,
        (text("planning.plan"), text("planning.constraints"), *heads),
        rows,
        bar_chart(bars, title=title, axis=axis, corner=provenance(None, note)),
        source_note=note,
        result=plan,
        warning=text("planning.no_price", missing=missing) if missing else "",
        figures=(
            *((name, plan.costs[name]["total_cost"]) for name in plan.met if not missing),
            (text("planning.cheapest"), plan.cheapest or None),
        ),
    )


def _costs_of(plan: ChoicePlan, offer: StorageOffer) -> dict[str, float]:
    costs = plan.costs[offer.name]
    requests = {text("planning.cost_requests"): costs["request_cost"]}
    return {
        text("planning.cost_storage"): costs["storage_cost"],
        text("planning.cost_waiting"): costs["waiting_cost"],
        text("planning.cost_rebuild"): costs["rebuild_cost"],
        **(requests if any(one.requests for one in plan.offers) else {}),
        text("planning.cost_total"): costs["total_cost"],
    }


def _amounts_of(plan: ChoicePlan, offer: StorageOffer) -> dict[str, float]:
    """Return what there would be to pay for: bytes, and hours of devices."""
    hours = plan.devices / 3600
    return {
        text("planning.stored"): offer.stored_bytes,
        text("planning.hours_waiting"): offer.waiting_seconds * hours,
        text("planning.hours_rebuild"): offer.rebuild_seconds * hours,
    }


def _shown(head: str, amount: float) -> str:
    return shown_amount(amount, "bytes") if head == text("planning.stored") else format_number(amount)


def _needed(constraints: Constraints) -> str:
    """Return the constraints in words."""
    rate, headroom = constraints.samples_per_second, constraints.headroom_ratio
    cold, loss = constraints.cold_start_seconds, constraints.worst_loss_seconds
    needs = [
        "" if rate is None else text("planning.need_rate", rate=shown_amount(rate, "samples/s")),
        "" if cold is None else text("planning.need_cold", time=shown_amount(cold, "seconds")),
        "" if loss is None else text("planning.need_loss", time=shown_amount(loss, "seconds")),
        "" if headroom is None else text("planning.need_room", share=shown_amount(headroom, "ratio")),
    ]
    return ", ".join(need for need in needs if need) or text("planning.need_none")


def _cost_title(plan: ChoicePlan) -> str:
    counts = {"met": len(plan.met), "all": len(plan.offers)}
    if not plan.met:
        return text("planning.cost_none", **counts)
    if not plan.cheapest:
        return text("planning.cost_unpriced", **counts)
    return text(
        "planning.cost_title",
        best=plan.cheapest,
        total=format_number(plan.costs[plan.cheapest]["total_cost"]),
        part=text(f"planning.largest_{str(plan.binding).replace(' ', '_')}"),
        **counts,
    )


def cost_panel(*, constraints: Constraints = CONSTRAINTS, devices: int = 4) -> PlanPanel:
    """Return a panel on three prices, none of them set until the reader does, over the lesson's six plans."""
    controls: dict[str, Control] = {
        "ordinary_price": PriceControl(text("planning.price_ordinary"), 2.0, step=0.01),
        "fast_price": PriceControl(text("planning.price_fast"), 2.0, step=0.01),
        "device_price": PriceControl(text("planning.price_device"), 20.0, step=0.1),
    }
    prices = ("ordinary_price", "fast_price", "device_price")
    presets = {
        text(f"planning.preset_{name}"): dict(zip(prices, values, strict=True))
        for name, values in _INVENTED.items()
    }
    fixed = {
        "offers": storage_offers(),
        "constraints": constraints,
        "cycle_seconds": MONTH_SECONDS,
        "devices": float(devices),
        "gb_month_prices": {},
    }
    places = {
        "ordinary_price": ("gb_month_prices", ORDINARY),
        "fast_price": ("gb_month_prices", FAST),
        "device_price": ("device_hour_price",),
    }
    return PlanPanel(
        text("planning.cost_panel"),
        "choice",
        controls,
        cost_view,
        fixed=fixed,
        places=places,
        presets=presets,
    )


def cheapest_of(plan: ChoicePlan) -> str:
    """Return which of three plans is the cheapest as a prediction names it; "none" where another one is."""
    names = {
        text("planning.case_ordinary"): "ordinary",
        text("planning.case_cached"): "cached",
        text("planning.case_fast"): "fast",
    }
    return names.get(plan.cheapest, "none")
