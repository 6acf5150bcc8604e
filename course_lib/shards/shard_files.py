"""The bytes of shards: memory-mapped from a folder, or fetched whole from a store; the last ones are kept."""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.errors import CourseError
from course_lib.shards.format import ShardSetManifest

if TYPE_CHECKING:
    from course_lib.stores import Store

# Python's mmap keeps a descriptor for each mapping, and macOS gives a process 256.
MOST_MAPPED = 192
# Pages of a mapping count towards a process until they are given back, which happens beyond this much.
MOST_TOUCHED_BYTES = 256_000_000
MOST_FETCHED_BYTES = 600_000_000
# Linux maps up to a whole large page for each place that is touched.
_MAPPED_PER_TOUCH = 1 << 21


@dataclass(frozen=True)
class ShardTrouble:
    """A shard that is not there, or not as long as it was packed.

    Attributes
    ----------
    number : int
        Its place in the manifest.
    bytes : int or None
        Its length; None when it is missing.
    reason : str
        In words.
    """

    number: int
    bytes: int | None
    reason: str


class ShardFiles:
    """The shards of one set by number, opened when they are first asked for.

    Nothing that is kept has a position in a file, so threads and forked processes do not disturb each other.

    Parameters
    ----------
    place : Path or Store
        The folder, mapped; or a store, from which a shard is fetched whole with one read.
    manifest : ShardSetManifest
    changed : callable
        Called with the number of a shard whose file is another than before.

    Attributes
    ----------
    kept : dict of int to bytes or mmap
        What is open at present, for reading from; always the same dict.
    """

    def __init__(
        self, place: Path | Store, manifest: ShardSetManifest, changed: Callable[[int], None]
    ) -> None:
        self._place = place
        self._shards = manifest.shards
        self._changed = changed
        self._total = manifest.shard_bytes
        self.kept: dict[int, bytes | mmap.mmap] = {}
        self._stamps: dict[int, tuple[int, int, int]] = {}
        self._touched = 0

    def listed(self) -> tuple[list[ShardTrouble], list[str]]:
        """Return the shards that are missing or of another length, and the names of shards too many."""
        sizes = self._sizes()
        troubles = []
        for number, shard in enumerate(self._shards):
            if shard.name not in sizes:
                troubles.append(ShardTrouble(number, None, "is missing"))
            elif sizes[shard.name] not in (None, shard.bytes):
                troubles.append(self._wrong_length(number, sizes[shard.name]))
        known = {shard.name for shard in self._shards}
        return troubles, sorted(name for name in sizes if name not in known)

    def content(self, number: int) -> bytes | mmap.mmap:
        """Return the bytes of a shard, empty when it is missing or unreadable."""
        kept = self.kept.get(number)
        return kept if kept is not None else self._open(number)

    def count_touched(self, records: int, extent_bytes: int) -> None:
        """Note what was read; their pages are given back where they add up to too much."""
        if isinstance(self._place, Path) and self._total > MOST_TOUCHED_BYTES:
            self._touched += extent_bytes + records * _MAPPED_PER_TOUCH
            if self._touched > MOST_TOUCHED_BYTES:
                self._let_go_of_pages()

    def look_again(self, numbers: set[int]) -> None:
        """Close the mappings of shards whose file has changed since, so that they are checked anew."""
        if not isinstance(self._place, Path):
            return
        for number in numbers:
            if number in self.kept and self._stamp(number) != self._stamps.get(number):
                del self.kept[number]

    def _let_go_of_pages(self) -> None:
        self._touched = 0
        if not sys.platform.startswith("linux"):
            self.release()
            return
        for content in self.kept.values():
            if isinstance(content, mmap.mmap):
                content.madvise(mmap.MADV_DONTNEED)

    def release(self) -> None:
        """Let go of all shards."""
        # Slices of a mapping may still be in use; the last one gone closes it.
        self.kept.clear()
        self._touched = 0

    def _open(self, number: int) -> bytes | mmap.mmap:
        if isinstance(self._place, Path):
            if len(self.kept) >= MOST_MAPPED:
                self.release()
            content = self._mapped(self._place / self._shards[number].name, number)
        else:
            content = self._fetched(number)
        self.kept[number] = content
        return content

    def _mapped(self, path: Path, number: int) -> bytes | mmap.mmap:
        stamp = self._stamp(number)
        if self._stamps.setdefault(number, stamp) != stamp:
            self._stamps[number] = stamp
            self._changed(number)
        try:
            with path.open("rb") as file:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):
            return b""

    def _fetched(self, number: int) -> bytes:
        held = sum(len(content) for content in self.kept.values())
        while self.kept and held + self._shards[number].bytes > MOST_FETCHED_BYTES:
            held -= len(self.kept.pop(next(iter(self.kept))))
        self._changed(number)
        try:
            return self._place.read(self._shards[number].name)  # type: ignore[union-attr]
        except CourseError:
            return b""

    def _stamp(self, number: int) -> tuple[int, int, int]:
        try:
            status = (self._place / self._shards[number].name).stat()  # type: ignore[operator]
        except OSError:
            return (-1, -1, -1)
        return status.st_size, status.st_mtime_ns, status.st_ino

    def _sizes(self) -> dict[str, int | None]:
        if not isinstance(self._place, Path):
            return {name: None for name in self._place.list() if name.endswith(".tar") and "/" not in name}
        with os.scandir(self._place) as entries:
            return {
                entry.name: entry.stat().st_size
                for entry in entries
                if entry.name.endswith(".tar") and not entry.name.startswith(".")
            }

    def _wrong_length(self, number: int, found: int | None) -> ShardTrouble:
        packed = self._shards[number].bytes
        return ShardTrouble(number, found, f"has {found:,} bytes instead of the {packed:,} that were packed")
