"""Small charts as SVG text, made without a plotting library so that a slider feels immediate.

Text and lines take the colour of the page around them, so a chart reads in light and dark themes;
series differ by colour (Okabe and Ito's palette), by pattern or dash, and by name.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_DASHES = ("", "7 4", "2 3", "9 3 2 3", "4 4", "1 4")
_WIDTH = 660
_FONT = 14
_SMALL = 12
_LETTER = 0.54 * _FONT
_SMALL_LETTER = 0.5 * _SMALL
_VALUE_SPACE = 100
_PATTERN = "course-pattern-"


@dataclass(frozen=True)
class Bar:
    """One bar of a chart.

    Attributes
    ----------
    label : str
        What the bar stands for.
    value : float or None
        Its length in the unit of the axis; None draws no bar and says that there is no value.
    series : str
        Bars of one series share a colour and pattern and stand in the legend; "" for a chart of one series.
    prediction : float or None
        The learner's guess, drawn as a marker on the bar.
    low, high : float or None
        Ends of the range over repeats, drawn as a whisker; give both or neither.
    shown : str
        The value as text beside the bar; "" writes the number itself.
    """

    label: str
    value: float | None
    series: str = ""
    prediction: float | None = None
    low: float | None = None
    high: float | None = None
    shown: str = ""


@dataclass(frozen=True)
class ChartWords:
    """The words that a chart needs besides its data, so that they can be translated."""

    prediction: str = "your prediction"
    no_value: str = "no value"
    range: str = "range over repeats"


def format_number(value: float) -> str:
    """Return a number for people: thousands separated, at most four digits that mean something.

    Examples
    --------
    >>> format_number(41188), format_number(0.78249), format_number(51.2), format_number(1e-7)
    ('41,188', '0.782', '51.2', '1e-07')
    """
    if isinstance(value, bool) or not math.isfinite(value):
        return str(value)
    if value == round(value) and abs(value) < 1e15:
        return f"{round(value):,}"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size < 1e-4:
        return f"{value:.2g}"
    decimals = 3 if size < 1 else 2 if size < 10 else 1
    if size < 0.01:
        decimals = 5
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".")


def round_ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """Return at most ``most`` round values that cover ``low`` to ``high``, both ends included.

    Examples
    --------
    >>> round_ticks(0, 0.934)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    if not high > low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    for multiple in (1, 2, 2.5, 5, 10, 20):
        step = multiple * power
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first < most:
            break
    return tuple(round(index * step, 12) for index in range(first, last + 1))


def bar_chart(
    bars: Sequence[Bar],
    *,
    title: str,
    axis: str,
    limits: tuple[float, float] | None = None,
    corner: str = "",
    words: ChartWords | None = None,
) -> str:
    """Return horizontal bars as one ``<svg>`` element.

    Bars with the same label stand together under it, one for each series.

    Parameters
    ----------
    bars : sequence of Bar
        From top to bottom.
    title : str
        What a screen reader says first: the finding.
    axis : str
        Name of the value axis with its unit, for example "AUC (0.5 is guessing, 1 is perfect)".
    limits : (float, float), optional
        Ends of the axis; without it, from zero to a round value above the longest bar. A bar always
        starts at zero or, where the limits exclude zero, at the lower limit.
    corner : str
        Where the data and the values come from; stands in the lower right corner.
    words : ChartWords, optional
        Translated words for the legend.
    """
    words = words or ChartWords()
    series = [name for name in dict.fromkeys(bar.series for bar in bars) if name]
    rank = {name: index % len(PALETTE) for index, name in enumerate(series)}
    ticks = round_ticks(*(limits or _bar_limits(bars)))
    lower, upper = limits or (ticks[0], ticks[-1])
    ticks = tuple(tick for tick in ticks if lower <= tick <= upper)
    longest = max((len(line) for bar in bars for line in _wrapped(bar.label, 30)), default=0)
    left = min(max(70, longest * _LETTER + 14), 235)
    right = _WIDTH - _VALUE_SPACE

    def x_of(value: float) -> float:
        inside = min(max(value, lower), upper)
        return left + (inside - lower) / ((upper - lower) or 1) * (right - left)

    parts: list[str] = []
    legend = _legend(bars, series, rank, words, left)
    top = 8 + 24 * len(legend)
    parts += [row for rows in legend for row in rows]
    labels = list(dict.fromkeys(bar.label for bar in bars))
    rows: list[str] = []
    y = float(top)
    for label in labels:
        members = [bar for bar in bars if bar.label == label]
        lines = _wrapped(label, 30)
        block = max(28 * len(members), 18 * len(lines) + 4)
        middle = y + block / 2
        for number, line in enumerate(lines):
            line_y = middle + (number - (len(lines) - 1) / 2) * 18 + 5
            rows.append(_text(left - 10, line_y, line, anchor="end"))
        bar_y = middle - 14 * len(members)
        for bar in members:
            rows += _bar(bar, bar_y + 4, x_of, max(0.0, lower), rank.get(bar.series, 0), words)
            bar_y += 28
        y += block + 10
    bottom = y - 2
    for tick in ticks:
        parts.append(_line(x_of(tick), top - 2, x_of(tick), bottom, opacity=0.22))
        parts.append(_text(x_of(tick), bottom + 17, format_number(tick), anchor="middle", size=_SMALL))
    parts += rows
    parts.append(_text((left + right) / 2, bottom + 38, axis, anchor="middle"))
    height, corner_parts = _corner(corner, bottom + 46)
    described = "; ".join(
        " ".join(part for part in (f"{bar.label}", bar.series and f"({bar.series})") if part)
        + f": {_shown(bar, words)}"
        + (f" ({words.prediction}: {format_number(bar.prediction)})" if bar.prediction is not None else "")
        for bar in bars
    )
    return _svg(parts + corner_parts, height, title, f"{axis}. {described}. {corner}", _patterns(rank))


def line_chart(
    lines: Mapping[str, Sequence[tuple[float, float]]],
    *,
    title: str,
    x_axis: str,
    y_axis: str,
    x_limits: tuple[float, float] | None = None,
    y_limits: tuple[float, float] | None = None,
    marks: Mapping[str, float] | None = None,
    corner: str = "",
    height: float = 300,
) -> str:
    """Return lines over a numeric axis as one ``<svg>`` element, each named at its right end.

    Parameters
    ----------
    lines : mapping of str to sequence of (x, y)
        Points in drawing order by the name of the line.
    title, x_axis, y_axis : str
        The finding for a screen reader, and the axes with their units.
    x_limits, y_limits : (float, float), optional
        Ends of the axes; without them, round values around the points (and zero for y).
    marks : mapping of str to float, optional
        Vertical lines with a name, for example where a split cuts the data.
    corner : str
        Where the data and the values come from.
    height : float
        Where the x axis lies, in units of the picture, which is 660 wide.
    """
    marks = marks or {}
    points = [point for line in lines.values() for point in line]
    xs = [x for x, _ in points] + list(marks.values()) or [0.0]
    ys = [y for _, y in points] or [0.0]
    x_low, x_high = x_limits or (min(xs), max(xs))
    y_ticks = round_ticks(*(y_limits or (min(0.0, min(ys)), max(ys))))
    y_low, y_high = y_limits or (y_ticks[0], y_ticks[-1])
    longest = max((len(name) for name in lines), default=0)
    left, right = 70.0, _WIDTH - min(max(30, longest * _LETTER + 44), 228)
    top, bottom = 50.0 if marks else 34.0, height

    def x_of(value: float) -> float:
        return left + (value - x_low) / ((x_high - x_low) or 1) * (right - left)

    def y_of(value: float) -> float:
        return bottom - (value - y_low) / ((y_high - y_low) or 1) * (bottom - top)

    parts = [_text(8, 18, y_axis)]
    for tick in y_ticks:
        if y_low <= tick <= y_high:
            parts.append(_line(left, y_of(tick), right, y_of(tick), opacity=0.22))
            parts.append(_text(left - 8, y_of(tick) + 4, format_number(tick), anchor="end", size=_SMALL))
    for tick in round_ticks(x_low, x_high):
        if x_low <= tick <= x_high:
            parts.append(_text(x_of(tick), bottom + 18, format_number(tick), anchor="middle", size=_SMALL))
            parts.append(_line(x_of(tick), bottom, x_of(tick), bottom + 4))
    parts.append(_line(left, bottom, right, bottom))
    for name, x in marks.items():
        parts.append(_line(x_of(x), top - 8, x_of(x), bottom, dash="5 4", opacity=0.8))
        on_right = x_of(x) > (left + right) / 2
        parts.append(_text(x_of(x), top - 12, name, anchor="end" if on_right else "start", size=_SMALL))
    name_heights = _spread([y_of(line[-1][1]) for line in lines.values() if line], 18, top, bottom)
    drawn = [(index, name, line) for index, (name, line) in enumerate(lines.items()) if line]
    for (index, name, line), name_y in zip(drawn, name_heights, strict=True):
        colour, dash = PALETTE[index % len(PALETTE)], _DASHES[index % len(_DASHES)]
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in line)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"'
            f' stroke-dasharray="{dash}" stroke-linejoin="round"/>'
        )
        end_x, end_y = line[-1]
        parts.append(f'<circle cx="{x_of(end_x):.1f}" cy="{y_of(end_y):.1f}" r="4" fill="{colour}"/>')
        parts.append(
            f'<line x1="{right + 10:.1f}" y1="{name_y:.1f}" x2="{right + 32:.1f}" y2="{name_y:.1f}"'
            f' stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>'
        )
        parts.append(_text(right + 38, name_y + 5, name))
    parts.append(_text((left + right) / 2, bottom + 40, x_axis, anchor="middle"))
    whole_height, corner_parts = _corner(corner, bottom + 48)
    described = "; ".join(
        f"{name}: {format_number(line[0][1])} to {format_number(line[-1][1])}" for _, name, line in drawn
    )
    return _svg(parts + corner_parts, whole_height, title, f"{y_axis} over {x_axis}. {described}. {corner}")


def _bar_limits(bars: Sequence[Bar]) -> tuple[float, float]:
    """Return zero and the furthest value of any bar, guess or whisker."""
    reach = [v for bar in bars for v in (bar.value, bar.prediction, bar.low, bar.high) if v is not None]
    return min([0.0, *reach]), max([0.0, *reach])


def _shown(bar: Bar, words: ChartWords) -> str:
    """Return the words beside a bar."""
    if bar.value is None:
        return bar.shown or words.no_value
    return bar.shown or format_number(bar.value)


def _bar(
    bar: Bar, y: float, x_of: Callable[[float], float], start: float, rank: int, words: ChartWords
) -> list[str]:
    """Return the parts of one bar: the bar, its whisker, the guess and the value."""
    parts = []
    reach = x_of(start)
    if bar.value is not None:
        ends = sorted((x_of(start), x_of(bar.value)))
        reach = ends[1]
        box = f'x="{ends[0]:.1f}" y="{y:.1f}" width="{max(ends[1] - ends[0], 1.5):.1f}" height="20"'
        parts.append(_filled(box, rank))
    if bar.low is not None and bar.high is not None:
        low_x, high_x = x_of(bar.low), x_of(bar.high)
        reach = max(reach, high_x)
        parts.append(_line(low_x, y + 10, high_x, y + 10, width=2))
        parts += [_line(x, y + 5, x, y + 15, width=2) for x in (low_x, high_x)]
    shown = _shown(bar, words)
    if bar.prediction is not None:
        x = x_of(bar.prediction)
        if reach - 8 < x < reach + 16 + len(shown) * _LETTER:
            reach = max(reach, x + 8)
        parts.append(_diamond(x, y + 10))
    parts.append(_text(reach + 8, y + 15, shown, weight="600"))
    return parts


def _legend(
    bars: Sequence[Bar], series: Sequence[str], rank: Mapping[str, int], words: ChartWords, left: float
) -> list[list[str]]:
    """Return the legend as rows of parts: series, then the marks that the chart uses."""
    entries: list[tuple[str, str]] = []
    for name in series:
        entries.append((_filled('width="16" height="16"', rank[name]), name))
    if any(bar.prediction is not None for bar in bars):
        entries.append((_diamond(8, 8), words.prediction))
    if any(bar.low is not None and bar.high is not None for bar in bars):
        whisker = _line(0, 8, 16, 8, width=2) + _line(0, 3, 0, 13, width=2) + _line(16, 3, 16, 13, width=2)
        entries.append((whisker, words.range))
    rows: list[list[str]] = []
    x = float(_WIDTH)
    for mark, name in entries:
        width = 24 + len(name) * _LETTER + 22
        if x + width > _WIDTH:
            rows.append([])
            x = min(left, _WIDTH - width)
        y = 4 + 24 * (len(rows) - 1)
        rows[-1].append(f'<g transform="translate({x:.1f} {y})">{mark}</g>' + _text(x + 24, y + 13, name))
        x += width
    return rows


def _spread(heights: Sequence[float], gap: float, top: float, bottom: float) -> list[float]:
    """Return heights moved apart so that labels at them do not overlap."""
    order = sorted(range(len(heights)), key=lambda index: heights[index])
    placed = list(heights)
    for before, after in pairwise(order):
        placed[after] = max(placed[after], placed[before] + gap)
    overshoot = max((placed[index] - bottom for index in order[-1:]), default=0.0)
    if overshoot > 0:
        placed[order[-1]] = bottom
        for after, before in pairwise(order[::-1]):
            placed[before] = max(top, min(placed[before], placed[after] - gap))
    return placed


def _wrapped(label: str, most: int) -> list[str]:
    """Return a label as lines of at most ``most`` letters, broken between words where there are any."""
    lines = [""]
    for word in label.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > most:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return [line if len(line) <= most + 4 else line[: most + 3] + "…" for line in lines]


def _corner(corner: str, y: float) -> tuple[float, list[str]]:
    """Return the chart's height and the origin lines in its lower right corner."""
    lines = _wrapped(corner, int(_WIDTH / _SMALL_LETTER) - 6) if corner else []
    parts = [
        _text(_WIDTH - 4, y + 16 * (number + 1), line, anchor="end", size=_SMALL, opacity=0.85)
        for number, line in enumerate(lines)
    ]
    return y + 16 * len(lines) + 8, parts


def _filled(box: str, rank: int) -> str:
    """Return a rectangle in a series' colour, with stripes for every second series."""
    colour = f'<rect {box} fill="{PALETTE[rank]}" stroke="currentColor" stroke-width="0.8"/>'
    return colour + (f'<rect {box} fill="url(#{_PATTERN}{rank})"/>' if rank % 2 else "")


def _patterns(rank: Mapping[str, int]) -> str:
    """Return definitions of the stripes that tell every second series apart without colour."""
    stripes = "".join(
        f'<pattern id="{_PATTERN}{number}" width="7" height="7" patternUnits="userSpaceOnUse"'
        ' patternTransform="rotate(45)">'
        '<rect width="2.5" height="7" fill="#fff" fill-opacity="0.65"/></pattern>'
        for number in sorted({number for number in rank.values() if number % 2})
    )
    return f"<defs>{stripes}</defs>" if stripes else ""


def _text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    size: int = _FONT,
    weight: str = "400",
    opacity: float = 1,
) -> str:
    """Return one line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}"'
        f' fill="currentColor" fill-opacity="{opacity}">{escape(words)}</text>'
    )


def _line(
    x1: float, y1: float, x2: float, y2: float, *, width: float = 1, opacity: float = 1, dash: str = ""
) -> str:
    """Return one straight line in the colour of the text."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor"'
        f' stroke-width="{width}" stroke-opacity="{opacity}" stroke-dasharray="{dash}"/>'
    )


def _diamond(x: float, y: float) -> str:
    """Return the marker of a guess, which shows on any bar and on any background."""
    return f'<path d="M{x:.1f} {y - 8:.1f} l7 8 l-7 8 l-7 -8 z" fill="#fff" stroke="#000" stroke-width="2"/>'


def _svg(parts: Sequence[str], height: float, title: str, description: str, definitions: str = "") -> str:
    """Return the whole picture with what a screen reader says about it.

    Ids are made from the contents: two charts in one page must not share a pattern, since the one that
    holds it may be hidden.
    """
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}"'
        f' role="img" aria-label="{escape(title)}"'
        ' style="max-width:min(100%,720px);height:auto;color:inherit"'
        " font-family=\"system-ui, -apple-system, 'Segoe UI', sans-serif\">"
        f"<desc>{escape(description)}</desc>{definitions}{''.join(parts)}</svg>"
    )
    digest = hashlib.sha256(picture.encode("utf-8")).hexdigest()[:10]
    return picture.replace(_PATTERN, f"{_PATTERN}{digest}-")
