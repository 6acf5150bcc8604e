"""A packer may be killed, or the disk may fill up, at any moment: nothing half-done looks finished."""

from __future__ import annotations

import errno
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from shard_sets import bytes_of, made_source

from course_lib.errors import CourseError
from course_lib.shards import pack, read_manifest, verify_shards
from course_lib.shards import targets as targets_module
from course_lib.shards.claiming import RECIPE_NOTE, check_before_pack
from course_lib.shards.format import WORK_FOLDER

needs_fork = pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods() or sys.platform == "darwin",
    reason="a hundred processes in a few seconds need fork",
)
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")
TARGET = 20_480
SOURCE = made_source(40)
_TOUCHING = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod", "tempfile.mkstemp"}


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("wanted") / "set"
    pack(SOURCE, folder, target_bytes=TARGET)
    return bytes_of(folder)


def in_child(work: Callable[..., Any], *given: Any) -> Any:
    process = multiprocessing.get_context("fork").Process(target=work, args=given)
    process.start()
    return process


def _pack(folder: Path) -> None:
    pack(SOURCE, folder, target_bytes=TARGET)


def _pack_until(folder: Path, events: int) -> None:
    """Pack, and die at the n-th time that a file or folder is touched."""
    left = events

    def count(event: str, given: tuple[Any, ...]) -> None:
        nonlocal left
        if event in _TOUCHING:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    pack(SOURCE, folder, target_bytes=TARGET)


def _check_what_is_left(folder: Path, wanted: dict[str, bytes]) -> str:
    if (folder / "shards.json").exists():
        state = "finished"
        assert bytes_of(folder) == wanted
        assert read_manifest(folder).samples == 40
    else:
        state = "unfinished" if (folder / WORK_FOLDER).is_dir() else "not begun"
        with pytest.raises(CourseError, match=r"not finished|holds no shard set"):
            read_manifest(folder)
    pack(SOURCE, folder, target_bytes=TARGET)
    assert bytes_of(folder) == wanted
    hidden = {path.name for path in folder.iterdir() if path.name.startswith(".")}
    assert hidden <= {".packing.lock"}
    return state


@needs_fork
def test_killed_at_a_hundred_random_moments_a_pack_goes_on_to_the_same_bytes(
    tmp_path: Path, wanted: dict[str, bytes]
) -> None:
    random.seed(5)
    begun = time.monotonic()
    _pack(tmp_path / "timed")
    longest = 2.5 * (time.monotonic() - begun)
    states = []
    for attempt in range(100):
        folder = tmp_path / f"set-{attempt}"
        child, begun = in_child(_pack, folder), time.monotonic()
        child.join(random.uniform(0, longest))
        if child.exitcode is not None:
            # It was done before: the machine may have less to do than when the first pack was timed.
            longest = 1.5 * (time.monotonic() - begun)
        child.kill()
        child.join()
        states.append(_check_what_is_left(folder, wanted))
    assert states.count("unfinished") >= 10, states


@needs_fork
def test_killed_at_every_touch_of_a_file_a_pack_goes_on_to_the_same_bytes(
    tmp_path: Path, wanted: dict[str, bytes]
) -> None:
    states = []
    for events in range(1, 1000):
        folder = tmp_path / f"set-{events}"
        child = in_child(_pack_until, folder, events)
        child.join()
        states.append(_check_what_is_left(folder, wanted))
        if child.exitcode == 0:
            break
    assert child.exitcode == 0
    assert {"not begun", "unfinished", "finished"} <= set(states)
    assert len(states) > 40


@needs_fork
def test_killed_again_and_again_in_one_folder_it_still_comes_to_the_end(
    tmp_path: Path, wanted: dict[str, bytes]
) -> None:
    for events in range(4, 400, 9):
        child = in_child(_pack_until, tmp_path / "set", events)
        child.join()
        if child.exitcode == 0:
            break
    assert _check_what_is_left(tmp_path / "set", wanted) == "finished"


def _pack_and_watch(folder: Path) -> None:
    """Pack, and end with status 7 if a file that readers see is opened for writing."""
    writing = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC

    def watch(event: str, given: tuple[Any, ...]) -> None:
        if event == "open" and not isinstance(given[0], int) and given[2] & writing:
            path = Path(os.fsdecode(given[0]))
            if path.parent == folder and not path.name.startswith("."):
                os._exit(7)

    sys.addaudithook(watch)
    pack(SOURCE, folder, target_bytes=TARGET)


@needs_fork
def test_a_file_that_readers_see_is_never_written_in_place(tmp_path: Path, wanted: dict[str, bytes]) -> None:
    child = in_child(_pack_and_watch, tmp_path / "set")
    child.join()
    assert child.exitcode == 0
    assert bytes_of(tmp_path / "set") == wanted


def _pack_and_report(folder: Path, gate: Any, answers: Any) -> None:
    gate.wait()
    try:
        pack(SOURCE, folder, target_bytes=TARGET)
        answers.put("packed")
    except CourseError as error:
        answers.put(str(error))


@needs_fork
def test_of_two_packers_into_one_folder_one_packs_and_the_other_is_told(
    tmp_path: Path, wanted: dict[str, bytes]
) -> None:
    context = multiprocessing.get_context("fork")
    told = 0
    for attempt in range(12):
        folder = tmp_path / f"set-{attempt}"
        gate, answers = context.Barrier(2), context.Queue()
        pair = [in_child(_pack_and_report, folder, gate, answers) for _ in range(2)]
        said = [answers.get(timeout=60) for _ in pair]
        for process in pair:
            process.join()
        assert "packed" in said
        told += sum("Another process is packing into" in answer for answer in said)
        assert all(answer == "packed" or "Another process is packing" in answer for answer in said), said
        assert bytes_of(folder) == wanted
    assert told > 0


def test_a_disk_that_fills_up_is_one_sentence_and_nothing_is_lost(
    tmp_path: Path, wanted: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    write_all = targets_module._write_all
    room = 50_000

    def until_full(descriptor: int, buffer: Any) -> None:
        nonlocal room
        room -= len(buffer)
        if room < 0:
            os.write(descriptor, memoryview(buffer)[: len(buffer) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write_all(descriptor, buffer)

    folder = tmp_path / "set"
    monkeypatch.setattr(targets_module, "_write_all", until_full)
    with pytest.raises(
        CourseError, match=r"could not be written: found No space left .*free some disk space"
    ):
        pack(SOURCE, folder, target_bytes=TARGET)
    with pytest.raises(CourseError, match="is not finished"):
        read_manifest(folder)
    finished = {path.name: path.stat().st_mtime_ns for path in folder.glob("*.tar")}
    assert 2 <= len(finished) < len(wanted) - 2
    assert not list(folder.rglob("*.part"))
    monkeypatch.undo()
    pack(SOURCE, folder, target_bytes=TARGET)
    assert bytes_of(folder) == wanted
    assert finished == {name: (folder / name).stat().st_mtime_ns for name in finished}


def _pack_with_a_limit_on_files(folder: Path, limit: int, answers: Any) -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        pack(SOURCE, folder, target_bytes=TARGET)
        answers.put("packed")
    except CourseError as error:
        answers.put(str(error))


@needs_fork
@pytest.mark.parametrize("limit", [1, 10_000, 20_000])
def test_a_limit_on_the_size_of_files_is_one_sentence(
    tmp_path: Path, wanted: dict[str, bytes], limit: int
) -> None:
    answers = multiprocessing.get_context("fork").Queue()
    child = in_child(_pack_with_a_limit_on_files, tmp_path / "set", limit, answers)
    assert "could not be written: found File too large" in answers.get(timeout=60)
    child.join()
    assert _check_what_is_left(tmp_path / "set", wanted) in ("unfinished", "not begun")


@pytest.mark.parametrize("harm", ["cut", "flip", "delete", "note cut", "note flip", "note gone"])
def test_a_finished_shard_is_checked_before_a_pack_goes_on(
    tmp_path: Path, wanted: dict[str, bytes], harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "set"
    with monkeypatch.context() as patched:
        patched.setattr("course_lib.shards.packing._published", _stop)
        with pytest.raises(KeyboardInterrupt):
            pack(SOURCE, folder, target_bytes=TARGET)
    shard = folder / "train-000002.tar"
    victim = folder / WORK_FOLDER / "train-000002.tar.done" if "note" in harm else shard
    content = bytearray(victim.read_bytes())
    if "cut" in harm:
        victim.write_bytes(content[:-1])
    elif "flip" in harm:
        content[len(content) // 2] ^= 1
        victim.write_bytes(content)
    else:
        victim.unlink()
    pack(SOURCE, folder, target_bytes=TARGET)
    assert bytes_of(folder) == wanted
    assert verify_shards(folder).ok


def _stop(*_: Any) -> None:
    raise KeyboardInterrupt


def test_an_interrupted_pack_of_another_recipe_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("course_lib.shards.packing._published", _stop)
        with pytest.raises(KeyboardInterrupt):
            pack(SOURCE, tmp_path / "set", target_bytes=TARGET)
    with pytest.raises(CourseError, match="interrupted pack of other samples or another recipe"):
        pack(SOURCE, tmp_path / "set", target_bytes=TARGET, seed=1)
    assert not verify_shards(tmp_path / "set").ok
    assert verify_shards(tmp_path / "set").findings[0].kind == "unfinished"


@pytest.mark.parametrize("is_noted", [True, False])
def test_the_recipe_of_an_interrupted_pack_is_named_where_it_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_noted: bool
) -> None:
    folder = tmp_path / "set"
    with monkeypatch.context() as patched:
        patched.setattr("course_lib.shards.packing._published", _stop)
        with pytest.raises(KeyboardInterrupt):
            pack(SOURCE, folder, target_samples=20)
    if not is_noted:
        (folder / WORK_FOLDER / RECIPE_NOTE).unlink()
    own = "split train, seed 2026, target_samples 20, plan .*`--samples-per-shard 20 --seed 2026`"
    with pytest.raises(CourseError, match=own if is_noted else r"found plan \w{12}\.\.\.; finish that one"):
        pack(SOURCE, folder, target_samples=30)
    if is_noted:
        with pytest.raises(CourseError, match=own):
            check_before_pack(folder, target_samples=30)
    else:
        assert check_before_pack(folder, target_samples=30) is False
    assert check_before_pack(folder, target_samples=20) is False
    pack(SOURCE, folder, target_samples=20)
    pack(SOURCE, tmp_path / "at once", target_samples=20)
    assert bytes_of(folder) == bytes_of(tmp_path / "at once")
    assert check_before_pack(folder, target_samples=20) is True


def test_what_needs_no_sample_is_refused_before_any_is_there(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(CourseError, match="holds other things than a shard set"):
        check_before_pack(tmp_path)
    with pytest.raises(CourseError, match=r"notes\.txt is no folder"):
        check_before_pack(tmp_path / "notes.txt")
    with pytest.raises(CourseError, match="A shard has one target"):
        check_before_pack(tmp_path / "new", target_bytes=9, target_samples=9)
    pack(SOURCE, tmp_path / "set", target_samples=20)
    with pytest.raises(CourseError, match=r"another shard set already.*target_samples 30.*target_samples 20"):
        check_before_pack(tmp_path / "set", target_samples=30)
    assert not (tmp_path / "new").exists()
