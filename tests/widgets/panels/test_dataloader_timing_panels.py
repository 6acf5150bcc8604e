"""Lesson 05's views: title, table and figure say what was measured, and no more than the noise allows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.experiments import describe_machine
from course_lib.loading.conditions import LoaderConditions
from course_lib.loading.diagnosis import diagnose
from course_lib.loading.probe import LoaderTiming
from course_lib.loading.results import LoaderComparison, LoaderRun, WorkerMemory
from course_lib.loading.staged import RowDraws
from course_lib.loading.steps import StepTimes
from course_lib.loading.synthetic import InputDescription
from course_lib.loading.training import CONTROLS, TrainingComparison, TrainingConditions, TrainingRun
from course_lib.stores import CacheState
from course_lib.widgets.panels import dataloader_timing as single
from course_lib.widgets.panels import loader_comparisons as several
from course_lib.widgets.panels import training_steps as training

_ORIGIN = Origin("generated", "cifar10", "", 160, "ab" * 32, 7)
_WARM = CacheState("warm", 1.0, 160, 160_000)
_COLD = CacheState("cold", 0.0, 160, 160_000)
_UNKNOWN = CacheState("unknown", None, 0, 0, "this system does not tell")


def timing(rate: float, *, batches: int = 100, first: float = 0.25) -> LoaderTiming:
    elapsed = 16 * batches / rate
    waits = np.full(batches, elapsed / batches)
    waits[::10] *= 3
    return LoaderTiming(0.05, first, 10, waits, 16 * batches, 49_152 * batches, "uint8 (3, 32, 32)", elapsed)


def comparison(
    factor: str,
    rates: Mapping[Any, Sequence[float]],
    *,
    before: Mapping[Any, CacheState] | None = None,
    **changes: Any,
) -> LoaderComparison:
    """Return what a measurement would have found, with so many samples a second in each run."""
    runs = [
        LoaderRun(
            candidate=f"{factor} {value}",
            conditions=LoaderConditions(sample_count=1760, batch_size=16, **changes).with_changes(
                **{factor: value}
            ),
            repeat=repeat,
            turn=turn,
            timing=timing(rate),
            cache_before=(before or {}).get(value, _WARM),
            cache_after=_WARM,
            delivered_digest="cd" * 32,
            delivered_batches=110,
            delivered_samples=1760,
            worker_memory_bytes=(WorkerMemory(30_000_000, None),) * (value if factor == "workers" else 0),
            open_files=8,
            cpu_seconds=0.5,
            machine_busy_share=0.3,
            start_method="",
        )
        for turn, (value, of_value) in enumerate(rates.items())
        for repeat, rate in enumerate(of_value)
    ]
    repeats = len(next(iter(rates.values())))
    plan = {"factor": factor, "repeats": repeats, "usable_cores": 2, "notes": ()}
    return LoaderComparison(tuple(runs), plan, _ORIGIN, datetime(2026, 1, 1, tzinfo=timezone.utc))


APART = comparison("workers", {0: [990, 1000, 1010], 2: [1900, 2000, 2100], 4: [1950, 2050, 2150]})
NOISE = comparison("workers", {0: [900, 1000, 1300], 2: [1000, 1200, 1250], 4: [950, 1100, 1300]})


def test_the_conditions_name_what_a_figure_depends_on() -> None:
    view = single.conditions_view(
        LoaderConditions(sample_count=160, batch_size=16, decode_repeats=3),
        _COLD,
        describe_machine(),
        _ORIGIN,
    )
    shown = {row[0]: row[1] for row in view.rows}
    assert shown["Samples"] == "160" and shown["Batch size"] == "16" and "cold (0%" in shown["Page cache now"]
    assert (
        shown["Transforms"] == "decoded (3 times each, real work)" and "160 KB" in shown["Format on the disk"]
    )
    everything = LoaderConditions(sample_count=None, shuffle=False, layout="memory")
    view = single.conditions_view(everything, _UNKNOWN, describe_machine(), _ORIGIN)
    shown = {row[0]: row[1] for row in view.rows}
    assert shown["Page cache now"] == "unknown: this system does not tell" and "generated" in view.html()


def test_one_run_is_told_phase_by_phase() -> None:
    rows = {row[0]: row[1] for row in single.clock_view(timing(1000), _ORIGIN).rows}
    assert rows["Construction"] == "50 ms" and rows["First batch"] == "250 ms"
    assert rows["Steady state"] == "1.60 s" and rows["Rate"] == "1,000 samples/s"
    assert rows["Device"] == "not clocked"


def test_the_p95_is_the_wait_at_index_94_of_100() -> None:
    run = timing(1000)
    view = single.waits_view(run, _ORIGIN)
    rows = {row[0]: row for row in view.rows}
    assert rows["p95"][1:] == (f"{1e3 * sorted(run.waits_seconds)[94]:.3f} ms", "94")
    assert rows["longest"][2] == "99" and "0 of 100" in view.title
    assert view.figure_svg.count("<polyline") == 2 and "aria-label" in view.figure_svg


def test_a_refusal_is_a_finding_with_its_numbers() -> None:
    error = CourseError("The data run out", expected="210 batches", found="110", next_step="lower it")
    view = single.refusal_view(error)
    assert view.title == "The data run out."
    assert view.rows == (("Expected", "210 batches"), ("Found", "110"), ("Next step", "lower it"))
    assert single.refusal_view(CourseError("Nothing more is known")).rows == ()


def test_a_winner_is_named_only_outside_the_noise() -> None:
    ahead = comparison("workers", {0: [990, 1000, 1010], 2: [1900, 2000, 2100]})
    assert several.sweep_view(ahead).title.startswith("workers 2 is ahead")
    assert several.sweep_view(ahead).result.winner == "workers 2"
    assert (
        several.sweep_view(NOISE).title.startswith("No winner") and "noise" in several.sweep_view(NOISE).title
    )


def test_the_sweep_says_repeats_range_cache_and_origin_and_the_plateaus_control() -> None:
    view = several.sweep_view(APART)
    assert "3 repeats in turn" in view.source_note and "page cache before the runs: warm" in view.source_note
    assert "workers:" not in view.source_note and "generated" in view.figure_svg
    assert view.rows[1][1:] == ("2,000", 1900, 2100) and "From 2 workers on" in view.summary
    assert "refute" in view.summary
    slow = several.sweep_view(comparison("workers", {0: [400] * 3, 2: [800] * 3}, open_ms=2.0))
    assert "open time set to 2 ms" in slow.source_note


def test_the_phases_stand_apart_with_their_ranges() -> None:
    view = several.phases_view(APART)
    assert view.rows[0][:4] == (
        "workers 0",
        "50 ms (50 ms to 50 ms)",
        "250 ms (250 ms to 250 ms)",
        "1.60 s (1.58 s to 1.62 s)",
    )
    assert "workers 0 16%" in view.title and "100 steady batches" in view.figure_svg


def test_a_long_job_hides_the_start_and_a_short_one_does_not() -> None:
    view = several.horizon_view(APART)
    (zero, *_), found = view.rows, view.result
    assert found[10]["workers 0"] == pytest.approx(0.3 + 16) and zero[2] == "16.30 s"
    assert zero[-2:] == ("16%", "0%") and "not measured" in view.source_note


def test_the_costs_add_up_the_workers() -> None:
    rows = several.costs_view(APART).rows
    assert [row[1] for row in rows] == ["0 B", "60 MB", "120 MB"] and rows[0][3] == "0.312 s"


@pytest.mark.parametrize(
    ("first", "again", "words"),
    [
        (_COLD, _WARM, "read again .* is ahead"),
        (_WARM, _WARM, "same cache state"),
        (_UNKNOWN, _WARM, "unknown"),
    ],
)
def test_a_read_is_called_cold_only_when_it_was_seen_to_be(
    first: CacheState, again: CacheState, words: str
) -> None:
    found = comparison(
        "cache",
        {"evict": [500, 510, 520], "as found": [900, 910, 920]},
        before={"evict": first, "as found": again},
    )
    view = several.cache_view(found)
    assert re.search(words, view.title)
    assert first.kind in view.rows[0][1] and first.reason.capitalize() in view.summary


def test_two_sweeps_say_which_one_gained_by_the_last_step() -> None:
    store = comparison("workers", {0: [400] * 3, 2: [790, 800, 810], 4: [1500, 1600, 1610]}, open_ms=2.0)
    view = several.side_by_side_view({"store": store, "decoding": NOISE})
    assert "store: workers 4 delivers 2.0 times as much as workers 2, outside the noise" in view.title
    assert "decoding: workers 4 against workers 2 is within the noise" in view.title
    assert [row[:2] for row in view.rows[:2]] == [("workers 0", "store"), ("workers 0", "decoding")]
    assert view.result["store"].winner == "workers 4" and view.result["decoding"].winner is None
    alone = several.side_by_side_view({"store": comparison("workers", {0: [400] * 3})})
    assert alone.result["store"].winner is None


def test_a_control_can_refute() -> None:
    bytes_only = comparison("workers", {0: [9000] * 3, 4: [9100] * 3}, transforms="bytes")
    assert "does cost time" in several.control_view("decoded", APART, "bytes", bytes_only).title
    same = several.control_view("decoded", NOISE, "again", NOISE)
    assert "is not what costs the time" in same.title and same.result.winner is None


def test_the_draws_of_workers_are_counted() -> None:
    draws = [RowDraws(row, row // 2, float(row % 2), float(row)) for row in range(8)]
    view = single.draws_view(draws)
    assert view.result == (2, 8) and "by 4 workers" in view.source_note


def test_delivered_samples_are_counted_by_class() -> None:
    view = single.delivered_view(["a", "b", "a"], {"a": "cat", "b": "dog", "c": "dog"}, _ORIGIN)
    assert view.rows == (("cat", 2, 1, "66.7%"), ("dog", 1, 2, "33.3%"))
    assert view.title == "3 samples delivered, 2 of them different, of 3 in the subset"


def trained(real: float, synthetic: float) -> TrainingComparison:
    """Return what a measurement would have found, with so many seconds a step."""
    seconds = {"real": real, "synthetic": synthetic, "input only": 0.02, "read only": 0.001}
    seconds |= {"decode only": 0.018, "transfer only": 1e-5}
    fed = InputDescription((16, 3, 32, 32), "torch.uint8", "torch.int64", "cpu", "cpu", 5)

    def times(name: str, repeat: int) -> StepTimes:
        total = np.full(5, seconds[name] * (1 + 0.01 * repeat))
        compute = np.full(5, synthetic) if name in ("real", "synthetic") else np.zeros(5)
        return StepTimes(total - compute, np.zeros(5), compute, total, 80)

    runs = tuple(
        TrainingRun(name, repeat, 0, times(name, repeat), fed if name in ("real", "synthetic") else None)
        for name in ("real", "synthetic", *CONTROLS)
        for repeat in range(3)
    )
    conditions = TrainingConditions(loader=LoaderConditions(sample_count=1760, batch_size=16), steps=5)
    plan = {"repeats": 3, "candidates": [], "order": "", "notes": []}
    return TrainingComparison(conditions, runs, plan, _ORIGIN, "CPU", 1, "2026-01-01T00:00:00+00:00")


def test_the_parts_of_a_step_stand_beside_the_whole() -> None:
    view = training.inputs_view(trained(0.03, 0.01))
    assert view.title.startswith("A step takes 30.3 ms (30 to 30.6) on real input and 10.1 ms")
    real = view.rows[0]
    assert real[0] == "real input" and real[1].startswith("20.3 ms") and real[4].startswith("30.3 ms")
    assert real[5] == "0.0%" and "aria-label" in view.figure_svg and "16 x 3 x 32 x 32" in view.summary


def test_the_utilisation_names_both_of_its_definitions() -> None:
    view = training.utilisation_view(trained(0.03, 0.01))
    assert [row[0].partition(" ")[0] for row in view.rows] == ["AU", "AU"] and "MLPerf" in view.rows[0][0]
    measured, rules = view.result
    assert 0.33 < measured.ratio < 0.4 and rules.ratio == pytest.approx(measured.ratio, rel=0.05)


def test_the_diagnosis_comes_with_what_would_refute_it() -> None:
    found = trained(0.03, 0.01)
    view = training.controls_view(found, diagnose(found))
    assert view.title.startswith("Input-bound, by the CPU") and "refuted" in view.summary
    assert [row[0] for row in view.rows] == list(found.candidates())
    assert "page cache before the runs: unknown" in view.source_note
