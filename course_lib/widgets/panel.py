"""A panel: at most three controls over one pure function, and the view of its result."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from course_lib.errors import CourseError
from course_lib.widgets.controls import Control, need_few_controls
from course_lib.widgets.static import show, widgets_missing
from course_lib.widgets.style import STYLE, naming_script
from course_lib.widgets.texts import text
from course_lib.widgets.view import View

_GATHERING_SECONDS = 0.015


class Panel:
    """Controls over a pure function; shown as the last expression of a cell.

    A change is computed once the controls have come to rest for a moment; changes that arrive while
    a computation runs lead to one more, for the newest values. Where widgets do not render, the table
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

    Raises
    ------
    CourseError
        For more than three controls.

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
    ) -> None:
        need_few_controls(title, controls)
        self.title = title
        self.controls = dict(controls)
        self.manual = manual
        self._compute = compute
        self._computing = threading.RLock()
        self._busy = False
        self._wanted = True
        self._waiting: set[int] = set()
        self._computed_for: dict[str, Any] | None = None
        self._view: View | None = None
        self._problem: CourseError | None = None
        self._parts: dict[str, Any] = {}
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
        if not self.manual or (self._view is None and self._problem is None):
            self._update()
        if self._problem is not None:
            raise self._problem
        assert self._view is not None
        return self._view

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
        for name in values:
            if name not in self.controls:
                raise CourseError(
                    f"The panel {self.title!r} has no control {name!r}", expected=" or ".join(self.controls)
                )
        checked = {name: self.controls[name].checked(value) for name, value in values.items()}
        return self._compute(**{**self.values, **checked})

    def run(self) -> None:
        """Compute for the current values now, as the Run button does."""
        self._wanted = True
        self._computed_for = None
        self._update()

    def widget(self) -> Any:
        """Return the panel as one ipywidgets box, always the same one."""
        if not self._parts:
            self._parts = self._build()
            if not self.manual:
                self._update()
            self._show()
        return self._parts["all"]

    def static_html(self, reason: str) -> str:
        """Return the panel without controls: the reason, the values, and the view for them."""
        note = f'<p class="course-note">{escape(self._static_sentence(reason))}</p>'
        return (
            f'{STYLE}<div class="course-static"><p class="course-heading">{escape(self.title)}</p>'
            f"{note}{self._content()}</div>"
        )

    def static_text(self, reason: str) -> str:
        """Return the same as `static_html` as plain text."""
        content = self._problem or (self._view.text() if self._view else text("panel.press_run"))
        return f"{self.title}\n{self._static_sentence(reason)}\n{content}"

    def _ipython_display_(self) -> None:
        if not self.manual or (widgets_missing() and self._view is None):
            self._update()
        show(self)

    def __str__(self) -> str:
        return self.static_text(widgets_missing() or text("static.not_live"))

    def _static_sentence(self, reason: str) -> str:
        """Return why there are no controls, which values are shown, and how to see others."""
        if not self.controls:
            return reason
        chosen = "; ".join(
            text("static.value", label=control.label, value=control.shown(control.value))
            for control in self.controls.values()
        )
        call = ", ".join(f"{name}={control.value!r}" for name, control in self.controls.items())
        return text("static.values", reason=reason, chosen=chosen, call=f".at({call})")

    def _changed(self) -> None:
        """Note that a control has moved; compute soon, or now where no event loop runs."""
        self._wanted = True
        if self.manual:
            self._show()
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._update()
            return
        if id(loop) not in self._waiting:
            self._waiting.add(id(loop))
            loop.call_later(_GATHERING_SECONDS, self._update_from, id(loop))

    def _update_from(self, loop_id: int) -> None:
        self._waiting.discard(loop_id)
        self._update()

    def _update(self) -> None:
        """Compute until the result is that of the newest values, and show it."""
        with self._computing:
            if self._busy:
                return
            self._busy = True
            try:
                while self._wanted:
                    self._wanted = False
                    values = self.values
                    if values != self._computed_for:
                        self._computed_for = values
                        self._view, self._problem = self._result(values)
                    self._show()
            finally:
                self._busy = False

    def _result(self, values: dict[str, Any]) -> tuple[View | None, CourseError | None]:
        """Return the view for ``values``, or the sentence on why there is none."""
        try:
            return self._compute(**values), None
        except CourseError as error:
            return None, error
        except KeyboardInterrupt:
            self._computed_for = None
            return None, CourseError(text("panel.stopped"))
        except Exception as error:
            self._computed_for = None
            kind = type(error).__name__
            return None, CourseError(text("panel.failed", kind=kind, message=error))

    def _content(self) -> str:
        """Return what stands under the controls, as HTML."""
        if self._problem is not None:
            return f'<p class="course-problem" role="alert">{escape(str(self._problem))}</p>'
        if self._view is None:
            return f'<p class="course-note">{escape(text("panel.press_run"))}</p>'
        return self._view.html()

    def _show(self) -> None:
        """Put the current state into the widgets, where there are any."""
        if not self._parts:
            return
        self._parts["view"].value = self._content()
        if self.manual:
            stale = self._view is not None and self.values != self._computed_for
            self._parts["state"].value = escape(text("panel.stale")) if stale else ""

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
        import ipywidgets as widgets

        head = widgets.HTML(f'{STYLE}<p class="course-heading">{escape(self.title)}</p>')
        view = widgets.HTML()
        rows = [control.widget() for control in self.controls.values()]
        parts: dict[str, Any] = {"view": view}
        if self.manual:
            button = widgets.Button(
                description=text("panel.run"), button_style="primary", layout=widgets.Layout(width="auto")
            )
            button.on_click(self._pressed)
            parts |= {"button": button, "state": widgets.HTML()}
            rows.append(widgets.HBox([button, parts["state"]]))
            rows[-1].add_class("course-buttons")
        parts["all"] = widgets.VBox([head, *rows, view, naming_script()])
        parts["all"].add_class("course-panel")
        return parts
