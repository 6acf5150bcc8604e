"""Lesson 02's panels: every figure says its representation, and figure and table agree."""

from __future__ import annotations

import numpy as np
import pytest

from course_lib.datasets.origin import Origin
from course_lib.datasets.sizes import Size, TaskSizes, file_layout, image_batch
from course_lib.datasets.text_sizes import TextLengths, padding_cost
from course_lib.widgets.panels.sizes import (
    demand_view,
    encodings_view,
    image_batch_panel,
    layouts_view,
    lengths_view,
    padding_panel,
    padding_view,
    sizes_view,
    tasks_view,
)

ORIGIN = Origin("generated", "cifar10", "", 100, "ab" * 32, 7)
IMAGES = TaskSizes(
    "image",
    ORIGIN,
    (
        Size("files", 90_000, 100, 100, "counted"),
        Size("decoded", 307_200, 100, None, "computed"),
        Size("float32", 1_228_800, 100, None, "computed"),
    ),
)


@pytest.fixture
def lengths():
    tokens = np.random.default_rng(3).integers(1, 200, 500).astype(np.int32)
    return TextLengths(tokens, 20_000, 8_000, ORIGIN)


def test_each_size_stands_with_its_representation_and_how_it_is_known():
    view = sizes_view(IMAGES)
    assert view.rows[0] == ("files as stored", "90 KB", 100, 100, "900 B", "counted")
    assert view.rows[2][0] == "tensors, float32" and view.rows[2][3] == "in no file"
    assert "900 B (files as stored)" in view.title and "12,288 B (tensors, float32)" in view.title
    assert "generated from seed 7" in view.figure_svg and view.origin == ORIGIN


def test_three_quantities_of_each_task_come_from_the_stored_files():
    table = TaskSizes(
        "table", ORIGIN, (Size("download", 1_000, 50, 1, "counted"), Size("files", 7_000, 50, 1, "counted"))
    )
    view = tasks_view([table, IMAGES])
    assert view.rows == (
        ("table", "files as stored", "7 KB", 50, 1, "7 KB"),
        ("image", "files as stored", "90 KB", 100, 100, "900 B"),
    )
    assert view.text().count("generated from seed 7") == 2


def test_one_rate_asks_for_different_bandwidths():
    view = demand_view(128, 4, {"files": 100_000, "smaller files": 50_000, "arrays": 150_528})
    assert [row[1] for row in view.rows] == ["51.2 MB/s", "25.6 MB/s", "77.07 MB/s"]
    assert "512 samples a second are 25.6 MB/s to 77.07 MB/s" in view.title
    assert "assumed sizes" in view.html() and view.origin is None


def test_the_side_moves_the_tensors_and_takes_the_stored_size_away():
    panel = image_batch_panel(IMAGES)
    assert panel.view.rows[0] == ("files as stored", "115.2 KB", "460.8 KB/s")
    panel.controls["side"].value = 64
    stored, decoded, tensors = panel.view.rows
    assert stored == ("files as stored", None, None) and "no value" in panel.view.figure_svg
    assert decoded == ("decoded pixels, uint8", "1.573 MB", "6.291 MB/s")
    assert panel.value == image_batch(128, 64) and tensors[1] == "6.291 MB"
    faster = panel.at(batches_per_second=8)
    assert faster.rows[1][1:] == ("1.573 MB", "12.58 MB/s")


def test_lengths_are_shown_with_the_shares_that_fit(lengths):
    view = lengths_view(lengths)
    longest = int(lengths.tokens.max())
    assert view.rows[-1] == ("100%", longest) and f"the longest {longest}" in view.title
    for percent, length in view.rows:
        assert (lengths.tokens <= length).mean() * 100 >= float(percent.rstrip("%"))
    assert "vocabulary of 8,000 tokens" in view.text()


def test_the_maximum_length_moves_padding_and_losses(lengths):
    panel = padding_panel(lengths)
    fixed = padding_cost(lengths.tokens, max_length=128, batch_size=32)
    assert panel.view.rows[0][2] == f"{fixed.waste_share:.1%}"
    panel.controls["max_length"].value = 32
    short = padding_cost(lengths.tokens, max_length=32, batch_size=32)
    assert panel.view.rows[0][1:] == (
        32,
        f"{short.waste_share:.1%}",
        "16.38 KB",
        f"{short.truncated_share:.1%}",
        f"{short.lost_share:.1%}",
    )
    assert [row[0] for row in panel.view.rows][-1].startswith("to the longest of the batch, similar")
    assert f"{short.waste_share:.1%} of the places" in panel.view.title


def test_padding_by_two_tokenisers_names_both(lengths):
    cost = padding_cost(lengths.tokens, max_length=64, batch_size=8)
    view = padding_view({"one": cost, "two": cost}, ORIGIN, 8_000, 4_000)
    assert "vocabulary 8,000 / 4,000" in view.text() and [row[0] for row in view.rows] == ["one", "two"]


def test_ways_of_storing_one_picture_are_set_beside_each_other():
    view = encodings_view({"JPEG": 600.0, "PNG": 2_400.0}, 3_072, 300, ORIGIN)
    assert view.result == {"JPEG": 5.12, "PNG": 1.28}
    assert view.rows == (("JPEG", "600 B", "5.1 times"), ("PNG", "2,400 B", "1.3 times"))
    assert "1.3 to 5.1 times" in view.title and "300 of the images" in view.figure_svg


def test_one_amount_of_data_in_few_and_in_many_files():
    layouts = [file_layout(10**11, size, seconds_per_open=0.002) for size in (10**9, 10**5)]
    view = layouts_view(layouts, 0.002)
    assert view.rows == (("1 GB", 100, "200 ms"), ("100 KB", 1_000_000, "33.33 min"))
    assert "assumed 2 ms per open" in view.text()
