"""Lesson 09: checkpoints as bytes, as a burst, and as an interval."""

from __future__ import annotations

import math
from typing import Any

from course_lib.planning import BYTES_PER_PARAMETER, CheckpointPlan, IntervalPlan, checkpoint_bytes
from course_lib.widgets.amounts import shown_amount
from course_lib.widgets.panels.planning_views import Figure, From, plan_view, rate_bars, time_bar
from course_lib.widgets.plan_panel import PlanPanel
from course_lib.widgets.quantity import QuantityControl
from course_lib.widgets.svg import Bar
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, bar_view


def checkpoint_sizes_view(parameters: float) -> View:
    """Return what one model takes on disk, by what is saved of it."""
    sizes = {
        rule: float(checkpoint_bytes(parameters=parameters, bytes_per_parameter=each))
        for rule, each in BYTES_PER_PARAMETER.items()
    }
    low, high = min(sizes.values()), max(sizes.values())
    return bar_view(
        text(
            "planning.sizes_title",
            low=shown_amount(low, "bytes"),
            high=shown_amount(high, "bytes"),
            times=high / low,
        ),
        [_size_bar(rule, size) for rule, size in sizes.items()],
        summary=text("planning.sizes_summary", parameters=parameters),
        axis=text("planning.gb_axis"),
        label_head=text("planning.saved"),
        value_head=text("planning.value"),
        source_note=text("planning.source"),
        result=sizes,
    )


def _size_bar(rule: str, size: float) -> Bar:
    label = text("planning.size_each", each=BYTES_PER_PARAMETER[rule], what=rule.partition(" (")[0])
    return Bar(label, size / 1e9, shown=shown_amount(size, "bytes"))


def burst_view(plan: CheckpointPlan) -> View:
    """Return the average write rate, the burst, and what the burst leaves for training reads."""
    average, burst = float(plan.average_bytes_per_second), float(plan.burst_bytes_per_second)
    reading, link = float(plan.reading_bytes_per_second), float(plan.bandwidth_bytes_per_second)
    left = float(plan.reading_left_bytes_per_second)
    words = {"average": shown_amount(average, "bytes/s"), "burst": shown_amount(burst, "bytes/s")}
    title = (
        text(
            f"planning.saving_{_case(plan)}",
            **words,
            left=shown_amount(left, "bytes/s"),
            reading=shown_amount(reading, "bytes/s"),
        )
        if math.isfinite(left)
        else text("planning.saving_alone", **words)
    )
    rates = [
        (text("planning.average"), average),
        (text("planning.burst"), burst),
        (text("planning.reading_left"), left),
    ]
    figures = [
        Figure(text("planning.checkpoint"), float(plan.bytes), "bytes", From.SET),
        Figure(text("planning.interval"), float(plan.interval_seconds), "seconds", From.SET),
        Figure(text("planning.save"), float(plan.save_seconds), "seconds", From.SET),
        Figure(text("planning.reading"), reading, "bytes/s", From.ASSUMED),
        Figure(text("planning.storage"), link, "bytes/s", From.ASSUMED),
        *(Figure(name, rate, "bytes/s", key=True) for name, rate in rates),
        Figure(text("planning.save_share"), float(plan.save_share), "ratio"),
        Figure(text("planning.failed_saves"), float(plan.failed_saves), "number", From.ASSUMED),
        Figure(text("planning.worst_loss"), float(plan.worst_loss_seconds), "seconds", key=True),
    ]
    bars = rate_bars([*rates, (text("planning.reading"), reading), (text("planning.storage"), link)])
    return plan_view(
        plan,
        title,
        figures,
        bars,
        axis=text("planning.rate_axis"),
        summary=f"{text('planning.burst_summary')} {_loss(plan)}",
    )


def _loss(plan: CheckpointPlan | IntervalPlan) -> str:
    """Return how much progress a failure takes at the most, and under which condition on the saves."""
    loss, failed = shown_amount(float(plan.worst_loss_seconds), "seconds"), int(plan.failed_saves)
    if not failed:
        return text("planning.loss_all_saved", loss=loss)
    return text("planning.loss_some_failed", loss=loss, failed=failed)


def _case(plan: CheckpointPlan) -> str:
    """Return whether a save fits beside reading, slows it, or does not fit by itself."""
    if plan.binding == "save burst":
        return "overrun"
    return "slowed" if plan.reading_slowed else "fits"


def burst_panel(
    *, reading_bytes_per_second: float = 204.8e6, bandwidth_bytes_per_second: float = 500e6
) -> PlanPanel:
    """Return a panel on saving beside reading: bytes of a checkpoint, interval, seconds of a save."""

    controls = {
        "bytes": QuantityControl(text("planning.checkpoint"), "100 MB", "1 TB", "8 GB"),
        "interval_seconds": QuantityControl(
            text("planning.interval"), "1 min", "6 h", "10 min", dimension="seconds"
        ),
        "save_seconds": QuantityControl(text("planning.save"), "1 s", "30 min", "20 s", dimension="seconds"),
    }
    presets = {
        text("planning.preset_lesson"): {
            "bytes": "8 GB",
            "interval_seconds": "10 min",
            "save_seconds": "20 s",
        },
        text("planning.preset_hasty"): {
            "bytes": "8 GB",
            "interval_seconds": "10 min",
            "save_seconds": "10 s",
        },
        text("planning.preset_calm"): {"bytes": "8 GB", "interval_seconds": "10 min", "save_seconds": "40 s"},
        text("planning.preset_eight_billion"): {
            "bytes": "112.4 GB",
            "interval_seconds": "1 h",
            "save_seconds": "8 min",
        },
    }
    fixed = {
        "reading_bytes_per_second": reading_bytes_per_second,
        "bandwidth_bytes_per_second": bandwidth_bytes_per_second,
    }
    title = text("planning.burst_panel")
    return PlanPanel(title, "checkpoint", controls, burst_view, fixed=fixed, presets=presets)


def interval_view(plan: IntervalPlan) -> View:
    """Return the intervals that lose least time in all, and the longest one whose loss is bearable.

    Intervals are computing between saves.
    """
    exact, limit = float(plan.exact_seconds), float(plan.loss_limit_seconds)
    words = {
        "chosen": shown_amount(float(plan.computing_seconds), "seconds"),
        "exact": shown_amount(exact, "seconds"),
    }
    title = (
        text("planning.interval_by_loss", **words)
        if limit < exact
        else text("planning.interval_by_cost", **words)
    )
    intervals = [
        (text("planning.young"), float(plan.young_seconds)),
        (text("planning.daly"), float(plan.daly_seconds)),
        (text("planning.exact"), exact),
        (text("planning.by_loss"), limit),
    ]
    between = float(plan.mean_seconds_between_failures)
    bearable = math.inf if plan.bearable_loss_seconds is None else float(plan.bearable_loss_seconds)
    figures = [
        Figure(text("planning.save"), float(plan.save_seconds), "seconds", From.SET),
        Figure(text("planning.failures"), between, "seconds", From.SET),
        Figure(text("planning.bearable"), bearable, "seconds", From.SET),
        Figure(text("planning.failed_saves"), float(plan.failed_saves), "number", From.ASSUMED),
        *(Figure(name, seconds, "seconds", key=True) for name, seconds in intervals),
    ]
    return plan_view(
        plan,
        title,
        figures,
        [time_bar(name, seconds) for name, seconds in intervals if math.isfinite(seconds)],
        axis=text("planning.interval_axis"),
        summary=f"{text('planning.interval_summary')} {_loss(plan)}",
    )


def interval_panel() -> PlanPanel:
    """Return a panel on how often to save: time of a save, mean time between failures, bearable loss."""
    controls = {
        "save_seconds": QuantityControl(text("planning.save"), "1 s", "1 h", "2 min", dimension="seconds"),
        "mean_seconds_between_failures": QuantityControl(
            text("planning.failures"), "30 min", "1000 h", "24 h", dimension="seconds"
        ),
        "bearable_loss_seconds": QuantityControl(
            text("planning.bearable"), "1 min", "24 h", "2 h", dimension="seconds"
        ),
    }
    presets: dict[str, dict[str, Any]] = {
        text("planning.preset_small_job"): {
            "save_seconds": "20 s",
            "mean_seconds_between_failures": "1000 h",
            "bearable_loss_seconds": "1 h",
        },
        text("planning.preset_large_job"): {
            "save_seconds": "1 min",
            "mean_seconds_between_failures": 11_135,
            "bearable_loss_seconds": "2 h",
        },
        text("planning.preset_strict"): {
            "save_seconds": "2 min",
            "mean_seconds_between_failures": "24 h",
            "bearable_loss_seconds": "12 min",
        },
    }
    title = text("planning.interval_panel")
    return PlanPanel(title, "interval", controls, interval_view, presets=presets)
