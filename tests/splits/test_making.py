"""Splits: disjoint, complete, exact, the same everywhere; and told why where a promise cannot be kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_calls import make_calls

from course_lib.errors import CourseError
from course_lib.splits import (
    Recipe,
    SampleTable,
    Split,
    check_split,
    make_split,
    ordering,
    parse_recipe,
    sample_table,
)

ALL_RECIPES = [
    "ordered-70-15-15", "stratified-70-15-15", "grouped-70-15-15", "grouped-stratified-70-15-15",
    "official-75-25", "random-70-15-15",
]  # fmt: skip
ROOT = Path(__file__).resolve().parent.parent.parent

GOLDEN = {
    "ordered-70-15-15": "000000000000000000000000000000000000000000111111112222222222",
    "stratified-70-15-15": "000001000000020100002211010000121022100000000000000002002120",
    "grouped-70-15-15": "000000000000000222111000000222000000000000111000222000111000",
    "grouped-stratified-70-15-15": "000222111111000000000000111000222000000000222000000000000000",
    "official-75-25": "000010110000001010000000000100110000111000100000222222222222",
    "random-70-15-15": "210000020000010000000010001001010000000210202002010002210020",
    "stratified-70-15-15-seed7": "100002002100000210000000010000200100020000202101002001010200",
}


def digits(split: Split) -> str:
    """Return the code of each sample's split, samples in the order of their ids."""
    by_id = np.argsort(split.samples.ids.to_numpy(zero_copy_only=False).astype(str))
    return "".join(str(code) for code in split.codes[by_id])


@pytest.mark.parametrize("text", GOLDEN)
def test_assignments_are_those_written_down(text: str, calls: SampleTable) -> None:
    assert digits(make_split(calls, parse_recipe(text), allow_missing_classes=True)) == GOLDEN[text]


@pytest.mark.parametrize("text", ALL_RECIPES)
def test_input_order_plays_no_role(
    text: str, calls: SampleTable, shuffled: Callable[[SampleTable], SampleTable]
) -> None:
    recipe = parse_recipe(text)
    first = make_split(calls, recipe, allow_missing_classes=True)
    again = make_split(shuffled(calls), recipe, allow_missing_classes=True)
    assert dict(zip(first.ids.to_pylist(), first.codes.tolist(), strict=True)) == dict(
        zip(again.ids.to_pylist(), again.codes.tolist(), strict=True)
    )
    assert first.notes == again.notes


def test_order_of_the_class_names_plays_no_role() -> None:
    labels = ["a"] * 5 + ["b"] * 5 + ["c"] * 7
    ids = [f"s{place}" for place in range(17)]
    for text in ("stratified-50-50", "grouped-stratified-50-50"):
        recipe = parse_recipe(text)
        made = [
            make_split(
                sample_table(ids, labels, dataset="x", groups=ids, class_names=names), recipe
            ).codes.tolist()
            for names in (["a", "b", "c"], ["c", "b", "a"])
        ]
        assert made[0] == made[1]


@pytest.mark.parametrize("hash_seed", ["0", "1", "4242"])
def test_another_process_with_another_hash_seed_makes_the_same(hash_seed: str) -> None:
    code = (
        "import sys; sys.path[:0] = sys.argv[1:3]\n"
        "from made_calls import make_calls\n"
        "from test_making import ALL_RECIPES, digits\n"
        "from course_lib.splits import make_split, parse_recipe\n"
        "for text in ALL_RECIPES:\n"
        "    print(digits(make_split(make_calls(), parse_recipe(text), allow_missing_classes=True)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT), str(Path(__file__).parent)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True, text=True, encoding="utf-8", check=True,
    )  # fmt: skip
    here = [
        digits(make_split(make_calls(), parse_recipe(text), allow_missing_classes=True))
        for text in ALL_RECIPES
    ]
    assert done.stdout.split() == here


def test_seed_and_ratios_change_the_draw(calls: SampleTable) -> None:
    made = {
        digits(make_split(calls, parse_recipe(text)))
        for text in ("stratified-70-30", "stratified-70-30-seed7", "random-70-30", "grouped-70-30")
    }
    assert len(made) == 4


def test_equal_digests_are_ordered_by_id(calls: SampleTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "course_lib.splits.making.keyed_digests", lambda texts, key: np.zeros(len(texts), dtype=np.uint64)
    )
    backwards = calls.take(np.arange(len(calls))[::-1])
    for samples in (calls, backwards):
        split = make_split(samples, parse_recipe("random-50-50"))
        assert sorted(split.ids.take(split.positions("train")).to_pylist())[-1] == "call-0029"


def test_digests_do_not_depend_on_blocks(calls: SampleTable, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ordering.keyed_digests(calls.ids, "key").tolist()
    monkeypatch.setattr(ordering, "_BLOCK", 7)
    assert ordering.keyed_digests(calls.ids, "key").tolist() == whole
    assert ordering.keyed_digests(calls.ids[5:20], "key").tolist() == whole[5:20]
    assert ordering.keyed_digests(calls.ids, "another").tolist() != whole


ratio_parts = st.lists(st.integers(1, 20), min_size=2, max_size=5)


@st.composite
def tables(draw: st.DrawFn) -> SampleTable:
    count = draw(st.integers(1, 80))
    ids = draw(
        st.lists(
            st.text("abcdefgh0123456789-_äß图", min_size=1, max_size=8),
            min_size=count, max_size=count, unique_by=str.casefold,
        )
    )  # fmt: skip
    column = st.lists(st.integers(0, 3), min_size=count, max_size=count)
    return sample_table(
        ids,
        draw(column),
        dataset="drawn",
        groups=draw(st.lists(st.integers(0, 12), min_size=count, max_size=count)),
        times=draw(st.lists(st.integers(-20, 20), min_size=count, max_size=count)),
        official=[int(value == 0) for value in draw(column)],
    )


def attempt(samples: SampleTable, recipe: Recipe) -> Split | None:
    """Return the split, or None where a promise cannot be kept, which is said in one sentence."""
    try:
        return make_split(samples, recipe, allow_missing_classes=True)
    except CourseError as error:
        assert "\n" not in str(error)
        return None


@settings(deadline=None, max_examples=60)
@given(
    tables(),
    st.sampled_from(["stratified", "random", "ordered", "grouped", "grouped-stratified", "official"]),
    ratio_parts,
    st.randoms(),
)
def test_every_split_keeps_its_promises(
    samples: SampleTable, kind: str, parts: list[int], random: object
) -> None:
    recipe = Recipe.of(kind, [Fraction(part, sum(parts)) for part in parts], seed=len(samples))
    split = attempt(samples, recipe)
    again_order = np.random.default_rng(random.getrandbits(32)).permutation(len(samples))  # type: ignore[attr-defined]
    again = attempt(samples.take(again_order), recipe)
    assert (split is None) == (again is None)
    assume(split is not None and again is not None)
    assert split is not None and again is not None
    assert (split.codes[again_order] == again.codes).all()

    parts_of_it = [set(split.positions(name).tolist()) for name in split.names]
    assert sum(map(len, parts_of_it)) == len(set().union(*parts_of_it)) == len(samples)
    assert all(parts_of_it)
    if kind in ("stratified", "official"):
        pool = np.ones(len(samples), dtype=bool) if kind == "stratified" else samples.official == 0
        for label in range(len(samples.class_names)):
            stratum = split.codes[pool & (samples.labels == label)]
            for code, ratio in enumerate(recipe.ratios):
                assert abs(np.count_nonzero(stratum == code) - len(stratum) * ratio) < 1
    if kind == "official":
        assert ((split.codes == len(recipe.ratios)) == (samples.official == 1)).all()
    if kind.startswith("grouped"):
        groups = np.array(samples.groups.to_pylist())
        assert all(len(set(split.codes[groups == group])) == 1 for group in set(groups))
    if kind == "ordered":
        for earlier in range(len(split.names) - 1):
            assert samples.times[split.codes <= earlier].max() < samples.times[split.codes > earlier].min()


def test_totals_do_not_drift_over_many_small_classes() -> None:
    count = 70
    samples = sample_table(
        [f"s{place}" for place in range(count * 2)],
        [f"class-{place // 2:02d}" for place in range(count * 2)],
        dataset="pairs",
    )
    split = make_split(samples, parse_recipe("stratified-25-75"), allow_missing_classes=True)
    sizes = np.bincount(split.codes)
    assert sizes.tolist() == [35, 105]
    assert any("same claim to the last sample" in note for note in split.notes)


def test_official_counts_are_met_exactly_or_refused() -> None:
    count = 480
    samples = sample_table(
        [f"s{place}" for place in range(count)],
        [place % 7 for place in range(count)],
        dataset="official",
        official=[int(place % 6 == 0) for place in range(count)],
    )
    split = make_split(samples, parse_recipe("official-333-67"))
    assert np.bincount(split.codes).tolist() == [333, 67, 80]
    with pytest.raises(CourseError, match=r"expected 300 \+ 50 = 350 samples, found 400"):
        make_split(samples, parse_recipe("official-300-50"))


def test_samples_of_one_time_stay_together_and_the_note_says_so(calls: SampleTable) -> None:
    split = make_split(calls, parse_recipe("ordered-75-25"))
    moved = make_split(calls, Recipe.of("ordered", [Fraction(31, 60), Fraction(29, 60)]))
    assert split.notes == (
        "The cut between train and test was moved from 45 to 44 samples, "
        "as samples of one time stay together.",
    )
    assert len(moved.positions("train")) == 30


def test_one_time_for_all_cannot_be_ordered() -> None:
    samples = sample_table(["a", "b", "c"], [0, 1, 0], dataset="x", times=[5, 5, 5])
    with pytest.raises(
        CourseError, match="would be empty under ordered-70-30: samples of one time stay together"
    ):
        make_split(samples, parse_recipe("ordered-70-30"))


def test_a_class_with_one_member_is_named_unless_allowed() -> None:
    samples = sample_table([f"s{n}" for n in range(11)], ["common"] * 10 + ["rare"], dataset="x")
    with pytest.raises(CourseError, match=r"lack the class 'rare' .* found 1 sample of this class in all"):
        make_split(samples, parse_recipe("stratified-70-30"))
    split = make_split(samples, parse_recipe("stratified-70-30"), allow_missing_classes=True)
    assert split.counts() == {"train": {"common": 7, "rare": 1}, "test": {"common": 3, "rare": 0}}


def test_more_splits_than_groups_are_refused(calls: SampleTable) -> None:
    samples = sample_table(["a", "b", "c", "d"], [0, 1, 0, 1], dataset="x", groups=["g", "g", "h", "h"])
    with pytest.raises(CourseError, match="at least 3 groups, one for each split, found 2"):
        make_split(samples, parse_recipe("grouped-70-15-15"))
    assert sorted(np.bincount(make_split(samples, parse_recipe("grouped-50-50")).codes)) == [2, 2]


@pytest.mark.parametrize("kind", ["grouped", "grouped-stratified"])
def test_as_many_groups_as_splits_fill_every_split(kind: str) -> None:
    samples = sample_table(
        [f"s{n}" for n in range(12)],
        [n % 2 for n in range(12)],
        dataset="x",
        groups=[n // 4 for n in range(12)],
    )
    split = make_split(samples, parse_recipe(f"{kind}-70-15-15"))
    assert np.bincount(split.codes).tolist() == [4, 4, 4]


def test_a_fold_without_a_class_is_found_after_grouping() -> None:
    samples = sample_table(
        [f"s{n}" for n in range(12)],
        ["rare" if n < 3 else "common" for n in range(12)],
        dataset="x",
        groups=[n // 3 for n in range(12)],
    )
    with pytest.raises(CourseError, match="in 1 group that stay whole"):
        make_split(samples, parse_recipe("grouped-stratified-50-50"))


def test_grouped_and_stratified_comes_close_to_the_shares_of_every_class() -> None:
    rng = np.random.default_rng(3)
    count = 3000
    groups = rng.integers(0, 400, count)
    labels = (rng.random(count) < 0.02 + 0.3 * (groups % 7 == 0)).astype(int)
    samples = sample_table([f"s{n}" for n in range(count)], labels, dataset="x", groups=groups)
    split = make_split(samples, parse_recipe("grouped-stratified-70-15-15"))
    shares = np.array([list(row.values()) for row in split.counts().values()]) / np.bincount(labels)
    assert np.abs(shares - np.array([[0.7], [0.15], [0.15]])).max() < 0.01


@pytest.mark.parametrize(
    ("text", "needed"),
    [("ordered-50-50", "times"), ("grouped-50-50", "groups"), ("official-50-50", "parts")],
)
def test_a_recipe_names_the_column_it_needs(text: str, needed: str) -> None:
    samples = sample_table(["a", "b"], [0, 1], dataset="x")
    with pytest.raises(CourseError, match=f"{needed}, which x does not have"):
        make_split(samples, parse_recipe(text))


@pytest.mark.parametrize(
    ("text", "spoil", "sentence"),
    [
        ("stratified-50-50", lambda codes: np.roll(codes * 0, 1), "would be empty"),
        ("stratified-50-50", lambda codes: codes - 1, "not complete"),
        ("stratified-50-50", lambda codes: codes[:-1], "not complete"),
        ("stratified-50-50", lambda codes: np.where(np.arange(60) < 20, 0, 1), "does not have its share"),
        ("ordered-50-50", lambda codes: codes[::-1], "not in the order of time"),
        ("ordered-50-50", lambda codes: np.where(np.arange(60) < 31, 0, 1), "not in the order of time"),
        ("grouped-50-50", lambda codes: np.arange(60) % 2, "spread over splits"),
        ("official-50-50", lambda codes: np.where(np.arange(60) == 59, 0, codes), "not kept apart"),
    ],
)
def test_a_split_that_somebody_spoilt_is_refused(
    text: str, spoil: Callable[[np.ndarray], np.ndarray], sentence: str, calls: SampleTable
) -> None:
    split = make_split(calls, parse_recipe(text))
    check_split(calls, split.recipe, split.codes)
    with pytest.raises(CourseError, match=sentence):
        check_split(calls, split.recipe, spoil(split.codes).astype(np.int8))


def test_an_unknown_split_is_named(calls: SampleTable) -> None:
    split = make_split(calls, parse_recipe("random-50-50"))
    with pytest.raises(CourseError, match="no split called 'validation'"):
        split.positions("validation")
