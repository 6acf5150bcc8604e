"""``course test``: the workbook's own tests."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence

import click

from course_lib.cli.output import become
from course_lib.errors import CourseError

AT_ONCE = 2
"""Test processes for the whole suite: a third would only take the others' cores on a small laptop."""
_ONE_BY_ONE = {"-s", "--capture=no", "--pdb", "--trace"}


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.argument("pytest_arguments", nargs=-1, type=click.UNPROCESSED)
def test(pytest_arguments: tuple[str, ...]) -> None:
    """Run the tests; what follows goes to pytest as it is.

    All of them run in two processes at once, some chosen by path or by name in one; -n sets another number.
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
    command = [sys.executable, "-m", "pytest", *_processes(pytest_arguments), *pytest_arguments]
    become(command, folder=root)


def _processes(pytest_arguments: Sequence[str]) -> tuple[str, ...]:
    """Return pytest's options for several processes; the tests of a file stay together in one."""
    processes = min(AT_ONCE, os.cpu_count() or 1)
    some_only = not all(argument.startswith("-") for argument in pytest_arguments)
    if processes == 1 or some_only or _ONE_BY_ONE.intersection(pytest_arguments):
        return ()
    return "--numprocesses", str(processes), "--dist", "loadfile"
