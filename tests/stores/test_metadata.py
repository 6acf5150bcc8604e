from __future__ import annotations

import errno
import os
import platform
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import pytest

from course_lib.errors import CourseError
from course_lib.stores import (
    CacheState,
    MetadataResult,
    OperationRates,
    measure_metadata,
    measure_metadata_watched,
    metadata,
    metadata_folder,
    metadata_work,
)
from course_lib.stores.metadata_result import OPERATIONS
from course_lib.watched import WatchedTaskError, run_watched

COLD = CacheState("cold", 0.0, 3, 300)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "to measure"
    path.mkdir()
    return path


def measured(folder: Path, **conditions: Any) -> MetadataResult:
    return measure_metadata(folder, **{"files": 12, "bytes_per_file": 100, "repeats": 2, **conditions})


def refused(folder: Path, **conditions: Any) -> str:
    with pytest.raises(CourseError) as caught:
        measured(folder, **conditions)
    return str(caught.value)


def leftover(folder: Path, maker: int) -> Path:
    """Make what a measurement by process ``maker`` leaves behind when it is killed."""
    with metadata_folder.own_folder(folder, 1) as root:
        name = root.name.split("-")
        name[3] = str(maker)
        other = root.rename(root.with_name("-".join(name)))
    (other / "d00000" / "f0000001").write_bytes(b"x")
    return other


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.mark.parametrize(
    "conditions", [{}, {"directories": 5}, {"processes": 2, "directories": 2}, {"bytes_per_file": 0}]
)
def test_every_operation_is_counted_in_every_repeat_and_nothing_is_left(
    folder: Path, conditions: dict[str, int]
) -> None:
    result = measured(folder, **conditions)
    assert tuple(rates.operation for rates in result.operations) == OPERATIONS
    assert all(rates.counts == (12, 12) for rates in result.operations)
    assert all(rate > 0 for rates in result.operations for rate in rates.rates)
    assert result.repeats == len(result.cache_before_reads) == 2
    assert list(folder.iterdir()) == []


def test_two_processes_list_the_one_directory_that_they_share(folder: Path) -> None:
    result = measured(folder, processes=2, repeats=1)
    assert result["scan"].counts == (24,)
    assert result["read"].counts == (12,)


def test_order_defeats_caching(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log: list[tuple[str, str]] = []
    for name in ("create", "scan", "stat", "open", "read", "remove"):
        real = getattr(metadata_work, f"_{name}")

        def logged(path: Path, *rest: Any, name: str = name, real: Any = real) -> int:
            log.append((name, path.name))
            return int(real(path, *rest))

        monkeypatch.setattr(metadata_work, f"_{name}", logged)

    def evict(paths: list[Path], **_: Any) -> CacheState:
        log.append(("evict", str(len(paths))))
        return COLD

    monkeypatch.setattr(metadata, "evict", evict)
    measured(folder)
    stages = [name for place, (name, _) in enumerate(log) if place == 0 or log[place - 1][0] != name]
    assert stages == ["create", "scan", "stat", "open", "evict", "read", "remove"] * 2
    orders: dict[str, list[str]] = {}
    for name, path in log:
        orders.setdefault(name, []).append(path)
    assert ("evict", "12") in log
    created = orders["create"][:12]
    assert created == sorted(created)
    seen = {tuple(orders[name][start : start + 12]) for name in ("stat", "open", "read") for start in (0, 12)}
    assert len(seen) == 6
    assert all(list(order) != created and sorted(order) == created for order in seen)


def test_rates_are_total_work_over_total_time() -> None:
    rates = OperationRates("stat", (100, 100, 100), (1.0, 1.0, 10.0))
    assert rates.rates == (100.0, 100.0, 10.0)
    assert rates.per_second == 25.0
    assert (rates.median, rates.low, rates.high) == (100.0, 10.0, 100.0)


def test_time_of_several_processes_runs_from_the_first_start_to_the_last_end(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def team(shares: Any, sign: Any) -> Any:
        from contextlib import nullcontext

        done = [metadata_work.Done(6, 10.0, 12.0), metadata_work.Done(6, 11.0, 14.0)]
        return nullcontext(lambda operation, repeat: done)

    monkeypatch.setattr(metadata, "_team", team)
    result = measured(folder, processes=2, repeats=1)
    assert result["stat"].seconds == (4.0,)
    assert result["stat"].per_second == 3.0


def test_a_read_rate_without_its_cache_state_is_no_result(folder: Path) -> None:
    reads = OperationRates("read", (3, 3), (1.0, 1.0))
    with pytest.raises(CourseError, match="cache state"):
        MetadataResult(3, 100, 1, 1, 0, (reads,), (COLD,))
    result = measured(folder)
    assert result.read_state in {"cold", "warm", "partly warm", "unknown", "cold, warm", "warm, cold"}
    assert [state["kind"] for state in result.as_dict()["cache_before_reads"]] == [
        state.kind for state in result.cache_before_reads
    ]


def test_read_that_the_system_served_from_its_cache_is_called_warm(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if platform.system() != "Linux":
        pytest.skip("only Linux tells which files are in its cache")
    monkeypatch.setattr("course_lib.stores.cache_state._drop", lambda path: None)
    assert measured(folder).read_state == "warm"


def test_result_survives_a_record_and_names_no_path(folder: Path) -> None:
    result = measured(folder)
    values = result.as_dict()
    assert MetadataResult.from_dict(values) == result
    assert folder.name not in str(values)
    assert "shuffled" in values["order"]


def test_progress_is_told_only_while_something_happens(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "_SECONDS_BETWEEN_SIGNS", 0.0)
    told: list[dict[str, Any]] = []
    measured(folder, repeats=1, on_progress=told.append)
    assert [event["done"] for event in told if event["operation"] == "stat"] == list(range(1, 13))


def test_progress_of_several_processes_is_that_of_the_operation_at_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "_SECONDS_BETWEEN_SIGNS", 0.0)
    told: list[dict[str, Any]] = []
    measured(folder, processes=2, on_progress=told.append)
    assert {event["operation"] for event in told} >= {"create", "evict", "remove"}
    assert all(1 <= event["done"] <= 12 for event in told)


def share_of(folder: Path) -> metadata_work.Share:
    (folder / "d00000").mkdir()
    return metadata_work.Share(str(folder), 12, 100, 1, 2, 1, 2026)


class Meeting:
    """Notes what lies in a folder when everybody has arrived."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.seen: list[int] = []

    def wait(self, seconds: float) -> None:
        self.seen.append(len(list(self.folder.rglob("f*"))))


def test_processes_begin_together_and_count_their_files(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    share, meeting, progress = share_of(folder), Meeting(folder), [0, 0, 0]
    monkeypatch.setattr(metadata, "_member", {"meeting": meeting, "progress": progress})
    done = metadata._perform_as_member(share, "create", 0)
    assert (meeting.seen, done.count, progress) == ([0], 6, [0, 6, 0])


def test_process_ends_its_work_when_it_is_told_to_stop(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    share, progress = share_of(folder), [0, 0, 1]
    monkeypatch.setattr(metadata, "_member", {"meeting": Meeting(folder), "progress": progress})
    with pytest.raises(CourseError, match="stopped"):
        metadata._perform_as_member(share, "create", 0)
    assert progress[1] == 1


@pytest.mark.parametrize("error", [BrokenProcessPool("a process died"), threading.BrokenBarrierError()])
def test_process_that_dies_is_one_sentence(error: Exception) -> None:
    future: Future[metadata_work.Done] = Future()
    future.set_exception(error)
    with pytest.raises(CourseError, match="could not work together"):
        metadata._all_done([future], [0, 0], metadata._Sign(None))


def test_path_that_is_no_empty_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    assert "does not exist" in refused(tmp_path / "nowhere")
    file = tmp_path / "file"
    file.write_text("mine", encoding="utf-8")
    assert "is not a folder" in refused(file)
    (folder / "mine.txt").write_text("mine", encoding="utf-8")
    (folder / "also mine").mkdir()
    assert "not empty" in refused(folder)
    assert sorted(path.name for path in folder.iterdir()) == ["also mine", "mine.txt"]


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_folder_that_cannot_be_written_is_refused(
    number: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mkdir(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", mkdir)
    assert "could not be written" in refused(folder)


def test_disk_that_gets_full_is_one_sentence_and_nothing_is_left(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, made = metadata_work._create, []

    def create(path: Path, payload: bytes) -> int:
        if len(made) == 7:
            raise OSError(errno.ENOSPC, "No space left on device")
        made.append(path)
        return real(path, payload)

    monkeypatch.setattr(metadata_work, "_create", create)
    assert "No space left on device; free some disk space" in refused(folder)
    assert len(made) == 7
    assert list(folder.iterdir()) == []


def test_file_that_vanishes_is_one_sentence(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def vanish(path: Path) -> int:
        path.unlink()
        path.stat()
        return 1

    monkeypatch.setattr(metadata_work, "_stat", vanish)
    assert "stat failed on" in refused(folder)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
@pytest.mark.parametrize("operation", ["create", "read", "remove"])
def test_only_what_was_made_is_removed_after_an_interrupt_or_error(
    folder: Path, operation: str, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[Path] = []

    def interrupt(path: Path, *_: object) -> int:
        calls.append(path)
        if len(calls) == 3:
            path.parent.with_name("keep.txt").write_text("made by somebody else", encoding="utf-8")
            raise error
        return real(path, *_)

    real = getattr(metadata_work, f"_{operation}")
    monkeypatch.setattr(metadata_work, f"_{operation}", interrupt)
    with pytest.raises(error):
        measured(folder, directories=2)
    left = [path.name for path in folder.rglob("*") if path.is_file()]
    assert left == ["keep.txt"]


def test_leftovers_of_a_killed_measurement_are_removed_and_no_obstacle(folder: Path) -> None:
    leftover(folder, ended_process())
    measured(folder)
    assert list(folder.iterdir()) == []


def test_folder_of_a_measurement_that_is_at_work_is_left_alone(folder: Path) -> None:
    other = leftover(folder, os.getppid())
    assert "wait for the measurement" in refused(folder)
    assert (other / "d00000" / "f0000001").exists()


def test_folder_of_another_machine_is_left_alone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maker = ended_process()
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(platform, "node", lambda: "another machine")
        other = leftover(folder, maker)
    assert "not empty" in refused(folder)
    assert other.exists()


def test_size_limit_counts_whole_blocks(folder: Path) -> None:
    assert "at most 1 MB" in refused(folder, files=300, bytes_per_file=1, most_bytes=1_000_000)
    assert list(folder.iterdir()) == []


class Usage(NamedTuple):
    total: int
    used: int
    free: int


@pytest.mark.parametrize(
    ("usage", "is_refused"),
    [
        (Usage(100_000_000_000, 0, 1_000_400_000), True),
        (Usage(100_000_000_000, 0, 1_000_420_000), False),
        (Usage(1_000_000_000, 0, 100_400_000), True),
        (Usage(1_000_000_000, 0, 100_420_000), False),
    ],
)
def test_reserve_of_free_space_is_kept(
    folder: Path, usage: Usage, is_refused: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)
    # 100 files and 1 directory take 101 blocks of 4,096 bytes.
    if is_refused:
        assert "too little free space" in refused(folder, files=100)
    else:
        measured(folder, files=100, repeats=1)


@pytest.mark.skipif(not hasattr(os, "statvfs"), reason="this system has no count of free inodes")
def test_too_few_inodes_are_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Counts:
        f_files, f_favail = 1000, 12

    monkeypatch.setattr("shutil.disk_usage", lambda _: Usage(10**12, 0, 10**12))
    monkeypatch.setattr(os, "statvfs", lambda _: Counts)
    assert "cannot take 13 more files" in refused(folder)


@pytest.mark.parametrize(
    "wrong",
    [
        {"files": 0},
        {"files": -3},
        {"bytes_per_file": -1},
        {"directories": 0},
        {"directories": 13},
        {"processes": 0},
        {"processes": 13},
        {"repeats": 0},
    ],
)
def test_number_out_of_range_is_refused_before_anything_is_made(folder: Path, wrong: dict[str, int]) -> None:
    assert "out of range" in refused(folder, **wrong)
    assert list(folder.iterdir()) == []


def test_error_in_one_of_several_processes_ends_the_others_and_leaves_nothing(folder: Path) -> None:
    class Stop(Exception):  # noqa: N818
        pass

    def interrupt(event: dict[str, Any]) -> None:
        raise Stop

    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with pytest.raises(Stop):
        measured(folder, files=2000, processes=2, directories=2, on_progress=interrupt)
    assert list(folder.iterdir()) == []
    left = {
        child.pid
        for child in psutil.Process().children(recursive=True)
        if not any("resource_tracker" in word for word in child.cmdline())
    }
    assert left <= before


def test_watched_measurement_gives_the_same_kind_of_result_and_errors(folder: Path, tmp_path: Path) -> None:
    told: list[dict[str, Any]] = []
    result = measure_metadata_watched(folder, files=12, repeats=1, on_progress=told.append)
    assert result["remove"].counts == (12,)
    assert told
    assert list(folder.iterdir()) == []
    with pytest.raises(CourseError, match="does not exist"):
        measure_metadata_watched(tmp_path / "nowhere")


@pytest.fixture
def stalling(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have the watched process meet a mount that stalls: a task that makes files and then says nothing."""
    real = run_watched

    def run(task: str, request: Any = None, **options: Any) -> Any:
        return real(
            task.replace("course_lib.stores.metadata:metadata_task", "stalling:stall"), request, **options
        )

    monkeypatch.setattr(metadata, "run_watched", run)
    yield


@pytest.mark.usefixtures("stalling")
def test_mount_that_stalls_is_an_error_after_a_while_and_leaves_nothing(folder: Path) -> None:
    seen: list[bool] = []
    with pytest.raises(WatchedTaskError, match="network mount"):
        measure_metadata_watched(
            folder, files=3, silence_seconds=3.0, on_progress=lambda _: seen.append(any(folder.rglob("f*")))
        )
    assert seen == [True]
    assert list(folder.iterdir()) == []


@pytest.mark.usefixtures("stalling")
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_interrupt_of_a_watched_measurement_leaves_nothing(folder: Path, error: type[BaseException]) -> None:
    def interrupt(event: dict[str, Any]) -> None:
        raise error

    with pytest.raises(error):
        measure_metadata_watched(folder, files=3, on_progress=interrupt)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("files", [1.5, "3", None, True])
def test_a_number_of_files_that_is_not_whole_is_refused(folder: Path, files: Any) -> None:
    assert "The number of files is out of range" in refused(folder, files=files)


def test_processes_that_find_no_open_files_left_are_one_sentence(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(metadata, "ProcessPoolExecutor", full)
    assert "The processes could not be started: found Too many open files" in refused(folder, processes=2)
    assert list(folder.iterdir()) == []


PARENT = """
import sys; sys.path[:0] = [{root!r}]
from pathlib import Path
from course_lib.stores import measure_metadata_watched
tell = lambda event: print(flush=True)
measure_metadata_watched(Path({folder!r}), files=500, repeats=1000, on_progress=tell)
"""


def test_a_measurement_whose_kernel_is_killed_removes_what_it_made(folder: Path) -> None:
    root = str(Path(metadata.__file__).resolve().parents[2])
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT.format(root=root, folder=str(folder))], stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    assert list(folder.iterdir())
    parent.kill()
    parent.communicate()
    deadline = time.monotonic() + 60
    while list(folder.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert list(folder.iterdir()) == []
