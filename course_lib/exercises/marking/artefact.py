"""Marking something made on the disk, by opening it and verifying what it is for real."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from course_lib.exercises.answers import UntouchedError, is_untouched
from course_lib.exercises.marking.trial import PropertyFailedError
from course_lib.exercises.marking.verdict import Verdict
from course_lib.exercises.questions import ArtefactQuestion


def mark(question: ArtefactQuestion, answer: object) -> Verdict:
    """Mark an artefact; see `course_lib.exercises.marking.mark`. Its digest is what goes on record."""
    if isinstance(answer, Path) and is_untouched(str(answer)):
        raise UntouchedError(f"`{question.variable}` names no folder yet.")
    check = import_module(f"course_lib.exercises.checks.{question.check}")
    artefact = check.opened(answer)
    kept = f"sha256 {artefact.digest}"
    try:
        found = check.check(artefact)
    except PropertyFailedError as failure:
        explanation = next((w.explanation for w in question.wrong if w.symptom == failure.symptom), "")
        return Verdict(False, " ".join(part for part in (failure.message, explanation) if part), kept)
    return Verdict(True, found, kept)
