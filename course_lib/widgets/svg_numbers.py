"""Numbers for people, and the round values of an axis."""

from __future__ import annotations

import math


def format_number(value: float) -> str:
    """Return a number for people: thousands separated, at most four digits that mean something.

    Examples
    --------
    >>> format_number(41188), format_number(0.78249), format_number(51.2), format_number(1e-7)
    ('41,188', '0.782', '51.2', '1e-07')
    """
    if isinstance(value, bool) or not math.isfinite(value):
        return str(value)
    if value == round(value) and abs(value) < 1e15:
        return f"{round(value):,}"
    size = abs(value)
    if size >= 1000:
        return f"{value:,.0f}"
    if size < 1e-4:
        return f"{value:.2g}"
    decimals = 3 if size < 1 else 2 if size < 10 else 1
    if size < 0.01:
        decimals = 5
    return f"{value:.{decimals}f}".rstrip("0").rstrip(".")


def round_ticks(low: float, high: float, most: int = 6) -> tuple[float, ...]:
    """Return at most ``most`` round values that cover ``low`` to ``high``, both ends included.

    Examples
    --------
    >>> round_ticks(0, 0.934)
    (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    """
    if not high > low:
        high = low + (abs(low) or 1.0)
    rough = (high - low) / (most - 1)
    power = 10.0 ** math.floor(math.log10(rough))
    for multiple in (1, 2, 2.5, 5, 10, 20):
        step = multiple * power
        first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
        if last - first < most:
            break
    return tuple(round(index * step, 12) for index in range(first, last + 1))
