"""Damage and loss: strict reading names shard and sample and stops, tolerant reading counts by class."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from handmade_sets import CLASSES, Sample, cut, flip_byte, samples_of, write_set

from course_lib.errors import CourseError
from course_lib.shards import ShardedBatches, ShardedLoader, ShardSet
from course_lib.stores import FolderStore

SIZES = (20, 20, 20)
VICTIM = 25

Reading = Callable[[ShardSet], Iterator[tuple[str, bytes, int]]]


def one_by_one(shards: ShardSet) -> Iterator[tuple[str, bytes, int]]:
    return shards.iterate()


def by_batch(shards: ShardSet) -> Iterator[tuple[str, bytes, int]]:
    return (sample for batch in shards.iterate_batches(8) for sample in zip(*batch, strict=True))


def at_random(shards: ShardSet) -> Iterator[tuple[str, bytes, int]]:
    order = np.random.default_rng(4).permutation(len(shards))
    return (
        each
        for begin in range(0, 60, 8)
        for each in zip(*shards.read_many(order[begin : begin + 8]), strict=True)
    )


def by_position(shards: ShardSet) -> Iterator[tuple[str, bytes, int]]:
    return (shards.read(at) for at in range(len(shards)))


EVERY_WAY = [one_by_one, by_batch, at_random, by_position]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "set"


@pytest.fixture
def samples(folder: Path) -> list[Sample]:
    return write_set(folder, samples_of(sum(SIZES)), SIZES)


def place_of(folder: Path, part: str) -> int:
    """Return where in the shard of the victim a part of its record lies."""
    row = np.load(folder / "index.npy")[VICTIM]
    offset, start, extent = int(row["offset"]), int(row["start"]), int(row["extent"])
    return {
        "name in the tar header": offset + 2,
        "payload": start + int(row["length"]) // 2,
        "padding": start + int(row["length"]),
        "label's tar header": offset + extent - 1024 + 3,
        "label": offset + extent - 512,
    }[part]


PARTS = ["name in the tar header", "payload", "label's tar header", "label"]


@pytest.mark.parametrize("way", EVERY_WAY)
@pytest.mark.parametrize("part", PARTS)
def test_a_flipped_bit_names_shard_and_sample(
    folder: Path, samples: list[Sample], part: str, way: Reading
) -> None:
    flip_byte(folder / "train-000001.tar", place_of(folder, part))
    with pytest.raises(CourseError, match=r"Sample s-0025 in shard train-000001\.tar of .* is damaged"):
        list(way(ShardSet.open(folder)))


@pytest.mark.parametrize("part", PARTS)
def test_tolerant_reading_counts_a_flipped_bit_by_class(
    folder: Path, samples: list[Sample], part: str
) -> None:
    flip_byte(folder / "train-000001.tar", place_of(folder, part))
    shards = ShardSet.open(folder, strict=False)
    whole = [sample for sample in samples if sample.id != "s-0025"]
    for way in (one_by_one, by_batch):
        assert list(way(shards)) == whole
        coverage = shards.coverage()
        assert coverage.planned == (20, 20, 20)
        assert coverage.failed == (0, 1, 0)
        assert coverage.delivered == (20, 19, 20)
        assert "s-0025 in shard train-000001.tar" in coverage.losses[0]
        assert coverage.sentence == "59 of 60 samples delivered (98.33%), 1 failed: dog 1."
    assert sorted(at_random(shards)) == sorted(tuple(sample) for sample in whole)
    with pytest.raises(CourseError, match=r"s-0025 in shard train-000001\.tar"):
        shards.read(VICTIM)


@pytest.mark.parametrize("way", EVERY_WAY)
def test_damage_that_happens_after_the_first_reading_is_named(
    folder: Path, samples: list[Sample], way: Reading
) -> None:
    shards = ShardSet.open(folder)
    assert len(list(way(shards))) == 60
    flip_byte(folder / "train-000001.tar", place_of(folder, "payload"))
    os.utime(folder / "train-000001.tar", ns=(1, 1))
    with pytest.raises(CourseError, match="s-0025"):
        for _ in range(20):  # single reads look at the file again every 1,000
            list(way(shards))


@pytest.mark.parametrize("store", [False, True])
def test_a_deleted_shard_is_named_with_its_first_sample(
    folder: Path, samples: list[Sample], store: bool
) -> None:
    (folder / "train-000001.tar").unlink()
    place = FolderStore(folder) if store else folder
    with pytest.raises(CourseError, match=r"train-000001\.tar of .* is missing.*20 samples lost.*s-0020"):
        ShardSet.open(place)
    shards = ShardSet.open(place, strict=False)
    assert [sample[0] for sample in shards.iterate()] == [s.id for s in (*samples[:20], *samples[40:])]
    assert shards.coverage().failed == (7, 6, 7)
    assert "missing or cannot be read" in shards.coverage().losses[0]


@pytest.mark.parametrize("way", EVERY_WAY)
def test_a_shard_deleted_while_the_set_is_open_is_named(
    folder: Path, samples: list[Sample], way: Reading
) -> None:
    shards = ShardSet.open(folder)
    (folder / "train-000001.tar").unlink()
    with pytest.raises(CourseError, match=r"shard train-000001\.tar of .* is damaged.*missing"):
        list(way(shards))


def test_a_shard_cut_by_1_kb_loses_no_sample_and_is_named_all_the_same(
    folder: Path, samples: list[Sample]
) -> None:
    cut(folder / "train-000002.tar", 1_000)
    with pytest.raises(CourseError, match=r"train-000002\.tar of .* has .* bytes instead of"):
        ShardSet.open(folder)
    shards = ShardSet.open(folder, strict=False)
    assert list(shards.iterate()) == samples


@pytest.mark.parametrize("way", [one_by_one, by_batch, at_random])
def test_a_shard_cut_by_16_kb_names_the_first_lost_sample(
    folder: Path, samples: list[Sample], way: Reading
) -> None:
    cut(folder / "train-000002.tar", 16_000)
    size = (folder / "train-000002.tar").stat().st_size
    rows = np.load(folder / "index.npy")
    lost = (rows["shard"] == 2) & (rows["offset"] + rows["extent"] > size)
    first = rows["id"][lost][0].decode()
    assert 0 < lost.sum() < 20
    with pytest.raises(CourseError, match=f"{lost.sum()} samples lost, the first is {first}"):
        ShardSet.open(folder)
    shards = ShardSet.open(folder, strict=False)
    assert sorted(each[0] for each in way(shards)) == sorted(rows["id"][~lost].astype(str))


def test_an_emptied_shard_is_named(folder: Path, samples: list[Sample]) -> None:
    (folder / "train-000000.tar").write_bytes(b"")
    with pytest.raises(CourseError, match=r"train-000000\.tar of .* has 0 bytes instead"):
        ShardSet.open(folder)
    assert sum(ShardSet.open(folder, strict=False).read_many(range(60)).labels) == sum(
        sample.label for sample in samples[20:]
    )


def test_a_shard_too_many_is_named(folder: Path, samples: list[Sample]) -> None:
    shutil.copy(folder / "train-000002.tar", folder / "train-000003.tar")
    with pytest.raises(CourseError, match=r"does not know: expected 3 shards, found train-000003\.tar"):
        ShardSet.open(folder)


def test_two_shards_that_changed_names_are_found(folder: Path, samples: list[Sample]) -> None:
    equal = [Sample(sample.id, sample.payload[:1] * 100, sample.label) for sample in samples]
    write_set(folder, equal, SIZES)
    first, second = folder / "train-000000.tar", folder / "train-000001.tar"
    first.rename(folder / "aside")
    second.rename(first)
    (folder / "aside").rename(second)
    with pytest.raises(CourseError, match=r"Sample s-0000 in shard train-000000\.tar"):
        next(ShardSet.open(folder).iterate())


@pytest.mark.parametrize("strict", [True, False])
def test_a_flipped_bit_in_the_index_stops_either_mode(
    folder: Path, samples: list[Sample], strict: bool
) -> None:
    flip_byte(folder / "index.npy", 1_000)
    for place in (folder, FolderStore(folder)):
        with pytest.raises(CourseError, match=r"index .*index\.npy.* damaged"):
            ShardSet.open(place, strict=strict)


@pytest.mark.parametrize("strict", [True, False])
def test_a_flipped_bit_in_the_manifest_stops_either_mode(
    folder: Path, samples: list[Sample], strict: bool
) -> None:
    path = folder / "shards.json"
    path.write_text(path.read_text("utf-8").replace('"cat"', '"bat"'), "utf-8")
    for place in (folder, FolderStore(folder)):
        with pytest.raises(CourseError, match=r"shards\.json is not as it was written"):
            ShardSet.open(place, strict=strict)


def test_a_newer_format_is_refused_in_words(folder: Path, samples: list[Sample]) -> None:
    path = folder / "shards.json"
    content = json.loads(path.read_text("utf-8")) | {"schema_version": 2}
    path.write_text(json.dumps(content), "utf-8")
    with pytest.raises(
        CourseError, match="newer version of the workbook: expected schema_version 1, found 2"
    ):
        ShardSet.open(folder)


def test_the_manifest_of_another_set_is_refused(folder: Path, samples: list[Sample], tmp_path: Path) -> None:
    other = tmp_path / "other"
    write_set(other, samples_of(60, seed=9), SIZES, split="test")
    shutil.copy(other / "shards.json", folder / "shards.json")
    with pytest.raises(CourseError, match=r"index .* damaged"):
        ShardSet.open(folder)
    shutil.copy(other / "index.npy", folder / "index.npy")
    with pytest.raises(CourseError, match=r"Shard test-000000\.tar of .* is missing"):
        ShardSet.open(folder)


def test_a_set_that_lost_its_manifest_is_refused_by_that_name(folder: Path, samples: list[Sample]) -> None:
    (folder / "shards.json").unlink()
    with pytest.raises(CourseError, match=r"has lost its shards\.json"):
        ShardSet.open(folder)


def test_a_folder_without_a_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="holds no shard set"):
        ShardSet.open(tmp_path)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_loader_names_damage_in_one_sentence_and_goes_on_after_a_repair(
    folder: Path, samples: list[Sample], workers: int
) -> None:
    flip_byte(folder / "train-000001.tar", place_of(folder, "payload"))
    loader = ShardedLoader(ShardedBatches(folder, 8, shuffle="full"), workers=workers)
    with pytest.raises(CourseError) as raised:
        list(loader)
    assert str(raised.value).startswith("Sample s-0025 in shard train-000001.tar")
    assert "Traceback" not in str(raised.value)
    flip_byte(folder / "train-000001.tar", place_of(folder, "payload"))
    assert sum(len(batch["label"]) for batch in loader) == 60


@pytest.mark.parametrize("workers", [0, 2])
def test_a_tolerant_loader_counts_a_lost_shard_by_class(
    folder: Path, samples: list[Sample], workers: int
) -> None:
    (folder / "train-000001.tar").unlink()
    loader = ShardedLoader(ShardedBatches(folder, 8, shuffle="full", strict=False), workers=workers)
    delivered = [at for batch in loader for at in batch["position"].tolist()]
    assert sorted(delivered) == [*range(20), *range(40, 60)]
    coverage = loader.coverage()
    assert dict(zip(CLASSES, coverage.failed, strict=True)) == {"cat": 7, "dog": 6, "owl": 7}
    assert coverage.planned == (20, 20, 20)
    assert "train-000001.tar" in coverage.losses[0]
    assert not coverage.complete
