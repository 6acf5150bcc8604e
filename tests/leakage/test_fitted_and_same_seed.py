"""What a seed fixes, what statistics have seen, and what a split lets a model get away with."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from course_lib.datasets import load_cifar10
from course_lib.datasets.generated_clients import FEATURES, client_samples, load_client_calls
from course_lib.errors import CourseError
from course_lib.leakage.fitted import compare_fitted, fitted_means, read_means, write_means
from course_lib.leakage.judged_split import judge_split
from course_lib.leakage.one_class import images_of_class
from course_lib.leakage.same_seed import (
    LIBRARIES,
    drawn_again,
    drawn_positions,
    input_order,
    shared_between_libraries,
)
from course_lib.splits import make_split, parse_recipe

LABELS = np.repeat(np.array([0, 1], dtype=np.int32), [900, 100])


@pytest.fixture(scope="module")
def calls():
    frame, origin = load_client_calls(2000)
    return frame, client_samples(frame, origin)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_draws_the_same_positions_again(library: str) -> None:
    drawn = drawn_positions(LABELS, library, seed=1)
    assert len(set(drawn.tolist())) == 100
    assert drawn.tolist() == drawn_positions(LABELS, library, seed=1).tolist()
    assert set(drawn.tolist()) != set(drawn_positions(LABELS, library, seed=2).tolist())


def test_only_scikit_learn_keeps_the_classes_shares() -> None:
    assert LABELS[drawn_positions(LABELS, "scikit-learn", seed=1)].sum() == 10


def test_libraries_share_what_chance_shares() -> None:
    assert shared_between_libraries(LABELS, seed=1) < 0.3


def test_every_order_is_a_permutation() -> None:
    for order in ("same", "reversed", "shuffled", "by class"):
        assert sorted(input_order(LABELS, order).tolist()) == list(range(1000))


@pytest.mark.parametrize(
    "call", [lambda: input_order(LABELS, "up"), lambda: drawn_positions(LABELS, "R", seed=1)]
)
def test_unknown_names_are_refused(call) -> None:
    with pytest.raises(CourseError, match="Unknown"):
        call()


def test_shares_are_counted_against_the_ways_own_first_draw(calls) -> None:
    found = drawn_again(calls[1], seed=4, libraries=["numpy"], orders=["reversed"], share=0.2)
    assert [one.way for one in found] == ["numpy permutation", "recipe stratified-80-20-seed4"]
    assert found[0].drawn == 400 and 0.1 < found[0].share < 0.3 and found[1].share == 1


def test_means_come_from_the_rows_named_and_survive_the_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 3.0, 100.0], "word": ["x", "y", "z"]})
    means = fitted_means(frame, np.array([0, 1]))
    assert means == {"a": 2.0}
    assert read_means(write_means(means, tmp_path / "scaler.json")) == means


@pytest.mark.parametrize("content", ["", "[]", '{"means": 3}', '{"means": {"a": "high"}}'])
def test_a_file_that_holds_no_means_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "scaler.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CourseError, match=r"scaler\.json is no file of means"):
        read_means(path)


def test_a_profile_of_one_row_hands_its_label_over() -> None:
    frame = pd.DataFrame({"who": list("abcdef"), "y": ["yes", "no", "no", "yes", "no", "yes"]})
    honest, leaking = compare_fitted(frame, "y", ["who"], np.array([0, 1, 2]), np.array([3, 4, 5]))
    assert (honest.auc, leaking.auc) == (0.5, 1.0)
    assert (honest.profiles, leaking.profiles, leaking.test_rows) == (3, 6, 3)


def test_a_grouped_split_has_no_acquaintances_and_a_lower_figure(calls) -> None:
    frame, samples = calls
    random, grouped = (
        judge_split(frame, make_split(samples, parse_recipe(f"{kind}-70-15-15")), FEATURES)
        for kind in ("random", "grouped")
    )
    assert grouped.acquainted == 0 and random.acquainted > 0.8 * random.test_rows
    assert random.auc - grouped.auc > 0.08
    low, high = grouped.interval
    assert low < grouped.auc < high


def test_without_groups_and_times_nobody_is_acquainted(calls) -> None:
    frame, samples = calls
    split = make_split(replace(samples, groups=None, times=None), parse_recipe("random-70-15-15"))
    found = judge_split(frame, split, FEATURES)
    assert (found.acquainted, found.overtaken) == (0, 0)


def test_images_of_one_class_come_from_both_parts() -> None:
    train, test = load_cifar10("train", sample_count=40), load_cifar10("test", sample_count=20)
    parts, pixels = images_of_class(train, test, "cat")
    assert pixels.shape == (6, 32, 32, 3) and parts.codes.tolist() == [0, 0, 0, 0, 1, 1]
    assert all("cat" in sample_id for sample_id in parts.ids)
    with pytest.raises(CourseError, match="no such class"):
        images_of_class(train, test, "cow")
