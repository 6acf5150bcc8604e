"""Checks the record of a loader comparison that the learner has measured."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from course_lib.errors import CourseError
from course_lib.exercises.checks.opened_record import OpenedRecord, open_record
from course_lib.exercises.marking.trial import PropertyFailedError

if TYPE_CHECKING:
    from course_lib.experiments import Record
    from course_lib.loading import LoaderComparison

_FEWEST_REPEATS = 3
_FEWEST_BATCHES = 5


def opened(answer: object) -> OpenedRecord:
    """Read the record at a path.

    Raises
    ------
    InvalidAnswerError
        When there is none to read.
    """
    return open_record(answer, "record_loading(comparison)")


def check(artefact: OpenedRecord) -> str:
    """Return what was verified, or raise at the first property that doesn't hold.

    Raises
    ------
    PropertyFailedError
        With the symptom of the mistake.
    """
    record = artefact.record
    comparison = _comparison(record)
    _require_repeats(comparison)
    _require_same_samples(record, comparison)
    states = _require_cache_states(comparison)
    _require_figures(record, comparison)
    origin = record.origin.label() if record.origin else "Data: a folder of one's own"
    return (
        f"{len(comparison.runs)} runs of {len(comparison.candidates())} candidates that differ in "
        f"{comparison.plan['factor']} alone, the same samples in the same order in all of them, figures that "
        f"follow from the runs, and the page cache named before each ({states}). "
        f"{comparison.verdict.sentence} {origin}."
    )


def _comparison(record: Record) -> LoaderComparison:
    from course_lib.experiments.measurements import LOADING, loading_of

    if record.name != LOADING:
        raise PropertyFailedError(f"This is a record of {record.name}.", "other_record")
    try:
        comparison = loading_of(record)
    except (CourseError, KeyError, TypeError, ValueError) as error:
        raise PropertyFailedError(
            f"Its runs are not those of one comparison any more: {error}.", "edited"
        ) from error
    if len(comparison.candidates()) < 2:
        raise PropertyFailedError("It holds a single candidate.", "one_candidate")
    return comparison


def _require_repeats(comparison: LoaderComparison) -> None:
    fewest = min(len(comparison.runs_of(name)) for name in comparison.candidates())
    if fewest < _FEWEST_REPEATS:
        raise PropertyFailedError(f"A candidate has {fewest} run{'s' * (fewest > 1)}.", "few_repeats")
    batches = Counter(run.timing.measured_batches for run in comparison.runs)
    if len(batches) > 1:
        raise PropertyFailedError(
            f"Its runs measured different numbers of batches: {', '.join(map(str, sorted(batches)))}.",
            "uneven_batches",
        )
    (measured,) = batches
    if measured < _FEWEST_BATCHES:
        raise PropertyFailedError(f"Each run measured {measured} batches, too few for a p95.", "few_batches")


def _require_same_samples(record: Record, comparison: LoaderComparison) -> None:
    if not comparison.same_samples:
        raise PropertyFailedError(
            f"Its runs delivered {len({run.delivered_digest for run in comparison.runs})} different sets or "
            "orders of samples.",
            "other_samples",
        )
    from course_lib.experiments.measurements import reproduced_ids

    try:
        reproduced_ids(record)
    except CourseError as error:
        raise PropertyFailedError(
            f"The samples it names are not those that this machine's data give: {error}", "other_data"
        ) from error


def _require_figures(record: Record, comparison: LoaderComparison) -> None:
    """Work the rates out again from the single waits of each run."""
    for run in comparison.runs:
        waited = math.fsum(run.timing.waits_seconds)
        if waited > run.timing.elapsed_seconds * 1.001:
            raise PropertyFailedError(f"A run of {run.candidate} waited longer than it lasted.", "edited")
    from course_lib.experiments.measurements import loading_figures

    for name, value in loading_figures(comparison).items():
        stated = record.figures.get(name)
        same = (
            math.isclose(stated, value, rel_tol=1e-6)
            if isinstance(stated, int | float) and isinstance(value, int | float)
            else stated == value
        )
        if not same:
            raise PropertyFailedError(f"Its figure `{name}` doesn't follow from its runs.", "edited")


def _require_cache_states(comparison: LoaderComparison) -> str:
    for run in comparison.runs:
        before = run.cache_before
        if run.conditions.layout == "files" and before.kind == "unknown" and not before.reason:
            raise PropertyFailedError(
                f"A run of {run.candidate} names no cache state and no reason why not.", "no_cache_state"
            )
    return ", ".join(sorted({run.cache_before.kind for run in comparison.runs}))
