"""A control for a quantity with a unit: a slider, often logarithmic, and a box that takes any unit."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from numbers import Real

from course_lib.errors import CourseError
from course_lib.units import Quantity, format_both_readings, parse_quantity
from course_lib.widgets.amounts import Amount, shown_amount
from course_lib.widgets.controls import NumberControl
from course_lib.widgets.texts import text

_PLACES_A_DECADE = 20
_EVEN_PLACES = 100
_EXAMPLES = {"bytes": "100 KB or 1.5 GiB", "bytes/s": "200 MB/s", "seconds": "2 ms", "ratio": "75%"}
_BOTH_FROM_BYTES = 1000


class QuantityControl(NumberControl):
    """A quantity between two ends, set with a slider or typed in any unit of its dimension.

    Parameters
    ----------
    label : str
        What is set; both parts carry it as their accessible name.
    minimum, maximum, value : float or str
        In base units (bytes, bytes per second, seconds, a plain ratio), or as text: "100 KB".
    dimension : str
        What `course_lib.units` calls it: "bytes", "bytes/s", "seconds", "ratio", "number", "samples/s" ...
    log : bool, optional
        Whether equal moves multiply; without it, all do except ratios and ranges that begin at zero.
    both_readings : bool
        Whether sizes and rates from 1 KB on stand with their binary reading beside the box.
    whole : bool
        Whole numbers only.

    Raises
    ------
    CourseError
        When the value is outside the ends, or a logarithmic slider would begin at zero.

    Examples
    --------
    >>> control = QuantityControl("Bytes a sample", "1 KB", "10 MB", "100 KB")
    >>> control.value, control.checked("1.5 MiB"), control.shown(150_000)
    (100000.0, 1572864.0, '150 KB')
    """

    def __init__(
        self,
        label: str,
        minimum: float | str,
        maximum: float | str,
        value: float | str,
        *,
        dimension: str = "bytes",
        log: bool | None = None,
        both_readings: bool = True,
        whole: bool = False,
    ) -> None:
        self.dimension = dimension
        self.both_readings = both_readings and dimension in ("bytes", "bytes/s")
        self.label = label
        low, high, first = (self._number(end) for end in (minimum, maximum, value))
        self.log = log if log is not None else dimension != "ratio" and low > 0
        if self.log and low <= 0:
            raise CourseError(
                f"The logarithmic slider {label!r} cannot begin at {minimum}",
                expected="a minimum above 0",
                next_step="choose one, or log=False",
            )
        self._stops = _log_stops(low, high, whole) if self.log else _even_stops(low, high, whole)
        super().__init__(label, low, high, first)
        self.whole = whole
        self._value = self.checked(first)

    def checked(self, value: float | str | Quantity) -> float:
        """Return a number in base units, a quantity or a typed text as a valid value.

        Raises
        ------
        CourseError
            In one sentence, when it cannot be read, has another dimension, or is outside the ends.
        """
        number = self._number(value)
        if self.whole and number != round(number):
            raise CourseError(text("number.not_whole", label=self.label, found=value))
        if not self.minimum <= number <= self.maximum:
            found = value.strip() if isinstance(value, str) else self.shown(number)
            if self.dimension == "ratio" and number > 1 and self.minimum <= number / 100 <= self.maximum:
                meant = self.shown(number / 100)
                raise CourseError(text("quantity.percent", label=self.label, found=found, meant=meant))
            low, high = self.shown(self.minimum), self.shown(self.maximum)
            raise CourseError(text("quantity.outside", label=self.label, low=low, high=high, found=found))
        return int(number) if self.whole else float(number)

    def shown(self, value: float) -> str:
        """Return a value with its unit."""
        return shown_amount(value, self.dimension)

    def amount(self, value: float) -> Amount:
        """Return a value as an amount of the control's dimension."""
        return Amount(float(value), self.dimension)

    def _number(self, value: object) -> float:
        """Return a value in base units, whatever it was given as."""
        return in_base_units(value, self.dimension, self.label)

    def _typed(self, value: float) -> str:
        return self.shown(value)

    def _beside(self, value: float) -> str:
        if not self.both_readings or value < _BOTH_FROM_BYTES:
            return ""
        both = format_both_readings(value, per_second=self.dimension == "bytes/s")
        return both[both.index("=") :]

    def _scale(self) -> tuple[float, float, float]:
        return 0, len(self._stops) - 1, 1

    def _place(self, value: float) -> float:
        after = bisect_left(self._stops, value)
        if after == 0 or after == len(self._stops):
            return min(after, len(self._stops) - 1)
        below, above = self._stops[after - 1], self._stops[after]
        if self.log:
            return after if value * value >= below * above else after - 1
        return after if value - below >= above - value else after - 1

    def _value_at(self, place: float) -> float:
        return self._stops[int(place)]


def in_base_units(value: object, dimension: str, label: str) -> float:
    """Return a number, a quantity or a typed text as a number in base units.

    Parameters
    ----------
    value : number, str or Quantity
    dimension : str
        What `course_lib.units` calls it.
    label : str
        What the value is, for the sentence.

    Raises
    ------
    CourseError
        In one sentence, when it cannot be read, is not finite, has no unit where many are possible, or
        another dimension.
    """
    example = _EXAMPLES.get(dimension, shown_amount(100, dimension))
    if isinstance(value, Real) and not isinstance(value, bool):
        number = _as_float(value)
        if math.isfinite(number):
            return number
    if not isinstance(value, (str, Quantity)):
        raise CourseError(text("number.not_a_number", label=label, found=value, example=example))
    try:
        quantity = parse_quantity(value) if isinstance(value, str) else value
    except CourseError as error:
        if dimension not in _EXAMPLES:
            # An example with the unit of something else would mislead where things are counted.
            message = text("number.not_a_number", label=label, found=value, example=example)
            raise CourseError(message) from error
        raise CourseError(text("quantity.unreadable", label=label, sentence=error)) from error
    if quantity.dimension == dimension:
        return quantity.base
    # One unit only belongs to a ratio, a count or a rate of counted things; sizes and times have many.
    if quantity.unit == "" and dimension not in ("bytes", "bytes/s", "seconds"):
        return quantity.value
    if quantity.unit == "":
        raise CourseError(text("quantity.no_unit", label=label, found=quantity, example=example))
    raise CourseError(text("quantity.other", label=label, found=quantity, example=example))


def _as_float(value: Real) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _log_stops(low: float, high: float, whole: bool) -> list[float]:
    """Return round values from ``low`` to ``high``, about equally many in each power of ten."""
    if whole and high - low <= _EVEN_PLACES:
        return [float(number) for number in range(math.ceil(low), math.floor(high) + 1)]
    first = math.floor(math.log10(low) * _PLACES_A_DECADE)
    last = math.ceil(math.log10(high) * _PLACES_A_DECADE)
    rounded = (float(f"{10 ** (place / _PLACES_A_DECADE):.1e}") for place in range(first, last + 1))
    return _distinct(rounded, low, high, whole)


def _even_stops(low: float, high: float, whole: bool) -> list[float]:
    """Return values with equal gaps from ``low`` to ``high``."""
    values = (low + (high - low) * place / _EVEN_PLACES for place in range(_EVEN_PLACES + 1))
    return _distinct((float(f"{value:.10g}") for value in values), low, high, whole)


def _distinct(values: Iterable[float], low: float, high: float, whole: bool) -> list[float]:
    stops = {low, high}
    for value in values:
        stop = round(value) if whole else value
        if low < stop < high:
            stops.add(stop)
    return sorted(stops)
