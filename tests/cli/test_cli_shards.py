"""`course pack` and `course shards`, in this process, on generated data."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from course_lib.cli.main import course
from course_lib.errors import CourseError

PACK = ("pack", "ag_news", "--source", "generated", "--samples-per-shard", "400")


def run(*arguments: str, status: int = 0) -> Result:
    result = CliRunner().invoke(course, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == status, result.output
    return result


def test_pack_verify_damage_repair_and_unpack(tmp_path: Path) -> None:
    folder = tmp_path / "my shards"
    packed = json.loads(run(*PACK, "--out", str(folder), "--json").stdout)
    assert packed["samples"] == sum(shard["samples"] for shard in packed["shards"])
    assert json.loads(run("shards", "verify", str(folder), "--json").stdout)["ok"] is True
    shown = json.loads(run("shards", "show", str(folder), "--json").stdout)
    assert sum(shown["samples_by_class"].values()) == packed["samples"]

    name = packed["shards"][1]["name"]
    whole = (folder / name).read_bytes()
    with tarfile.open(folder / name) as archive:
        member = archive.getmembers()[4]
    at = member.offset_data
    (folder / name).write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    damaged = json.loads(run("shards", "verify", str(folder), "--json", status=1).stdout)
    (finding,) = damaged["findings"]
    assert (finding["shard"], finding["sample_id"]) == (name, member.name.partition(".")[0])

    repaired = run("shards", "repair", str(folder), "--source", "generated")
    assert f"Written anew: {name}" in repaired.output
    assert (folder / name).read_bytes() == whole
    run("shards", "unpack", str(folder), "--out", str(tmp_path / "files"))
    assert len(list((tmp_path / "files").glob("*/*"))) == packed["samples"]


def test_two_jobs_pack_the_same_bytes_as_one(tmp_path: Path) -> None:
    first = json.loads(run(*PACK, "--out", str(tmp_path / "one"), "--json").stdout)
    second = json.loads(run(*PACK, "--out", str(tmp_path / "two"), "--jobs", "2", "--json").stdout)
    assert first["digest"] == second["digest"]


def test_shards_are_verified_against_the_split_that_they_came_from(tmp_path: Path) -> None:
    split = tmp_path / "split"
    run("split", "make", "bank_marketing", "--recipe", "ordered-70-15-15", "--out", str(split))
    shards = tmp_path / "shards"
    of_split = ("pack", "bank_marketing", "--manifest", str(split), "--source", "generated")
    run(*of_split, "--split", "validation", "--out", str(shards))
    run("shards", "verify", str(shards), "--against", str(split))
    other = tmp_path / "other"
    run("split", "make", "bank_marketing", "--recipe", "stratified-70-15-15", "--out", str(other))
    found = json.loads(
        run("shards", "verify", str(shards), "--against", str(other), "--json", status=1).stdout
    )
    assert found["findings"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("--target-bytes", "lots"), "lots"),
        (("--target-bytes", "3 s"), "no number of whole bytes"),
        (("--samples-per-shard", "0"), "sample"),
        (("--jobs", "0"), "--jobs is out of range"),
        (("--split", "holdout"), "holdout"),
        (("--recipe", "nonsense"), "nonsense"),
        (("--source", "elsewhere"), "--source is not one of its choices"),
        (("--manifest", "nowhere", "--recipe", "official-90-10"), "both say how"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(CourseError, match=sentence):
        run("pack", "ag_news", "--source", "generated", "--out", str(tmp_path / "shards"), *arguments)
    assert not (tmp_path / "shards").exists()


def test_a_folder_without_shards_is_refused(tmp_path: Path) -> None:
    for command in ("verify", "show"):
        with pytest.raises(CourseError, match=r"shards\.json|no shard set"):
            run("shards", command, str(tmp_path))
