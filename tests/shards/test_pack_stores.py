"""Packing into a store that has no rename and no lock."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from shard_sets import bytes_of, made_source

from course_lib.errors import CourseError
from course_lib.files import cannot_write
from course_lib.shards import pack, read_manifest, verify_shards
from course_lib.stores import FolderStore, StoreStat


class MemoryStore:
    """Objects in a dictionary: publishing puts a whole object, and nothing can be renamed."""

    def __init__(self, room: int | None = None) -> None:
        self.objects: dict[str, bytes] = {}
        self.published: list[str] = []
        self.room = room

    def list(self, prefix: str = "") -> list[str]:
        return sorted(name for name in self.objects if name.startswith(prefix))

    def stat(self, name: str) -> StoreStat:
        return StoreStat(len(self.objects[name]))

    def read(self, name: str) -> bytes:
        return self.objects[name]

    def read_range(self, name: str, start: int, length: int) -> bytes:
        return self.objects[name][start : start + length]

    def write(self, name: str, payload: bytes) -> None:
        raise AssertionError("a shard set is published, never written in part")

    def publish(self, name: str, payload: bytes) -> None:
        if self.room is not None and sum(map(len, self.objects.values())) + len(payload) > self.room:
            raise cannot_write(Path(name), OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
        self.objects[name] = bytes(payload)
        self.published.append(name)


class DeletingStore(MemoryStore):
    def delete(self, name: str) -> None:
        del self.objects[name]


SOURCE = made_source(90)
TARGET = 20_480


@pytest.fixture(scope="module")
def wanted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("wanted") / "set"
    pack(SOURCE, folder, target_bytes=TARGET)
    return bytes_of(folder)


def below(store: MemoryStore, prefix: str) -> dict[str, bytes]:
    names = [name for name in store.list(prefix) if "/packing/" not in f"/{name}"]
    return {name[len(prefix) :]: store.objects[name] for name in names}


@pytest.mark.parametrize("prefix", ["", "sets/animals", "sets/animals/"])
def test_a_store_gets_the_same_objects_as_a_folder_and_the_manifest_last(
    wanted: dict[str, bytes], prefix: str
) -> None:
    store = MemoryStore()
    pack(SOURCE, store, target_bytes=TARGET, prefix=prefix)
    before = f"{prefix.rstrip('/')}/" if prefix else ""
    assert below(store, before) == wanted
    assert store.published[-1] == f"{before}shards.json"


def test_threads_pack_the_same_objects(wanted: dict[str, bytes]) -> None:
    store = MemoryStore()
    with ThreadPoolExecutor(3) as pool:
        pack(SOURCE, store, target_bytes=TARGET, executor=pool)
    assert below(store, "") == wanted


def test_notes_are_removed_from_a_store_that_can_delete(wanted: dict[str, bytes]) -> None:
    store = DeletingStore()
    for _ in range(2):
        pack(SOURCE, store, target_bytes=TARGET)
        assert store.objects == wanted


def test_a_full_store_is_one_sentence_and_the_pack_goes_on_afterwards(wanted: dict[str, bytes]) -> None:
    store = MemoryStore(room=90_000)
    with pytest.raises(CourseError, match="No space left"):
        pack(SOURCE, store, target_bytes=TARGET)
    assert "shards.json" not in store.objects
    finished = [name for name in store.published if name.endswith(".tar")]
    assert len(finished) >= 2
    store.room = None
    store.published.clear()
    pack(SOURCE, store, target_bytes=TARGET)
    assert not set(finished) & set(store.published)
    assert below(store, "") == wanted


def test_packing_again_into_a_store_publishes_nothing(wanted: dict[str, bytes]) -> None:
    store = MemoryStore()
    first = pack(SOURCE, store, target_bytes=TARGET)
    store.published.clear()
    assert pack(SOURCE, store, target_bytes=TARGET) == first
    assert store.published == []


def test_a_store_with_other_things_or_another_plan_is_refused() -> None:
    store = MemoryStore()
    store.publish("mine.txt", b"1")
    with pytest.raises(CourseError, match="holds other things than a shard set"):
        pack(SOURCE, store)
    store = MemoryStore(room=90_000)
    with pytest.raises(CourseError, match="No space left"):
        pack(SOURCE, store, target_bytes=TARGET)
    with pytest.raises(CourseError, match="interrupted pack of other samples or another recipe"):
        pack(SOURCE, store, target_bytes=TARGET, seed=1)


def test_a_packer_whose_place_was_taken_over_publishes_no_manifest(monkeypatch: pytest.MonkeyPatch) -> None:
    store = MemoryStore()
    publish = store.publish

    def publish_and_lose(name: str, payload: bytes) -> None:
        publish(name, payload)
        if name == "train-000001.tar":
            store.objects["packing/plan"] = b"0" * 64

    monkeypatch.setattr(store, "publish", publish_and_lose)
    with pytest.raises(CourseError, match="Another packer has taken over"):
        pack(SOURCE, store, target_bytes=TARGET)
    assert "shards.json" not in store.objects


def test_a_folder_store_is_a_readable_set(tmp_path: Path) -> None:
    pack(SOURCE, FolderStore(tmp_path), target_bytes=TARGET, prefix="a/set")
    assert read_manifest(tmp_path / "a/set").samples == 90
    assert verify_shards(tmp_path / "a/set").ok
