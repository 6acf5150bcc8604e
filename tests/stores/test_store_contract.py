"""What every store promises, whatever it is made of."""

from __future__ import annotations

import pickle
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.stores import FolderStore, SetLatencyStore, Store


@pytest.fixture(params=["folder", "set latency", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    if request.param == "s3":
        place: Store = request.getfixturevalue("s3_store")
    else:
        place = FolderStore(tmp_path / "store")
        if request.param == "set latency":
            place = SetLatencyStore(place, open_seconds=0.0001)
    for name in ("b/2.bin", "a/1.bin", "a/3.bin", "ab.bin"):
        place.write(name, name.encode())
    return place


def test_names_are_relative_sorted_and_chosen_by_prefix(store: Store) -> None:
    assert store.list() == ["a/1.bin", "a/3.bin", "ab.bin", "b/2.bin"]
    assert store.list("a") == ["a/1.bin", "a/3.bin", "ab.bin"]
    assert store.list("a/") == ["a/1.bin", "a/3.bin"]
    assert store.list("a/1.bin") == ["a/1.bin"]
    assert store.list("a/1.bin/") == []
    assert store.list("none/") == []


def test_hidden_files_and_folders_are_left_out_unless_their_folder_is_named(store: Store) -> None:
    store.write(".hidden", b"")
    store.write("a/.also", b"1")
    store.write(".folder/in.bin", b"1")
    assert store.list() == ["a/1.bin", "a/3.bin", "ab.bin", "b/2.bin"]
    assert store.list(".") == []
    assert store.list("a/.") == []
    assert store.list(".folder/") == [".folder/in.bin"]
    assert store.read("a/.also") == b"1"


@pytest.mark.parametrize("act", ["write", "publish"])
def test_what_was_written_is_read_whole_in_part_and_replaced(store: Store, act: str) -> None:
    getattr(store, act)("c/4.bin", b"0123456789")
    assert store.read("c/4.bin") == b"0123456789"
    assert [store.read_range("c/4.bin", *place) for place in ((0, 10), (3, 4), (9, 1))] == [
        b"0123456789",
        b"3456",
        b"9",
    ]
    assert store.stat("c/4.bin").size == 10
    getattr(store, act)("c/4.bin", b"new")
    assert store.read("c/4.bin") == b"new"
    assert store.list("c/") == ["c/4.bin"]
    assert type(store.read("c/4.bin")) is type(store.read_range("c/4.bin", 0, 1)) is bytes


def test_empty_object_and_empty_range_are_empty(store: Store) -> None:
    store.publish("empty.bin", b"")
    assert store.read("empty.bin") == store.read_range("empty.bin", 0, 0) == b""
    assert store.stat("empty.bin").size == 0
    assert store.read_range("ab.bin", 2, 0) == b""
    assert "empty.bin" in store.list()


@pytest.mark.parametrize(("start", "length"), [(5, 100), (7, 1), (100, 1), (0, 8), (2**40, 1)])
def test_range_past_the_end_is_an_error(store: Store, start: int, length: int) -> None:
    with pytest.raises(CourseError, match=r"a/1\.bin ends too early: expected [\d,]+ bytes from byte"):
        store.read_range("a/1.bin", start, length)


@pytest.mark.parametrize(("start", "length"), [(-1, 2), (2, -1)])
def test_negative_range_is_an_error(store: Store, start: int, length: int) -> None:
    with pytest.raises(CourseError, match=r"a/1\.bin"):
        store.read_range("a/1.bin", start, length)


def test_large_object_comes_back_whole_and_in_part(store: Store) -> None:
    payload = random.Random(2026).randbytes(20_000_001)
    store.publish("large.bin", payload)
    assert store.stat("large.bin").size == len(payload)
    assert store.read("large.bin") == payload
    for start, length in ((0, 20_000_001), (8 << 20, 9_000_000), ((8 << 20) - 3, 6), (20_000_000, 1)):
        assert store.read_range("large.bin", start, length) == payload[start : start + length]
    with pytest.raises(CourseError, match="ends too early"):
        store.read_range("large.bin", 1, 20_000_001)


@pytest.mark.parametrize(
    "name", ["a b.bin", "ä/ü.bin", "p%25q.bin", "h#1.bin", "a+b~c.bin", "c^{x}[y].bin", "😀"]
)
def test_name_is_kept_letter_for_letter(store: Store, name: str) -> None:
    store.publish(name, b"x")
    assert store.read(name) == b"x"
    assert name in store.list()
    assert store.list(name) == [name]


@pytest.mark.parametrize("name", ["", "/x", "../x", "a/../../x", "a//b", "./a", "a\\b", "C:/x", "a\0b"])
def test_name_that_leads_out_of_the_store_is_refused(store: Store, name: str) -> None:
    for act in (
        store.read,
        store.stat,
        lambda name: store.read_range(name, 0, 1),
        lambda name: store.write(name, b""),
        lambda name: store.publish(name, b""),
    ):
        with pytest.raises(CourseError, match="no name of an object"):
            act(name)


@pytest.mark.parametrize("prefix", ["../", "a/../../x", "a//b"])
def test_prefix_that_leads_out_of_the_store_is_refused(store: Store, prefix: str) -> None:
    with pytest.raises(CourseError, match="no name of an object"):
        store.list(prefix)


def test_missing_object_is_one_sentence(store: Store) -> None:
    for act in (store.read, store.stat, lambda name: store.read_range(name, 0, 1)):
        with pytest.raises(CourseError, match=r"a/9\.bin could not be read") as caught:
            act("a/9.bin")
        assert "\n" not in str(caught.value)


def test_store_can_be_pickled_before_and_after_use(store: Store) -> None:
    for _ in range(2):
        store = pickle.loads(pickle.dumps(store))
        assert store.read("b/2.bin") == b"b/2.bin"


def test_many_threads_use_one_store(store: Store) -> None:
    names = [f"t/{number:03}.bin" for number in range(60)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda name: store.publish(name, name.encode()), names))
        assert list(threads.map(store.read, names)) == [name.encode() for name in names]
    assert store.list("t/") == names
