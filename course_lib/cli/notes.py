"""``course notes``: what an instructor wants to know about a lesson."""

from __future__ import annotations

import sys

import click

from course_lib.errors import CourseError


@click.command()
@click.argument("lesson")
def notes(lesson: str) -> None:
    """Print the instructor's notes of a lesson.

    Minutes, what usually goes wrong, what to ask before revealing.

    \b
    Example:
      course notes 01
    """
    from course_lib.experiments.lessons import find_lesson

    found = find_lesson(lesson)
    try:
        text = found.instructor_notes.read_text(encoding="utf-8")
    except OSError as error:
        raise CourseError(
            f"Lesson {found.number} has no readable instructor's notes",
            expected=str(found.instructor_notes),
            found=error.strerror,
        ) from error
    if not sys.stdout.isatty():
        click.echo(text, nl=False)
        return
    from rich.console import Console
    from rich.markdown import Markdown

    Console().print(Markdown(text))
