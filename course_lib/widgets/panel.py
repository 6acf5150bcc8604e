"""A panel: at most three controls over one pure function, and the view of its result."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from course_lib.errors import CourseError
from course_lib.widgets.actions import Action, Actions
from course_lib.widgets.ahead import STEP_SECONDS, Ahead
from course_lib.widgets.computing import Computing, Outcome
from course_lib.widgets.control import Setting
from course_lib.widgets.controls import Control, need_few_controls
from course_lib.widgets.naming import press
from course_lib.widgets.panel_layout import panel_widgets
from course_lib.widgets.pinned import Pinned, Row, pinned_html, pinned_rows, pinned_text
from course_lib.widgets.static import show, still_values, widgets_missing
from course_lib.widgets.style import STYLE
from course_lib.widgets.texts import text
from course_lib.widgets.view import View


class Panel:
    """Controls over a pure function; shown as the last expression of a cell.

    A move by hand is computed at once, several moves by code together when the code gives way; changes
    during a computation lead to one more, for the newest values. Where widgets do not render, the table
    and figure for the current values stand in.

    Parameters
    ----------
    title : str
        What the panel lets one try.
    controls : mapping of str to Control
        At most three, by the name of the parameter of ``compute`` that they set.
    compute : callable
        Takes the controls' values by name and returns a `View`; no side effects.
    manual : bool
        Compute only when Run is pressed: for computations that take seconds.
    presets : mapping of str to mapping, optional
        Buttons that set several controls at once, with one computation: values by the controls' names,
        by the words on the button.
    pin : bool
        Whether a result can be pinned as A and compared with the current one, B; see `View.figures`.
    actions : mapping of str to callable, optional
        Buttons that start work of some seconds, by the words on the button; see `Actions`.
    large : bool
        Large type and a page's whole width, for a room.

    Raises
    ------
    CourseError
        For more than three controls, and for a preset with a value that a control does not take.

    Examples
    --------
    >>> from course_lib.widgets import NumberControl, Panel, View
    >>> def rate(ms):
    ...     return View(f"{1000 / ms:,.0f} opens a second", "One at a time.")
    >>> panel = Panel("Serial opens", {"ms": NumberControl("Time per open", 1, 50, 2, unit="ms")}, rate)
    >>> panel.view.title, panel.at(ms=20).title
    ('500 opens a second', '50 opens a second')
    """

    def __init__(
        self,
        title: str,
        controls: Mapping[str, Control],
        compute: Callable[..., View],
        *,
        manual: bool = False,
        presets: Mapping[str, Mapping[str, Any]] | None = None,
        pin: bool = False,
        actions: Mapping[str, Action] | None = None,
        large: bool = False,
    ) -> None:
        need_few_controls(title, controls)
        self.title = title
        self.controls = dict(controls)
        self.manual = manual
        self.large = large
        self.presets = {name: self._checked(moves) for name, moves in (presets or {}).items()}
        self.pinned: Pinned | None = None
        self._can_pin = pin
        self._actions = Actions(actions, lambda: self.values) if actions else None
        self._moving = False
        self._compute = compute
        self._latest = Computing(compute, lambda: self.values, self._show)
        self._parts: dict[str, Any] = {}
        self._ahead: Ahead | None = None
        for control in self.controls.values():
            control.on_change(self._changed)

    @property
    def values(self) -> dict[str, Any]:
        """The controls' current values by name."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def view(self) -> View:
        """The view for the current values; of a manual panel, that of the last run.

        Raises
        ------
        CourseError
            When the values have no result; the sentence is the one that the panel shows.
        """
        if not self.manual or self._latest.outcome.missing:
            self._latest.now()
        outcome = self._latest.outcome
        if outcome.problem is not None:
            raise outcome.problem
        assert outcome.view is not None
        return outcome.view

    @property
    def value(self) -> Any:
        """What the computation returned for the view that is shown (`View.result`)."""
        return self.view.result

    def at(self, **values: Any) -> View:
        """Return the view for other values, without moving the controls.

        Raises
        ------
        CourseError
            For an unknown name or a value that the control does not take.
        """
        return self._compute(**{**self.values, **self._checked(values)})

    def choose(self, preset: str) -> None:
        """Set the controls as a preset has them; one computation follows, as from its button.

        Raises
        ------
        CourseError
            When there is no such preset.
        """
        if preset not in self.presets:
            options = _listed(self.presets)
            raise CourseError(text("panel.no_preset", title=self.title, found=preset, options=options))
        self._moving = True
        try:
            for name, value in self.presets[preset].items():
                self.controls[name].value = value
        finally:
            self._moving = False
        if self.values != self._latest.values_shown:
            self._changed()

    def pin(self) -> None:
        """Pin the result that is shown as A; later ones are set against it until `unpin`.

        Raises
        ------
        CourseError
            When the current values have no result.
        """
        _ = self.view
        outcome, values = self._now()
        if outcome.view is not None:
            self.pinned = Pinned(dict(values), outcome.view)
        self._show()

    def unpin(self) -> None:
        """Let go of the pinned result."""
        self.pinned = None
        self._show()

    def act(self, action: str) -> View | str | None:
        """Do an action for the current values, as its button does, and return what came of it.

        Raises
        ------
        CourseError
            When there is no such action, one is working already, or it fails.
        """
        self._known_action(action)
        assert self._actions is not None
        return self._actions.run(action)

    def run(self) -> None:
        """Compute for the current values now, as the Run button does."""
        self._latest.again()

    def widget(self) -> Any:
        """Return the panel as one ipywidgets box, always the same one."""
        if not self._parts:
            self._parts = self._build()
            self._ahead = Ahead(self.controls, lambda: self.values, self._shown_at)
            if not self.manual:
                self._latest.now()
            self._show()
        return self._parts["all"]

    def static_html(self, reason: str) -> str:
        """Return the panel without controls: the reason, the values, and the view for them."""
        note = f'<p class="course-note">{escape(self._static_sentence(reason))}</p>'
        done = self._actions.html() if self._actions else ""
        return (
            f'{STYLE}<div class="course-static"><p class="course-heading">{escape(self.title)}</p>'
            f"{note}{self._latest.outcome.html()}{self._pinned_html(*self._now())}{done}</div>"
        )

    def static_text(self, reason: str) -> str:
        """Return the same as `static_html` as plain text."""
        rows = self._pinned_rows(*self._now())
        further = [pinned_text(rows) if rows else "", self._actions.text() if self._actions else ""]
        parts = [self.title, self._static_sentence(reason), self._latest.outcome.text(), *further]
        return "\n".join(part for part in parts if part)

    def _ipython_display_(self) -> None:
        if not self.manual or (widgets_missing() and self._latest.outcome.view is None):
            self._latest.now()
        show(self)

    def __str__(self) -> str:
        if not self.manual:
            self._latest.now()
        return self.static_text(widgets_missing() or text("static.not_live"))

    def _static_sentence(self, reason: str) -> str:
        """Return why there are no controls, which values are shown, and how to see others."""
        return still_values(reason, self.controls, self._actions.names if self._actions else ())

    def _changed(self) -> None:
        """Note that a control has moved, and compute.

        A move by hand is computed before its message is answered: until then the front end holds back
        further ones and keeps the newest, so that none pile up. Code that moves several controls gets one
        computation, when it gives way.
        """
        if self._ahead is not None:
            self._ahead.withdraw()
        if self._moving:
            return
        self._latest.want()
        if self.manual:
            self._show()
        elif any(control.by_hand for control in self.controls.values()):
            self._latest.now()
        else:
            self._latest.soon()

    def _show(self) -> None:
        """Put the current state into the widgets, where there are any."""
        if self._ahead is None:
            return
        # Under the lock from here on: what another thread computes meanwhile is shown after this.
        with self._ahead.lock:
            outcome, values = self._now()
            changes = self._shown(outcome, values)
            if self.manual:
                stale = outcome.view is not None and self.values != self._latest.values_shown
                changes.append((self._parts["state"], "value", escape(text("panel.stale")) if stale else ""))
            self._ahead.put(changes)
            self._show_buttons(pinnable=outcome.view is not None)
        self._ahead.soon()

    def _show_buttons(self, *, pinnable: bool) -> None:
        """Let the buttons say what is pinned, and which presets the values are."""
        if self._can_pin:
            self._parts["unpin"].layout.display = None if self.pinned else "none"
            words = text("panel.pin_again") if self.pinned else text("panel.pin")
            self._parts["pin"].description = words
            self._parts["pin"].disabled = not pinnable
            press(self._parts["pin"], self.pinned is not None)
        values = self.values
        for name, moves in self.presets.items():
            press(self._parts["presets"][name], moves.items() <= values.items())

    def _shown(self, outcome: Outcome, values: Mapping[str, Any]) -> list[Setting]:
        """Return what the places for the view, and for what is pinned beside it, hold for an outcome."""
        changes = [(self._parts["view"], "value", outcome.html())]
        if self._can_pin:
            changes.append((self._parts["pinned"], "value", self._pinned_html(outcome, values)))
        return changes

    def _shown_at(self, values: dict[str, Any]) -> list[Setting] | None:
        """Return the same for other values; None where only a move to them can tell."""
        if self.manual or self._latest.usual_seconds > STEP_SECONDS:
            return None
        outcome = self._latest.tried(values)
        return self._shown(outcome, values) if outcome.final else None

    def _checked(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return values by the controls' names as the controls would hold them."""
        for name in values:
            if name not in self.controls:
                raise CourseError(
                    f"The panel {self.title!r} has no control {name!r}", expected=" or ".join(self.controls)
                )
        return {name: self.controls[name].checked(value) for name, value in values.items()}

    def _known_action(self, action: str) -> None:
        names = self._actions.names if self._actions else ()
        if action not in names:
            options = _listed(names)
            raise CourseError(text("panel.no_action", title=self.title, found=action, options=options))

    def _now(self) -> tuple[Outcome, Mapping[str, Any]]:
        """Return the outcome that is shown, and the values that it belongs to."""
        outcome = self._latest.outcome
        return outcome, self.values if outcome.values is None else outcome.values

    def _pinned_rows(self, outcome: Outcome, values: Mapping[str, Any]) -> tuple[Row, ...]:
        """Return the pinned result against an outcome; empty where there are not both."""
        if self.pinned is None or outcome.view is None:
            return ()
        return pinned_rows(self.pinned, self.controls, Pinned(values, outcome.view))

    def _pinned_html(self, outcome: Outcome, values: Mapping[str, Any]) -> str:
        rows = self._pinned_rows(outcome, values)
        return pinned_html(rows) if rows else ""

    def _pressed(self, button: Any) -> None:
        """Run a manual panel: say so, and take no second press meanwhile."""
        button.disabled = True
        button.description = text("panel.working")
        try:
            self.run()
        finally:
            button.description = text("panel.run")
            button.disabled = False

    def _build(self) -> dict[str, Any]:
        parts = panel_widgets(
            self.title,
            [control.widget() for control in self.controls.values()],
            presets=tuple(self.presets),
            manual=self.manual,
            pin=self._can_pin,
            actions=self._actions.widget() if self._actions else None,
            large=self.large,
        )
        for name, button in parts["presets"].items():
            button.on_click(lambda _, name=name: self.choose(name))
        if self.manual:
            parts["button"].on_click(self._pressed)
        if self._can_pin:
            parts["pin"].on_click(lambda _: self.pin())
            parts["unpin"].on_click(lambda _: self.unpin())
        return parts


def _listed(names: Iterable[str]) -> str:
    return " or ".join(repr(name) for name in names) or text("table.none")
