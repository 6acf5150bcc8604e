"""Lesson 01's panels: figure, table and sentence say what the pure functions found."""

from __future__ import annotations

import pytest

from course_lib.datasets import load_bank_marketing
from course_lib.leakage import audit, audited_field_sets, compare_auc, yes_share_around_cut
from course_lib.widgets.panels.prediction_time import auc_panel, auc_view, drift_panel, moment_panel


@pytest.fixture(scope="module")
def table():
    return load_bank_marketing(source="generated", row_count=3000)


def test_the_audit_follows_the_decision_moment(table):
    panel = moment_panel(table.manifest)
    verdicts = {row[0]: row[1] for row in panel.view.rows}
    assert verdicts["duration"] == "not usable" and verdicts["campaign"] == "doubtful"
    later = panel.at(at="after_call")
    assert {row[0]: row[1] for row in later.rows}["duration"] == "usable"
    assert "nothing left to predict" in later.summary
    earlier = panel.at(at="before_campaign")
    assert {row[0]: row[1] for row in earlier.rows}["day_of_week"] == "not usable"


def test_the_slider_moves_the_cut_and_the_two_shares(table):
    panel = drift_panel(table)
    assert panel.value == yes_share_around_cut(tuple(table.frame["y"]), 0.80)
    panel.controls["cut_percent"].value = 60
    before, after = yes_share_around_cut(tuple(table.frame["y"]), 0.60)
    assert panel.value == (before, after)
    assert panel.view.rows == (("before", 1800, f"{before:.1%}"), ("after", 1200, f"{after:.1%}"))
    assert f"{after:.1%}" in panel.view.title and "cut at 60%" in panel.view.figure_svg


def test_the_finding_is_made_of_the_comparisons_own_figures(table):
    sets = audited_field_sets(audit(table.manifest, "before_call"))
    comparison = compare_auc(table.frame, "y", sets)
    view = auc_view(comparison, table.origin)
    assert [row[:3] for row in view.rows] == [
        (name, split, f"{figure.auc:.3f}")
        for figure, (name, split) in zip(
            comparison.figures,
            [
                (name, split)
                for split in ("random split (stratified)", "ordered split (later rows for the test)")
                for name in sets
            ],
            strict=True,
        )
    ]
    both = comparison.figure("all fields", "random").auc - comparison.figure("known in time", "ordered").auc
    assert f"by {both:.3f} with both" in view.title
    assert "generated" in view.html() and "generated" in view.text()


def test_the_auc_panel_measures_what_is_chosen_and_shows_the_careless_figure_beside_it(table):
    panel = auc_panel(table)
    view = panel.at(at="after_call", split="random", model="boosted_trees")
    chosen, careless = view.rows
    assert chosen[1] == careless[1], "all fields at random are the careless figure itself"
    ordered = panel.at(at="before_call", split="ordered", model="boosted_trees")
    assert ordered.rows[1] == careless
    assert float(ordered.rows[0][1]) < float(careless[1])
    assert ordered.result.split == "ordered" and ordered.result.model == "boosted_trees"
