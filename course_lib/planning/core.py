"""What all plans share: checked inputs, and a result that names its binding constraint and assumptions.

Every input is a number or an array of numbers in SI base units (bytes, seconds, plain ratios); arrays
broadcast against each other, so that one call evaluates a million plans.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.planning.rows import formatted, label_of

Number = float | NDArray[np.float64]
"""One number, or an array of them."""

Words = str | NDArray[np.str_]
"""One phrase, or an array of them."""

_ABSURD = 1e30
_VANISHING = 1e-30

_Inputs = ParamSpec("_Inputs")
_Result = TypeVar("_Result")

ONLY_BYTES = (
    "This is only the byte-bandwidth condition: request latency, concurrency limits, decoding and hot spots "
    "are not in it, and it promises no training time."
)


@dataclass(frozen=True)
class Plan:
    """A calculation: its inputs and results as fields, and what they rest on.

    Attributes
    ----------
    binding : str or ndarray of str
        The constraint that binds, as a phrase; an array where the inputs were arrays.
    assumptions : tuple of str
        What the figures take for granted, a sentence each.
    source : str
        Where the formula comes from.
    """

    binding: Words
    assumptions: tuple[str, ...]
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as what JSON holds: numbers, texts, lists; what is infinite becomes None."""
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    def rows(self) -> tuple[tuple[str, str], ...]:
        """Return name and value of every input and result for a table, the binding constraint last.

        Units follow from the fields' names. An array shows its range, what was not given is left out.
        """
        shown = [
            (label_of(field.name), formatted(field.name, getattr(self, field.name)))
            for field in fields(self)
            if field.name not in ("binding", "assumptions", "source")
        ]
        told = tuple((label, text) for label, text in shown if text is not None)
        return (*told, ("binding constraint", formatted("binding", self.binding) or ""))


def broadcasting(planner: Callable[_Inputs, _Result]) -> Callable[_Inputs, _Result]:
    """Make a calculator say in words that its arrays do not fit one another."""

    @wraps(planner)
    def checked(*args: _Inputs.args, **inputs: _Inputs.kwargs) -> _Result:
        try:
            return planner(*args, **inputs)
        except ValueError:
            shapes = {name: np.asarray(value).shape for name, value in inputs.items()}
            try:
                np.broadcast_shapes(*shapes.values())
            except ValueError:
                raise CourseError(
                    "The arrays of this plan do not fit one another",
                    expected="shapes that broadcast",
                    found=", ".join(f"{name} {shape}" for name, shape in shapes.items() if shape),
                ) from None
            raise

    return checked


def positive(name: str, value: Any) -> Number:
    """Return ``value`` as a float or an array of float64, all above 0.

    Raises
    ------
    CourseError
        For zero, negative, not finite, absurdly large (above 1e30) or small (below 1e-30) values and for
        what is no number.
    """
    return _checked(name, value, _VANISHING, _ABSURD, "a number above 0")


def not_negative(name: str, value: Any) -> Number:
    """Return ``value`` as a float or an array of float64, none below 0.

    Raises
    ------
    CourseError
        As for `positive`, except that 0 is welcome.
    """
    return _checked(name, value, 0.0, _ABSURD, "a number of 0 or more")


def ratio(name: str, value: Any) -> Number:
    """Return ``value`` as a share between 0 and 1.

    Raises
    ------
    CourseError
        As for `positive`, and above 1: a percentage is recognised, 75 is 0.75 as a ratio.
    """
    try:
        return _checked(name, value, 0.0, 1.0, "a ratio from 0 to 1")
    except CourseError as error:
        largest = _largest(value)
        if largest is not None and 1 < largest <= 100:
            raise CourseError(
                f"{name} is given as a percentage",
                expected="a ratio from 0 to 1",
                found=f"{largest:g}",
                next_step=f"write {largest / 100:g} for {largest:g}%",
            ) from None
        raise error


def count(name: str, value: Any, *, least: int = 1) -> Number:
    """Return ``value`` as a whole number (held as float64), ``least`` or more.

    Raises
    ------
    CourseError
        As for `positive`, and for a number with decimals.
    """
    number = _checked(name, value, float(least), _ABSURD, f"a whole number of {least} or more")
    if isinstance(number, float):
        if number != math.floor(number):
            raise CourseError(f"{name} is no whole number", expected=f"{least} or more", found=f"{number:g}")
    elif (wrong := number[number != np.floor(number)]).size:
        raise CourseError(f"{name} is no whole number", expected=f"{least} or more", found=f"{wrong[0]:g}")
    return number


def refuse_where(
    condition: Any, what: str, *, found: Callable[..., str], of: Sequence[Number] = (), next_step: str
) -> None:
    """Refuse a combination of inputs that makes no sense, wherever ``condition`` holds.

    Parameters
    ----------
    condition : bool or ndarray of bool
        Of each plan, whether it is refused.
    what, next_step : str
        As for `CourseError`.
    found : callable
        Gets the numbers in ``of`` of the first plan that is refused, and words them.
    of : sequence of float or ndarray
        Inputs that the refusal is about; they broadcast to the shape of the condition.

    Raises
    ------
    CourseError
        When it holds for one plan or more; of several plans, it names the place of the first, from 1.
    """
    if isinstance(condition, bool) and not condition:
        return
    refused = np.asarray(condition)
    if not refused.any():
        return
    first = int(refused.argmax())
    numbers = (float(np.broadcast_to(number, refused.shape).flat[first]) for number in of)
    place = f" in plan {first + 1:,} of {refused.size:,}" if refused.ndim else ""
    raise CourseError(what, found=found(*numbers) + place, next_step=next_step)


def binding_of(names: Sequence[str], limits: Sequence[Number]) -> tuple[Words, Number]:
    """Return which limit is the lowest, and its value; the first one where several are.

    Parameters
    ----------
    names : sequence of str
        A phrase for each limit.
    limits : sequence of float or ndarray
        Rates or sizes that may not be exceeded; infinity for a limit that is not set.

    Returns
    -------
    tuple
        The phrase and the lowest limit: of shape () where all limits are plain numbers.
    """
    if _plain_numbers(*limits):
        lowest: Any = min(limits)
        return names[list(limits).index(lowest)], lowest
    stacked = np.stack(np.broadcast_arrays(*limits))
    places = stacked.argmin(axis=0)
    return np.asarray(names)[places], stacked.min(axis=0)


def lowest_of(one: Number, other: Number) -> Number:
    """Return the lower of two numbers, element by element for arrays."""
    return min(one, other) if _plain_numbers(one, other) else np.minimum(one, other)


def highest_of(one: Number, other: Number) -> Number:
    """Return the higher of two numbers, element by element for arrays."""
    return max(one, other) if _plain_numbers(one, other) else np.maximum(one, other)


def rounded_up(number: Number) -> Number:
    """Return the next whole number, held as a float as `count` does."""
    return float(math.ceil(number)) if isinstance(number, float) else np.ceil(number)


def rounded_down(number: Number) -> Number:
    """Return the whole number below, held as a float as `count` does."""
    return float(math.floor(number)) if isinstance(number, float) else np.floor(number)


def _plain_numbers(*values: Number) -> bool:
    return all(isinstance(value, float) for value in values)


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """Return ``yes`` where the condition holds and ``no`` elsewhere, for numbers, texts and arrays."""
    if isinstance(condition, (bool, np.bool_)):
        return yes if condition else no
    return np.where(condition, yes, no)


def _checked(name: str, value: Any, low: float, high: float, expected: str) -> Number:
    # The plain number comes first: a slider evaluates one plan at a time.
    if isinstance(value, (float, int)) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if low <= number <= high:
            return number
        raise _refused(name, expected, number)
    if isinstance(value, (str, bytes, bool)) or value is None:
        raise CourseError(f"{name} is no number", expected=expected, found=repr(value))
    try:
        array = np.asarray(value)
        usable = array.size and array.dtype.kind in "iuf"
    except ValueError:
        usable = False
    if not usable:
        raise CourseError(
            f"{name} is no number", expected=f"{expected}, or an array of them", found=type(value).__name__
        )
    array = array.astype(np.float64, copy=False)
    good = (array >= low) & (array <= high)
    if not good.all():
        raise _refused(name, expected, float(array[~good].flat[0]))
    return float(array) if array.ndim == 0 else array


def _refused(name: str, expected: str, number: float) -> CourseError:
    if number > _ABSURD and math.isfinite(number):
        return CourseError(f"{name} is absurdly large", expected=f"at most {_ABSURD:g}", found=f"{number:g}")
    if 0 < number < _VANISHING:
        return CourseError(
            f"{name} is absurdly small", expected=f"at least {_VANISHING:g}", found=f"{number:g}"
        )
    return CourseError(f"{name} is out of range", expected=expected, found=f"{number:g}")


def _largest(value: Any) -> float | None:
    try:
        return float(np.max(np.asarray(value, dtype=np.float64)))
    except (TypeError, ValueError, OverflowError):
        return None


def plain(value: Any) -> Any:
    """Return what JSON holds of a value: lists for arrays and tuples, None for what is not finite."""
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Plan):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value
