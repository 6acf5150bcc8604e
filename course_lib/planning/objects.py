"""Requests to an object store: what a round trip costs, and which limit is met first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.planning.core import (
    Number,
    Plan,
    binding_of,
    broadcasting,
    count,
    lowest_of,
    positive,
    refuse_where,
    rounded_down,
    rounded_up,
)

_NO_LIMIT = float("inf")
_SOURCE = (
    "requests/s = lowest of: requests in flight / time per request, requests/s per prefix x prefixes, "
    "bandwidth / bytes per request"
)


@dataclass(frozen=True)
class ObjectPlan(Plan):
    """Reading objects, or ranges of them, side by side.

    Attributes
    ----------
    request_bytes : float or ndarray
        Payload of one request: the whole object, or a range of it.
    requests_per_object : float or ndarray
        Ranged requests that one object takes; 1 where it is fetched whole.
    in_flight : float or ndarray
        Requests side by side after the limit on memory.
    in_flight_bytes : float or ndarray
        Payload that they hold in memory at once.
    serial_requests_per_second, serial_bytes_per_second : float or ndarray
        One request after another: the round trip is waited for each time, and the other limits hold, too.
    requests_per_second, bytes_per_second, objects_per_second : float or ndarray
        What the lowest limit lets through.
    """

    round_trip_seconds: Number
    object_bytes: Number
    concurrency: Number
    bandwidth_bytes_per_second: Number
    requests_per_second_per_prefix: Number
    prefixes: Number
    memory_limit_bytes: Number
    range_bytes: Number | None
    request_bytes: Number
    requests_per_object: Number
    in_flight: Number
    in_flight_bytes: Number
    serial_requests_per_second: Number
    serial_bytes_per_second: Number
    requests_per_second: Number
    bytes_per_second: Number
    objects_per_second: Number


@broadcasting
def object_plan(
    *,
    round_trip_seconds: Any,
    object_bytes: Any,
    concurrency: Any = 1,
    bandwidth_bytes_per_second: Any = None,
    requests_per_second_per_prefix: Any = None,
    prefixes: Any = 1,
    memory_limit_bytes: Any = None,
    range_bytes: Any = None,
) -> ObjectPlan:
    """Plan requests to an object store.

    Parameters
    ----------
    round_trip_seconds : float or ndarray
        s from a request to its answer, without the transfer of the payload.
    object_bytes : float or ndarray
        Mean B of an object.
    concurrency : float or ndarray
        Requests that are kept in flight.
    bandwidth_bytes_per_second : float or ndarray, optional
        B/s that the network carries.
    requests_per_second_per_prefix, prefixes : float or ndarray
        Most requests a second of one prefix, and the number of prefixes over which objects are spread.
    memory_limit_bytes : float or ndarray, optional
        B that requests in flight may hold; it lowers the concurrency to whole requests.
    range_bytes : float or ndarray, optional
        B of one ranged read; objects are fetched whole without it.

    Returns
    -------
    ObjectPlan
        ``binding`` is "round trips", "memory in flight", "request limit" or "bandwidth".

    Raises
    ------
    CourseError
        For inputs out of range, a range larger than the object, and memory too small for one request.

    Examples
    --------
    >>> plan = object_plan(round_trip_seconds=0.02, object_bytes=10e3)
    >>> plan.requests_per_second, plan.bytes_per_second
    (50.0, 500000.0)
    """
    trip = positive("The round trip", round_trip_seconds)
    size = positive("The bytes per object", object_bytes)
    wanted = count("The concurrency", concurrency)
    spread = count("The number of prefixes", prefixes)
    link = _limit("The bandwidth", bandwidth_bytes_per_second)
    per_prefix = _limit("The request limit", requests_per_second_per_prefix)
    memory = _limit("The memory for requests in flight", memory_limit_bytes)
    payload = size if range_bytes is None else positive("The bytes per range", range_bytes)
    refuse_where(
        payload > size,
        "A range is larger than the object",
        found=lambda range_, whole: f"{range_:g} B of {whole:g} B",
        of=(payload, size),
        next_step="read the object whole, without a range",
    )
    refuse_where(
        memory < payload,
        "The memory does not hold one request",
        found=lambda there, needed: f"{there:g} B for {needed:g} B",
        of=(memory, payload),
        next_step="raise the limit, or read smaller ranges",
    )
    pieces = rounded_up(size / payload)
    # Without a limit nothing is to be rounded.
    fitting = _NO_LIMIT if memory_limit_bytes is None else rounded_down(memory / payload)
    held, in_flight = binding_of(("round trips", "memory in flight"), (wanted, fitting))
    # The last range of an object is shorter than the others.
    mean = size / pieces
    per_store, per_link = per_prefix * spread, link / mean
    limits = (in_flight / trip, per_store, per_link)
    serial = lowest_of(1 / trip, lowest_of(per_store, per_link))
    place, requests = binding_of(("waiting", "request limit", "bandwidth"), limits)
    return ObjectPlan(
        binding=_named(place, held),
        assumptions=(
            "Every request takes one round trip; the transfer itself is counted by the bandwidth alone, also "
            "where requests come one after another.",
            "Requests are spread evenly over the prefixes; nothing fails, and nothing is tried again.",
            "Concurrency is no speed control without an end: server, network and memory have limits.",
            "Decoding, retries and hot spots are not in it, and it promises no training time.",
        ),
        source=_SOURCE,
        round_trip_seconds=trip,
        object_bytes=size,
        concurrency=wanted,
        bandwidth_bytes_per_second=link,
        requests_per_second_per_prefix=per_prefix,
        prefixes=spread,
        memory_limit_bytes=memory,
        range_bytes=None if range_bytes is None else payload,
        request_bytes=payload,
        requests_per_object=pieces,
        in_flight=in_flight,
        in_flight_bytes=in_flight * payload,
        serial_requests_per_second=serial,
        serial_bytes_per_second=serial * mean,
        requests_per_second=requests,
        bytes_per_second=requests * mean,
        objects_per_second=requests / pieces,
    )


def _limit(name: str, value: Any) -> Number:
    return _NO_LIMIT if value is None else positive(name, value)


def _named(place: Any, held: Any) -> Any:
    """Put the reason for the concurrency where waiting binds."""
    if isinstance(place, str) and isinstance(held, str):
        return held if place == "waiting" else place
    return np.where(np.asarray(place) == "waiting", held, place)
