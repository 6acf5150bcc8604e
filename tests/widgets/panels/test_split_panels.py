"""Lesson 03's panels: figure, table and sentence say what the pure functions found."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from course_lib.datasets.generated_clients import FEATURES, client_samples, load_client_calls
from course_lib.datasets.origin import Origin
from course_lib.leakage.detectors import Finding, Parts
from course_lib.leakage.fitted import compare_fitted
from course_lib.leakage.judged_split import judge_split
from course_lib.leakage.same_seed import drawn_again
from course_lib.splits import diff_splits, make_split, parse_recipe, write_split
from course_lib.widgets.panels import splits as panels

_ORIGIN = Origin("generated", "cifar10", "", 3, "ab" * 32, 7)


@pytest.fixture(scope="module")
def calls():
    frame, origin = load_client_calls(1500)
    return SimpleNamespace(frame=frame, origin=origin, samples=client_samples(frame, origin))


def test_a_seed_follows_the_order_and_the_recipe_does_not(calls):
    found = drawn_again(calls.samples, seed=3)
    view = panels.drawn_again_view(found, 3, calls.origin)
    assert "the recipe 100%" in view.title and "generated" in view.html()
    for one, row in zip(found, view.rows, strict=True):
        assert row == (one.way, one.order, f"{one.share:.0%}")
        survives = one.order == "the same order again" or one.way.startswith("recipe")
        assert one.share == 1 if survives else one.share < 0.5


def test_the_seed_panel_takes_seed_share_and_order(calls):
    panel = panels.same_seed_panel(calls.samples, calls.origin)
    again = panel.at(seed=5, share=20, order="same")
    assert all(row[2] == "100%" for row in again.rows) and again.result[0].drawn == 300
    assert "From the same order" in again.title and "From another order" in panel.view.title
    by_class = {row[0]: row[2] for row in panel.at(order="by class").rows}
    assert by_class["scikit-learn, stratified"] == "100%" != by_class["numpy permutation"]


def test_the_parts_show_sizes_and_shares_of_each_class(calls):
    split = make_split(calls.samples, parse_recipe("stratified-70-15-15"))
    view = panels.parts_view(split, calls.origin)
    assert [row[0] for row in view.rows] == ["train", "validation", "test"]
    assert [row[1] for row in view.rows] == ["1,050", "225", "225"]
    assert view.title == "stratified-70-15-15: 1,050 train, 225 validation, 225 test"


def test_the_split_panel_sets_the_random_split_beside_the_chosen_one(calls):
    panel = panels.split_panel(calls.frame, calls.samples, FEATURES, calls.origin)
    view = panel.at(kind="grouped", ratio="60-20-20", seed=4)
    chosen, careless = view.result
    assert chosen.recipe == "grouped-60-20-20-seed4" and careless.recipe == "random-60-20-20-seed4"
    assert chosen.acquainted == 0 and careless.acquainted > 0.8 * careless.test_rows
    assert careless.auc - chosen.auc > 0.1 and f"{careless.auc - chosen.auc:.3f} higher" in view.title
    assert view.rows[0][4] == "0%"


def test_a_split_in_time_has_no_test_call_before_the_newest_training_call(calls):
    ordered = judge_split(calls.frame, make_split(calls.samples, parse_recipe("ordered-70-15-15")), FEATURES)
    view = panels.judged_view({"in time": ordered, "again": ordered}, calls.origin)
    assert ordered.overtaken == 0 < ordered.acquainted
    assert view.rows[0][5] == "0%" and "a difference of 0.000" in view.title


def test_splits_in_pairs_are_compared_pair_by_pair(calls):
    judged = {
        recipe: judge_split(calls.frame, make_split(calls.samples, parse_recipe(recipe)), FEATURES)
        for seed in ("", "-seed1")
        for recipe in (f"random-70-15-15{seed}", f"grouped-70-15-15{seed}")
    }
    names = list(judged)
    view = panels.judged_view(
        judged, calls.origin, pairs={"one": (names[0], names[1]), "two": (names[2], names[3])}
    )
    drops = [judged[names[at]].auc - judged[names[at + 1]].auc for at in (0, 2)]
    assert view.title == f"The AUC falls by {drops[0]:.3f} (one), {drops[1]:.3f} (two)"
    assert all(name in view.source_note for name in names)


def test_shares_fitted_on_all_rows_have_seen_the_test(calls):
    train, test = np.arange(1000), np.arange(1000, 1500)
    found = compare_fitted(calls.frame, "y", ["balance_eur"], train, test)
    view = panels.fitted_view(found, calls.origin)
    assert found[1].auc - found[0].auc > 0.05 and f"{found[1].auc - found[0].auc:.3f}" in view.title
    assert [row[1] for row in view.rows] == [f"{one.auc:.3f}" for one in found]


def test_means_of_other_rows_are_counted(calls):
    view = panels.means_view({"age": 40.0, "day": 9.0}, {"age": 41.0, "day": 9.0}, calls.origin)
    assert view.result == 1 and view.rows[0] == ("age", "40.000", "41.000")


def test_a_moved_sample_is_named(calls, tmp_path):
    recipes = ("stratified-70-30", "stratified-70-30-seed7")
    one, other = (
        write_split(make_split(calls.samples, parse_recipe(recipe)), tmp_path / recipe) for recipe in recipes
    )
    diff = diff_splits(one, other)
    view = panels.diff_view(diff, calls.origin)
    moved = diff.moved["train", "test"]
    assert ("moved from train to test", f"{len(moved):,}") == view.rows[0][:2] and moved[0] in view.rows[0][2]
    assert ("added", "0", "none") in view.rows


def test_repeats_and_findings_stand_under_their_names(calls):
    repeats = Finding(
        "near_duplicate", "found", "Two.", ("a", "b"), {"repeats": 3, "pairs": 1, "identical_pairs": 1}
    )
    view = panels.repeats_view({"all fields": repeats}, calls.origin)
    assert view.rows == (("all fields", "3", "2"),)
    clear = Finding("group_spread", "clear", "None.")
    both = panels.findings_view({"calls": repeats, "clients": clear}, calls.origin)
    assert [row[2] for row in both.rows] == ["found", "clear"] and "Found in 1 of 2 searches" in both.title


def test_similar_images_stand_side_by_side_or_not_at_all():
    parts = Parts(["train-a", "train-b", "test-c"], np.array([0, 0, 1]))
    pixels = np.full((3, 8, 8, 3), 99, dtype=np.uint8)
    found = Finding("near_duplicate", "found", "One pair.", together=(("train-a", "test-c"),))
    view = panels.similar_images_view(found, parts, pixels, _ORIGIN)
    assert view.rows == (("train-a", "test-c"),) and "data:image/png;base64," in view.figure_svg
    none = panels.similar_images_view(Finding("near_duplicate", "clear", "None."), parts, pixels, _ORIGIN)
    assert none.figure_svg == "" and none.rows == () and "0 among 3" in none.title
