"""A run's surroundings: the machine and its readiness, measurement records, lessons run without a screen.

Every name is loaded when it is first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.experiments.environment import Check, can_run, check_environment
    from course_lib.experiments.lessons import Lesson, all_lessons, find_lesson, find_lessons
    from course_lib.experiments.machine import Machine, describe_machine
    from course_lib.experiments.notebook_run import Run, run_lessons
    from course_lib.experiments.records import Record, load_record, load_records, publish_record

_HOME_OF = {
    "Check": "environment",
    "Lesson": "lessons",
    "Machine": "machine",
    "Record": "records",
    "Run": "notebook_run",
    "all_lessons": "lessons",
    "can_run": "environment",
    "check_environment": "environment",
    "describe_machine": "machine",
    "find_lesson": "lessons",
    "find_lessons": "lessons",
    "load_record": "records",
    "load_records": "records",
    "publish_record": "records",
    "run_lessons": "notebook_run",
}

__all__ = [
    "Check",
    "Lesson",
    "Machine",
    "Record",
    "Run",
    "all_lessons",
    "can_run",
    "check_environment",
    "describe_machine",
    "find_lesson",
    "find_lessons",
    "load_record",
    "load_records",
    "publish_record",
    "run_lessons",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
