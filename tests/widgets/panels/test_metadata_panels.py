"""Lesson 04's views: conditions beside every rate, and no winner inside the noise."""

from __future__ import annotations

import pytest

from course_lib.errors import CourseError
from course_lib.stores import (
    BlockReads,
    CacheState,
    MetadataResult,
    OpenCase,
    OperationRates,
    StartUpComparison,
    StartUpCurve,
    TimedOpens,
)
from course_lib.stores.metadata_result import OPERATIONS
from course_lib.widgets.panels.metadata import (
    WITHIN_NOISE,
    block_reads_view,
    layouts_view,
    phases_view,
    rates_view,
    same_bytes_view,
    slowest_operation,
)
from course_lib.widgets.panels.slow_opens import (
    changes_view,
    file_sizes_view,
    grown_view,
    means_view,
    set_opens_panel,
    set_opens_view,
    start_up_view,
)

COLD = CacheState("cold", 0.0, 100, 409_600)
WARM = CacheState("warm", 1.0, 100, 409_600)
SLOW_REMOVES = {
    "create": (5_000.0, 6_000.0, 5_500.0),
    "scan": (1_000_000.0, 2_000_000.0, 1_500_000.0),
    "stat": (100_000.0, 90_000.0, 110_000.0),
    "open": (80_000.0, 85_000.0, 90_000.0),
    "read": (10_000.0, 9_000.0, 8_000.0),
    "remove": (400.0, 500.0, 450.0),
}


def result(rates=SLOW_REMOVES, *, files=100, bytes_per_file=4_096, directories=1, cache=COLD):
    operations = tuple(
        OperationRates(name, (files,) * 3, tuple(files / rate for rate in rates[name])) for name in OPERATIONS
    )
    return MetadataResult(files, bytes_per_file, directories, 1, 2026, operations, (cache,) * 3, "ext4")


def timed(sizes, seconds, **set_times) -> TimedOpens:
    return TimedOpens(OpenCase(tuple(sizes), **set_times), tuple(seconds), WARM)


def test_rates_stand_with_median_range_time_and_conditions():
    view = rates_view(result())
    assert view.rows[-1] == ("remove", "450", "400 to 500", "2.222 ms")
    assert [row[0] for row in view.rows] == list(OPERATIONS)
    assert "remove takes longest" in view.title
    for words in ("100 files of 4.096 KB", "3 repeats", "cache before the reads: cold", "ext4"):
        assert words in view.source_note and words in view.figure_svg


def test_an_overlap_names_no_slowest_operation():
    assert slowest_operation(result()) == "remove"
    overlapping = result({**SLOW_REMOVES, "create": (480.0, 5_000.0, 6_000.0)})
    assert slowest_operation(overlapping) == WITHIN_NOISE
    assert "remove and create overlap" in rates_view(overlapping).title


def test_an_unknown_cache_state_is_said():
    unknown = CacheState("unknown", None, 0, 0, "this system does not tell")
    assert "cache before the reads: unknown" in rates_view(result(cache=unknown)).text()


def test_layouts_have_a_verdict_for_each_operation():
    many = result({**SLOW_REMOVES, "remove": (900.0, 950.0, 990.0)}, directories=20)
    view = layouts_view({"one": result(), "twenty": many})
    verdicts = {row[0]: row[-1] for row in view.rows}
    assert verdicts.pop("remove") == "twenty: faster"
    assert set(verdicts.values()) == {"within the noise"}
    assert view.title.endswith("remove") and "1 / 20 directories" in view.source_note
    assert "no operation differs" in layouts_view({"one": result(), "same": result()}).title


def test_equal_bytes_stand_in_files_and_in_bytes_per_second():
    few = result({**SLOW_REMOVES, "read": (1_000.0, 1_100.0, 1_050.0)}, files=2, bytes_per_file=204_800)
    view = same_bytes_view({"100 small": result(), "2 large": few})
    assert view.rows[0][1:4] == ("100", "409.6 KB", "9,000 (8,000 to 10,000)")
    assert view.rows[1][3:5] == ("1,050 (1,000 to 1,100)", "215 MB/s")
    assert view.title.startswith("2 large is ahead")
    alike = same_bytes_view({"100 small": result(), "again": result()})
    assert alike.title.startswith("No winner")


def test_block_reads_stand_beside_the_operations():
    blocks = BlockReads(1_000, 4_096, (0.1, 0.1, 0.1), (COLD, COLD, WARM))
    view = block_reads_view(result(), blocks)
    assert view.rows[0][:3] == ("read a 4.096 KB block at random", "10,000", "10,000 to 10,000")
    assert view.rows[-1][-1] == "0.045" and "0.045 (remove) to 150 (scan)" in view.title
    assert "cache before the block reads: cold, warm" in view.source_note


def test_phases_are_computed_from_the_medians_and_say_so():
    view = phases_view(result(), files=900_000)
    assert view.result["pass"] == pytest.approx(900_000 / 9_000)
    assert view.result["update"] == pytest.approx(90_000 / 450 + 90_000 / 5_500)
    assert "computed for 900,000 files" in view.source_note and "assumption" in view.source_note
    assert "Update" in view.title


def test_set_opens_give_files_and_bytes():
    view = set_opens_view(timed([80_000] * 100, [0.2, 0.2, 0.25]))
    assert view.title == "500 files a second, which is 40 MB/s at 80 KB a file"
    assert view.rows[0][1:] == ("500 /s", "400 /s to 500 /s") and view.rows[2][1] == "2 ms"
    assert "set time of 2 ms" in view.source_note and "cache: warm" in view.source_note


def test_the_panel_really_reads_and_waits_for_run():
    panel = set_opens_panel()
    assert panel.manual and list(panel.controls) == ["files", "kilobytes", "milliseconds"]
    found = panel.at(files=10, kilobytes=3, milliseconds=5.0).result
    assert found.case.sizes == (3_000,) * 10
    assert all(seconds >= 0.045 for seconds in found.seconds)
    with pytest.raises(CourseError, match="at most"):
        panel.at(files=500, kilobytes=1000)


def test_file_sizes_show_the_share_of_the_link_and_of_the_opens():
    link = {"bytes_per_second": 3e9}
    view = file_sizes_view(
        {
            "1 KB": timed([1_000] * 100, [0.2] * 3, **link),
            "6 MB": timed([6_000_000] * 10, [0.04] * 3, **link),
        }
    )
    assert view.rows[0] == ("1 KB", "500 (500 to 500)", "500 KB/s", "0.02%", "100%")
    assert view.rows[1][3:] == ("50.00%", "50%")
    assert "between 500 KB/s and 1.5 GB/s" in view.title and "link 3 GB/s" in view.source_note


def test_only_changes_outside_the_noise_are_named():
    found = {
        "as it was": timed([80_000] * 100, [0.2, 0.21, 0.22]),
        "faster link": timed([80_000] * 100, [0.19, 0.2, 0.21]),
        "shorter opens": timed([80_000] * 100, [0.05, 0.05, 0.06]),
    }
    view = changes_view(found)
    assert [row[-1] for row in view.rows] == ["", "within the noise", "4.20 times"]
    assert "shorter opens (4.20 times)" in view.title and "faster link" not in view.title
    found.pop("shorter opens")
    assert changes_view(found).title.startswith("None of these changes")


def test_growth_is_shown_in_bytes_files_and_time():
    before = timed([80_000] * 100, [0.2] * 3)
    after = timed([80_000] * 100 + [16_000] * 100, [0.4] * 3)
    view = grown_view({"before": before, "after": after})
    assert view.title == "20% more bytes in 2.0 times as many files: the epoch takes 2.00 times as long"
    assert view.rows[1][1:4] == ("9.6 MB", "200", "400 ms") and view.result == pytest.approx(2)


def _run(first_by_case):
    curves = tuple(
        StartUpCurve(
            case,
            (0.0, *(first + step * place for place in range(100))),
            tuple(range(101)),
            {"open": 100, "stat": 100, "list": 4},
        )
        for case, (first, step) in first_by_case.items()
    )
    return StartUpComparison(curves, {"open": 0.002, "stat": 0.002, "list": 0.01}, 100, 4, 2026)


def test_start_and_steady_rate_stand_apart_from_the_mean():
    runs = [_run({"scan at the start": (0.2, 0.002), "look up per sample": (0.004, 0.004)})] * 3
    view = start_up_view(runs)
    scan, look_up = view.rows
    assert scan[1].startswith("200 ms") and scan[2].startswith("500 ") and scan[3].startswith("251 ")
    assert look_up[1].startswith("4 ms") and look_up[2].startswith("250 ") and look_up[3].startswith("250 ")
    assert "latest with “scan at the start”" in view.title
    assert "lowest with “look up per sample”" in view.title
    assert "set times: open 2 ms, stat 2 ms, list 10 ms" in view.source_note
    assert view.figure_svg.count("<polyline") == 2


def test_ways_that_overlap_are_not_named():
    runs = [
        _run({"scan at the start": (first, 0.002), "look up per sample": (0.2, 0.002)})
        for first in (0.1, 0.3)
    ]
    assert "latest with “no single one”" in start_up_view(runs).title


def test_the_mean_depends_on_how_many_samples_are_counted():
    runs = [_run({"scan at the start": (0.2, 0.002), "look up per sample": (0.004, 0.004)})]
    view = means_view(runs, counts=(10, 100))
    assert view.columns[1:] == ("over the first 10 samples", "over the first 100 samples")
    assert view.rows == (("scan at the start", "46", "251"), ("look up per sample", "250", "250"))
    assert "“scan at the start” changes most" in view.title
