"""Checks a record of a metadata measurement: complete, with its repeats, and with the cache state named."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING, Any

from course_lib.exercises.checks.opened_record import OpenedRecord, open_record
from course_lib.exercises.marking.trial import PropertyFailedError
from course_lib.stores.metadata_result import OPERATIONS

if TYPE_CHECKING:
    from course_lib.experiments import Record

_FEWEST_REPEATS, _FEWEST_FILES, _BYTES_PER_FILE, _DIRECTORIES = 3, 100, 16_000, 4
_STATES = ("warm", "cold", "partly warm", "unknown")
_FIGURES = ("median", "lowest", "highest", "total")


def opened(answer: object) -> OpenedRecord:
    """Read the record at a path.

    Raises
    ------
    InvalidAnswerError
        When there is none to read.
    """
    return open_record(answer, "record_metadata(result)")


def check(artefact: OpenedRecord) -> str:
    """Return what was verified, or raise at the first property that doesn't hold.

    Raises
    ------
    PropertyFailedError
        With the symptom of the mistake.
    """
    from course_lib.experiments.measurements import METADATA

    record = artefact.record
    if record.name != METADATA:
        raise PropertyFailedError(f"This is a record named {record.name}.", "other_record")
    _require_operations(record)
    _require_medians(record)
    _require_cache_state(record)
    _require_conditions(record)
    _require_this_machine(record)
    return (
        f"All {len(OPERATIONS)} operations are there; their figures were computed again from "
        f"{len(record.runs)} repeats and fit; the cache state before the reads is named "
        f"({record.conditions['cache_state']}); {record.conditions['files']:,} files of "
        f"{record.conditions['bytes_per_file']:,} B in {record.conditions['directories']} directories."
    )


def _require_operations(record: Record) -> None:
    for operation in OPERATIONS:
        wanted = [f"{operation}_per_second_{figure}" for figure in _FIGURES]
        if any(not _is_rate(record.figures.get(name)) for name in wanted):
            raise PropertyFailedError(f"The rates of `{operation}` are not all there.", "incomplete")
        if not record.runs or any(not _is_rate(run.get(f"{operation}_seconds")) for run in record.runs):
            raise PropertyFailedError(
                f"The times of `{operation}` are not there for each repeat.", "incomplete"
            )


def _require_medians(record: Record) -> None:
    """Compute each figure again from the times of the repeats: work is the number of files each time."""
    files = record.conditions.get("files")
    if not _is_rate(files):
        raise PropertyFailedError("The number of files is not there.", "incomplete")
    for operation in OPERATIONS:
        seconds = [float(run[f"{operation}_seconds"]) for run in record.runs]  # type: ignore[arg-type]
        rates = [files / each for each in seconds]  # type: ignore[operator]
        again = (statistics.median(rates), min(rates), max(rates), files * len(seconds) / sum(seconds))  # type: ignore[operator]
        for figure, value in zip(_FIGURES, again, strict=True):
            name = f"{operation}_per_second_{figure}"
            if not math.isclose(float(record.figures[name]), value, rel_tol=1e-9):
                raise PropertyFailedError(f"`{name}` is not what its repeats give.", "edited")


def _require_cache_state(record: Record) -> None:
    named = str(record.conditions.get("cache_state") or "")
    if not named or any(kind not in _STATES for kind in named.split(", ")):
        raise PropertyFailedError("It doesn't say in which state the cache was.", "no_cache_state")
    for number, run in enumerate(record.runs, 1):
        state: Any = run.get("cache_before_reads")
        kind = state.get("kind") if isinstance(state, dict) else None
        if kind not in named.split(", "):
            raise PropertyFailedError(
                f"Repeat {number} doesn't say in which state the cache was before its reads.",
                "no_cache_state",
            )


def _require_conditions(record: Record) -> None:
    if len(record.runs) < _FEWEST_REPEATS:
        raise PropertyFailedError(f"It holds {len(record.runs)} repeat(s).", "few_repeats")
    found = record.conditions
    for name, words, fits in (
        ("files", "files", lambda count: count >= _FEWEST_FILES),
        ("bytes_per_file", "bytes in each file", lambda size: size == _BYTES_PER_FILE),
        ("directories", "directories", lambda count: count == _DIRECTORIES),
    ):
        value: Any = found.get(name)
        if not _is_rate(value) or not fits(value):
            raise PropertyFailedError(f"It was measured with {value} {words}.", "other_conditions")


def _require_this_machine(record: Record) -> None:
    from course_lib.experiments import describe_machine

    here = describe_machine()
    same = {"processor": here.processor, "logical_cores": here.logical_cores}
    if any(record.machine.get(name) != value for name, value in same.items()):
        raise PropertyFailedError(
            "It was measured on another machine than this one "
            f"({record.machine.get('logical_cores')} cores, {record.machine.get('processor')}).",
            "other_machine",
        )


def _is_rate(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and value > 0
    )
