"""What a panel assumes: a box to type in for each number that no control sets, shown when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from course_lib.errors import CourseError
from course_lib.planning.rows import dimension_of, label_of
from course_lib.widgets.amounts import shown_amount
from course_lib.widgets.naming import press, toggle
from course_lib.widgets.quantity import in_base_units
from course_lib.widgets.texts import text


def assumed_value(name: str, value: object) -> float | None:
    """Return a number in base units from what was given or typed; None for an empty text.

    Raises
    ------
    CourseError
        In one sentence, when it cannot be read or has another unit.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    return in_base_units(value, dimension_of(name), label_of(name).capitalize())


def assumed_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values in base units as people read them; None is not given."""
    return {name: _typed(name, value) or text("assumed.not_given") for name, value in values.items()}


class AssumedInputs:
    """The button that shows a panel's assumptions, and a box for each.

    Parameters
    ----------
    names : sequence of str
        Inputs of the calculator.
    take : callable
        Takes a name and what was typed; CourseError when it cannot be read.
    """

    def __init__(self, names: Sequence[str], take: Callable[[str, str], None]) -> None:
        self._names = tuple(names)
        self._take = take
        self._parts: dict[str, Any] = {}
        self._shown: dict[str, str] = {}

    def widget(self, values: Mapping[str, Any]) -> Any:
        """Return the button with the boxes, always the same box."""
        if not self._parts:
            self._parts = self._build()
            self.show(values)
        return self._parts["all"]

    def show(self, values: Mapping[str, Any]) -> None:
        """Put values in base units into the boxes; None and what is missing stands for not given."""
        self._shown = {name: _typed(name, values.get(name)) for name in self._names}
        for name, shown in self._shown.items():
            if self._parts:
                self._parts[name].value = shown

    def _build(self) -> dict[str, Any]:
        import ipywidgets as widgets

        parts: dict[str, Any] = {"said": widgets.HTML()}
        for name in self._names:
            parts[name] = widgets.Text(
                description=label_of(name).capitalize(),
                placeholder=text("assumed.not_given"),
                continuous_update=False,
                style={"description_width": "initial"},
                layout=widgets.Layout(width="auto", margin="2px 16px 2px 0"),
            )
            parts[name].observe(lambda change, name=name: self._typed_in(name, change["new"]), "value")
        boxes = widgets.HBox([parts[name] for name in self._names])
        boxes.add_class("course-assumed")
        parts["boxes"] = widgets.VBox([boxes, parts["said"]], layout=widgets.Layout(display="none"))
        parts["button"] = toggle(
            widgets.Button(description=text("assumed.button"), layout=widgets.Layout(width="auto"))
        )
        parts["button"].on_click(lambda _: self._turn())
        row = widgets.HBox([parts["button"]])
        row.add_class("course-buttons")
        parts["all"] = widgets.VBox([row, parts["boxes"]])
        return parts

    def _turn(self) -> None:
        layout = self._parts["boxes"].layout
        layout.display = None if layout.display == "none" else "none"
        press(self._parts["button"], layout.display is None)

    def _typed_in(self, name: str, typed: str) -> None:
        if typed == self._shown[name]:
            return
        sentence = ""
        try:
            self._take(name, typed)
        except CourseError as error:
            sentence = text(
                "number.kept", sentence=error, value=self._shown[name] or text("assumed.not_given")
            )
        self._parts["said"].value = (
            f'<p class="course-problem" role="alert">{escape(sentence)}</p>' if sentence else ""
        )


def _typed(name: str, value: Any) -> str:
    return "" if value is None else shown_amount(float(value), dimension_of(name))
