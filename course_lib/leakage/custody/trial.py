"""The detectors on trial: many seeded cases, every tool on each, and who was found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from course_lib.errors import CourseError
from course_lib.leakage.custody.bench import case_seed, series_kinds
from course_lib.leakage.custody.case import make_case
from course_lib.leakage.custody.faults import CLEAN
from course_lib.leakage.detectors import KINDS


@dataclass(frozen=True)
class TrialRow:
    """How one detector did.

    Attributes
    ----------
    kind : str
        A key of `KINDS`.
    planted, detected : int
        Cases with this fault, and those of them in which the detector found it.
    others, false_alarms : int
        All other cases, the clean ones among them, and those in which the detector found something.
    alarms_on : dict of str to int
        What was planted in the cases with false alarms, and how many there were.
    undecided : int
        Cases in which it could not tell.
    """

    kind: str
    planted: int
    detected: int
    others: int
    false_alarms: int
    alarms_on: Mapping[str, int]
    undecided: int


@dataclass(frozen=True)
class Trial:
    """The table of detections and false alarms.

    Attributes
    ----------
    rows : tuple of TrialRow
        One for each kind of fault.
    cases, clean, cleared : int
        All cases, the clean ones, and the clean ones that every detector cleared.
    seed : int
    """

    rows: tuple[TrialRow, ...]
    cases: int
    clean: int
    cleared: int
    seed: int

    @property
    def columns(self) -> tuple[str, ...]:
        """Heads of the table."""
        return ("fault", "planted", "detected", "other cases", "false alarms", "cannot tell")

    def table(self) -> tuple[tuple[str | int, ...], ...]:
        """Return the table's rows, with a last one for the clean sets."""
        rows: list[tuple[str | int, ...]] = [
            (
                KINDS[row.kind],
                row.planted,
                row.detected,
                row.others,
                _alarms(row),
                row.undecided,
            )
            for row in self.rows
        ]
        return tuple(rows)

    def sentence(self) -> str:
        """Return the outcome in words."""
        planted, detected = sum(row.planted for row in self.rows), sum(row.detected for row in self.rows)
        alarms = sum(row.false_alarms for row in self.rows)
        return (
            f"{self.cases} cases from seed {self.seed}: {detected} of {planted} faults detected, "
            f"{self.cleared} of {self.clean} clean sets cleared by every tool, {alarms} false alarms in all."
        )

    def __str__(self) -> str:
        lines = [tuple(map(str, line)) for line in (self.columns, *self.table())]
        widths = [max(len(line[place]) for line in lines) for place in range(len(self.columns))]
        shown = ["  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines]
        return "\n".join([*shown, self.sentence()])


def _alarms(row: TrialRow) -> str:
    if not row.false_alarms:
        return "0"
    where = ", ".join(f"{count} on {kind}" for kind, count in sorted(row.alarms_on.items()))
    return f"{row.false_alarms} ({where})"


def try_detectors(count: int = 120, seed: int = 2026) -> Trial:
    """Run every detector on a series of cases and count.

    Parameters
    ----------
    count : int
        How many cases; about a third of them are clean, the kinds of fault come in turn.
    seed : int
        The same seed gives the same cases, and the same table.

    Raises
    ------
    CourseError
        For less than one case.
    """
    if count < 1:
        raise CourseError("A trial needs one case at least", found=count)
    kinds = series_kinds(count, seed)
    found: dict[str, Counter[str]] = {kind: Counter() for kind in KINDS}
    undecided: Counter[str] = Counter()
    cleared = 0
    for number, planted in enumerate(kinds, start=1):
        case = make_case(case_seed(seed, number), kind=planted, budget=len(KINDS))
        statuses = {kind: case.inspect(kind).status for kind in KINDS}  # type: ignore[union-attr]
        cleared += planted == CLEAN and set(statuses.values()) == {"clear"}
        for kind, status in statuses.items():
            found[kind][planted] += status == "found"
            undecided[kind] += status == "cannot tell"
    rows = []
    for kind in KINDS:
        alarms = {planted: n for planted, n in found[kind].items() if planted != kind and n}
        planted_here = kinds.count(kind)
        rows.append(
            TrialRow(
                kind,
                planted=planted_here,
                detected=found[kind][kind],
                others=count - planted_here,
                false_alarms=sum(alarms.values()),
                alarms_on=alarms,
                undecided=undecided[kind],
            )
        )
    return Trial(tuple(rows), count, kinds.count(CLEAN), cleared, seed)
