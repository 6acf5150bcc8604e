"""Saved plans come back as they were, damage is named, and their page holds what a proposal needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.experiments.plan_kinds import KINDS, described, planned
from course_lib.experiments.plan_verdicts import verdict_of
from course_lib.experiments.plan_words import binding_sentences
from course_lib.experiments.plans import load_plan, plan_page, save_plan
from course_lib.planning import Plan

INPUTS: dict[str, dict[str, Any]] = {
    "bandwidth": {"batches_per_second": 4, "batch_size": 128, "bytes_per_sample": 100e3, "hit_rate": 1 / 3},
    "cache": {
        **{"data_bytes": 100e9, "cache_bytes": 75e9, "remote_bytes_per_second": 1e9},
        **{"local_bytes_per_second": 2e9, "shared": True},
    },
    "capacity": {
        "raw_bytes": 200e9,
        "cache_bytes": 100e9,
        "jobs": 4,
        "checkpoint_bytes": 8e9,
        "disk_bytes": 1e9,
    },
    "metadata": {"files": 1e6, "seconds_per_operation": 0.002},
    "layout": {
        **{"start_seconds_before": 1080, "start_seconds_after": 120, "samples_per_second_before": 260},
        **{"samples_per_second_after": 1450, "synthetic_samples_per_second": 1800, "bytes_per_sample": 40e3},
    },
    "objects": {"round_trip_seconds": 0.02, "object_bytes": 8e6, "range_bytes": 1e6, "concurrency": 8},
    "checkpoint": {"bytes": 8e9, "interval_seconds": 600, "save_seconds": 20},
    "interval": {"save_seconds": 120, "mean_seconds_between_failures": 86_400, "bearable_loss_seconds": 720},
    "choice": {
        "offers": [
            {
                **{"name": "Slow | disk", "storage": "ordinary", "samples_per_second": 900, "requests": 5000},
                **{"cold_start_seconds": 60, "worst_loss_seconds": 600, "waiting_seconds": 36_000},
                **{"peak_bytes": 6e11, "disk_bytes": 1e12, "stored_bytes": 5e11},
            },
            {
                **{"name": "Late", "storage": "fast", "samples_per_second": 100, "cold_start_seconds": 7200},
                **{"worst_loss_seconds": 600, "peak_bytes": 6e11, "disk_bytes": 1e12, "stored_bytes": 5e11},
            },
        ],
        **{"cycle_seconds": 86_400, "gb_month_prices": {"ordinary": 0.05, "fast": 0.0}},
        **{
            "device_hour_price": 3,
            "thousand_requests_price": 0.4,
            "constraints": {"cold_start_seconds": 600},
        },
    },
    "cost": {"prices": {"per_gb_month": 0.02}, "stored_bytes": 1e12, "cycle_seconds": 86400},
    "mlperf": {"workload": "unet3d", "accelerators": 8, "host_memory_bytes": 256 * 2**30},
}


def made(kind: str, **more: Any) -> Plan:
    return planned(KINDS[kind], {**INPUTS[kind], **more})


def test_every_kind_is_tried_here() -> None:
    assert set(INPUTS) == set(KINDS)


@pytest.mark.parametrize("kind", INPUTS)
def test_a_plan_comes_back_as_it_was_saved(kind: str, tmp_path: Path) -> None:
    plan = made(kind)
    path = save_plan(plan, tmp_path / "Übung 1" / f"{kind}.json")
    assert load_plan(path) == plan
    saved = json.loads(path.read_text(encoding="utf-8"))
    assert saved["kind"] == kind and saved["binding"] and saved["assumptions"] and saved["source"]


def test_a_plan_over_arrays_comes_back_too(tmp_path: Path) -> None:
    plan = made("bandwidth", batches_per_second=np.array([1.0, 4.0]), available_bytes_per_second=20e6)
    loaded = load_plan(save_plan(plan, tmp_path / "plan.json"))
    assert described(loaded) == described(plan)
    assert [sentence.partition(":")[0] for sentence in binding_sentences(loaded)] == [
        "bandwidth",
        "consumers",
    ]


def test_another_file_is_replaced_only_on_request(tmp_path: Path) -> None:
    path = save_plan(made("bandwidth"), tmp_path / "plan.json")
    with pytest.raises(CourseError, match="is there already; choose another name"):
        save_plan(made("capacity"), path)
    assert load_plan(path) == made("bandwidth")
    save_plan(made("capacity"), path, replace=True)
    assert load_plan(path) == made("capacity")


def edited(content: dict[str, Any], part: str, name: str, value: Any) -> dict[str, Any]:
    return {**content, part: {**content[part], name: value}}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            lambda content: edited(content, "results", "bytes_per_second", 1.0),
            "bytes_per_second 1.0 for 51200000.0",
        ),
        (
            lambda content: edited(content, "inputs", "consumers", 2),
            "does not hold together.*samples_per_second",
        ),
        (lambda content: edited(content, "inputs", "consumers", None), "consumers null for 1.0"),
        (lambda content: edited(content, "inputs", "colour", 2), "damaged.*colour as well"),
        (lambda content: edited(content, "inputs", "batch_size", None), "damaged.*no batch_size"),
        (lambda content: edited(content, "inputs", "batch_size", "128"), "damaged.*is no number"),
        (lambda content: edited(content, "inputs", "batch_size", [[1], [2, 3]]), "damaged.*is no number"),
        (lambda content: edited(content, "inputs", "representation", 3), "damaged.*a text"),
        (lambda content: edited(content, "inputs", "hit_rate", 75), "damaged.*percentage"),
        (lambda content: edited(content, "results", "more", 1), "more as well"),
        (lambda content: edited(content, "results", "bytes_per_second", 10**400), "does not hold together"),
        (lambda content: {**content, "results": {}}, "no samples_per_second"),
        (lambda content: {**content, "binding": "bandwidth"}, "does not hold together.*binding"),
        (lambda content: {**content, "schema_version": 2}, "expected schema_version 1, found 2"),
        (lambda content: {**content, "schema_version": True}, "expected schema_version 1, found true"),
        (lambda content: {"inputs": content["inputs"]}, "schema_version 1, found none"),
        (lambda content: {**content, "kind": "weather"}, 'no kind of plan.*"weather"'),
        (lambda content: {**content, "kind": ["bandwidth"]}, "no kind of plan"),
        (lambda content: {**content, "inputs": [1]}, "no inputs"),
        (lambda content: [content], "damaged or no saved plan.*found list"),
    ],
)
def test_what_was_changed_is_named(change: Any, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(change(described(made("bandwidth")))), encoding="utf-8")
    with pytest.raises(CourseError, match=sentence):
        load_plan(path)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "damaged or no saved plan"),
        (b"# my notes", "damaged or no saved plan"),
        (b"\xff\xfe{", "no UTF-8"),
        (b'{"schema_version": NaN}', "numbers or nested lists"),
        (b"[" * 200_000, "numbers or nested lists"),
        (b'{"schema_version": ' + b"9" * 5000 + b"}", "numbers or nested lists|expected schema_version"),
    ],
)
def test_what_is_no_saved_plan_is_said(content: bytes, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_bytes(content)
    with pytest.raises(CourseError, match=sentence):
        load_plan(path)


@pytest.mark.parametrize("cut", [1, 40, -3])
def test_a_cut_file_is_damaged(cut: int, tmp_path: Path) -> None:
    path = save_plan(made("capacity"), tmp_path / "plan.json")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(CourseError, match="damaged or no saved plan"):
        load_plan(path)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(CourseError, match="is not readable"):
            load_plan(path)


def test_prices_of_another_name_are_refused() -> None:
    with pytest.raises(CourseError, match="prices are not known"):
        made("cost", prices={"per_tb": 1})


@pytest.mark.parametrize("kind", INPUTS)
def test_page_holds_inputs_results_constraint_assumptions_limits_and_source(kind: str) -> None:
    plan = made(kind)
    page = plan_page(plan, title="For the board")
    headings = [line for line in page.splitlines() if line.startswith("#")]
    assert headings == [
        *("# For the board", "## In short", "## What this leaves open", f"## {KINDS[kind].title}"),
        *("### Results", "### Inputs", "### Assumptions", "## How to read the figures"),
    ]
    assert f"Binding constraint: **{plan.binding}**. " in page
    assert f"Formula: {plan.source}." in page
    for sentence in plan.assumptions:
        assert page.count(sentence) == 1
    assert "nothing on this page was measured" in page


def test_page_says_what_was_given_and_shows_sizes_in_both_readings() -> None:
    rows = {
        cells[1]: cells[2:4]
        for line in plan_page(made("capacity", reserve_ratio=0.2)).splitlines()
        if len(cells := [cell.strip() for cell in line.split("|")]) > 3
    }
    assert rows["raw data"] == ["200 GB = 186.3 GiB", "given"]
    assert rows["reserve"] == ["20%", "given"]
    assert rows["part files of failed saves"] == ["0", "default"]
    assert rows["peak"][0] == "608 GB = 566.2 GiB"


def test_page_shows_prices_and_the_stages_of_capacity() -> None:
    assert "| price of 1 GB stored for a month |" in plan_page(made("cost"))
    page = plan_page([made("capacity"), made("cost")])
    assert page.index("| save ") < page.index("## Cost of one experiment cycle")


def test_texts_of_others_do_not_break_the_page() -> None:
    page = plan_page(made("bandwidth", representation="JPEG | <b>raw</b>\n# no heading"))
    row = next(line for line in page.splitlines() if line.startswith("| representation"))
    assert "JPEG \\| \\<b>raw\\</b> # no heading" in row


def test_the_head_of_a_page_says_what_is_needed_and_whether_it_is_there() -> None:
    reading = {"consumers": 4, "hit_rate": 0.75, "available_bytes_per_second": 125e6}
    space = {"cache_bytes": 100e9, "checkpoints_kept": 3, "reserve_ratio": 0.1, "disk_bytes": 1e12}
    page = plan_page(
        [
            made("bandwidth", **reading),
            made("capacity", processed_bytes=300e9, **space),
            made("checkpoint", reading_bytes_per_second=204.8e6, bandwidth_bytes_per_second=500e6),
        ]
    )
    short = page[page.index("## In short") : page.index("## What this leaves open")]
    for finding in (
        "125 MB/s are enough for the 51.2 MB/s that are read on average at a hit rate of 75%",
        "not for the 204.8 MB/s of a cold start",
        "924 GB at rest, 932 GB while a new checkpoint is written",
        "with a reserve of 10% that is 1.025 TB. There are 1 TB: not enough.",
        "400 MB/s for the 20 s of a save",
        "100 MB/s are left for the 204.8 MB/s",
    ):
        assert finding in short


@pytest.mark.parametrize("kind", [kind for kind in INPUTS if kind != "choice"])
def test_a_plan_over_arrays_has_ranges_at_the_head_of_its_page(kind: str) -> None:
    name = next(name for name, value in INPUTS[kind].items() if isinstance(value, (int, float)))
    plan = made(kind, **{name: np.array([1.0, 2.0]) * INPUTS[kind][name]})
    assert " to " in verdict_of(plan)


def test_a_bandwidth_that_is_enough_warm_alone_is_not_said_to_keep_up() -> None:
    link = {"available_bytes_per_second": 125e6}
    (warm,) = binding_sentences(made("bandwidth", consumers=4, **{**link, "hit_rate": 0.75}))
    assert warm.startswith("consumers: ") and "at a cold start the bandwidth binds" in warm
    (always,) = binding_sentences(made("bandwidth", consumers=1, **link))
    assert "even at a cold start" in always
    many = made("bandwidth", consumers=np.array([1.0, 4.0]), **{**link, "hit_rate": 0.75})
    assert "in some of these plans" in " ".join(binding_sentences(many))


def test_the_rule_of_steps_names_the_memory_that_would_count() -> None:
    (one,) = binding_sentences(made("mlperf", accelerators=1, host_memory_bytes=16 * 2**30))
    assert "only above 102.6 GB = 95.57 GiB in each host" in one
    (several,) = binding_sentences(made("mlperf", accelerators=np.array([1, 2]), host_memory_bytes=2**30))
    assert "above 102.6 GB to 205.2 GB" in several


def test_a_loss_says_for_which_saves_it_holds() -> None:
    times = {"interval_seconds": 900, "save_seconds": 60}
    assert "16 min of training, if every save succeeds" in verdict_of(made("checkpoint", **times))
    failed = verdict_of(made("checkpoint", **times, failed_saves=1))
    assert "31 min of training, with failed saves before it: 1" in failed
    assert "every save" in verdict_of(made("interval"))


def test_times_of_opening_are_told_to_hold_no_content() -> None:
    assert "No byte of content" in verdict_of(made("metadata"))


def test_a_page_needs_a_plan() -> None:
    with pytest.raises(CourseError, match="There is no plan"):
        plan_page([])
    with pytest.raises(CourseError, match="no plan that can be saved"):
        plan_page([Plan("", (), "")])
