"""Where a shard set is written to: a folder, or a store that may have no rename.

Both keep notes of what is finished while a pack is at work. In a folder these are in ``.packing``, in a store
under ``packing/``; a reader never looks there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import xxhash

from course_lib.errors import CourseError
from course_lib.files import cannot_write, write_atomically
from course_lib.shards.format import INDEX_FILE, MANIFEST_FILE, WORK_FOLDER
from course_lib.stores.store import Store

LOCK_FILE = ".packing.lock"
PLAN_NOTE = "plan"
_STORE_NOTES = "packing"
_CHUNK_BYTES = 4 << 20


@dataclass(frozen=True)
class Digests:
    """Length and digests of a file, as the shard manifest names them."""

    bytes: int
    sha256: str
    xxh3: str


class Target(Protocol):
    """A place for one shard set; it can be pickled, so that worker processes can have it."""

    @property
    def title(self) -> str:
        """Return the name for errors."""

    def names(self) -> list[str]:
        """Return the names of all files that a reader can see."""

    def put(self, name: str, buffers: Iterable[bytes | memoryview], *, sha256: str | None = None) -> Digests:
        """Write a file from buffers, whole or not at all; ``sha256`` is the digest that it must have."""

    def digests(self, name: str) -> Digests | None:
        """Read a file and return its digests; None where it is not there."""

    def read(self, name: str) -> bytes | None:
        """Return all bytes of a small file; None where it is not there."""

    def note(self, name: str, content: bytes) -> None:
        """Keep a note, whole or not at all."""

    def noted(self, name: str) -> bytes | None:
        """Return a note; None where there is none."""

    def clear_notes(self, names: Iterable[str]) -> None:
        """Remove the notes, once they are no longer needed."""

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Keep other packers out for as long as the block runs, where the place can do that."""


@dataclass(frozen=True)
class FolderTarget:
    """A folder: written aside, flushed to the disk, moved into place; a lock keeps other packers out."""

    folder: Path

    @property
    def title(self) -> str:
        """Return the folder."""
        return str(self.folder)

    def names(self) -> list[str]:
        """Return what is in the folder; hidden names are left out."""
        if not self.folder.is_dir():
            return []
        return sorted(path.name for path in self.folder.iterdir() if not path.name.startswith("."))

    def put(self, name: str, buffers: Iterable[bytes | memoryview], *, sha256: str | None = None) -> Digests:
        """Write a file from buffers; its digests are taken on the way.

        Raises
        ------
        CourseError
            When the disk does not take it, or it has another digest; what was there stays.
        """
        path = self.folder / name
        aside: Path | None = None
        try:
            # The folder of the notes is made by the packer that holds the lock, and by nobody else.
            descriptor, written = tempfile.mkstemp(
                prefix=f"{name}.", suffix=".part", dir=self.folder / WORK_FOLDER
            )
            aside = Path(written)
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                digests = _hashed(_overlapped(buffers), partial(_write_all, file.fileno()))
                _need_digest(name, digests, sha256)
                os.fsync(file.fileno())
            aside.chmod(0o644)
            aside.replace(path)
        except OSError as error:
            raise cannot_write(path, error) from error
        finally:
            if aside is not None:
                with contextlib.suppress(OSError):
                    aside.unlink(missing_ok=True)
        return digests

    def digests(self, name: str) -> Digests | None:
        """Read a file in chunks and return its digests; None where it is not there."""
        try:
            return file_digests(self.folder / name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _cannot_read(self.folder / name, error) from error

    def read(self, name: str) -> bytes | None:
        """Return all bytes of a small file; None where it is not there."""
        try:
            return (self.folder / name).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _cannot_read(self.folder / name, error) from error

    def note(self, name: str, content: bytes) -> None:
        """Keep a note in the hidden folder."""
        write_atomically(self.folder / WORK_FOLDER / name, content)

    def noted(self, name: str) -> bytes | None:
        """Return a note; None where there is none."""
        return self.read(f"{WORK_FOLDER}/{name}")

    def clear_notes(self, names: Iterable[str]) -> None:
        """Remove the hidden folder; what another process holds open on Windows goes at the next pack."""
        shutil.rmtree(self.folder / WORK_FOLDER, ignore_errors=True)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder's lock, which the system frees if this process dies; clear what a dead one left.

        Raises
        ------
        CourseError
            When another process packs into the folder, or it cannot be written.
        """
        import filelock

        lock = filelock.FileLock(self.folder / LOCK_FILE)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except filelock.Timeout as error:
            raise CourseError(
                f"Another process is packing into {self.folder}",
                expected="one packer for a folder",
                next_step="wait for it, or choose another folder",
            ) from error
        except OSError as error:
            raise cannot_write(self.folder, error) from error
        try:
            for kind in (f"{WORK_FOLDER}/*.part", f".{MANIFEST_FILE}.*.part", f".{INDEX_FILE}.*.part"):
                for leftover in self.folder.glob(kind):
                    leftover.unlink(missing_ok=True)
            yield
        finally:
            lock.release()

    @contextlib.contextmanager
    def working(self) -> Iterator[None]:
        """Hold the lock, with a hidden folder to write in that is removed at the end."""
        with self.alone():
            try:
                (self.folder / WORK_FOLDER).mkdir(exist_ok=True)
            except OSError as error:
                raise cannot_write(self.folder, error) from error
            try:
                yield
            finally:
                self.clear_notes(())


@dataclass(frozen=True)
class StoreTarget:
    """Objects of a store under a prefix; publishing never relies on rename.

    A store has no lock. Two packers with one plan publish the same bytes; one with another plan is refused by
    the plan that it finds, and no manifest is published over a plan that is no longer its own.
    """

    store: Store
    prefix: str = ""

    @property
    def title(self) -> str:
        """Return the store and the prefix."""
        return f"{self.store} under {self.prefix!r}" if self.prefix else str(self.store)

    def names(self) -> list[str]:
        """Return the names of the objects below the prefix, notes left out."""
        before = self._name("")
        names = [name[len(before) :] for name in self.store.list(before)]
        return [name for name in names if not name.startswith(f"{_STORE_NOTES}/")]

    def put(self, name: str, buffers: Iterable[bytes | memoryview], *, sha256: str | None = None) -> Digests:
        """Publish an object; a shard is held in memory for that, since a store takes whole objects."""
        parts: list[bytes | memoryview] = []
        digests = _hashed(buffers, parts.append)
        _need_digest(name, digests, sha256)
        self.store.publish(self._name(name), b"".join(parts))
        return digests

    def digests(self, name: str) -> Digests | None:
        """Read an object in ranges and return its digests; None where it is not there."""
        whole = self._name(name)
        if whole not in self.store.list(whole):
            return None
        size = self.store.stat(whole).size
        ranges = (
            self.store.read_range(whole, start, min(_CHUNK_BYTES, size - start))
            for start in range(0, size, _CHUNK_BYTES)
        )
        return _hashed(ranges, lambda _: None)

    def read(self, name: str) -> bytes | None:
        """Return all bytes of an object; None where it is not there."""
        whole = self._name(name)
        return self.store.read(whole) if whole in self.store.list(whole) else None

    def note(self, name: str, content: bytes) -> None:
        """Keep a note beside the set."""
        self.store.publish(self._name(f"{_STORE_NOTES}/{name}"), content)

    def noted(self, name: str) -> bytes | None:
        """Return a note; None where there is none."""
        return self.read(f"{_STORE_NOTES}/{name}")

    def clear_notes(self, names: Iterable[str]) -> None:
        """Remove the notes from a store that can delete; they stay in one that cannot."""
        delete = getattr(self.store, "delete", None)
        if delete is not None:
            there = set(self.store.list(self._name(f"{_STORE_NOTES}/")))
            for name in names:
                if (note := self._name(f"{_STORE_NOTES}/{name}")) in there:
                    delete(note)

    def alone(self) -> contextlib.AbstractContextManager[None]:
        """Do nothing: a store has no lock."""
        return contextlib.nullcontext()

    def _name(self, name: str) -> str:
        return f"{self.prefix.rstrip('/')}/{name}" if self.prefix.rstrip("/") else name


def file_digests(path: Path) -> Digests:
    """Read a file in chunks and return its length and digests."""
    with path.open("rb", buffering=0) as file:
        return _hashed(iter(lambda: file.read(_CHUNK_BYTES), b""), lambda _: None)


def _hashed(buffers: Iterable[bytes | memoryview], take: Callable[[bytes | memoryview], object]) -> Digests:
    sha256, xxh3, length = hashlib.sha256(), xxhash.xxh3_64(), 0
    for buffer in buffers:
        take(buffer)
        sha256.update(buffer)
        xxh3.update(buffer)
        length += len(buffer)
    return Digests(length, sha256.hexdigest(), xxh3.hexdigest())


def _need_digest(name: str, digests: Digests, sha256: str | None) -> None:
    if sha256 is not None and digests.sha256 != sha256:
        raise CourseError(
            f"{name} cannot be written anew to the bytes that it had",
            expected=f"SHA-256 {sha256[:12]}...",
            found=f"{digests.sha256[:12]}...",
            next_step="the source gives other bytes now: restore it, or pack a new set",
        )


def _write_all(descriptor: int, buffer: bytes | memoryview) -> None:
    left = memoryview(buffer)
    while left:
        left = left[os.write(descriptor, left) :]


def _overlapped(buffers: Iterable[bytes | memoryview]) -> Iterator[bytes | memoryview]:
    """Yield buffers while the next one is already being filled by another thread."""
    source = iter(buffers)
    with ThreadPoolExecutor(1) as filler:
        coming = filler.submit(next, source, None)
        while (buffer := coming.result()) is not None:
            coming = filler.submit(next, source, None)
            yield buffer


def _cannot_read(path: Path, error: OSError) -> CourseError:
    return CourseError(
        f"{path} could not be read",
        found=error.strerror or str(error),
        next_step="check your rights to it, and run the same command again",
    )
