"""Measuring files against shards under every setting, in one watched process and in turn."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.experiments.layout_timing import LAYOUTS, TRANSFORMS, LayoutSetting, LayoutTiming
from course_lib.loading.conditions import LoaderConditions, checked_choice, checked_whole
from course_lib.loading.runs import comparison_of, seldom, silence_seconds
from course_lib.watched import Emit, JsonValue, run_watched

TIMING_TASK = "course_lib.experiments.layout_runs:timing_task"
WARMUP_BATCHES = 1
"""Only the first batch is apart, so that it and all others together are the whole epoch."""


def time_layouts(
    conditions: LoaderConditions | None = None,
    *,
    transforms: Sequence[str] = TRANSFORMS,
    open_ms: Sequence[float] = (0.0, 1.0),
    workers: Sequence[int] = (0, 2, 4),
    repeats: int = 3,
    progress: bool = True,
) -> LayoutTiming:
    """Time whole epochs from files and from shards, under each combination of the settings given.

    All runs of one repeat come before the next repeat, and each repeat begins with another layout. Packing
    is timed as often, each time from the beginning, from the files under the same set time per open.

    Parameters
    ----------
    conditions : LoaderConditions, optional
        What all runs share; its layout, transforms, open_ms and workers are set here.
    transforms : sequence of {"bytes", "decode", "augment"}, optional
        Encoded bytes, and with decoding; the shares need "bytes" and "decode".
    open_ms : sequence of float, optional
        Set times per open; 0 for the local disk as it is.
    workers : sequence of int, optional
        Worker processes.
    repeats : int, optional
        Of each run and of packing; a verdict needs 3.
    progress : bool, optional
        Show a bar.

    Raises
    ------
    CourseError
        When the conditions cannot be met, or the process or a worker ends before its time.
    """
    conditions = conditions or LoaderConditions()
    checked_whole("repeats", repeats, 1, 1_000)
    for name, values in (("transforms", transforms), ("open_ms", open_ms), ("workers", workers)):
        _check_values(name, values)
    settings = [LayoutSetting(*each) for each in _combined(transforms, open_ms, workers)]
    candidates = {
        _name(setting, layout): conditions.with_changes(layout=layout, **setting._asdict()).as_dict()
        for setting in settings
        for layout in LAYOUTS
    }
    request = {"candidates": candidates, "open_ms": [float(each) for each in open_ms], "repeats": repeats}
    started = datetime.now(timezone.utc)
    slowest = conditions.with_changes(open_ms=max(open_ms), layout="memory")
    result = _watched(request, silence_seconds([slowest]), progress)
    return _timing_of(result, request, started)


def timing_task(request: Mapping[str, JsonValue], emit: Emit) -> JsonValue:
    """Run everything in turn; a task for :func:`course_lib.watched.run_watched`.

    Parameters
    ----------
    request : mapping
        "candidates" (name to conditions), "open_ms" (for packing) and "repeats".
    emit : callable
        Gets events whose "kind" is "preparing", "at work" or "run" (with "candidate").
    """
    from course_lib.loading.one_run import prepare, run_once
    from course_lib.loading.worker_start import usable_cores

    wanted = {name: LoaderConditions.from_dict(values) for name, values in request["candidates"].items()}
    prepared = prepare(wanted, emit)
    pairs = _pairs(prepared.candidates.values())
    any_pair = next(iter(pairs.values()))
    packing: dict[float, list[float]] = {open_ms: [] for open_ms in request["open_ms"]}
    runs: list[dict[str, Any]] = []
    for repeat in range(request["repeats"]):
        for open_ms, seconds in packing.items():
            seconds.append(_seconds_to_pack(any_pair["files"].with_changes(open_ms=open_ms), emit))
            emit({"kind": "run", "candidate": f"packing, {open_ms:g} ms per open"})
        for setting, pair in pairs.items():
            layouts = LAYOUTS[repeat % 2 :] + LAYOUTS[: repeat % 2]
            for turn, layout in enumerate(layouts):
                run = run_once(
                    f"layout {layout}",
                    pair[layout],
                    repeat=repeat,
                    turn=turn,
                    warmup_batches=WARMUP_BATCHES,
                    measured_batches=None,
                    tell=seldom(emit, _name(setting, layout)),
                )
                runs.append(run.as_dict())
                emit({"kind": "run", "candidate": _name(setting, layout)})
    return {
        "runs": runs,
        "packing_seconds": [{"open_ms": open_ms, "seconds": seconds} for open_ms, seconds in packing.items()],
        "shard_set": _about_set(any_pair["shards"]),
        "origin": None if prepared.origin is None else prepared.origin.as_dict(),
        "notes": prepared.notes,
        "usable_cores": usable_cores(),
    }


def _seconds_to_pack(conditions: LoaderConditions, emit: Emit) -> float:
    """Return how long packing takes, from finding the files to the published manifest."""
    from course_lib.loading.one_run import signs_of_life
    from course_lib.loading.opening import open_samples
    from course_lib.loading.packing import pack_samples, set_folder

    with signs_of_life(emit):
        place = set_folder(open_samples(conditions), conditions).parent
        with tempfile.TemporaryDirectory(prefix=".timed.", dir=place) as folder:
            begin = time.perf_counter()
            samples = open_samples(conditions)
            pack_samples(samples, conditions, Path(folder) / "set", as_set=bool(conditions.open_ms))
            return time.perf_counter() - begin


def _about_set(conditions: LoaderConditions) -> dict[str, int]:
    from course_lib.loading.opening import open_samples

    manifest = open_samples(conditions).shard_set.manifest  # type: ignore[attr-defined]
    return {
        "samples": manifest.samples,
        "shards": len(manifest.shards),
        "shard_bytes": manifest.shard_bytes,
        "payload_bytes": manifest.payload_bytes,
        "target_bytes": conditions.shard_target_bytes,
    }


def _pairs(candidates: Any) -> dict[LayoutSetting, dict[str, LoaderConditions]]:
    """Return both layouts' conditions by setting; where workers cannot start, some settings fall together."""
    pairs: dict[LayoutSetting, dict[str, LoaderConditions]] = {}
    for each in candidates:
        setting = LayoutSetting(each.transforms, each.open_ms, each.workers)
        pairs.setdefault(setting, {})[each.layout] = each
    return pairs


def _timing_of(result: JsonValue, request: Mapping[str, Any], started: datetime) -> LayoutTiming:
    by_setting: dict[LayoutSetting, list[dict[str, Any]]] = {}
    for run in result["runs"]:
        conditions = run["conditions"]
        setting = LayoutSetting(conditions["transforms"], conditions["open_ms"], conditions["workers"])
        by_setting.setdefault(setting, []).append(run)
    plan = {"repeats": request["repeats"], "warmup_batches": WARMUP_BATCHES, "measured_batches": None}
    return LayoutTiming(
        comparisons=tuple(
            comparison_of({**result, "runs": runs, "notes": []}, plan, started)
            for runs in by_setting.values()
        ),
        packing_seconds={one["open_ms"]: tuple(one["seconds"]) for one in result["packing_seconds"]},
        shard_set=result["shard_set"],
        notes=tuple(result["notes"]),
    )


def _watched(request: dict[str, Any], silence: float, progress: bool) -> JsonValue:
    from tqdm import tqdm

    total = (len(request["candidates"]) + len(request["open_ms"])) * request["repeats"]
    # On the standard output: JupyterLab shows the other one as if it were an error.
    with tqdm(total=total, unit="run", disable=not progress, leave=False, file=sys.stdout) as bar:

        def show(event: dict[str, Any]) -> None:
            if event.get("kind") == "run":
                bar.update()
            bar.set_description_str(str(event.get("candidate", "preparing the data")))

        return run_watched(TIMING_TASK, request, on_event=show, silence_seconds=silence)


def _combined(
    transforms: Sequence[str], open_ms: Sequence[float], workers: Sequence[int]
) -> Iterator[tuple[str, float, int]]:
    return ((kind, float(each), count) for each in open_ms for kind in transforms for count in workers)


def _check_values(name: str, values: Sequence[Any]) -> None:
    if isinstance(values, str) or not len(values):
        raise CourseError(f"{name} has no values to try", expected="a list of values", found=repr(values))
    if len(set(values)) != len(values):
        raise CourseError(f"{name} names a value twice", found=repr(list(values)))
    if name == "transforms":
        for value in values:
            checked_choice(name, value, ("bytes", "decode", "augment"))


def _name(setting: LayoutSetting, layout: str) -> str:
    return f"{layout}, {setting.transforms}, {setting.store}, workers {setting.workers}"
