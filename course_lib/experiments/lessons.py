"""The lessons that are there, found by their numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.paths import notebooks_folder


@dataclass(frozen=True)
class Lesson:
    """One lesson: its two digits, its name, its notebook."""

    number: str
    name: str
    notebook: Path

    @property
    def instructor_notes(self) -> Path:
        """Where the instructor's notes of the lesson are, if it has any."""
        return self.notebook.parent / "instructor" / f"{self.notebook.stem}.md"


def all_lessons() -> tuple[Lesson, ...]:
    """Return the lessons in the order of their numbers."""
    found = []
    for notebook in sorted(notebooks_folder().glob("*.ipynb")):
        match = re.fullmatch(r"(\d\d)_(\w+)", notebook.stem)
        if match:
            found.append(Lesson(match[1], match[2], notebook))
    return tuple(found)


def find_lesson(wanted: str) -> Lesson:
    """Return one lesson by its number ("1", "01") or its name ("01_prediction_time").

    Raises
    ------
    CourseError
        When there is no such lesson; names those that there are.
    """
    lessons = all_lessons()
    number = wanted.strip().removesuffix(".ipynb")
    for lesson in lessons:
        if (number.isdigit() and number.zfill(2) == lesson.number) or number in (
            lesson.name,
            lesson.notebook.stem,
        ):
            return lesson
    there_are = ", ".join(f"{lesson.number} ({lesson.name})" for lesson in lessons)
    raise CourseError(
        f"There is no lesson {wanted}",
        expected=f"one of {there_are}" if there_are else f"notebooks in {notebooks_folder()}",
        next_step="choose one that is there, by its number",
    )


def find_lessons(wanted: Iterable[str]) -> tuple[Lesson, ...]:
    """Return several lessons in the order asked for, each once; ``all`` stands for every lesson."""
    chosen: dict[str, Lesson] = {}
    for one in wanted:
        for lesson in all_lessons() if one == "all" else (find_lesson(one),):
            chosen.setdefault(lesson.number, lesson)
    return tuple(chosen.values())
