"""Questions with checks, graded hints, solutions and the learner's progress.

The public names load on first use, so that importing this package stays quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.exercises.feedback import Feedback, Page, Reconciliation
    from course_lib.exercises.lesson import (
        LessonExercises,
        LessonSummary,
        QuestionState,
        all_lessons_summary,
        lesson_names,
        open_exercises,
    )
    from course_lib.exercises.progress import Progress, VerifiedExport, verify_export

__all__ = [
    "Feedback",
    "LessonExercises",
    "LessonSummary",
    "Page",
    "Progress",
    "QuestionState",
    "Reconciliation",
    "VerifiedExport",
    "all_lessons_summary",
    "lesson_names",
    "open_exercises",
    "verify_export",
]

_HOMES = {
    **dict.fromkeys(("Feedback", "Page", "Reconciliation"), "feedback"),
    **dict.fromkeys(("Progress", "VerifiedExport", "verify_export"), "progress"),
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES.get(name, 'lesson')}"), name)
