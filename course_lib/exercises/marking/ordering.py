"""Marking an order of items."""

from __future__ import annotations

from course_lib.exercises.answers import InvalidAnswerError, read_list
from course_lib.exercises.marking.verdict import Verdict
from course_lib.exercises.questions import OrderingQuestion


def mark(question: OrderingQuestion, answer: object) -> Verdict:
    """Mark an order; see `course_lib.exercises.marking.mark`."""
    if isinstance(answer, (set, frozenset)):
        raise InvalidAnswerError("A set has no order: write a list.")
    given = [option.id for option in read_list(answer, question.items, "An item")]
    if len(given) < len(question.items):
        missing = ", ".join(item.id for item in question.items if item.id not in given)
        raise InvalidAnswerError(
            f"The answer names {len(given)} of the {len(question.items)} items; {missing} has no place yet."
        )
    got = f"You answered {', '.join(given)}"
    if given == list(question.answer):
        return Verdict(True, f"{got}, and that is right.")
    fitting = sum(one == other for one, other in zip(given, question.answer, strict=True))
    first = next(place for place, item in enumerate(given) if item != question.answer[place])
    message = (
        f"{got}: {fitting} of {len(given)} stand where they belong, and the first one out of place is "
        f"number {first + 1} ({given[first]})."
    )
    for wrong in question.wrong:
        if given.index(wrong.ahead[0]) < given.index(wrong.ahead[1]):
            return Verdict(False, f"{message} {wrong.explanation}")
    return Verdict(False, message)
