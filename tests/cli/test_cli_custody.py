"""The command ``course custody``: cases and key apart, and files that others wrote are judged or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from course_lib.cli.main import course
from course_lib.errors import CourseError


def custody(*words: object) -> Result:
    result = CliRunner().invoke(course, ["custody", *map(str, words)])
    if isinstance(result.exception, CourseError):
        raise result.exception
    return result


@pytest.fixture
def made(tmp_path: Path) -> Path:
    assert custody("make", 2, "--seed", 3, "--out", tmp_path / "cases").exit_code == 0
    return tmp_path / "cases"


def verdicts(made: Path, learner: object) -> Path:
    set_id = json.loads((made / "set.json").read_text(encoding="utf-8"))["set"]
    said = {"case-01": {"kind": "clean", "evidence": ["\x1b[31mred"]}}
    content = {"schema_version": 1, "set": set_id, "learner": learner, "verdicts": said}
    file = made.parent / "learner.json"
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def test_cases_and_key_lie_apart_and_verdicts_are_judged(made: Path) -> None:
    assert {path.name for path in made.iterdir()} == {"case-01", "case-02", "set.json"}
    key = made.parent / "cases-key" / "key.json"
    told = custody("judge", verdicts(made, "Ada"), "--key", key)
    assert told.exit_code == 0
    assert told.output.startswith("Ada: ")
    as_json = json.loads(custody("judge", verdicts(made, "Ada"), "--key", key, "--json").stdout)
    assert [case["case"] for case in as_json["learners"][0]["cases"]] == ["case-01", "case-02"]


def test_a_learners_file_cannot_move_the_instructors_cursor(made: Path) -> None:
    key = made.parent / "cases-key" / "key.json"
    told = custody("judge", verdicts(made, "\x1b[2J\ud800Eve"), "--key", key)
    assert told.exit_code == 0
    assert "\\x1b[2J\\ud800Eve: " in told.output
    assert "\\x1b[31mred" in told.output
    assert "\x1b" not in told.output


def test_a_file_that_cannot_be_judged_does_not_stop_the_others(made: Path) -> None:
    key = made.parent / "cases-key" / "key.json"
    good = verdicts(made, "Ada")
    for name in ("cut.json", "odd.json"):
        (made.parent / name).write_text("{" if name == "cut.json" else "[]", encoding="utf-8")
    words = ["custody", "judge", *(str(made.parent / name) for name in ("cut.json", "odd.json")), str(good)]
    told = CliRunner().invoke(course, [*words, "--key", str(key)])
    assert "Ada: " in told.stdout
    assert "cut.json cannot be read" in told.stderr
    assert isinstance(told.exception, CourseError)
    assert "odd.json is not a file of verdicts" in str(told.exception)
    as_json = json.loads(CliRunner().invoke(course, [*words, "--key", str(key), "--json"]).stdout)
    assert [report["learner"] for report in as_json["learners"]] == ["Ada"]
    assert [Path(one["file"]).name for one in as_json["refused"]] == ["cut.json", "odd.json"]


def test_a_key_that_cannot_be_read_is_told_once_and_judges_nobody(made: Path) -> None:
    (made.parent / "bad.json").write_text("{", encoding="utf-8")
    with pytest.raises(CourseError, match=r"bad\.json cannot be read as a key"):
        custody("judge", verdicts(made, "Ada"), "--key", made.parent / "bad.json")


@pytest.mark.parametrize("count", [0, 100, 10_000, 10**20])
def test_a_count_out_of_range_writes_nothing(tmp_path: Path, count: int) -> None:
    with pytest.raises(CourseError, match="expected 1 to 99 cases"):
        custody("make", count, "--out", tmp_path / "cases")
    assert not list(tmp_path.iterdir())


def test_existing_places_are_left_alone(made: Path) -> None:
    before = (made / "set.json").read_bytes()
    for words in (["--out", made], ["--out", made.parent / "new", "--key", made / "set.json"]):
        with pytest.raises(CourseError, match="is there already"):
            custody("make", 2, *words)
    assert (made / "set.json").read_bytes() == before
    assert not (made.parent / "new").exists()
