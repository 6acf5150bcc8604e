"""A cache in front of slow storage: what it answers, how long it is cold, and when it pays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.planning.core import (
    ONLY_BYTES,
    Number,
    Plan,
    broadcasting,
    choose,
    count,
    highest_of,
    lowest_of,
    not_negative,
    positive,
)

_SOURCE = (
    "hit rate by bytes = min(1, cache / data) from the second epoch on; "
    "time to fill = bytes to fetch / share of the remote rate; "
    "break-even where epochs without the cache take as long as preparing, filling and epochs with it"
)

_ASSUMPTIONS = (
    "Every epoch reads each byte once; a cache that is too small keeps the same share of it (no thrashing).",
    "Remote and local reads overlap; the slower of the two sets the time of an epoch.",
    "Writing into the cache hides behind fetching.",
    "The remote side is shared out evenly over the jobs, all of which start cold and together.",
    "That a cache can be rebuilt does not make it free: the time to rebuild belongs into the budget.",
    ONLY_BYTES,
)


@dataclass(frozen=True)
class CachePlan(Plan):
    """Reading epochs through a cache, from the cold start on.

    Attributes
    ----------
    data_bytes, cache_bytes, jobs, shared : float, ndarray; bool
        Bytes of one epoch; bytes of the cache (of each job, unless shared); jobs that start together.
    remote_bytes_per_second, local_bytes_per_second : float or ndarray
        Rates of the remote side (all jobs together) and of the cache (each job).
    prepare_seconds, epochs : float or ndarray
        Work before a cache can be used; epochs of the comparison.
    hit_rate : float or ndarray
        Share of an epoch's bytes that the filled cache answers; at the cold start it is 0.
    cold_seconds, warm_seconds, uncached_seconds : float or ndarray
        One epoch when nothing is cached yet, when the cache is filled, and without any cache.
    fill_seconds, rebuild_seconds : float or ndarray
        Until the cache is full at the first start; and again when it was lost, with the time to prepare.
    break_even_epochs : float or ndarray
        Epochs from which the cache has paid for its preparation, 1 or more; infinity where it never does.
    seconds_with_cache, seconds_without_cache : float or ndarray
        All epochs, with the time to prepare, and without a cache.
    pays : bool or ndarray
        Whether the epochs with the cache are over sooner.
    local_bytes : float or ndarray
        Local space of all jobs' caches together.
    """

    data_bytes: Number
    cache_bytes: Number
    remote_bytes_per_second: Number
    local_bytes_per_second: Number
    jobs: Number
    shared: bool
    prepare_seconds: Number
    epochs: Number
    hit_rate: Number
    cold_seconds: Number
    warm_seconds: Number
    uncached_seconds: Number
    fill_seconds: Number
    rebuild_seconds: Number
    break_even_epochs: Number
    seconds_with_cache: Number
    seconds_without_cache: Number
    pays: Any
    local_bytes: Number


@broadcasting
def hit_rate_by_bytes(*, cache_bytes: Any, data_bytes: Any) -> Number:
    """Return the share of an epoch's bytes that a filled cache holds, from 0 to 1.

    Parameters
    ----------
    cache_bytes, data_bytes : float or ndarray
        B of the cache, and B that an epoch reads.

    Examples
    --------
    >>> hit_rate_by_bytes(cache_bytes=75e9, data_bytes=100e9)
    0.75
    """
    held = not_negative("The bytes of the cache", cache_bytes)
    return lowest_of(1.0, held / positive("The bytes of an epoch", data_bytes))


@broadcasting
def cache_plan(
    *,
    data_bytes: Any,
    cache_bytes: Any,
    remote_bytes_per_second: Any,
    local_bytes_per_second: Any,
    jobs: Any = 1,
    shared: bool = False,
    prepare_seconds: Any = 0.0,
    epochs: Any = 1,
) -> CachePlan:
    """Plan a cache that keeps what it has fetched, filled by the first epoch.

    Parameters
    ----------
    data_bytes, cache_bytes : float or ndarray
        B that an epoch reads; B that a cache holds: of each job, or of all where ``shared``.
    remote_bytes_per_second : float or ndarray
        B/s of the remote side, shared out evenly over the jobs that start together.
    local_bytes_per_second : float or ndarray
        B/s at which one job reads from its cache.
    jobs : float or ndarray
        Jobs that start together and read the same data.
    shared : bool
        One cache for all: what it keeps is fetched once, not once a job.
    prepare_seconds : float or ndarray
        Seconds of work, beyond the fetching, before a cache can be used: conversion, unpacking.
    epochs : float or ndarray
        Epochs to compare with reading without a cache.

    Returns
    -------
    CachePlan
        ``binding`` names what limits an epoch with a filled cache: "remote share" or "local reads".

    Raises
    ------
    CourseError
        For an input that is negative or not finite, and for a size, rate or number of 0 (a cache of 0 B is
        one that answers nothing).
    """
    data = positive("The bytes of an epoch", data_bytes)
    held = not_negative("The bytes of the cache", cache_bytes)
    remote = positive("The remote bandwidth", remote_bytes_per_second)
    local = positive("The bandwidth of the cache", local_bytes_per_second)
    together = count("The number of jobs", jobs)
    prepare = not_negative("The time to prepare", prepare_seconds)
    number = count("The number of epochs", epochs)
    hits = lowest_of(1.0, held / data)
    share = remote / together
    uncached = data / share
    missing, cached = data * (1 - hits) / share, data * hits / local
    fill = data * hits / (remote if shared else share)
    # While it fills, the cache answers only what other jobs have fetched into it, never faster than it can.
    cold = highest_of(missing + fill, cached)
    warm = highest_of(missing, cached)
    with_cache, without = prepare + cold + (number - 1) * warm, number * uncached
    return CachePlan(
        binding=choose(missing >= cached, "remote share", "local reads"),
        assumptions=_ASSUMPTIONS,
        source=_SOURCE,
        data_bytes=data,
        cache_bytes=held,
        remote_bytes_per_second=remote,
        local_bytes_per_second=local,
        jobs=together,
        shared=shared,
        prepare_seconds=prepare,
        epochs=number,
        hit_rate=hits,
        cold_seconds=cold,
        warm_seconds=warm,
        uncached_seconds=uncached,
        fill_seconds=fill,
        rebuild_seconds=prepare + fill,
        break_even_epochs=_break_even(prepare + cold - uncached, uncached - warm),
        seconds_with_cache=with_cache,
        seconds_without_cache=without,
        pays=with_cache < without,
        local_bytes=held * (1.0 if shared else together),
    )


def _break_even(spent: Number, saved: Number) -> Number:
    """Return 1 + spent / saved, at least 1: ``spent`` is what the first epoch and the preparing cost more."""
    if isinstance(spent, float) and isinstance(saved, float):
        return max(1.0, 1 + spent / saved) if saved > 0 else math.inf
    spent, saved = np.broadcast_arrays(spent, saved)
    epochs = np.full(saved.shape, np.inf)
    np.divide(spent, saved, out=epochs, where=saved > 0)
    return np.maximum(1.0, 1 + epochs)
