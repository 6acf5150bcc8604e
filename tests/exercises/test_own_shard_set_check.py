"""The check of a learner's own shard set reads all of it and names what is wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from course_lib.exercises.answers import InvalidAnswerError
from course_lib.exercises.checks import own_shard_set
from course_lib.exercises.marking.trial import PropertyFailedError
from course_lib.shards import ShardSet, pack, source_for
from course_lib.shards.staged import flip_bit


def symptom(answer: object) -> str:
    with pytest.raises(PropertyFailedError) as caught:
        own_shard_set.check(own_shard_set.opened(answer))
    return caught.value.symptom


def test_a_good_set_is_right_and_each_fault_is_named(tmp_path: Path) -> None:
    source = source_for("cifar10", "validation", recipe=own_shard_set.RECIPE)
    good = tmp_path / "good"
    manifest = pack(source, good, target_samples=80)
    for answer in (good, str(good), good / "shards.json", ShardSet.open(good)):
        said = own_shard_set.check(own_shard_set.opened(answer))
        assert "All 200 samples" in said and "3 shards" in said and "generated" in said

    pack(source, tmp_path / "one")
    assert symptom(tmp_path / "one") == "one_shard"
    pack(source.take(np.arange(50)), tmp_path / "some", target_samples=25)
    assert symptom(tmp_path / "some") == "incomplete"
    train = source_for("cifar10", "train", recipe=own_shard_set.RECIPE).take(np.arange(60))
    pack(train, tmp_path / "train", target_samples=30)
    assert symptom(tmp_path / "train") == "other_split"
    flip_bit(good / manifest.shards[1].name, 900)
    assert symptom(good) == "damaged"
    (good / manifest.shards[1].name).unlink()
    assert symptom(good) == "damaged"


@pytest.mark.parametrize("answer", [3, None, "nowhere", Path("nowhere"), object()])
def test_what_cannot_be_opened_does_not_count(answer: object) -> None:
    with pytest.raises(InvalidAnswerError):
        own_shard_set.opened(answer)


def test_an_unfinished_set_and_an_edited_manifest_do_not_count(tmp_path: Path) -> None:
    with pytest.raises(InvalidAnswerError, match="No shard set can be read"):
        own_shard_set.opened(tmp_path)
    (tmp_path / "shards.json").write_text('{"schema_version": 1, "digest": "0"}', encoding="utf-8")
    with pytest.raises(InvalidAnswerError, match="not as it was written"):
        own_shard_set.opened(tmp_path)
