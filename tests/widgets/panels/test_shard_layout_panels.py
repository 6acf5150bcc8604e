"""Lesson 06's views of files against shards: no winner inside the noise, equality seed by seed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from course_lib.experiments.layout_equality import LayoutEquality, LayoutFacts, TrainedModel
from course_lib.experiments.layout_timing import LayoutSetting, LayoutTiming
from course_lib.widgets.panels.shard_layouts import (
    break_even_view,
    curves_view,
    epoch_ratio,
    epochs_view,
    held_view,
    recall_view,
    shares_view,
    trained_view,
)
from tests.experiments.test_layout_timing import comparison_of

RAW, DECODE = LayoutSetting("bytes", 0.0, 0), LayoutSetting("decode", 0.0, 0)
SLOW_RAW, SLOW_DECODE = LayoutSetting("bytes", 1.0, 0), LayoutSetting("decode", 1.0, 0)
SET = {"samples": 164, "shards": 1, "shard_bytes": 1, "payload_bytes": 1, "target_bytes": 16_000_000}


@pytest.fixture
def timing() -> LayoutTiming:
    comparisons = (
        comparison_of(RAW, [1.2, 1.3, 1.1], [1.0, 1.05, 1.02]),
        comparison_of(DECODE, [5.0, 6.0, 5.5], [4.8, 5.2, 5.1]),
        comparison_of(SLOW_RAW, [9.0, 9.2, 9.1], [1.0, 1.1, 1.2]),
        comparison_of(SLOW_DECODE, [13.0, 13.2, 13.1], [5.0, 5.2, 5.1]),
    )
    return LayoutTiming(comparisons, {0.0: (1.0, 1.2, 1.1), 1.0: (16.0, 15.0, 17.0)}, SET, ())


def test_a_setting_inside_the_noise_names_nobody(timing: LayoutTiming) -> None:
    view = epochs_view(timing, "decode")
    assert view.title == (
        "An epoch, with decoding: shards ahead outside the noise in 1 of 2 settings, files in 0, neither in 1"
    )
    assert [row[-1] for row in view.rows] == ["within the noise", "shards"]
    assert view.rows[1][:3] == ("1 ms per open, set", 0, "13.10 s (13.00 s to 13.20 s)")
    for words in ("3 repeats", "164 samples", "target 16 MB", "page cache before: warm"):
        assert words in view.source_note
    assert "encoded bytes: shards ahead outside the noise in 2" in epochs_view(timing, "bytes").title
    assert epoch_ratio(timing, "decode", 1.0, 0) == pytest.approx(13.1 / 5.1)


def test_the_parts_of_an_epoch_stand_with_their_shares(timing: LayoutTiming) -> None:
    view = shares_view(timing)
    assert view.rows[1][2:] == ("13.10 s", "8.00 s (61%)", "4.00 s (31%)", "1.10 s (8%)", "yes")
    assert view.rows[0][-1] == "no"
    assert "decoding (local, workers 0)" in view.title
    assert "what goes with the files (1 ms per open, set, workers 0)" in view.title


def test_packing_pays_only_where_something_is_saved_outside_the_noise(timing: LayoutTiming) -> None:
    view = break_even_view(timing)
    assert [row[-1] for row in view.rows] == ["never: within the noise", "2.0"]
    assert "after 2.0 epochs in 1 of 2 settings" in view.title
    nothing = LayoutTiming(timing.comparisons[:2], timing.packing_seconds, SET, ())
    assert "doesn't pay for itself in any of 1 settings" in break_even_view(nothing).title


FACTS = LayoutFacts("files", "train", 4, "i" * 64, "p" * 64, "l" * 64, {"cat": 2, "dog": 2}, ("cat", "dog"))


def equality(*, shards_score: float = 0.5, **changed: object) -> LayoutEquality:
    facts = tuple(
        replace(FACTS, layout=layout, part=part, **(changed if layout == "shards" else {}))  # type: ignore[arg-type]
        for part in ("train", "test")
        for layout in ("files", "shards")
    )
    models = tuple(
        TrainedModel(layout, seed, (2.0, 2.0 - score), (0.1, score), (score, 0.2), "ids", f"{seed} {score}")
        for seed, from_files in ((11, 0.5), (12, 0.6))
        for layout, score in (("files", from_files), ("shards", shards_score if seed == 11 else from_files))
    )
    conditions = {"seeds": [11, 12], "epochs": 2, "batch_size": 4}
    return LayoutEquality(facts, models, conditions, None, "2026-01-01")


def test_equal_layouts_are_said_to_be_equal_bit_by_bit() -> None:
    same = equality()
    assert held_view(same).title == "Facts that are equal in both layouts: 10 of 10"
    view = trained_view(same)
    assert "0.0000, inside the spread over seeds of 0.1000" in view.title and "bit by bit" in view.summary
    assert view.rows[0] == ("11", "0.5000", "0.5000", "+0.0000", "yes", "yes")
    assert "4 training and 4 test samples" in view.source_note and "seeds 11, 12" in view.source_note
    assert "at most 0.000" in recall_view(same).title and "0.0000 apart" in curves_view(same).title


def test_what_differs_is_seen_in_facts_scores_recall_and_curve() -> None:
    other = equality(shards_score=0.2, labels="x" * 64)
    assert "8 of 10" in held_view(other).title
    view = trained_view(other)
    assert "0.3000, larger than the spread over seeds of 0.1000" in view.title
    assert "are not the same" in view.summary and view.rows[0][3] == "-0.3000"
    assert recall_view(other).title.endswith("at most 0.150")
    assert "at most 0.3000 apart" in curves_view(other).title
