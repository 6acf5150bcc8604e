"""Parts of a training step, on a made-up device whose work is only done when it is synchronised."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.loading.steps import StepTimes, sample_count_of, time_steps, timed_steps

WAIT, MOVE, COMPUTE = 0.5, 0.25, 2.0


class QueueingDevice:
    """Work is queued at once and takes its time only in ``synchronise``, as on CUDA and MPS."""

    def __init__(self) -> None:
        self.now = 0.0
        self.queued = 0.0
        self.events: list[str] = []

    def clock(self) -> float:
        return self.now

    def batches(self, count: int) -> Iterator[dict[str, list[int]]]:
        for _ in range(count):
            self.now += WAIT
            yield {"image": [0, 0, 0], "label": [1, 2, 3]}

    def transfer(self, batch: object) -> object:
        self.events.append("transfer")
        self.queued += MOVE
        return batch

    def compute(self, batch: object) -> None:
        self.events.append("compute")
        self.queued += COMPUTE

    def synchronise(self) -> None:
        self.events.append("synchronise")
        self.now += self.queued
        self.queued = 0.0

    def times(self, *, steps: int = 4, warmup_steps: int = 1, batches: int = 5) -> StepTimes:
        return time_steps(
            self.batches(batches),
            self.transfer,
            self.compute,
            synchronise=self.synchronise,
            steps=steps,
            warmup_steps=warmup_steps,
            clock=self.clock,
        )


def test_each_part_gets_the_time_that_its_work_took_on_the_device() -> None:
    times = QueueingDevice().times()

    assert times.waiting.tolist() == [WAIT] * 4
    assert times.transfer.tolist() == [MOVE] * 4
    assert times.compute.tolist() == [COMPUTE] * 4
    assert times.total.tolist() == [WAIT + MOVE + COMPUTE] * 4


def test_the_device_is_synchronised_at_every_limit() -> None:
    device = QueueingDevice()

    device.times(steps=2, warmup_steps=0, batches=2)

    step = ["transfer", "synchronise", "compute", "synchronise"]
    assert device.events == ["synchronise", *step, *step]


def test_without_synchronising_only_the_submission_is_timed() -> None:
    device = QueueingDevice()

    times = time_steps(
        device.batches(3),
        device.transfer,
        device.compute,
        synchronise=lambda: None,
        steps=3,
        clock=device.clock,
    )

    assert times.compute.sum() == 0
    assert times.transfer.sum() == 0


def test_work_queued_before_the_first_step_is_in_no_step() -> None:
    device = QueueingDevice()
    device.queued = 100.0

    assert device.times(steps=1, warmup_steps=0, batches=1).total.sum() == WAIT + MOVE + COMPUTE


def test_the_total_is_clocked_by_itself_so_that_work_outside_the_parts_shows() -> None:
    device = QueueingDevice()
    steps = timed_steps(
        device.batches(2), device.transfer, device.compute, synchronise=device.synchronise, clock=device.clock
    )

    first = next(steps)
    device.now += 7.0
    second = next(steps)

    assert first.total == WAIT + MOVE + COMPUTE
    assert second.total == WAIT + MOVE + COMPUTE + 7.0
    assert second.waiting + second.transfer + second.compute == WAIT + MOVE + COMPUTE


def test_warm_up_steps_are_left_out_of_times_and_samples() -> None:
    times = QueueingDevice().times(steps=3, warmup_steps=2, batches=9)

    assert times.step_count == 3
    assert times.sample_count == 9


def test_data_that_run_out_are_an_error_with_the_numbers() -> None:
    with pytest.raises(CourseError, match=r"after 3 batches: expected 5 \(1 of warm-up and 4 measured\)"):
        QueueingDevice().times(batches=3)


def test_rates_are_total_work_over_total_time() -> None:
    times = StepTimes(
        waiting=np.array([0.0, 8.0]),
        transfer=np.zeros(2),
        compute=np.array([1.0, 1.0]),
        total=np.array([1.0, 9.0]),
        sample_count=20,
    )

    assert times.samples_per_second == 2.0
    assert times.step_seconds == 5.0
    assert times.shares() == {"waiting": 0.8, "transfer": 0.0, "compute": 0.2}
    assert times.part_seconds("waiting") == 4.0
    assert times.covered_share == pytest.approx(1.0)


def test_times_survive_a_record() -> None:
    times = QueueingDevice().times()

    again = StepTimes.from_dict(times.as_dict())

    assert again.as_dict() == times.as_dict()
    assert again.total.dtype == np.float64


@pytest.mark.parametrize(
    "batch", [{"image": [[0]] * 3, "label": [1, 2, 3]}, ([[0]] * 3, [1, 2, 3]), {"image": [0] * 3}]
)
def test_samples_are_counted_in_any_kind_of_batch(batch: object) -> None:
    assert sample_count_of(batch) == 3
