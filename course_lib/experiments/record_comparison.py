"""Two records side by side: what was chosen otherwise, what came out, and whether that may be compared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from course_lib.experiments.records import Record

_NOT_ONE_FACTOR = (
    "No difference in the figures can be put down to a cause: {count} things differ ({what}). "
    "Change one factor at a time."
)

_NO_FACTORS = frozenset({"started"})
"""Conditions that tell two records apart and explain no figure."""

_FOLLOWS_FROM = {
    "data sample_count": frozenset({"sample_count", "loader_sample_count"}),
    "delivered_digest": frozenset(
        {
            "data", "part", "source", "path", "sample_count", "batch_size", "shuffle", "seed", "epoch",
            "warmup_batches", "measured_batches",
        }
    ),
    "factor": frozenset({"workers", "batch_size", "prefetch", "layout", "transforms", "decode_repeats"})
    | {"open_ms", "cache", "start_method"},
}  # fmt: skip
"""What differs only because something else does: by its name, those of which one is enough."""


@dataclass(frozen=True)
class RecordComparison:
    """What differs between two records.

    Attributes
    ----------
    factors : dict of str to tuple
        Conditions, data, machine and versions that differ, each with both values as text.
    figures : dict of str to tuple
        Every figure of either record, each with both values, or None where one record lacks it.
    sentence : str
        What may be concluded.
    """

    factors: dict[str, tuple[str, str]]
    figures: dict[str, tuple[int | float | str | None, int | float | str | None]]
    sentence: str


def compare_records(first: Record, second: Record) -> RecordComparison:
    """Compare two records, and refuse a conclusion where more than one factor differs.

    Even then no winner is named: two records were not measured in turn, so that whatever else went on
    at either time counts as well.
    """
    differing = {
        name: (old, new) for name, old, new in _pairs(_factors(first), _factors(second)) if old != new
    }
    factors = {
        name: (_shown(old), _shown(new))
        for name, (old, new) in differing.items()
        if not _FOLLOWS_FROM.get(name, frozenset()) & differing.keys()
    }
    figures = {
        name: (first.figures.get(name), second.figures.get(name))
        for name in {**first.figures, **second.figures}
    }
    return RecordComparison(factors, figures, _sentence(first, second, factors))


def _sentence(first: Record, second: Record, factors: Mapping[str, object]) -> str:
    if first.name != second.name:
        return f"These are records of different things, {first.name} and {second.name}: nothing to compare."
    if len(factors) > 1:
        return _NOT_ONE_FACTOR.format(count=len(factors), what=", ".join(factors))
    if not factors:
        return "Nothing was chosen otherwise: the figures differ by the noise from one time to another."
    return (
        f"Only {next(iter(factors))} differs, but the two were measured at different times: "
        "measure both in one run, in turn, before you name a winner."
    )


def _factors(record: Record) -> dict[str, object]:
    """Return everything that may explain a figure, by a name for people."""
    origin = record.origin.as_dict() if record.origin else {}
    return {
        **{name: value for name, value in record.conditions.items() if name not in _NO_FACTORS},
        **{f"data {name}": value for name, value in origin.items()},
        **{f"machine {name}": value for name, value in record.machine.items()},
        **{f"version of {name}": value for name, value in record.versions.items()},
        "code version": record.code_version,
    }


def _pairs(
    first: Mapping[str, object], second: Mapping[str, object]
) -> list[tuple[str, object | None, object | None]]:
    return [(name, first.get(name), second.get(name)) for name in {**first, **second}]


def _shown(value: object) -> str:
    return "-" if value is None else str(value)
