"""`course pack` and `course shards`, in this process, on generated data."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import sys
import tarfile
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from course_lib.cli.main import course
from course_lib.cli.pack import executor_of
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


def test_the_last_line_of_a_faulty_set_tells_how_many_samples_there_should_be(tmp_path: Path) -> None:
    packed = json.loads(run(*PACK, "--out", str(tmp_path / "set"), "--json").stdout)
    first = packed["shards"][0]
    (tmp_path / "set" / first["name"]).unlink()
    left = packed["samples"] - first["samples"]
    last = run("shards", "verify", str(tmp_path / "set"), status=1).output.splitlines()[-1]
    assert f"{left:,} of {packed['samples']:,} samples found" in last


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
