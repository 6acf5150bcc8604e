"""Lesson 09: constraints first, then cost over one experiment cycle; every price is the reader's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.planning import (
    MONTH_SECONDS,
    Choice,
    Constraints,
    Offer,
    Prices,
    cache_plan,
    cheapest,
    checkpoint_plan,
    cycle_cost,
)
from course_lib.widgets.amounts import shown_amount
from course_lib.widgets.controls import NumberControl
from course_lib.widgets.panel import Panel
from course_lib.widgets.panels.planning_capacity import lesson_plan
from course_lib.widgets.svg import Bar, bar_chart, format_number
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance

CONSTRAINTS = Constraints(
    samples_per_second=1000.0, cold_start_seconds=3600.0, worst_loss_seconds=900.0, headroom_ratio=0.1
)
"""What every plan of the lesson has to do; assumed."""

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


def storage_offers(
    *, ordinary_price: float, fast_price: float, device_price: float, epochs: int = 40, devices: int = 4
) -> tuple[Offer, ...]:
    """Return the lesson's six plans with what each does and costs over a cycle of 30 days.

    Parameters
    ----------
    ordinary_price, fast_price : float
        Of 10^9 B for 30 days, on ordinary and on fast storage.
    device_price : float
        Of an hour of one compute device.
    epochs, devices : int
        Passes over the data in the cycle, and devices that wait for them together.
    """
    return tuple(
        _offer(
            case,
            Prices(per_gb_month=fast_price if case.fast else ordinary_price, per_device_hour=device_price),
            epochs,
            devices,
        )
        for case in _cases()
    )


def _offer(case: _Case, prices: Prices, epochs: int, devices: int) -> Offer:
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
    waiting = max(0.0, cold - computing) + (epochs - 1) * max(0.0, warm - computing)
    cost = cycle_cost(
        prices=prices,
        stored_bytes=space.static_bytes,
        cycle_seconds=MONTH_SECONDS,
        devices=devices,
        waiting_seconds=waiting,
        rebuild_seconds=case.rebuilds * float(reading.rebuild_seconds),
    )
    return Offer(
        case.name,
        samples_per_second=min(_WANTED_SAMPLES, _DATA_BYTES / _SAMPLE_BYTES / warm),
        cold_start_seconds=cold,
        worst_loss_seconds=float(saving.worst_loss_seconds),
        peak_bytes=float(space.peak_bytes),
        disk_bytes=case.disk_bytes,
        cost=cost,
    )


def cost_view(choice: Choice, offers: tuple[Offer, ...], priced: Mapping[str, bool]) -> View:
    """Return the plans with the constraint that each misses, and the cost of those that miss none.

    ``priced`` tells for the name of each price whether it is above 0. As long as one is not, the view shows
    what there would be to pay for: a sum with a gap in it looks like a cheap plan.
    """
    everything_priced = all(priced.values())
    missing = ", ".join(name for name, known in priced.items() if not known)
    amounts = _costs_of if everything_priced else _amounts_of
    heads = tuple(amounts(offers[0]))
    # Stored bytes share no axis with hours, and a total is no part of itself.
    bar_heads = heads[:-1] if everything_priced else heads[1:]
    bars = [Bar(offer.name, amounts(offer)[head], head) for offer in choice.met for head in bar_heads]
    title = _cost_title(choice, offers, everything_priced)
    rows = tuple(
        (
            offer.name,
            "; ".join(choice.refused.get(offer.name, ())) or text("planning.meets"),
            *(_shown(head, amounts(offer)[head]) if offer in choice.met else None for head in heads),
        )
        for offer in offers
    )
    note = text("planning.cost_source")
    axis = text("planning.cost_axis") if everything_priced else text("planning.hours_axis")
    return View(
        title,
        text("planning.cost_summary"),
        (text("planning.plan"), text("planning.constraints"), *heads),
        rows,
        bar_chart(bars, title=title, axis=axis, corner=provenance(None, note)),
        source_note=note,
        result=choice,
        warning=text("planning.no_price", missing=missing) if missing else "",
        figures=(
            *((offer.name, float(offer.cost.total_cost)) for offer in choice.met if everything_priced),
            (text("planning.cheapest"), choice.best.name if choice.best and everything_priced else None),
        ),
    )


def _costs_of(offer: Offer) -> dict[str, float]:
    return {
        text("planning.cost_storage"): float(offer.cost.storage_cost),
        text("planning.cost_waiting"): float(offer.cost.waiting_cost),
        text("planning.cost_rebuild"): float(offer.cost.rebuild_cost),
        text("planning.cost_total"): float(offer.cost.total_cost),
    }


def _amounts_of(offer: Offer) -> dict[str, float]:
    """Return what there would be to pay for: bytes, and hours of devices."""
    hours = float(offer.cost.devices) / 3600
    return {
        text("planning.stored"): float(offer.cost.stored_bytes),
        text("planning.hours_waiting"): float(offer.cost.waiting_seconds) * hours,
        text("planning.hours_rebuild"): float(offer.cost.rebuild_seconds) * hours,
    }


def _shown(head: str, amount: float) -> str:
    return shown_amount(amount, "bytes") if head == text("planning.stored") else format_number(amount)


def _cost_title(choice: Choice, offers: tuple[Offer, ...], everything_priced: bool) -> str:
    counts = {"met": len(choice.met), "all": len(offers)}
    if choice.best is None or not everything_priced:
        return text("planning.cost_unpriced", **counts)
    return text(
        "planning.cost_title",
        best=choice.best.name,
        total=format_number(float(choice.best.cost.total_cost)),
        part=text(f"planning.largest_{str(choice.best.cost.binding).replace(' ', '_')}"),
        **counts,
    )


def cost_panel(*, constraints: Constraints = CONSTRAINTS) -> Panel:
    """Return a panel on three prices, all 0 until the reader sets them, over the lesson's six plans."""

    def compute(ordinary_price: float, fast_price: float, device_price: float) -> View:
        offers = storage_offers(
            ordinary_price=ordinary_price, fast_price=fast_price, device_price=device_price
        )
        priced = {
            text("planning.price_ordinary"): ordinary_price > 0,
            text("planning.price_fast"): fast_price > 0,
            text("planning.price_device"): device_price > 0,
        }
        return cost_view(cheapest(offers, constraints), offers, priced)

    controls = {
        "ordinary_price": NumberControl(text("planning.price_ordinary"), 0.0, 2.0, 0.0, step=0.01),
        "fast_price": NumberControl(text("planning.price_fast"), 0.0, 2.0, 0.0, step=0.01),
        "device_price": NumberControl(text("planning.price_device"), 0.0, 20.0, 0.0, step=0.1),
    }
    presets = {
        text("planning.preset_dear_device"): {
            "ordinary_price": 0.05,
            "fast_price": 0.2,
            "device_price": 3.0,
        },
        text("planning.preset_cheap_device"): {
            "ordinary_price": 0.05,
            "fast_price": 0.2,
            "device_price": 0.1,
        },
        text("planning.preset_cheap_fast"): {
            "ordinary_price": 0.05,
            "fast_price": 0.07,
            "device_price": 3.0,
        },
    }
    return Panel(text("planning.cost_panel"), controls, compute, presets=presets, pin=True)


def cheapest_of(choice: Choice) -> str:
    """Return which of three plans is the cheapest as a prediction names it; "none" where another one is."""
    names = {
        text("planning.case_ordinary"): "ordinary",
        text("planning.case_cached"): "cached",
        text("planning.case_fast"): "fast",
    }
    return names.get(choice.best.name, "none") if choice.best else "none"
