"""Lesson 09's panels: figures of the plans, the constraint that binds, where each figure comes from."""

from __future__ import annotations

import pytest

from course_lib.errors import CourseError
from course_lib.planning import ONLY_BYTES, checkpoint_plan, metadata_plan, read_bandwidth
from course_lib.widgets.panel import Panel
from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel, bandwidth_view, cache_panel
from course_lib.widgets.panels.planning_benchmark import benchmark_panel
from course_lib.widgets.panels.planning_capacity import (
    caches_panel,
    capacity_panel,
    lesson_plan,
    timeline_view,
)
from course_lib.widgets.panels.planning_checkpoints import (
    burst_panel,
    burst_view,
    checkpoint_sizes_view,
    interval_panel,
)
from course_lib.widgets.panels.planning_cost import cost_panel
from course_lib.widgets.panels.planning_requests import metadata_panel, metadata_view, object_panel
from course_lib.widgets.texts import text

PANELS = (
    bandwidth_panel,
    cache_panel,
    capacity_panel,
    caches_panel,
    metadata_panel,
    object_panel,
    burst_panel,
    interval_panel,
    cost_panel,
    benchmark_panel,
)


def value(panel: Panel, key: str) -> str:
    """Return what stands in the table of a panel beside the name that a text gives."""
    return next(str(row[1]) for row in panel.view.rows if row[0] == text(key))


@pytest.mark.parametrize("make", PANELS, ids=lambda make: make.__name__)
def test_every_panel_says_what_is_set_and_that_nothing_is_measured(make) -> None:
    panel = make()
    assert len(panel.controls) == 3 and panel.presets
    for preset in panel.presets:
        panel.choose(preset)
        view = panel.view
        assert "nothing is measured" in view.source_note and view.source_note in view.text()
        assert view.title and "<svg" in view.figure_svg
        assert view.key_figures(), "nothing to pin"


@pytest.mark.parametrize(
    "make",
    [make for make in PANELS if make not in (capacity_panel, cost_panel)],
    ids=lambda make: make.__name__,
)
def test_every_figure_of_a_table_has_its_origin_and_the_last_row_names_what_binds(make) -> None:
    panel = make()
    *figures, (name, said, _) = panel.view.rows
    assert name == text("planning.binding") and ": " in said
    origins = {row[2] for row in figures}
    assert text("planning.from_set") in origins and text("planning.from_calculated") in origins
    assert sum(row[2] == text("planning.from_set") for row in figures) == 3


@pytest.mark.parametrize("make", [bandwidth_panel, cache_panel])
def test_where_only_bytes_are_counted_the_view_says_so(make) -> None:
    assert ONLY_BYTES in make().view.summary
    assert ONLY_BYTES not in metadata_panel().view.summary


def test_the_lessons_consumers_ask_for_more_than_the_link_carries() -> None:
    panel = bandwidth_panel()
    assert value(panel, "planning.cold_rate") == "204.8 MB/s"
    assert panel.value.binding == "bandwidth" and "too narrow" in panel.view.title
    assert value(panel, "planning.served") == "1,250 samples/s"


def test_a_hit_rate_helps_the_mean_and_not_the_cold_start() -> None:
    panel = bandwidth_panel()
    panel.controls["hit_rate"].value = "75%"
    assert value(panel, "planning.remote_rate") == "51.2 MB/s"
    assert value(panel, "planning.cold_rate") == "204.8 MB/s"
    assert panel.value.binding == "consumers" and "not the 204.8 MB/s of a cold start" in panel.view.title
    assert "at a cold start the bandwidth binds" in value(panel, "planning.binding")


def test_half_the_bytes_are_half_the_bandwidth() -> None:
    assert bandwidth_panel().at(bytes_per_sample="50 KB").result.bytes_per_second == 102.4e6


def test_without_a_link_the_demand_stands_alone() -> None:
    view = bandwidth_view(read_bandwidth(batches_per_second=4, batch_size=128, bytes_per_sample=1e5))
    assert "asks for 51.2 MB/s" in view.title and "125" not in view.text()


def test_a_percentage_for_the_hit_rate_is_refused_with_what_was_meant() -> None:
    with pytest.raises(CourseError, match="75%"):
        bandwidth_panel().controls["hit_rate"].value = 75


def test_a_cache_for_data_used_once_does_not_pay() -> None:
    panel = cache_panel()
    assert panel.value.pays
    once = panel.at(epochs=1)
    assert not once.result.pays and "doesn't pay" in once.title
    assert panel.at(jobs=4).result.cold_seconds == 4 * panel.value.cold_seconds
    assert value(panel, "planning.prepare") == "30 min" and "30 min go into preparing" in panel.view.summary


def test_the_peak_is_where_a_new_checkpoint_is_written() -> None:
    view = capacity_panel().view
    assert [row[-1] for row in view.rows] == ["200 GB", "500 GB", "624 GB", "632 GB"]
    assert "632 GB at the fullest stage (save a checkpoint)" in view.title
    assert view.result.enough


def test_temporary_files_move_the_peak_to_the_conversion() -> None:
    view = capacity_panel().at(scratch_bytes="500 GB")
    assert view.result.peak_bytes == 1e12 and "(convert)" in view.title
    assert "do not fit" in view.title, "the reserve has to count"


def test_failed_saves_stand_in_a_stage_of_their_own() -> None:
    view = timeline_view(lesson_plan(failed_attempts=2))
    assert view.rows[-1][0] == text("planning.stage_retry") and view.rows[-1][-1] == "648 GB"


def test_caches_of_jobs_need_local_disks_and_a_shared_one_does_not_grow() -> None:
    panel = caches_panel()
    four = panel.at(jobs=4)
    assert four.result.local_bytes == 400e9 and four.result.binding == "local space"
    assert "more than the 400 GB" in four.title
    shared = panel.at(jobs=4, shared_cache=True)
    assert shared.result.local_bytes == 100e9 and "versions" in shared.summary


def test_a_million_opens_against_165_shards() -> None:
    panel = metadata_panel()
    assert value(panel, "planning.open_files") == "33.33 min" and value(panel, "planning.shards") == "165"
    assert panel.value.binding == "round trips"
    assert panel.at(concurrency=16).result.binding == "metadata server"
    assert "no byte of content" in panel.view.title and "the bandwidth panel counts" in panel.view.summary
    assert panel.at(seconds_per_operation="5 us").result.seconds_per_operation == pytest.approx(5e-6)


def test_small_requests_wait_and_large_ones_fill_the_link() -> None:
    panel = object_panel()
    assert value(panel, "planning.one_by_one") == "500 KB/s" and panel.value.binding == "round trips"
    assert panel.at(concurrency=64).result.binding == "request limit"
    large = panel.at(object_bytes="256 MB", concurrency=4)
    assert large.result.binding == "bandwidth" and large.title.startswith("0.488 requests")
    one_by_one = next(row[1] for row in large.rows if row[0] == text("planning.one_by_one"))
    assert one_by_one == "125 MB/s", "more than the link carries"


def test_a_low_average_hides_a_burst_that_slows_reading() -> None:
    panel = burst_panel()
    assert value(panel, "planning.average") == "13.33 MB/s" and value(panel, "planning.burst") == "400 MB/s"
    assert panel.value.binding == "training reads" and "slow down" in panel.view.title
    assert "more than the storage takes" in panel.at(save_seconds="10 s").title
    assert panel.at(save_seconds="40 s").title.endswith(
        "300 MB/s are left for the 204.8 MB/s that training reads"
    )


def test_the_loss_names_the_saves_that_it_holds_for() -> None:
    times = {"bytes": 8e9, "interval_seconds": 900, "save_seconds": 60}
    assert "16 min of progress, if every save succeeds" in burst_view(checkpoint_plan(**times)).summary
    failed = burst_view(checkpoint_plan(**times, failed_saves=1)).summary
    assert "31 min of progress, with failed saves before it: 1" in failed
    assert "if every save succeeds" in interval_panel().view.summary


def test_an_interval_shorter_than_the_save_is_refused_in_words() -> None:
    with pytest.raises(CourseError, match="shorter than the save"):
        burst_panel().at(interval_seconds="1 min", save_seconds="2 min")


def test_a_complete_checkpoint_is_larger_than_its_weights() -> None:
    view = checkpoint_sizes_view(8_030_261_248)
    assert (
        view.rows[0][:2] == ("14 B a parameter: mixed precision, Adam", "112.4 GB")
        and "7 times" in view.title
    )


def test_the_bearable_loss_or_the_lost_time_sets_the_interval() -> None:
    panel = interval_panel()
    by_cost = panel.at(
        save_seconds="1 min", mean_seconds_between_failures=11_135, bearable_loss_seconds="2 h"
    )
    assert (
        by_cost.result.computing_seconds == pytest.approx(1116.3, abs=0.05)
        and "Least lost time decides" in by_cost.title
    )
    by_loss = panel.at(save_seconds="2 min", bearable_loss_seconds="12 min")
    assert by_loss.result.computing_seconds == pytest.approx(480) and "bearable loss decides" in by_loss.title
    with pytest.raises(CourseError, match="nothing but saving"):
        panel.at(save_seconds="2 min", bearable_loss_seconds="4 min")


def test_no_price_is_assumed() -> None:
    view = cost_panel().view
    assert view.warning.startswith("Not priced yet") and "3 of 6" in view.title
    assert text("planning.cost_assumed") in view.summary
    assert view.rows[1][2:] == ("524 GB", "41.6", "0") and "Device hours" in view.figure_svg
    with_a_gap = cost_panel().at(ordinary_price=0.05)
    assert with_a_gap.columns == view.columns, "a sum without one of its parts looks like a cheap plan"


def test_a_price_of_0_is_a_price() -> None:
    panel = cost_panel()
    owned = panel.at(ordinary_price=0.05, fast_price=0.2, device_price=0)
    assert not owned.warning and owned.result.cheapest_cost == pytest.approx(26.2)
    panel.controls["ordinary_price"].value = "0"
    assert "ordinary" not in panel.view.warning and "fast storage" in panel.view.warning
    panel.controls["ordinary_price"].value = ""
    assert "ordinary storage" in panel.view.warning and "no price yet" in panel.static_text("no widgets")


def test_constraints_come_before_prices() -> None:
    panel = cost_panel()
    free = panel.at(ordinary_price=0.01, fast_price=0.01, device_price=0.1)
    refused = free.result.refused
    assert set(refused) == {
        text("planning.case_archive"),
        text("planning.case_full"),
        text("planning.case_hourly"),
    }
    assert free.result.cheapest not in refused


def test_waiting_devices_make_cheap_storage_dear() -> None:
    panel = cost_panel()
    best = {}
    for preset in panel.presets:
        panel.choose(preset)
        best[preset] = panel.value.cheapest
    assert best[text("planning.preset_dear_device")] == text("planning.case_cached")
    assert best[text("planning.preset_cheap_device")] == text("planning.case_ordinary")
    assert best[text("planning.preset_cheap_fast")] == text("planning.case_fast")


def test_the_rule_that_binds_depends_on_memory_and_workload() -> None:
    panel = benchmark_panel()
    assert panel.value.binding == "500 steps" and "95.57 GiB" in value(panel, "planning.binding")
    assert panel.at(host_memory_bytes="4 GiB").result.smallest_samples == 3500
    other = panel.at(workload="cosmoflow", accelerators=8, host_memory_bytes="256 GiB")
    assert other.result.binding == "5 x memory" and other.result.smallest_samples == 485_910


def test_a_pinned_plan_is_compared_by_its_key_figures() -> None:
    panel = bandwidth_panel()
    panel.pin()
    panel.controls["consumers"].value = 8
    assert "+204.8 MB/s (2 times)" in panel.static_text("no widgets")


def test_the_matching_measurement_stands_beside_the_estimate(tmp_path) -> None:
    assert text("planning.measure_opens") not in metadata_panel().static_text("no widgets")
    (tmp_path / "own work").write_text("kept", encoding="utf-8")
    panel = metadata_panel(place=tmp_path)
    panel.controls["seconds_per_operation"].value = "5 ms"
    view = panel.act(text("planning.measure_opens"))
    estimated, measured = view.rows
    assert estimated[1] == "1.5 s" and "at the 5 ms" in view.title
    assert measured[2] <= 300e3 / view.result["open"].median <= measured[3]
    assert [path.name for path in tmp_path.iterdir()] == ["own work"]

    each = 1 / view.result["open"].median
    own = metadata_view(metadata_plan(files=1_000_000, seconds_per_operation=each), view.result)
    assert text("planning.from_measured") in [row[2] for row in own.rows]
    assert "nothing is measured" not in own.text() and "measured on this machine" in own.source_note
