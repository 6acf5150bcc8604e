"""Two things that go wrong with workers, staged on purpose in a process of their own."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from torch.utils.data import DataLoader, Dataset, get_worker_info

from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions
from course_lib.watched import Emit, JsonValue, run_watched

LOSE_TASK = "course_lib.loading.staged:lose_task"
DRAW_TASK = "course_lib.loading.staged:draw_task"

_OPEN_MS_OF_A_LONG_RUN = 5.0


@dataclass(frozen=True)
class RowDraws:
    """What two ways of drawing gave one row.

    Attributes
    ----------
    row, worker : int
        The row, and which worker prepared it.
    kept_degrees : float
        Drawn from a generator that is kept on the data set, of which every worker has a copy.
    own_degrees : float
        Drawn from seed, epoch and row.
    """

    row: int
    worker: int
    kept_degrees: float
    own_degrees: float


def lose_a_worker(conditions: LoaderConditions) -> None:
    """Load with workers in a watched process and kill one of them in the middle of the run.

    Raises
    ------
    CourseError
        What a loader says then; without workers, that there is none to lose.
    """
    if not conditions.workers:
        raise CourseError("There is no worker to lose", expected="at least 1 worker", found="0")
    run_watched(LOSE_TASK, {"conditions": conditions.as_dict()})


def draw_angles(*, workers: int = 4, rows: int = 8, seed: int = 2026) -> tuple[RowDraws, ...]:
    """Have workers draw a random angle for each row, in a faulty way and in a sound one.

    Returns
    -------
    tuple of RowDraws
        One for each row, in the order of the rows.

    Raises
    ------
    CourseError
        When there are not as many rows as workers, or the workers cannot run.
    """
    if not 1 <= workers <= rows:
        raise CourseError("Each worker needs a row", expected=f"1 to {rows} workers", found=repr(workers))
    drawn = run_watched(DRAW_TASK, {"workers": workers, "rows": rows, "seed": seed})
    return tuple(RowDraws(**one) for one in drawn)


def lose_task(request: Mapping[str, JsonValue], emit: Emit) -> JsonValue:
    """Kill a worker after the first batch and go on reading; a task for ``run_watched``."""
    from course_lib.loading.loaders import build_loader
    from course_lib.loading.opening import open_samples

    # Batches that are on their way already would hide the loss in a run that is over soon.
    conditions = LoaderConditions.from_dict(request["conditions"]).with_changes(
        open_ms=_OPEN_MS_OF_A_LONG_RUN
    )
    batches = 0
    for _ in build_loader(open_samples(conditions), conditions):
        batches += 1
        if batches == 1:
            multiprocessing.active_children()[0].kill()
            emit({"kind": "killed"})
    return batches


def draw_task(request: Mapping[str, JsonValue], emit: Emit) -> JsonValue:
    """Return the draws of all rows; a task for ``run_watched``."""
    rows, workers = request["rows"], request["workers"]
    loader: Any = DataLoader(
        AngledRows(rows, request["seed"]),
        batch_size=-(-rows // workers),
        num_workers=workers,
        collate_fn=list,
    )
    return [asdict(one) for batch in loader for one in batch]


class AngledRows(Dataset[RowDraws]):
    """Rows that draw an angle, once from a generator kept on this object and once from their own seed.

    Parameters
    ----------
    rows, seed : int
        How many, and what decides their angles.
    """

    def __init__(self, rows: int, seed: int) -> None:
        self._rows = rows
        self._seed = seed
        self._kept = np.random.default_rng(seed)

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, row: int) -> RowDraws:
        worker = get_worker_info()
        epoch = 1
        return RowDraws(
            row=row,
            worker=0 if worker is None else worker.id,
            kept_degrees=_degrees(self._kept),
            own_degrees=_degrees(np.random.default_rng((self._seed, epoch, row))),
        )


def _degrees(generator: np.random.Generator) -> float:
    return round(float(generator.uniform(0, 360)), 1)
