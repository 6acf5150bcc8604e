from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from course_lib.stores import CacheState, cache_state, evict, observe_cache

ON_LINUX = sys.platform.startswith("linux")
SHARED_MEMORY = Path("/dev/shm")


def types_of(folder: Path) -> str:
    return cache_state.file_system_of(folder)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    if not ON_LINUX:
        pytest.skip("only Linux tells which files are in its cache")
    if types_of(tmp_path) in ("tmpfs", "ramfs"):
        pytest.skip("the temporary folder is in memory")
    paths = [tmp_path / f"{number}.bin" for number in range(40)]
    for path in paths:
        path.write_bytes(os.urandom(9000))
    return paths


def test_files_just_written_are_warm(files: list[Path]) -> None:
    state = observe_cache(files)
    assert (state.kind, state.file_count, state.byte_count) == ("warm", 40, 360_000)
    assert state.resident_share == 1.0


def test_evicted_files_are_seen_cold_and_read_ones_warm(files: list[Path]) -> None:
    contents = [path.read_bytes() for path in files]
    assert evict(files).kind == "cold"
    assert observe_cache(files).kind == "cold"
    assert [path.read_bytes() for path in files[:20]] == contents[:20]
    half = observe_cache(files)
    assert half.kind == "partly warm"
    assert half.resident_share == pytest.approx(0.5, abs=0.05)
    assert [path.read_bytes() for path in files] == contents
    assert observe_cache(files).kind == "warm"


def test_observing_does_not_warm(files: list[Path]) -> None:
    evict(files)
    for _ in range(3):
        observe_cache(files)
    assert observe_cache(files).kind == "cold"


def test_some_of_many_files_are_looked_at_and_the_state_says_so(files: list[Path]) -> None:
    state = observe_cache(files, most_files=10)
    assert state.file_count == 10
    assert "10 of 40 files" in state.reason
    for path in files:
        path.read_bytes()
    evict(files[:20])
    assert observe_cache(files, most_files=10).resident_share == pytest.approx(0.5, abs=0.1)


@pytest.mark.skipif(not SHARED_MEMORY.is_dir() or not ON_LINUX, reason="no file system in memory here")
def test_eviction_from_memory_says_that_nothing_was_dropped() -> None:
    if types_of(SHARED_MEMORY) != "tmpfs":
        pytest.skip("shared memory is no tmpfs here")
    path = SHARED_MEMORY / f"course-test-{os.getpid()}"
    try:
        path.write_bytes(b"x" * 10_000)
        state = evict([path])
    finally:
        path.unlink(missing_ok=True)
    assert state.kind == "warm"
    assert "nothing was dropped" in state.reason
    assert "tmpfs" in state.reason


@pytest.mark.parametrize("platform", ["darwin", "win32"])
def test_state_is_unknown_on_other_systems(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"x")
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.delattr(os, "posix_fadvise", raising=False)
    for state in (observe_cache([path]), evict([path])):
        assert (state.kind, state.resident_share) == ("unknown", None)
        assert "this system does not" in state.reason


def test_state_is_unknown_for_no_files_empty_files_and_missing_ones(tmp_path: Path) -> None:
    empty = tmp_path / "empty.bin"
    empty.write_bytes(b"")
    for paths in ([], [empty], [tmp_path / "missing.bin"]):
        for state in (observe_cache(paths), evict(paths)):
            assert state.kind == "unknown"
            assert state.reason


@pytest.mark.skipif(not ON_LINUX, reason="only Linux tells which files are in its cache")
def test_state_is_unknown_for_files_of_another_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"x")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    monkeypatch.setattr(os, "access", lambda *_: False)
    state = observe_cache([path])
    assert state.kind == "unknown"
    assert "own" in state.reason


@pytest.mark.skipif(not ON_LINUX, reason="only Linux tells which files are in its cache")
def test_state_is_unknown_where_the_system_refuses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(b"x")

    class NoLibrary:
        def __init__(self, *_: object, **__: object) -> None:
            raise OSError(38, "Function not implemented")

    monkeypatch.setattr(cache_state.ctypes, "CDLL", NoLibrary)
    assert "Function not implemented" in observe_cache([path]).reason


def test_state_survives_a_record() -> None:
    state = CacheState("partly warm", 0.5, 3, 3000, "why")
    assert CacheState.from_dict(state.as_dict()) == state


def test_file_system_type_is_that_of_the_deepest_mount(tmp_path: Path) -> None:
    mounts = {Path(mount.mountpoint): mount.fstype for mount in psutil.disk_partitions(all=True)}
    for folder in (tmp_path, *tmp_path.parents):
        if folder in mounts:
            assert types_of(tmp_path) == mounts[folder]
            break
