"""A plan as a page of a proposal: inputs, results, what binds, what it rests on and what it leaves open."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.experiments.plan_kinds import inputs_of, kind_of
from course_lib.experiments.plan_words import assumptions_of, binding_sentences, unsaid_of
from course_lib.planning import KINDS, CapacityPlan, Plan
from course_lib.planning.core import Number
from course_lib.planning.cost import Prices
from course_lib.planning.rows import formatted, label_of
from course_lib.units import format_both_readings, format_bytes

_PRICES = {
    "per_gb_month": "price of 1 GB stored for a month",
    "per_device_hour": "price of a device for an hour",
    "per_thousand_requests": "price of 1,000 requests",
}

# Neither given nor calculated: what the benchmark's rules state for a workload.
_PUBLISHED = {"mlperf": ("bytes_per_sample", "batch_size", "step_seconds", "needed_ratio")}

_HEADLINES = {
    "bandwidth": ("bytes_per_second", "remote_bytes_per_second"),
    "cache": ("hit_rate", "warm_seconds", "break_even_epochs"),
    "capacity": ("static_bytes", "peak_bytes", "needed_bytes"),
    "metadata": ("scan_seconds", "shards_packed", "shard_scan_seconds"),
    "layout": ("start_gain", "rate_gain", "synthetic_share"),
    "objects": ("requests_per_second", "bytes_per_second"),
    "checkpoint": ("average_bytes_per_second", "burst_bytes_per_second", "worst_loss_seconds"),
    "cost": ("storage_cost", "waiting_cost", "rebuild_cost", "request_cost", "total_cost"),
    "mlperf": ("smallest_samples", "smallest_bytes", "needed_bytes_per_second"),
}

# Below a megabyte, units of 1,000 and of 1,024 differ by less than anyone's estimate.
_MAY_BE_CONFUSED = 1e6

# A result that has no limit only says that the input was not given.
_NO_LIMIT = "no limit"

_HOW_TO_READ = (
    "All results are calculated from the inputs shown; nothing on this page was measured. Sizes are decimal "
    "(1 GB = 1,000,000,000 B); where GB and GiB could be confused, both readings of the same size are shown. "
    'An input marked "default" was not given, and the value shown is that of the workbook: check it.'
)


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
    short = [f"- **{kind_of(plan).title}**: {_headline(plan)}" for plan in shown]
    sections = [line for plan in shown for line in (_section(plan), "")]
    page = [
        f"# {_inline(title)}",
        "",
        _HOW_TO_READ,
        "",
        "## In short",
        "",
        *short,
        *(f"- {note}" for note in notes),
        "",
        *sections,
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
    rows = []
    for name, value in inputs_of(plan).items():
        if isinstance(value, Prices):
            rows += [
                (label, f"{price:,.10g}", "given")
                for field, label in _PRICES.items()
                if (price := getattr(value, field)) is not None
            ]
            continue
        text = value_text(name, value)
        # A limit that was not given is None in some plans, and infinite in others.
        if text is not None and not (isinstance(value, float) and math.isinf(value)):
            origin = "default" if _is_default(value, taken[name].default) else "given"
            rows.append((label_of(name), text, origin))
    published = _PUBLISHED.get(kind_of(plan).name, ())
    return rows + [
        (label_of(name), value_text(name, getattr(plan, name)) or "", "published") for name in published
    ]


def result_rows(plan: Plan) -> list[tuple[str, str]]:
    """Return name and value of each result that is a figure."""
    published = _PUBLISHED.get(kind_of(plan).name, ())
    left_out = {*inputs_of(plan), *published, "binding", "assumptions", "source"}
    values = {name: value for name, value in vars(plan).items() if name not in left_out}
    texts = [(label_of(name), value_text(name, value)) for name, value in values.items()]
    return [(label, text) for label, text in texts if text not in (None, _NO_LIMIT) and text]


def timeline_rows(plan: CapacityPlan) -> tuple[list[str], list[list[str]]]:
    """Return head and rows of a table of the stages: the bytes of each kind, and their total."""
    used = [kind for kind in KINDS if any(_takes_room(stage.by_kind.get(kind)) for stage in plan.timeline)]
    rows = [
        [
            stage.name,
            *(
                formatted("bytes", stage.by_kind[kind]) or "" if kind in stage.by_kind else "-"
                for kind in used
            ),
            formatted("bytes", stage.total_bytes) or "",
        ]
        for stage in plan.timeline
    ]
    return ["stage", *used, "total"], rows


def _takes_room(size: Number | None) -> bool:
    return size is not None and bool(np.any(np.asarray(size) > 0))


def _is_default(value: Any, default: Any) -> bool:
    return default is not inspect.Parameter.empty and not isinstance(value, np.ndarray) and value == default


def _headline(plan: Plan) -> str:
    results = vars(plan)
    figures = [
        f"{label_of(name)} {formatted(name, results[name])}" for name in _HEADLINES[kind_of(plan).name]
    ]
    bound = ", ".join(np.unique(np.asarray(plan.binding)).tolist())
    return f"{'; '.join(figures)}. Binding constraint: {bound}."


def _section(plan: Plan) -> str:
    lines = [
        f"## {kind_of(plan).title}",
        "",
        "### Inputs",
        "",
        *_table(("Input", "Value", "Origin"), input_rows(plan)),
        "",
        "### Results",
        "",
        *_table(("Result", "Value, calculated"), result_rows(plan)),
        "",
    ]
    if isinstance(plan, CapacityPlan):
        lines += ["What lies on the disks, stage by stage:", "", *_table(*timeline_rows(plan)), ""]
    lines += ["### Which constraint binds", ""]
    for sentence in binding_sentences(plan):
        phrase, _, meaning = sentence.partition(": ")
        lines += [f"**{phrase[:1].upper()}{phrase[1:]}**: {meaning}", ""]
    lines += ["### Assumptions", "", *(f"- {sentence}" for sentence in assumptions_of(plan)), ""]
    lines += [
        "### What this estimate does not say",
        "",
        *(f"- {sentence}" for sentence in unsaid_of(plan)),
        "",
    ]
    return "\n".join(
        [*lines, "### Source of the formula", "", plan.source[:1].upper() + plan.source[1:] + "."]
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a Markdown table; every column but the first holds figures, which read best on the right."""
    cells = [[_inline(cell) for cell in row] for row in (head, *rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    rule = [f"{'-' * widths[0]}", *(f"{'-' * (width - 1)}:" for width in widths[1:])]
    return [lines[0], "| " + " | ".join(rule) + " |", *lines[1:]]


def _inline(text: str) -> str:
    """Return a text that stays in its cell: no line ends, no table marks, no HTML, no emphasis."""
    flat = " ".join(text.split())
    for mark in ("\\", "|", "<", "`", "*", "_", "["):
        flat = flat.replace(mark, f"\\{mark}")
    return flat
