"""What bounds a run, told from made-up times of real, synthetic and control runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions
from course_lib.loading.diagnosis import Diagnosis, diagnose
from course_lib.loading.steps import StepTimes
from course_lib.loading.synthetic import InputDescription
from course_lib.loading.training import TrainingComparison, TrainingConditions, TrainingRun

NOISE = (1.0, 1.05, 0.95)


def times(waiting: float = 0.0, transfer: float = 0.0, compute: float = 0.0) -> StepTimes:
    parts = [np.full(2, seconds) for seconds in (waiting, transfer, compute)]
    return StepTimes(*parts, total=sum(parts), sample_count=128)  # type: ignore[arg-type]


def comparison(
    *,
    waiting: float = 0.01,
    compute: float = 0.1,
    transfer: float = 0.0,
    read: float = 0.003,
    decode: float = 0.008,
    noise: Sequence[float] = NOISE,
    real_noise: Sequence[float] = (),
    slower_beside_workers: float = 1.0,
    without: Sequence[str] = (),
    conditions: TrainingConditions | None = None,
    computed_on: str = "cpu",
) -> TrainingComparison:
    conditions = conditions or TrainingConditions()
    moved = 0.0 if conditions.synthetic_placement == "device" else transfer
    of_candidate = {
        "real": times(waiting, transfer, compute * slower_beside_workers),
        "synthetic": times(1e-6, moved, compute),
        "input only": times(waiting),
        "read only": times(read),
        "decode only": times(decode),
        "transfer only": times(1e-6, transfer),
    }
    fed = InputDescription((64, 3, 32, 32), "torch.uint8", "torch.int64", "cpu", computed_on, 2)
    runs = [
        TrainingRun(
            name,
            repeat,
            place,
            _scaled(found, real_noise[repeat] if real_noise and name == "real" else factor),
            fed=fed if name in ("real", "synthetic") else None,
        )
        for repeat, factor in enumerate(noise)
        for place, (name, found) in enumerate(of_candidate.items())
        if name not in without
    ]
    return TrainingComparison(conditions, tuple(runs), {}, None, "made up", 1, "2026-01-01T00:00:00+00:00")


def _scaled(found: StepTimes, factor: float) -> StepTimes:
    return StepTimes(
        found.waiting * factor,
        found.transfer * factor,
        found.compute * factor,
        found.total * factor,
        found.sample_count,
    )


def test_input_that_costs_less_than_a_tenth_is_compute_bound_by_the_synthetic_run() -> None:
    found = diagnose(comparison(waiting=0.008))

    assert found.bound == "compute"
    assert not found.is_input_bound
    assert found.control == "synthetic"
    assert "within" not in found.sentence
    assert "1.08 times" in found.sentence


def test_a_slow_store_is_found_by_the_read_only_control() -> None:
    conditions = TrainingConditions(loader=LoaderConditions(sample_count=2_880, open_ms=4.0))

    found = diagnose(comparison(waiting=0.26, read=0.255, decode=0.006, conditions=conditions))

    assert found.bound == "store"
    assert found.is_input_bound
    assert found.control == "read only"
    assert "4 ms per open set" in found.sentence


def test_slow_decoding_is_found_by_the_decode_only_control() -> None:
    conditions = TrainingConditions(loader=LoaderConditions(sample_count=2_880, decode_repeats=30))

    found = diagnose(comparison(waiting=0.2, read=0.003, decode=0.19, conditions=conditions))

    assert found.bound == "cpu"
    assert found.control == "decode only"
    assert "decoded 30 times" in found.sentence


@pytest.mark.parametrize(("read", "decode"), [(0.19, 0.006), (0.006, 0.19)])
def test_the_whole_difference_is_never_put_down_to_the_disk(read: float, decode: float) -> None:
    found = diagnose(comparison(waiting=0.2, read=read, decode=decode))

    assert "whole difference" in found.sentence
    assert "same path" in found.sentence


@pytest.mark.parametrize(
    "given",
    [
        {"waiting": 0.001},
        {"waiting": 0.26, "read": 0.255},
        {"waiting": 0.26, "decode": 0.255},
        {"waiting": 0.26, "read": 0.13, "decode": 0.12},
        {"waiting": 0.001, "transfer": 0.2},
    ],
)
def test_every_finding_names_its_control_and_what_would_have_refuted_it(given: Mapping[str, float]) -> None:
    found = diagnose(comparison(**given))  # type: ignore[arg-type]

    assert found.control in ("synthetic", "read only", "decode only", "transfer only")
    assert "would have" in found.refuted_by
    assert len(found.evidence) == 6


def test_controls_that_do_not_separate_leave_it_unclear() -> None:
    found = diagnose(comparison(waiting=0.2, read=0.1, decode=0.09))

    assert found.bound == "unclear"
    assert "cannot be put down" in found.sentence


def test_two_slow_controls_leave_it_unclear() -> None:
    assert diagnose(comparison(waiting=0.2, read=0.19, decode=0.15)).bound == "unclear"


def test_a_difference_that_is_not_there_in_every_repeat_is_within_the_noise() -> None:
    found = diagnose(comparison(waiting=0.0001, real_noise=(1.2, 1.25, 1.0)))

    assert found.bound == "compute"
    assert "within the noise" in found.sentence


def test_what_a_faster_input_could_gain_at_most_is_said() -> None:
    found = diagnose(comparison(waiting=0.015, real_noise=(2.0, 1.5, 0.9)))

    assert found.bound == "compute"
    assert "waited for 13% of their time" in found.sentence


def test_a_synthetic_run_that_is_no_faster_contradicts_long_waiting() -> None:
    assert diagnose(comparison(waiting=0.05, real_noise=(0.7, 0.7, 0.7))).bound == "unclear"


def test_long_waiting_in_every_real_run_shows_through_one_disturbed_repeat() -> None:
    found = diagnose(comparison(waiting=0.08, decode=0.06, real_noise=(1.0, 1.0, 0.55)))

    assert found.bound == "cpu"


def test_slower_steps_without_waiting_are_not_put_down_to_the_input() -> None:
    assert diagnose(comparison(waiting=0.001, real_noise=(1.5, 1.4, 1.3))).bound == "unclear"


def test_a_machine_that_slows_down_between_repeats_does_not_hide_a_difference() -> None:
    assert diagnose(comparison(waiting=0.04, decode=0.03, noise=(1.0, 2.0, 4.0))).bound == "cpu"


def test_fewer_than_three_repeats_decide_nothing() -> None:
    found = diagnose(comparison(waiting=0.5, read=0.5, noise=NOISE[:2]))

    assert found.bound == "unclear"
    assert "at least 3" in found.sentence


def test_a_transfer_that_fills_the_step_is_found_on_synthetic_input_too() -> None:
    found = diagnose(comparison(waiting=0.001, transfer=0.3, computed_on="cuda"))

    assert found.bound == "transfer"
    assert found.control == "transfer only"


def test_a_synthetic_batch_on_the_device_shows_the_transfer_in_the_difference() -> None:
    conditions = TrainingConditions(synthetic_placement="device")

    found = diagnose(comparison(waiting=0.01, transfer=0.3, conditions=conditions, computed_on="cuda"))

    assert found.bound == "transfer"
    assert "the rest of the difference" in found.sentence.lower()


def test_without_controls_an_input_bound_run_has_no_cause() -> None:
    found = diagnose(comparison(waiting=0.2, without=("read only", "decode only")))

    assert found.bound == "unclear"
    assert "blames none of them" in found.sentence


def test_workers_that_take_the_cores_from_the_model_are_cpu_bound() -> None:
    conditions = TrainingConditions(loader=LoaderConditions(sample_count=2_880, workers=2))

    found = diagnose(comparison(waiting=0.001, slower_beside_workers=1.5, conditions=conditions))

    assert found.bound == "cpu"
    assert "share the same cores" in found.sentence


def test_workers_that_wait_for_a_slow_store_are_not_put_down_to_shared_cores() -> None:
    conditions = TrainingConditions(loader=LoaderConditions(sample_count=2_880, workers=2, open_ms=4.0))

    found = diagnose(comparison(waiting=0.15, read=0.13, slower_beside_workers=2.0, conditions=conditions))

    assert found.bound == "store"


def test_a_slower_model_without_workers_is_not_put_down_to_shared_cores() -> None:
    assert "share the same cores" not in diagnose(comparison(slower_beside_workers=1.5)).sentence


@pytest.mark.parametrize("missing", ["real", "synthetic"])
def test_both_inputs_are_needed(missing: str) -> None:
    with pytest.raises(CourseError, match=f"'{missing}' was not measured"):
        diagnose(comparison(without=(missing,)))


def test_evidence_shows_each_candidate_with_its_range() -> None:
    found: Diagnosis = diagnose(comparison(waiting=0.26, read=0.255))

    assert found.evidence[0].startswith("real: 360 ms (342 to 378) per batch")
    assert any(line.startswith("read only: 255 ms") for line in found.evidence)
