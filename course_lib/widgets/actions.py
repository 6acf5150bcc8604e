"""Actions of a panel: buttons that start work of some seconds and show what came of it."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping
from html import escape
from typing import Any

from course_lib.errors import CourseError
from course_lib.widgets.texts import text
from course_lib.widgets.view import View

Action = Callable[..., "View | str | None"]


class Actions:
    """Buttons over callables; one works at a time, in a thread, so that the panel goes on answering.

    A callable with a parameter ``stop`` gets a `threading.Event` by it and has to end soon after that is set;
    only then is there a Stop button.

    Parameters
    ----------
    actions : mapping of str to callable
        By the words on the button. Each takes the controls' values by name and returns a `View`, a
        sentence, or None.
    values : callable
        Returns the controls' current values by name.
    """

    def __init__(self, actions: Mapping[str, Action], values: Callable[[], dict[str, Any]]) -> None:
        self.result: View | str | None = None
        self.problem: CourseError | None = None
        self.thread: threading.Thread | None = None
        self._actions = dict(actions)
        self._values = values
        self._working = ""
        self._entry = threading.Lock()
        self._stop = threading.Event()
        self._parts: dict[str, Any] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The words on the buttons."""
        return tuple(self._actions)

    @property
    def working(self) -> str:
        """The name of the action that works now, or ""."""
        return self._working

    def run(self, name: str) -> View | str | None:
        """Do an action for the current values and return its result.

        Raises
        ------
        CourseError
            When another one is working, or the action fails.
        """
        if not self._begin(name):
            raise CourseError(text("panel.action_working", name=self._working))
        self._work(name, self._values())
        if self.problem is not None:
            raise self.problem
        return self.result

    def stop(self) -> None:
        """Ask the working action to end; without effect on one that takes no ``stop``."""
        self._stop.set()
        self._show()

    def html(self) -> str:
        """Return what came of the last action, as HTML; "" before the first one."""
        if self._working:
            words = escape(text("panel.action_working", name=self._working))
            return f'<p class="course-note" role="status">{words}</p>'
        if self.problem is not None:
            return f'<p class="course-problem" role="alert">{escape(str(self.problem))}</p>'
        if isinstance(self.result, View):
            return self.result.html()
        return f'<p class="course-note" role="status">{escape(self.result)}</p>' if self.result else ""

    def text(self) -> str:
        """Return the same as plain text."""
        if self.problem is not None:
            return str(self.problem)
        return self.result.text() if isinstance(self.result, View) else self.result or ""

    def widget(self) -> Any:
        """Return the buttons and the place for the result, always the same box."""
        if not self._parts:
            self._parts = self._build()
            self._show()
        return self._parts["all"]

    def press(self, name: str) -> None:
        """Start an action as its button does; while one is working, nothing happens."""
        if not self._begin(name):
            return
        self.thread = threading.Thread(target=self._work, args=(name, self._values()), daemon=True)
        self.thread.start()

    def _begin(self, name: str) -> bool:
        with self._entry:
            if self._working:
                return False
            self._working = name
        self._stop.clear()
        self.result, self.problem = None, None
        self._show()
        return True

    def _work(self, name: str, values: dict[str, Any]) -> None:
        extra = {"stop": self._stop} if self._can_stop(name) else {}
        try:
            self.result = self._actions[name](**values, **extra) or text("panel.done")
        except CourseError as error:
            self.problem = error
        except KeyboardInterrupt:
            self.problem = CourseError(text("panel.stopped"))
        except Exception as error:
            self.problem = CourseError(text("panel.failed", kind=type(error).__name__, message=error))
        finally:
            self._working = ""
            self._show()

    def _can_stop(self, name: str) -> bool:
        return "stop" in inspect.signature(self._actions[name]).parameters

    def _build(self) -> dict[str, Any]:
        import ipywidgets as widgets

        buttons = {}
        for name in self._actions:
            buttons[name] = widgets.Button(description=name, layout=widgets.Layout(width="auto"))
            buttons[name].on_click(lambda _, name=name: self.press(name))
        stop = widgets.Button(layout=widgets.Layout(width="auto"))
        stop.on_click(lambda _: self.stop())
        row = widgets.HBox([*buttons.values(), stop])
        row.add_class("course-buttons")
        result = widgets.HTML()
        return {"buttons": buttons, "stop": stop, "result": result, "all": widgets.VBox([row, result])}

    def _show(self) -> None:
        """Put the current state into the widgets, where there are any."""
        if not self._parts:
            return
        for button in self._parts["buttons"].values():
            button.disabled = bool(self._working)
        can_stop = bool(self._working) and self._can_stop(self._working)
        stop = self._parts["stop"]
        stop.layout.display = None if can_stop else "none"
        stop.disabled = self._stop.is_set()
        stop.description = text("panel.stopping") if self._stop.is_set() else text("panel.stop")
        self._parts["result"].value = self.html()
