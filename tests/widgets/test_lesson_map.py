"""The map links the lessons that are there and says in words how far the learner is."""

from __future__ import annotations

from course_lib.widgets import LessonRow, course_map

_ROWS = [
    LessonRow("00", "Start here", "Is this machine ready?", "00_start_here.ipynb"),
    LessonRow("01", "Prediction <time>", "Which fields?", "01 prediction.ipynb", 3, 8),
    LessonRow("02", "Bytes", "How big?", "", 0, 5),
]


def _row(number: str) -> str:
    return course_map(_ROWS)._repr_html_().split(f"<td>{number}</td>")[1].split("</tr>")[0]


def test_lessons_that_are_there_are_links() -> None:
    assert 'href="00_start_here.ipynb"' in _row("00")
    assert 'href="01%20prediction.ipynb"' in _row("01")
    assert "href" not in _row("02") and "not part of this edition" in _row("02")


def test_progress_is_said_in_words_beside_the_bar() -> None:
    assert "3 of 8 solved" in _row("01") and "width:38%" in _row("01")
    assert "nothing to solve" in _row("00") and "course-bar" not in _row("00")


def test_titles_are_text() -> None:
    assert "Prediction &lt;time&gt;" in _row("01")


def test_map_as_text_has_every_lesson() -> None:
    lines = str(course_map(_ROWS)).splitlines()
    assert lines[1] == "01  Prediction <time>: Which fields? [3 of 8 solved]"
    assert len(lines) == 3
