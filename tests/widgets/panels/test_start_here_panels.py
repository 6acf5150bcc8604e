"""Lesson 00's panels: the machine's state, the choice of data, and the map."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_lib.datasets import choose_source, chosen_source
from course_lib.exercises import open_exercises
from course_lib.experiments.environment import Check
from course_lib.widgets.panels.start_here import data_panel, environment_view, map_view


def test_each_problem_stands_with_its_remedy_and_decides_the_title():
    fine = Check("cores", "ok", "8")
    slow = Check("memory", "warning", "4 GB", "Close other programs.")
    broken = Check("packages", "problem", "torch is missing", "Run setup again.")
    assert environment_view([fine, slow]).title == "This machine can run the workbook"
    view = environment_view([fine, slow, broken])
    assert view.title == "This machine cannot run the workbook yet"
    assert view.summary == "1 fine, 1 to note, 1 to fix first."
    assert view.rows[2] == ("packages", "fix first", "torch is missing", "Run setup again.")


def test_the_real_check_covers_what_the_lessons_lean_on():
    names = {row[0] for row in environment_view().rows}
    assert {"Python", "packages", "cores", "memory", "free disk", "shared memory", "GPU"} <= names


def test_choosing_a_source_is_kept_for_all_lessons():
    panel = data_panel()
    assert panel.values == {"source": "auto"}
    assert {row[1] for row in panel.view.rows} == {"generated"}
    panel.controls["source"].value = "official"
    assert chosen_source() == "official"
    assert "can't be loaded" in panel.view.title
    assert any("course data fetch" in str(row[2]) for row in panel.view.rows)
    panel.controls["source"].value = "generated"
    assert chosen_source() == "generated"
    assert data_panel().values == {"source": "generated"}


def test_showing_the_panel_does_not_change_the_choice():
    choose_source("generated")
    data_panel().widget()
    assert chosen_source() == "generated"


@pytest.mark.mirror
def test_a_mirror_is_shown_with_its_size(mirror: Path):
    rows = {row[0]: row for row in data_panel().view.rows}
    assert rows["bank_marketing (additional-full)"][1] == "mirror"
    assert rows["cifar10"][3] == "62.19 MB"


def test_the_map_shows_progress_and_links_to_lessons_that_are_there():
    exercises = open_exercises("01")
    exercises.submit("faster_reading", "A")
    course = map_view()
    assert [row.number for row in course.rows] == [f"{number:02d}" for number in range(16)]
    lesson = course.rows[1]
    assert (lesson.notebook, lesson.solved, lesson.total) == (
        "01_prediction_time.ipynb",
        1,
        exercises.summary().total,
    )
    assert 'href="01_prediction_time.ipynb"' in course._repr_html_()
    assert course.rows[15].notebook == ""
