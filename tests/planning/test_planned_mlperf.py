"""MLPerf Storage: data set sizes, rates, utilisation, totals, and a configuration."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.planning import (
    benchmark_plan,
    dlio_configuration,
    passes,
    rules_utilisation,
)

GIB = 2**30


@pytest.mark.parametrize(
    ("workload", "accelerators", "gib", "samples", "binding"),
    [
        ("unet3d", 1, 16, 3_500, "500 steps"),
        ("unet3d", 1, 4, 3_500, "500 steps"),
        ("unet3d", 8, 256, 28_000, "500 steps"),
        ("cosmoflow", 8, 256, 485_910, "5 x memory"),
    ],
)
def test_the_smallest_data_set(
    workload: str, accelerators: int, gib: int, samples: int, binding: str
) -> None:
    plan = benchmark_plan(workload=workload, accelerators=accelerators, host_memory_bytes=gib * GIB)
    assert (plan.smallest_samples, plan.binding) == (samples, binding)


@pytest.mark.parametrize(("workload", "megabytes"), [("unet3d", 3177), ("resnet50", 205), ("cosmoflow", 808)])
def test_the_rate_of_one_accelerator(workload: str, megabytes: float) -> None:
    plan = benchmark_plan(workload=workload, accelerators=4, host_memory_bytes=GIB)
    assert plan.bytes_per_second_per_accelerator / 1e6 == pytest.approx(megabytes, abs=0.5)
    assert plan.bytes_per_second == pytest.approx(4 * plan.bytes_per_second_per_accelerator)
    assert plan.needed_bytes_per_second < plan.bytes_per_second


def test_many_benchmark_plans_at_once() -> None:
    plan = benchmark_plan(
        workload="cosmoflow", accelerators=np.array([1, 8]), host_memory_bytes=np.array([1e6, 256 * GIB])
    )
    assert plan.binding.tolist() == ["500 steps", "5 x memory"]
    assert plan.smallest_samples.tolist() == [500, 485_910]


def test_utilisation_by_the_rules_formula() -> None:
    run = {"records_per_file": 1, "files": 7000, "accelerators": 2, "batch_size": 7, "step_seconds": 0.323}
    computing = 500 * 0.323 * 3
    assert rules_utilisation(**run, epochs=3, running_seconds=computing / 0.95) == pytest.approx(0.95)
    with pytest.raises(CourseError, match="shorter than its compute time"):
        rules_utilisation(**run, epochs=3, running_seconds=computing * 0.9)


def test_what_passes_is_the_workload_s_own_share() -> None:
    assert not passes(0.89, workload="unet3d")
    assert passes(0.70, workload="cosmoflow")
    with pytest.raises(CourseError, match="given as a percentage"):
        passes(89, workload="unet3d")


def test_a_configuration_holds_what_the_plan_says() -> None:
    plan = benchmark_plan(workload="resnet50", accelerators=8, host_memory_bytes=64 * GIB)
    written = dlio_configuration(plan, data_folder="data/resnet50", epochs=3)
    files, in_a_file = written["dataset"]["num_files_train"], written["dataset"]["num_samples_per_file"]
    assert (files - 1) * in_a_file < plan.smallest_samples <= files * in_a_file
    assert written["reader"]["batch_size"] == 400
    assert written["train"] == {"epochs": 3, "computation_time": 0.224}
    assert written["metric"]["au"] == 0.90


def test_a_configuration_is_of_one_plan() -> None:
    many = benchmark_plan(workload="unet3d", accelerators=np.array([1, 2]), host_memory_bytes=GIB)
    with pytest.raises(CourseError, match="written from one plan"):
        dlio_configuration(many, data_folder="data")


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"workload": "gpt"}, "workload is not known"),
        ({"accelerators": 0}, "number of accelerators is out of range"),
        ({"host_memory_bytes": -1}, "memory of a host is out of range"),
    ],
)
def test_bad_benchmarks_get_one_sentence(changed: dict[str, object], sentence: str) -> None:
    whole = {"workload": "unet3d", "accelerators": 1, "host_memory_bytes": GIB}
    with pytest.raises(CourseError, match=sentence):
        benchmark_plan(**{**whole, **changed})


@pytest.mark.parametrize(("workload", "hosts"), [("unet3d", 1), ("cosmoflow", 2)])
def test_memory_decides_above_what_the_plan_names(workload: str, hosts: int) -> None:
    inputs = {"workload": workload, "accelerators": 4, "hosts": hosts}
    memory = benchmark_plan(**inputs, host_memory_bytes=GIB).deciding_memory_bytes
    below, above = (benchmark_plan(**inputs, host_memory_bytes=memory * share) for share in (0.999, 1.001))
    assert (below.binding, above.binding) == ("500 steps", "5 x memory")
