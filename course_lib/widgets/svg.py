"""Small charts as SVG text, made without a plotting library so that a slider feels immediate.

Text and lines take the colour of the page around them, so a chart reads in light and dark themes;
series differ by colour (Okabe and Ito's palette), by pattern or dash, and by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from course_lib.widgets.svg_numbers import format_number as format_number
from course_lib.widgets.svg_numbers import round_ticks as round_ticks
from course_lib.widgets.svg_parts import PALETTE, WIDTH, diamond, filled, picture, rule, stripes, words_at
from course_lib.widgets.svg_words import SMALL, shortened, width_of, wrapped

_DASHES = ("", "7 4", "2 3", "9 3 2 3", "4 4", "1 4")
_LABEL_ROOM = 226
_LABEL_LINES = 3
_VALUE_ROOM = 250
_NAME_ROOM = 190
_LEGEND_ROOM = 300
# Between a bar's end, or the diamond of a guess, and the value; and between the value and the edge.
_BESIDE_BAR = 22


@dataclass(frozen=True)
class Bar:
    """One bar of a chart.

    Attributes
    ----------
    label : str
        What the bar stands for.
    value : float or None
        Its length in the unit of the axis; 0 and None draw no bar, and None says that there is no value.
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
    broken = {bar.label: wrapped(bar.label, _LABEL_ROOM, most_lines=_LABEL_LINES) for bar in bars}
    left = max([70.0, *(width_of(each) + 14 for lines in broken.values() for each in lines)])
    values = (min(width_of(_shown(bar, words), bold=True), _VALUE_ROOM) for bar in bars)
    right = WIDTH - max([60.0, *(value + _BESIDE_BAR for value in values)])

    def x_of(value: float) -> float:
        inside = min(max(value, lower), upper)
        return left + (inside - lower) / ((upper - lower) or 1) * (right - left)

    parts: list[str] = []
    legend = _legend(bars, series, rank, words, left)
    top = 8 + 24 * len(legend)
    parts += [row for rows in legend for row in rows]
    rows: list[str] = []
    y = float(top)
    for label, lines in broken.items():
        members = [bar for bar in bars if bar.label == label]
        block = max(28 * len(members), 18 * len(lines) + 4)
        middle = y + block / 2
        full = "" if " ".join(lines) == " ".join(label.split()) else label
        for number, one in enumerate(lines):
            line_y = middle + (number - (len(lines) - 1) / 2) * 18 + 5
            rows.append(words_at(left - 10, line_y, one, anchor="end", full=full))
        bar_y = middle - 14 * len(members)
        for bar in members:
            rows += _bar(bar, bar_y + 4, x_of, max(0.0, lower), rank.get(bar.series, 0), words)
            bar_y += 28
        y += block + 10
    bottom = y - 2
    for tick in ticks:
        parts.append(rule(x_of(tick), top - 2, x_of(tick), bottom, opacity=0.22))
        parts.append(words_at(x_of(tick), bottom + 17, format_number(tick), anchor="middle", size=SMALL))
    parts += rows
    below, axis_parts = _axis_name(axis, (left + right) / 2, bottom + 38)
    parts += axis_parts
    height, corner_parts = _corner(corner, below + 8)
    described = "; ".join(
        " ".join(part for part in (f"{bar.label}", bar.series and f"({bar.series})") if part)
        + f": {_shown(bar, words)}"
        + (f" ({words.prediction}: {format_number(bar.prediction)})" if bar.prediction is not None else "")
        for bar in bars
    )
    return picture(parts + corner_parts, height, title, f"{axis}. {described}. {corner}", stripes(rank))


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
    shown = {name: shortened(name, _NAME_ROOM) for name in lines}
    left = max([70.0, *(width_of(format_number(tick), SMALL) + 14 for tick in y_ticks)])
    right = WIDTH - max([30.0, *(width_of(name) + 42 for name in shown.values())])
    top, bottom = 50.0 if marks else 34.0, height

    def x_of(value: float) -> float:
        return left + (value - x_low) / ((x_high - x_low) or 1) * (right - left)

    def y_of(value: float) -> float:
        return bottom - (value - y_low) / ((y_high - y_low) or 1) * (bottom - top)

    parts = [words_at(8, 18, y_axis)]
    for tick in y_ticks:
        if y_low <= tick <= y_high:
            parts.append(rule(left, y_of(tick), right, y_of(tick), opacity=0.22))
            parts.append(words_at(left - 8, y_of(tick) + 4, format_number(tick), anchor="end", size=SMALL))
    for tick in round_ticks(x_low, x_high):
        if x_low <= tick <= x_high:
            parts.append(words_at(x_of(tick), bottom + 18, format_number(tick), anchor="middle", size=SMALL))
            parts.append(rule(x_of(tick), bottom, x_of(tick), bottom + 4))
    parts.append(rule(left, bottom, right, bottom))
    for name, x in marks.items():
        parts.append(rule(x_of(x), top - 8, x_of(x), bottom, dash="5 4", opacity=0.8))
        on_right = x_of(x) > (left + right) / 2
        parts.append(words_at(x_of(x), top - 12, name, anchor="end" if on_right else "start", size=SMALL))
    name_heights = _spread([y_of(line[-1][1]) for line in lines.values() if line], 18, top, bottom)
    drawn = [(index, name, line) for index, (name, line) in enumerate(lines.items()) if line]
    for (index, name, drawn_points), name_y in zip(drawn, name_heights, strict=True):
        colour, dash = PALETTE[index % len(PALETTE)], _DASHES[index % len(_DASHES)]
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in drawn_points)
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2.5"'
            f' stroke-dasharray="{dash}" stroke-linejoin="round"/>'
        )
        end_x, end_y = drawn_points[-1]
        parts.append(f'<circle cx="{x_of(end_x):.1f}" cy="{y_of(end_y):.1f}" r="4" fill="{colour}"/>')
        parts.append(
            f'<line x1="{right + 10:.1f}" y1="{name_y:.1f}" x2="{right + 32:.1f}" y2="{name_y:.1f}"'
            f' stroke="{colour}" stroke-width="2.5" stroke-dasharray="{dash}"/>'
        )
        full = "" if shown[name] == name else name
        parts.append(words_at(right + 38, name_y + 5, shown[name], full=full))
    below, axis_parts = _axis_name(x_axis, (left + right) / 2, bottom + 40)
    parts += axis_parts
    whole_height, corner_parts = _corner(corner, below + 8)
    described = "; ".join(
        f"{name}: {format_number(line[0][1])} to {format_number(line[-1][1])}" for _, name, line in drawn
    )
    return picture(
        parts + corner_parts, whole_height, title, f"{y_axis} over {x_axis}. {described}. {corner}"
    )


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
    if bar.value:
        ends = sorted((x_of(start), x_of(bar.value)))
        reach = ends[1]
        box = f'x="{ends[0]:.1f}" y="{y:.1f}" width="{max(ends[1] - ends[0], 1.5):.1f}" height="20"'
        parts.append(filled(box, rank))
    if bar.low is not None and bar.high is not None:
        low_x, high_x = x_of(bar.low), x_of(bar.high)
        reach = max(reach, high_x)
        parts.append(rule(low_x, y + 10, high_x, y + 10, width=2))
        parts += [rule(x, y + 5, x, y + 15, width=2) for x in (low_x, high_x)]
    value = _shown(bar, words)
    shown = shortened(value, _VALUE_ROOM, bold=True)
    if bar.prediction is not None:
        x = x_of(bar.prediction)
        if reach - 8 < x < reach + 16 + width_of(shown, bold=True):
            reach = max(reach, x + 8)
        parts.append(diamond(x, y + 10))
    parts.append(words_at(reach + 8, y + 15, shown, bold=True, full="" if shown == value else value))
    return parts


def _legend(
    bars: Sequence[Bar], series: Sequence[str], rank: Mapping[str, int], words: ChartWords, left: float
) -> list[list[str]]:
    """Return the legend as rows of parts: series, then the marks that the chart uses."""
    entries: list[tuple[str, str]] = []
    for name in series:
        entries.append((filled('width="16" height="16"', rank[name]), name))
    if any(bar.prediction is not None for bar in bars):
        entries.append((diamond(8, 8), words.prediction))
    if any(bar.low is not None and bar.high is not None for bar in bars):
        whisker = rule(0, 8, 16, 8, width=2) + rule(0, 3, 0, 13, width=2) + rule(16, 3, 16, 13, width=2)
        entries.append((whisker, words.range))
    rows: list[list[str]] = []
    x = float(WIDTH)
    for mark, name in entries:
        shown = shortened(name, _LEGEND_ROOM)
        width = 24 + width_of(shown)
        if x + width > WIDTH - 4:
            rows.append([])
            x = min(left, WIDTH - 4 - width)
        y = 4 + 24 * (len(rows) - 1)
        words_beside = words_at(x + 24, y + 13, shown, full="" if shown == name else name)
        rows[-1].append(f'<g transform="translate({x:.1f} {y})">{mark}</g>{words_beside}')
        x += width + 22
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


def _axis_name(axis: str, middle: float, y: float) -> tuple[float, list[str]]:
    """Return where the last line of an axis's name stands, and its lines around ``middle``."""
    lines = wrapped(axis, WIDTH - 16)
    parts = []
    for number, words in enumerate(lines):
        half = width_of(words) / 2 + 4
        x = min(max(middle, half), WIDTH - half)
        parts.append(words_at(x, y + 18 * number, words, anchor="middle"))
    return y + 18 * (len(lines) - 1), parts


def _corner(corner: str, y: float) -> tuple[float, list[str]]:
    """Return the chart's height and the origin lines in its lower right corner."""
    lines = wrapped(corner, WIDTH - 16, SMALL) if corner else []
    parts = [
        words_at(WIDTH - 4, y + 16 * (number + 1), words, anchor="end", size=SMALL, opacity=0.85)
        for number, words in enumerate(lines)
    ]
    return y + 16 * len(lines) + 8, parts
