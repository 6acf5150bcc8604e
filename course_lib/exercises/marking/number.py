"""Marking numbers: the unit, the size, and the mix-ups that people really make."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real

from course_lib.errors import CourseError
from course_lib.exercises.answers import InvalidAnswerError, described, shortened
from course_lib.exercises.marking.verdict import Verdict
from course_lib.exercises.questions import NumberQuestion, comparable
from course_lib.units import Quantity, parse_quantity

_LONGEST_NUMBER = 200
_WHAT = {
    "bytes": "an amount of data",
    "bytes/s": "an amount of data per second",
    "seconds": "a duration",
    "1/s": "a number per second",
    "ratio": "a share",
    "number": "a number without a unit",
}


def read_number(answer: object, placeholder: str) -> Quantity:
    """Return the quantity that a text or a plain number stands for.

    Raises
    ------
    InvalidAnswerError
        When it stands for none.
    """
    if isinstance(answer, Quantity):
        return answer
    if isinstance(answer, bool) or not isinstance(answer, (str, Real)):
        raise InvalidAnswerError(
            f'The answer is a number, such as "{placeholder}"; this is a {type(answer).__name__}.'
        )
    if isinstance(answer, str) and len(answer) > _LONGEST_NUMBER:
        raise InvalidAnswerError(
            f'The answer is a number, such as "{placeholder}"; {described(answer)!r} is too long for one.'
        )
    try:
        return parse_quantity(answer) if isinstance(answer, str) else Quantity(float(answer), "")
    except (CourseError, OverflowError) as error:
        raise InvalidAnswerError(shortened(str(error), 400)) from error


def mark(question: NumberQuestion, answer: object) -> Verdict:
    """Mark a number; see `course_lib.exercises.marking.mark`."""
    given, expected = read_number(answer, question.placeholder), question.expected
    if given.dimension == "number" and not comparable(given, expected):
        raise InvalidAnswerError(
            f'{given} has no unit: write the number with its unit, such as "{question.placeholder}".'
        )
    if question.unit and given.unit != question.unit and comparable(given, expected):
        raise InvalidAnswerError(f"{given} is not in {question.unit}: converting it is the exercise.")
    got = f"You answered {given if isinstance(answer, Quantity) else described(answer)}"
    for wrong in question.wrong:
        recognised = parse_quantity(wrong.answer)
        if comparable(given, recognised) and question.near(given.base, recognised.base):
            return Verdict(False, f"{got}. {wrong.explanation}")
    if not comparable(given, expected):
        measured, asked = (_WHAT.get(q.dimension, q.dimension) for q in (given, expected))
        return Verdict(False, f"{got}, which is {measured}; the question asks for {asked}.")
    if question.accepts(given):
        return Verdict(True, f"{got}, and that is right.")
    for factor, explanation in _mix_ups(expected):
        if expected.base and question.near(given.base, expected.base * factor):
            return Verdict(False, f"{got}. {explanation}")
    side = "large" if given.base > expected.base else "small"
    return Verdict(False, f"{got}, which is too {side}.")


def _mix_ups(expected: Quantity) -> Iterator[tuple[float, str]]:
    """Yield factors by which an answer is typically off, with what has happened then."""
    if expected.dimension in ("bytes", "bytes/s"):
        for step in (1, 2, 3, 4):
            for factor in (1.024**step, 1.024**-step):
                yield (
                    factor,
                    "Decimal and binary units look mixed up here: KB, MB and GB are powers of 1,000, "
                    "KiB, MiB and GiB powers of 1,024. Check which one the question gives and which one "
                    "it asks for.",
                )
        for factor in (8.0, 1 / 8):
            yield factor, "Bits and bytes look mixed up here: a byte has eight bits."
    if expected.dimension in ("ratio", "number"):
        for factor in (100.0, 0.01):
            yield (
                factor,
                "A percentage and a ratio look mixed up here: 75% is the ratio 0.75. "
                "Write the % sign where you mean a percentage.",
            )
        yield -1.0, "The sign is the other way round: check what is taken from what."
    for step in (1, 2, 3):
        for factor in (1000.0**step, 1000.0**-step):
            yield (
                factor,
                "The digits fit and the prefix does not: from KB to MB to GB is a factor of 1,000 each.",
            )
    for factor in (1024.0, 1 / 1024):
        yield factor, "A step of 1,024 went astray: count the prefixes (KiB, MiB, GiB) again."
    if "/" in expected.unit or expected.dimension == "seconds":
        for factor in (60.0, 1 / 60, 3600.0, 1 / 3600):
            yield factor, "Seconds, minutes and hours look mixed up here."
