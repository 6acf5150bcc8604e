"""`course measure` and `course records`: the table, the record, and what may be concluded from two."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from course_lib.cli.main import course
from course_lib.errors import CourseError
from course_lib.experiments.records import load_records

SMALL = (
    "--source",
    "generated",
    "--samples",
    "120",
    "--batch-size",
    "10",
    "--warmup",
    "2",
    "--batches",
    "10",
)


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(course, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result


def test_a_loader_is_timed_and_its_record_reproduces_the_delivered_ids(course_home: Path) -> None:
    done = run("measure", "loader", *SMALL, "--workers", "0,1", "--repeats", "3")
    assert done.stderr.startswith("Measuring; this takes a minute or two")
    assert "workers 0" in done.stdout and "workers 1" in done.stdout
    assert "generated from seed 2026" in done.stdout
    (record,) = load_records()
    assert record.name == "loader_timing"
    assert record.conditions["workers"] == [0, 1]
    assert len(record.runs) == 6
    assert record.figures["workers_1_samples_per_second_lowest"] > 0
    assert all(run["cache_before"]["kind"] for run in record.runs)  # type: ignore[index, call-overload]
    assert record.origin is not None and record.origin.kind == "generated"

    shown = run("records", "show", "last", "--delivered-ids", "--json")
    ids = json.loads(shown.stdout)["delivered_ids"]
    assert len(ids) == len(set(ids)) == record.runs[0]["delivered_samples"]

    other = run("measure", "loader", *SMALL, "--seed", "7", "--repeats", "1", "--json")
    assert json.loads(other.stdout)["runs"][0]["delivered_digest"] != record.conditions["delivered_digest"]
    first, second = (str(path) for path in sorted((course_home / "records").glob("*.json")))
    compared = run("records", "compare", first, second, "--json")
    result = json.loads(compared.stdout)
    assert {"seed", "workers", "repeats"} <= set(result["factors"])
    assert "Change one factor at a time" in result["sentence"]


def test_an_edited_record_does_not_reproduce_its_ids(course_home: Path) -> None:
    run("measure", "loader", *SMALL, "--repeats", "1")
    (path,) = (course_home / "records").glob("*.json")
    content = json.loads(path.read_text(encoding="utf-8"))
    content["runs"][0]["conditions"]["seed"] = 1
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CourseError, match="do not give the sample ids that were delivered"):
        run("records", "show", path.name, "--delivered-ids")


def test_metadata_operations_are_measured_on_a_path_which_is_left_empty(
    course_home: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "mount"
    folder.mkdir()
    done = run("measure", "files", "--path", str(folder), "--files", "20", "--repeats", "2")
    assert all(operation in done.stdout for operation in ("create", "scan", "stat", "open", "read", "remove"))
    assert "Cache before the reads" in done.stdout
    assert list(folder.iterdir()) == []
    (record,) = load_records()
    assert record.figures["open_per_second_median"] > 0
    assert str(folder) not in record.model_dump_json()
    (folder / "mine").touch()
    with pytest.raises(CourseError, match="empty"):
        run("measure", "files", "--path", str(folder))
    assert (folder / "mine").exists()


def test_training_is_timed_on_real_and_synthetic_input(course_home: Path) -> None:
    small = ("--source", "generated", "--batch-size", "16", "--steps", "4", "--warmup-steps", "1")
    done = run("measure", "train", *small, "--samples", "96", "--repeats", "1")
    assert "Accelerator utilisation" in done.stdout and "accuracy" not in done.stdout
    (record,) = load_records()
    assert record.name == "training_steps"
    assert record.figures["synthetic_step_seconds_median"] > 0
    assert "diagnosis" in record.figures


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--workers", "-1"), "workers is out of range"),
        (("--workers", "two"), "--workers is no whole number"),
        (("--workers", "0,2", "--batch-size", "8,16"), "More than one condition is varied"),
        (("--samples", "0"), "sample"),
        (("--samples", "5", "--batch-size", "10"), "fewer samples than one batch holds"),
        (("--workers", "500"), "more workers than batches"),
        (("--layout", "shelves"), "layout is not one of its choices"),
        (("--open-ms", "nan"), "open_ms is out of range"),
        (("--data", "mnist"), "data is not one of its choices"),
        (("--path", "nowhere/at/all"), "nowhere"),
        (("--samples", "100", "--batch-size", "10", "--batches", "50"), "The data run out"),
    ],
)
def test_bad_input_is_one_sentence(course_home: Path, arguments: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence):
        run("measure", "loader", "--source", "generated", *arguments)
    assert load_records() == ()


def test_an_edited_record_that_holds_no_whole_runs_is_one_sentence(course_home: Path) -> None:
    run("measure", "loader", *SMALL, "--repeats", "1")
    (path,) = (course_home / "records").glob("*.json")
    whole = path.read_text(encoding="utf-8")

    def told(edit: Callable[[dict[str, Any]], Any]) -> str:
        content = json.loads(whole)
        edit(content)
        path.write_text(json.dumps(content), encoding="utf-8")
        with pytest.raises(CourseError) as caught:
            run("records", "show", path.name, "--delivered-ids")
        return str(caught.value)

    assert "found no runs" in told(lambda record: record.update(runs=[]))
    assert "found no 'factor' in it" in told(lambda record: record["conditions"].pop("factor"))
    assert "found no 'timing' in it" in told(lambda record: record["runs"][0].pop("timing"))
    assert "as they were written" in told(lambda record: record["runs"][0].update(conditions=None))
    assert "as they were written" in told(lambda record: record["conditions"].update(started="yesterday"))
    assert "not so many batches" in told(lambda record: record["runs"][0].update(delivered_batches="x"))
    assert "do not give the sample ids" in told(
        lambda record: record["runs"][0].update(delivered_digest=None)
    )


@pytest.mark.parametrize("command", ["loader", "train", "files"])
def test_an_empty_path_is_refused_and_nothing_else_is_measured(course_home: Path, command: str) -> None:
    with pytest.raises(CourseError, match="--path is empty"):
        run("measure", command, "--path", "")
    assert load_records() == ()


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_measurement_whose_record_cannot_be_written_is_shown_all_the_same(
    course_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    def full(*_: object, **__: object) -> None:
        raise CourseError("The disk is full")

    monkeypatch.setattr("course_lib.experiments.measurements.publish_record", full)
    result = CliRunner().invoke(
        course, ["measure", "files", "--path", str(tmp_path), "--files", "5", *options]
    )
    assert str(result.exception) == "The disk is full."
    assert "create" in result.stdout and "remove" in result.stdout


def test_a_place_that_takes_no_record_is_told_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr("course_lib.loading.measure_loader", lambda *_, **__: pytest.fail("it was measured"))
    with pytest.raises(CourseError, match="could not be written"):
        run("measure", "loader")
