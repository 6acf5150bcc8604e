"""Marking a choice of one option or of several."""

from __future__ import annotations

from course_lib.exercises.answers import InvalidAnswerError, find_option, read_list
from course_lib.exercises.marking.verdict import Verdict
from course_lib.exercises.questions import ChoiceQuestion, Option


def mark(question: ChoiceQuestion, answer: object) -> Verdict:
    """Mark a choice; see `course_lib.exercises.marking.mark`."""
    if question.several:
        chosen = read_list(answer, question.options, "An answer")
    elif isinstance(answer, str):
        chosen = [find_option(answer, question.options, "The answer")]
    elif isinstance(answer, (list, tuple, set, frozenset)) and len(answer) == 1:
        chosen = [find_option(next(iter(answer)), question.options, "The answer")]
    else:
        names = ", ".join(option.id for option in question.options)
        raise InvalidAnswerError(
            f"The answer is one option ({names}) as text; this is a {type(answer).__name__}."
        )
    ids = {option.id for option in chosen}
    got = "You answered " + " and ".join(
        _named(question, option) for option in question.options if option.id in ids
    )
    if ids == set(question.answer):
        return Verdict(True, f"{got}, and that is right.")
    for wrong in question.wrong:
        if wrong.chosen in ids:
            about = f" {wrong.chosen} does not belong:" if question.several else ""
            return Verdict(False, f"{got}.{about} {wrong.explanation}")
    missing = next((w for w in question.wrong if w.missing in set(question.answer) - ids), None)
    return Verdict(
        False,
        f"{got}. All of that belongs, but it is not complete."
        + (f" {missing.explanation}" if missing else ""),
    )


def _named(question: ChoiceQuestion, option: Option) -> str:
    return option.id if question.several else f"{option.id} ({option.text.rstrip('.')})"
