"""A control for one of several named options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from course_lib.errors import CourseError
from course_lib.widgets.control import Moved
from course_lib.widgets.texts import text

_FEW = 5
_SHORT = 60


class ChoiceControl(Moved):
    """One of several named options: buttons side by side for a few short ones, a list for more.

    Parameters
    ----------
    label : str
        What is chosen.
    options : sequence of str or mapping of str to object
        Names to show; a mapping gives each name the value that the computation gets.
    value : object, optional
        The value at the start; the first one without it.

    Raises
    ------
    CourseError
        When there are no options, or the value is not among them.
    """

    def __init__(self, label: str, options: Sequence[str] | Mapping[str, Any], value: Any = None) -> None:
        super().__init__()
        self.label = label
        self.options: dict[str, Any] = (
            dict(options) if isinstance(options, Mapping) else {name: name for name in options}
        )
        self._widget: Any = None
        if not self.options:
            raise CourseError(f"The choice {label!r} has no options", next_step="give it at least one")
        self._value = self.checked(next(iter(self.options.values())) if value is None else value)

    @property
    def value(self) -> Any:
        """The current value; setting it moves the widget. CourseError when it is not among the options."""
        return self._value

    @value.setter
    def value(self, value: Any) -> None:
        self._take(self.checked(value))

    def checked(self, value: Any) -> Any:
        """Return ``value`` if it is among the options.

        Raises
        ------
        CourseError
            In one sentence that lists the options, when it is not.
        """
        if value not in self.options.values():
            raise CourseError(
                text(
                    "choice.unknown",
                    label=self.label,
                    options=", ".join(repr(option) for option in self.options.values()),
                    found=repr(value),
                )
            )
        return value

    def shown(self, value: Any) -> str:
        """Return the name of a value."""
        return next(name for name, option in self.options.items() if option == value)

    def amount(self, value: Any) -> None:
        """Return None: options have no difference."""

    def widget(self) -> Any:
        """Return the buttons or the list."""
        if self._widget is None:
            self._widget = self._build()
        return self._widget

    def inputs(self) -> tuple[tuple[Any, str], ...]:
        """Return the buttons or the list, with what a front end sets of it."""
        return ((self.widget(), "index"),)

    def _build(self) -> Any:
        import ipywidgets as widgets

        common = {
            "options": list(self.options.items()),
            "value": self._value,
            "description": self.label,
            "style": {"description_width": "initial"},
        }
        if len(self.options) <= _FEW and sum(len(name) + 4 for name in self.options) <= _SHORT:
            view = widgets.RadioButtons(
                **common, orientation="horizontal", layout=widgets.Layout(width="auto")
            )
        else:
            view = widgets.Dropdown(**common, layout=widgets.Layout(width="auto", max_width="100%"))
        view.add_class("course-choice")
        view.observe(lambda change: self._moved_by_hand(self._take, change["new"]), "value")
        return view

    def _take(self, value: Any) -> None:
        """Hold a valid value, show it, and tell whoever listens."""
        changed = value != self._value
        self._value = value
        if self._widget is not None:
            self._widget.value = value
        if changed:
            self._tell()
