"""A live panel: a task runs in a process of its own and moves a chart, and two runs stand side by side."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

from course_lib.errors import CourseError
from course_lib.watched import WatchedProcess
from course_lib.widgets.controls import ChoiceControl, Control, need_few_controls
from course_lib.widgets.live_chart import LiveChart
from course_lib.widgets.live_layout import live_widgets
from course_lib.widgets.live_run import LiveRun
from course_lib.widgets.live_table import verdict_on, view_of
from course_lib.widgets.static import show, widgets_missing
from course_lib.widgets.style import STYLE
from course_lib.widgets.texts import text
from course_lib.widgets.view import View

_DRAWING_SECONDS = 0.19
_TABLE_SECONDS = 1.0
_RESTING_SECONDS = 0.4
_SHORT_RUN_SECONDS = 2.0
_SHORT_RUN_PATIENCE_SECONDS = 120.0
_LIMIT_SECONDS = 600.0
_IDLE_SECONDS = 300.0
_IDLE_SECONDS_ON_STAGE = 1800.0

_open_panels: weakref.WeakSet[LivePanel] = weakref.WeakSet()


@dataclass(frozen=True)
class LivePreset:
    """A case to start from.

    Attributes
    ----------
    label : str
        Its name in the list.
    moves : mapping of str to object
        The controls that the case sets, and to what; they go back when another case is chosen.
    """

    label: str
    moves: Mapping[str, Any] = field(default_factory=dict)


class LivePanel:
    """Cases and at most three controls over a task that runs until it is stopped.

    A run is compared with the one before it, which is A, or with a run that was kept as A by hand. A
    control that is changed during a run starts a new run with the new value as soon as the control has
    come to rest. One panel runs at a time, so that two never share the processors. The chart moves while
    another cell runs; a click is answered when that cell is done.

    Parameters
    ----------
    title : str
        What the panel lets one see.
    presets : mapping of str to LivePreset
        Cases by id; the first one is chosen at the start.
    controls : mapping of str to Control
        At most three, by the name under which ``request`` gets their values.
    task : str
        "module:function"; see `WatchedProcess`. Its events are those of `course_lib.loading.live`; one may
        also carry a ``note`` on what is being prepared.
    request : callable
        Takes the preset's id and the controls' values by name; returns what the task gets. Two runs are
        compared only when one entry of it differs.
    words : callable
        Takes a request and returns its conditions in words.
    factor : callable, optional
        Takes the dotted name of an entry of the request and returns it in words.
    imports : sequence of str, optional
        Modules that the process loads before Start, so that the first window comes at once.
    large : bool, optional
        Large type and a page's whole width, for a room.

    Raises
    ------
    CourseError
        For more than three controls.
    """

    def __init__(
        self,
        title: str,
        presets: Mapping[str, LivePreset],
        controls: Mapping[str, Control],
        *,
        task: str,
        request: Callable[..., Mapping[str, Any]],
        words: Callable[[Mapping[str, Any]], str],
        factor: Callable[[str], str] = str,
        imports: Sequence[str] = (),
        large: bool = False,
    ) -> None:
        need_few_controls(title, controls)
        self.title = title
        self.presets = dict(presets)
        self.preset = ChoiceControl(text("live.case"), {one.label: name for name, one in presets.items()})
        self.controls = dict(controls)
        self.large = large
        self.a: LiveRun | None = None
        self.b: LiveRun | None = None
        self.kept = False
        self._task = task
        self._request = request
        self._words = words
        self._factor = factor
        self._imports = tuple(imports)
        self._standby: WatchedProcess | None = None
        self._chart = LiveChart(large=large)
        self._moved_from: dict[str, Any] = {}
        self._moving = False
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._drawn = self._tabled = 0.0
        self._problem: CourseError | None = None
        self._parts: dict[str, Any] = {}
        self.preset.on_change(self._case_chosen)
        for control in self.controls.values():
            control.on_change(self._changed)

    @property
    def values(self) -> dict[str, Any]:
        """The controls' current values by name."""
        return {name: control.value for name, control in self.controls.items()}

    @property
    def request(self) -> Mapping[str, Any]:
        """What the task would get now.

        Raises
        ------
        CourseError
            When these values have no meaning together.
        """
        return self._request(self.preset.value, **self.values)

    @property
    def running(self) -> bool:
        """Tell whether a run goes on, or is about to start again with a new value."""
        return self._timer is not None or (self.b is not None and self.b.running)

    def prepare(self) -> None:
        """Have a process ready that has loaded what the task needs; it ends by itself when left alone."""
        with self._lock:
            if self._standby is None or not self._standby.alive:
                self._standby = self._new_process()

    def start(self) -> None:
        """Start a run for the current values; one that is going on ends. Returns at once."""
        for other in tuple(_open_panels):
            if other is not self:
                other.stop()
        with self._lock:
            self._end_run()
            if not self.kept and self.b is not None and self.b.figures is not None:
                self.a = self.b
            self._chart.restart()
            self._problem = None
            try:
                asked = self.request
                run = LiveRun(self._task, asked, self._words(asked), self._news, limit_seconds=_LIMIT_SECONDS)
            except CourseError as error:
                self._problem = error
                self._show()
                return
            self.b = run
            _open_panels.add(self)
            run.start(self._take_process)
            self._show()

    def stop(self) -> None:
        """End the run: its processes, its thread and its temporary files are gone when this returns."""
        with self._lock:
            self._end_run()
            standby, self._standby = self._standby, None
        if standby is not None:
            standby.stop()
        self._show()

    def keep(self) -> None:
        """Keep the newest run as A until `release`; later runs are compared with it."""
        with self._lock:
            if self.b is not None and self.b.figures is not None:
                self.a, self.kept = self.b, True
        self._show()

    def release(self) -> None:
        """Let A be the run before the newest one again."""
        self.kept = False
        self._show()

    def run_for(self, seconds: float = _SHORT_RUN_SECONDS) -> View:
        """Run for a short time and return the table, where nobody is there to press Start.

        Raises
        ------
        CourseError
            When the task fails, or nothing comes of it for two minutes.
        """
        try:
            self.start()
            deadline = time.monotonic() + _SHORT_RUN_PATIENCE_SECONDS
            while self.running and time.monotonic() < deadline:
                points = self.b.points if self.b else []
                if points and points[-1].seconds - points[0].seconds >= seconds:
                    break
                assert self.b is not None
                self.b.ended.wait(0.05)
        finally:
            self.stop()
        problem = self._problem or (self.b and self.b.problem)
        if problem:
            raise problem
        if self.b is None or self.b.figures is None:
            raise CourseError(text("live.nothing_came"), next_step=text("live.try_again"))
        return self.view

    @property
    def view(self) -> View:
        """The runs so far as a table with the verdict; `View.result` has their figures by name."""
        runs = {name: run for name, run in zip("AB", self._side_by_side(), strict=True) if run}
        return view_of(runs, self.verdict)

    @property
    def verdict(self) -> str:
        """What the two runs tell of each other, in words."""
        return verdict_on(*self._side_by_side(), self._factor)

    def widget(self) -> Any:
        """Return the panel as one ipywidgets box, always the same one."""
        if not self._parts:
            self._parts = live_widgets(
                self.title,
                [self.preset.widget(), *(control.widget() for control in self.controls.values())],
                {"start": self.start, "stop": self.stop, "keep": self._keep_or_release},
                large=self.large,
            )
            self._show()
        return self._parts["all"]

    def static_html(self, reason: str) -> str:
        """Return the panel without controls: the reason, and the table of the runs so far."""
        return (
            f'{STYLE}<div class="course-static"><p class="course-heading">{escape(self.title)}</p>'
            f'<p class="course-note">{escape(reason)}</p>{self._problem_html()}{self.view.html()}</div>'
        )

    def static_text(self, reason: str) -> str:
        """Return the same as `static_html` as plain text."""
        return "\n".join(
            str(part) for part in (self.title, reason, self._problem or "", self.view.text()) if part
        )

    def _ipython_display_(self) -> None:
        for other in tuple(_open_panels):
            if other is not self and other.title == self.title:
                other.stop()
        if widgets_missing() or os.environ.get("COURSE_RUN_DIR", "").strip():
            try:
                self.run_for()
            except CourseError as error:
                self._problem = error
        else:
            self.prepare()
        show(self)

    def __str__(self) -> str:
        return self.static_text(widgets_missing() or text("static.not_live"))

    def _side_by_side(self) -> tuple[LiveRun | None, LiveRun | None]:
        return (self.a, None) if self.a is self.b else (self.a, self.b)

    def _take_process(self) -> WatchedProcess:
        """Return the standby, or a new process where it is gone. Called by the run's thread."""
        standby, self._standby = self._standby, None
        return standby if standby is not None and standby.alive else self._new_process()

    def _new_process(self) -> WatchedProcess:
        idle_seconds = _IDLE_SECONDS_ON_STAGE if self.large else _IDLE_SECONDS
        return WatchedProcess(self._imports, idle_seconds=idle_seconds)

    def _case_chosen(self) -> None:
        """Move the controls that the case sets, and put back those that the last case had moved."""
        self._moving = True
        try:
            back, self._moved_from = self._moved_from, {}
            for name, value in back.items():
                self.controls[name].value = value
            for name, value in self.presets[self.preset.value].moves.items():
                self._moved_from[name] = self.controls[name].value
                self.controls[name].value = value
        finally:
            self._moving = False
        self._changed()

    def _changed(self) -> None:
        """Have a process ready; a run that goes on ends, and the next starts when the controls rest.

        What the old run would still report belongs to no value that anybody chose.
        """
        if self._moving:
            return
        with self._lock:
            restart = self.running
            self._end_run()
            if restart:
                self._timer = threading.Timer(_RESTING_SECONDS, self._start_again)
                self._timer.daemon = True
                self._timer.start()
            if self._parts:
                self.prepare()
        self._show()

    def _start_again(self) -> None:
        with self._lock:
            if self._timer is threading.current_thread():
                self.start()

    def _end_run(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.b is not None and not self.b.ended.is_set():
            self.b.stop()

    def _news(self, run: LiveRun) -> None:
        """Draw what is new, a few times a second. Called by the run's thread."""
        if run is not self.b or not self._parts:
            return
        now = time.monotonic()
        if run.ended.is_set():
            self._show()
        elif now - self._drawn >= _DRAWING_SECONDS or not run.points:
            self._draw(with_table=now - self._tabled >= _TABLE_SECONDS)

    def _show(self) -> None:
        """Put everything into the widgets, where there are any."""
        if not self._parts:
            return
        parts = self._parts
        parts["start"].disabled = self.running
        parts["stop"].disabled = not self.running
        parts["keep"].description = text("live.button_release") if self.kept else text("live.button_keep")
        self._draw(with_table=True)

    def _draw(self, *, with_table: bool) -> None:
        parts = self._parts
        a, b = self._side_by_side()
        self._drawn = time.monotonic()
        parts["chart"].value = self._chart.html(b.points if b else (), a.points if a else ())
        _set(parts["state"], f'<p class="course-live-state" role="status">{escape(self._state())}</p>')
        if with_table:
            self._tabled = self._drawn
            parts["keep"].disabled = not self.kept and (b is None or b.figures is None)
            _set(parts["problem"], self._problem_html())
            parts["table"].value = self.view.html()

    def _problem_html(self) -> str:
        problem = self._problem or (self.b.problem if self.b else None)
        return f'<p class="course-problem" role="alert">{escape(str(problem))}</p>' if problem else ""

    def _state(self) -> str:
        """Return in words what the panel does at the moment."""
        if self._timer is not None:
            return text("live.changing")
        return self.b.state if self.b else text("live.ready")

    def _keep_or_release(self) -> None:
        if self.kept:
            self.release()
        else:
            self.keep()


def _set(place: Any, content: str) -> None:
    """Change a widget only when its content does, so that a screen reader speaks once."""
    if place.value != content:
        place.value = content
