"""`course test`: what it starts pytest with."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import Any

import pytest
from click.testing import CliRunner

from course_lib.cli import tests as tests_module
from course_lib.cli.main import course


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """Return the commands that would have been started, on a machine with eight cores."""
    commands: list[list[str]] = []
    monkeypatch.setattr(tests_module, "become", lambda command, folder: commands.append(command))
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    return commands


@pytest.mark.parametrize("words", [(), ("--durations=9",), ("-x", "-q")])
def test_the_whole_suite_runs_in_two_processes(started: list[Any], words: tuple[str, ...]) -> None:
    assert CliRunner().invoke(course, ["test", *words]).exit_code == 0
    ((python, *command),) = started
    assert python == sys.executable
    assert command == ["-m", "pytest", "--numprocesses", "2", "--dist", "loadfile", *words]


@pytest.mark.parametrize("words", [("tests/cli",), ("-k", "doctor"), ("-s",), ("--pdb",), ("-n", "4")])
def test_some_tests_and_those_that_talk_run_in_one(started: list[Any], words: tuple[str, ...]) -> None:
    assert CliRunner().invoke(course, ["test", *words]).exit_code == 0
    assert started == [[sys.executable, "-m", "pytest", *words]]


def test_one_core_runs_one_process(started: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert CliRunner().invoke(course, ["test"]).exit_code == 0
    assert started == [[sys.executable, "-m", "pytest"]]


def test_missing_test_packages_are_said_with_the_command_that_brings_them(
    started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = CliRunner().invoke(course, ["test"])
    assert done.exit_code != 0 and started == []
    assert "course.py test" in str(done.exception or done.output)
