from __future__ import annotations

from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.experiments import lessons
from course_lib.experiments.lessons import all_lessons, find_lesson, find_lessons


@pytest.fixture(autouse=True)
def three_lessons(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("02_b.ipynb", "00_start_here.ipynb", "01_a.ipynb", "01_a.restored.ipynb", "scratch.ipynb"):
        (tmp_path / name).touch()
    monkeypatch.setattr(lessons, "notebooks_folder", lambda: tmp_path)


def test_lessons_come_in_order_and_nothing_else_is_one() -> None:
    assert [lesson.number for lesson in all_lessons()] == ["00", "01", "02"]


@pytest.mark.parametrize("words", ["1", "01", "a", "01_a", "01_a.ipynb", " 01 "])
def test_a_lesson_goes_by_number_or_name(words: str) -> None:
    assert find_lesson(words).name == "a"


def test_all_stands_for_every_lesson_and_none_comes_twice() -> None:
    assert [lesson.number for lesson in find_lessons(["02", "all", "1"])] == ["02", "00", "01"]


@pytest.mark.parametrize("words", ["03", "", "scratch", "-1", "../01"])
def test_unknown_lesson_names_those_that_there_are(words: str) -> None:
    with pytest.raises(CourseError, match=r"expected one of 00 \(start_here\), 01 \(a\), 02 \(b\)"):
        find_lesson(words)
