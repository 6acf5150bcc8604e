"""A view says the same as figure, table and sentence, with its origin."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.widgets import Bar, View, bar_view, origin_badge

_GENERATED = Origin("generated", "bank_marketing", "full", 1200, "ab" * 32, 7)


class _Cells(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.cells: list[tuple[str, str | None, str]] = []
        self._open: tuple[str, str | None] | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("th", "td", "caption"):
            self._open = (tag, dict(attrs).get("scope"))

    def handle_data(self, data: str) -> None:
        if self._open:
            self.cells.append((*self._open, data))
            self._open = None


def _view(**changes: object) -> View:
    values: dict = {
        "title": "Only one split is honest",
        "summary": "Read it off.",
        "columns": ("split", "AUC"),
        "rows": (("random", 0.9341), ("ordered", None)),
        "figure_svg": "<svg></svg>",
        "origin": _GENERATED,
        "source_note": "measured on this machine",
    }
    return View(**{**values, **changes})


def test_table_has_a_caption_and_a_scope_on_each_head() -> None:
    cells = _Cells(_view().html()).cells
    assert ("caption", None, "The same as a table") in cells
    assert ("th", "col", "split") in cells and ("th", "col", "AUC") in cells
    assert ("th", "row", "random") in cells and ("td", None, "0.934") in cells
    assert ("td", None, "no value") in cells


def test_origin_is_said_in_words_on_html_and_text() -> None:
    for shown in (_view().html(), _view().text()):
        assert "generated" in shown and "1,200 samples" in shown and "measured on this machine" in shown


@pytest.mark.parametrize("kind", ["generated", "mirror", "official"])
def test_badge_names_the_kind(kind: str) -> None:
    badge = origin_badge(Origin(kind, "ag_news", "", 10, "cd" * 32, 1))  # type: ignore[arg-type]
    assert f">{kind}</span>" in badge
    assert badge in badge._repr_html_(), "a notebook renders it"


def test_badge_without_origin_says_how_the_values_came_about() -> None:
    assert origin_badge(None) == ""
    assert "simulated" in origin_badge(None, "simulated")


def test_nothing_in_a_view_can_run() -> None:
    evil = "<img src=x onerror=alert(1)>"
    shown = _view(
        title=evil, summary=evil, columns=(evil, evil), rows=((evil, evil),), source_note=evil, warning=evil
    )
    assert "<img" not in shown.html()


def test_a_warning_comes_first() -> None:
    shown = _view(warning="This was not saved.")
    assert shown.html().index("This was not saved.") < shown.html().index("Only one split")
    assert shown.text().startswith("This was not saved.")


def test_an_uneven_row_is_refused_by_name() -> None:
    with pytest.raises(CourseError, match=r"Only one split is honest.*expected 2 values, found 1"):
        _view(rows=(("random",),))


def test_text_holds_the_whole_table() -> None:
    lines = _view().text().splitlines()
    assert "split    AUC" in lines and "random   0.934" in lines and "ordered  no value" in lines


def test_bar_view_gives_figure_and_table_the_same_values() -> None:
    bars = [
        Bar("random", 0.934, "with", prediction=0.9, low=0.92, high=0.95),
        Bar("ordered", None, "with"),
        Bar("size", 51.2, "without", shown="51.2 MB/s"),
    ]
    shown = bar_view(
        "t", bars, summary="s", axis="AUC", label_head="split", value_head="AUC", series_head="fields",
        range_name="95% interval", origin=_GENERATED,
    )  # fmt: skip
    assert shown.columns == (
        "split", "fields", "AUC", "your prediction", "95% interval, from", "95% interval, to",
    )  # fmt: skip
    assert shown.rows[0] == ("random", "with", 0.934, 0.9, 0.92, 0.95)
    assert shown.rows[1][2] == "no value" and shown.rows[2][2] == "51.2 MB/s"
    for words in ("0.934", "no value", "51.2 MB/s", "95% interval", "generated from seed 7"):
        assert words in shown.figure_svg


def test_numbers_with_units_stand_right_and_words_left() -> None:
    shown = _view(columns=("what", "rate", "note"), rows=(("a", "51.2 MB/s", "fast"), ("b", "6.4%", "slow")))
    assert '<td class="course-figure">51.2 MB/s</td><td>fast</td>' in shown.html()


def test_numbers_of_one_column_have_equally_many_decimals() -> None:
    shown = _view(rows=(("a", 0.6991), ("b", 0.67), ("c", 2), ("d", None), ("e", "0.5")))
    cells = [text for tag, _, text in _Cells(shown.html()).cells if tag == "td"]
    assert cells == ["0.699", "0.670", "2", "no value", "0.5"]


def test_the_origin_stands_once_where_the_figure_says_it() -> None:
    origin = Origin("generated", "ag_news", "", 10, "cd" * 32, 1)
    note = "measured on this machine, 3 repeats each & in turn; files of the course's own, in 4 folders"
    words = {"summary": "All.", "axis": "Samples/s", "label_head": "Layout", "value_head": "Samples/s"}
    drawn = bar_view("Fast", [Bar("files", 1.0)], origin=origin, source_note=note, **words)  # type: ignore[arg-type]
    seen = re.sub(r"<desc>.*?</desc>", "", drawn.html(), flags=re.DOTALL)
    assert seen.count("generated from seed 1") == 1
    assert "course-badge-generated" in seen
    table = View("Fast", "All.", ("Layout",), (("files",),), origin=origin, source_note=note)
    assert table.html().count("generated from seed 1") == 1
