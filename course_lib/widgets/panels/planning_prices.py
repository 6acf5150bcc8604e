"""Lesson 09: a price that is the reader's own: none until it is set, and 0 is a price as well."""

from __future__ import annotations

from typing import Any

from course_lib.widgets.amounts import Amount
from course_lib.widgets.controls import NumberControl
from course_lib.widgets.texts import text


class PriceControl(NumberControl):
    """A price with a slider and a box to type in; an empty box is no price, and None as a value.

    Parameters
    ----------
    label : str
        What the price is for.
    maximum, step : float
        The upper end, and how far the slider goes at once; the lower end is 0.

    Examples
    --------
    >>> price = PriceControl("Device, hour", 20.0, step=0.1)
    >>> price.value, price.checked("0"), price.checked(" ")
    (None, 0.0, None)
    """

    def __init__(self, label: str, maximum: float, *, step: float) -> None:
        super().__init__(label, 0.0, maximum, 0.0, step=step)
        self._value: Any = None

    def checked(self, value: float | str | None) -> Any:
        """Return a price, or None for none: as `NumberControl.checked`, and for an empty text.

        Raises
        ------
        CourseError
            In one sentence, when it is no number or outside the ends.
        """
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        return super().checked(value)

    def shown(self, value: float | None) -> str:
        """Return the price, or that there is none."""
        return text("planning.unpriced") if value is None else super().shown(value)

    def amount(self, value: float | None) -> Amount | None:  # type: ignore[override]
        """Return the price as an amount; None where there is none."""
        return None if value is None else super().amount(value)

    def _typed(self, value: float | None) -> str:
        return "" if value is None else super()._typed(value)

    def _place(self, value: float | None) -> float:
        return 0.0 if value is None else super()._place(value)
