"""Amounts for people: a number with what it counts, and the difference between two of them in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

from course_lib.errors import CourseError
from course_lib.units import Quantity, format_bytes, format_rate, format_seconds, parse_quantity
from course_lib.widgets.svg import format_number
from course_lib.widgets.texts import text


@dataclass(frozen=True)
class Amount:
    """A number with what it counts.

    Attributes
    ----------
    value : float
        In base units where the dimension is one of the workbook's own.
    dimension : str
        "bytes", "bytes/s", "seconds", "ratio", "number", "samples/s" ..., or any other unit as it is written.
    """

    value: float
    dimension: str = "number"

    def shown(self) -> str:
        """Return the amount with its unit, four digits of it."""
        return shown_amount(self.value, self.dimension)


def shown_amount(value: float, dimension: str) -> str:
    """Return a number in base units as people read it.

    Examples
    --------
    >>> shown_amount(204.8e6, "bytes/s"), shown_amount(0.75, "ratio"), shown_amount(512, "samples/s")
    ('204.8 MB/s', '75%', '512 samples/s')
    """
    printers = {"bytes": format_bytes, "bytes/s": format_rate, "seconds": format_seconds}
    if dimension in printers:
        sign = "−" if value < 0 else ""
        return sign + printers[dimension](abs(value))
    if dimension == "ratio":
        return f"{format_number(value * 100)}%"
    unit = {"number": "", "1/s": "/s"}.get(dimension, dimension)
    return f"{format_number(value)} {unit}".rstrip()


def amount_of(value: object) -> Amount | None:
    """Return what a number, a quantity or a text with a unit amounts to; None for other texts."""
    if isinstance(value, str):
        try:
            value = parse_quantity(value)
        except CourseError:
            return None
    if isinstance(value, Quantity):
        return Amount(value.base, value.dimension)
    if isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value):
        return Amount(float(value))
    return None


def difference(first: Amount | None, second: Amount | None, *, alike: bool) -> str:
    """Return in words how the second differs from the first; ``alike`` tells it where there are no amounts.

    Examples
    --------
    >>> difference(Amount(51.2e6, "bytes/s"), Amount(204.8e6, "bytes/s"), alike=False)
    '+153.6 MB/s (4 times)'
    """
    if first is None or second is None or first.dimension != second.dimension:
        return text("pinned.same") if alike else text("pinned.other")
    change = second.value - first.value
    if change == 0:
        return text("pinned.same")
    sign = "+" if change > 0 else "−"
    if first.dimension == "ratio":
        return text("pinned.points", sign=sign, points=format_number(abs(change) * 100))
    words = sign + shown_amount(abs(change), first.dimension)
    if first.value > 0 and second.value > 0:
        return text("pinned.times", change=words, times=format_number(second.value / first.value))
    return words
