"""Cost over one experiment cycle: constraints first, then the cheapest plan that meets them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.planning.core import (
    Number,
    Plan,
    binding_of,
    broadcasting,
    count,
    not_negative,
    positive,
    ratio,
    refuse_where,
)

MONTH_SECONDS = 30 * 86_400.0
"""A month of storage charges is taken as 30 days."""

_SOURCE = (
    "storage: bytes x price x cycle; waiting and rebuild: devices x hours x price; requests: number x price"
)


@dataclass(frozen=True)
class Prices:
    """What things cost, in the user's own currency; nothing is assumed.

    Attributes
    ----------
    per_gb_month : float, optional
        For 10^9 B of storage over 30 days.
    per_device_hour : float, optional
        For an hour of one compute device, busy or waiting.
    per_thousand_requests : float, optional
        For 1,000 requests to an object store.
    """

    per_gb_month: float | None = None
    per_device_hour: float | None = None
    per_thousand_requests: float | None = None


@dataclass(frozen=True)
class CostPlan(Plan):
    """What one experiment cycle costs, by what it is paid for.

    Attributes
    ----------
    storage_cost, waiting_cost, rebuild_cost, request_cost, total_cost : float or ndarray
        In the currency of the prices; ``binding`` names the largest of them.
    """

    prices: Prices
    stored_bytes: Number
    cycle_seconds: Number
    devices: Number
    waiting_seconds: Number
    rebuild_seconds: Number
    requests: Number
    storage_cost: Number
    waiting_cost: Number
    rebuild_cost: Number
    request_cost: Number
    total_cost: Number


@broadcasting
def cycle_cost(
    *,
    prices: Prices,
    stored_bytes: Any,
    cycle_seconds: Any,
    devices: Any = 1,
    waiting_seconds: Any = 0.0,
    rebuild_seconds: Any = 0.0,
    requests: Any = 0,
) -> CostPlan:
    """Put storage, waiting devices, rebuilds and requests of one experiment cycle into one sum.

    Parameters
    ----------
    prices : Prices
        The user's own; a price that is needed and missing is refused, never guessed.
    stored_bytes : float or ndarray
        B that are paid for all through the cycle.
    cycle_seconds : float or ndarray
        s from the start of the cycle to its end: the same for every plan that is compared.
    devices : float or ndarray
        Compute devices that are paid for while they wait.
    waiting_seconds, rebuild_seconds : float or ndarray
        s in the cycle in which the devices wait for data, and in which caches are built or rebuilt.
    requests : float or ndarray
        Requests to an object store in the cycle.

    Raises
    ------
    CourseError
        For inputs out of range, missing prices, and more waiting than the cycle is long.

    Examples
    --------
    >>> prices = Prices(per_gb_month=0.02, per_device_hour=3.0)
    >>> plan = cycle_cost(prices=prices, stored_bytes=1e12, cycle_seconds=MONTH_SECONDS,
    ...                   devices=4, waiting_seconds=36_000)
    >>> plan.storage_cost, plan.waiting_cost, plan.binding
    (20.0, 120.0, 'waiting devices')
    """
    stored = not_negative("The stored bytes", stored_bytes)
    cycle = positive("The cycle", cycle_seconds)
    machines = count("The number of devices", devices)
    waiting = not_negative("The waiting time", waiting_seconds)
    rebuild = not_negative("The time to rebuild", rebuild_seconds)
    asked = count("The number of requests", requests, least=0)
    idle = waiting + rebuild
    refuse_where(
        idle > cycle,
        "Waiting and rebuilding take longer than the cycle",
        found=lambda waited, whole: f"{waited:g} s in a cycle of {whole:g} s",
        of=(idle, cycle),
        next_step="take the same experiment cycle for all of them",
    )
    storage = stored / 1e9 * (cycle / MONTH_SECONDS) * _price(prices.per_gb_month, "GB and month", stored)
    hour = _price(prices.per_device_hour, "device and hour", idle)
    waiting_cost, rebuild_cost = machines * waiting / 3600 * hour, machines * rebuild / 3600 * hour
    request = asked / 1000 * _price(prices.per_thousand_requests, "1,000 requests", asked)
    parts = (storage, waiting_cost, rebuild_cost, request)
    binding, _ = binding_of(
        ("storage", "waiting devices", "rebuild", "requests"), tuple(-part for part in parts)
    )
    return CostPlan(
        binding=binding,
        assumptions=(
            "Every price is the user's own; discounts, traffic and people's time are left out.",
            "A month is 30 days, and what is stored is paid for all through the cycle.",
            "Devices are paid for while they wait and while a cache is rebuilt.",
        ),
        source=_SOURCE,
        prices=prices,
        stored_bytes=stored,
        cycle_seconds=cycle,
        devices=machines,
        waiting_seconds=waiting,
        rebuild_seconds=rebuild,
        requests=asked,
        storage_cost=storage,
        waiting_cost=waiting_cost,
        rebuild_cost=rebuild_cost,
        request_cost=request,
        total_cost=sum(parts),
    )


@dataclass(frozen=True)
class Constraints:
    """What a plan has to do before its price counts; None leaves a constraint out.

    Attributes
    ----------
    samples_per_second : float, optional
        Sustained throughput that training needs at least.
    cold_start_seconds, worst_loss_seconds : float, optional
        Longest cold start, and most progress that a failure may take.
    headroom_ratio : float, optional
        Share of the disk that stays free at the peak.
    """

    samples_per_second: float | None = None
    cold_start_seconds: float | None = None
    worst_loss_seconds: float | None = None
    headroom_ratio: float | None = None

    def __post_init__(self) -> None:
        for name in ("samples_per_second", "cold_start_seconds", "worst_loss_seconds"):
            if getattr(self, name) is not None:
                _one_number(f"The constraint {name}", getattr(self, name), positive)
        if self.headroom_ratio is not None:
            _one_number("The constraint headroom_ratio", self.headroom_ratio, ratio)


@dataclass(frozen=True)
class Offer:
    """A plan that is up for choice.

    Attributes
    ----------
    name : str
    samples_per_second, cold_start_seconds, worst_loss_seconds, peak_bytes, disk_bytes : float
        What it does.
    cost : CostPlan
        What it costs over the cycle.
    """

    name: str
    samples_per_second: float
    cold_start_seconds: float
    worst_loss_seconds: float
    peak_bytes: float
    disk_bytes: float
    cost: CostPlan

    def __post_init__(self) -> None:
        for name in ("samples_per_second", "cold_start_seconds", "worst_loss_seconds", "peak_bytes"):
            _one_number(f"{name} of the offer {self.name!r}", getattr(self, name), not_negative)
        _one_number(f"disk_bytes of the offer {self.name!r}", self.disk_bytes, positive)
        _one_number(f"The cost of the offer {self.name!r}", self.cost.total_cost, not_negative)


@dataclass(frozen=True)
class Choice:
    """The outcome: the cheapest offer that meets all constraints, and why the others fell.

    Attributes
    ----------
    best : Offer or None
        None where no offer meets the constraints.
    met : tuple of Offer
        All that do, the cheapest first.
    refused : dict of str to tuple of str
        The constraints that each other offer misses, a sentence each.
    """

    best: Offer | None
    met: tuple[Offer, ...]
    refused: dict[str, tuple[str, ...]]


def cheapest(offers: Sequence[Offer], constraints: Constraints) -> Choice:
    """Choose among offers: constraints first, then cost over the same cycle.

    Raises
    ------
    CourseError
        For no offers, two of one name, or costs over cycles of different length.
    """
    if not offers:
        raise CourseError("There is nothing to choose from", expected="one offer or more", found="none")
    names = [offer.name for offer in offers]
    if len(set(names)) < len(names):
        raise CourseError("Two offers have one name", found=", ".join(sorted(names)))
    cycles = {offer.cost.cycle_seconds for offer in offers}
    if len(cycles) > 1:
        raise CourseError(
            "Costs are only compared over the same experiment cycle",
            found=" and ".join(f"{cycle:g} s" for cycle in sorted(cycles)),
        )
    missed = {offer.name: tuple(_missed(offer, constraints)) for offer in offers}
    met = sorted(
        (offer for offer in offers if not missed[offer.name]), key=lambda offer: offer.cost.total_cost
    )
    refused = {name: reasons for name, reasons in missed.items() if reasons}
    return Choice(met[0] if met else None, tuple(met), refused)


def _one_number(name: str, value: Any, check: Callable[[str, Any], Number]) -> None:
    if not isinstance(check(name, value), float):
        raise CourseError(f"{name} is an array", expected="one number", next_step="choose among single plans")


def _missed(offer: Offer, constraints: Constraints) -> list[str]:
    reasons = []
    rate, cold = constraints.samples_per_second, constraints.cold_start_seconds
    loss, headroom = constraints.worst_loss_seconds, constraints.headroom_ratio
    if rate is not None and offer.samples_per_second < rate:
        reasons.append(f"{offer.samples_per_second:,.0f} samples/s of the {rate:,.0f} that training needs")
    if cold is not None and offer.cold_start_seconds > cold:
        reasons.append(f"a cold start of {offer.cold_start_seconds:,.0f} s, at most {cold:,.0f} s")
    if loss is not None and offer.worst_loss_seconds > loss:
        reasons.append(f"a loss of up to {offer.worst_loss_seconds:,.0f} s, at most {loss:,.0f} s")
    if headroom is not None and offer.peak_bytes > offer.disk_bytes * (1 - headroom):
        free = 1 - offer.peak_bytes / offer.disk_bytes
        reasons.append(f"{free:.0%} of the disk free at the peak, at least {headroom:.0%}")
    return reasons


def _price(price: float | None, of: str, needed: Any) -> Number:
    """Return a price, 0 where nothing of it is needed; refuse to guess one."""
    if price is not None:
        return not_negative(f"The price per {of}", price)
    if np.any(needed > 0):
        raise CourseError(
            f"The price per {of} is missing",
            expected="your own price",
            next_step="give it, or leave out what it is for",
        )
    return 0.0
