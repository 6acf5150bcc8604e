"""Lesson 09: where bytes are not what limits: operations on files, and requests to an object store."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from course_lib.files import cannot_write
from course_lib.planning import MetadataPlan, ObjectPlan
from course_lib.stores import MetadataResult, measure_metadata_watched
from course_lib.widgets.amounts import shown_amount
from course_lib.widgets.panels.metadata import measured_note
from course_lib.widgets.panels.planning_bandwidth import GIGABIT
from course_lib.widgets.panels.planning_views import Figure, From, plan_view, rate_bars, time_bar
from course_lib.widgets.plan_panel import PlanPanel
from course_lib.widgets.quantity import QuantityControl
from course_lib.widgets.svg import Bar, format_number
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, bar_view

_OPENED = 300


def metadata_view(plan: MetadataPlan, measured: MetadataResult | None = None) -> View:
    """Return the time that looking up and opening takes, a file for each sample against shards.

    ``measured`` is the result that the plan's time of an operation was taken from.
    """
    times = [
        (text("planning.scan_files"), float(plan.scan_seconds)),
        (text("planning.open_files"), float(plan.open_seconds)),
        (text("planning.scan_shards"), float(plan.shard_scan_seconds)),
        (text("planning.open_shards"), float(plan.shard_open_seconds)),
    ]
    title = text(
        "planning.metadata_title",
        files=float(plan.files),
        opening=shown_amount(float(plan.open_seconds), "seconds"),
        shards=float(plan.shards_packed),
        packed=shown_amount(float(plan.shard_open_seconds), "seconds"),
    )
    server = plan.server_operations_per_second
    timed = From.MEASURED if measured else From.SET
    figures = [
        Figure(text("planning.files"), float(plan.files), "number", From.SET),
        Figure(text("planning.operation"), float(plan.seconds_per_operation), "seconds", timed),
        Figure(text("planning.at_once"), float(plan.concurrency), "number", From.SET),
        Figure(text("planning.sample_bytes"), float(plan.bytes_per_sample), "bytes", From.ASSUMED),
        Figure(text("planning.shard_bytes"), float(plan.shard_bytes), "bytes", From.ASSUMED),
        *([] if server is None else [Figure(text("planning.server"), float(server), "1/s", From.ASSUMED)]),
        Figure(text("planning.operations"), float(plan.operations_per_second), "1/s"),
        Figure(text("planning.shards"), float(plan.shards_packed), "number"),
        *(Figure(name, seconds, "seconds", key=True) for name, seconds in times),
    ]
    return plan_view(
        plan,
        title,
        figures,
        [time_bar(name, seconds) for name, seconds in times],
        axis=text("planning.minutes_axis"),
        summary=text("planning.metadata_summary"),
        note=text("planning.metadata_source", measured=measured_note(measured)) if measured else "",
    )


def measured_opens_view(place: Path, seconds_per_operation: float) -> View:
    """Open files of 4 KiB in a new folder under ``place`` and set the estimate beside the time it took.

    Raises
    ------
    CourseError
        When the folder cannot be written to, or the storage does not answer.
    """
    with _new_folder(place) as folder:
        result = measure_metadata_watched(
            folder, files=_OPENED, bytes_per_file=4096, directories=1, repeats=3
        )
    rates = result["open"]
    estimate, median = _OPENED * seconds_per_operation, _OPENED / rates.median
    shown = {name: shown_amount(seconds, "seconds") for name, seconds in (("at", estimate), ("took", median))}
    bars = [
        Bar(text("planning.estimated"), estimate * 1e3, shown=shown["at"]),
        Bar(
            text("planning.measured"),
            median * 1e3,
            low=1e3 * _OPENED / rates.high,
            high=1e3 * _OPENED / rates.low,
            shown=shown["took"],
        ),
    ]
    return bar_view(
        text(
            "planning.opens_title",
            files=_OPENED,
            **shown,
            each=shown_amount(1 / rates.median, "seconds"),
            set=shown_amount(seconds_per_operation, "seconds"),
        ),
        bars,
        summary=text("planning.opens_summary"),
        axis=text("planning.ms_axis"),
        label_head=text("planning.what"),
        value_head=text("planning.value"),
        source_note=text("planning.opens_source", measured=measured_note(result)),
        result=result,
    )


@contextmanager
def _new_folder(place: Path) -> Iterator[Path]:
    try:
        place.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=place, prefix="opens-", ignore_cleanup_errors=True)
    except OSError as error:
        raise cannot_write(place, error) from error
    with folder as path:
        yield Path(path)


def metadata_panel(*, server_operations_per_second: float = 4000.0, place: Path | None = None) -> PlanPanel:
    """Return a panel on metadata: how many files, the time of an operation, how many wait at once.

    With a folder as ``place`` it has a button that opens real files there and sets the estimate beside it.
    """

    controls = {
        "files": QuantityControl(
            text("planning.files"), 10_000, 10_000_000, 1_000_000, dimension="number", whole=True
        ),
        "seconds_per_operation": QuantityControl(
            text("planning.operation"), "1 us", "50 ms", "2 ms", dimension="seconds"
        ),
        "concurrency": QuantityControl(text("planning.at_once"), 1, 64, 1, dimension="number", whole=True),
    }
    presets = {
        text("planning.preset_million"): {
            "files": 1_000_000,
            "seconds_per_operation": "2 ms",
            "concurrency": 1,
        },
        text("planning.preset_sixteen"): {
            "files": 1_000_000,
            "seconds_per_operation": "2 ms",
            "concurrency": 16,
        },
        text("planning.preset_laptop"): {
            "files": 60_000,
            "seconds_per_operation": "20 us",
            "concurrency": 4,
        },
    }

    def measure(seconds_per_operation: float, **_: object) -> View:
        assert place is not None
        return measured_opens_view(place, seconds_per_operation)

    actions = {text("planning.measure_opens"): measure} if place is not None else None
    title = text("planning.metadata_panel")
    fixed = {"server_operations_per_second": server_operations_per_second}
    return PlanPanel(
        title, "metadata", controls, metadata_view, fixed=fixed, presets=presets, actions=actions
    )


def object_view(plan: ObjectPlan) -> View:
    """Return the payload that requests bring in, one after another and at once, beside the link."""
    serial, together = float(plan.serial_bytes_per_second), float(plan.bytes_per_second)
    link = float(plan.bandwidth_bytes_per_second)
    words = {
        "requests": format_number(float(plan.requests_per_second)),
        "rate": shown_amount(together, "bytes/s"),
    }
    title = (
        text("planning.object_title", **words, link=shown_amount(link, "bytes/s"))
        if math.isfinite(link)
        else text("planning.object_title_alone", **words)
    )
    rates = [(text("planning.one_by_one"), serial), (text("planning.together"), together)]
    figures = [
        Figure(text("planning.round_trip"), float(plan.round_trip_seconds), "seconds", From.SET),
        Figure(text("planning.object_bytes"), float(plan.object_bytes), "bytes", From.SET),
        Figure(text("planning.in_flight"), float(plan.concurrency), "number", From.SET),
        Figure(text("planning.available"), link, "bytes/s", From.ASSUMED),
        Figure(text("planning.per_prefix"), float(plan.requests_per_second_per_prefix), "1/s", From.ASSUMED),
        Figure(text("planning.requests"), float(plan.requests_per_second), "1/s"),
        *(Figure(name, rate, "bytes/s", key=True) for name, rate in rates),
        Figure(text("planning.in_flight_bytes"), float(plan.in_flight_bytes), "bytes", key=True),
    ]
    bars = rate_bars([*rates, (text("planning.available"), link)])
    return plan_view(
        plan,
        title,
        figures,
        bars,
        axis=text("planning.rate_axis"),
        summary=text("planning.object_summary"),
    )


def object_panel(
    *, bandwidth_bytes_per_second: float = GIGABIT, requests_per_second_per_prefix: float = 3000.0
) -> PlanPanel:
    """Return a panel on requests to an object store: round trip, bytes of an object, requests in flight."""

    controls = {
        "round_trip_seconds": QuantityControl(
            text("planning.round_trip"), "1 ms", "500 ms", "20 ms", dimension="seconds"
        ),
        "object_bytes": QuantityControl(text("planning.object_bytes"), "1 KB", "1 GB", "10 KB"),
        "concurrency": QuantityControl(text("planning.in_flight"), 1, 256, 1, dimension="number", whole=True),
    }
    presets = {
        text("planning.preset_lesson"): {
            "round_trip_seconds": "20 ms",
            "object_bytes": "10 KB",
            "concurrency": 1,
        },
        text("planning.preset_in_flight"): {
            "round_trip_seconds": "20 ms",
            "object_bytes": "10 KB",
            "concurrency": 64,
        },
        text("planning.preset_shards"): {
            "round_trip_seconds": "20 ms",
            "object_bytes": "256 MB",
            "concurrency": 4,
        },
    }
    fixed = {
        "bandwidth_bytes_per_second": bandwidth_bytes_per_second,
        "requests_per_second_per_prefix": requests_per_second_per_prefix,
    }
    title = text("planning.object_panel")
    return PlanPanel(title, "objects", controls, object_view, fixed=fixed, presets=presets)
