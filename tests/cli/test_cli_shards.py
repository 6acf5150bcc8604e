"""`course pack` and `course shards`, in this process, on generated data."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tarfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from course_lib.cli.main import course
from course_lib.cli.pack import executor_of, print_set
from course_lib.errors import CourseError
from course_lib.shards import read_manifest

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

    said = run("shards", "verify", str(folder), status=1).output
    assert (
        said.splitlines()[-1] == f'`course shards repair "{folder}"` writes damaged and missing files anew.'
    )

    repaired = run("shards", "repair", str(folder))
    assert "writes damaged" not in repaired.output
    assert f"Written anew: {name}" in repaired.output
    assert (folder / name).read_bytes() == whole
    unpacked = run("shards", "unpack", str(folder), "--out", str(tmp_path / "files"))
    assert f"{packed['samples']:,} files, in one folder for each class" in unpacked.output
    assert len(list((tmp_path / "files").glob("*/*"))) == packed["samples"]


def no_data(*_: object, **__: object) -> None:
    pytest.fail("data were loaded although nothing was to be written")


def test_what_needs_no_data_is_said_before_they_are_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "set"
    packed = run(*PACK, "--split", "validation", "--out", str(folder)).output
    again = run(*PACK, "--split", "validation", "--out", str(folder)).output
    assert "nothing was written" not in packed
    assert again == f"{packed}This set was finished already; nothing was written.\n"

    monkeypatch.setattr("course_lib.shards.sources.source_for", no_data)
    with pytest.raises(CourseError, match="A shard has one target"):
        run(*PACK, "--out", str(tmp_path / "new"), "--target-bytes", "16 MB")
    with pytest.raises(CourseError, match="found 5; name the unit"):
        run("pack", "ag_news", "--out", str(tmp_path / "new"), "--target-bytes", "5")
    with pytest.raises(
        CourseError, match="no split of this name in ag_news: expected train, validation, test"
    ):
        run(*PACK, "--out", str(tmp_path / "new"), "--split", "holdout")
    with pytest.raises(CourseError, match=r"another shard set already.*target_samples 400"):
        run(*PACK[:-1], "300", "--out", str(folder))
    with pytest.raises(CourseError, match="holds other things than a shard set"):
        run(*PACK, "--out", str(tmp_path))
    assert "Nothing is wrong" in run("shards", "repair", str(folder)).output


def test_a_set_of_another_split_is_repaired_without_naming_it(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    packed = json.loads(run(*PACK, "--split", "validation", "--out", str(folder), "--json").stdout)
    damaged = folder / packed["shards"][0]["name"]
    whole = damaged.read_bytes()
    damaged.write_bytes(b"no")
    said = run("shards", "verify", str(folder), status=1).output
    assert "is empty" not in said
    assert f"`course shards repair {folder}`" in said
    assert f"Written anew: {damaged.name}" in run("shards", "repair", str(folder)).output
    assert damaged.read_bytes() == whole


def test_the_other_table_of_a_data_set_is_repaired_without_naming_it(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    of_table = ("pack", "bank_marketing", "--variant", "full", "--source", "generated")
    packed = json.loads(run(*of_table, "--split", "test", "--out", str(folder), "--json").stdout)
    damaged = folder / packed["shards"][0]["name"]
    damaged.unlink()
    assert f"Written anew: {damaged.name}" in run("shards", "repair", str(folder)).output


def test_a_shard_too_many_is_left_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "set"
    packed = json.loads(run(*PACK, "--out", str(folder), "--json").stdout)
    extra = folder / "train-000099.tar"
    extra.write_bytes((folder / packed["shards"][0]["name"]).read_bytes()[:2])
    monkeypatch.setattr("course_lib.shards.sources.source_for", no_data)
    said = run("shards", "repair", str(folder), status=1).output
    assert said.splitlines()[-1] == (
        "A repair removes nothing: move train-000099.tar out of the folder yourself."
    )
    assert "writes damaged" not in said and "is empty" not in said
    assert extra.stat().st_size == 2


def test_shards_of_another_tool_are_not_asked_for_the_split_of_a_task(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    run(*PACK, "--out", str(folder))
    (folder / "shards.json").unlink()
    (folder / "index.npy").unlink()
    run("shards", "index", str(folder), "--split", "holdout")
    with pytest.raises(CourseError, match="were written by another tool"):
        run("shards", "repair", str(folder))


@pytest.mark.parametrize(
    ("payload", "said"), [(1000, "the container adds 50.0%"), (2, "the shards take 750 times that")]
)
def test_a_container_much_larger_than_its_payloads_is_told_in_times(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], payload: int, said: str
) -> None:
    run(*PACK, "--out", str(tmp_path / "set"))
    manifest = read_manifest(tmp_path / "set")
    stored = replace(manifest.shards[0], bytes=1500)
    print_set(replace(manifest, shards=(stored,), payload_bytes=payload), tmp_path)
    assert said in " ".join(capsys.readouterr().out.split())


def test_a_pipe_gets_no_progress_bar(tmp_path: Path) -> None:
    folder = str(tmp_path / "shards")
    said = run(*PACK, "--out", folder).output + run("shards", "verify", folder).output
    assert "Nothing is wrong" in said
    assert "%|" not in said


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
        (("--target-bytes", "256"), r"a number with a unit.*found 256; name the unit"),
        (("--out", " "), "--out names no place"),
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


@pytest.mark.parametrize("command", ["verify", "show"])
def test_the_address_of_a_store_is_refused_with_what_to_do(command: str) -> None:
    with pytest.raises(CourseError, match=r"found the address s3://bucket/set; copy the set from the store"):
        run("shards", command, "s3://bucket/set")


def test_the_summary_of_a_faulty_set_tells_how_many_samples_there_should_be(tmp_path: Path) -> None:
    packed = json.loads(run(*PACK, "--out", str(tmp_path / "set"), "--json").stdout)
    first = packed["shards"][0]
    (tmp_path / "set" / first["name"]).unlink()
    left = packed["samples"] - first["samples"]
    said = run("shards", "verify", str(tmp_path / "set"), status=1).output
    assert f"faulty: {left:,} of {packed['samples']:,} samples found" in said


def test_shards_without_a_manifest_are_not_called_whole_without_saying_so(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    run(*PACK, "--out", str(folder))
    (folder / "shards.json").unlink()
    assert "has lost its shards.json" in run("shards", "verify", str(folder), status=1).output
    (folder / "index.npy").unlink()
    assert "no shards.json to compare with" in run("shards", "verify", str(folder)).output


def test_a_worker_leaves_the_interrupt_from_the_terminal_to_the_packer() -> None:
    with executor_of(2) as executor:
        assert executor is not None
        assert executor.submit(signal.getsignal, signal.SIGINT).result() == signal.SIG_IGN


def _own_worker_and_wait(answers: Any) -> None:
    with executor_of(2) as executor:
        assert executor is not None
        answers.send(executor.submit(os.getpid).result())
        time.sleep(120)


@pytest.mark.skipif(sys.platform == "win32", reason="asks for a process by signal 0")
def test_no_worker_outlives_a_packer_that_is_killed() -> None:
    context = multiprocessing.get_context("spawn")
    mine, its = context.Pipe()
    packer = context.Process(target=_own_worker_and_wait, args=(its,))
    packer.start()
    assert mine.poll(60)
    worker = mine.recv()
    os.kill(packer.pid or 0, signal.SIGKILL)
    packer.join()
    for _ in range(200):
        if not _is_alive(worker):
            return
        time.sleep(0.05)
    os.kill(worker, signal.SIGKILL)
    pytest.fail("the worker is still there ten seconds after its packer was killed")


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # Nobody may have fetched the status of a process that has ended.
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
