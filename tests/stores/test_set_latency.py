from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.stores import FolderStore, SetLatencyStore


class Clock:
    """Time that passes only by sleeping and by the operations of a store; sleeps last longer than asked."""

    def __init__(self, oversleep_seconds: float = 0.0) -> None:
        self.now = 100.0
        self.oversleep_seconds = oversleep_seconds

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds + self.oversleep_seconds


class TimedFolder(FolderStore):
    """A folder whose reads take a given time of the clock."""

    def __init__(self, root: Path, clock: Clock, seconds: float) -> None:
        super().__init__(root)
        object.__setattr__(self, "clock", clock)
        object.__setattr__(self, "seconds", seconds)

    def read(self, name: str) -> bytes:
        self.clock.now += self.seconds  # type: ignore[attr-defined]
        return super().read(name)


@pytest.fixture
def folder(tmp_path: Path) -> FolderStore:
    store = FolderStore(tmp_path)
    store.write("a.bin", b"x" * 1000)
    return store


def seconds_of(store: SetLatencyStore, clock: Clock, reads: int) -> float:
    begin = clock.now
    for _ in range(reads):
        store.read("a.bin")
    return clock.now - begin


@pytest.mark.parametrize("oversleep", [0.0, 0.0001, 0.0019, 0.005, 0.0156])
def test_mean_is_the_set_time_however_long_the_system_oversleeps(
    folder: FolderStore, oversleep: float
) -> None:
    clock = Clock(oversleep)
    store = SetLatencyStore(folder, open_seconds=0.002, clock=clock, sleep=clock.sleep)
    assert seconds_of(store, clock, 5000) / 5000 == pytest.approx(0.002, rel=0.005)


def test_real_operation_counts_towards_the_set_time(folder: FolderStore) -> None:
    clock = Clock()
    timed = TimedFolder(folder.root, clock, 0.0015)
    store = SetLatencyStore(timed, open_seconds=0.002, clock=clock, sleep=clock.sleep)
    assert seconds_of(store, clock, 100) == pytest.approx(0.2)


def test_operation_slower_than_the_set_time_stays_as_it_is_and_is_not_paid_back(folder: FolderStore) -> None:
    clock = Clock()
    slow = SetLatencyStore(
        TimedFolder(folder.root, clock, 0.01), open_seconds=0.002, clock=clock, sleep=clock.sleep
    )
    assert seconds_of(slow, clock, 10) == pytest.approx(0.1)
    begin = clock.now
    slow.set_seconds["stat"] = 0.002
    slow.stat("a.bin")
    assert clock.now - begin == pytest.approx(0.002)


def test_one_long_pause_of_the_machine_is_not_paid_back_in_full(folder: FolderStore) -> None:
    clock = Clock(oversleep_seconds=5.0)
    store = SetLatencyStore(folder, open_seconds=0.002, clock=clock, sleep=clock.sleep)
    store.read("a.bin")
    clock.oversleep_seconds = 0.0
    assert seconds_of(store, clock, 1000) == pytest.approx(2.0, abs=0.0201)


def test_each_operation_has_its_own_set_time_and_counter(folder: FolderStore) -> None:
    clock = Clock()
    store = SetLatencyStore(
        folder, open_seconds=0.1, stat_seconds=0.2, list_seconds=0.4, clock=clock, sleep=clock.sleep
    )
    for act, seconds in (
        (lambda: store.read("a.bin"), 0.1),
        (lambda: store.read_range("a.bin", 0, 1), 0.1),
        (lambda: store.write("b.bin", b"b"), 0.1),
        (lambda: store.publish("c.bin", b"c"), 0.1),
        (lambda: store.stat("a.bin"), 0.2),
        (lambda: store.list(), 0.4),
    ):
        begin = clock.now
        act()
        assert clock.now - begin == pytest.approx(seconds)
    assert store.counts == {"open": 4, "stat": 1, "list": 1}
    assert folder.list() == ["a.bin", "b.bin", "c.bin"]


def test_bandwidth_adds_the_time_of_the_transfer(folder: FolderStore) -> None:
    clock = Clock()
    store = SetLatencyStore(folder, open_seconds=0.5, bytes_per_second=100.0, clock=clock, sleep=clock.sleep)
    assert seconds_of(store, clock, 1) == pytest.approx(10.5)
    begin = clock.now
    store.read_range("a.bin", 0, 100)
    store.write("b.bin", b"y" * 200)
    assert clock.now - begin == pytest.approx(1.5 + 2.5)


def test_debts_are_kept_by_thread(folder: FolderStore) -> None:
    clock = Clock(oversleep_seconds=0.01)
    store = SetLatencyStore(folder, open_seconds=0.02, clock=clock, sleep=clock.sleep)
    store.read("a.bin")
    took: list[float] = []
    thread = threading.Thread(target=lambda: took.append(seconds_of(store, clock, 1)))
    thread.start()
    thread.join()
    assert took == [pytest.approx(0.03)]


def test_pickled_store_keeps_its_set_times_and_counts_anew(folder: FolderStore) -> None:
    store = SetLatencyStore(folder, open_seconds=0.0, list_seconds=0.001, bytes_per_second=1e9)
    store.read("a.bin")
    copy = pickle.loads(pickle.dumps(store))
    assert copy.set_seconds == store.set_seconds
    assert copy.bytes_per_second == 1e9
    assert copy.counts == {"open": 0, "stat": 0, "list": 0}
    assert copy.read("a.bin") == b"x" * 1000
    assert copy.counts["open"] == 1


def test_long_sleep_can_be_interrupted(folder: FolderStore) -> None:
    clock = Clock()
    store = SetLatencyStore(
        folder,
        open_seconds=3000.0,
        interrupted=lambda: clock.now > 101.0,
        clock=clock,
        sleep=clock.sleep,
    )
    with pytest.raises(CourseError, match="interrupted"):
        store.read("a.bin")
    assert clock.now < 102.0


@pytest.mark.parametrize(
    "wrong",
    [
        {"open_seconds": -0.001},
        {"stat_seconds": float("nan")},
        {"list_seconds": float("inf")},
        {"bytes_per_second": 0.0},
        {"bytes_per_second": float("nan")},
    ],
)
def test_time_or_bandwidth_out_of_range_is_refused(folder: FolderStore, wrong: dict[str, float]) -> None:
    with pytest.raises(CourseError, match="out of range"):
        SetLatencyStore(folder, **wrong)


@pytest.mark.parametrize("seconds", ["2", None, True, float("nan")])
def test_a_set_time_that_is_no_number_is_refused(tmp_path: Path, seconds: Any) -> None:
    with pytest.raises(CourseError, match="set time of open is out of range"):
        SetLatencyStore(FolderStore(tmp_path), open_seconds=seconds)
    with pytest.raises(CourseError, match="set bandwidth is out of range"):
        SetLatencyStore(FolderStore(tmp_path), bytes_per_second=seconds or "fast")
