"""The check of a learner's split: any way that depends on ids, labels and seed alone is accepted."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from course_lib.exercises.checks.split_ids import PARAMETERS, check
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

Split = Callable[[list[str], list[str], int], Any]


def symptom(split_ids: Split) -> str:
    """Return by which symptom the function fails, "" when it has every property."""
    trial = FunctionOnTrial(split_ids, "split_ids")
    trial.require_parameters(PARAMETERS)
    try:
        check(trial)
    except PropertyFailedError as failure:
        return failure.symptom
    return ""


def by_class(ids: list[str], labels: list[str], order: Callable[[list[str]], list[str]]) -> Any:
    train: list[str] = []
    test: list[str] = []
    for label in sorted(set(labels)):
        members = order([i for i, own in zip(ids, labels, strict=True) if own == label])
        test += members[: len(members) // 5]
        train += members[len(members) // 5 :]
    return train, test


def test_a_seeded_shuffle_of_sorted_ids_survives_reordering() -> None:
    def split_ids(ids: list[str], labels: list[str], seed: int) -> Any:
        return by_class(ids, labels, lambda own: random.Random(seed).sample(sorted(own), k=len(own)))

    assert symptom(split_ids) == ""


def test_arrays_are_taken_as_lists_of_ids() -> None:
    def split_ids(ids: list[str], labels: list[str], seed: int) -> Any:
        def order(own: list[str]) -> list[str]:
            return list(np.random.default_rng(seed).permutation(np.array(sorted(own))))

        train, test = by_class(ids, labels, order)
        return list(map(str, train)), list(np.array(test))

    assert symptom(split_ids) == ""


def test_a_librarys_stratified_split_of_the_lists_as_they_come_follows_the_order() -> None:
    from sklearn.model_selection import train_test_split

    def split_ids(ids: list[str], labels: list[str], seed: int) -> Any:
        return train_test_split(ids, test_size=0.2, stratify=labels, random_state=seed)

    assert symptom(split_ids) == "follows_order"


@pytest.mark.parametrize("by", ["hash of the id", "hash of a text", "order of a set"])
def test_what_pythons_salt_decides_is_found_in_one_process(by: str) -> None:
    def by_id(ids: list[str], labels: list[str], seed: int) -> Any:
        return by_class(ids, labels, lambda own: sorted(own, key=lambda i: (hash(i) ^ seed, i)))

    def by_text(ids: list[str], labels: list[str], seed: int) -> Any:
        return by_class(ids, labels, lambda own: sorted(own, key=lambda i: hash(f"{seed} {i}")))

    def by_set(ids: list[str], labels: list[str], seed: int) -> Any:
        def order(own: list[str]) -> list[str]:
            members = list(set(sorted(own)))
            random.Random(seed).shuffle(members)
            return members

        return by_class(ids, labels, order)

    ways = {"hash of the id": by_id, "hash of a text": by_text, "order of a set": by_set}
    assert symptom(ways[by]) in ("salted_hash", "follows_order")
    if by != "order of a set":
        assert symptom(ways[by]) == "salted_hash"


def test_a_fifth_of_the_wrong_classes_is_not_stratified() -> None:
    def split_ids(ids: list[str], labels: list[str], seed: int) -> Any:
        ordered = random.Random(seed).sample(sorted(ids), k=len(ids))
        return ordered[len(ids) // 5 :], ordered[: len(ids) // 5]

    assert symptom(split_ids) == "not_stratified"


def test_the_learners_globals_are_as_before() -> None:
    def split_ids(ids: list[str], labels: list[str], seed: int) -> Any:
        return by_class(ids, labels, lambda own: sorted(own, key=lambda i: hash((seed, i))))

    assert symptom(split_ids) == "salted_hash"
    assert "hash" not in globals()
