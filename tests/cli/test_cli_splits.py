"""The command ``course split``: in the same process, on generated data, and once on real data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from course_lib.cli.main import course
from course_lib.errors import CourseError


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(course, ["split", *arguments])
    if isinstance(result.exception, CourseError):
        raise result.exception
    return result


def test_make_show_verify_diff_and_export(tmp_path: Path, course_home: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    made = run("make", "bank_marketing", "--recipe", "ordered-70-15-15", "--out", str(first))
    assert made.exit_code == 0
    assert "Made from data generated from seed 2026" in made.output
    shown = json.loads(run("show", str(first), "--json").stdout)
    assert shown["recipe"] == "ordered-70-15-15"
    assert shown["digest"] in made.output
    assert run("verify", str(first)).exit_code == 0
    assert run("diff", str(first), str(first)).exit_code == 0

    run("make", "bank_marketing", "--recipe", "stratified-70-15-15", "--seed", "7", "--out", str(second))
    difference = run("diff", str(first), str(second), "--json")
    assert difference.exit_code == 1
    assert json.loads(difference.stdout)["moved"]
    run("export", str(second))
    assert (second / "croissant.json").exists()


def test_the_workbooks_own_place_is_used_where_none_is_named(course_home: Path) -> None:
    run("make", "bank_marketing", "--recipe", "stratified-80-20", "--seed", "7")
    (folder,) = (course_home / "splits").glob("*/stratified-80-20-seed7")
    assert {path.name for path in folder.iterdir()} == {"samples.csv", "split.json"}


def test_verify_ends_with_one_when_the_data_are_others(tmp_path: Path) -> None:
    from course_lib.splits import make_split, parse_recipe, sample_table, write_split

    ids = [f"row-{number:05d}" for number in range(1, 21)]
    samples = sample_table(ids, [0, 1] * 10, dataset="bank_marketing", variant="full-generated-2026-20")
    write_split(make_split(samples, parse_recipe("stratified-80-20")), tmp_path / "split")
    result = run("verify", str(tmp_path / "split"), "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["ok"] is False


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["make", "bank_marketing", "--recipe", "ordered-70-15"], "do not sum to 100"),
        (["make", "bank_marketing", "--recipe", "grouped-70-30"], "needs the samples' groups"),
        (["make", "nothing", "--recipe", "ordered-70-30"], "nothing"),
        (["show", "nowhere"], "holds no split manifest"),
    ],
)
def test_bad_input_is_one_sentence(arguments: list[str], sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence):
        run(*arguments)


@pytest.mark.mirror
def test_real_bank_split_equals_the_committed_one(mirror: Path, tmp_path: Path) -> None:
    from course_lib.paths import manifests_folder

    committed = manifests_folder() / "bank_marketing" / "splits" / "additional-full" / "ordered-70-15-15"
    made = run("make", "bank_marketing", "--recipe", "ordered-70-15-15", "--out", str(tmp_path / "split"))
    assert "It equals the split that comes with the workbook" in made.output
    for name in ("samples.csv", "split.json"):
        assert (tmp_path / "split" / name).read_bytes() == (committed / name).read_bytes()
    assert run("verify", str(tmp_path / "split")).exit_code == 0
