"""Lesson 09: what all views of a plan share, so that no figure stands without its origin."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from course_lib.experiments.plan_words import binding_sentences
from course_lib.planning import ONLY_BYTES, Plan
from course_lib.units import Quantity
from course_lib.widgets.amounts import shown_amount
from course_lib.widgets.svg import Bar, bar_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance

_BASE_UNITS = {"bytes": "B", "bytes/s": "B/s", "seconds": "s", "samples/s": "samples/s"}


class From(Enum):
    """Where a figure comes from; a plan measures nothing, but may be given a measured figure."""

    SET = "set"
    ASSUMED = "assumed"
    CALCULATED = "calculated"
    MEASURED = "measured"


@dataclass(frozen=True)
class Figure:
    """One figure of a plan.

    Attributes
    ----------
    name : str
        In words.
    value : float
        In base units; infinity where there is no limit, or where it never comes.
    dimension : str
        As `course_lib.widgets.amounts` calls it.
    origin : From
        Set with a control, assumed, calculated, or measured before.
    key : bool
        Whether a pinned result is compared by it.
    shown : str
        Words instead of the number.
    """

    name: str
    value: float
    dimension: str
    origin: From = From.CALCULATED
    key: bool = False
    shown: str = ""

    def text(self) -> str:
        """Return the value as it stands in a table."""
        if self.shown:
            return self.shown
        return shown_amount(self.value, self.dimension) if math.isfinite(self.value) else text("table.none")


def plan_view(
    plan: Plan,
    title: str,
    figures: Sequence[Figure],
    bars: Sequence[Bar],
    *,
    axis: str,
    summary: str,
    result: object = None,
    warning: str = "",
    note: str = "",
) -> View:
    """Return a plan as a bar chart and a table of its figures, with the constraint that binds.

    Parameters
    ----------
    plan : Plan
        Of plain numbers; the view's result unless another one is given.
    title, summary : str
        The finding, and what to read off; that it is only about bytes is added where the plan says so.
    figures : sequence of Figure
        Rows of the table: inputs and results.
    bars : sequence of Bar
        What the chart shows of them.
    axis, result, warning
        As for `bar_chart` and `View`.
    note : str
        How the figures came about; without it, calculated from what is set or assumed.
    """
    binding = " ".join(binding_sentences(plan))
    note = note or text("planning.source")
    origins = {origin: text(f"planning.from_{origin.value}") for origin in From}
    rows = [(figure.name, figure.text(), origins[figure.origin]) for figure in figures]
    rows.append((text("planning.binding"), binding, origins[From.CALCULATED]))
    only_bytes = ONLY_BYTES if ONLY_BYTES in plan.assumptions else ""
    return View(
        title,
        " ".join(part for part in (summary, only_bytes) if part),
        (text("planning.what"), text("planning.value"), text("planning.origin")),
        tuple(rows),
        bar_chart(bars, title=title, axis=axis, corner=provenance(None, note)),
        source_note=note,
        result=plan if result is None else result,
        warning=warning,
        figures=(
            *((figure.name, _comparable(figure)) for figure in figures if figure.key),
            (text("planning.binding"), str(plan.binding)),
        ),
    )


def _comparable(figure: Figure) -> object:
    """Return a value that differences can be taken of, or its words."""
    if figure.shown or not math.isfinite(figure.value):
        return figure.text()
    unit = _BASE_UNITS.get(figure.dimension)
    return Quantity(figure.value, unit) if unit and figure.value >= 0 else figure.text()


def rate_bar(name: str, bytes_per_second: float) -> Bar:
    """Return a bar in MB/s."""
    return Bar(name, bytes_per_second / 1e6, shown=shown_amount(bytes_per_second, "bytes/s"))


def rate_bars(rates: Sequence[tuple[str, float]]) -> list[Bar]:
    """Return a bar in MB/s for each rate that has a limit."""
    return [rate_bar(name, rate) for name, rate in rates if math.isfinite(rate)]


def size_bar(name: str, size: float, series: str = "") -> Bar:
    """Return a bar in GB."""
    return Bar(name, size / 1e9, series, shown=shown_amount(size, "bytes"))


def time_bar(name: str, seconds: float) -> Bar:
    """Return a bar in minutes."""
    return Bar(name, seconds / 60, shown=shown_amount(seconds, "seconds"))
