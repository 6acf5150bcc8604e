"""Charts are well-formed, speak to a screen reader, take the page's colours and run nothing."""

from __future__ import annotations

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from course_lib.widgets.svg import Bar, bar_chart, format_number, line_chart, round_ticks
from course_lib.widgets.svg_words import shortened, width_of, wrapped

_SVG = "{http://www.w3.org/2000/svg}"
_EVIL = '<script>alert("x")</script>'


def _parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def _words(svg: str) -> list[str]:
    return [element.text or "" for element in _parsed(svg).iter(f"{_SVG}text")]


def _bar_lengths(svg: str) -> list[float]:
    bars = [rect for rect in _parsed(svg).iter(f"{_SVG}rect") if rect.get("fill", "").startswith("#")]
    return [float(bar.get("width", "")) for bar in bars if bar.get("height") == "20"]


def test_bar_lengths_are_in_the_ratio_of_the_values() -> None:
    full, half = _bar_lengths(bar_chart([Bar("a", 100), Bar("b", 50)], title="t", axis="x"))
    assert full == pytest.approx(2 * half, rel=0.01)


def test_a_bar_of_0_is_not_drawn_and_still_has_its_value() -> None:
    chart = bar_chart([Bar("a", 0.0), Bar("b", 1e-9), Bar("c", 1)], title="t", axis="x")
    assert len(_bar_lengths(chart)) == 2 and _words(chart).count("0") == 2, "the value, and the axis's tick"


def test_a_limit_above_zero_is_where_bars_start() -> None:
    chart = bar_chart([Bar("a", 1.0), Bar("b", 0.75)], title="t", axis="x", limits=(0.5, 1.0))
    full, half = _bar_lengths(chart)
    assert full == pytest.approx(2 * half, rel=0.01)


def test_chart_names_finding_axis_values_and_origin() -> None:
    chart = bar_chart(
        [Bar("all", 0.934), Bar("few", 0.691)], title="It falls", axis="AUC", corner="generated"
    )
    root = _parsed(chart)
    assert (root.get("role"), root.get("aria-label")) == ("img", "It falls")
    assert {"AUC", "0.934", "0.691", "all", "few", "generated"} <= set(_words(chart))
    description = root.findtext(f"{_SVG}desc") or ""
    assert "all: 0.934" in description and "generated" in description


def test_text_takes_the_colour_of_the_page() -> None:
    chart = bar_chart([Bar("a", 1)], title="t", axis="x")
    assert {text.get("fill") for text in _parsed(chart).iter(f"{_SVG}text")} == {"currentColor"}


def test_nothing_in_a_chart_can_run() -> None:
    bar = Bar(_EVIL, 1, series=_EVIL, shown=_EVIL)
    for chart in (
        bar_chart([bar], title=_EVIL, axis=_EVIL, corner=_EVIL),
        line_chart(
            {_EVIL: [(0, 0), (1, 1)]},
            title=_EVIL,
            x_axis=_EVIL,
            y_axis=_EVIL,
            marks={_EVIL: 0.5},
            corner=_EVIL,
        ),
    ):
        assert "<script" not in chart
        _parsed(chart)


def test_series_differ_without_colour() -> None:
    bars = [Bar("a", 1, series="with"), Bar("a", 2, series="without")]
    chart = bar_chart(bars, title="t", axis="x")
    patterns = [pattern.get("id") for pattern in _parsed(chart).iter(f"{_SVG}pattern")]
    assert len(patterns) == 1 and f"url(#{patterns[0]})" in chart
    assert {"with", "without"} <= set(_words(chart))


def test_two_charts_do_not_share_a_pattern() -> None:
    charts = [
        bar_chart([Bar("a", 1, series="x"), Bar("a", top, series="y")], title="t", axis="x") for top in (2, 3)
    ]
    first, second = ({*re.findall(r"url\(#([^)]+)\)", chart)} for chart in charts)
    assert first and second and not first & second


def test_a_prediction_stands_on_the_axis_and_in_the_description() -> None:
    chart = bar_chart([Bar("a", 10, prediction=40)], title="t", axis="x")
    assert "your prediction" in _words(chart)
    assert "(your prediction: 40)" in chart
    assert "40" in _words(chart), "the axis reaches as far as the guess"


def test_a_missing_value_is_said_and_not_drawn() -> None:
    chart = bar_chart([Bar("a", None), Bar("b", 3)], title="t", axis="x")
    assert "no value" in _words(chart) and len(_bar_lengths(chart)) == 1


@pytest.mark.parametrize(
    "bars", [[], [Bar("a", 0)], [Bar("a", None)], [Bar("a", -3), Bar("b", 2)], [Bar("a", 1e12)]]
)
def test_unusual_values_still_give_a_chart(bars: list[Bar]) -> None:
    assert "nan" not in bar_chart(bars, title="t", axis="x").lower()
    _parsed(bar_chart(bars, title="t", axis="x"))


@pytest.mark.parametrize(
    "lines", [{}, {"a": []}, {"a": [(1, 5)]}, {"a": [(0, 0), (1, 1)], "b": [(0, 1), (1, 1)]}]
)
def test_line_chart_of_any_number_of_points(lines: dict[str, list[tuple[float, float]]]) -> None:
    chart = line_chart(lines, title="t", x_axis="row", y_axis="share", marks={"cut": 0.8})
    _parsed(chart)
    assert {"row", "share", "cut"} | {name for name, line in lines.items() if line} <= set(_words(chart))


def test_names_of_lines_that_end_together_do_not_overlap() -> None:
    lines = {name: [(0.0, 0.0), (1.0, 1.0)] for name in ("one", "two", "three")}
    texts = [
        text
        for text in _parsed(line_chart(lines, title="t", x_axis="x", y_axis="y")).iter(f"{_SVG}text")
        if text.text in lines
    ]
    heights = sorted(float(text.get("y", "")) for text in texts)
    assert len(heights) == 3
    assert all(after - before >= 17 for before, after in pairwise(heights))


@pytest.mark.parametrize(
    ("low", "high"), [(0, 0.934), (0, 1450), (0.5, 1), (-3, 2), (0, 0), (5, 5), (0, 1e-6)]
)
def test_ticks_are_few_and_cover_the_values(low: float, high: float) -> None:
    ticks = round_ticks(low, high)
    assert 2 <= len(ticks) <= 6
    assert ticks[0] <= low and ticks[-1] >= high


def test_numbers_are_written_for_people() -> None:
    shown = [format_number(value) for value in (41188, 0.93412, 1450.6, 51.2, 0.0012345, 0, float("nan"))]
    assert shown == ["41,188", "0.934", "1,451", "51.2", "0.00123", "0", "nan"]


def _outside(svg: str) -> list[str]:
    """Return the texts that reach over the picture's edges, by the letters' own widths."""
    root = _parsed(svg)
    right = float(root.get("viewBox", "").split()[2])
    found = []
    for text in root.iter(f"{_SVG}text"):
        wide = width_of(
            text.text or "", float(text.get("font-size", "")), bold=text.get("font-weight") == "600"
        )
        anchor = text.get("text-anchor", "")
        start = float(text.get("x", "")) - {"start": 0.0, "middle": wide / 2, "end": wide}[anchor]
        if start < 0 or start + wide > right:
            found.append(f"{text.text} ({start:.0f} to {start + wide:.0f})")
    return found


_LENGTHS = (25, 30, 60, 400)
_WORDS = "Checkpoints written WHILE a Mammoth of 8,030,261,248 parameters trains on"


@pytest.mark.parametrize("breaks", [True, False], ids=["words", "one word"])
@pytest.mark.parametrize("length", _LENGTHS)
def test_labels_values_and_names_of_any_length_stay_inside(length: int, breaks: bool) -> None:
    words = (_WORDS * 9)[:length] if breaks else (_WORDS * 9).replace(" ", "_")[:length]
    for guess in (None, 90.0, 100.0):
        bars = [
            Bar(words, 100.0, series=words, shown=words, prediction=guess, low=90.0, high=100.0),
            Bar("b", 1.0, series="other"),
        ]
        assert _outside(bar_chart(bars, title="t", axis=words, corner=words)) == []
    lines = {words: [(0.0, 0.0), (1.0, 1e13)], f"{words} too": [(0.0, 0.0), (1.0, 1.0)]}
    chart = line_chart(lines, title="t", x_axis=words, y_axis=words, marks={words: 0.4}, corner=words)
    assert _outside(chart) == []


def test_a_label_that_was_shortened_can_be_read_in_full() -> None:
    label = "one_checkpoint_of_a_run_with_a_name_without_any_breaks"
    (text,) = (
        text
        for text in _parsed(bar_chart([Bar(label, 1.0)], title="t", axis="x")).iter(f"{_SVG}text")
        if text.findtext(f"{_SVG}title")
    )
    assert text.findtext(f"{_SVG}title") == label
    start, end = (text.text or "").split("…")
    assert label.startswith(start) and label.endswith(end) and min(len(start), len(end)) > 8


def test_a_label_that_fits_is_whole_and_says_nothing_twice() -> None:
    label = "Opening each file once, 4 at once"
    chart = bar_chart([Bar(label, 1.0)], title="t", axis="x")
    assert "<title>" not in chart and "…" not in chart
    assert " ".join(_words(chart)).count("Opening each file once") == 1


def test_long_values_take_their_room_from_the_bars() -> None:
    def longest(shown: str) -> float:
        return max(_bar_lengths(bar_chart([Bar("a", 1.0, shown=shown)], title="t", axis="x")))

    assert longest("about 30 letters of one value") < longest("1 GB")


@pytest.mark.parametrize("words", ["", "a", "ab", "Checkpoint", "x" * 500, "漢字" * 40, "a\u0301" * 60])
@pytest.mark.parametrize("room", [0.0, 12.0, 60.0, 200.0])
def test_shortened_words_fit_or_are_the_sign_alone(words: str, room: float) -> None:
    shown = shortened(words, room)
    assert width_of(shown) <= room or shown == "…"
    assert (shown == words) == (width_of(words) <= room)


def test_lines_in_the_middle_give_way() -> None:
    lines = wrapped("one two three four five six seven eight", 60.0, most_lines=3)
    assert len(lines) == 3 and lines[0].startswith("one") and lines[-1].endswith("eight")
    assert "…" in lines[1]
    assert " ".join(wrapped("one two three four five six seven eight", 60.0)).split()[3] == "four"
