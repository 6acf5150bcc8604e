"""Every lesson runs from top to bottom, on generated data and on the real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_lib.experiments.lessons import Lesson, all_lessons
from course_lib.experiments.notebook_run import run_lessons
from course_lib.experiments.records import Record, load_records

LESSONS = pytest.mark.parametrize("lesson", all_lessons(), ids=lambda lesson: lesson.number)


def records_of_a_good_run(lesson: Lesson, folder: Path) -> tuple[Record, ...]:
    run = run_lessons([lesson], parent=folder, cell_timeout_seconds=300)
    assert run.succeeded, str(run.lessons[0].failure)
    return load_records(run.folder / "records")


@LESSONS
def test_lesson_runs_on_generated_data(lesson: Lesson, tmp_path: Path) -> None:
    for record in records_of_a_good_run(lesson, tmp_path):
        assert record.origin is None or record.origin.kind == "generated"


@pytest.mark.mirror
@LESSONS
def test_lesson_runs_on_the_mirror(lesson: Lesson, tmp_path: Path, mirror: Path) -> None:
    for record in records_of_a_good_run(lesson, tmp_path):
        assert record.origin is None or record.origin.kind == "mirror"
