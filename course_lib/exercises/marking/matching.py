"""Marking items that are sorted to targets."""

from __future__ import annotations

from collections.abc import Mapping

from course_lib.exercises.answers import InvalidAnswerError, find_option, is_untouched
from course_lib.exercises.marking.verdict import Verdict
from course_lib.exercises.questions import MatchingQuestion


def mark(question: MatchingQuestion, answer: object) -> Verdict:
    """Mark pairs; see `course_lib.exercises.marking.mark`."""
    given = _pairs(question, answer)
    wrong_items = [item.id for item in question.items if given[item.id] != question.answer[item.id]]
    right = f"{len(given) - len(wrong_items)} of {len(given)}"
    if not wrong_items:
        return Verdict(True, f"You sorted {right} as they should be.")
    recognised = next(
        (w for w in question.wrong if given[w.item] == w.target and w.item in wrong_items), None
    )
    item = recognised.item if recognised else wrong_items[0]
    target = next(option.text for option in question.targets if option.id == given[item])
    named = next(option.text for option in question.items if option.id == item)
    message = f"You sorted {right} as they should be. “{named}” does not belong to “{target}”."
    return Verdict(False, f"{message} {recognised.explanation}" if recognised else message)


def _pairs(question: MatchingQuestion, answer: object) -> dict[str, str]:
    if not isinstance(answer, Mapping):
        example = f'{{"{question.items[0].id}": "{question.targets[0].id}", ...}}'
        raise InvalidAnswerError(
            f"The answer is a dict such as {example}; this is a {type(answer).__name__}."
        )
    given: dict[str, str] = {}
    for key, value in answer.items():
        item = find_option(key, question.items, "What is sorted")
        if item.id in given:
            raise InvalidAnswerError(f"{item.id} stands in the answer more than once.")
        if not is_untouched(value):
            given[item.id] = find_option(value, question.targets, f"The target of {item.id}").id
    if missing := [f"“{item.text}”" for item in question.items if item.id not in given]:
        raise InvalidAnswerError(
            f"{', '.join(missing)} {'has' if len(missing) == 1 else 'have'} no target yet."
        )
    return given
