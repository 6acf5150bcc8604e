"""Lesson 05's live panel: every case is one factor in words, and a real run fills its table."""

from __future__ import annotations

import pytest

from course_lib.loading import LoaderConditions
from course_lib.loading.live import PRESETS
from course_lib.loading.training import TrainingConditions
from course_lib.widgets.live_figures import changed_factors
from course_lib.widgets.panels.live_loading import conditions_in_words, factor_in_words, live_loading_panel

SINGLE = ["slow open", "slow decode", "cold start", "slow device"]


@pytest.mark.parametrize("case", SINGLE)
def test_a_case_changes_one_factor_and_says_so_in_words(case: str) -> None:
    panel = live_loading_panel()
    as_it_is = panel.request
    panel.preset.value = case
    (name,) = changed_factors(as_it_is, panel.request)
    assert "." not in factor_in_words(name) and "_" not in factor_in_words(name)
    assert conditions_in_words(panel.request) != conditions_in_words(as_it_is)
    panel.preset.value = "as it is"
    assert panel.request == as_it_is


def test_every_preset_is_a_case_with_a_name_of_its_own() -> None:
    panel = live_loading_panel()
    assert list(panel.presets) == list(PRESETS)
    assert len({preset.label for preset in panel.presets.values()}) == len(PRESETS)


def test_too_few_workers_moves_the_control_so_that_more_of_them_is_one_factor() -> None:
    panel = live_loading_panel()
    panel.preset.value = "too few workers"
    few = panel.request
    assert panel.values["workers"] == PRESETS["too few workers"]["loader"]["workers"]
    panel.controls["workers"].value = 4  # type: ignore[misc]
    assert [factor_in_words(name) for name in changed_factors(few, panel.request)] == [
        "the number of workers"
    ]


def test_controls_reach_the_request_and_the_words() -> None:
    panel = live_loading_panel()
    for name, value in (("workers", 2), ("batch_size", 32), ("prefetch", 5)):
        panel.controls[name].value = value  # type: ignore[misc]
    loader = panel.request["conditions"]["loader"]
    assert (loader["workers"], loader["batch_size"], loader["prefetch"]) == (2, 32, 5)
    assert conditions_in_words(panel.request) == "2 workers with 5 batches ahead each, batches of 32"
    panel.controls["workers"].value = 1  # type: ignore[misc]
    assert conditions_in_words(panel.request) == "1 worker with 5 batches ahead, batches of 32"


def test_a_set_time_is_called_set_and_repeated_work_is_counted() -> None:
    conditions = TrainingConditions(
        loader=LoaderConditions(sample_count=2_880, open_ms=2.5, decode_repeats=4, cache="evict"),
        compute_repeats=3,
    )
    words = conditions_in_words({"conditions": conditions.as_dict()})
    assert words == (
        "no workers, batches of 64, each open set to last 2.5 ms, each image decoded 4 times, "
        "each step computed 3 times, files dropped from the page cache before the run"
    )


def test_a_short_real_run_fills_the_table_and_names_its_data() -> None:
    conditions = TrainingConditions(loader=LoaderConditions(sample_count=640, batch_size=32))
    panel = live_loading_panel(conditions)
    view = panel.run_for(1.5)
    assert not panel.running
    figures = view.result["B"]  # type: ignore[index]
    assert (
        figures.rate > 0
        and figures.batches > 0
        and sum(figures.shares.values()) == pytest.approx(1, abs=0.05)
    )
    names = [row[0] for row in view.rows]
    for name in ("samples/s", "batch wait, p50", "batch wait, p95", "waiting", "transfer", "computing"):
        assert any(name in str(shown) for shown in names)
    assert "generated" in view.source_note and "measured on this machine" in view.source_note
