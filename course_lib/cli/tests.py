"""``course test``: the workbook's own tests."""

from __future__ import annotations

import importlib.util
import sys

import click

from course_lib.cli.output import become
from course_lib.errors import CourseError


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def test(pytest_arguments: tuple[str, ...]) -> None:
    """Run the tests; what follows goes to pytest as it is.

    Tests on real data run where COURSE_DATA names a mirror, browser tests where Chromium is found.

    \b
    Example:
      course test
      course test tests/cli -k doctor
    """
    from course_lib.paths import workbook_root

    root = workbook_root()
    if importlib.util.find_spec("pytest") is None:
        raise CourseError(
            "The packages for the tests are not installed",
            next_step="run `python3 course.py test`, or `pip install -e .[test]` in your own environment",
        )
    become([sys.executable, "-m", "pytest", *pytest_arguments], folder=root)
