"""How well an order mixes: figures with known answers, and class-sorted packs that are flagged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from handmade_sets import Sample, samples_of, write_set

from course_lib.errors import CourseError
from course_lib.shards import OrderRecipe, ShardSet, measure_mixing, pack_order

COUNT, SHARDS = 1_200, 12


def opened(folder: Path, samples: list[Sample]) -> ShardSet:
    write_set(folder, [sample._replace(payload=b"x") for sample in samples], [COUNT // SHARDS] * SHARDS)
    return ShardSet.open(folder)


@pytest.fixture
def mixed(tmp_path: Path) -> ShardSet:
    order = np.random.default_rng(3).permutation(COUNT)
    samples = samples_of(COUNT)
    return opened(tmp_path / "mixed", [samples[at] for at in order])


@pytest.fixture
def sorted_by_class(tmp_path: Path) -> ShardSet:
    return opened(tmp_path / "sorted", sorted(samples_of(COUNT), key=lambda sample: sample.label))


def test_a_full_permutation_moves_by_a_third_and_meets_few_mates_again(mixed: ShardSet) -> None:
    found = measure_mixing(mixed, OrderRecipe("full", 5), 40)
    assert found.distance_moved == pytest.approx(1 / 3, abs=0.02)
    assert found.repeats == pytest.approx(39 / 1_199, rel=0.15)
    assert found.class_gap == pytest.approx(found.class_gap_permuted, rel=0.15)
    assert found.like_a_permutation


def test_pack_order_moves_nothing_and_meets_every_mate_again(mixed: ShardSet) -> None:
    found = measure_mixing(mixed, OrderRecipe("none"), 40)
    assert (found.distance_moved, found.repeats) == (0.0, 1.0)
    assert found.like_a_permutation
    assert "moved by 0.0% of the set" in found.sentence


def test_a_small_buffer_cannot_mend_a_pack_sorted_by_class(sorted_by_class: ShardSet) -> None:
    small = measure_mixing(sorted_by_class, OrderRecipe("shards+buffer", buffer=20), 40)
    large = measure_mixing(sorted_by_class, OrderRecipe("shards+buffer", buffer=COUNT), 40)
    none = measure_mixing(sorted_by_class, OrderRecipe("none"), 40)
    assert none.class_gap == pytest.approx(2 / 3, abs=0.01)
    assert none.class_gap > small.class_gap > 3 * large.class_gap
    assert not small.like_a_permutation and large.like_a_permutation
    assert "worse than a full permutation" in small.sentence


def test_a_buffer_over_a_seeded_pack_mixes_classes_like_a_permutation(mixed: ShardSet) -> None:
    found = measure_mixing(mixed, OrderRecipe("shards+buffer", buffer=100), 40)
    assert found.like_a_permutation
    assert found.repeats > found.repeats_permuted


def test_several_ranks_are_measured_by_the_step(mixed: ShardSet) -> None:
    alone = measure_mixing(mixed, OrderRecipe("full"), 40)
    together = measure_mixing(mixed, OrderRecipe("full"), 10, ranks=4)
    assert together.class_gap == alone.class_gap


def test_class_sorted_packs_are_flagged(mixed: ShardSet, sorted_by_class: ShardSet) -> None:
    assert not pack_order(mixed.labels).class_sorted
    assert pack_order(mixed.labels).expected == pytest.approx(399 / 1_199)
    found = pack_order(sorted_by_class.labels)
    assert found.class_sorted and found.same_as_next == 1_197 / 1_199
    assert "packed class by class" in found.sentence
    one_class = pack_order(np.zeros(50, dtype=int))
    assert not one_class.class_sorted
    within_shards = np.concatenate([np.sort(part) for part in np.array_split(mixed.labels, SHARDS)])
    assert pack_order(within_shards).class_sorted


def test_too_few_samples_are_refused(mixed: ShardSet) -> None:
    with pytest.raises(CourseError, match="smaller than one batch"):
        measure_mixing(mixed, OrderRecipe(), COUNT + 1)
    with pytest.raises(CourseError, match="at least 2 samples"):
        pack_order(np.array([1]))
