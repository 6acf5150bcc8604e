"""Marking: one module for each kind of question, all with ``mark(question, answer)``."""

from __future__ import annotations

from course_lib.exercises.marking import artefact, choice, code, matching, number, ordering
from course_lib.exercises.marking.verdict import Verdict
from course_lib.exercises.questions import (
    ArtefactQuestion,
    CheckedQuestion,
    ChoiceQuestion,
    CodeQuestion,
    MatchingQuestion,
    NumberQuestion,
)

__all__ = ["Verdict", "mark"]


def mark(question: CheckedQuestion, answer: object) -> Verdict:
    """Compare an answer with what the question asks for.

    Raises
    ------
    InvalidAnswerError
        When the answer cannot be read as one.
    UntouchedError
        When a function is still the stub it started as.
    """
    if isinstance(question, ArtefactQuestion):
        return artefact.mark(question, answer)
    if isinstance(question, NumberQuestion):
        return number.mark(question, answer)
    if isinstance(question, ChoiceQuestion):
        return choice.mark(question, answer)
    if isinstance(question, MatchingQuestion):
        return matching.mark(question, answer)
    if isinstance(question, CodeQuestion):
        return code.mark(question, answer)
    return ordering.mark(question, answer)
