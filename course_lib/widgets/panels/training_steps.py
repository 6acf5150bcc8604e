"""Lesson 05: where a training step's time goes, and which control names what it waits for."""

from __future__ import annotations

from course_lib.loading.diagnosis import Diagnosis
from course_lib.loading.steps import PARTS
from course_lib.loading.training import INPUTS, MEANINGS, TrainingComparison
from course_lib.loading.verdicts import Summary
from course_lib.widgets.panels.dataloader_timing import transforms_text
from course_lib.widgets.svg import Bar, bar_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance


def inputs_view(comparison: TrainingComparison) -> View:
    """Return the parts of a step on real and on synthetic input, beside the whole step."""
    steps = {name: _range(comparison.summary(name)) for name in INPUTS}
    title = text("steps.title", real=steps["real"], synthetic=steps["synthetic"])
    parts = {name: {part: comparison.summary(name, part) for part in PARTS} for name in INPUTS}
    bars = [
        _bar(summary, text(f"steps.input_{name}"), text(f"steps.part_{part}"))
        for name, of_name in parts.items()
        for part, summary in of_name.items()
    ]
    rows = tuple(
        (
            text(f"steps.input_{name}"),
            *(_range(comparison.summary(name, part)) for part in PARTS),
            _range(comparison.summary(name)),
            f"{max(abs(1 - run.times.covered_share) for run in comparison.runs_of(name)):.1%}",
        )
        for name in parts
    )
    fed = next(run.fed for run in comparison.runs_of("real") if run.fed is not None)
    return View(
        title,
        text("steps.summary", fed=fed, device=comparison.device),
        (
            text("steps.input"),
            *(text(f"steps.part_{part}") for part in PARTS),
            text("steps.whole"),
            text("steps.uncovered"),
        ),
        rows,
        bar_chart(
            bars,
            title=title,
            axis=text("steps.axis"),
            corner=provenance(comparison.origin, trained_note(comparison)),
        ),
        comparison.origin,
        trained_note(comparison),
        parts,
    )


def utilisation_view(comparison: TrainingComparison) -> View:
    """Return the accelerator utilisation by both of MLPerf Storage's ways of adding up compute time."""
    found = [comparison.utilisation(variant) for variant in ("measured", "rules")]
    rows = tuple(
        (one.name, f"{one.compute_seconds:.3f} s", f"{one.running_seconds:.3f} s", f"{one.percent:.1f}%")
        for one in found
    )
    over = text("utilisation.over") if any(one.ratio > 1 for one in found) else ""
    return View(
        text("utilisation.title", measured=found[0].ratio, rules=found[1].ratio),
        " ".join(part for part in (text("utilisation.summary"), over) if part),
        tuple(text(f"utilisation.head_{head}") for head in ("which", "compute", "running", "ratio")),
        rows,
        origin=comparison.origin,
        source_note=trained_note(comparison),
        result=tuple(found),
    )


def controls_view(comparison: TrainingComparison, diagnosis: Diagnosis) -> View:
    """Return the time per batch of every run and control, what they say, and what would refute it."""
    bars = [_bar(comparison.summary(name), name) for name in comparison.candidates()]
    rows = tuple((name, MEANINGS[name], _range(comparison.summary(name))) for name in comparison.candidates())
    return View(
        diagnosis.sentence,
        text("controls.summary", control=diagnosis.control, refuted_by=diagnosis.refuted_by),
        (text("controls.run"), text("controls.what"), text("steps.axis")),
        rows,
        bar_chart(
            bars,
            title=diagnosis.sentence,
            axis=text("steps.axis"),
            corner=provenance(comparison.origin, trained_note(comparison)),
        ),
        comparison.origin,
        trained_note(comparison),
        diagnosis,
    )


def trained_note(comparison: TrainingComparison) -> str:
    """Return how the figures of training runs came about."""
    conditions, repeats = comparison.conditions, comparison.plan["repeats"]
    loader = conditions.loader
    kinds = sorted({run.cache_before.kind for run in comparison.runs if run.cache_before}) or ["unknown"]
    words = [
        text("steps.of_steps", steps=conditions.steps, warm_up=conditions.warmup_steps),
        text("timing.of_batch", size=loader.batch_size),
        transforms_text(loader),
        text("timing.of_workers", workers=loader.workers),
        text("timing.of_cache", kinds=", ".join(kinds)),
    ]
    if loader.open_ms:
        words.append(text("timing.of_open", ms=loader.open_ms))
    if conditions.compute_repeats > 1:
        words.append(text("steps.of_compute", times=conditions.compute_repeats))
    return text("timing.note", repeats=repeats, conditions=", ".join(words))


def _bar(seconds: Summary, label: str, series: str = "") -> Bar:
    median, low, high = (1e3 * value for value in (seconds.median, seconds.low, seconds.high))
    return Bar(label, median, series, low=low, high=high, shown=f"{median:.3g} ms")


def _range(seconds: Summary) -> str:
    median, low, high = (f"{1e3 * value:.3g}" for value in (seconds.median, seconds.low, seconds.high))
    return text("timing.range", median=f"{median} ms", low=low, high=high)
