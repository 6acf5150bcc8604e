"""Lesson 09: space over the life cycle, the peak, and persistent and local space apart."""

from __future__ import annotations

from typing import Any

from course_lib.experiments.plan_words import binding_lines
from course_lib.planning import CapacityPlan, capacity_plan
from course_lib.widgets.amounts import shown_amount
from course_lib.widgets.controls import ChoiceControl, Control
from course_lib.widgets.panels.planning_views import Figure, From, plan_view, size_bar
from course_lib.widgets.plan_panel import PlanPanel
from course_lib.widgets.quantity import QuantityControl
from course_lib.widgets.svg import Bar, bar_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance

_EXAMPLE: dict[str, Any] = {
    "raw_bytes": 200e9,
    "processed_bytes": 300e9,
    "cache_bytes": 100e9,
    "checkpoint_bytes": 8e9,
    "checkpoints_kept": 3,
}


def lesson_plan(**changes: Any) -> CapacityPlan:
    """Return the lesson's example, 624 GB at rest and 632 GB while saving, with changes by name."""
    return capacity_plan(**{**_EXAMPLE, **changes})


def timeline_view(plan: CapacityPlan) -> View:
    """Return the life cycle as a timeline: a stage a row, what takes space a column, and the total."""
    kinds = list(dict.fromkeys(kind for stage in plan.timeline for kind in stage.by_kind))
    kinds = [kind for kind in kinds if any(float(stage.by_kind.get(kind, 0)) for stage in plan.timeline)]
    timeline = [stage for stage in plan.timeline if stage.name != "retry" or plan.failed_attempts]
    stages = {stage.name: text(f"planning.stage_{stage.name}") for stage in timeline}
    note = _assumed(plan)
    title = _capacity_title(plan)
    bars = []
    for stage in timeline:
        for series, size in (
            (text("planning.persistent"), stage.persistent_bytes),
            (text("planning.local"), stage.local_bytes),
        ):
            if size:
                bars.append(size_bar(stages[stage.name], float(size), series))
    rows = tuple(
        (
            stages[stage.name],
            *(_size(float(stage.by_kind.get(kind, 0.0))) for kind in kinds),
            _size(float(stage.total_bytes)),
        )
        for stage in timeline
    )
    columns = (
        text("planning.stage"),
        *(text(f"planning.kind_{kind.replace(' ', '_')}") for kind in kinds),
        text("planning.total"),
    )
    return View(
        title,
        text("planning.timeline_summary", binding=" ".join(binding_lines(plan))),
        columns,
        rows,
        bar_chart(bars, title=title, axis=text("planning.gb_axis"), corner=provenance(None, note)),
        source_note=note,
        result=plan,
        figures=(
            (text("planning.static"), _size(float(plan.static_bytes))),
            (text("planning.peak"), _size(float(plan.peak_bytes))),
            (text("planning.needed"), _size(float(plan.needed_bytes))),
            (text("planning.binding"), str(plan.binding)),
        ),
    )


def _assumed(plan: CapacityPlan) -> str:
    """Return the line on what the timeline takes for granted."""
    return text(
        "planning.capacity_source",
        raw=_size(float(plan.raw_bytes)),
        processed=_size(float(plan.processed_bytes)),
        cache=_size(float(plan.cache_bytes)),
        checkpoint=_size(float(plan.checkpoint_bytes)),
        reserve=float(plan.reserve_ratio),
    )


def _size(size: float) -> str:
    return shown_amount(size, "bytes")


def _capacity_title(plan: CapacityPlan) -> str:
    words = {
        "static": _size(float(plan.static_bytes)),
        "peak": _size(float(plan.peak_bytes)),
        "stage": text(f"planning.stage_{_fullest(plan)}"),
    }
    if plan.local_disk_bytes is not None:
        return _places_title(plan)
    if plan.disk_bytes is None:
        return text("planning.capacity_peak", **words)
    words |= {"needed": _size(float(plan.needed_bytes)), "disk": _size(float(plan.disk_bytes))}
    return (
        text("planning.capacity_fits", **words) if plan.enough else text("planning.capacity_short", **words)
    )


def _fullest(plan: CapacityPlan) -> str:
    return max(plan.timeline, key=lambda stage: float(stage.total_bytes)).name


def capacity_panel(*, disk_bytes: float = 1e12, reserve_ratio: float = 0.1) -> PlanPanel:
    """Return a panel on one disk for all: jobs with a cache each, kept checkpoints, temporary files."""

    controls = {
        "jobs": QuantityControl(text("planning.jobs_cached"), 1, 16, 1, dimension="number", whole=True),
        "checkpoints_kept": QuantityControl(text("planning.kept"), 0, 50, 3, dimension="number", whole=True),
        "scratch_bytes": QuantityControl(text("planning.temporary"), 0, "500 GB", 0),
    }
    presets: dict[str, dict[str, Any]] = {
        text("planning.preset_lesson"): {"jobs": 1, "checkpoints_kept": 3, "scratch_bytes": 0},
        text("planning.preset_four_jobs"): {"jobs": 4, "checkpoints_kept": 3, "scratch_bytes": 0},
        text("planning.preset_keep_all"): {"jobs": 1, "checkpoints_kept": 40, "scratch_bytes": 0},
        text("planning.preset_convert"): {"jobs": 1, "checkpoints_kept": 3, "scratch_bytes": "500 GB"},
    }
    fixed = {**_EXAMPLE, "disk_bytes": disk_bytes, "reserve_ratio": reserve_ratio}
    title = text("planning.capacity_panel")
    return PlanPanel(title, "capacity", controls, timeline_view, fixed=fixed, presets=presets)


def places_view(plan: CapacityPlan) -> View:
    """Return persistent storage and local disks apart, each beside the disk that there is for it."""
    pairs = (
        (text("planning.persistent"), float(plan.persistent_peak_bytes), plan.disk_bytes),
        (text("planning.local"), float(plan.local_bytes), plan.local_disk_bytes),
    )
    needed, there = text("planning.takes"), text("planning.there")
    bars: list[Bar] = []
    for name, size, disk in pairs:
        bars.append(size_bar(name, size, needed))
        if disk is not None:
            bars.append(size_bar(name, float(disk), there))
    figures = [
        Figure(text("planning.jobs"), float(plan.jobs), "number", From.SET),
        Figure(text("planning.cache_each"), float(plan.cache_bytes), "bytes", From.SET),
        Figure(
            text("planning.shared"),
            float(plan.shared_cache),
            "number",
            From.SET,
            shown=text("table.yes") if plan.shared_cache else text("table.no"),
        ),
        Figure(text("planning.reserve"), float(plan.reserve_ratio), "ratio", From.ASSUMED),
        *(
            Figure(text("planning.place_takes", place=name), size, "bytes", key=True)
            for name, size, _ in pairs
        ),
        *(
            Figure(text("planning.place_there", place=name), float(disk), "bytes", From.ASSUMED)
            for name, _, disk in pairs
            if disk is not None
        ),
    ]
    return plan_view(
        plan,
        _places_title(plan),
        figures,
        bars,
        axis=text("planning.gb_axis"),
        summary=text("planning.places_shared") if plan.shared_cache else text("planning.places_own"),
    )


def _places_title(plan: CapacityPlan) -> str:
    local, there = float(plan.local_bytes), plan.local_disk_bytes
    if there is None or local * (1 + float(plan.reserve_ratio)) <= float(there):
        persistent = _size(float(plan.persistent_peak_bytes))
        return text("planning.places_title", local=_size(local), persistent=persistent)
    return text("planning.places_short", local=_size(local), there=_size(float(there)))


def caches_panel(
    *, disk_bytes: float = 1e12, local_disk_bytes: float = 400e9, reserve_ratio: float = 0.1
) -> PlanPanel:
    """Return a panel on local space: jobs at once, the size of a cache, one for each job or one for all."""

    controls: dict[str, Control] = {
        "jobs": QuantityControl(text("planning.jobs"), 1, 16, 1, dimension="number", whole=True),
        "cache_bytes": QuantityControl(text("planning.cache_each"), "10 GB", "1 TB", "100 GB"),
        "shared_cache": ChoiceControl(
            text("planning.shared"),
            {text("planning.one_each"): False, text("planning.one_for_all"): True},
        ),
    }
    presets = {
        text("planning.preset_lesson"): {"jobs": 1, "cache_bytes": "100 GB", "shared_cache": False},
        text("planning.preset_four_jobs"): {"jobs": 4, "cache_bytes": "100 GB", "shared_cache": False},
        text("planning.preset_four_share"): {"jobs": 4, "cache_bytes": "100 GB", "shared_cache": True},
        text("planning.preset_eight"): {"jobs": 8, "cache_bytes": "100 GB", "shared_cache": False},
    }
    fixed = {
        **_EXAMPLE,
        "disk_bytes": disk_bytes,
        "local_disk_bytes": local_disk_bytes,
        "reserve_ratio": reserve_ratio,
    }
    title = text("planning.caches_panel")
    return PlanPanel(title, "capacity", controls, places_view, fixed=fixed, presets=presets)
