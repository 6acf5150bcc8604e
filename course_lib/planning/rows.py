"""A plan's fields as names and texts for a table; the unit follows from a field's name."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.units import format_bytes, format_rate, format_seconds

_NEVER = ("seconds", "epochs")
_SHARES = re.compile(r"(^|_)(rate|ratio|share|overhead|utilisation|fraction)$")
_DURATION = re.compile(r"(^|_)seconds($|_(?!.*per_second))")
_TIMES_AS_MUCH = re.compile(r"(^|_)gain$")
_COUNTED = re.compile(r"(?:^|_)([a-z]+)_per_second(?:_|$)")


def label_of(field_name: str) -> str:
    """Return a field's name in words, without the unit that stands beside the value.

    Examples
    --------
    >>> label_of("local_bytes_per_second"), label_of("fill_seconds"), label_of("bytes_per_sample")
    ('local rate', 'time to fill', 'bytes per sample')
    """
    name = field_name
    if name in _LABELS:
        return _LABELS[name]
    name = name.replace("bytes_per_second", "rate").replace("_per_second", "")
    name = re.sub("^seconds_per", "time_per", name)
    return re.sub("_(bytes|seconds)(?=_|$)", "", name).replace("_", " ")


_LABELS = {
    "bytes_per_second": "bytes read",
    "cold_bytes_per_second": "read from there at a cold start",
    "hit_rate": "hit rate (by bytes)",
    "fill_seconds": "time to fill",
    "rebuild_seconds": "time to rebuild",
    "cold_seconds": "first epoch, cold",
    "warm_seconds": "epoch with a filled cache",
    "uncached_seconds": "epoch without a cache",
    "break_even_epochs": "epochs to break even",
    "static_bytes": "total at rest",
    "local_bytes": "local caches",
    "left_bytes": "left at the peak",
    "needed_bytes": "peak with the reserve",
    "seconds_with_cache": "all epochs with the cache",
    "seconds_without_cache": "all epochs without it",
    "shard_bytes": "bytes of a shard",
    "enough_cold": "is it enough at a cold start?",
    "bytes": "bytes of a checkpoint",
    "raw_bytes": "raw data",
    "processed_bytes": "processed data",
    "download_bytes": "downloads",
    "scratch_bytes": "scratch space",
    "checkpoint_bytes": "one checkpoint",
    "reserve_ratio": "reserve",
    "save_seconds": "time of a save",
    "save_share": "share of the time spent saving",
    "prepare_seconds": "time to prepare",
    "reading_bytes_per_second": "training reads",
    "reading_left_bytes_per_second": "left for training reads",
    "in_flight": "requests in flight",
    "in_flight_bytes": "memory of requests in flight",
    "bandwidth_bytes_per_second": "bandwidth",
    "smallest_bytes": "smallest data set",
    "by_steps_samples": "samples by the rule of 500 steps",
    "by_memory_samples": "samples by the rule of memory",
    "needed_ratio": "needed utilisation",
    "stored_bytes": "stored data",
    "waiting_seconds": "time that devices wait",
    "remote_bytes_per_second": "read from the remote side",
    "available_bytes_per_second": "bandwidth there is",
    "served_samples_per_second": "samples that reading allows",
    "samples_per_second": "samples wanted",
    "batches_per_second": "batches of each consumer",
    "enough": "is it enough?",
    "persistent_static_bytes": "persistent storage at rest",
    "persistent_peak_bytes": "persistent storage at its fullest",
    "disk_bytes": "disk there is",
    "local_disk_bytes": "local disks there are",
    "shared_cache": "one cache for all jobs",
    "failed_attempts": "part files of failed saves",
    "average_bytes_per_second": "average write rate",
    "burst_bytes_per_second": "write rate while saving",
    "worst_loss_seconds": "most training that a failure takes",
    "reading_slowed": "reading slowed by a save?",
    "failed_saves": "saves that fail in a row",
    "interval_seconds": "from the start of a save to the next",
    "mean_seconds_between_failures": "mean time between failures",
    "bearable_loss_seconds": "bearable loss",
    "young_seconds": "computing between saves, Young 1974",
    "daly_seconds": "computing between saves, Daly 2006",
    "exact_seconds": "computing between saves, exactly",
    "loss_limit_seconds": "computing between saves, longest by loss",
    "computing_seconds": "computing between saves, to take",
    "device_hour_price": "price of a device for an hour",
    "thousand_requests_price": "price of 1,000 requests",
    "cycle_seconds": "experiment cycle",
    "cheapest": "cheapest plan",
    "cheapest_cost": "its cost over the cycle",
}


def dimension_of(field_name: str) -> str:
    """Return what a field's value is measured in, as `course_lib.units` calls it.

    Examples
    --------
    >>> dimension_of("disk_bytes"), dimension_of("save_seconds"), dimension_of("server_operations_per_second")
    ('bytes', 'seconds', '1/s')
    """
    if field_name.endswith("bytes_per_second") or field_name.startswith("bytes_per_second_"):
        return "bytes/s"
    if field_name.endswith("bytes") or field_name.startswith("bytes_per_"):
        return "bytes"
    if _DURATION.search(field_name):
        return "seconds"
    if _SHARES.search(field_name):
        return "ratio"
    return "1/s" if _COUNTED.search(field_name) else "number"


def formatted(field_name: str, value: Any) -> str | None:
    """Return a field's value as text, or None for one that was not given or is no figure.

    Parameters
    ----------
    field_name : str
        Its end names the unit: ``_bytes``, ``_seconds``, ``_per_second``, ``_rate``, ``_ratio`` ...
    value : object
        A number, a truth, a phrase, or an array of them, which shows its range or its different phrases.

    Examples
    --------
    >>> formatted("remote_bytes_per_second", 51.2e6), formatted("hit_rate", 0.75)
    ('51.2 MB/s', '75%')
    """
    if isinstance(value, np.ndarray):
        return _of_array(field_name, value)
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if not isinstance(value, (int, float)):
        return None
    if math.isinf(value):
        return "never" if field_name.endswith(_NEVER) else "no limit"
    text = _printer_of(field_name)(abs(value))
    return f"-{text}" if value < 0 else text


def _of_array(field_name: str, values: np.ndarray[Any, Any]) -> str | None:
    if not values.size:
        return None
    if values.dtype.kind in "US":
        return ", ".join(np.unique(values).tolist())
    if values.dtype.kind == "b":
        return f"yes in {np.count_nonzero(values):,} of {values.size:,}"
    low, high = (formatted(field_name, float(edge)) for edge in (values.min(), values.max()))
    return low if low == high else f"{low} to {high}"


def _printer_of(name: str) -> Callable[[float], str]:
    if _TIMES_AS_MUCH.search(name):
        return lambda value: f"{value:.3g}x"
    printers = {"bytes/s": format_rate, "bytes": format_bytes, "seconds": format_seconds, "ratio": _share}
    dimension = dimension_of(name)
    if dimension in printers:
        return printers[dimension]
    unit = f" {counted[1]}/s" if (counted := _COUNTED.search(name)) else ""
    return lambda value: f"{_number(value)}{unit}"


def _share(value: float) -> str:
    return f"{value:.4g}" if value > 1 else f"{value * 100:.4g}%"


def _number(value: float) -> str:
    if value == math.floor(value) and value < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.4g}"
