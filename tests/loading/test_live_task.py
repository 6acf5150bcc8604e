"""The work behind the live panel: its figures on a clock of our own, and the task on generated images."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions
from course_lib.loading.live import IMPORTS, PRESETS, LiveFigures, live_task, with_preset
from course_lib.loading.steps import Step
from course_lib.loading.training_conditions import TrainingConditions

SMALL = TrainingConditions(
    loader=LoaderConditions(source="generated", sample_count=40, batch_size=8),
    steps=3,
    warmup_steps=1,
    device="cpu",
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Run:
    """A made-up run whose steps end at moments that a test chooses."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.figures = LiveFigures(clock=self.clock, window_seconds=1.0)

    def step(self, waiting: float, compute: float = 0.0, samples: int = 64) -> None:
        self.clock.now += waiting + compute
        self.figures.add(Step(waiting, 0.0, compute, waiting + compute, samples, self.clock.now))


def test_before_the_first_step_has_ended_the_run_is_starting() -> None:
    run = Run()
    run.clock.now += 3.0

    assert run.figures.point() == {"kind": "starting", "seconds": 3.0}


def test_a_point_holds_the_rate_wait_and_shares_of_its_window() -> None:
    run = Run()
    for _ in range(4):
        run.step(0.0625, 0.1875)

    point = run.figures.point()

    assert point["kind"] == "point"
    assert point["samples_per_second"] == pytest.approx(256)
    assert point["batch_wait_ms"] == pytest.approx(62.5)
    assert (point["waiting_share"], point["transfer_share"], point["compute_share"]) == (0.25, 0.0, 0.75)
    assert (point["batches"], point["samples"], point["seconds"]) == (4, 256, 1.0)
    assert json.loads(json.dumps(point)) == point


def test_steps_that_ended_before_the_window_are_forgotten() -> None:
    run = Run()
    run.step(10.0)
    for _ in range(5):
        run.step(0.25)

    assert run.figures.point()["samples_per_second"] == pytest.approx(256)
    assert run.figures.point()["batches"] == 6


def test_each_batch_wait_is_told_once() -> None:
    run = Run()
    run.step(0.25)
    run.step(0.5)

    assert run.figures.point()["batch_waits_ms"] == [250.0, 500.0]
    assert run.figures.point()["batch_waits_ms"] == []


def test_steps_longer_than_the_window_give_a_steady_rate() -> None:
    run = Run()
    run.step(2.0, 2.0)
    rates = []
    for _ in range(4):
        run.clock.now += 1.0
        rates.append(run.figures.point()["samples_per_second"])

    assert rates == [16.0] * 4


def test_a_standstill_shows_as_a_falling_rate_and_a_growing_wait() -> None:
    run = Run()
    run.step(0.25, 0.25)
    run.clock.now += 7.5
    run.figures.is_waiting = True

    point = run.figures.point()

    assert point["samples_per_second"] == pytest.approx(64 / 7.5)
    assert point["waiting_share"] > 0.9
    assert point["batch_wait_ms"] == pytest.approx(7250)


def test_a_long_computation_is_not_taken_for_waiting() -> None:
    run = Run()
    batches = run.figures.watched(iter(["first", "second"]))
    next(batches)
    run.step(0.25, 0.25)
    next(batches)
    run.clock.now += 7.5

    assert run.figures.point()["compute_share"] > 0.9


def test_a_run_without_a_batch_for_too_long_goes_silent_for_its_watchdog() -> None:
    run = Run()
    run.clock.now += 600.0
    assert run.figures.seems_alive

    run.figures.opened(batch_seconds_at_most=30.0)
    run.clock.now += 29.0
    assert run.figures.seems_alive
    run.clock.now += 2.0
    assert not run.figures.seems_alive
    run.step(0.1)
    assert run.figures.seems_alive


def test_the_result_is_total_samples_over_total_time() -> None:
    run = Run()
    run.step(1.0, samples=10)
    run.step(9.0, samples=10)

    assert run.figures.result()["samples_per_second"] == 2.0


def test_the_presets_are_those_of_the_panel_and_change_valid_conditions() -> None:
    names = ("slow open", "slow decode", "too few workers", "cold start", "slow device", "as it is")

    assert set(PRESETS) == set(names)
    assert with_preset(SMALL, "as it is") == SMALL
    assert all(with_preset(SMALL, name) != SMALL for name in names if name != "as it is")
    assert with_preset(SMALL, "slow open").loader.open_ms > 0
    assert with_preset(SMALL, "slow device").compute_repeats > 1


def test_an_unknown_preset_or_work_is_refused() -> None:
    with pytest.raises(CourseError, match="no preset"):
        with_preset(SMALL, "fast everything")
    with pytest.raises(CourseError, match="no such work"):
        live_task({"conditions": SMALL.as_dict(), "work": "sleep"}, print)


@pytest.mark.parametrize("work", ["train", "load"])
def test_the_task_goes_on_over_several_epochs_and_leaves_no_thread(work: str) -> None:
    events: list[dict[str, Any]] = []

    result = live_task({"conditions": SMALL.as_dict(), "work": work, "seconds": 2.0}, events.append)

    kinds = [event["kind"] for event in events]
    started = next(event for event in events if event["kind"] == "started")
    points = [event for event in events if event["kind"] == "point"]
    assert set(kinds) <= {"starting", "started", "point"}
    assert kinds.index("started") < kinds.index("point")
    assert "generated" in started["origin"]
    assert points[-1]["epoch"] >= 2
    assert result["batches"] > 10
    assert result["samples"] == 8 * result["batches"]
    assert points[-1]["samples"] <= result["samples"]
    assert all(0 <= event["waiting_share"] <= 1 for event in points)
    assert (points[-1]["compute_share"] > 0.2) == (work == "train")
    assert "live points" not in [thread.name for thread in threading.enumerate()]


def test_a_failing_sample_ends_the_task_with_its_name(tmp_path: Any) -> None:
    for at in range(8):
        (tmp_path / f"{at}.png").write_bytes(b"no image")
    loader = LoaderConditions(path=str(tmp_path), sample_count=8, batch_size=4)

    with pytest.raises(CourseError, match="cannot be read"):
        live_task(
            {"conditions": TrainingConditions(loader, steps=1, warmup_steps=1).as_dict()}, lambda _: None
        )


def test_what_a_prepared_process_imports_is_there() -> None:
    import importlib

    for module in IMPORTS:
        importlib.import_module(module)
