"""Plans of lesson 09's panels in files: saved, loaded into a fresh panel, put on a page, and refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from course_lib.cli.main import course
from course_lib.errors import CourseError
from course_lib.experiments.plan_kinds import KINDS, described, planned
from course_lib.experiments.plans import load_plan, save_plan
from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel, cache_panel
from course_lib.widgets.panels.planning_benchmark import benchmark_panel
from course_lib.widgets.panels.planning_capacity import caches_panel, capacity_panel
from course_lib.widgets.panels.planning_checkpoints import burst_panel, interval_panel
from course_lib.widgets.panels.planning_cost import cost_panel
from course_lib.widgets.panels.planning_requests import metadata_panel, object_panel
from course_lib.widgets.plan_files import plan_file, plans_folder
from course_lib.widgets.plan_panel import PlanPanel
from course_lib.widgets.texts import text

PANELS = (
    *(bandwidth_panel, cache_panel, capacity_panel, caches_panel, metadata_panel, object_panel),
    *(burst_panel, interval_panel, cost_panel, benchmark_panel),
)

# Other assumptions than the panels' own, which no control sets.
OTHERS: dict[Callable[..., PlanPanel], dict[str, Any]] = {
    bandwidth_panel: {"batch_size": 64, "batches_per_second": 2.5, "available_bytes_per_second": None},
    cache_panel: {"shared": True, "data_bytes": 150e9},
    capacity_panel: {"failed_attempts": 2, "local_disk_bytes": 5e11, "manifests_bytes": 1e9},
    caches_panel: {"local_disk_bytes": None, "raw_bytes": 1e9},
    metadata_panel: {"server_operations_per_second": None, "shard_bytes": 64e6},
    object_panel: {"bandwidth_bytes_per_second": None, "requests_per_second_per_prefix": None, "prefixes": 4},
    burst_panel: {"bandwidth_bytes_per_second": None, "reading_bytes_per_second": 0, "failed_saves": 1},
    interval_panel: {"failed_saves": 1},
    cost_panel: {"devices": 2, "thousand_requests_price": 0.4, "constraints": {"worst_loss_seconds": 900}},
    benchmark_panel: {"hosts": 3},
}
MOVED: dict[Callable[..., PlanPanel], dict[str, Any]] = {
    bandwidth_panel: {"consumers": 3, "bytes_per_sample": 123_456.789, "hit_rate": 1 / 3},
    cache_panel: {"cache_bytes": 77e9, "jobs": 3, "epochs": 7},
    capacity_panel: {"jobs": 5, "checkpoints_kept": 0, "scratch_bytes": 12_345_678_901},
    caches_panel: {"jobs": 7, "cache_bytes": 33e9, "shared_cache": True},
    metadata_panel: {"files": 54_321, "seconds_per_operation": 0.00123, "concurrency": 3},
    object_panel: {"round_trip_seconds": 0.0333, "object_bytes": 7e6, "concurrency": 9},
    burst_panel: {"bytes": 9e9, "interval_seconds": 777, "save_seconds": 33.3},
    interval_panel: {
        "save_seconds": 90,
        "mean_seconds_between_failures": 50_000,
        "bearable_loss_seconds": 5000,
    },
    cost_panel: {"ordinary_price": 0.07, "fast_price": 0.0, "device_price": None},
    benchmark_panel: {"workload": "cosmoflow", "accelerators": 5, "host_memory_bytes": 32 * 2**30},
}


@pytest.fixture(autouse=True)
def _own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "home"))


def moved(make: Callable[..., PlanPanel]) -> PlanPanel:
    panel = make()
    for name, value in MOVED[make].items():
        panel.controls[name].value = value
    return panel


def shown(*files: Path) -> list[dict[str, Any]]:
    result = CliRunner().invoke(course, ("plan", "show", *map(str, files), "--json"))
    assert result.exit_code == 0, result.output
    plans: list[dict[str, Any]] = json.loads(result.output)["plans"]
    return plans


def test_all_ten_panels_are_tried_here() -> None:
    assert len(PANELS) == 10 and set(OTHERS) == set(MOVED) == set(PANELS)


@pytest.mark.parametrize("make", PANELS, ids=lambda make: make.__name__)
def test_a_saved_plan_comes_back_in_a_fresh_panel(make: Callable[..., PlanPanel]) -> None:
    panel = moved(make)
    file = panel.save("my plan 1")
    fresh = make()
    assert described(fresh.plan) != described(panel.plan)
    fresh.load("my plan 1")
    assert described(fresh.plan) == described(panel.plan) and fresh.values == panel.values
    assert [row[:2] for row in fresh.view.rows] == [row[:2] for row in panel.view.rows]
    assert fresh.view.title == panel.view.title
    assert shown(file) == [described(panel.plan)]


@pytest.mark.parametrize("make", PANELS, ids=lambda make: make.__name__)
def test_a_plan_with_other_assumptions_is_shown_exactly(
    make: Callable[..., PlanPanel], tmp_path: Path
) -> None:
    panel = moved(make)
    inputs = {**described(panel.plan)["inputs"], **OTHERS[make]}
    plan = planned(panel.kind, inputs)
    save_plan(plan, tmp_path / "other.json")
    own = make()
    before = described(own.plan)
    own.load(tmp_path / "other.json")
    assert described(own.plan) == described(plan)
    assert "From other.json, where no control sets it: " in own.view.summary
    assert "<svg" in own.view.figure_svg and own.static_text("no widgets")

    own.save("again")
    assert load_plan(plan_file("again")) == plan
    own.forget()
    assert described(own.plan)["inputs"] == {**described(moved(make).plan)["inputs"]}
    assert "From other.json" not in own.view.summary and described(own.plan) != before


def test_what_a_file_brought_is_told_in_figures(tmp_path: Path) -> None:
    inputs = {"batches_per_second": 8, "batch_size": 64, "bytes_per_sample": 1e5}
    save_plan(planned(KINDS["bandwidth"], inputs), tmp_path / "other.json")
    panel = bandwidth_panel()
    panel.load(tmp_path / "other.json")
    for said in ("batches of each consumer 8 batches/s", "batch size 64", "bandwidth there is not given"):
        assert said in panel.view.summary
    assert "representation" not in panel.view.summary


def test_the_table_names_the_file_as_the_origin_of_what_no_control_sets(tmp_path: Path) -> None:
    inputs = {"batches_per_second": 8, "batch_size": 128, "bytes_per_sample": 1e5}
    plan = planned(KINDS["bandwidth"], {**inputs, "available_bytes_per_second": 1e8})
    save_plan(plan, tmp_path / "bw.json")
    panel = bandwidth_panel()
    own = {row[0]: row[-1] for row in panel.view.rows}
    panel.load(tmp_path / "bw.json")
    loaded = {row[0]: row[-1] for row in panel.view.rows}
    link, consumers = text("planning.available"), text("planning.consumers")
    assert own[link] == "assumed" and loaded[link] == "from bw.json"
    assert "assumed" not in loaded.values() and loaded[consumers] == own[consumers] == "set here"
    panel.forget()
    assert {row[0]: row[-1] for row in panel.view.rows} == own


def test_a_page_of_a_panel_is_written_beside_its_plan() -> None:
    panel = capacity_panel()
    assert panel.save("disk.json").with_suffix(".md") == panel.write_page("disk.json")
    page = plan_file("disk", ".md").read_text(encoding="utf-8")
    assert page.startswith(f"# {panel.title}\n") and "632 GB while a new checkpoint is written" in page


def test_no_file_is_lost() -> None:
    panel = bandwidth_panel()
    file = panel.save("plan")
    before = file.read_bytes()
    panel.controls["consumers"].value = 8
    for again in ("plan", "plan.json", "plan.JSON", " plan "):
        with pytest.raises(CourseError, match="is there already; choose another name"):
            panel.save(again)
    assert file.read_bytes() == before
    panel.write_page("plan")
    with pytest.raises(CourseError, match="is there already"):
        panel.write_page("plan")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "   ",
            ".",
            "..",
            ".json",
            "/",
            "folder/",
            "a\0b",
            "a\nb",
            "a\tb",
            "what?",
            "a<b",
            'a"b',
            "a|b",
        ),
        *("C:plan", "con", "CON.json", "nul.txt", "com1", "ends with dot.", "x" * 300, "ä" * 150),
    ],
)
def test_a_name_that_is_none_or_does_not_work_everywhere_is_refused(name: str) -> None:
    panel = bandwidth_panel()
    for work in (panel.save, panel.load, panel.write_page):
        with pytest.raises(CourseError, match="name") as caught:
            work(name)
        assert "\n" not in str(caught.value)
    assert not plans_folder().exists()


@pytest.mark.parametrize("name", ["Übung 1", "plan.v2", "a'b", "数据", "-x", "100%", "a,b;c"])
def test_odd_but_honest_names_work(name: str) -> None:
    panel = bandwidth_panel()
    file = panel.save(name)
    assert file.name == f"{name}.json" and bandwidth_panel().load(name) == panel.plan


def test_a_folder_that_is_not_there_is_refused_and_not_made(tmp_path: Path) -> None:
    for work in (bandwidth_panel().save, bandwidth_panel().write_page):
        with pytest.raises(CourseError, match="is not there; make it first"):
            work(tmp_path / "none" / "plan.json")
    assert not (tmp_path / "none").exists()
    with pytest.raises(CourseError, match="is not there"):
        bandwidth_panel().save(f"{bandwidth_panel().save(tmp_path / 'file')}/plan")


def test_a_missing_file_names_the_plans_there_are() -> None:
    with pytest.raises(CourseError, match=r"There is no file .*no plans in its folder.*or a full path"):
        bandwidth_panel().load("none")
    for number in range(10):
        bandwidth_panel().save(f"plan {number}")
    with pytest.raises(CourseError, match=r"found plan 0.json, .*plan 7.json, 2 more;"):
        bandwidth_panel().load("none")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"schema_version": 2}, "expected schema_version 1, found 2"),
        ({"kind": "weather"}, "no kind of plan"),
        ({"inputs": {}}, "damaged"),
        ({"results": {"samples_per_second": 1}}, "does not hold together"),
    ],
)
def test_a_damaged_or_newer_file_leaves_the_panel_as_it_was(
    change: dict[str, Any], sentence: str, tmp_path: Path
) -> None:
    panel = moved(bandwidth_panel)
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({**described(bandwidth_panel().plan), **change}), encoding="utf-8")
    before = panel.view
    with pytest.raises(CourseError, match=sentence):
        panel.load(file)
    assert panel.view is before


def test_a_plan_of_another_kind_and_plans_over_arrays_are_refused(tmp_path: Path) -> None:
    capacity_panel().save("disk")
    with pytest.raises(CourseError, match="expected Read bandwidth, found Capacity over the life cycle"):
        bandwidth_panel().load("disk")
    many = {"batches_per_second": [1.0, 2.0], "batch_size": 64, "bytes_per_sample": 1e5}
    save_plan(planned(KINDS["bandwidth"], many), tmp_path / "many.json")
    with pytest.raises(CourseError, match="plans over arrays"):
        bandwidth_panel().load(tmp_path / "many.json")


def test_a_value_outside_a_slider_is_refused_and_nothing_moves(tmp_path: Path) -> None:
    inputs = {"batches_per_second": 4, "batch_size": 64, "bytes_per_sample": 5e4, "consumers": 1000}
    save_plan(planned(KINDS["bandwidth"], inputs), tmp_path / "wide.json")
    panel = bandwidth_panel()
    before = described(panel.plan)
    with pytest.raises(
        CourseError, match="cannot show the plan: Training consumers: 1,000 is outside 1 to 64; see it"
    ):
        panel.load(tmp_path / "wide.json")
    assert described(panel.plan) == before
    no_loss = {"save_seconds": 60, "mean_seconds_between_failures": 3600}
    save_plan(planned(KINDS["interval"], no_loss), tmp_path / "no loss.json")
    with pytest.raises(CourseError, match="cannot show the plan: Progress that may be lost"):
        interval_panel().load(tmp_path / "no loss.json")


def test_values_without_a_result_are_not_saved() -> None:
    panel = burst_panel()
    panel.controls["interval_seconds"].value = "1 min"
    panel.controls["save_seconds"].value = "2 min"
    with pytest.raises(CourseError, match="shorter than the save"):
        panel.save("plan")
    assert not plans_folder().exists()


def press(panel: PlanPanel, part: str, name: str) -> str:
    """Type a name, press a button, and return the sentence that the panel says."""
    parts = panel._files._parts
    parts["name"].value = name
    parts[part].click()
    said: str = parts["said"].value
    return said


def test_the_row_of_a_panel_saves_loads_and_says_what_is_wrong() -> None:
    panel = bandwidth_panel()
    panel.widget()
    assert 'role="status"' in press(panel, "save", "mine") and plan_file("mine").is_file()
    assert 'role="alert"' in press(panel, "save", "mine")
    assert "The file has no name" in press(panel, "load", "")
    panel.controls["consumers"].value = 8
    assert "Loaded: mine" in press(panel, "load", "mine") and panel.controls["consumers"].value == 4
    parts = panel._files._parts
    assert parts["forget"].layout.display == "none"
    bandwidth_panel(batch_size=64).save("other")
    press(panel, "load", "other")
    assert parts["forget"].layout.display is None and "batch size 64" in panel._parts["view"].value
    assert text("plan_files.forgotten") in press(panel, "forget", "other").replace("&#x27;", "'")
    assert "batch size 64" not in panel._parts["view"].value
    assert "Page written" in press(panel, "page", "mine")


def test_every_part_of_the_row_has_a_label() -> None:
    panel = bandwidth_panel()
    panel.widget()
    parts = panel._files._parts
    assert all(parts[name].description for name in ("name", "save", "load", "page", "forget"))
