"""What a panel needs of a control, and what all controls share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from course_lib.errors import CourseError
from course_lib.widgets.amounts import Amount

_MOST_IN_A_PANEL = 3

Setting = tuple[Any, str, Any]
"""A widget, the name of one of its traits, and the trait's value."""


@dataclass(frozen=True)
class Step:
    """A move of a slider by one place: the place, the control's value there, and what its parts then show."""

    place: Any
    value: Any
    shown: tuple[Setting, ...]


class Control(Protocol):
    """What a panel needs of a control."""

    label: str
    by_hand: bool
    """Whether the change that callbacks are being told of comes from the front end, not from code."""

    @property
    def value(self) -> Any:
        """The current value, always a valid one; setting it raises CourseError when it is none."""

    @value.setter
    def value(self, value: Any) -> None: ...

    def checked(self, value: Any) -> Any:
        """Return ``value`` as this control would hold it; CourseError when it cannot."""

    def shown(self, value: Any) -> str:
        """Return a value as text for people."""

    def amount(self, value: Any) -> Amount | None:
        """Return a value as an amount that differences can be taken of; None where there are none."""

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` after every change of the value."""

    def widget(self) -> Any:
        """Return the ipywidgets view, always the same one."""

    def inputs(self) -> Sequence[tuple[Any, str]]:
        """Return the view's widgets that set the value, each with its trait; a slider stands first."""

    def next_steps(self) -> Iterable[Step]:
        """Return the moves by one place that the slider can make from where it is."""


class Moved:
    """What all controls share: who is told of a change, and whether it was made by hand."""

    def __init__(self) -> None:
        self.by_hand = False
        self._callbacks: list[Callable[[], None]] = []

    def on_change(self, callback: Callable[[], None]) -> None:
        """Call ``callback`` after every change of the value."""
        self._callbacks.append(callback)

    def next_steps(self) -> Iterable[Step]:
        """Return no moves, as there is no slider."""
        return ()

    def _tell(self) -> None:
        for callback in self._callbacks:
            callback()

    def _moved_by_hand(self, take: Callable[[Any], None], value: Any) -> None:
        """Take a value that came from the front end."""
        before, self.by_hand = self.by_hand, True
        try:
            take(value)
        finally:
            self.by_hand = before


def need_few_controls(title: str, controls: Mapping[str, Control]) -> None:
    """Refuse more controls than one panel may have.

    Raises
    ------
    CourseError
        For more than three.
    """
    if len(controls) > _MOST_IN_A_PANEL:
        raise CourseError(
            f"The panel {title!r} has too many controls",
            expected=f"at most {_MOST_IN_A_PANEL}",
            found=len(controls),
            next_step="make two panels of it",
        )
