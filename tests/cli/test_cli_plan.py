"""`course plan`, in this process: the workbook's planning figures, and what people type wrongly."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from course_lib.cli.main import course
from course_lib.errors import CourseError

NBSP = "\u00a0"

ONE_CONSUMER = (
    "bandwidth",
    "--batches-per-second",
    "4",
    "--batch-size",
    "128",
    "--bytes-per-sample",
    "100 KB",
)
STATIC = (
    *("capacity", "--raw", "200 GB", "--processed", "300 GB", "--cache", "100 GB"),
    *("--checkpoint", "8 GB", "--checkpoints-kept", "3"),
)
SAVES = ("checkpoint", "--bytes", "8 GB", "--interval", "10 min")
CASE = (
    *("layout", "--start-before", "18 min", "--start-after", "2 min", "--rate-before", "260"),
    *("--rate-after", "1,450 samples/s", "--synthetic", "1800", "--bytes-per-sample", "40 KB"),
)
SHARDS = ("metadata", "--files", "1,000,000", "--operation-time", "2 ms", "--bytes-per-sample", "40 KB")
GETS = ("objects", "--round-trip", "20 ms", "--object", "10 KB")
BENCH = ("mlperf", "--workload", "unet3d", "--accelerators", "8", "--host-memory", "256 GiB")
RUNS = ("utilisation", "--workload", "unet3d", "--accelerators", "1", "--files", "3500")
COST = ("cost", "--stored", "1 TB", "--cycle", "720 h", "--price-gb-month", "0.02")


def run(*arguments: str) -> str:
    result = CliRunner().invoke(course, ("plan", *arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.output


def planned(*arguments: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(run(*arguments, "--json"))
    return content


def refusal(*arguments: str) -> str:
    with pytest.raises(CourseError) as caught:
        run(*arguments)
    return str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "figures"),
    [
        (ONE_CONSUMER, {"bytes_per_second": 51.2e6, "samples_per_second": 512}),
        ((*ONE_CONSUMER[:-1], "50 KB"), {"bytes_per_second": 25.6e6}),
        ((*ONE_CONSUMER, "--consumers", "4"), {"bytes_per_second": 204.8e6}),
        (
            (*ONE_CONSUMER, "--consumers", "4", "--hit-rate", "75%"),
            {"remote_bytes_per_second": 51.2e6, "cold_bytes_per_second": 204.8e6},
        ),
        (SHARDS, {"serial_operations_per_second": 500, "shards": 157, "payload_bytes": 40e9}),
        (GETS, {"serial_requests_per_second": 50, "serial_bytes_per_second": 0.5e6}),
        (STATIC, {"static_bytes": 624e9, "peak_bytes": 632e9, "local_bytes": 100e9}),
        (
            (*STATIC, "--jobs", "4"),
            {"static_bytes": 924e9, "peak_bytes": 932e9, "local_bytes": 400e9},
        ),
        ((*STATIC, "--jobs", "4", "--shared-cache"), {"static_bytes": 624e9, "peak_bytes": 632e9}),
        (
            (*SAVES, "--save-time", "20 s"),
            {"average_bytes_per_second": 8e9 / 600, "burst_bytes_per_second": 400e6},
        ),
        ((*SAVES, "--save-time", "2 min"), {"worst_loss_seconds": 12 * 60}),
        ((*SAVES, "--save-time", "2 min", "--failed-saves", "1"), {"worst_loss_seconds": 22 * 60}),
        (CASE, {"start_gain": 9, "rate_gain": 1450 / 260, "before_bytes_per_second": 10.4e6}),
        ((*COST, "--requests", "5000", "--price-thousand-requests", "0.4"), {"total_cost": 22}),
    ],
)
def test_figures_of_planning(arguments: tuple[str, ...], figures: dict[str, float]) -> None:
    results = planned(*arguments)["results"]
    assert {name: results[name] for name in figures} == pytest.approx(figures)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ((*ONE_CONSUMER, "--consumers", "4"), "204.8 MB/s"),
        ((*SAVES, "--save-time", "20 s"), "13.33 MB/s"),
        (CASE, "80.56%"),
        (STATIC, "624 GB"),
    ],
)
def test_people_read_the_figures_with_units_origin_and_what_they_rest_on(
    arguments: tuple[str, ...], shown: str
) -> None:
    output = run(*arguments)
    assert shown in output
    for part in (
        "Origin",
        "given",
        "nothing is measured",
        "Binding constraint: ",
        "Assumptions:",
        "Source of",
    ):
        assert part in output


@pytest.mark.parametrize(
    ("parameters", "total", "readings"),
    [
        ("8,030,261,248", 8_030_261_248 * 14, "112.4 GB = 104.7 GiB"),
        ("69882617856", 978.4e9, "978.4 GB"),
        ("405853388800", 5682e9, "5.682 TB"),
    ],
)
def test_bytes_of_a_checkpoint_follow_from_parameters(parameters: str, total: float, readings: str) -> None:
    arguments = ("checkpoint", "--parameters", parameters, "--interval", "1 h", "--save-time", "60 s")
    assert planned(*arguments)["inputs"]["bytes"] == pytest.approx(total, rel=1e-3)
    assert readings in run(*arguments)


@pytest.mark.parametrize(
    ("save", "between", "intervals"),
    [
        ("120 s", "492,750 s", ("10,874.7 s", "10,794.9 s", "10,794.9 s")),
        ("60 s", "11135 s", ("1,155.9 s", "1,116.3 s", "1,116.3 s")),
        ("10 min", "30 min", ("1,469.7 s", "1,096.9 s", "1,100.0 s")),
        ("1 h", "0.5 h", ("3,600.0 s", "1,800.0 s", "1,705.6 s")),
    ],
)
def test_best_interval_by_young_by_daly_and_exactly(
    save: str, between: str, intervals: tuple[str, str, str]
) -> None:
    content = planned("checkpoint", "--bytes", "8 GB", "--save-time", save, "--between-failures", between)
    young, daly, exact = intervals
    assert f"{young} by Young (1974), {daly} by Daly (2006), {exact} exactly" in content["notes"][0]
    computing = content["inputs"]["interval_seconds"] - content["inputs"]["save_seconds"]
    assert computing == pytest.approx(float(exact.replace(",", "").removesuffix(" s")), abs=0.05)


def test_interval_follows_from_a_bearable_loss() -> None:
    content = planned("checkpoint", "--bytes", "8 GB", "--save-time", "2 min", "--bearable-loss", "22 min")
    assert content["inputs"]["interval_seconds"] == 1200
    assert content["results"]["worst_loss_seconds"] == 22 * 60


@pytest.mark.parametrize(
    ("workload", "accelerators", "memory", "samples", "rate", "binding"),
    [
        ("unet3d", "1", "16 GiB", 3500, 3177, "500 steps"),
        ("unet3d", "8", "256 GiB", 28_000, 3177, "500 steps"),
        ("cosmoflow", "8", "256 GiB", 485_910, 808, "5 x memory"),
        ("resnet50", "1", "1 GiB", 200_000, 205, "500 steps"),
    ],
)
def test_smallest_data_set_and_rate_of_a_benchmark(
    workload: str, accelerators: str, memory: str, samples: int, rate: int, binding: str
) -> None:
    content = planned(
        *("mlperf", "--workload", workload, "--accelerators", accelerators, "--host-memory", memory)
    )
    assert content["results"]["smallest_samples"] == samples
    assert round(content["results"]["bytes_per_second_per_accelerator"] / 1e6) == rate
    assert content["binding"] == binding


def test_figures_of_the_rules_are_marked_as_published() -> None:
    output = run("mlperf", "--workload", "cosmoflow", "--accelerators", "8", "--host-memory", "256 GiB")
    lines = {" ".join(line.split()) for line in output.splitlines()}
    assert {"needed utilisation 70% published", "rate per accelerator 808.1 MB/s"} <= lines


@pytest.mark.parametrize("typed", [f"100{NBSP}KB", "0.1 MB", "100,000 B", f"100{NBSP}000 B", "100 kilobytes"])
def test_pasted_quantities_are_read(typed: str) -> None:
    assert planned(*ONE_CONSUMER[:-1], typed)["inputs"]["bytes_per_sample"] == 100e3


@pytest.mark.parametrize("typed", ["0.75", "75%", f"75{NBSP}%"])
def test_a_share_is_a_ratio_or_has_a_percent_sign(typed: str) -> None:
    assert planned(*ONE_CONSUMER, "--hit-rate", typed)["inputs"]["hit_rate"] == 0.75


def test_both_readings_of_a_typed_size_are_shown() -> None:
    output = run("capacity", "--raw", "100 GB", "--processed", "1.5 GiB", "--manifests", "10 KB")
    assert "Size as typed: 100 GB = 93.13 GiB" in output
    assert "Size as typed: 1.5 GiB = 1.611 GB" in output
    assert "Size as typed: 10 KB" not in output


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("capacity", "--raw", "100"), ("--raw has no unit", "100 GB is 93.13 GiB", "100 GiB is 107.4 GB")),
        (("capacity", "--raw", "2 min"), ("--raw is not of the right kind", "2 min", "a size with its unit")),
        (("capacity", "--raw", "100 MB/s"), ("a size with its unit", "100 MB/s")),
        (("capacity", "--raw", "0,5 GB"), ("--raw", "decimal mark as a point")),
        (("capacity", "--raw", "10 Gb"), ("bits or bytes",)),
        (("capacity", "--raw", "nan GB"), ("--raw", "No number")),
        (("capacity", "--raw", "-5 GB"), ("--raw", "cannot be negative")),
        (("capacity", "--raw", "0 GB"), ("Nothing in this plan takes any space",)),
        ((*ONE_CONSUMER[:-1], "0 KB"), ("bytes per sample", "above 0")),
        ((*ONE_CONSUMER, "--consumers", "1e40"), ("consumers", "absurdly large")),
        ((*ONE_CONSUMER, "--consumers", "2.5"), ("consumers", "whole number")),
        ((*ONE_CONSUMER, "--hit-rate", "75"), ("percentage", "write 0.75 for 75%")),
        ((*ONE_CONSUMER, "--hit-rate", "150%"), ("more than all", "150%")),
        ((*ONE_CONSUMER, "--hit-rate", "0.5 GB"), ("a ratio, such as 0.75 or 75%",)),
        ((*ONE_CONSUMER, "--available", "100 MB"), ("a rate with its unit",)),
        ((*ONE_CONSUMER, "--consumers", "4 GB"), ("a number, such as",)),
        ((*SAVES, "--save-time", "20 min"), ("interval is shorter than the save",)),
        ((*SAVES, "--save-time", "20"), ("--save-time has no unit",)),
        (SAVES, ("time of a save is missing",)),
        (("checkpoint",), ("size of a checkpoint is missing", "--bytes or --parameters")),
        (
            ("checkpoint", "--bytes", "8 GB", "--save", "new.json"),
            ("no plan that can be saved", "--save-time"),
        ),
        (("interval", "--save-time", "2 min", "--between-failures", "0 s"), ("mean time", "above 0")),
        (
            (*("interval", "--save-time", "2 min", "--between-failures", "1 h"), "--bearable-loss", "4 min"),
            ("nothing but saving", "240 s of loss for saves of 120 s"),
        ),
        ((*BENCH, "--epochs", "3"), ("are for --dlio",)),
        ((*BENCH, "--dlio", "no name/.."), ("has no name",)),
        (("score", "--run", "1 GB", "0 s"), ("time of a run is out of range",)),
        (("score", "--run", "1", "2 s"), ("--run has no unit", "1 GB or 5,000 samples")),
        (("score", "--run", "1 s", "2 s"), ("--run is not of the right kind",)),
        (("score", "--run", "1 GB", "2 s", "--run", "5 samples", "1 s"), ("not of one kind",)),
        ((*RUNS, "--running-time", "1 min"), ("shorter than its compute time",)),
        ((*RUNS[:-2], "--files", "1.5", "--running-time", "1 h"), ("number of files is no whole number",)),
        (("utilisation", "--workload", "bert", *RUNS[3:], "--running-time", "1 h"), ("unet3d",)),
        (
            ("checkpoint", "--bytes", "8 GB", "--save-time", "20 s"),
            ("interval is missing", "--bearable-loss"),
        ),
        ((*SAVES, "--parameters", "8e9", "--save-time", "20 s"), ("given twice",)),
        ((*SHARDS, "--shard", "1 TB"), ("shard would be larger than the data",)),
        ((*GETS, "--range", "1 MB"), ("range is larger than the object",)),
        ((*COST, "--devices", "2", "--waiting", "1 h"), ("price per device and hour is missing",)),
        (("mlperf", "--workload", "bert", "--accelerators", "1", "--host-memory", "1 GiB"), ("unet3d",)),
    ],
)
def test_bad_input_is_refused_in_one_sentence(arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    sentence = refusal(*arguments)
    for part in parts:
        assert part in sentence
    assert "\n" not in sentence


def test_a_plan_is_saved_shown_and_put_on_one_page(tmp_path: Path) -> None:
    first, second = tmp_path / "band width.json", tmp_path / "capacity.json"
    assert f"Saved: {first}" in run(*ONE_CONSUMER, "--save", str(first))
    run(*STATIC, "--save", str(second), "--page", str(tmp_path / "one.md"))
    assert "632 GB" in (tmp_path / "one.md").read_text(encoding="utf-8")

    page = tmp_path / "proposal.md"
    shown = run("show", str(first), str(second), "--page", str(page), "--title", "Two | plans")
    assert "51.2 MB/s" in shown
    text = page.read_text(encoding="utf-8")
    assert text.startswith("# Two \\| plans\n")
    assert text.index("## Read bandwidth") < text.index("## Capacity over the life cycle")
    both = json.loads(run("show", str(first), str(second), "--json"))
    assert [one["kind"] for one in both["plans"]] == ["bandwidth", "capacity"]
    assert both["plans"][0] == json.loads(first.read_text(encoding="utf-8"))


def test_several_shown_plans_stand_apart_under_their_files(tmp_path: Path) -> None:
    first, second = tmp_path / "one.json", tmp_path / "two.json"
    run(*ONE_CONSUMER, "--save", str(first))
    run(*STATIC, "--save", str(second))
    shown = run("show", str(first), str(second))
    heads = [line for line in shown.splitlines() if line.startswith("=====")]
    assert heads == [f"===== {first} =====", f"===== {second} ====="]
    assert shown.index(heads[0]) < shown.index("51.2 MB/s") < shown.index(heads[1]) < shown.index("632 GB")
    assert "=====" not in run("show", str(first))


def test_a_plan_that_a_panel_saved_is_found_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, here = tmp_path / "home", tmp_path / "here"
    (home / "plans").mkdir(parents=True)
    here.mkdir()
    monkeypatch.setenv("COURSE_HOME", str(home))
    monkeypatch.chdir(here)
    run(*STATIC, "--save", str(home / "plans" / "nix.json"))
    for named in ("nix.json", "nix"):
        assert "632 GB" in run("show", named)
    # A file of this folder comes first.
    run(*ONE_CONSUMER, "--save", "nix.json")
    assert "51.2 MB/s" in run("show", "nix.json")
    assert str(home / "plans") in refusal("show", "other.json")


def test_the_constraint_that_binds_is_a_sentence_of_its_own() -> None:
    said = run(*ONE_CONSUMER, "--available", "100 MB/s")
    assert "Binding constraint: consumers. The storage keeps up" in said


def test_columns_of_words_on_a_page_are_not_set_to_the_right(tmp_path: Path) -> None:
    run(*STATIC, "--page", str(tmp_path / "page.md"))
    lines = (tmp_path / "page.md").read_text(encoding="utf-8").splitlines()
    rules = [
        [cell.strip().endswith(":") for cell in lines[place + 1].strip("|").split("|")]
        for place, line in enumerate(lines[:-1])
        if line.startswith(("| Input ", "| stage "))
    ]
    assert rules[0] == [False, *[True] * (len(rules[0]) - 1)], "the stages"
    assert rules[1] == [False, True, False], "name, value and origin of the inputs"


def test_page_of_a_checkpoint_says_where_its_interval_comes_from(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    run(
        *("checkpoint", "--parameters", "8030261248", "--save-time", "60 s", "--between-failures", "11135 s"),
        *("--page", str(page)),
    )
    assert "1,155.9 s by Young (1974)" in page.read_text(encoding="utf-8")


def test_no_file_is_lost(tmp_path: Path) -> None:
    notes = tmp_path / "notes.md"
    notes.write_text("mine", encoding="utf-8")
    new = tmp_path / "new.json"
    assert "is there already" in refusal(*ONE_CONSUMER, "--save", str(notes))
    assert "is there already" in refusal(*ONE_CONSUMER, "--save", str(new), "--page", str(notes))
    assert "the same file" in refusal(*ONE_CONSUMER, "--save", str(new), "--page", str(new))
    assert notes.read_text(encoding="utf-8") == "mine"
    assert not new.exists()


def test_the_command_line_starts_without_the_calculators() -> None:
    check = "import sys, course_lib.cli.main; print({'numpy', 'course_lib.planning'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, encoding="utf-8")
    assert done.stdout.strip() == "set()", done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*ONE_CONSUMER, "--consumers", "4", "--hit-rate", "75%"), ("51.2 MB/s", "204.8 MB/s")),
        ((*ONE_CONSUMER[:-1], "50 KB"), ("25.6 MB/s",)),
        (SHARDS, ("500 operations/s", "157", "40 GB")),
        (GETS, ("50 requests/s", "500 KB/s")),
        ((*STATIC, "--jobs", "4"), ("924 GB", "932 GB", "400 GB")),
        ((*SAVES, "--save-time", "20 s"), ("13.33 MB/s", "400 MB/s")),
        ((*SAVES, "--save-time", "2 min"), ("12 min",)),
        ((*SAVES, "--save-time", "2 min", "--failed-saves", "1"), ("22 min",)),
        (CASE, ("9x", "5.58x", "80.56%", "10.4 MB/s")),
        (("checkpoint", "--parameters", "8030261248"), ("112.4 GB = 104.7 GiB", "14 B")),
        (("checkpoint", "--parameters", "69882617856"), ("978.4 GB",)),
        (("checkpoint", "--parameters", "405853388800"), ("5.682 TB",)),
        (("mlperf", "--workload", "cosmoflow", *BENCH[3:]), ("485,910", "808.1 MB/s", "5 x memory")),
        (BENCH, ("28,000", "3.177 GB/s", "500 steps")),
        (("mlperf", "--workload", "resnet50", *BENCH[3:]), ("204.8 MB/s",)),
        (("score", "--run", "1 GB", "1 s", "--run", "1 GB", "9 s"), ("Score: 200 MB/s", "555.6 MB/s")),
        ((*RUNS, "--running-time", "170 s"), ("AU: 95.00%", "it passes", "needs 90%")),
        (("interval", "--save-time", "1 h", "--between-failures", "30 min"), ("1 h", "30 min", "28.43 min")),
    ],
)
def test_people_read_every_figure_of_planning(arguments: tuple[str, ...], said: tuple[str, ...]) -> None:
    output = run(*arguments)
    for figure in said:
        assert figure in output


@pytest.mark.parametrize(
    ("save", "between", "young", "daly", "exact"),
    [
        ("120 s", "492,750 s", 10_874.7, 10_794.9, 10_794.9),
        ("60 s", "11135 s", 1_155.9, 1_116.3, 1_116.3),
        ("600 s", "1800 s", 1_469.7, 1_096.9, 1_100.0),
        ("3600 s", "1800 s", 3_600, 1_800, 1_705.6),
    ],
)
def test_intervals_have_a_command_of_their_own(
    save: str, between: str, young: float, daly: float, exact: float
) -> None:
    results = planned("interval", "--save-time", save, "--between-failures", between)["results"]
    found = [results[f"{name}_seconds"] for name in ("young", "daly", "exact")]
    assert found == pytest.approx([young, daly, exact], abs=0.05)


def test_the_size_of_a_checkpoint_alone_needs_nothing_else() -> None:
    content = planned("checkpoint", "--parameters", "8,030,261,248")
    assert content["bytes"] == 112_423_657_472 and "14 B" in content["notes"][0]
    assert planned("checkpoint", "--bytes", "8 GB")["sizes_as_typed"] == ["8 GB = 7.451 GiB"]


def test_a_configuration_is_written_from_a_plan(tmp_path: Path) -> None:
    import yaml

    file = tmp_path / "unet3d.yaml"
    assert f"Configuration: {file}" in run(*BENCH, "--dlio", str(file), "--epochs", "3")
    written = yaml.safe_load(file.read_text(encoding="utf-8"))
    assert written["dataset"]["num_files_train"] == 28_000
    assert (written["dataset"]["data_folder"], written["train"]["epochs"]) == ("data/unet3d", 3)
    assert "is there already" in refusal(*BENCH, "--dlio", str(file))
    other = str(tmp_path / "new")
    assert "--dlio and --save name the same file" in refusal(*BENCH, "--dlio", other, "--save", other)
    assert json.loads(run(*BENCH, "--dlio", other, "--data-folder", "x y", "--json"))["kind"] == "mlperf"
    assert yaml.safe_load(Path(other).read_text(encoding="utf-8"))["dataset"]["data_folder"] == "x y"


def test_scores_and_utilisation_over_several_runs_are_total_work_over_total_time() -> None:
    score = json.loads(
        run("score", "--run", "5000 samples", "10 s", "--run", "5000 samples", "30 s", "--json")
    )
    assert score["samples_per_second"] == 250 and score["runs"] == 2
    assert score["mean_of_samples_per_second"] == pytest.approx(333.33, abs=0.01)
    times = ("--running-time", "165 s", "--running-time", "190 s")
    found = json.loads(run(*RUNS, *times, "--json"))
    assert found["ratio"] == pytest.approx(2 * 161.5 / 355) and found["passes"] is True
    assert found["ratios"] == pytest.approx([161.5 / 165, 161.5 / 190])


OFFERS = """
cycle: 720 h
devices: 4
needs: {samples_per_second: 1000, cold_start: 1 h, loss: 15 min, headroom: 10%}
prices: {gb_month: {ordinary: 0.05, fast: 0.2}, device_hour: 3}
offers:
  - {name: Ordinary disk, storage: ordinary, samples_per_second: 1250, cold_start: 40 min,
     loss: 620 s, peak: 532 GB, disk: 1 TB, stored: 524 GB, waiting: 10.4 h}
  - {name: Fast disk, storage: fast, samples_per_second: 2048 samples/s, cold_start: 10 min,
     loss: 620 s, peak: 532 GB, disk: 1 TB, stored: 524 GB}
  - {name: Old disk, storage: ordinary, samples_per_second: 300, cold_start: 2 h,
     loss: 620 s, peak: 532 GB, disk: 1 TB, stored: 524 GB}
"""


def test_the_cheapest_plan_that_meets_the_constraints(tmp_path: Path) -> None:
    file, saved = tmp_path / "offers.yaml", tmp_path / "choice.json"
    file.write_text(OFFERS, encoding="utf-8")
    content = planned("cheapest", str(file), "--save", str(saved))
    results = content["results"]
    assert results["cheapest"] == "Fast disk" and results["cheapest_cost"] == pytest.approx(104.8)
    assert results["costs"]["Ordinary disk"]["total_cost"] == pytest.approx(26.2 + 124.8)
    assert list(results["refused"]) == ["Old disk"]
    shown = run("show", str(saved))
    assert "the cheapest is Fast disk with 104.8 over 720 h" in shown and "Old disk" in shown
    file.write_text(OFFERS.replace("device_hour: 3", "device_hour: "), encoding="utf-8")
    assert "Not priced yet: device and hour." in run("cheapest", str(file))


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("cycle: 720 h", "", ("offers.yaml is not complete", "no cycle")),
        ("cycle: 720 h", "cycle: 720", ("offers.yaml, cycle has no unit", "a time with its unit")),
        ("peak: 532 GB", "peak: 532", ("offer 1 (Ordinary disk), peak has no unit",)),
        ("peak: 532 GB", "peak: 10 min", ("peak is not of the right kind", "10 min")),
        ("peak: 532 GB", "peak: [1]", ("peak is no quantity",)),
        ("peak: 532 GB", 'peak: "5,32 GB"', ("decimal mark",)),
        ("peak: 532 GB, ", "", ("offer 1 (Ordinary disk) is not complete", "no peak")),
        ("headroom: 10%", "headroom: 10", ("percentage", "0.1")),
        ("headroom: 10%", "room: 10%", ("needs has a field that is not known", "room")),
        ("device_hour: 3", "device_hour: -3", ("price of a device and hour is out of range",)),
        ("device_hour: 3", "device: 3", ("prices has a field that is not known",)),
        ("name: Old disk", "name: Fast disk", ("Two offers have one name",)),
        ("waiting: 10.4 h", "waiting: 800 h", ("longer than the cycle",)),
        (OFFERS, "- 1", ("holds no fields by name", "cheapest --help")),
        (OFFERS, "offers: [", ("neither YAML nor JSON",)),
        (OFFERS, "cycle: 1 h\noffers: 5", ("offers is no list",)),
    ],
)
def test_bad_files_of_offers_get_one_sentence(
    old: str, new: str, parts: tuple[str, ...], tmp_path: Path
) -> None:
    file = tmp_path / "offers.yaml"
    assert old in OFFERS
    file.write_text(OFFERS.replace(old, new, 1), encoding="utf-8")
    sentence = refusal("cheapest", str(file))
    for part in parts:
        assert part in sentence
    assert "\n" not in sentence


def test_a_missing_file_of_offers_is_named(tmp_path: Path) -> None:
    assert "is not readable" in refusal("cheapest", str(tmp_path / "none.yaml"))
