"""Two live runs side by side: the table of their figures, and the verdict on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from course_lib.loading.steps import PARTS
from course_lib.widgets.live_figures import LiveFigures, changed_factors, verdict
from course_lib.widgets.live_run import LiveRun
from course_lib.widgets.svg import format_number
from course_lib.widgets.texts import text
from course_lib.widgets.view import View


def view_of(runs: Mapping[str, LiveRun], title: str) -> View:
    """Return runs by name as a table; `View.result` has their figures by name."""
    figures = {name: run.figures for name, run in runs.items()}
    rows = _rows(list(figures.values()))
    if rows and any("cache" in run.about for run in runs.values()):
        observed = (run.about.get("cache", text("live.not_yet")) for run in runs.values())
        rows = (*rows, (text("live.cache_row"), *observed))
    conditions = "; ".join(text("live.conditions", name=name, words=run.words) for name, run in runs.items())
    return View(
        title,
        conditions or text("live.press_start"),
        (text("live.figure"), *runs) if rows else (),
        rows,
        source_note=_source_note(list(runs.values())) if rows else "",
        result=figures,
    )


def verdict_on(a: LiveRun | None, b: LiveRun | None, factor: Callable[[str], str]) -> str:
    """Return what two runs tell of each other, in words.

    Other data and another observed state of the page cache are factors too, the latter unless it was set.

    Parameters
    ----------
    a, b : LiveRun or None
        The run that is kept, and the newest one.
    factor : callable
        Takes the dotted name of an entry of the requests and returns it in words.
    """
    if a is None and (b is None or b.figures is None):
        return text("live.no_run")
    if a is None or b is None or a.figures is None:
        return text("live.one_run")
    if b.figures is None:
        return text("live.b_not_yet")
    names = changed_factors(a.request, b.request)
    factors = [factor(name) for name in names]
    if a.about.get("origin") != b.about.get("origin"):
        factors.append(text("live.factor_data"))
    if a.about.get("cache") != b.about.get("cache") and not any(name.endswith("cache") for name in names):
        factors.append(text("live.factor_cache"))
    return verdict(a.figures, b.figures, factors)


def _source_note(runs: Sequence[LiveRun]) -> str:
    """Return how the figures came about, and from which data."""
    about: dict[str, str] = {}
    for run in runs:
        about |= run.about
    how = text("live.source_on", device=about["device"]) if "device" in about else text("live.source")
    return "; ".join(part for part in (how, about.get("origin")) if part)


def _rows(runs: Sequence[LiveFigures | None]) -> tuple[tuple[object, ...], ...]:
    """Return the table of one or two runs, one figure a row; a run without figures yet has no values."""
    known = [one for one in runs if one]
    if not known:
        return ()

    def row(name: str, shown: Callable[[LiveFigures], str]) -> tuple[object, ...]:
        return (text(f"live.{name}_row"), *(shown(one) if one else text("live.not_yet") for one in runs))

    return (
        row("first", lambda one: f"{format_number(one.first_seconds)} s"),
        row("rate", _rate),
        row("wait_p50", lambda one: f"{format_number(one.wait_p50_ms)} ms"),
        row("wait_p95", lambda one: f"{format_number(one.wait_p95_ms)} ms"),
        *(
            row(part, lambda one, part=part: f"{one.shares[part]:.0%}")  # type: ignore[misc]
            for part in PARTS
            if all(part in one.shares for one in known)
        ),
        row("batches", lambda one: f"{one.batches:,}"),
    )


def _rate(one: LiveFigures) -> str:
    middle, low, high = map(format_number, (one.rate, one.rate_low, one.rate_high))
    return text("live.rate", middle=middle, low=low, high=high)
