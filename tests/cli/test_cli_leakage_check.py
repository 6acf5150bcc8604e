"""``course leakage check``: what it finds in manifests, what it says, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from course_lib.cli.main import course
from course_lib.datasets.samples import bank_samples
from course_lib.splits import make_split, parse_recipe, sample_table, write_split


def check(*words: object) -> Result:
    return CliRunner().invoke(course, ["leakage", "check", *map(str, words)])


@pytest.fixture
def own_split(tmp_path: Path) -> Path:
    ids = [f"s-{at}" for at in range(20)]
    labels = ["no", "yes"] * 10
    content = [f"{at:064x}" for at in range(20)]
    samples = sample_table(ids, labels, dataset="own", content=content, groups=[f"g{at}" for at in range(20)])
    write_split(make_split(samples, parse_recipe("grouped-stratified-50-50")), tmp_path / "own")
    return tmp_path / "own"


def test_a_clean_manifest_of_unknown_data_ends_with_status_0(own_split: Path) -> None:
    result = check(own_split, "--json")
    assert result.exit_code == 0, result.output
    (checked,) = json.loads(result.output)["manifests"]
    answers = {finding["kind"]: finding["status"] for finding in checked["findings"]}
    clear = {kind for kind, status in answers.items() if status == "clear"}
    assert clear == {"exact_duplicate", "group_spread", "class_missing", "manifest_edited"}
    assert len(answers) == 10


def test_an_edited_manifest_ends_with_status_1_and_is_told_in_words(own_split: Path) -> None:
    file = own_split / "samples.csv"
    content = file.read_text(encoding="utf-8")
    changed = content.replace(",train,", ",test,", 1)
    file.write_bytes(changed.encode())
    result = check(own_split)
    assert result.exit_code == 1
    assert "manifest edited" in result.output
    assert "found" in result.output


def test_generated_bank_data_are_compared_with_their_manifest(tmp_path: Path) -> None:
    from course_lib.datasets import load_bank_marketing

    samples = bank_samples(load_bank_marketing(source="generated", row_count=3000, seed=7))
    write_split(make_split(samples, parse_recipe("ordered-70-15-15")), tmp_path / "ordered")
    write_split(make_split(samples, parse_recipe("stratified-70-15-15")), tmp_path / "stratified")
    result = check(tmp_path / "ordered", tmp_path / "stratified", "--json")
    assert result.exit_code == 1
    answers = [
        {finding["kind"]: finding["status"] for finding in checked["findings"]}
        for checked in json.loads(result.output)["manifests"]
    ]
    assert [answer["future_in_training"] for answer in answers] == ["clear", "found"]
    assert [answer["field_too_good"] for answer in answers] == ["found", "found"]
    assert [answer["drifting_rate"] for answer in answers] == ["found", "found"]
    assert [answer["manifest_edited"] for answer in answers] == ["clear", "clear"]
    assert [answer["label_map_changed"] for answer in answers] == ["clear", "clear"]


def test_samples_are_listed_by_id_the_first_few_of_many(tmp_path: Path) -> None:
    ids = [f"s-{at:02d}" for at in range(40)]
    content = [f"{at % 20:064x}" for at in range(40)]
    samples = sample_table(ids, ["no", "yes"] * 20, dataset="own", content=content, times=range(40))
    write_split(make_split(samples, parse_recipe("ordered-50-50")), tmp_path / "copies")
    result = check(tmp_path / "copies")
    assert "The same sample in two parts:\n  s-00, s-20\n" in result.output
    assert "and 10 more" in result.output


def test_a_folder_without_a_manifest_is_told_in_one_sentence(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert "holds no split manifest" in str(result.exception)


def test_data_of_an_unknown_name_are_refused(own_split: Path) -> None:
    assert "iris is no data set" in str(check(own_split, "--data", "iris").exception)


@pytest.mark.parametrize("made", ["9" * 5000 + "-10", "1-" + "9" * 40, "१-१०"])
def test_a_manifest_that_names_impossible_generated_data_is_still_checked(tmp_path: Path, made: str) -> None:
    samples = sample_table(
        [f"row-{at:05d}" for at in range(20)],
        ["no", "yes"] * 10,
        dataset="bank_marketing",
        variant=f"full-generated-{made}",
    )
    write_split(make_split(samples, parse_recipe("stratified-50-50")), tmp_path / "own")
    result = check(tmp_path / "own", "--json")
    assert result.exit_code == 0, result.output
    (checked,) = json.loads(result.stdout)["manifests"]
    answers = {finding["kind"]: finding["status"] for finding in checked["findings"]}
    assert answers["manifest_edited"] == "clear"
    assert answers["field_too_good"] == "cannot tell"


def test_ids_of_a_manifest_do_not_reach_the_terminal_as_commands(own_split: Path) -> None:
    file = own_split / "samples.csv"
    first, *rest = file.read_text(encoding="utf-8").splitlines(keepends=True)
    digest = rest[0].strip().split(",")[-1]
    lines = [f"\x1b[2J{at},{part},g,{digest}\n" for at, part in enumerate(("train", "test"))]
    file.write_bytes("".join([first, *rest, *lines]).encode())
    told = check(own_split)
    assert told.exit_code == 1
    assert "\\x1b[2J" in told.output
    assert "\x1b" not in told.output
