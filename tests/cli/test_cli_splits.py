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


def test_verify_says_when_published_data_were_replaced_by_generated_ones(tmp_path: Path) -> None:
    from course_lib.splits import make_split, parse_recipe, sample_table, write_split

    ids = [f"row-{number:05d}" for number in range(1, 21)]
    for variant in ("full", "full-generated-2026-20"):
        samples = sample_table(ids, [0, 1] * 10, dataset="bank_marketing", variant=variant)
        write_split(make_split(samples, parse_recipe("stratified-80-20")), tmp_path / variant)
    published = run("verify", str(tmp_path / "full"))
    assert published.exit_code == 1
    assert "published data, which are not here" in published.output
    assert "published data" not in run("verify", str(tmp_path / "full-generated-2026-20")).output


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


@pytest.fixture
def own_split(tmp_path: Path) -> Path:
    from course_lib.splits import make_split, parse_recipe, sample_table, write_split

    ids = [f"s-{number:02d}" for number in range(20)]
    content = [f"{number:064x}" for number in range(20)]
    samples = sample_table(ids, ["no", "yes"] * 10, dataset="own", content=content)
    write_split(make_split(samples, parse_recipe("stratified-80-20")), tmp_path / "own")
    return tmp_path / "own"


@pytest.mark.parametrize("name", ["samples.csv", "split.json", "thesis.txt", "data.json"])
def test_an_export_writes_over_nothing_but_croissant(own_split: Path, name: str) -> None:
    for other in ("thesis.txt", "data.json"):
        (own_split / other).write_text("{}", encoding="utf-8")
    before = (own_split / name).read_bytes()
    with pytest.raises(CourseError, match="is there already"):
        run("export", str(own_split), "--out", str(own_split / name))
    assert (own_split / name).read_bytes() == before
    assert run("export", str(own_split)).exit_code == 0
    assert run("export", str(own_split)).exit_code == 0
    assert run("show", str(own_split)).exit_code == 0


def test_an_export_refuses_a_folder(own_split: Path) -> None:
    with pytest.raises(CourseError, match="is there already"):
        run("export", str(own_split), "--out", str(own_split))


def change_json(folder: Path, **changes: object) -> None:
    """Change entries of split.json and give it a fresh digest."""
    from course_lib.splits.entries import digest_of

    file = folder / "split.json"
    content = json.loads(file.read_text(encoding="utf-8")) | changes
    content["digest"] = digest_of(content)
    file.write_text(json.dumps(content), encoding="utf-8")


def test_splits_that_count_other_classes_are_shown_side_by_side(own_split: Path) -> None:
    change_json(own_split, counts={"train": {"no": 8, "yes": 8}, "test": {"perhaps": 4}})
    shown = run("show", str(own_split))
    assert shown.exit_code == 0
    assert "perhaps" in shown.output


def test_control_characters_of_a_manifest_do_not_reach_the_terminal(own_split: Path) -> None:
    change_json(own_split, id_kind="\x1b[2Jcleared \u202etxet", origin="a\ud800b", notes=["\x07bell"])
    shown = run("show", str(own_split))
    assert shown.exit_code == 0
    for found in ("\\x1b[2Jcleared", "\\u202etxet", "a\\ud800b", "\\x07bell"):
        assert found in shown.output
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.output)


def test_the_same_splits_without_digests_are_not_said_to_have_the_same_digest(tmp_path: Path) -> None:
    from course_lib.splits import make_split, parse_recipe, sample_table, write_split

    ids = [f"s-{number:02d}" for number in range(20)]
    for name, content in (("with", [f"{number:064x}" for number in range(20)]), ("without", None)):
        samples = sample_table(ids, ["no", "yes"] * 10, dataset="own", content=content)
        write_split(make_split(samples, parse_recipe("stratified-80-20")), tmp_path / name)
    told = run("diff", str(tmp_path / "with"), str(tmp_path / "without")).output
    assert "with the same digest" not in told
    assert "Contents were not compared" in told
    assert "with the same digest" in run("diff", str(tmp_path / "with"), str(tmp_path / "with")).output
