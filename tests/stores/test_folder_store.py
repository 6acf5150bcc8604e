from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.stores import FolderStore


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    folder = FolderStore(tmp_path / "store")
    for name in ("b/2.bin", "a/1.bin", "a/3.bin", "ab.bin"):
        folder.write(name, name.encode())
    return folder


def test_names_are_relative_sorted_and_chosen_by_prefix(store: FolderStore) -> None:
    assert store.list() == ["a/1.bin", "a/3.bin", "ab.bin", "b/2.bin"]
    assert store.list("a") == ["a/1.bin", "a/3.bin", "ab.bin"]
    assert store.list("a/") == ["a/1.bin", "a/3.bin"]
    assert store.list("none/") == []


def test_hidden_files_and_folders_are_not_listed(store: FolderStore) -> None:
    (store.root / ".ipynb_checkpoints").mkdir()
    (store.root / ".ipynb_checkpoints" / "x.bin").write_bytes(b"")
    (store.root / "a" / ".hidden").write_bytes(b"")
    assert len(store.list()) == 4


def test_reads_what_was_written_or_published_whole_and_in_part(store: FolderStore) -> None:
    store.publish("c/4.bin", b"0123456789")
    assert store.read("c/4.bin") == b"0123456789"
    assert store.read_range("c/4.bin", 3, 4) == b"3456"
    assert store.stat("c/4.bin").size == 10
    assert store.list("c/") == ["c/4.bin"]


def test_range_past_the_end_is_an_error(store: FolderStore) -> None:
    with pytest.raises(CourseError, match="ends too early"):
        store.read_range("a/1.bin", 5, 100)


@pytest.mark.parametrize("name", ["", "/x", "../x", "a/../../x", "a//b", "./a", "a\\b", "C:/x", "a\0b"])
def test_name_that_leads_out_of_the_store_is_refused(store: FolderStore, name: str) -> None:
    for act in (store.read, store.stat, lambda name: store.write(name, b"")):
        with pytest.raises(CourseError, match="no name of an object"):
            act(name)


def test_missing_object_or_folder_is_one_sentence(store: FolderStore, tmp_path: Path) -> None:
    for act in (store.read, store.stat, lambda name: store.read_range(name, 0, 1)):
        with pytest.raises(CourseError, match=r"a/9\.bin could not be read"):
            act("a/9.bin")
    with pytest.raises(CourseError, match="could not be listed"):
        FolderStore(tmp_path / "nowhere").list()
    with pytest.raises(CourseError, match="could not be written"):
        store.write("ab.bin/x", b"")


def test_store_can_be_pickled(store: FolderStore) -> None:
    assert pickle.loads(pickle.dumps(store)).read("b/2.bin") == b"b/2.bin"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such pipes")
def test_a_pipe_is_not_listed(store: FolderStore) -> None:
    os.mkfifo(store.root / "a" / "2.bin")
    assert store.list("a/") == ["a/1.bin", "a/3.bin"]


@pytest.mark.parametrize("prefix", ["../", "/etc/", "a/../../", "a//"])
def test_a_prefix_that_leads_out_of_the_store_is_refused(store: FolderStore, prefix: str) -> None:
    with pytest.raises(CourseError, match="no name of an object"):
        store.list(prefix)


def test_a_range_beyond_all_bounds_is_refused_without_making_room_for_it(store: FolderStore) -> None:
    with pytest.raises(CourseError, match="ends too early"):
        store.read_range("ab.bin", 0, 10**18)


@pytest.mark.parametrize("name", [5, None, b"a"])
def test_a_name_that_is_no_text_is_refused(store: FolderStore, name: Any) -> None:
    with pytest.raises(CourseError, match="no name of an object"):
        store.read(name)
