"""Controls of a panel: a checked value first, the widgets for it only where they can be shown."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from html import escape
from numbers import Real
from typing import Any

from course_lib.errors import CourseError
from course_lib.units import parse_quantity
from course_lib.widgets.amounts import Amount
from course_lib.widgets.choices import ChoiceControl
from course_lib.widgets.control import Control, Moved, Step, need_few_controls
from course_lib.widgets.svg import format_number
from course_lib.widgets.texts import text

__all__ = ["ChoiceControl", "Control", "NumberControl", "need_few_controls"]

_HARDLY = 1e-6
"""Share of a step by which places differ only because the browser rounds in another order."""


class NumberControl(Moved):
    """A number between two ends: a slider with a box to type in beside it, kept in step.

    Parameters
    ----------
    label : str
        What is set; both parts carry it as their accessible name.
    minimum, maximum, value, step : int or float
        Whole numbers only, where all four are whole.
    unit : str
        Stands behind the box; may also be typed.

    Raises
    ------
    CourseError
        When the value is outside the ends.
    """

    def __init__(
        self,
        label: str,
        minimum: float,
        maximum: float,
        value: float,
        *,
        step: float = 1,
        unit: str = "",
    ) -> None:
        super().__init__()
        self.label = label
        self.minimum = minimum
        self.maximum = maximum
        self.step = step
        self.unit = unit
        self.whole = all(isinstance(number, int) for number in (minimum, maximum, value, step))
        self.problem = ""
        self._parts: dict[str, Any] = {}
        self._value = self.checked(value)

    @property
    def value(self) -> float:
        """The current value; setting it moves slider and box. CourseError when it is no valid one."""
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        self._take(self.checked(value))

    def checked(self, value: float | str) -> float:
        """Return a number or a typed text as a valid value of this control.

        Raises
        ------
        CourseError
            In one sentence, when it is not a number, not whole where it must be, or outside the ends.
        """
        number = self._parsed(value) if isinstance(value, str) else value
        if isinstance(number, int) and abs(number) > sys.float_info.max:
            # Neither a float nor, with thousands of digits, a text can be made of it.
            value = f"{'-' if number < 0 else ''}10^{int(math.log10(abs(number)))}"
            number = math.copysign(sys.float_info.max, number > 0 or -1)
        if not isinstance(number, Real) or isinstance(number, bool) or not math.isfinite(number):
            example = format_number(self.maximum)
            raise CourseError(text("number.not_a_number", label=self.label, found=value, example=example))
        if self.whole and number != int(number):
            raise CourseError(text("number.not_whole", label=self.label, found=value))
        if not self.minimum <= number <= self.maximum:
            raise CourseError(
                text(
                    "number.outside",
                    label=self.label,
                    low=format_number(self.minimum),
                    high=self.shown(self.maximum),
                    found=value,
                )
            )
        return int(number) if self.whole else float(number)

    def shown(self, value: float) -> str:
        """Return a value with its unit."""
        number = f"{value:,}" if self.whole else f"{value:,.10g}"
        return f"{number} {self.unit}".rstrip()

    def amount(self, value: float) -> Amount:
        """Return a value as an amount in the control's unit."""
        return Amount(float(value), self.unit)

    def widget(self) -> Any:
        """Return slider, box, unit and the place for a sentence on bad input."""
        if not self._parts:
            self._parts = self._build()
        return self._parts["all"]

    def inputs(self) -> tuple[tuple[Any, str], ...]:
        """Return the slider and the box."""
        self.widget()
        return (self._parts["slider"], "value"), (self._parts["box"], "value")

    def next_steps(self) -> Iterator[Step]:
        """Return the moves to the places beside the slider's own."""
        self.widget()
        low, high, step = self._scale()
        slider, box, beside = (self._parts[part] for part in ("slider", "box", "beside"))
        for place in (slider.value + step, slider.value - step):
            if low - _HARDLY * step <= place <= high + _HARDLY * step:
                place = min(max(place, low), high)
                value = self.checked(self._value_at(place))
                words = escape(self._beside(value))
                yield Step(place, value, ((box, "value", self._typed(value)), (beside, "value", words)))

    def _parsed(self, typed: str) -> float | None:
        """Return a typed text as a number, or None; CourseError where a comma may be a decimal mark."""
        plain = typed.strip()
        if self.unit and plain.lower().endswith(self.unit.lower()):
            plain = plain[: -len(self.unit)]
        try:
            number = parse_quantity(plain)
        except CourseError as error:
            if "," in plain:
                raise CourseError(text("number.unreadable", label=self.label, sentence=error)) from error
            return None
        return None if number.unit else number.value

    def _build(self) -> dict[str, Any]:
        import ipywidgets as widgets

        low, high, step = self._scale()
        slider_type = widgets.IntSlider if isinstance(step, int) else widgets.FloatSlider
        slider = slider_type(
            value=self._place(self._value),
            min=low,
            max=high,
            step=step,
            description=self.label,
            readout=False,
            style={"description_width": "initial"},
            layout=widgets.Layout(width="auto", flex="1 1 320px", min_width="260px"),
        )
        slider.add_class("course-slider")
        box = widgets.Text(
            value=self._typed(self._value),
            description=self.label,
            continuous_update=False,
            layout=widgets.Layout(width="110px"),
        )
        box.add_class("course-typed")
        unit = widgets.HTML(escape(self._beside(self._value)), layout=widgets.Layout(min_width="20px"))
        row = widgets.HBox([slider, box, unit])
        row.add_class("course-control")
        sentence = widgets.HTML()
        sentence.layout.display = "none"
        slider.observe(lambda change: self._moved_by_hand(self._from_slider, change["new"]), "value")
        box.observe(lambda change: self._moved_by_hand(self._from_box, change["new"]), "value")
        return {
            "slider": slider,
            "box": box,
            "beside": unit,
            "sentence": sentence,
            "all": widgets.VBox([row, sentence]),
        }

    def _typed(self, value: float) -> str:
        """Return a value as it stands in the box."""
        return str(value) if self.whole else f"{value:.10g}"

    def _beside(self, value: float) -> str:
        """Return what stands behind the box."""
        return self.unit

    def _scale(self) -> tuple[float, float, float]:
        """Return the slider's ends and its step; whole numbers where the slider has places only."""
        return self.minimum, self.maximum, self.step if not self.whole else int(self.step)

    def _place(self, value: float) -> float:
        """Return where a value stands on the slider: at the nearest place, as a browser has it too."""
        low, high, step = self._scale()
        place = low + round((value - low) / step) * step
        return min(max(int(place) if self.whole else place, low), high)

    def _value_at(self, place: float) -> float:
        """Return the value of a place on the slider."""
        return place

    def _from_slider(self, place: float) -> None:
        # A value that was typed may lie between two places; only a move of the slider changes it.
        if abs(place - self._place(self._value)) > _HARDLY * self._scale()[2]:
            self._take(self._value_at(place))

    def _from_box(self, typed: str) -> None:
        if typed == self._typed(self._value):
            # The box shows fewer digits than the value may have.
            self._say("")
            return
        try:
            value = self.checked(typed)
        except CourseError as error:
            self._say(text("number.kept", sentence=error, value=self.shown(self._value)))
            return
        self._take(value)

    def _take(self, value: float) -> None:
        """Hold a valid value, tell whoever listens, and show it in both parts."""
        changed = value != self._value
        self._value = value
        self._say("")
        if changed:
            # Before the parts: the results are what is waited for, and each part is a message of its own.
            self._tell()
        if self._parts:
            self._parts["slider"].value = self._place(self._value)
            self._parts["box"].value = self._typed(self._value)
            self._parts["beside"].value = escape(self._beside(self._value))

    def _say(self, sentence: str) -> None:
        """Show a sentence under the control, or take it away."""
        self.problem = sentence
        if self._parts:
            place = self._parts["sentence"]
            place.value = f'<p class="course-problem" role="alert">{escape(sentence)}</p>' if sentence else ""
            place.layout.display = None if sentence else "none"
