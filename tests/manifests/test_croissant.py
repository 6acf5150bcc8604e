from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path

import pytest

from course_lib.datasets import load_bank_marketing
from course_lib.datasets.bank_marketing import prepare_for_croissant
from course_lib.errors import CourseError
from course_lib.manifests import croissant_records, load_manifest, manifest_names, reading
from course_lib.manifests import validate_with_mlcroissant as validate


@pytest.mark.parametrize("name", manifest_names())
def test_mlcroissant_finds_nothing_wrong(name: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert validate(name) == []
    assert caplog.records == []


def test_what_mlcroissant_finds_wrong_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = json.loads(reading.manifest_path("bank_marketing").read_text(encoding="utf-8"))
    content["recordSet"][0]["field"][0]["source"]["fileObject"]["@id"] = "another.csv"
    (tmp_path / "bank_marketing").mkdir()
    (tmp_path / "bank_marketing" / "croissant.json").write_text(json.dumps(content), encoding="utf-8")
    monkeypatch.setattr(reading, "manifests_folder", lambda: tmp_path)
    [problem] = validate("bank_marketing")
    assert problem.startswith("[")
    assert "another.csv" in problem


@pytest.mark.mirror
@pytest.mark.parametrize(("variant", "row_count"), [("additional-full", 41_188), ("full", 45_211)])
def test_mlcroissant_loads_the_real_rows(mirror: Path, variant: str, row_count: int) -> None:
    table = load_bank_marketing(variant, source="mirror")
    records = croissant_records("bank_marketing", variant, prepare_for_croissant(variant))
    names = tuple(table.frame.columns)
    count = 0
    for record, row in zip(records, table.frame.itertuples(index=False, name=None), strict=True):
        assert tuple(record) == names
        assert tuple(record.values()) == row
        assert [type(value) for value in record.values()] == [type(value) for value in row]
        count += 1
    assert count == row_count


@pytest.mark.mirror
def test_the_prepared_file_is_made_once_and_repaired_when_damaged(mirror: Path, course_home: Path) -> None:
    [(name, path)] = prepare_for_croissant("full").items()
    assert path == course_home / "data" / "bank_marketing" / "prepared" / "bank-full.comma.csv"
    made_at = path.stat().st_mtime_ns
    good = path.read_bytes()
    assert prepare_for_croissant("full") == {name: path}
    assert path.stat().st_mtime_ns == made_at
    path.write_bytes(good[:-3])
    prepare_for_croissant("full")
    assert path.read_bytes() == good
    assert [other.name for other in path.parent.iterdir()] == [name]


@pytest.mark.mirror
def test_mlcroissant_refuses_a_flipped_byte_by_name(mirror: Path) -> None:
    [(name, path)] = prepare_for_croissant("full").items()
    content = bytearray(path.read_bytes())
    content[1_000] ^= 1
    path.write_bytes(content)
    with pytest.raises(CourseError, match=name):
        next(croissant_records("bank_marketing", "full", {name: path}))


@pytest.mark.mirror
def test_a_flipped_byte_in_the_mirror_is_refused_by_name(
    mirror: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = load_manifest("bank_marketing").files[0].mirror_path
    (tmp_path / place).parent.mkdir()
    shutil.copyfile(mirror / place, tmp_path / place)
    content = bytearray((tmp_path / place).read_bytes())
    content[500_000] ^= 1
    (tmp_path / place).write_bytes(content)
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    for load in (load_bank_marketing, prepare_for_croissant):
        with pytest.raises(CourseError, match=r"bank\+marketing\.zip"):
            load()


def test_files_that_are_not_there_and_unknown_record_sets_are_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"bank-full\.comma\.csv"):
        next(croissant_records("bank_marketing", "full", {"bank-full.comma.csv": tmp_path / "none.csv"}))
    with pytest.raises(CourseError, match="additional-full"):
        next(croissant_records("bank_marketing", "small", {}))


def test_without_the_archive_nothing_can_be_prepared() -> None:
    with pytest.raises(CourseError, match="course data fetch bank_marketing"):
        prepare_for_croissant()
