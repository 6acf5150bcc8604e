"""Opens that take a set time, layouts measured in turn, blocks of one open file."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.stores import OpenCase, layouts, measure_layouts, time_block_reads, time_opens
from course_lib.stores.layouts import layouts_task
from course_lib.stores.metadata_result import OPERATIONS, MetadataResult


def test_a_set_time_is_paid_for_each_open_whatever_the_file_holds() -> None:
    found = time_opens({"small": OpenCase((10,) * 20, 0.004), "large": OpenCase((50_000,) * 20, 0.004)})
    for timed in found.values():
        assert len(timed.seconds) == 3
        assert all(seconds >= 20 * 0.004 * 0.9 for seconds in timed.seconds)
    assert found["small"].case.byte_count == 200
    assert found["large"].byte_rates[0] == pytest.approx(1_000_000 / found["large"].seconds[0])


def test_a_set_link_is_paid_for_the_bytes() -> None:
    case = OpenCase((100_000,) * 4, 0.0, bytes_per_second=4e6)
    assert min(time_opens({"slow link": case}, repeats=1)["slow link"].seconds) >= 0.09


def test_several_readers_wait_at_the_same_time() -> None:
    cases = {"one": OpenCase((10,) * 16, 0.03), "eight": OpenCase((10,) * 16, 0.03, readers=8)}
    found = time_opens(cases, repeats=1)
    assert found["eight"].seconds[0] < found["one"].seconds[0] / 2


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: OpenCase(()), "no files"),
        (lambda: OpenCase((10, -1)), "no files"),
        (lambda: OpenCase((10**9,)), "at most 200,000,000 B"),
        (lambda: OpenCase((1,), readers=0), "readers is out of range"),
        (lambda: time_opens({}), "nothing to time"),
        (lambda: time_opens({"a": OpenCase((1,))}, repeats=0), "nothing to time"),
        (lambda: time_opens({"a": OpenCase((1,), open_seconds=-1)}), "set time of open"),
    ],
)
def test_what_cannot_be_timed_is_said(make, says) -> None:
    with pytest.raises(CourseError, match=says):
        make()


def test_layouts_take_turns_and_come_back_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []
    measured = layouts.measure_metadata

    def measure(path: Path, **conditions: int) -> MetadataResult:
        asked.append((conditions["files"], conditions["repeats"]))
        return measured(path, **conditions)

    monkeypatch.setattr(layouts, "measure_metadata", measure)
    request = {"path": str(tmp_path), "layouts": {"few": {"files": 2}, "many": {"files": 5}}, "repeats": 3}
    found = {name: MetadataResult.from_dict(values) for name, values in layouts_task(request, print).items()}
    assert asked == [(2, 1), (5, 1), (5, 1), (2, 1), (2, 1), (5, 1)]
    assert found["many"].repeats == 3 and found["many"].files == 5
    assert all(found["few"][name].counts == (2, 2, 2) for name in OPERATIONS)
    assert list(tmp_path.iterdir()) == []


def test_layouts_are_measured_in_a_watched_process(tmp_path: Path) -> None:
    found = measure_layouts(tmp_path, {"one": {"files": 3, "bytes_per_file": 7}}, repeats=2)
    assert found["one"].bytes_per_file == 7 and len(found["one"].cache_before_reads) == 2
    with pytest.raises(CourseError, match="nothing to measure"):
        measure_layouts(tmp_path, {})
    (tmp_path / "mine.txt").touch()
    with pytest.raises(CourseError, match="not empty"):
        measure_layouts(tmp_path, {"one": {"files": 3}})


def test_blocks_are_read_from_a_file_that_is_gone_afterwards(tmp_path: Path) -> None:
    found = time_block_reads(tmp_path, blocks=50, block_bytes=512, repeats=2)
    assert len(found.rates) == len(found.caches) == 2 and all(rate > 0 for rate in found.rates)
    assert min(found.rates) <= found.median <= max(found.rates)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(CourseError, match="at most"):
        time_block_reads(tmp_path, blocks=10**6)
    with pytest.raises(CourseError):
        time_block_reads(tmp_path / "nowhere")
