"""Records of measurements: of loaders, layouts, training against synthetic input, and metadata operations."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_lib.errors import CourseError
from course_lib.experiments.records import Record, publish_record

if TYPE_CHECKING:
    from course_lib.experiments.layout_comparison import LayoutComparison
    from course_lib.loading import LoaderComparison, TrainingComparison
    from course_lib.loading.verdicts import Summary
    from course_lib.stores import MetadataResult

LOADING, TRAINING, METADATA = "loader_timing", "training_steps", "metadata_rates"
LAYOUTS = "files_against_shards"

_LOADING_FIGURES = (
    "samples_per_second", "bytes_per_second", "construction_seconds", "first_batch_seconds",
    "batch_wait_p50_seconds", "batch_wait_p95_seconds", "batch_wait_max_seconds",
)  # fmt: skip


def record_loading(comparison: LoaderComparison) -> Path:
    """Publish the record of a loader measurement; each run stands in it with its delivered ids' digest.

    Raises
    ------
    CourseError
        When the record cannot be written.
    """
    figures = loading_figures(comparison)
    factor = comparison.plan["factor"]
    shared = comparison.runs[0].conditions.as_dict()
    conditions = {name: value for name, value in shared.items() if name != factor}
    conditions |= {name: _plain(value) for name, value in comparison.plan.items()}
    if factor:
        conditions[factor] = [
            comparison.conditions(name).as_dict()[factor] for name in comparison.candidates()
        ]
    conditions |= {
        "representation": comparison.runs[0].timing.representation,
        "cache_state": _in_words(run.cache_before.kind for run in comparison.runs),
        "started": comparison.started.isoformat(),
    }
    if comparison.same_samples:
        conditions["delivered_digest"] = comparison.runs[0].delivered_digest
    runs = [run.as_dict() for run in comparison.runs]
    return publish_record(LOADING, figures, conditions, comparison.origin, runs=runs)


def loading_figures(comparison: LoaderComparison) -> dict[str, Any]:
    """Return the figures of a loader measurement's record: medians, ranges and total rates by candidate."""
    figures: dict[str, Any] = {}
    for candidate in comparison.candidates():
        for figure in _LOADING_FIGURES:
            figures |= _summarised(candidate, figure, comparison.summary(candidate, figure))
        figures[_figure_name(candidate, "total_samples_per_second")] = comparison.total_samples_per_second(
            candidate
        )
    figures["verdict"] = comparison.verdict.sentence
    return figures


def loading_of(record: Record) -> LoaderComparison:
    """Return the loader measurement that a record holds.

    Raises
    ------
    CourseError
        When the record is of something else, or was edited and no longer holds the runs.
    """
    from course_lib.loading import LoaderComparison

    _need(record, LOADING)
    plan = ("factor", "repeats", "warmup_batches", "measured_batches", "usable_cores", "notes")
    try:
        if not record.runs:
            raise ValueError("no runs")
        return LoaderComparison.from_dict(
            {
                "runs": record.runs,
                "plan": {name: record.conditions[name] for name in plan},
                "origin": record.origin.as_dict() if record.origin else None,
                "started": record.conditions["started"],
            }
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise CourseError(
            "The record does not hold the runs of a loader measurement as they were written",
            found=f"no {error} in it" if isinstance(error, KeyError) else str(error).rstrip("."),
            next_step="measure again to make a new one",
        ) from error


def reproduced_ids(record: Record) -> list[str]:
    """Return the sample ids that the first run of a loader's record delivered, in their order.

    They are worked out from the run's conditions alone, and given only if their digest is the recorded one.

    Raises
    ------
    CourseError
        When the record is of something else, the data are not there, or they are no longer the same.
    """
    from course_lib.loading import delivered_ids
    from course_lib.loading.results import digest_of_ids

    run = loading_of(record).runs[0]
    ids = delivered_ids(run.conditions, run.delivered_batches)
    digest = digest_of_ids(ids)
    if digest != run.delivered_digest:
        raise CourseError(
            "The data here do not give the sample ids that were delivered",
            expected=f"the digest {str(run.delivered_digest)[:12]}...",
            found=f"{digest[:12]}...",
            next_step="set up the data that the record names",
        )
    return ids


def record_training(comparison: TrainingComparison) -> Path:
    """Publish the record of training on real and on synthetic input, with the controls and the diagnosis.

    Raises
    ------
    CourseError
        When the record cannot be written.
    """
    from course_lib.loading import diagnose

    figures: dict[str, Any] = {}
    candidates = comparison.candidates()
    for candidate in candidates:
        for part in ("step", "waiting", "transfer", "compute"):
            figures |= _summarised(candidate, f"{part}_seconds", comparison.summary(candidate, part))
        figures |= _summarised(candidate, "samples_per_second", comparison.samples_per_second(candidate))
    if "real" in candidates:
        figures["accelerator_utilisation_measured"] = comparison.utilisation("measured").ratio
    if "real" in candidates and "synthetic" in candidates:
        figures["accelerator_utilisation_by_rules"] = comparison.utilisation("rules").ratio
        figures["diagnosis"] = diagnose(comparison).sentence
    chosen = comparison.conditions.as_dict()
    loader = {f"loader_{name}": value for name, value in chosen.pop("loader").items()}
    # The number of threads that torch reported counts, not the one that was asked for.
    conditions = {**chosen, **loader, **{name: _plain(value) for name, value in comparison.plan.items()}}
    conditions |= {
        "device": comparison.device,
        "threads": comparison.threads,
        "started": comparison.started,
        "cache_state": _in_words(run.cache_before.kind for run in comparison.runs if run.cache_before),
    }
    runs = [run.as_dict() for run in comparison.runs]
    return publish_record(TRAINING, figures, conditions, comparison.origin, runs=runs)


def record_layouts(result: LayoutComparison) -> Path:
    """Publish the record of files against shards: rates, shares, break-even, and the proof of equality.

    Raises
    ------
    CourseError
        When the record cannot be written.
    """
    from course_lib.loading.verdicts import summarise

    timing, equality = result.timing, result.equality
    figures: dict[str, Any] = {}
    for setting in timing.settings():
        words = f"{setting.transforms}, {setting.open_ms:g} ms per open, workers {setting.workers}"
        comparison, even = timing.comparison(setting), timing.break_even(setting)
        for candidate in comparison.candidates():
            figures |= _summarised(
                f"{candidate}, {words}", "samples_per_second", comparison.summary(candidate)
            )
        figures[_figure_name(words, "verdict")] = comparison.verdict.sentence
        figures[_figure_name(words, "break even")] = even.sentence
    for shares in timing.all_shares():
        words = f"{shares.open_ms:g} ms per open, workers {shares.workers}"
        figures[_figure_name(words, "shares")] = shares.sentence
    for open_ms, seconds in timing.packing_seconds.items():
        figures |= _summarised(f"{open_ms:g} ms per open", "packing_seconds", summarise(seconds))
    for seed, difference in zip(equality.seeds, equality.differences, strict=True):
        figures[f"macro_f1_difference_seed_{seed}"] = difference
    figures["equality"] = equality.sentence
    varied = ("layout", "transforms", "open_ms", "workers")
    shared = timing.comparisons[0].runs[0].conditions.as_dict()
    conditions = {name: value for name, value in shared.items() if name not in varied}
    conditions |= {
        name: list(dict.fromkeys(getattr(each, name) for each in timing.settings())) for name in varied[1:]
    }
    conditions |= {
        f"trained_{name}": equality.conditions[name] for name in ("seeds", "epochs", "test_samples")
    }
    runs = [run for comparison in timing.comparisons for run in comparison.runs]
    conditions |= {
        "shard_set": dict(timing.shard_set),
        "notes": list(timing.notes),
        "delivered_digest": timing.delivered_digest,
        "cache_state": _in_words(run.cache_before.kind for run in runs),
        "started": timing.comparisons[0].started.isoformat(),
    }
    return publish_record(LAYOUTS, figures, conditions, timing.origin, runs=(result.as_dict(),))


def layouts_of(record: Record) -> LayoutComparison:
    """Return the comparison of files and shards that a record holds.

    Raises
    ------
    CourseError
        When the record is of something else.
    """
    from course_lib.experiments.layout_comparison import LayoutComparison

    _need(record, LAYOUTS)
    return LayoutComparison.from_dict(record.runs[0])


def record_metadata(result: MetadataResult) -> Path:
    """Publish the record of a metadata measurement; it does not hold the path.

    Raises
    ------
    CourseError
        When the record cannot be written.
    """
    figures: dict[str, Any] = {}
    for rates in result.operations:
        figures |= {
            f"{rates.operation}_per_second_median": rates.median,
            f"{rates.operation}_per_second_lowest": rates.low,
            f"{rates.operation}_per_second_highest": rates.high,
            f"{rates.operation}_per_second_total": rates.per_second,
        }
    values = result.as_dict()
    operations, caches = values.pop("operations"), values.pop("cache_before_reads")
    runs = [
        {
            "repeat": repeat,
            **{f"{one['operation']}_seconds": one["seconds"][repeat] for one in operations},
            "cache_before_reads": caches[repeat],
        }
        for repeat in range(result.repeats)
    ]
    conditions = {**values, "repeats": result.repeats, "cache_state": result.read_state}
    return publish_record(METADATA, figures, conditions, runs=runs)


def _summarised(candidate: str, figure: str, summary: Summary) -> Mapping[str, float]:
    return {
        _figure_name(candidate, f"{figure}_median"): summary.median,
        _figure_name(candidate, f"{figure}_lowest"): summary.low,
        _figure_name(candidate, f"{figure}_highest"): summary.high,
    }


def _figure_name(candidate: str, figure: str) -> str:
    return re.sub(r"[^0-9a-z.]+", "_", f"{candidate} {figure}".lower())


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _in_words(kinds: Any) -> str:
    return ", ".join(sorted(set(kinds))) or "unknown"


def _need(record: Record, name: str) -> None:
    if record.name != name:
        raise CourseError(
            "The record is of another measurement",
            expected=name,
            found=record.name,
            next_step="choose one that `course records list` shows",
        )
