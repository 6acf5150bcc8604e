"""Accelerator utilisation by both of MLPerf Storage's definitions, with the published figures."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.loading.utilisation import H100_WORKLOADS, accelerator_utilisation, rules_compute_seconds


@pytest.mark.parametrize(
    ("workload", "megabytes_per_second"), [("unet3d", 3_177), ("resnet50", 205), ("cosmoflow", 808)]
)
def test_an_h100_at_full_utilisation_reads_as_much_as_published(
    workload: str, megabytes_per_second: int
) -> None:
    assert round(H100_WORKLOADS[workload].bytes_per_second / 1e6) == megabytes_per_second


def test_the_needed_utilisations_are_ratios() -> None:
    needed = {name: workload.needed_ratio for name, workload in H100_WORKLOADS.items()}

    assert needed == {"unet3d": 0.90, "resnet50": 0.90, "cosmoflow": 0.70}


def test_compute_time_of_the_rules_is_records_files_and_epochs_over_accelerators_and_batch_size() -> None:
    seconds = rules_compute_seconds(
        records_per_file=1,
        files=3_500,
        accelerators=1,
        batch_size=7,
        compute_seconds_per_step=0.323,
        epochs=5,
    )

    assert seconds == pytest.approx(500 * 0.323 * 5)
    halved = rules_compute_seconds(
        records_per_file=1,
        files=3_500,
        accelerators=2,
        batch_size=7,
        compute_seconds_per_step=0.323,
        epochs=5,
    )
    assert halved == pytest.approx(seconds / 2)


def test_the_first_steps_input_is_left_out_of_the_running_time() -> None:
    found = accelerator_utilisation([1.0, 1.0, 1.0], [61.0, 2.0, 1.0])

    assert found.running_seconds == pytest.approx(4.0)
    assert found.ratio == pytest.approx(0.75)
    assert found.percent == pytest.approx(75.0)


def test_the_two_variants_differ_in_their_compute_time_and_are_named() -> None:
    compute, total = [1.0, 2.0], [1.0, 4.0]

    measured = accelerator_utilisation(compute, total)
    rules = accelerator_utilisation(compute, total, variant="rules", compute_seconds_per_step=1.0)

    assert measured.ratio == pytest.approx(3 / 5)
    assert rules.ratio == pytest.approx(2 / 5)
    assert "tool" in measured.name
    assert "rules" in rules.name
    assert measured.name in str(measured)


def test_a_step_that_never_waits_is_full_utilisation() -> None:
    seconds = np.full(10, 0.3)

    assert accelerator_utilisation(seconds, seconds).ratio == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("compute", "total", "message"),
    [
        ([1.0], [1.0, 2.0], "for each step"),
        ([], [], "for each step"),
        ([2.0], [1.0], "longer than it lasts"),
        ([0.0], [0.0], "undefined"),
    ],
)
def test_times_that_do_not_belong_together_are_refused(
    compute: list[float], total: list[float], message: str
) -> None:
    with pytest.raises(CourseError, match=message):
        accelerator_utilisation(compute, total)


def test_the_rules_need_a_stated_compute_time() -> None:
    with pytest.raises(CourseError, match="stated beforehand"):
        accelerator_utilisation([1.0], [1.0], variant="rules")
