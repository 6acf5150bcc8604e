"""A shard set that is packed into a bucket and read back from there."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.shards import PayloadSource, ShardSet, pack
from course_lib.shards.plain_sources import folder_source, store_source
from course_lib.stores import FolderStore, S3Store


@pytest.fixture
def source(tmp_path: Path) -> PayloadSource:
    contents = random.Random(2026)
    for number in range(25):
        FolderStore(tmp_path / "images").write(
            f"class_{number % 3}/s{number:02}.bin", contents.randbytes(40 * number + 1)
        )
    return folder_source(tmp_path / "images", split="train")


def test_set_packed_into_a_bucket_is_the_one_of_a_folder_and_reads_back(
    source: PayloadSource, s3_store: S3Store, tmp_path: Path
) -> None:
    manifest = pack(source, s3_store, target_samples=10, prefix="sets/train")
    assert manifest == pack(source, tmp_path / "set", target_samples=10)
    names = sorted(path.name for path in (tmp_path / "set").iterdir() if not path.name.startswith("."))
    assert s3_store.list() == [f"sets/train/{name}" for name in names]
    for name in names:
        assert s3_store.read(f"sets/train/{name}") == (tmp_path / "set" / name).read_bytes()

    whole = S3Store(s3_store.bucket, "pre/fix/sets/train", endpoint=s3_store.endpoint)
    expected = {id_.decode(): source.payload(place) for place, id_ in enumerate(source.ids)}
    with ShardSet.open(whole) as shards:
        assert {id_: payload for id_, payload, _ in shards.iterate()} == expected
        record = shards.read(17)
        assert record.payload == expected[record.id]


def test_samples_in_a_bucket_are_packed_like_those_of_a_folder(
    source: PayloadSource, s3_store: S3Store, tmp_path: Path
) -> None:
    images = FolderStore(tmp_path / "images")
    for name in images.list():
        s3_store.write(name, images.read(name))
    from_bucket = pack(
        store_source(s3_store, split="train", dataset="images"), tmp_path / "a", target_samples=10
    )
    from_folder = pack(source, tmp_path / "b", target_samples=10)
    assert [shard.sha256 for shard in from_bucket.shards] == [shard.sha256 for shard in from_folder.shards]


def test_damaged_shard_in_a_bucket_is_named(source: PayloadSource, s3_store: S3Store) -> None:
    manifest = pack(source, s3_store, target_samples=10)
    name = manifest.shards[1].name
    damaged = bytearray(s3_store.read(name))
    damaged[600] ^= 1
    s3_store.publish(name, bytes(damaged))
    with ShardSet.open(s3_store) as shards, pytest.raises(CourseError, match=name):
        list(shards.iterate())
