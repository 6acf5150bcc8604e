"""Which kinds of plan there are, and a plan taken apart: its inputs, its results, what it rests on."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

from course_lib.errors import CourseError
from course_lib.planning import Plan
from course_lib.planning.core import plain
from course_lib.planning.cost import Prices

SCHEMA_VERSION = 1

_OWN = ("binding", "assumptions", "source")


@dataclass(frozen=True)
class PlanKind:
    """One kind of plan.

    Attributes
    ----------
    name : str
        As the command line and a saved file call it.
    title : str
        As a page calls it.
    module, planner, result : str
        The module in `course_lib.planning`, its function, and the name of the class it returns.
    """

    name: str
    title: str
    module: str
    planner: str
    result: str

    def function(self) -> Callable[..., Plan]:
        """Return the calculator."""
        found: Callable[..., Plan] = getattr(
            import_module(f"course_lib.planning.{self.module}"), self.planner
        )
        return found

    def inputs(self) -> dict[str, inspect.Parameter]:
        """Return what the calculator takes, by name and in order."""
        return dict(inspect.signature(self.function()).parameters)


_KINDS = (
    PlanKind("bandwidth", "Read bandwidth", "bandwidth", "read_bandwidth", "BandwidthPlan"),
    PlanKind("cache", "Cache in front of the storage", "cache", "cache_plan", "CachePlan"),
    PlanKind("capacity", "Capacity over the life cycle", "capacity", "capacity_plan", "CapacityPlan"),
    PlanKind("metadata", "Metadata operations", "metadata", "metadata_plan", "MetadataPlan"),
    PlanKind("layout", "Gain of another layout", "metadata", "layout_gain", "LayoutGain"),
    PlanKind("objects", "Requests to an object store", "objects", "object_plan", "ObjectPlan"),
    PlanKind("checkpoint", "Checkpoints", "checkpoints", "checkpoint_plan", "CheckpointPlan"),
    PlanKind("interval", "How often to save", "intervals", "interval_plan", "IntervalPlan"),
    PlanKind("cost", "Cost of one experiment cycle", "cost", "cycle_cost", "CostPlan"),
    PlanKind("choice", "The cheapest of several plans", "choice", "choice_plan", "ChoicePlan"),
    PlanKind("mlperf", "MLPerf Storage run", "mlperf", "benchmark_plan", "BenchmarkPlan"),
)
KINDS = {kind.name: kind for kind in _KINDS}
"""All kinds by name, in the order in which they are listed."""


def kind_of(plan: Plan) -> PlanKind:
    """Return which kind of plan this is.

    Raises
    ------
    CourseError
        For what is no plan, or one of a kind that is not listed.
    """
    for kind in _KINDS:
        if type(plan).__name__ == kind.result:
            return kind
    raise CourseError(
        "This is no plan that can be saved or put on a page",
        expected=f"a plan for {', '.join(KINDS)}",
        found=type(plan).__name__,
    )


def inputs_of(plan: Plan) -> dict[str, Any]:
    """Return the inputs of a plan, by the names that its calculator takes."""
    return {name: getattr(plan, name) for name in kind_of(plan).inputs()}


def results_of(plan: Plan) -> dict[str, Any]:
    """Return the results of a plan: every field that is no input, as JSON holds them."""
    inputs = kind_of(plan).inputs()
    content = plan.to_dict()
    return {
        field.name: content[field.name]
        for field in fields(plan)
        if field.name not in inputs and field.name not in _OWN
    }


def described(plan: Plan) -> dict[str, Any]:
    """Return a plan as one JSON object: a saved plan's content, and what ``--json`` prints.

    The keys are ``schema_version``, ``kind``, ``inputs`` and ``results`` (SI base units, named at the end of
    a name: bytes, seconds; a ratio is a plain number), ``binding``, ``assumptions`` and ``source``.
    """
    kind, content = kind_of(plan), plan.to_dict()
    return {
        "schema_version": SCHEMA_VERSION,
        "kind": kind.name,
        "inputs": {name: content[name] for name in kind.inputs()},
        "results": results_of(plan),
        "binding": plain(plan.binding),
        "assumptions": list(plan.assumptions),
        "source": plan.source,
    }


def planned(kind: PlanKind, inputs: Mapping[str, Any]) -> Plan:
    """Calculate a plan from inputs by name; None stands for one that is not given.

    Raises
    ------
    CourseError
        For an input that this kind does not have, one that is missing, or a value that it refuses.
    """
    taken = kind.inputs()
    given = {name: value for name, value in inputs.items() if value is not None}
    unknown = sorted(set(given) - set(taken))
    missing = [
        name for name, one in taken.items() if one.default is inspect.Parameter.empty and name not in given
    ]
    if unknown or missing:
        raise CourseError(
            f"The inputs do not fit a plan for {kind.name}",
            expected=", ".join(taken),
            found=f"{', '.join(unknown)} as well" if unknown else f"no {', '.join(missing)}",
        )
    return kind.function()(**{name: _as_taken(taken[name], value) for name, value in given.items()})


def _as_taken(parameter: inspect.Parameter, value: Any) -> Any:
    """Return a value from JSON as its calculator takes it; numbers and lists are checked there."""
    # Annotations are texts here: the calculators' modules postpone their evaluation.
    if parameter.annotation == "Prices":
        return _prices(value)
    wanted = {"bool": (bool, "true or false"), "str": (str, "a text")}.get(str(parameter.annotation))
    if wanted is not None and not isinstance(value, wanted[0]):
        raise CourseError(
            f"The input {parameter.name} is of the wrong kind", expected=wanted[1], found=repr(value)
        )
    return value


def _prices(value: Any) -> Prices:
    names = [field.name for field in fields(Prices)]
    if isinstance(value, Prices):
        return value
    if not isinstance(value, dict) or not set(value) <= set(names):
        raise CourseError("The prices are not known", expected=", ".join(names), found=repr(value))
    return Prices(**value)
