"""Lesson 09: what training reads each second, and what a cache changes about it."""

from __future__ import annotations

from course_lib.planning import BandwidthPlan, CachePlan
from course_lib.widgets.amounts import shown_amount
from course_lib.widgets.panels.planning_views import Figure, From, plan_view, rate_bar, time_bar
from course_lib.widgets.plan_panel import PlanPanel
from course_lib.widgets.quantity import QuantityControl
from course_lib.widgets.texts import text
from course_lib.widgets.view import View

GIGABIT = 125e6
"""B/s of a link of 1 Gbit/s, before anything is taken off for protocols."""


def bandwidth_view(plan: BandwidthPlan) -> View:
    """Return what the consumers ask for, warm and cold, beside what the remote side delivers."""
    available = plan.available_bytes_per_second
    remote, cold = float(plan.remote_bytes_per_second), float(plan.cold_bytes_per_second)
    figures = [
        Figure(text("planning.consumers"), float(plan.consumers), "number", From.SET),
        Figure(text("planning.sample_bytes"), float(plan.bytes_per_sample), "bytes", From.SET),
        Figure(text("planning.hit_rate"), float(plan.hit_rate), "ratio", From.SET),
        Figure(text("planning.batches"), float(plan.batches_per_second), "1/s", From.ASSUMED),
        Figure(text("planning.batch"), float(plan.batch_size), "number", From.ASSUMED),
        Figure(text("planning.samples"), float(plan.samples_per_second), "samples/s", key=True),
        Figure(text("planning.cold_rate"), cold, "bytes/s", key=True),
        Figure(text("planning.remote_rate"), remote, "bytes/s", key=True),
    ]
    bars = [
        rate_bar(text("planning.cold_rate"), cold),
        rate_bar(text("planning.remote_rate"), remote),
    ]
    if available is not None:
        name = text("planning.available")
        figures.append(Figure(name, float(available), "bytes/s", From.ASSUMED))
        served = float(plan.served_samples_per_second)
        figures.append(Figure(text("planning.served"), served, "samples/s", key=True))
        bars.append(rate_bar(name, float(available)))
    return plan_view(
        plan,
        _bandwidth_title(plan, remote, cold),
        figures,
        bars,
        axis=text("planning.rate_axis"),
        summary=text("planning.bandwidth_summary"),
    )


def _bandwidth_title(plan: BandwidthPlan, remote: float, cold: float) -> str:
    words = {"remote": shown_amount(remote, "bytes/s"), "cold": shown_amount(cold, "bytes/s")}
    if plan.available_bytes_per_second is None:
        return text("planning.bandwidth_demand", **words)
    words["available"] = shown_amount(float(plan.available_bytes_per_second), "bytes/s")
    if plan.enough_cold:
        return text("planning.bandwidth_enough", cold=words["cold"], available=words["available"])
    if plan.enough:
        return text("planning.bandwidth_warm_only", **words)
    return text("planning.bandwidth_short", remote=words["remote"], available=words["available"])


def bandwidth_panel(
    *, available_bytes_per_second: float = GIGABIT, batches_per_second: float = 4, batch_size: int = 128
) -> PlanPanel:
    """Return a panel on the bandwidth that consumers ask for: consumers, bytes per sample, hit rate."""

    controls = {
        "consumers": QuantityControl(text("planning.consumers"), 1, 64, 4, dimension="number", whole=True),
        "bytes_per_sample": QuantityControl(text("planning.sample_bytes"), "1 KB", "150 MB", "100 KB"),
        "hit_rate": QuantityControl(text("planning.hit_rate"), 0, 1, 0, dimension="ratio"),
    }
    presets = {
        text("planning.preset_lesson"): {"consumers": 4, "bytes_per_sample": "100 KB", "hit_rate": 0},
        text("planning.preset_cached"): {"consumers": 4, "bytes_per_sample": "100 KB", "hit_rate": "75%"},
        text("planning.preset_half"): {"consumers": 4, "bytes_per_sample": "50 KB", "hit_rate": 0},
        text("planning.preset_laptop"): {"consumers": 1, "bytes_per_sample": "100 KB", "hit_rate": 0},
        text("planning.preset_eight"): {"consumers": 8, "bytes_per_sample": "100 KB", "hit_rate": 0},
    }
    fixed = {
        "available_bytes_per_second": available_bytes_per_second,
        "batches_per_second": batches_per_second,
        "batch_size": batch_size,
    }
    title = text("planning.bandwidth_panel")
    return PlanPanel(title, "bandwidth", controls, bandwidth_view, fixed=fixed, presets=presets)


def cache_view(plan: CachePlan) -> View:
    """Return an epoch cold, warm and without a cache, and from how many epochs on the cache pays."""
    cold, warm = float(plan.cold_seconds), float(plan.warm_seconds)
    uncached = float(plan.uncached_seconds)
    with_cache, without = float(plan.seconds_with_cache), float(plan.seconds_without_cache)
    words = {
        "epochs": int(plan.epochs),
        "with_cache": shown_amount(with_cache, "seconds"),
        "without": shown_amount(without, "seconds"),
    }
    title = text("planning.cache_pays", **words) if plan.pays else text("planning.cache_loses", **words)
    epochs = [
        (text("planning.epoch_cold"), cold),
        (text("planning.epoch_warm"), warm),
        (text("planning.epoch_uncached"), uncached),
    ]
    prepare = shown_amount(float(plan.prepare_seconds), "seconds")
    break_even = float(plan.break_even_epochs)
    never = text("planning.never") if break_even == float("inf") else ""
    figures = [
        Figure(text("planning.cache_each"), float(plan.cache_bytes), "bytes", From.SET),
        Figure(text("planning.jobs"), float(plan.jobs), "number", From.SET),
        Figure(text("planning.epochs"), float(plan.epochs), "number", From.SET),
        Figure(text("planning.data"), float(plan.data_bytes), "bytes", From.ASSUMED),
        Figure(text("planning.remote_link"), float(plan.remote_bytes_per_second), "bytes/s", From.ASSUMED),
        Figure(text("planning.local_link"), float(plan.local_bytes_per_second), "bytes/s", From.ASSUMED),
        Figure(text("planning.prepare"), float(plan.prepare_seconds), "seconds", From.ASSUMED),
        Figure(text("planning.hit_rate_warm"), float(plan.hit_rate), "ratio", key=True),
        *(Figure(name, seconds, "seconds", key=True) for name, seconds in epochs),
        Figure(text("planning.rebuild"), float(plan.rebuild_seconds), "seconds", key=True),
        Figure(text("planning.break_even"), break_even, "number", shown=never),
        Figure(text("planning.with_cache"), with_cache, "seconds"),
        Figure(text("planning.without_cache"), without, "seconds"),
        Figure(text("planning.local_all"), float(plan.local_bytes), "bytes", key=True),
    ]
    return plan_view(
        plan,
        title,
        figures,
        [time_bar(name, seconds) for name, seconds in epochs],
        axis=text("planning.minutes_axis"),
        summary=text("planning.cache_summary_shared", prepare=prepare)
        if plan.shared
        else text("planning.cache_summary", prepare=prepare),
    )


def cache_panel(
    *,
    data_bytes: float = 300e9,
    remote_bytes_per_second: float = GIGABIT,
    local_bytes_per_second: float = 1e9,
    prepare_seconds: float = 1800.0,
) -> PlanPanel:
    """Return a panel on a cache of each job: its size, the jobs that start together, the epochs."""

    controls = {
        "cache_bytes": QuantityControl(text("planning.cache_each"), "10 GB", "300 GB", "100 GB"),
        "jobs": QuantityControl(text("planning.jobs"), 1, 16, 1, dimension="number", whole=True),
        "epochs": QuantityControl(text("planning.epochs"), 1, 100, 10, dimension="number", whole=True),
    }
    presets = {
        text("planning.preset_lesson"): {"cache_bytes": "100 GB", "jobs": 1, "epochs": 10},
        text("planning.preset_once"): {"cache_bytes": "100 GB", "jobs": 1, "epochs": 1},
        text("planning.preset_whole"): {"cache_bytes": "300 GB", "jobs": 1, "epochs": 10},
        text("planning.preset_together"): {"cache_bytes": "300 GB", "jobs": 4, "epochs": 10},
    }
    fixed = {
        "data_bytes": data_bytes,
        "remote_bytes_per_second": remote_bytes_per_second,
        "local_bytes_per_second": local_bytes_per_second,
        "prepare_seconds": prepare_seconds,
    }
    title = text("planning.cache_panel")
    return PlanPanel(title, "cache", controls, cache_view, fixed=fixed, presets=presets)
