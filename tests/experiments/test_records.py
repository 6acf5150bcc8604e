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
from course_lib.experiments.records import load_record, load_records, publish_record

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
