"""Guesses made before a run: read, and set beside what was measured. They are never marked."""

from __future__ import annotations

from dataclasses import dataclass

from course_lib.errors import CourseError
from course_lib.exercises.answers import InvalidAnswerError, find_option
from course_lib.exercises.marking.number import read_number
from course_lib.exercises.questions import Option, PredictionQuestion, comparable
from course_lib.units import Quantity, format_bytes, format_rate, format_seconds, parse_quantity

_FORMATS = {"bytes": format_bytes, "bytes/s": format_rate, "seconds": format_seconds}
_NO_GUESS = (
    "A guess written down before the run shows what you did not expect, and that is what there is to learn."
)


@dataclass(frozen=True)
class Comparison:
    """A guess and a measurement as texts, the step between them, and what it may teach."""

    predicted: str
    measured: str
    difference: str
    message: str


def read_prediction(question: PredictionQuestion, value: object) -> str:
    """Return a guess as the text that goes on record.

    Raises
    ------
    InvalidAnswerError
        When it is no number of the kind asked for or outside its natural ends, or none of the options.
    """
    if question.options:
        return find_option(value, question.options, "The guess").id
    guess = read_number(value, question.placeholder)
    if not comparable(guess, parse_quantity(question.placeholder)):
        raise InvalidAnswerError(
            f'{guess} is not the kind of value asked for, such as "{question.placeholder}".'
        )
    if not question.allows(guess):
        raise InvalidAnswerError(_outside(question, guess))
    return " ".join(value.split()) if isinstance(value, str) else str(guess)


def _outside(question: PredictionQuestion, guess: Quantity) -> str:
    """Say between which ends a guess has to lie, and how a percentage is written."""
    sides = (("at least", question.at_least), ("at most", question.at_most))
    ends = " and ".join(f"{side} {end}" for side, end in sides if end)
    percentage = Quantity(guess.value, "%")
    meant = ""
    if guess.dimension == "number" and guess.value > 1 and question.at_most and question.allows(percentage):
        meant = f'; write "{percentage}" for a percentage'
    return f"{guess} cannot be: the value is {ends}{meant}."


def compare(question: PredictionQuestion, predicted: object, measured: object) -> Comparison:
    """Set a guess that is on record (or None) beside a measurement.

    Raises
    ------
    CourseError
        When the measurement cannot be read, which is the notebook's fault, or the guess on record cannot.
    """
    try:
        if question.options:
            return _compare_options(
                question, predicted, find_option(measured, question.options, "The result")
            )
        return _compare_numbers(question, predicted, read_number(measured, question.placeholder))
    except InvalidAnswerError as error:
        raise CourseError(
            f"The measured value for {question.id!r} could not be read", found=str(error)
        ) from error


def _compare_options(question: PredictionQuestion, predicted: object, measured: Option) -> Comparison:
    guess = next((option for option in question.options if option.id == predicted), None)
    if guess is None:
        return Comparison("", _quoted(measured), "", _NO_GUESS)
    message = question.same if guess.id == measured.id else question.other
    return Comparison(_quoted(guess), _quoted(measured), "", message)


def _quoted(option: Option) -> str:
    return f"{option.id} (“{option.text.rstrip('.')}”)"


def _compare_numbers(question: PredictionQuestion, predicted: object, measured: Quantity) -> Comparison:
    kind = parse_quantity(question.placeholder)
    if measured.dimension == "number" and not comparable(measured, kind):
        measured = Quantity(measured.value, _base_unit(kind))
    if not comparable(measured, kind):
        raise InvalidAnswerError(
            f"{measured} is not the kind of value asked for, such as {question.placeholder}"
        )
    shown = _shown(measured.base, kind)
    if predicted is None:
        return Comparison("", shown, "", _NO_GUESS)
    guess = _guess_on_record(question, predicted)
    tolerance = parse_quantity(question.close_within)
    allowed = tolerance.base * abs(measured.base) if tolerance.dimension == "ratio" else tolerance.base
    step = measured.base - guess.base
    apart = question.lower if step < 0 else question.higher
    message = question.close if abs(step) <= allowed else apart
    return Comparison(_as_guessed(predicted, guess), shown, _step(guess.base, measured.base, kind), message)


def _as_guessed(predicted: object, guess: Quantity) -> str:
    """Return a guess as it was typed, or as the measurement beside it: 200,000,000,000 B are 200 GB."""
    if guess.dimension in _FORMATS and "iB" not in guess.unit:
        return _FORMATS[guess.dimension](guess.base)
    return str(predicted)


def _guess_on_record(question: PredictionQuestion, predicted: object) -> Quantity:
    try:
        return read_number(predicted, question.placeholder)
    except InvalidAnswerError as error:
        raise CourseError(
            f"The guess on record for {question.id!r} could not be read",
            found=str(error),
            next_step=f'write it again with exercises.predict("{question.id}", ...)',
        ) from error


def _base_unit(kind: Quantity) -> str:
    return {"bytes": "B", "bytes/s": "B/s", "seconds": "s", "1/s": "/s"}.get(kind.dimension, kind.dimension)


def _shown(base: float, kind: Quantity) -> str:
    if kind.dimension in _FORMATS:
        return _FORMATS[kind.dimension](base)
    if kind.dimension == "ratio":
        return f"{base * 100:.3g}%"
    unit = "" if kind.dimension == "number" else f" {_base_unit(kind)}"
    return f"{base:,.4g}{unit}" if abs(base) < 1e4 else f"{base:,.0f}{unit}"


def _step(guess: float, measured: float, kind: Quantity) -> str:
    if guess == measured:
        return ""
    side = "above" if measured > guess else "below"
    if kind.dimension in ("number", "ratio") or min(guess, measured) <= 0:
        return f"That is {_shown(abs(measured - guess), kind)} {side} your guess."
    return f"That is {measured / guess:.3g} times your guess."
