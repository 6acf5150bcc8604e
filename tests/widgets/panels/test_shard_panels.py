"""Lesson 06's views: figures from the set itself, damage named, no winner inside the noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.shards import (
    Coverage,
    OrderRecipe,
    ShardSet,
    measure_mixing,
    pack,
    repair_shards,
    verify_shards,
)
from course_lib.shards.staged import (
    BitFlips,
    ScanAgainstIndex,
    class_sorted_set,
    damaged_copies,
    read_tolerantly,
    strict_errors,
)
from course_lib.widgets.panels.shard_damage import (
    coverage_view,
    flips_view,
    mixing_panel,
    mixing_view,
    repairs_view,
    strict_view,
)
from course_lib.widgets.panels.shards import (
    case_panel,
    index_view,
    overhead_view,
    scale_view,
    shard_set_view,
    verified_view,
)
from tests.shards.shard_sets import made_source

ORIGIN = Origin("generated", "animals", "", 120, "ab" * 32, seed=5)


@pytest.fixture
def shards(tmp_path: Path) -> Iterator[ShardSet]:
    pack(made_source(120), tmp_path / "set", target_samples=12)
    with ShardSet.open(tmp_path / "set") as opened:
        yield opened


def test_the_case_is_157_shards_and_says_what_is_set() -> None:
    panel = case_panel()
    assert len(panel.controls) <= 3
    assert "157 shards" in panel.view.title and "165" in panel.view.title
    assert panel.view.rows[0][1] == "1,000,000" and panel.view.rows[1][1] == "165"
    assert panel.view.rows[0][-2:] == ("16.67 min", "33.33 min")
    assert "set" in panel.view.source_note and "not measured" in panel.view.source_note
    assert panel.at(megabytes=512).result.shards_by_payload == 79
    with pytest.raises(CourseError):
        panel.at(samples=10)


def test_small_records_cost_most() -> None:
    view = overhead_view()
    assert view.rows[1][:3] == ("1 KB", "2,560 B", "156.0%")
    assert view.rows[3][:3] == ("40 KB", "41,984 B", "5.0%")
    assert "4.1 times" in view.title and view.title in view.figure_svg


def test_the_scale_is_stated_with_what_was_measured() -> None:
    found = ScanAgainstIndex(2_000, 1_000_000, (0.2, 0.1, 0.4), (0.05, 0.04, 0.06), 60_000_000)
    view = scale_view(found)
    assert view.rows[0] == (
        "List the folder and look up each file", "2,000", "200 ms", "100 ms to 400 ms", "1.667 min",
    )  # fmt: skip
    assert "reduced scale: 2,000 files stand for the million" in view.source_note


def test_manifest_and_index_are_shown_as_they_are(shards: ShardSet) -> None:
    view = shard_set_view(shards, ORIGIN)
    assert len(view.rows) == 9 and view.rows[0][:2] == ("train-000000.tar", "12")
    assert view.rows[-1][:2] == ("2 more shards", "24")
    assert "120 samples of split train in 10 shards" in view.title
    first = index_view(shards, ORIGIN).rows[0]
    row = shards.index[0]
    assert first[0] == row["id"].decode() and first[3:5] == ("0", "512")
    assert first[5] == f"{row['length']:,} B"


def test_findings_are_counted_and_the_first_is_told(shards: ShardSet, tmp_path: Path) -> None:
    (tmp_path / "set" / "train-000003.tar").unlink()
    view = verified_view({"mine": verify_shards(tmp_path / "set")}, ORIGIN)
    assert view.title == "Sets with findings: 1 of 1"
    assert view.rows[0][3] == "1" and "train-000003.tar is missing" in view.rows[0][4]


def test_damage_is_named_counted_and_repaired(shards: ShardSet, tmp_path: Path) -> None:
    copies = damaged_copies(tmp_path / "set", tmp_path / "copies")
    folders = {"whole": tmp_path / "set", **copies}
    strict = strict_view(strict_errors(folders), folders, ORIGIN)
    assert "stopped at 3 of 4" in strict.title
    assert strict.rows[0][1] == "read through without a word"
    assert all("train-00000" in row[1] and str(tmp_path) not in row[1] for row in strict.rows[1:])
    coverage = coverage_view(read_tolerantly(copies), ORIGIN)
    assert "90.00%" in coverage.title and "shard deleted" in coverage.title
    assert coverage.rows[-1][1:5] == ("120", "108", "12", "90.00%")
    assert coverage.rows[0][4] == "99.17%"
    repairs = {damage: repair_shards(folder, made_source(120)) for damage, folder in copies.items()}
    view = repairs_view(repairs, ORIGIN)
    assert view.title.endswith("3 of 3") and view.rows[-1][1:] == ("train-000001.tar", 1, 0)


def test_both_pictures_stand_side_by_side_with_words() -> None:
    before = np.zeros((4, 4, 3), dtype=np.uint8)
    flips = BitFlips(200, 40, 60, 100, before, before + 9, (17, 3), 900)
    view = flips_view(flips, "cat-1", ORIGIN)
    assert view.title == "100 of 200 flipped bits gave other pixels without any error"
    assert view.figure_svg.count("<image") == 2
    assert 'aria-label="cat-1 beside the same image with bit 3 of byte 17 changed"' in view.figure_svg
    assert [row[1] for row in view.rows] == ["100", "60", "40"]
    refused = BitFlips(200, 200, 0, 0, before, before, (0, 0), 900)
    assert flips_view(refused, "cat-1", ORIGIN).figure_svg == ""


def test_an_order_that_mixes_worse_is_named(shards: ShardSet, tmp_path: Path) -> None:
    class_sorted_set(made_source(120), tmp_path / "sorted", per_shard=12)
    with ShardSet.open(tmp_path / "sorted") as by_class:
        panel = mixing_panel({"seeded": shards, "by class": by_class}, ORIGIN)
        assert "worse" in panel.view.title and panel.view.rows[0][-1] == "worse"
        assert len(panel.controls) == 3
        assert panel.view.rows[2][-1] == "like a permutation"
        good = mixing_view({"full": measure_mixing(shards, OrderRecipe("full"), 24)}, ORIGIN)
        assert good.title.startswith("No order here")


def test_a_single_lost_sample_is_never_rounded_away() -> None:
    coverage = Coverage(("cat", "dog"), (22_500, 22_500), (22_500, 22_499), (0, 1))
    view = coverage_view({"one bit flipped": coverage}, ORIGIN)
    assert view.rows[0][-2:] == ("99.9978%", "dog: 1 of 22,500")
    whole = Coverage(("cat", "dog"), (5, 5), (5, 5), (0, 0))
    assert coverage_view({"none": whole}, ORIGIN).rows[0][-2] == "100.00%"
