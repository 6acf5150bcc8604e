"""Recipes: exact ratios in every order, and text that says all of it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.splits import KINDS, Recipe, parse_recipe


@pytest.mark.parametrize("ratios", list(itertools.permutations([0.1, 0.2, 0.7])))
def test_ratios_sum_to_one_in_every_order(ratios: tuple[float, ...]) -> None:
    recipe = Recipe.of("stratified", ratios)
    assert sum(recipe.ratios) == 1
    assert recipe.ratios == tuple(Fraction(str(ratio)) for ratio in ratios)


@pytest.mark.parametrize(
    ("ratios", "sentence"),
    [
        ([0.1, 0.2, 0.6], "must sum to one"),
        ([0.5, 0.6], "must sum to one"),
        ([1 / 3, 1 / 3, 1 / 3], "must sum to one"),
        ([0.0, 1.0], "must be positive"),
        ([-0.5, 1.5], "must be positive"),
        ([float("nan"), 1.0], "must be a number"),
        ([float("inf"), 1.0], "must be a number"),
        ([True, 0.0], "must be a number"),
        ([None, 1.0], "must be a number"),
        (["half", 0.5], "must be a number"),
        ([1.0], "cannot have 1 ratios"),
        ([0.001] * 1000, "cannot have 1,000 ratios"),
        ([70, 30], "at most one"),
        (["1e400", "0.9"], "at most one"),
        ([10**400, 1], "at most one"),
        ([10**5000, 1], "must be a number"),
        (["9" * 5000, "1"], "must be a number"),
        (["1e999999999", "0.5"], "must be a number"),
        (["1E+999_999_999", "0.5"], "must be a number"),
        (["1e-999999999", "0.5"], "must be a number"),
        ([Fraction(10**5000, 3), 1], "at most one"),
        ([Fraction(-(10**5000), 3), 1], "must be positive"),
        ([Fraction(1, 10**5000), 1], "too many digits"),
        (["1e-400", 1], "too many digits"),
        (None, "ratios of a split are not in one list"),
        (1, "ratios of a split are not in one list"),
        ("55", "ratios of a split are not in one list"),
        ({0.5, 0.25}, "ratios of a split are not in one list"),
        (iter([0.5, 0.5]), "ratios of a split are not in one list"),
        ([], "must sum to one"),
    ],
)
def test_other_ratios_are_refused(ratios: list[Any], sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence):
        Recipe.of("stratified", ratios)


def test_numpy_numbers_are_the_decimals_they_show() -> None:
    assert Recipe.of("random", np.array([0.1, 0.9])).ratios == (Fraction(1, 10), Fraction(9, 10))
    assert Recipe.of("random", np.array([0.1, 0.9], dtype=np.float32)).ratios[0] == Fraction(1, 10)


@pytest.mark.parametrize(
    "text",
    [
        "ordered-70-15-15", "stratified-90-10", "grouped-70-15-15", "grouped-stratified-70-15-15",
        "official-90-10", "official-45000-5000", "random-50-50", "stratified-12.5-87.5",
        "stratified-1of3-2of3", "stratified-70-30-seed7",
    ],
)  # fmt: skip
def test_canonical_text_reads_back(text: str) -> None:
    assert str(parse_recipe(text)) == text
    assert parse_recipe(str(parse_recipe(text))) == parse_recipe(text)


@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(1, 1000), min_size=2, max_size=6),
    st.integers(0, 2**63 - 1),
)
def test_every_recipe_reads_back(kind: str, parts: list[int], seed: int) -> None:
    recipe = Recipe.of(kind, [Fraction(part, sum(parts)) for part in parts], seed=seed)
    assert parse_recipe(str(recipe), names=recipe.names) == recipe


def test_usual_names_go_with_the_number_of_splits() -> None:
    assert parse_recipe("stratified-80-20").names == ("train", "test")
    assert parse_recipe("stratified-70-15-15").names == ("train", "validation", "test")
    assert parse_recipe("official-90-10").names == ("train", "validation", "test")
    assert parse_recipe("random-25-25-25-25").names == ("fold-1", "fold-2", "fold-3", "fold-4")


def test_two_spellings_are_one_recipe() -> None:
    assert str(parse_recipe("stratified-70.0-30.00-seed2026")) == "stratified-70-30"
    assert parse_recipe("ordered-70-30", seed=5) == parse_recipe("ordered-70-30")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("stratified", "is not a recipe"),
        ("stratified-70-thirty", "is not a recipe"),
        ("Stratified-70-30", "is not a recipe"),
        ("../stratified-70-30", "is not a recipe"),
        ("sorted-70-30", "no split of the kind 'sorted'"),
        ("stratified-70-20", "do not sum to 100"),
        ("stratified-70-40", "do not sum to 100"),
        ("official-60-30", "do not sum to 100"),
        ("stratified-100-0", "must be positive"),
        ("official-45000-0", "must be positive"),
        ("stratified-1of0-2of3", "no number"),
        ("stratified-70-30-seed99999999999999999999", "whole number"),
        ("stratified-" + "9" * 400, "too many digits"),
        ("stratified-" + "9" * 5000 + "-1", "too many digits"),
        ("official-" + "9" * 5000 + "-1", "too many digits"),
        ("stratified-0." + "3" * 5000 + "-1", "too many digits"),
        ("random-1of" + "9" * 5000 + "-1of2", "too many digits"),
        ("random-1of" + "9" * 55 + "-1of2", "too many digits"),
        ("random-50-50-seed" + "9" * 5000, "is not a recipe"),
        ("random" + "-1" * 10_000, "is not a recipe"),
        pytest.param(10**5000, "is not a recipe", id="a huge number"),
        (None, "is not a recipe"),
    ],
)
def test_other_text_is_refused_in_a_sentence_that_can_be_read(text: Any, sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence) as caught:
        parse_recipe(text)
    assert len(str(caught.value)) < 400


def test_fine_shares_read_back() -> None:
    fine = Fraction(10**49 + 1, 10**50)
    recipe = Recipe.of("random", [fine, 1 - fine])
    assert parse_recipe(str(recipe)) == recipe
    hundred = Recipe.of("random", [Fraction(1, 99 * (10**9 + 7))] * 99 + [1 - Fraction(1, 10**9 + 7)])
    assert parse_recipe(str(hundred)) == hundred
    assert parse_recipe("random-99.9999999999999999999999-0.0000000000000000000001").ratios[1] == Fraction(
        1, 10**24
    )


def test_contradicting_seeds_are_refused() -> None:
    assert parse_recipe("random-50-50-seed7", seed=7).seed == 7
    with pytest.raises(CourseError, match="contradict each other"):
        parse_recipe("random-50-50-seed7", seed=8)
    with pytest.raises(CourseError, match="contradict each other"):
        parse_recipe("random-50-50-seed7", seed=10**5000)
    for seed in (-1, 10**5000, True, "7", 7.0):
        with pytest.raises(CourseError, match="whole number"):
            parse_recipe("random-50-50", seed=seed)


@pytest.mark.parametrize(
    "kind", [None, pytest.param(10**5000, id="huge"), ["random"], np.array(["random", "grouped"])]
)
def test_a_kind_that_is_no_text_is_refused(kind: Any) -> None:
    with pytest.raises(CourseError, match="no split of the kind"):
        Recipe.of(kind, [0.5, 0.5])


@pytest.mark.parametrize(
    "names",
    [
        ["train"], ["train", "train"], ["train", "te,st"], ["Train", "test"], 5, "ab", {"train", "test"},
        [["a"], "b"], [10**5000, "b"], iter(["train", "test"]),
    ],
)  # fmt: skip
def test_names_that_do_not_fit_are_refused(names: Any) -> None:
    with pytest.raises(CourseError, match="name"):
        parse_recipe("stratified-70-30", names=names)
