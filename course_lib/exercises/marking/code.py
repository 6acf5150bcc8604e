"""Marking a function by its properties on inputs that the learner has not seen."""

from __future__ import annotations

from importlib import import_module

from course_lib.exercises.answers import InvalidAnswerError
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError
from course_lib.exercises.marking.verdict import Verdict
from course_lib.exercises.questions import CodeQuestion


def mark(question: CodeQuestion, answer: object) -> Verdict:
    """Mark a function; see `course_lib.exercises.marking.mark`."""
    if not callable(answer):
        raise InvalidAnswerError(
            f"The answer is the function itself: hand in {question.function} without quotes and without "
            f"brackets; this is a {type(answer).__name__}."
        )
    check = import_module(f"course_lib.exercises.checks.{question.check}")
    function = FunctionOnTrial(answer, question.function)
    function.require_parameters(check.PARAMETERS)
    try:
        check.check(function)
    except PropertyFailedError as failure:
        explanation = next((w.explanation for w in question.wrong if w.symptom == failure.symptom), "")
        parts = [failure.message, explanation, _printed(function)]
        return Verdict(False, " ".join(part for part in parts if part))
    return Verdict(
        True, f"`{question.function}` has every property that was tried, on {function.calls} inputs."
    )


def _printed(function: FunctionOnTrial) -> str:
    return f"\n\nIt printed:\n\n```\n{function.printed.rstrip()}\n```" if function.printed.strip() else ""
