"""Reading a whole shard set: by position, many at once, shard after shard, from folders and from stores."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from handmade_sets import Sample, samples_of, write_set

from course_lib.errors import CourseError
from course_lib.shards import ShardSet
from course_lib.shards.format import index_dtype
from course_lib.stores import FolderStore, SetLatencyStore

SIZES = (30, 7, 1, 25)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "set"


@pytest.fixture
def samples(folder: Path) -> list[Sample]:
    return write_set(folder, samples_of(sum(SIZES)), SIZES)


@pytest.mark.parametrize("place", ["folder", "store"])
def test_every_way_of_reading_gives_the_packed_samples(
    folder: Path, samples: list[Sample], place: str
) -> None:
    shards = ShardSet.open(folder if place == "folder" else FolderStore(folder))
    assert len(shards) == len(samples)
    assert [shards.read(at) for at in range(len(shards))] == samples
    assert list(shards.iterate()) == samples
    assert shards.ids() == [sample.id for sample in samples]
    assert shards.labels.tolist() == [sample.label for sample in samples]
    assert (shards.id(33), shards.label(33)) == (samples[33].id, samples[33].label)
    order = np.random.default_rng(2).permutation(len(samples))
    found = shards.read_many(order)
    assert list(zip(*found, strict=True)) == [tuple(samples[at]) for at in order]
    assert shards.read_many([]).ids == []


@pytest.mark.parametrize("place", ["folder", "store"])
def test_without_copying_the_same_bytes_come_as_views(
    folder: Path, samples: list[Sample], place: str
) -> None:
    shards = ShardSet.open(folder if place == "folder" else FolderStore(folder))
    wanted = [sample.payload for sample in samples]
    found = [payload for _, payload, _ in shards.iterate(copy=False)]
    batched = [each for batch in shards.iterate_batches(9, copy=False) for each in batch.payloads]
    many = shards.read_many(range(len(samples)), copy=False).payloads
    shards.close()
    for payloads in (found, batched, many):
        assert all(isinstance(payload, memoryview) for payload in payloads)
        assert payloads == wanted


@pytest.mark.parametrize("size", [1, 6, 30, 31, 63, 100])
def test_batches_hold_as_many_samples_as_asked_for_across_shards(
    folder: Path, samples: list[Sample], size: int
) -> None:
    batches = list(ShardSet.open(folder).iterate_batches(size))
    assert [len(batch.ids) for batch in batches[:-1]] == [size] * (len(batches) - 1)
    assert [sample for batch in batches for sample in zip(*batch, strict=True)] == [*map(tuple, samples)]


def test_shards_come_in_the_order_asked_for(folder: Path, samples: list[Sample]) -> None:
    shards = ShardSet.open(folder)
    wanted = [tuple(sample) for sample in (*samples[38:], *samples[:30])]
    assert list(shards.iterate([3, 0])) == wanted
    assert [
        each for batch in shards.iterate_batches(9, [3, 0]) for each in zip(*batch, strict=True)
    ] == wanted
    with pytest.raises(CourseError, match="no such shard: expected 0 to 3, found 4"):
        list(shards.iterate([4]))


def test_only_the_place_travels_to_another_process(folder: Path, samples: list[Sample]) -> None:
    shards = ShardSet.open(folder)
    shards.read(3)
    travelling = pickle.dumps(shards)
    assert len(travelling) < 1_000
    assert pickle.loads(travelling).read(40) == samples[40]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_processes_forked_after_reading_do_not_disturb_each_other(
    folder: Path, samples: list[Sample]
) -> None:
    shards = ShardSet.open(folder)
    half = shards.iterate()
    read = [next(half) for _ in range(20)]
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map(shards.read, range(len(samples))) == samples
    assert [*read, *half] == samples


def test_positions_are_found_by_id(folder: Path, samples: list[Sample]) -> None:
    shards = ShardSet.open(folder)
    assert shards.positions_of([samples[at].id for at in (40, 2, 61)]).tolist() == [40, 2, 61]
    with pytest.raises(CourseError, match="expected the id nobody, found 1 of 2 ids missing"):
        shards.positions_of(["nobody", samples[0].id])


@pytest.mark.parametrize("position", [-1, 63])
def test_a_position_outside_of_the_set_is_refused(folder: Path, samples: list[Sample], position: int) -> None:
    shards = ShardSet.open(folder)
    for read in (shards.read, shards.id, shards.label, lambda at: shards.read_many([0, at])):
        with pytest.raises(CourseError, match=f"a position from 0 to 62, found {position}"):
            read(position)


@pytest.mark.parametrize("size", [0, -1, True, 2.5])
def test_odd_batch_sizes_are_refused(folder: Path, samples: list[Sample], size: object) -> None:
    with pytest.raises(CourseError, match="no such batch size"):
        ShardSet.open(folder).iterate_batches(size)  # type: ignore[arg-type]


def test_a_store_with_a_set_latency_pays_one_open_for_each_shard(folder: Path, samples: list[Sample]) -> None:
    store = SetLatencyStore(FolderStore(folder))
    shards = ShardSet.open(store)
    opening = store.counts["open"]
    assert list(shards.iterate()) == samples
    assert shards.read_many(range(63)).ids == [sample.id for sample in samples]
    assert (opening, store.counts["open"]) == (2, 2 + len(SIZES))


def test_shards_of_a_store_that_do_not_fit_are_fetched_again_and_stay_right(
    folder: Path, samples: list[Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course_lib.shards.shard_files.MOST_FETCHED_BYTES", 1)
    shards = ShardSet.open(FolderStore(folder))
    order = np.random.default_rng(2).permutation(len(samples))
    assert shards.read_many(order).payloads == [samples[at].payload for at in order]
    assert [shards.read(int(at)) for at in order] == [samples[at] for at in order]


def test_mappings_are_given_back_and_taken_again(
    folder: Path, samples: list[Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course_lib.shards.shard_files.MOST_TOUCHED_BYTES", 1)
    monkeypatch.setattr("course_lib.shards.shard_files.MOST_MAPPED", 2)
    shards = ShardSet.open(folder)
    order = np.random.default_rng(2).permutation(len(samples))
    for _ in range(2):
        assert list(shards.iterate()) == samples
        assert shards.read_many(order).payloads == [samples[at].payload for at in order]
    mapped = [len(shards._files.kept)]
    monkeypatch.setattr("sys.platform", "win32")
    assert list(shards.iterate()) == samples
    assert mapped == [2] and not shards._files.kept


def test_the_right_split_is_opened_and_another_is_refused(folder: Path, samples: list[Sample]) -> None:
    assert len(ShardSet.open(folder, split="train")) == 63
    with pytest.raises(CourseError, match="holds another split: expected test, found train"):
        ShardSet.open(folder, split="test")


def test_a_set_packed_from_another_split_manifest_is_refused(folder: Path, samples: list[Sample]) -> None:
    class _Manifest:
        digest = "5" * 64

    assert len(ShardSet.open(folder, split=_Manifest(), split_name="train")) == 63  # type: ignore[arg-type]
    _Manifest.digest = "6" * 64
    with pytest.raises(CourseError, match=r"another split manifest: expected the digest 666666666666"):
        ShardSet.open(folder, split=_Manifest(), split_name="train")  # type: ignore[arg-type]


def test_a_record_beyond_4_gib_is_found_and_read(tmp_path: Path) -> None:
    """A sparse file: offsets of 32 bits would wrap around and read its beginning."""
    folder = tmp_path / "set"
    (sample,) = write_set(folder, samples_of(1), (1,))
    path = folder / "train-000000.tar"
    content = path.read_bytes()
    beyond = 2**32 + 1024
    with path.open("wb") as file:
        file.truncate(beyond)
        file.seek(beyond)
        file.write(content)
    _move_index(folder, beyond, path.stat().st_size)
    shards = ShardSet.open(folder)
    assert index_dtype(1)["offset"].itemsize == 8
    assert shards.read(0) == sample
    assert list(shards.iterate()) == [sample]
    assert shards.read_many([0]).payloads == [sample.payload]


def _move_index(folder: Path, by: int, size: int) -> None:
    from dataclasses import replace

    from course_lib.shards.format import read_manifest, xxh3_file

    rows = np.load(folder / "index.npy")
    rows["offset"] += by
    rows["start"] += by
    np.save(folder / "index.npy", rows)
    manifest = read_manifest(folder)
    moved = replace(
        manifest,
        shards=(replace(manifest.shards[0], bytes=size),),
        index=replace(manifest.index, xxh3=xxh3_file(folder / "index.npy")),
    )
    (folder / "shards.json").write_bytes(moved.as_json())


def test_reading_loads_no_torch(folder: Path, samples: list[Sample]) -> None:
    code = (
        "import sys; from course_lib.shards import ShardSet, OrderRecipe, choose_decoder, measure_mixing;"
        f"print(ShardSet.open({str(folder)!r}).read(0).id, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["s-0000", "False"]
