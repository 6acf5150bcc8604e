"""A plan in a sentence, for the head of a page: what is needed, and whether what there is suffices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from course_lib.experiments.plan_kinds import kind_of
from course_lib.experiments.plan_words import STAGES
from course_lib.planning import Plan
from course_lib.planning.rows import formatted, label_of

_FIGURES = {
    "bandwidth": ("bytes_per_second", "remote_bytes_per_second"),
    "cache": ("hit_rate", "warm_seconds", "break_even_epochs"),
    "capacity": ("static_bytes", "peak_bytes", "needed_bytes"),
    "metadata": ("open_seconds", "shards_packed", "shard_open_seconds"),
    "layout": ("start_gain", "rate_gain", "synthetic_share"),
    "objects": ("requests_per_second", "bytes_per_second"),
    "checkpoint": ("average_bytes_per_second", "burst_bytes_per_second", "worst_loss_seconds"),
    "interval": ("computing_seconds", "worst_loss_seconds"),
    "cost": ("storage_cost", "waiting_cost", "rebuild_cost", "request_cost", "total_cost"),
    "mlperf": ("smallest_samples", "smallest_bytes", "needed_bytes_per_second"),
}


def verdict_of(plan: Plan) -> str:
    """Return the finding of a plan in one or two sentences; of a plan over arrays, ranges of its figures.

    Examples
    --------
    >>> from course_lib.planning import read_bandwidth
    >>> verdict_of(read_bandwidth(batches_per_second=4, batch_size=128, bytes_per_sample=100e3))
    'Training reads 51.2 MB/s when nothing is cached. No bandwidth was given to compare with.'
    """
    kind = kind_of(plan).name
    values = {field.name: getattr(plan, field.name) for field in fields(plan)}
    if any(isinstance(value, np.ndarray) for value in values.values()):
        figures = (f"{label_of(name)} {formatted(name, values[name])}" for name in _FIGURES[kind])
        return f"{'; '.join(figures)}."
    return _SENTENCES[kind](plan, {name: formatted(name, value) for name, value in values.items()})


_Shown = dict[str, str | None]


def _bandwidth(plan: Any, shown: _Shown) -> str:
    cold, remote = shown["cold_bytes_per_second"], shown["remote_bytes_per_second"]
    there, hits = shown["available_bytes_per_second"], shown["hit_rate"]
    if there is None:
        mean = f", and {remote} of it from the storage at a hit rate of {hits}" if plan.hit_rate else ""
        return f"Training reads {cold} when nothing is cached{mean}. No bandwidth was given to compare with."
    if plan.enough_cold:
        return f"{there} are enough for the {cold} that training reads, even when nothing is cached."
    if plan.enough:
        return (
            f"{there} are enough for the {remote} that are read on average at a hit rate of {hits}, not for "
            f"the {cold} of a cold start."
        )
    return f"{there} are not enough: training reads {remote} from the storage."


def _cache(plan: Any, shown: _Shown) -> str:
    pays = "pays" if plan.pays else "does not pay"
    return (
        f"Over {shown['epochs']} epochs the cache {pays}: they take {shown['seconds_with_cache']} with it, "
        f"{shown['seconds_without_cache']} without. The first epoch takes {shown['cold_seconds']}."
    )


def _capacity(plan: Any, shown: _Shown) -> str:
    fullest = max(plan.timeline, key=lambda stage: stage.total_bytes).name
    text = (
        f"{shown['static_bytes']} at rest, {shown['peak_bytes']} {STAGES[fullest]}; with a reserve of "
        f"{shown['reserve_ratio']} that is {shown['needed_bytes']}"
    )
    if plan.enough is None:
        return f"{text}. No disk was given to compare with."
    local = f" and {shown['local_disk_bytes']} of local disks" if plan.local_disk_bytes is not None else ""
    there = f"{shown['disk_bytes'] or 'no limit on persistent storage'}{local}"
    return f"{text}. There are {there}: {'enough' if plan.enough else 'not enough'}."


def _metadata(plan: Any, shown: _Shown) -> str:
    return (
        f"To open {shown['files']} files once takes {shown['open_seconds']}; the same samples in "
        f"{shown['shards_packed']} shards, {shown['shard_open_seconds']}. No byte of content is in "
        "these times."
    )


def _layout(plan: Any, shown: _Shown) -> str:
    return (
        f"The first batch comes {shown['start_gain']} as soon and the steady rate is {shown['rate_gain']} as "
        f"high: {shown['synthetic_share']} of what synthetic input reaches."
    )


def _objects(plan: Any, shown: _Shown) -> str:
    return f"{shown['requests_per_second']} bring in {shown['bytes_per_second']}."


def _checkpoint(plan: Any, shown: _Shown) -> str:
    saving = (
        f"Saving {shown['bytes']} every {shown['interval_seconds']} writes "
        f"{shown['average_bytes_per_second']} on average, but {shown['burst_bytes_per_second']} for the "
        f"{shown['save_seconds']} of a save; a failure takes up to {shown['worst_loss_seconds']} of training"
        f", {_saves(plan, shown)}"
    )
    if not plan.reading_slowed:
        return f"{saving}."
    return (
        f"{saving}. During a save {shown['reading_left_bytes_per_second']} are left for the "
        f"{shown['reading_bytes_per_second']} that training reads."
    )


def _interval(plan: Any, shown: _Shown) -> str:
    return (
        f"Save after {shown['computing_seconds']} of computing; a failure then takes up to "
        f"{shown['worst_loss_seconds']} of training, {_saves(plan, shown)}."
    )


def _saves(plan: Any, shown: _Shown) -> str:
    """Return under which condition on saves a loss holds."""
    if not plan.failed_saves:
        return "if every save succeeds"
    return f"with failed saves before it: {shown['failed_saves']}"


def _cost(plan: Any, shown: _Shown) -> str:
    return f"{shown['total_cost']} over {shown['cycle_seconds']}, in the currency of the prices given."


def _choice(plan: Any, shown: _Shown) -> str:
    met = f"{len(plan.met)} of {len(plan.offers)} plans meet all constraints"
    if not plan.met:
        return f"{met}."
    if not plan.cheapest:
        return f"{met}: {', '.join(plan.met)}. Not priced yet: {', '.join(plan.unpriced)}."
    return (
        f"{met}; the cheapest is {plan.cheapest} with {shown['cheapest_cost']} over "
        f"{shown['cycle_seconds']}, in the currency of the prices given."
    )


def _mlperf(plan: Any, shown: _Shown) -> str:
    return (
        f"The smallest data set for {plan.workload} has {shown['smallest_samples']} samples, "
        f"{shown['smallest_bytes']}; to pass, {shown['accelerators']} accelerators have to read "
        f"{shown['needed_bytes_per_second']} together."
    )


_SENTENCES: dict[str, Callable[[Any, _Shown], str]] = {
    "bandwidth": _bandwidth,
    "cache": _cache,
    "capacity": _capacity,
    "metadata": _metadata,
    "layout": _layout,
    "objects": _objects,
    "checkpoint": _checkpoint,
    "interval": _interval,
    "cost": _cost,
    "choice": _choice,
    "mlperf": _mlperf,
}
