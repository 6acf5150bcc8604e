from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

from course_lib.errors import CourseError
from course_lib.loading import LoaderTiming, time_batches


class Clock:
    """A clock that moves only when the loader says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def slow_loader(clock: Clock, waits: list[float], batch: Any) -> Iterator[Any]:
    for wait in waits:
        clock.now += wait
        yield batch


def test_three_phases_are_told_apart() -> None:
    clock = Clock()

    def make_loader() -> Iterable[Any]:
        clock.now += 5.0
        return slow_loader(clock, [3.0, 0.5, 0.1, 0.4, 0.2, 0.3, 99.0], torch.zeros(4, 2))

    timing = time_batches(make_loader, warmup_batches=2, measured_batches=4, clock=clock)
    assert timing.construction_seconds == 5.0
    assert timing.first_batch_seconds == 3.0
    assert timing.waits_seconds == pytest.approx([0.1, 0.4, 0.2, 0.3])
    assert timing.elapsed_seconds == pytest.approx(1.0)
    assert timing.samples_per_second == pytest.approx(16)
    assert timing.bytes_per_second == pytest.approx(16 * 2 * 4)
    assert timing.batch_wait_p50_seconds == pytest.approx(0.25)
    assert timing.batch_wait_max_seconds == pytest.approx(0.4)
    assert (timing.warmup_batches, timing.measured_batches) == (2, 4)


@pytest.mark.parametrize(("count", "place"), [(1, 0), (2, 0), (20, 18), (21, 19), (100, 94)])
def test_p95_is_a_wait_that_happened(count: int, place: int) -> None:
    waits = np.random.default_rng(1).permutation(count).astype(float)
    timing = LoaderTiming(0.0, 0.0, 0, waits, 1, 1, "", 1.0)
    assert timing.batch_wait_p95_seconds == place


@pytest.mark.parametrize(
    ("batch", "samples", "byte_count", "representation"),
    [
        (torch.zeros(4, 3, 2, dtype=torch.uint8), 4, 24, "uint8 (3, 2)"),
        ((torch.zeros(4, 3), torch.zeros(4)), 4, 48, "float32 (3,)"),
        ([torch.zeros(4, 3), torch.zeros(4)], 4, 48, "float32 (3,)"),
        ({"label": torch.zeros(4), "image": torch.zeros(4, 3)}, 4, 48, "float32 (3,)"),
        ({"text": torch.zeros(5, 2, dtype=torch.int64)}, 5, 80, "int64 (2,)"),
        ({"image": [b"ab", b"cde"], "label": torch.zeros(2)}, 2, 5, "encoded bytes"),
        ([b"ab", b"cde"], 2, 5, "encoded bytes"),
        (np.zeros((4, 3)), 4, 96, "float64 (3,)"),
    ],
)
def test_batches_of_every_kind_are_counted(
    batch: Any, samples: int, byte_count: int, representation: str
) -> None:
    timing = time_batches(lambda: [batch] * 4, warmup_batches=1, measured_batches=2)
    assert (timing.sample_count, timing.byte_count) == (2 * samples, 2 * byte_count)
    assert timing.representation == representation


def test_batches_of_different_sizes_are_added_up() -> None:
    batches = [torch.zeros(4, 3), torch.zeros(4, 5), torch.zeros(2, 1)]
    timing = time_batches(lambda: batches, warmup_batches=1, measured_batches=2)
    assert (timing.sample_count, timing.byte_count) == (6, 4 * (20 + 2))


@pytest.mark.parametrize("batch", [3, {}, "abc", None, [1, 2]])
def test_what_cannot_be_counted_is_said(batch: Any) -> None:
    with pytest.raises(CourseError, match="cannot be counted"):
        time_batches(lambda: [batch] * 3, warmup_batches=1, measured_batches=1)


@pytest.mark.parametrize(
    "wrong",
    [{"warmup_batches": 0}, {"measured_batches": 0}, {"measured_batches": True}, {"warmup_batches": 1.0}],
)
def test_counts_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(CourseError, match="is out of range"):
        time_batches(lambda: [torch.zeros(1, 1)] * 3, **wrong)


def test_all_that_is_left_can_be_measured() -> None:
    batches = [torch.zeros(1, 1)] * 20
    assert time_batches(lambda: batches, warmup_batches=4, measured_batches=None).measured_batches == 16
    with pytest.raises(CourseError, match="does not tell how many"):
        time_batches(lambda: iter(batches), measured_batches=None)


def test_ten_to_warm_up_and_a_hundred_to_measure_need_110() -> None:
    batches = [torch.zeros(1, 1)] * 110
    assert time_batches(lambda: batches).measured_batches == 100
    with pytest.raises(CourseError, match=r"expected 110 batches .* found 109"):
        time_batches(lambda: batches[1:])


def test_each_batch_is_shown_once_and_in_order() -> None:
    seen: list[float] = []
    batches = [torch.full((1, 1), float(at)) for at in range(9)]
    time_batches(
        lambda: batches,
        warmup_batches=2,
        measured_batches=3,
        on_batch=lambda batch: seen.append(batch.item()),
    )
    assert seen == [0, 1, 2, 3, 4]


def test_timing_survives_a_record() -> None:
    timing = time_batches(lambda: [torch.zeros(1, 1)] * 9, warmup_batches=2, measured_batches=3)
    assert LoaderTiming.from_dict(timing.as_dict()).as_dict() == timing.as_dict()


@pytest.mark.parametrize("made", [[torch.zeros(2)], None, lambda: None, lambda: 3])
def test_what_makes_no_loader_is_refused(made: Any) -> None:
    with pytest.raises(CourseError, match="a function that returns a new loader"):
        time_batches(made)


def test_a_number_of_batches_beyond_all_bounds_is_refused() -> None:
    with pytest.raises(CourseError, match="measured_batches is out of range"):
        time_batches(lambda: [torch.zeros(2)], measured_batches=10**30)
