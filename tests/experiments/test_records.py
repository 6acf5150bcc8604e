from __future__ import annotations

import getpass
import json
import platform
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
import pytest

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.experiments.record_comparison import compare_records
from course_lib.experiments.records import (
    Record,
    check_place_for_records,
    find_record,
    load_record,
    load_records,
    publish_record,
    record_paths,
)

ORIGIN = Origin("generated", "bank_marketing", "full", 1200, "ab" * 32, 7)


def test_a_record_comes_back_as_it_was_published(course_home: Path) -> None:
    figures = {"auc": np.float64(0.75), "rows": np.int64(12), "winner": "trees"}
    path = publish_record("auc_comparison", figures, {"split": "ordered", "parts": [0.85, 0.15]}, ORIGIN)
    assert path.parent == course_home / "records"
    record = load_record(path)
    assert record.figures == {"auc": 0.75, "rows": 12, "winner": "trees"}
    assert record.conditions == {"split": "ordered", "parts": [0.85, 0.15]}
    assert record.origin == ORIGIN
    assert record.schema_version == 2
    assert record.versions["python"] == platform.python_version()
    assert record.code_version.startswith(record.versions["ai-storage-workbook"])
    assert abs((datetime.now(timezone.utc) - record.created).total_seconds()) < 3600


def test_the_run_decides_where_records_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_RUN_DIR", str(tmp_path / "run"))
    path = publish_record("first", {"n": 1})
    assert path.parent == tmp_path / "run" / "records"
    assert [record.name for record in load_records()] == ["first"]


def test_records_of_the_same_moment_stay_apart() -> None:
    paths = {publish_record("again", {"n": number}) for number in range(5)}
    assert len(paths) == 5
    assert sorted(record.figures["n"] for record in load_records()) == [0, 1, 2, 3, 4]


def test_a_record_names_neither_host_nor_user_nor_home() -> None:
    text = publish_record("private", {"n": 1}).read_text(encoding="utf-8")
    machine = json.loads(text)["machine"]
    assert set(machine) == {"system", "processor", "logical_cores", "usable_cores", "memory_bytes", "gpus"}
    for private in {platform.node(), str(Path.home())} | ({getpass.getuser()} - {"root"}):
        assert not private or private not in text


@pytest.mark.parametrize(
    ("figure", "reason"),
    [
        (float("nan"), "not a finite number"),
        (float("inf"), "not a finite number"),
        ([1, 2], "found list"),
        (True, "found bool"),
    ],
)
def test_figures_that_nobody_can_compare_are_refused(figure: object, reason: str, course_home: Path) -> None:
    with pytest.raises(CourseError, match=reason):
        publish_record("odd", {"figure": figure})
    assert not (course_home / "records").exists()


@pytest.mark.parametrize("name", ["", "Two words", "../up", "1st"])
def test_names_must_fit_into_a_file_name(name: str) -> None:
    with pytest.raises(CourseError, match="lower-case words"):
        publish_record(name, {})


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema_version": 2}'])
def test_damaged_and_newer_records_are_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "record.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CourseError, match=r"record\.json is not a record that this version can read"):
        load_record(path)


def test_folder_that_cannot_be_written_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSE_RUN_DIR", str(tmp_path / "file"))
    with pytest.raises(CourseError, match="could not be written"):
        publish_record("first", {"n": 1})


def edited(path: Path, name: str, **changes: object) -> Path:
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    other = path.with_name(name)
    other.write_text(json.dumps(content), encoding="utf-8")
    return other


def test_a_damaged_record_hides_none_of_the_others() -> None:
    good = publish_record("good", {"n": 1})
    edited(good, "19990101T000000Z-naive.json", created="2999-01-01T00:00:00")
    good.with_name("29990101T000000Z-half.json").write_bytes(good.read_bytes()[:200])
    assert find_record("last") == find_record("good") == good


def test_when_no_record_can_be_read_there_is_no_last_one() -> None:
    publish_record("good", {"n": 1}).write_bytes(b"{")
    with pytest.raises(CourseError, match="No record in"):
        find_record("last")


@pytest.mark.parametrize(
    "changes", [{"created": "2026-11-30T02:00:00"}, {"figures": {"n": float("inf")}}, {"schema_version": 3}]
)
def test_a_record_without_time_zone_with_endless_figures_or_of_a_newer_layout_is_refused(
    changes: dict[str, object],
) -> None:
    with pytest.raises(CourseError, match="is not a record that this version can read"):
        load_record(edited(publish_record("good", {"n": 1}), "other.json", **changes))


def test_a_file_where_records_are_looked_for_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CourseError, match="is no folder"):
        record_paths(tmp_path / "file")
    assert record_paths(tmp_path / "nothing here") == []


def test_a_place_that_takes_no_record_is_told_before_the_work(
    course_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    check_place_for_records()
    assert list((course_home / "records").iterdir()) == []
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file"))
    with pytest.raises(CourseError, match="could not be written"):
        check_place_for_records()


def record_of(**conditions: object) -> Record:
    return load_record(publish_record("loader_timing", {"n": 1}, conditions))


def test_the_time_of_a_measurement_is_no_factor_of_a_comparison() -> None:
    first = record_of(workers=0, started="2026-11-30T10:00:00+00:00")
    same = record_of(workers=0, started="2026-11-30T11:00:00+00:00")
    other = record_of(workers=2, started="2026-11-30T11:00:00+00:00")
    assert compare_records(first, same).sentence.startswith("Nothing was chosen otherwise")
    assert compare_records(first, other).sentence.startswith("Only workers differs")


def test_what_follows_from_a_condition_is_no_second_factor_and_other_samples_are_one() -> None:
    first = record_of(seed=1, workers=0, delivered_digest="ab")
    assert set(compare_records(first, record_of(seed=2, workers=0, delivered_digest="cd")).factors) == {
        "seed"
    }
    others = compare_records(first, record_of(seed=1, workers=2, delivered_digest="cd"))
    assert set(others.factors) == {"workers", "delivered_digest"}
