"""AUC on two splits: statistics come from the training part, and the figures tell the known truth."""

from __future__ import annotations

import itertools

import numpy as np
import pandas
import pytest

from course_lib.datasets import load_bank_marketing
from course_lib.errors import CourseError
from course_lib.leakage import (
    MODELS,
    audit,
    audited_field_sets,
    build_pipeline,
    compare_auc,
    compare_training_times,
    split_positions,
    yes_share_around_cut,
    yes_share_by_block,
)
from course_lib.leakage.comparison import auc_standard_error


@pytest.fixture
def labels():
    return np.tile([0, 0, 0, 0, 1], 40)


@pytest.mark.parametrize("kind", ["random", "ordered"])
@pytest.mark.parametrize("share", [0.1, 0.15, 0.5])
def test_a_split_is_disjoint_complete_and_of_the_asked_size(labels, kind, share):
    train, test = split_positions(labels, kind, test_share=share)
    assert sorted([*train, *test]) == list(range(len(labels)))
    assert abs(len(test) - share * len(labels)) <= 1


def test_the_ordered_split_has_no_future_in_training(labels):
    train, test = split_positions(labels, "ordered")
    assert train.max() < test.min()


def test_the_random_split_keeps_the_share_of_each_class_and_follows_its_seed(labels):
    train, test = split_positions(labels, "random", test_share=0.2, seed=3)
    assert labels[test].mean() == labels[train].mean() == 0.2
    assert list(test) == list(split_positions(labels, "random", test_share=0.2, seed=3)[1])
    assert list(test) != list(split_positions(labels, "random", test_share=0.2, seed=4)[1])


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan")])
def test_a_share_that_leaves_one_side_empty_is_refused(labels, share):
    with pytest.raises(CourseError, match="between 0 and 1"):
        split_positions(labels, "ordered", test_share=share)


def test_a_part_with_one_class_only_is_refused_by_name():
    with pytest.raises(CourseError, match="training part has rows of one class"):
        split_positions(np.array([0] * 90 + [1] * 10), "ordered", test_share=0.1)
    with pytest.raises(CourseError, match="1 positive rows of 100"):
        split_positions(np.array([0] * 99 + [1]), "random")


def test_unknown_names_list_those_there_are(labels):
    with pytest.raises(CourseError, match="random or ordered"):
        split_positions(labels, "by_luck")  # type: ignore[arg-type]
    with pytest.raises(CourseError, match="logistic_regression or boosted_trees"):
        build_pipeline("oracle", pandas.DataFrame({"a": [1]}))


def test_the_scaler_knows_the_training_rows_only():
    features = pandas.DataFrame({"amount": [1.0, 2.0, 3.0, 1000.0], "kind": ["a", "b", "a", "only in test"]})
    fitted = build_pipeline("logistic_regression", features).fit(features.iloc[:3], [0, 1, 0])
    encoder, numbers = (fitted[0].transformers_[i][1] for i in (0, 1))
    assert numbers[-1].mean_ == pytest.approx([2.0])
    assert "only in test" not in encoder.categories_[0]
    assert fitted.predict_proba(features.iloc[3:]).shape == (1, 2)


@pytest.mark.parametrize("model", MODELS)
def test_models_take_missing_values_and_find_a_planted_signal(model):
    rng = np.random.default_rng(0)
    signal = rng.normal(size=400)
    frame = pandas.DataFrame(
        {"signal": signal, "noise": rng.normal(size=400), "kind": rng.choice(["a", "b"], 400)}
    )
    frame["y"] = np.where(signal + 0.3 * rng.normal(size=400) > 0, "yes", "no")
    frame.loc[::10, "noise"] = np.nan
    found = compare_auc(frame, "y", {"signal": ["signal", "noise", "kind"], "noise": ["noise"]}, model=model)
    assert found.figure("signal", "random").auc > 0.9
    low, high = found.figure("noise", "random").interval
    assert low < 0.6 and high > 0.4


def test_the_label_is_never_an_input_and_missing_fields_are_named():
    frame = pandas.DataFrame({"a": range(10), "y": ["yes", "no"] * 5})
    with pytest.raises(CourseError, match="holds the label"):
        compare_auc(frame, "y", {"all": ["a", "y"]})
    with pytest.raises(CourseError, match="no column b, c"):
        compare_auc(frame, "y", {"all": ["a", "b", "c"]})
    with pytest.raises(CourseError, match="at least one field"):
        compare_auc(frame, "y", {"none": []})


def test_the_standard_error_is_that_of_the_source():
    # Hanley and McNeil's formula by hand for AUC 0.9, 10 positives, 20 negatives:
    # Q1 = 0.9/1.1, Q2 = 2*0.81/1.9; (0.09 + 9*(Q1-0.81) + 19*(Q2-0.81)) / 200 = 0.0042825...
    by_hand = (0.09 + 9 * (0.9 / 1.1 - 0.81) + 19 * (1.62 / 1.9 - 0.81)) / 200
    assert auc_standard_error(0.9, 10, 20) == pytest.approx(by_hand**0.5)
    assert auc_standard_error(1.0, 10, 20) == 0


def test_shares_of_yes_by_stretch_and_around_a_cut():
    labels = ["no"] * 8 + ["yes"] * 2
    assert yes_share_by_block(labels, blocks=5) == [0, 0, 0, 0, 1]
    assert yes_share_around_cut(labels, 0.5) == (0, 0.4)
    with pytest.raises(CourseError, match="rows on both sides"):
        yes_share_around_cut(labels, 1.0)
    with pytest.raises(CourseError, match="1 to 10"):
        yes_share_by_block(labels, blocks=11)


def test_the_same_late_rows_are_scored_by_models_of_both_kinds():
    rng = np.random.default_rng(1)
    signal = rng.normal(size=1200)
    late = np.arange(1200) >= 960
    # The sign of the signal turns over in the last fifth: whoever has not seen it ranks the wrong way round.
    yes = np.where(late, -signal, signal) + 0.3 * rng.normal(size=1200) > 0
    frame = pandas.DataFrame({"signal": signal, "late": late.astype(int), "y": np.where(yes, "yes", "no")})
    found = compare_training_times(frame, "y", ["signal", "late"], model="boosted_trees", test_share=0.2)
    mixed, past = found.figures
    assert (mixed.fields, past.fields) == ("past and later rows", "past rows only")
    assert mixed.test_rows == past.test_rows == 240 and mixed.test_yes_share == past.test_yes_share
    assert mixed.auc > 0.9 and past.auc < 0.2
    with pytest.raises(CourseError, match="holds the label"):
        compare_training_times(frame, "y", ["signal", "y"])


def four_figures(table) -> list[float]:
    found = audit(table.manifest, "before_call")
    sets = audited_field_sets(found)
    comparison = compare_auc(table.frame, "y", {name: sets[name] for name in ("all fields", "known in time")})
    return [
        comparison.figure(fields, split).auc
        for split, fields in itertools.product(("random", "ordered"), ("all fields", "known in time"))
    ]


def test_generated_rows_give_the_four_figures_in_the_real_order():
    figures = four_figures(load_bank_marketing(row_count=8000))
    assert figures == sorted(figures, reverse=True)


@pytest.mark.mirror
def test_the_real_rows_give_the_published_figures(mirror):
    table = load_bank_marketing()
    assert table.origin.kind == "mirror"
    assert four_figures(table) == pytest.approx([0.934, 0.782, 0.762, 0.691], abs=0.005)


@pytest.mark.mirror
def test_the_share_of_yes_in_the_real_rows_drifts_as_published(mirror):
    before, after = yes_share_around_cut(load_bank_marketing().frame["y"], 0.8)
    assert (before, after) == pytest.approx((0.064, 0.308), abs=0.0005)


@pytest.mark.parametrize("kind", ["random", "ordered"])
def test_lists_and_series_of_labels_are_split_as_arrays_are(labels, kind):
    wanted = split_positions(labels, kind)
    for other in (labels.tolist(), pandas.Series(labels, index=range(1000, 1000 + len(labels)))):
        for positions, same in zip(wanted, split_positions(other, kind), strict=True):
            assert np.array_equal(positions, same)


@pytest.mark.parametrize(
    "strange", [[0, 1, float("nan")] * 20, ["no", "yes"] * 20, [[0, 1], [1]], [[0, 1]] * 20, None, 3]
)
def test_labels_that_are_none_are_said(strange):
    with pytest.raises(CourseError, match="labels cannot be split: expected 0 or 1 for each row"):
        split_positions(strange, "random")


@pytest.mark.parametrize("share", ["0.2", None, float("nan"), True])
def test_a_share_that_is_no_number_is_said(labels, share):
    with pytest.raises(CourseError, match="test share must leave rows"):
        split_positions(labels, "ordered", test_share=share)


@pytest.mark.parametrize("seed", [-1, 2**32, "1", 1.5, True])
def test_a_seed_outside_its_range_is_said(labels, seed):
    with pytest.raises(CourseError, match="seed is no seed: expected a whole number from 0 to 4,294,967,295"):
        split_positions(labels, "random", seed=seed)
