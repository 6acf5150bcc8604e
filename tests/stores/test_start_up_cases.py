from __future__ import annotations

from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.stores import FolderStore, compare_start_up
from course_lib.stores.start_up_cases import CASES, make_small_objects


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "store")


def test_operations_and_times_of_each_case(store: FolderStore) -> None:
    folders = make_small_objects(store, samples=50, folders=5)
    assert len(folders) == 5
    clock = Clock()
    found = compare_start_up(
        store,
        folders,
        open_seconds=0.002,
        stat_seconds=0.003,
        list_seconds=0.1,
        clock=clock,
        sleep=clock.sleep,
    )
    assert tuple(curve.case for curve in found.curves) == CASES
    scan, look_up, saved = found.curves
    assert scan.counts == {"open": 50, "stat": 50, "list": 5}
    assert look_up.counts == {"open": 50, "stat": 50, "list": 0}
    assert saved.counts == {"open": 51, "stat": 0, "list": 0}
    assert scan.first_sample_seconds == pytest.approx(5 * 0.1 + 50 * 0.003 + 0.002)
    assert look_up.first_sample_seconds == pytest.approx(0.005)
    assert saved.first_sample_seconds == pytest.approx(0.004)
    assert scan.steady_samples_per_second == pytest.approx(500)
    assert look_up.steady_samples_per_second == pytest.approx(200)
    assert saved.steady_samples_per_second == pytest.approx(500)
    assert found.set_seconds == {"open": 0.002, "stat": 0.003, "list": 0.1}
    assert (found.sample_count, found.folder_count) == (50, 5)


def test_curves_begin_at_nothing_and_rise_by_one_sample_at_a_time(store: FolderStore) -> None:
    folders = make_small_objects(store, samples=6, folders=2)
    told: list[tuple[str, int]] = []
    found = compare_start_up(
        store,
        folders,
        open_seconds=0,
        stat_seconds=0,
        list_seconds=0,
        on_sample=lambda case, seconds, delivered: told.append((case, delivered)),
    )
    for curve in found.curves:
        assert curve.seconds[0] == 0.0
        assert list(curve.seconds) == sorted(curve.seconds)
        assert curve.delivered == tuple(range(7))
        assert curve.as_dict()["first_sample_seconds"] == curve.seconds[1]
    assert told == [(case, number) for case in CASES for number in range(1, 7)]


def test_every_case_delivers_the_same_samples_in_the_same_order(
    store: FolderStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = make_small_objects(store, samples=30, folders=3)
    read: list[str] = []
    real = FolderStore.read
    monkeypatch.setattr(
        FolderStore,
        "read",
        lambda self, name: (name.endswith(".bin") and read.append(name), real(self, name))[1],
    )
    compare_start_up(store, folders, open_seconds=0, stat_seconds=0, list_seconds=0)
    assert read[:30] == read[30:60] == read[60:]
    assert len(set(read)) == 30
    assert read[:30] != sorted(read[:30])


def test_scan_looks_at_all_samples_even_where_few_are_delivered(store: FolderStore) -> None:
    folders = make_small_objects(store, samples=30, folders=3)
    found = compare_start_up(store, folders, open_seconds=0, stat_seconds=0, list_seconds=0, most_samples=4)
    assert found["scan at the start"].counts == {"open": 4, "stat": 30, "list": 3}
    assert found["look up per sample"].counts["stat"] == 4


def test_bad_input_is_one_sentence(store: FolderStore) -> None:
    with pytest.raises(CourseError, match="cannot be made"):
        make_small_objects(store, samples=0)
    with pytest.raises(CourseError, match="cannot be made"):
        make_small_objects(store, samples=3, folders=4)
    folders = make_small_objects(store, samples=3, folders=1)
    with pytest.raises(CourseError, match="no case 'guess'"):
        compare_start_up(store, folders, cases=("guess",))  # type: ignore[arg-type]
    with pytest.raises(CourseError, match="no samples"):
        compare_start_up(store, ["nothing"], cases=("scan at the start",))
    found = compare_start_up(store, folders, cases=("saved file list",), open_seconds=0)
    with pytest.raises(CourseError, match="did not run"):
        found["scan at the start"]
