"""The cheapest of several storage plans: constraints first, then cost over one experiment cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any

from course_lib.errors import CourseError
from course_lib.planning.core import Plan, count, not_negative, positive
from course_lib.planning.cost import Choice, Constraints, CostPlan, Offer, Prices, cheapest, cycle_cost

_SOURCE = (
    "plans that miss a constraint are dropped; of the rest, the one with the lowest sum of storage, waiting, "
    "rebuilds and requests over the cycle"
)


@dataclass(frozen=True)
class StorageOffer:
    """One storage plan that is up for choice, as far as its price and the constraints need it.

    Attributes
    ----------
    name : str
        As people call it.
    storage : str
        Its kind of storage, by which its price is found.
    samples_per_second : float
        Sustained throughput.
    cold_start_seconds, worst_loss_seconds : float
        A cold start, and the most progress that a failure takes.
    peak_bytes, disk_bytes : float
        Space at the fullest stage, and the space there is.
    stored_bytes : float
        B that are paid for all through the cycle.
    waiting_seconds, rebuild_seconds : float
        Time in the cycle in which the devices wait for data, and in which caches are built or rebuilt.
    requests : float
        Requests to an object store in the cycle.
    """

    name: str
    storage: str
    samples_per_second: float
    cold_start_seconds: float
    worst_loss_seconds: float
    peak_bytes: float
    disk_bytes: float
    stored_bytes: float
    waiting_seconds: float = 0.0
    rebuild_seconds: float = 0.0
    requests: float = 0.0


@dataclass(frozen=True)
class ChoicePlan(Plan):
    """Which of several storage plans to take.

    Attributes
    ----------
    offers : tuple of StorageOffer
        In the order given.
    cycle_seconds, devices : float
        The experiment cycle that all are compared over, and the devices that wait.
    gb_month_prices : dict of str to float or None
        The user's price of 10^9 B for 30 days, by kind of storage.
    device_hour_price, thousand_requests_price : float or None
        The user's prices of a device for an hour and of 1,000 requests; None where none was given.
    constraints : Constraints
        What every plan has to do.
    cheapest : str
        The name of the cheapest offer that meets all constraints; "" where none does, or a price is missing.
    cheapest_cost : float or None
        What it costs over the cycle.
    met : tuple of str
        Names of the offers that meet all constraints; the cheapest first where all prices are given.
    refused : dict of str to tuple of str
        The constraints that each other offer misses, a sentence each.
    unpriced : tuple of str
        The prices that are needed and were not given.
    costs : dict of str to dict of str to float
        Of each offer, cost by what it is paid for and in all; empty where a price is missing.
    """

    offers: tuple[StorageOffer, ...]
    cycle_seconds: float
    devices: float
    gb_month_prices: dict[str, float | None]
    device_hour_price: float | None
    thousand_requests_price: float | None
    constraints: Constraints
    cheapest: str
    cheapest_cost: float | None
    met: tuple[str, ...]
    refused: dict[str, tuple[str, ...]]
    unpriced: tuple[str, ...]
    costs: dict[str, dict[str, float]]


def choice_plan(
    *,
    offers: Sequence[StorageOffer | Mapping[str, Any]],
    cycle_seconds: Any,
    devices: Any = 1,
    gb_month_prices: Mapping[str, Any] | None = None,
    device_hour_price: Any = None,
    thousand_requests_price: Any = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
) -> ChoicePlan:
    """Choose the cheapest storage plan that meets all constraints.

    Parameters
    ----------
    offers : sequence of StorageOffer or of mappings with its fields
        The plans, of different names.
    cycle_seconds, devices : float
        s of the experiment cycle, and compute devices that are paid for while they wait.
    gb_month_prices : mapping of str to float, optional
        The user's own price of 10^9 B for 30 days for each kind of storage; 0 is a price.
    device_hour_price, thousand_requests_price : float, optional
        The user's own, likewise.
    constraints : Constraints or mapping with its fields, optional
        What counts before the price.

    Returns
    -------
    ChoicePlan
        ``binding`` is the largest part of the cheapest plan's cost, "constraints" where no plan meets them,
        or "prices" where one is missing.

    Raises
    ------
    CourseError
        For no offers, two of one name, unknown or missing fields, and values out of range.

    Examples
    --------
    >>> share = dict(samples_per_second=900, cold_start_seconds=60, worst_loss_seconds=600,
    ...              peak_bytes=6e11, disk_bytes=1e12, stored_bytes=5e11)
    >>> plan = choice_plan(offers=[dict(share, name="slow", storage="ordinary", waiting_seconds=36_000),
    ...                            dict(share, name="fast", storage="fast")],
    ...                    cycle_seconds=30 * 86_400, gb_month_prices={"ordinary": 0.05, "fast": 0.1},
    ...                    device_hour_price=3)
    >>> plan.cheapest, plan.cheapest_cost, plan.costs["slow"]["total_cost"]
    ('fast', 50.0, 55.0)
    """
    given = tuple(_as(StorageOffer, offer, "An offer") for offer in _listed(offers))
    needs = Constraints() if constraints is None else _as(Constraints, constraints, "The constraints")
    cycle = float(positive("The cycle", cycle_seconds))
    machines = float(count("The number of devices", devices))
    prices = _prices_by_kind(gb_month_prices)
    hour = _price("The price of a device and hour", device_hour_price)
    thousand = _price("The price of 1,000 requests", thousand_requests_price)
    unpriced = _unpriced(given, prices, hour, thousand)
    costs = {
        offer.name: cycle_cost(
            # What has no price yet costs nothing here, and no sum is shown as long as that is so.
            prices=Prices(prices.get(offer.storage) or 0.0, hour or 0.0, thousand or 0.0),
            stored_bytes=offer.stored_bytes,
            cycle_seconds=cycle,
            devices=machines,
            waiting_seconds=offer.waiting_seconds,
            rebuild_seconds=offer.rebuild_seconds,
            requests=offer.requests,
        )
        for offer in given
    }
    choice = cheapest([_offered(offer, costs[offer.name]) for offer in given], needs)
    best = None if unpriced else choice.best
    met = tuple(offer.name for offer in choice.met)
    return ChoicePlan(
        binding=_binding(choice, best),
        assumptions=(
            "Every price is the user's own; discounts, traffic and people's time are left out.",
            "A month is 30 days, and what is stored is paid for all through the cycle.",
            "All plans are compared over the same cycle, and what each does is taken as it was given.",
        ),
        source=_SOURCE,
        offers=given,
        cycle_seconds=cycle,
        devices=machines,
        gb_month_prices=prices,
        device_hour_price=hour,
        thousand_requests_price=thousand,
        constraints=needs,
        cheapest=best.name if best else "",
        cheapest_cost=float(best.cost.total_cost) if best else None,
        met=tuple(offer.name for offer in given if offer.name in met) if unpriced else met,
        refused=choice.refused,
        unpriced=unpriced,
        costs={} if unpriced else {name: _parts(cost) for name, cost in costs.items()},
    )


def _binding(choice: Choice, best: Offer | None) -> str:
    if not choice.met:
        return "constraints"
    return str(best.cost.binding) if best else "prices"


def _parts(cost: CostPlan) -> dict[str, float]:
    names = ("storage_cost", "waiting_cost", "rebuild_cost", "request_cost", "total_cost")
    return {name: float(getattr(cost, name)) for name in names}


def _offered(offer: StorageOffer, cost: CostPlan) -> Offer:
    shared = (field.name for field in fields(Offer) if field.name != "cost")
    return Offer(**{name: getattr(offer, name) for name in shared}, cost=cost)


def _listed(offers: Any) -> Sequence[Any]:
    if isinstance(offers, (str, Mapping)) or not isinstance(offers, Sequence):
        raise CourseError("The offers are no list", expected="a list of offers", found=type(offers).__name__)
    if not offers:
        raise CourseError("There is nothing to choose from", expected="one offer or more", found="none")
    return offers


def _as(kind: type[Any], value: Any, what: str) -> Any:
    """Return a value as one of ``kind``, built from its fields by name where it is a mapping."""
    if isinstance(value, kind):
        return _checked(value)
    names = {field.name: field for field in fields(kind)}
    if not isinstance(value, Mapping):
        raise CourseError(f"{what} is not known", expected=", ".join(names), found=repr(value))
    named = f"{what} ({value['name']!r})" if "name" in value else what
    if unknown := [str(name) for name in value if name not in names]:
        raise CourseError(
            f"{named}: there are fields that are not known",
            expected=", ".join(names),
            found=", ".join(unknown),
        )
    needed = [name for name, field in names.items() if field.default is MISSING]
    if missing := [name for name in needed if value.get(name) is None]:
        raise CourseError(f"{named} is not complete", expected=", ".join(needed), found=f"no {missing[0]}")
    return _checked(kind(**{name: one for name, one in value.items() if one is not None}))


def _checked(value: Any) -> Any:
    """Return an offer whose names are texts; all its figures are checked where they are used."""
    if isinstance(value, StorageOffer):
        for name in ("name", "storage"):
            text = getattr(value, name)
            if not isinstance(text, str) or not text.strip():
                raise CourseError(f"The {name} of an offer is no text", expected="a name", found=repr(text))
    return value


def _prices_by_kind(prices: Any) -> dict[str, float | None]:
    if prices is None:
        return {}
    if not isinstance(prices, Mapping):
        raise CourseError(
            "The prices of storage are not known", expected="a price by kind of storage", found=repr(prices)
        )
    return {str(kind): _price(f"The price of {kind} storage", price) for kind, price in prices.items()}


def _price(name: str, price: Any) -> float | None:
    return None if price is None else float(not_negative(name, price))


def _unpriced(
    offers: Sequence[StorageOffer], prices: Mapping[str, float | None], hour: float | None, thousand: Any
) -> tuple[str, ...]:
    """Return the prices that are needed for a sum and were not given."""
    kinds = dict.fromkeys(offer.storage for offer in offers if prices.get(offer.storage) is None)
    missing = [f"GB and month of {kind} storage" for kind in kinds]
    if hour is None and any(offer.waiting_seconds or offer.rebuild_seconds for offer in offers):
        missing.append("device and hour")
    if thousand is None and any(offer.requests for offer in offers):
        missing.append("1,000 requests")
    return tuple(missing)
