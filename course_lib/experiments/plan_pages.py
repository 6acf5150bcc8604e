"""A plan as a page of a proposal: inputs, results, what binds, what it rests on and what it leaves open."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.experiments.plan_kinds import inputs_of, kind_of
from course_lib.experiments.plan_verdicts import verdict_of
from course_lib.experiments.plan_words import assumptions_of, binding_lines, unsaid_of
from course_lib.planning import KINDS, CapacityPlan, ChoicePlan, Constraints, Plan, Prices
from course_lib.planning.core import Number
from course_lib.planning.rows import formatted, label_of
from course_lib.units import format_both_readings, format_bytes

_PRICES = {
    "per_gb_month": "price of 1 GB stored for a month",
    "per_device_hour": "price of a device for an hour",
    "per_thousand_requests": "price of 1,000 requests",
}

_CONSTRAINTS = {
    "samples_per_second": "needed: sustained rate, at least",
    "cold_start_seconds": "needed: cold start, at most",
    "worst_loss_seconds": "needed: loss in a failure, at most",
    "headroom_ratio": "needed: free at the peak, at least",
}

# Neither given nor calculated: what the benchmark's rules state for a workload.
_PUBLISHED = {"mlperf": ("bytes_per_sample", "batch_size", "step_seconds", "needed_ratio")}

# Below a megabyte, units of 1,000 and of 1,024 differ by less than anyone's estimate.
_MAY_BE_CONFUSED = 1e6

# A result that has no limit only says that the input was not given.
_NO_LIMIT = "no limit"

_NOT_MEASURED = "Calculated from the inputs below; nothing on this page was measured."

_HOW_TO_READ = (
    'An input marked "default" was not given: the value is that of the workbook, so check it. "Published" '
    "is what the rules of a benchmark state.",
    "Sizes are decimal (1 GB = 1,000,000,000 B); where GB and GiB could be confused, both readings of the "
    "same size are shown.",
)

_OFFER_HEADS = {
    "samples_per_second": "sustained rate",
    "cold_start_seconds": "cold start",
    "worst_loss_seconds": "worst loss",
    "peak_bytes": "space at the peak",
    "disk_bytes": "disk",
    "stored_bytes": "stored",
    "waiting_seconds": "waiting",
    "rebuild_seconds": "rebuilding",
    "requests": "requests",
}

_COST_HEADS = {
    "storage_cost": "storage",
    "waiting_cost": "waiting devices",
    "rebuild_cost": "rebuilding",
    "request_cost": "requests",
    "total_cost": "total",
}


def plan_page(plans: Plan | Sequence[Plan], *, title: str = "Storage plan", notes: Sequence[str] = ()) -> str:
    """Return a Markdown page for a proposal.

    Parameters
    ----------
    plans : Plan or sequence of Plan
        What to show, in this order; plans over arrays show ranges.
    title : str
        The heading of the page.
    notes : sequence of str
        Sentences to go with the summary, such as where an input comes from.

    Raises
    ------
    CourseError
        When there is no plan, or something else is among them.
    """
    shown = [plans] if isinstance(plans, Plan) else list(plans)
    if not shown:
        raise CourseError("There is no plan for the page", expected="one plan or more")
    short = [f"- **{kind_of(plan).title}**: {_inline(_headline(plan))}" for plan in shown]
    sections = [line for plan in shown for line in (_section(plan), "")]
    left_open = [
        f"- **{kind_of(plan).title}**: {sentence}"
        for plan in {kind_of(plan).name: plan for plan in shown}.values()
        for sentence in unsaid_of(plan)
    ]
    page = [
        f"# {_inline(title)}",
        "",
        _NOT_MEASURED,
        "",
        "## In short",
        "",
        *short,
        *(f"- {note}" for note in notes),
        "",
        "## What this leaves open",
        "",
        *left_open,
        "",
        *sections,
        "## How to read the figures",
        "",
        *(f"- {sentence}" for sentence in _HOW_TO_READ),
    ]
    return "\n".join(page).rstrip() + "\n"


def value_text(name: str, value: Any) -> str | None:
    """Return a value with its unit, a size in GiB as well; None for what was not given or is no figure."""
    text = formatted(name, value)
    if isinstance(value, float) and _MAY_BE_CONFUSED <= value < math.inf and text == format_bytes(value):
        return format_both_readings(value)
    return text


def input_rows(plan: Plan) -> list[tuple[str, str, str]]:
    """Return name, value and origin ("given", "default" or "published") of each input that has a value."""
    taken = kind_of(plan).inputs()
    rows = [
        (label, text, "default" if _is_default(value, taken[name].default) else "given")
        for name, value in inputs_of(plan).items()
        for label, text in figures_of(name, value)
    ]
    published = _PUBLISHED.get(kind_of(plan).name, ())
    return rows + [
        (label_of(name), value_text(name, getattr(plan, name)) or "", "published") for name in published
    ]


def figures_of(name: str, value: Any) -> list[tuple[str, str]]:
    """Return name and text of what an input of a plan says: one figure, several, or none where not given."""
    if isinstance(value, Prices):
        named = [(label, _price_text(getattr(value, field))) for field, label in _PRICES.items()]
    elif isinstance(value, Constraints):
        named = [(label, formatted(field, getattr(value, field))) for field, label in _CONSTRAINTS.items()]
    elif name == "gb_month_prices":
        named = [
            (f"price of 1 GB of {kind} storage for a month", _price_text(price))
            for kind, price in value.items()
        ]
    elif name == "offers":
        named = [("plans to choose from", ", ".join(offer.name for offer in value))]
    # A limit that was not given is None in some plans, and infinite in others.
    elif isinstance(value, float) and math.isinf(value):
        named = []
    else:
        named = [(label_of(name), value_text(name, value))]
    return [(label, text) for label, text in named if text is not None]


def result_rows(plan: Plan) -> list[tuple[str, str]]:
    """Return name and value of each result that is a figure."""
    published = _PUBLISHED.get(kind_of(plan).name, ())
    left_out = {*inputs_of(plan), *published, "binding", "assumptions", "source"}
    values = {name: value for name, value in vars(plan).items() if name not in left_out}
    texts = [(label_of(name), value_text(name, value)) for name, value in values.items()]
    return [(label, text) for label, text in texts if text not in (None, _NO_LIMIT) and text]


def tables_of(plan: Plan) -> list[tuple[str, list[str], list[list[str]]]]:
    """Return the tables that a plan has beside inputs and results: what each shows, its head, its rows."""
    if isinstance(plan, CapacityPlan):
        return [("What lies on the disks, stage by stage", *_timeline(plan))]
    if isinstance(plan, ChoicePlan):
        return [
            ("What each plan does, as it was given", *_offered(plan)),
            ("What each plan costs over the cycle", *_costs(plan)),
        ]
    return []


def _timeline(plan: CapacityPlan) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the stages: the bytes of each kind, and their total."""
    # Without failed saves, trying again takes what saving takes.
    stages = [stage for stage in plan.timeline if stage.name != "retry" or _takes_room(plan.failed_attempts)]
    used = [kind for kind in KINDS if any(_takes_room(stage.by_kind.get(kind)) for stage in stages)]
    rows = [
        [
            stage.name,
            *(
                formatted("bytes", stage.by_kind[kind]) or "" if kind in stage.by_kind else "-"
                for kind in used
            ),
            formatted("bytes", stage.total_bytes) or "",
        ]
        for stage in stages
    ]
    return ["stage", *used, "total"], rows


def _offered(plan: ChoicePlan) -> tuple[list[str], list[list[str]]]:
    heads = {
        name: head
        for name, head in _OFFER_HEADS.items()
        if any(getattr(offer, name) for offer in plan.offers)
    }
    rows = [
        [offer.name, offer.storage, *(formatted(name, getattr(offer, name)) or "" for name in heads)]
        for offer in plan.offers
    ]
    return ["plan", "storage", *heads.values()], rows


def _costs(plan: ChoicePlan) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the costs, those of plans that miss a constraint left out."""
    rows = []
    heads = {
        name: head
        for name, head in _COST_HEADS.items()
        if name == "total_cost" or any(costs[name] for costs in plan.costs.values())
    }
    for offer in plan.offers:
        missed = "; ".join(plan.refused.get(offer.name, ()))
        costs = {} if missed else plan.costs.get(offer.name, {})
        figures = (formatted(name, costs[name]) or "" if costs else "-" for name in heads)
        rows.append([offer.name, *figures, missed or "none"])
    return ["plan", *heads.values(), "constraints missed"], rows


def _price_text(price: float | None) -> str | None:
    return None if price is None else f"{price:,.10g}"


def _takes_room(size: Number | None) -> bool:
    return size is not None and bool(np.any(np.asarray(size) > 0))


def _is_default(value: Any, default: Any) -> bool:
    return default is not inspect.Parameter.empty and not isinstance(value, np.ndarray) and value == default


def _headline(plan: Plan) -> str:
    bound = ", ".join(np.unique(np.asarray(plan.binding)).tolist())
    return f"{verdict_of(plan)} Binding constraint: {bound}."


def _section(plan: Plan) -> str:
    lines = [
        f"## {kind_of(plan).title}",
        "",
        *(f"{line}\n" for line in binding_lines(plan, mark="**")),
        "### Results",
        "",
        *_table(("Result", "Value, calculated"), result_rows(plan)),
        "",
    ]
    for what, head, rows in tables_of(plan):
        lines += [f"{what}:", "", *_table(head, rows), ""]
    lines += [
        "### Inputs",
        "",
        *_table(("Input", "Value", "Origin"), input_rows(plan)),
        "",
        "### Assumptions",
        "",
        *(f"- {sentence}" for sentence in assumptions_of(plan)),
        f"- Formula: {plan.source}.",
    ]
    return "\n".join(lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table; columns of figures stand on the right, the first and those of words do not."""
    cells = [[_inline(cell) for cell in row] for row in (head, *rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    columns = list(zip(*cells[1:], strict=True)) or [()] * len(head)
    rule = ["-" * widths[0]]
    for column, width in zip(columns[1:], widths[1:], strict=True):
        rule.append("-" * (width - 1) + ":" if _holds_figures(column) else "-" * width)
    return [lines[0], "| " + " | ".join(rule) + " |", *lines[1:]]


def _holds_figures(column: Sequence[str]) -> bool:
    """Return whether most cells are numbers; a dash stands for one that is not there."""
    return 2 * sum(cell.lstrip("-")[:1].isdigit() or cell == "-" for cell in column) > len(column)


def _inline(text: str) -> str:
    """Return a text that stays in its cell: no line ends, no table marks, no HTML, no emphasis."""
    flat = " ".join(text.split())
    for mark in ("\\", "|", "<", "`", "*", "_", "["):
        flat = flat.replace(mark, f"\\{mark}")
    return flat
