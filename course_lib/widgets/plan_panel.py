"""A panel over one kind of plan: it can be saved, put on a page, and set to what a saved plan holds."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.experiments.plan_kinds import KINDS, inputs_of, planned
from course_lib.experiments.plan_pages import figures_of
from course_lib.planning import Plan
from course_lib.planning.rows import label_of
from course_lib.widgets.actions import Action
from course_lib.widgets.assumed import AssumedInputs, assumed_texts, assumed_value
from course_lib.widgets.controls import Control
from course_lib.widgets.panel import Panel
from course_lib.widgets.plan_files import PlanFiles, load_plan_of, save_plan_as, write_plan_page
from course_lib.widgets.texts import text
from course_lib.widgets.view import View

Place = tuple[str, ...]
"""Where a control's value stands among a plan's inputs: the input's name, and names within it."""


class PlanPanel(Panel):
    """A panel whose controls set some inputs of a plan; the others are its assumptions.

    A loaded plan brings its own assumptions: the panel then shows exactly the saved plan, says what it
    brought that no control sets, and keeps it until `forget` or another plan is loaded.

    Parameters
    ----------
    title, controls, presets, actions, large
        As for `Panel`.
    kind : str
        The kind of plan, as `course_lib.experiments.plan_kinds` calls it.
    show : callable
        Takes a plan of that kind and returns its `View`.
    fixed : mapping of str to object
        The inputs that no control sets, in SI base units.
    places : mapping of str to tuple of str, optional
        Where a control's value stands, for controls that are not called as their input.

    Examples
    --------
    >>> from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel
    >>> bandwidth_panel().plan.bytes_per_second
    204800000.0
    """

    def __init__(
        self,
        title: str,
        kind: str,
        controls: Mapping[str, Control],
        show: Callable[[Any], View],
        *,
        fixed: Mapping[str, Any] | None = None,
        places: Mapping[str, Place] | None = None,
        presets: Mapping[str, Mapping[str, Any]] | None = None,
        actions: Mapping[str, Action] | None = None,
        large: bool = False,
    ) -> None:
        self.kind = KINDS[kind]
        self._show_plan = show
        self._own = dict(fixed or {})
        self._fixed = self._own
        self._file = ""
        self._places = {name: (places or {}).get(name, (name,)) for name in controls}
        self._assumed = AssumedInputs(self._assumable(), lambda name, typed: self.assume(**{name: typed}))
        self._files = PlanFiles(
            save=lambda name: text("plan_files.saved", path=self.save(name)),
            load=self._load_and_say,
            write_page=lambda name: text("plan_files.written", path=self.write_page(name)),
            forget=self._forget_and_say,
        )
        super().__init__(
            title, controls, self._view_of, presets=presets, pin=True, actions=actions, large=large
        )

    @property
    def plan(self) -> Plan:
        """The plan for the controls' current values.

        Raises
        ------
        CourseError
            When the values have no result.
        """
        return self._planned(self.values)

    @property
    def assumptions(self) -> dict[str, str]:
        """The numbers that no control sets, as the calculator calls them, each with its present value."""
        return assumed_texts(self._all_assumed())

    def assume(self, **values: Any) -> None:
        """Set numbers that no control sets, as typing them under "Change assumptions" does.

        Parameters
        ----------
        **values : number, str or None
            By the names in `assumptions`: in base units, or as text with a unit ("10 Gbit/s"); None or an
            empty text for one that is not given.

        Raises
        ------
        CourseError
            For an unknown name, and for what cannot be read; the panel then stays as it was.

        Examples
        --------
        >>> from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel
        >>> panel = bandwidth_panel()
        >>> panel.assume(available_bytes_per_second="10 Gbit/s")
        >>> panel.plan.available_bytes_per_second
        1250000000.0
        """
        for name in values:
            if name not in self._assumable():
                raise CourseError(
                    text("assumed.unknown", title=self.title, found=name),
                    expected=", ".join(self._assumable()),
                )
        read = {name: assumed_value(name, value) for name, value in values.items()}
        self._set({}, {**self._fixed, **read}, "")

    def save(self, file: str | Path) -> Path:
        """Save the plan that is shown to a new file (JSON) and return its path.

        Raises
        ------
        CourseError
            For a bad name, a file that is there already, a folder that is not, or values without a result.
        """
        return save_plan_as(self.plan, file)

    def write_page(self, file: str | Path) -> Path:
        """Write a Markdown page about the plan that is shown to a new file and return its path.

        Raises
        ------
        CourseError
            As for `save`.
        """
        return write_plan_page(self.plan, file, title=self.title)

    def load(self, file: str | Path) -> Plan:
        """Show exactly the plan in a file: its values in the controls, and its assumptions for the rest.

        Raises
        ------
        CourseError
            When the file is missing, damaged, of a newer format or another kind, and for a value that a
            control does not take; the panel then stays as it was.
        """
        plan = load_plan_of(self.kind, file)
        values, fixed = self._taken_apart(plan)
        name = Path(str(file)).name
        self._set(values, fixed, name)
        return plan

    def forget(self) -> None:
        """Go back to the panel's own assumptions; the controls stay where they are."""
        self._set({}, self._own, "")

    def _set(self, values: Mapping[str, Any], fixed: dict[str, Any], file: str) -> None:
        self._fixed, self._file = fixed, file
        self._moving = True
        try:
            for name, value in values.items():
                self.controls[name].value = value
        finally:
            self._moving = False
        self._files.show(foreign=bool(self._brought()))
        self._assumed.show(self._all_assumed())
        self.run()

    def _load_and_say(self, name: str) -> str:
        self.load(name)
        return text("plan_files.loaded", file=self._file)

    def _forget_and_say(self) -> str:
        self.forget()
        return text("plan_files.forgotten")

    def _planned(self, values: Mapping[str, Any]) -> Plan:
        inputs = dict(self._fixed)
        for name, (first, *within) in self._places.items():
            if within:
                inputs[first] = {**inputs.get(first, {}), within[0]: values[name]}
            else:
                inputs[first] = values[name]
        return planned(self.kind, inputs)

    def _view_of(self, **values: Any) -> View:
        view = self._show_plan(self._planned(values))
        if not self._file:
            return view
        view = _loaded(view, self._file)
        brought = self._brought()
        if not brought:
            return view
        sentence = text("plan_files.brought", file=self._file, inputs="; ".join(brought))
        return replace(view, summary=f"{view.summary} {sentence}")

    def _assumable(self) -> tuple[str, ...]:
        """Return the names of the numbers that no control sets."""
        controlled = {first for first, *_ in self._places.values()}
        return tuple(
            name
            for name, parameter in self.kind.inputs().items()
            if name not in controlled and _is_number(self._own.get(name, parameter.default), parameter)
        )

    def _all_assumed(self) -> dict[str, Any]:
        """Return the assumptions with what the calculator takes where nothing is said."""
        inputs = self.kind.inputs()
        given = {name: self._fixed.get(name) for name in self._assumable()}
        return {name: inputs[name].default if value is None else value for name, value in given.items()}

    def _brought(self) -> list[str]:
        """Return what differs from the panel's own assumptions, as texts."""
        texts = []
        for name, parameter in self.kind.inputs().items():
            value = self._fixed.get(name)
            if name in self._fixed and value != self._own.get(name, parameter.default):
                figures = figures_of(name, value) or [(label_of(name), text("plan_files.not_given"))]
                texts += [f"{label} {shown}" for label, shown in figures]
        return texts

    def _taken_apart(self, plan: Plan) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the controls' values in a plan, and its other inputs."""
        inputs = inputs_of(plan)
        if any(isinstance(value, np.ndarray) for value in inputs.values()):
            raise CourseError(text("plan_files.many"), next_step=text("plan_files.use_show"))
        # A limit that was not given is infinite in a plan, and no number that it takes.
        fixed: dict[str, Any] = {name: None if value == math.inf else value for name, value in inputs.items()}
        values = {}
        for name, (first, *within) in self._places.items():
            if within:
                fixed[first] = dict(fixed[first])
                values[name] = fixed[first].pop(within[0], None)
            else:
                values[name] = fixed.pop(first)
        try:
            return {name: self.controls[name].checked(value) for name, value in values.items()}, fixed
        except CourseError as error:
            # What to type instead is no help here.
            sentence = str(error).partition(";")[0].rstrip(".")
            raise CourseError(
                text("plan_files.not_shown", sentence=sentence), next_step=text("plan_files.use_show")
            ) from error

    def _build(self) -> dict[str, Any]:
        parts = super()._build()
        *others, naming = parts["all"].children
        asked = others[1]
        *controls, pin = asked.children
        asked.children = (*controls, self._assumed.widget(self._all_assumed()), pin)
        files = self._files.widget(foreign=bool(self._brought()))
        if self.large:
            # Below the figure it would lie under the edge of a projected page.
            asked.children = (*asked.children, files)
        else:
            parts["all"].children = (*others, files, naming)
        return parts


def _loaded(view: View, file: str) -> View:
    """Return a view whose table names the file as the origin of what no control sets."""
    if view.columns[-1] != text("planning.origin"):
        return view
    assumed, loaded = text("planning.from_assumed"), text("plan_files.origin", file=file)
    rows = tuple((*row[:-1], loaded if row[-1] == assumed else row[-1]) for row in view.rows)
    return replace(view, rows=rows)


def _is_number(value: Any, parameter: inspect.Parameter) -> bool:
    """Return whether an input is a number: by the value that it has, or one that may be given."""
    if isinstance(value, bool) or parameter.annotation != "Any":
        return False
    return value is None or isinstance(value, (int, float))
