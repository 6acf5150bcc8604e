"""Real against synthetic training and its controls: conditions, runs on generated images, comparisons."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import pytest

import course_lib.watched
from course_lib.errors import CourseError
from course_lib.loading.candidates import Bench, loader_of, measure_task
from course_lib.loading.conditions import LoaderConditions, differing_factors
from course_lib.loading.one_run import digest_of_ids
from course_lib.loading.runs import delivered_ids
from course_lib.loading.training import (
    CONTROLS,
    INPUTS,
    TrainingComparison,
    TrainingConditions,
    measure_training,
    turns,
)

SMALL = TrainingConditions(
    loader=LoaderConditions(source="generated", sample_count=40, batch_size=8),
    steps=3,
    warmup_steps=1,
    device="cpu",
)


class Measured(NamedTuple):
    comparison: TrainingComparison
    events: list[dict[str, Any]]
    ids: list[str]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Measured]:
    """Run one measurement in this process for all tests, by way of JSON as the watched process does."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURSE_HOME", str(tmp_path_factory.mktemp("home of the measurement")))
        patch.delenv("COURSE_DATA", raising=False)
        events: list[dict[str, Any]] = []

        def run_watched(
            task: str, request: Mapping[str, Any], *, on_event: Callable[[dict[str, Any]], None], **_: object
        ) -> Any:
            assert task == f"{measure_task.__module__}:{measure_task.__name__}"

            def emit(event: dict[str, Any]) -> None:
                events.append(json.loads(json.dumps(event)))
                on_event(event)

            return json.loads(json.dumps(measure_task(json.loads(json.dumps(request)), emit)))

        patch.setattr(course_lib.watched, "run_watched", run_watched, raising=False)
        comparison = measure_training(SMALL, repeats=2, progress=False)
        yield Measured(comparison, events, delivered_ids(comparison.conditions.loader, batches=4))


@pytest.fixture
def compared(measured: Measured) -> TrainingComparison:
    return measured.comparison


def test_all_candidates_run_in_turn_with_the_same_steps(compared: TrainingComparison) -> None:
    assert compared.candidates() == (*INPUTS, *CONTROLS)
    assert [run.candidate for run in compared.runs[:6]] == [run.candidate for run in compared.runs[:5:-1]]
    assert {run.times.step_count for run in compared.runs} == {3}
    assert {run.times.sample_count for run in compared.runs} == {24}


def test_waiting_transfer_and_compute_add_up_to_the_step_within_two_percent(
    compared: TrainingComparison,
) -> None:
    for run in compared.runs_of("real"):
        assert run.times.covered_share == pytest.approx(1.0, abs=0.02)
        assert run.times.covered_share <= 1.0


def test_all_loaders_delivered_the_ids_that_the_conditions_alone_give(measured: Measured) -> None:
    expected = digest_of_ids(measured.ids)

    loaded = [run for run in measured.comparison.runs if run.candidate not in ("synthetic", "transfer only")]
    assert len(loaded) == 8
    assert {run.delivered_digest for run in loaded} == {expected}


def test_real_and_synthetic_input_are_alike(compared: TrainingComparison) -> None:
    fed = {run.fed for name in INPUTS for run in compared.runs_of(name)}

    (alike,) = fed
    assert str(alike) == "8 x 3 x 32 x 32 uint8, delivered on cpu, 3 steps"


def test_controls_do_not_train_and_inputs_do(compared: TrainingComparison) -> None:
    assert all(compared.summary(name, "compute").median > 1e-4 for name in INPUTS)
    assert all(
        compared.summary(name, "compute").median < compared.summary("real", "compute").median / 10
        for name in CONTROLS
    )


def test_the_result_names_data_threads_device_and_cache_state(compared: TrainingComparison) -> None:
    assert compared.origin is not None and compared.origin.kind == "generated"
    assert compared.threads == 1
    assert compared.device.startswith("CPU, 1 thread;")
    assert all(run.cache_before is not None for run in compared.runs_of("real"))
    assert all(run.cache_before is None for run in compared.runs_of("decode only"))


def test_a_comparison_survives_a_record_and_reports_no_accuracy(compared: TrainingComparison) -> None:
    text = json.dumps(compared.as_dict())

    assert TrainingComparison.from_dict(json.loads(text)).as_dict() == compared.as_dict()
    assert "accuracy" not in text
    assert "loss" not in text


def test_utilisation_is_named_and_below_one(compared: TrainingComparison) -> None:
    measured, rules = compared.utilisation(), compared.utilisation("rules")

    assert 0 < measured.ratio < 1
    stated = compared.summary("synthetic", "compute").median
    assert rules.compute_seconds == pytest.approx(2 * 3 * stated)
    assert rules.running_seconds == measured.running_seconds


def test_runs_that_delivered_other_samples_are_not_compared(compared: TrainingComparison) -> None:
    changed = replace(compared.runs[0], delivered_digest="0" * 64)

    with pytest.raises(CourseError, match="same samples in the same order"):
        replace(compared, runs=(changed, *compared.runs[1:]))


def test_inputs_that_are_not_alike_are_not_compared(compared: TrainingComparison) -> None:
    real = compared.runs[0]
    assert real.fed is not None
    changed = replace(real, fed=replace(real.fed, dtype="torch.float32"))

    with pytest.raises(CourseError, match="dtype differs"):
        replace(compared, runs=(changed, *compared.runs[1:]))


def test_a_candidate_that_was_not_run_is_named(compared: TrainingComparison) -> None:
    with pytest.raises(CourseError, match="'sideways' was not measured"):
        compared.summary("sideways")


def test_each_run_tells_the_parent_that_it_is_done(measured: Measured) -> None:
    done = [event["candidate"] for event in measured.events if event["kind"] == "run"]

    assert done == [run.candidate for run in measured.comparison.runs]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"inputs": ("real", "unreal")}, "A candidate is not one of its choices"),
        ({"controls": ("decode",)}, "A candidate is not one of its choices"),
        ({"inputs": (), "controls": ()}, "nothing to run"),
        ({"repeats": 0}, "repeats is out of range"),
    ],
)
def test_a_plan_that_cannot_be_run_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CourseError, match=message):
        measure_training(SMALL, progress=False, **arguments)


def test_too_few_samples_for_the_steps_are_an_error_with_the_numbers() -> None:
    with pytest.raises(
        CourseError, match=r"expected 48 for 2 warm-up and 4 measured steps of 8, found 5 whole"
    ):
        measure_training(replace(SMALL, steps=4, warmup_steps=2), progress=False)


def test_a_live_run_needs_no_samples_for_steps_that_it_does_not_count() -> None:
    assert replace(SMALL, steps=1_000).needed_batches == 1_001


def test_too_few_samples_of_a_whole_set_are_found_before_the_first_step(tmp_path: Any) -> None:
    from PIL import Image

    for at in range(8):
        Image.new("RGB", (32, 32), (at, 0, 0)).save(tmp_path / f"{at}.png")
    loader = LoaderConditions(path=str(tmp_path), sample_count=None, batch_size=4)

    with pytest.raises(CourseError, match="no sample is used twice"):
        Bench(replace(SMALL, loader=loader)).run("real", 0, 0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps is out of range"),
        ({"warmup_steps": -1}, "warmup_steps is out of range"),
        ({"compute_repeats": 0}, "compute_repeats is out of range"),
        ({"compute_repeats": 1.5}, "compute_repeats is out of range"),
        ({"threads": -1}, "threads is out of range"),
        ({"device": "the big one"}, "device is not one of its choices"),
        ({"input": "made up"}, "input is not one of its choices"),
        ({"synthetic_placement": "cloud"}, "synthetic_placement is not one of its choices"),
        ({"pinned": "yes"}, "pinned is not one of its choices"),
        ({"loader": {"transforms": "bytes"}}, "cannot train on encoded bytes"),
        ({"speed": 9}, "speed is no condition of a training run"),
    ],
)
def test_conditions_that_no_run_can_have_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(CourseError, match=message):
        SMALL.with_changes(**changes)


def test_conditions_survive_a_record() -> None:
    conditions = SMALL.with_changes(compute_repeats=3, loader={"workers": 1})

    assert TrainingConditions.from_dict(json.loads(json.dumps(conditions.as_dict()))) == conditions


def test_a_control_leaves_out_one_part_of_the_input_path_and_nothing_else() -> None:
    loader = LoaderConditions(open_ms=4.0, decode_repeats=30, cache="evict")

    assert differing_factors(loader, loader_of("read only", loader)) == ("transforms", "decode_repeats")
    assert differing_factors(loader, loader_of("decode only", loader)) == ("layout", "open_ms", "cache")
    assert loader_of("input only", loader) == loader_of("real", loader) == loader


def test_every_other_repeat_goes_the_other_way_round() -> None:
    assert turns(["a", "b"], 3) == [
        (0, 0, "a"),
        (0, 1, "b"),
        (1, 0, "b"),
        (1, 1, "a"),
        (2, 0, "a"),
        (2, 1, "b"),
    ]
