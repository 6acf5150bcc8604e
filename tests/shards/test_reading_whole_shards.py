"""Whole shards verified at once when reading at random: nothing damaged is handed out all the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade_sets import Sample, flip_byte, samples_of, write_set

from course_lib.errors import CourseError
from course_lib.shards import ShardSet, verified

SIZES = (200, 200, 200)
VICTIM = 450

Reading = Callable[[ShardSet], Iterator[Any]]


def by_batch(shards: ShardSet) -> Iterator[Any]:
    return (sample for batch in shards.iterate_batches(8) for sample in zip(*batch, strict=True))


def shuffled(shards: ShardSet) -> list[int]:
    return np.random.default_rng(4).permutation(len(shards)).tolist()


EVERY_WAY: list[Reading] = [
    lambda shards: shards.iterate(),
    by_batch,
    lambda shards: shards.read_each(shuffled(shards)),
    lambda shards: map(shards.read, shuffled(shards)),
    lambda shards: map(shards.payload, shuffled(shards)),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "set"


@pytest.fixture
def samples(folder: Path) -> list[Sample]:
    return write_set(folder, samples_of(sum(SIZES)), SIZES)


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of every hash that reading takes."""
    lengths: list[int] = []
    xxh3 = verified.xxh3

    def counted(content: Any) -> int:
        lengths.append(len(content))
        return xxh3(content)

    for module in ("verified", "record_access"):
        monkeypatch.setattr(f"course_lib.shards.{module}.xxh3", counted)
    return lengths


def middle_of_payload(folder: Path, position: int) -> int:
    row = np.load(folder / "index.npy")[position]
    return int(row["start"]) + int(row["length"]) // 2


@pytest.mark.parametrize("way", EVERY_WAY)
def test_samples_are_right_however_shards_are_verified(
    folder: Path, samples: list[Sample], way: Reading
) -> None:
    shards = ShardSet.open(folder)
    wanted = [each if isinstance(each, bytes) else tuple(each) for each in way(shards)]
    again = [each if isinstance(each, bytes) else tuple(each) for each in way(shards)]
    assert again == wanted
    payloads = sorted(each if isinstance(each, bytes) else each[1] for each in wanted)
    assert payloads == sorted(sample.payload for sample in samples)


def test_reading_at_random_verifies_whole_shards_once_it_has_read_enough(
    folder: Path, samples: list[Sample], hashed: list[int]
) -> None:
    shards = ShardSet.open(folder)
    for at in range(12):
        shards.read(at)
    assert hashed == shards.index["extent"][:12].tolist()
    hashed.clear()
    for at in (12, *range(200)):
        shards.payload(at)
    assert hashed == [shards.manifest.shards[0].bytes]
    hashed.clear()
    shards.read_many(range(200, 600))
    assert sorted(hashed) == sorted(shard.bytes for shard in shards.manifest.shards[1:])
    hashed.clear()
    list(shards.iterate())
    assert hashed == []


@pytest.mark.parametrize("limit", ["_MOST_WHOLE_BYTES", "_MOST_SET_BYTES"])
def test_large_shards_and_sets_are_verified_by_record(
    folder: Path,
    samples: list[Sample],
    hashed: list[int],
    limit: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(verified, limit, 1_000)
    shards = ShardSet.open(folder)
    shards.read_many(range(600))
    assert hashed == shards.index["extent"].tolist()


@pytest.mark.parametrize("way", EVERY_WAY)
def test_a_flipped_bit_in_a_shard_that_is_verified_whole_names_its_sample(
    folder: Path, samples: list[Sample], way: Reading
) -> None:
    flip_byte(folder / "train-000002.tar", middle_of_payload(folder, VICTIM))
    shards = ShardSet.open(folder)
    for _ in range(2):
        with pytest.raises(CourseError, match=r"Sample s-0450 in shard train-000002\.tar of .* is damaged"):
            list(way(shards))


@pytest.mark.parametrize("way", EVERY_WAY)
def test_a_shard_that_changes_after_it_was_verified_whole_is_verified_anew(
    folder: Path, samples: list[Sample], way: Reading
) -> None:
    shards = ShardSet.open(folder)
    list(way(shards))
    list(way(shards))
    flip_byte(folder / "train-000002.tar", middle_of_payload(folder, VICTIM))
    os.utime(folder / "train-000002.tar", ns=(1, 1))
    with pytest.raises(CourseError, match="s-0450"):
        for _ in range(3):
            list(way(shards))


def test_an_order_that_is_known_is_read_one_at_a_time(folder: Path, samples: list[Sample]) -> None:
    shards = ShardSet.open(folder)
    order = [5, 599, 5, 0, 320]
    assert list(shards.read_each(order)) == [tuple(samples[at]) for at in order]
    assert [bytes(each[1]) for each in shards.read_each(order, copy=False)] == [
        samples[at].payload for at in order
    ]
    assert [shards.payload(at) for at in order] == [samples[at].payload for at in order]
    for read in (shards.payload, lambda at: shards.read_each([0, at])):
        with pytest.raises(CourseError, match="a position from 0 to 599, found 600"):
            read(600)


def test_a_tolerant_order_leaves_out_what_is_damaged(folder: Path, samples: list[Sample]) -> None:
    flip_byte(folder / "train-000002.tar", middle_of_payload(folder, VICTIM))
    shards = ShardSet.open(folder, strict=False)
    order = shuffled(shards)
    assert list(shards.read_each(order)) == [tuple(samples[at]) for at in order if at != VICTIM]
