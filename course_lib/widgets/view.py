"""What a panel shows: a figure and a table that say the same, one sentence, and where the data come from."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape, unescape
from numbers import Real

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.widgets.style import STYLE
from course_lib.widgets.svg import Bar, ChartWords, bar_chart, format_number
from course_lib.widgets.texts import text


@dataclass(frozen=True)
class View:
    """The result of one computation, ready to be shown as HTML or as plain text.

    Attributes
    ----------
    title : str
        The finding, as a sentence.
    summary : str
        What to read off the figure, in one sentence.
    columns : tuple of str
        Heads of the table, with units.
    rows : tuple of tuples
        One value for each column: text, a number, or None where there is no value. The first names the row.
    figure_svg : str
        An ``<svg>`` element that shows the same as the table; "" for a table alone.
    origin : Origin or None
        The data behind it; None for figures that need no data.
    source_note : str
        How the values came about, for example "measured on this machine, 3 repeats", "assumed", "simulated".
    result : object
        What the computation returned before it became a view, for code cells.
    warning : str
        A sentence that nobody must overlook, for example that a result could not be saved.
    figures : tuple of (str, object)
        The key figures that a pinned result is compared by: a name, and a number, a quantity or a text with
        a unit. Without them a table of two columns gives them.

    Raises
    ------
    CourseError
        When a row has another number of values than there are columns.
    """

    title: str
    summary: str
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[object, ...], ...] = ()
    figure_svg: str = ""
    origin: Origin | None = None
    source_note: str = ""
    result: object = None
    warning: str = ""
    figures: tuple[tuple[str, object], ...] = ()

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise CourseError(
                    f"The table of {self.title!r} has an uneven row",
                    expected=f"{len(self.columns)} values",
                    found=f"{len(row)}",
                )

    def html(self) -> str:
        """Return figure, summary, table and origin as HTML, with all texts escaped."""
        parts = [f'<p class="course-problem">{escape(self.warning)}</p>'] if self.warning else []
        parts.append(f'<p class="course-finding">{escape(self.title)}</p>')
        if self.figure_svg:
            parts.append(f"<figure>{self.figure_svg}</figure>")
        parts.append(f'<p class="course-summary">{escape(self.summary)}</p>')
        if self.rows:
            parts.append(self._table())
        if provenance(self.origin, self.source_note) not in _plain_words(self.figure_svg):
            parts.append(origin_badge(self.origin, self.source_note))
        elif self.origin is not None:
            parts.append(Html(f'<p class="course-origin">{_kind_badge(self.origin)}</p>'))
        return f'<div class="course-view">{"".join(parts)}</div>'

    def text(self) -> str:
        """Return the same as plain text, for terminals and for front ends without HTML."""
        parts = [self.warning, self.title, self.summary]
        if self.rows:
            parts.append(table_text(self.columns, self.rows))
        parts.append(provenance(self.origin, self.source_note))
        return "\n".join(part for part in parts if part)

    def key_figures(self) -> tuple[tuple[str, object], ...]:
        """Return name and value of what the result comes down to."""
        if self.figures or len(self.columns) != 2:
            return self.figures
        return tuple((str(name), value) for name, value in self.rows)

    def _table(self) -> str:
        if self.figure_svg:
            return table_html(text("table.same"), self.columns, self.rows)
        return table_html(self.title, self.columns, self.rows, caption_shown=False)

    def _repr_html_(self) -> str:
        return STYLE + self.html()

    def __str__(self) -> str:
        return self.text()


def bar_view(
    title: str,
    bars: Sequence[Bar],
    *,
    summary: str,
    axis: str,
    label_head: str,
    value_head: str,
    series_head: str = "",
    range_name: str = "",
    limits: tuple[float, float] | None = None,
    origin: Origin | None = None,
    source_note: str = "",
    result: object = None,
) -> View:
    """Return a view whose bar chart and table are made from the same bars, so that they agree.

    Columns for the prediction and for the range over repeats appear where a bar has them.

    Parameters
    ----------
    title, summary : str
        The finding, and what to read off.
    bars : sequence of Bar
        From top to bottom.
    axis : str
        Name of the value axis with its unit.
    label_head, value_head, series_head : str
        Heads of the table's columns; ``series_head`` is needed where bars have a series.
    range_name : str, optional
        What the whiskers are; "range over repeats" without it.
    limits, origin, source_note, result
        As for `bar_chart` and `View`.
    """
    words = ChartWords(
        prediction=text("chart.prediction"),
        no_value=text("chart.no_value"),
        range=range_name or text("chart.range"),
    )
    with_series = any(bar.series for bar in bars)
    with_guess = any(bar.prediction is not None for bar in bars)
    with_range = any(bar.low is not None and bar.high is not None for bar in bars)
    columns = [label_head, *([series_head] if with_series else []), value_head]
    columns += [words.prediction] if with_guess else []
    columns += (
        [text("table.low", range=words.range), text("table.high", range=words.range)] if with_range else []
    )
    rows = []
    for bar in bars:
        row: list[object] = [bar.label, *([bar.series] if with_series else [])]
        row.append(bar.shown if bar.shown else words.no_value if bar.value is None else bar.value)
        row += [bar.prediction] if with_guess else []
        row += [bar.low, bar.high] if with_range else []
        rows.append(tuple(row))
    chart = bar_chart(
        bars,
        title=title,
        axis=axis,
        limits=limits,
        corner=provenance(origin, source_note),
        words=words,
    )
    return View(title, summary, tuple(columns), tuple(rows), chart, origin, source_note, result)


def provenance(origin: Origin | None, source_note: str = "") -> str:
    """Return the line for a figure's corner: where data and values come from; "" where neither is known."""
    label = origin.label() if origin else ""
    note = text("origin.values", note=source_note) if source_note else ""
    return "; ".join(part for part in (label, note) if part)


class Html(str):
    """HTML that a notebook renders when it is the last expression of a cell."""

    def _repr_html_(self) -> str:
        return f'{STYLE}<div class="course-view">{self}</div>'


def origin_badge(origin: Origin | None, source_note: str = "") -> Html:
    """Return the origin as HTML: the kind as a word in a frame of its own, then the whole label.

    Without an origin only the note on the values stands there; without either, nothing does.
    """
    note = escape(text("origin.values", note=source_note)) if source_note else ""
    if origin is None:
        return Html(f'<p class="course-origin">{note}</p>' if note else "")
    words = "; ".join(part for part in (escape(origin.label()), note) if part)
    return Html(f'<p class="course-origin">{_kind_badge(origin)}{words}</p>')


def _kind_badge(origin: Origin) -> str:
    kind = {
        "generated": text("origin.generated"),
        "mirror": text("origin.mirror"),
        "official": text("origin.official"),
    }[origin.kind]
    return f'<span class="course-badge course-badge-{origin.kind}">{escape(kind)}</span>'


def _plain_words(svg: str) -> str:
    """Return the words that stand in a figure: its lines are elements of their own."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", svg)).split())


def cell_text(value: object) -> str:
    """Return one table value as people read it."""
    if value is None:
        return text("table.none")
    if isinstance(value, bool):
        return text("table.yes") if value else text("table.no")
    if isinstance(value, Real):
        return format_number(float(value))
    return str(value)


def table_html(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[object]], *, caption_shown: bool = True
) -> str:
    """Return an accessible HTML table: a caption, and a scope on every head.

    Where the caption repeats what stands above, ``caption_shown=False`` keeps it for screen readers only.
    """
    figures = [
        bool(rows) and all(row[place] is None or _is_figure(row[place]) for row in rows)
        for place in range(len(columns))
    ]
    classes = [' class="course-figure"' if number else "" for number in figures]
    heads = "".join(
        f'<th scope="col"{style}>{escape(head)}</th>' for head, style in zip(columns, classes, strict=True)
    )
    body = []
    for row in _texts(rows):
        cells = [f'<th scope="row"{classes[0]}>{escape(row[0])}</th>']
        cells += [f"<td{style}>{escape(cell)}</td>" for cell, style in zip(row[1:], classes[1:], strict=True)]
        body.append(f"<tr>{''.join(cells)}</tr>")
    words = escape(caption) if caption_shown else f'<span class="course-hidden">{escape(caption)}</span>'
    return (
        f"<table><caption>{words}</caption>"
        f"<thead><tr>{heads}</tr></thead><tbody>{''.join(body)}</tbody></table>"
    )


def table_text(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table as aligned plain text."""
    lines = [tuple(columns), *_texts(rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(columns))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _texts(rows: Sequence[Sequence[object]]) -> list[tuple[str, ...]]:
    """Return all values as text; in one column, numbers with decimals get equally many."""
    return list(zip(*(_column_texts(values) for values in zip(*rows, strict=True)), strict=True))


def _column_texts(values: Sequence[object]) -> list[str]:
    cells = [cell_text(value) for value in values]
    decimals = [
        len(cell.partition(".")[2]) if isinstance(value, Real) and "e" not in cell else 0
        for value, cell in zip(values, cells, strict=True)
    ]
    most = max(decimals, default=0)
    return [
        cell + "0" * (most - count) if count else cell for cell, count in zip(cells, decimals, strict=True)
    ]


def _is_figure(value: object) -> bool:
    """Tell whether a table value is a number, or a text that is one with its unit."""
    if isinstance(value, str):
        return re.fullmatch(r"[-+−]?\d[\d,.]*( ?[^\d\s]{1,9})?", value) is not None
    return isinstance(value, Real) and not isinstance(value, bool)
