"""The same measurement of metadata for several layouts of files, the layouts in turn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.stores.metadata import Progress, leftovers_removed, measure_metadata
from course_lib.stores.metadata_result import MetadataResult, OperationRates
from course_lib.watched import Emit, JsonValue, run_watched


def measure_layouts(
    path: Path,
    layouts: Mapping[str, Mapping[str, int]],
    *,
    repeats: int = 3,
    silence_seconds: float = 60.0,
    on_progress: Progress | None = None,
) -> dict[str, MetadataResult]:
    """Measure metadata operations of several layouts in an empty folder, in a watched process.

    Parameters
    ----------
    path : Path
        An empty folder on the storage to measure.
    layouts : mapping of str to mapping
        By name the arguments of `measure_metadata` that make a layout: ``files``, ``bytes_per_file``,
        ``directories``, ``processes``. Which of them begins changes with each repeat.
    repeats : int
        How often each layout is measured.
    silence_seconds : float
        How long one single operation may take.
    on_progress : callable, optional
        As for `measure_metadata`.

    Raises
    ------
    CourseError
        As for `measure_metadata_watched`.
    """
    if not layouts or repeats < 1:
        raise CourseError("There is nothing to measure", expected="1 layout or more, and 1 repeat or more")
    request = {
        "path": str(path.absolute()),
        "layouts": {name: dict(layout) for name, layout in layouts.items()},
        "repeats": repeats,
    }
    with leftovers_removed(path):
        found = run_watched(
            f"{__name__}:layouts_task", request, on_event=on_progress, silence_seconds=silence_seconds
        )
    return {name: MetadataResult.from_dict(values) for name, values in found.items()}


def layouts_task(request: dict[str, JsonValue], emit: Emit) -> JsonValue:
    """Measure as a watched task; the request holds ``path``, ``layouts`` and ``repeats``."""
    names = list(request["layouts"])
    found: dict[str, list[MetadataResult]] = {name: [] for name in names}
    for repeat in range(request["repeats"]):
        first = repeat % len(names)
        for name in names[first:] + names[:first]:
            layout = request["layouts"][name]
            found[name].append(measure_metadata(Path(request["path"]), repeats=1, on_progress=emit, **layout))
    return {name: _as_one(results).as_dict() for name, results in found.items()}


def _as_one(results: list[MetadataResult]) -> MetadataResult:
    """Return repeats that were measured one by one as one result."""
    operations = tuple(
        OperationRates(
            rates.operation,
            tuple(result[rates.operation].counts[0] for result in results),
            tuple(result[rates.operation].seconds[0] for result in results),
        )
        for rates in results[0].operations
    )
    caches = tuple(result.cache_before_reads[0] for result in results)
    return replace(results[0], operations=operations, cache_before_reads=caches)
