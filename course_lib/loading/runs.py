"""Measuring a loader: candidates in turn, in a watched process, with the samples proven to be the same."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions
from course_lib.loading.results import LoaderComparison, LoaderRun, check_one_factor, digest_of_ids
from course_lib.watched import Emit, JsonValue, run_watched

__all__ = [
    "MEASURE_TASK",
    "candidates_of",
    "comparison_of",
    "delivered_ids",
    "digest_of_ids",
    "measure_loader",
    "measure_task",
]

MEASURE_TASK = "course_lib.loading.runs:measure_task"

_MOST_REPEATS = 1_000
_SECONDS_BETWEEN_EVENTS = 1.0
_SECONDS_OF_SILENCE_BESIDE_BATCHES = 60.0
_SECONDS_TO_READ_ONE_FILE_SLOWLY = 0.01


def measure_loader(
    conditions: LoaderConditions,
    *,
    vary: Mapping[str, Sequence[Any]] | None = None,
    repeats: int = 3,
    warmup_batches: int = 10,
    measured_batches: int | None = None,
    progress: bool = True,
) -> LoaderComparison:
    """Time a loader, or several that differ in one condition, in a process of its own.

    Candidates run in turn, and each repeat begins with another one. The process is watched: a worker
    that is killed or hangs becomes a CourseError, Ctrl-C ends it with its workers, and the kernel lives.

    Parameters
    ----------
    conditions : LoaderConditions
        What all candidates share.
    vary : mapping of str to sequence, optional
        One condition and its values, such as ``{"workers": [0, 2, 4]}``.
    repeats : int, optional
        Runs of each candidate; a verdict needs 3.
    warmup_batches : int, optional
        Batches of each run, the first among them, that are not measured.
    measured_batches : int or None, optional
        Batches of each run that are measured; None measures all that are left of the epoch.
    progress : bool, optional
        Show a bar.

    Returns
    -------
    LoaderComparison
        Its ``verdict`` names a winner only outside the noise.

    Raises
    ------
    CourseError
        When more than one condition is varied, the conditions cannot be met, the data run out, or the
        process or a worker ends before its time.
    """
    candidates = candidates_of(conditions, vary)
    if isinstance(repeats, bool) or not isinstance(repeats, int) or not 1 <= repeats <= _MOST_REPEATS:
        raise CourseError(
            "repeats is out of range",
            expected=f"a whole number from 1 to {_MOST_REPEATS:,}",
            found=repr(repeats),
        )
    request = {
        "candidates": {name: candidate.as_dict() for name, candidate in candidates.items()},
        "repeats": repeats,
        "warmup_batches": warmup_batches,
        "measured_batches": measured_batches,
    }
    started = datetime.now(timezone.utc)
    with _Bar(len(candidates) * repeats, progress) as bar:
        result = run_watched(
            MEASURE_TASK, request, on_event=bar.show, silence_seconds=silence_seconds(candidates.values())
        )
    return comparison_of(result, request, started)


def candidates_of(
    conditions: LoaderConditions, vary: Mapping[str, Sequence[Any]] | None
) -> dict[str, LoaderConditions]:
    """Return the candidates by name, such as "workers 2".

    Raises
    ------
    CourseError
        When more than one condition is varied, or one without two different values.
    """
    if not vary:
        return {"as chosen": conditions}
    if len(vary) > 1:
        raise CourseError(
            "More than one condition is varied, so no difference could be explained",
            expected="one factor",
            found=" and ".join(sorted(vary)),
            next_step="measure one factor at a time",
        )
    ((factor, values),) = vary.items()
    if isinstance(values, str) or not len(values):
        raise CourseError(f"{factor} has no values to try", expected="a list of values", found=repr(values))
    candidates: dict[str, LoaderConditions] = {}
    for value in values:
        name = f"{factor} {value}"
        if name in candidates:
            raise CourseError(f"{name} stands there twice", next_step="leave one of them out")
        candidates[name] = conditions.with_changes(**{factor: value})
    check_one_factor(candidates)
    return candidates


def comparison_of(result: JsonValue, request: Mapping[str, JsonValue], started: datetime) -> LoaderComparison:
    """Return the comparison that the result of :func:`measure_task` describes."""
    runs = tuple(LoaderRun.from_dict(run) for run in result["runs"])
    return LoaderComparison(
        runs=runs,
        plan={
            "factor": check_one_factor({run.candidate: run.conditions for run in runs}),
            "repeats": request["repeats"],
            "warmup_batches": request["warmup_batches"],
            "measured_batches": request["measured_batches"],
            "usable_cores": result["usable_cores"],
            "notes": tuple(result["notes"]),
        },
        origin=None if result["origin"] is None else Origin(**result["origin"]),
        started=started,
    )


def measure_task(request: Mapping[str, JsonValue], emit: Emit) -> JsonValue:
    """Run all candidates in turn; a task for :func:`course_lib.watched.run_watched`.

    Parameters
    ----------
    request : mapping
        "candidates" (name to conditions), "repeats", "warmup_batches" and "measured_batches".
    emit : callable
        Gets events whose "kind" is "preparing", "at work" or "run" (with "done", "of", "candidate" and
        "samples_per_second").
    """
    from course_lib.loading.one_run import prepare, run_once
    from course_lib.loading.worker_start import usable_cores

    candidates = {name: LoaderConditions.from_dict(values) for name, values in request["candidates"].items()}
    prepared = prepare(candidates, emit)
    names = list(prepared.candidates)
    runs: list[JsonValue] = []
    for repeat in range(request["repeats"]):
        first = repeat % len(names)
        for turn, name in enumerate(names[first:] + names[:first]):
            run = run_once(
                name,
                prepared.candidates[name],
                repeat=repeat,
                turn=turn,
                warmup_batches=request["warmup_batches"],
                measured_batches=request["measured_batches"],
                tell=seldom(emit, name),
            )
            runs.append(run.as_dict())
            emit(
                {
                    "kind": "run",
                    "candidate": name,
                    "done": len(runs),
                    "of": len(names) * request["repeats"],
                    "samples_per_second": run.timing.samples_per_second,
                }
            )
    return {
        "runs": runs,
        "origin": None if prepared.origin is None else prepared.origin.as_dict(),
        "notes": prepared.notes,
        "usable_cores": usable_cores(),
    }


def delivered_ids(conditions: LoaderConditions, batches: int) -> list[str]:
    """Return the ids that a run delivers in its first ``batches`` batches, from its conditions alone.

    Raises
    ------
    CourseError
        When the data are not there, or have fewer batches.
    """
    from course_lib.loading.opening import open_samples
    from course_lib.loading.sampling import epoch_order

    samples = open_samples(conditions.with_changes(layout="files"))
    order = epoch_order(
        len(samples), shuffle=conditions.shuffle, seed=conditions.seed, epoch=conditions.epoch
    )
    there_are = -(-len(samples) // conditions.batch_size)
    if isinstance(batches, bool) or not isinstance(batches, int) or not 0 <= batches <= there_are:
        raise CourseError(
            "There are not so many batches", expected=f"0 to {there_are:,}", found=repr(batches)
        )
    return samples.sample_ids(order[: batches * conditions.batch_size].tolist())


def seldom(emit: Emit, candidate: str) -> Callable[[float], None]:
    """Return what is called at each batch and tells the parent about once a second that they still come."""
    last = 0.0

    def tell(now: float) -> None:
        nonlocal last
        if now - last >= _SECONDS_BETWEEN_EVENTS:
            last = now
            emit({"kind": "at work", "candidate": candidate})

    return tell


def silence_seconds(candidates: Any) -> float:
    """Return how long a run may go without a batch: longer than its loader itself waits for one."""
    longest = 0.0
    for candidate in candidates:
        files = candidate.sample_count or 60_000
        reading = files * _SECONDS_TO_READ_ONE_FILE_SLOWLY if candidate.layout == "memory" else 0.0
        longest = max(longest, candidate.batch_seconds_at_most + reading)
    return longest + _SECONDS_OF_SILENCE_BESIDE_BATCHES


class _Bar:
    """A progress bar on the standard output: JupyterLab shows the other one as if it were an error."""

    def __init__(self, runs: int, progress: bool) -> None:
        from tqdm import tqdm

        self._bar = tqdm(total=runs, unit="run", disable=not progress, leave=False, file=sys.stdout)

    def show(self, event: Mapping[str, Any]) -> None:
        if event.get("kind") == "run":
            self._bar.update()
        elif event.get("kind") == "preparing":
            self._bar.set_description_str("preparing the data")
        elif event.get("kind") == "at work":
            self._bar.set_description_str(str(event["candidate"]))

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()
