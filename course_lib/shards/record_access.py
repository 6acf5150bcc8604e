"""Records behind a shard set: where they lie, and that nothing is handed out before it was verified."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.coverage import CoverageCount
from course_lib.shards.opening import OpenedSet, open_set
from course_lib.shards.shard_files import ShardFiles
from course_lib.shards.verified import VerifiedRecords, xxh3

if TYPE_CHECKING:
    from course_lib.stores import Store

_READS_BETWEEN_LOOKS = 1_000
# Ids, payloads and labels, as :func:`lazy` or :func:`listed` make them.
Made = tuple[Any, Any, list[int]]


class RecordAccess:
    """What :class:`course_lib.shards.ShardSet` reads through: opened at first use, in every process anew."""

    def __init__(
        self,
        place: Path | Store,
        *,
        strict: bool = True,
        split: str | None = None,
        split_digest: str | None = None,
    ) -> None:
        self.place = place
        self.strict = strict
        self._wanted = (split, split_digest)
        self._opened: OpenedSet | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process opens the set by."""
        return {"place": self.place, "strict": self.strict, "_wanted": self._wanted, "_opened": None}

    def __len__(self) -> int:
        return self.manifest.samples

    @property
    def manifest(self) -> Any:
        """The set's ``ShardSetManifest``."""
        return self._set().manifest

    @property
    def index(self) -> NDArray[Any]:
        """The index: one row a sample, in pack order, memory-mapped."""
        return self._set().rows

    def loss(self, position: int) -> str:
        """Say in one sentence what is wrong with a damaged or missing sample."""
        return str(self._damaged(position))

    def _ranges(self, shards: Iterable[int] | None) -> Iterator[tuple[int, int, int]]:
        bounds = self._set().bounds.tolist()
        count = len(bounds) - 1
        numbers = range(count) if shards is None else list(shards)
        for number in numbers:
            if not 0 <= number < count:
                raise CourseError("There is no such shard", expected=f"0 to {count - 1}", found=repr(number))
        self._count.clear()
        self._pass[:] = numbers
        for number in numbers:
            self._files.look_again({number})
            yield number, bounds[number], bounds[number + 1]
            self._files.count_touched(0, self.manifest.shards[number].bytes)

    def _block(self, begin: int, end: int, sliced: Callable[[Any], Any], made: Callable[..., Made]) -> Made:
        """Return the records of one range inside one shard; fast, since one content holds them all."""
        rows = self.index[begin:end]
        content = self._files.content(rows["shard"].item(0))
        if not self._verified.covers(begin, end):
            kept = self._verify(rows, np.arange(begin, end), repeat(memoryview(content)))
            if kept is not None:
                lost = np.flatnonzero(~kept)
                self._count.failed(rows["label"][lost], [self.loss(begin + at) for at in lost[:20].tolist()])
                rows = rows[kept]
        starts = rows["start"]
        ends = starts + rows["length"]
        return made(
            rows["id"].tolist(),
            repeat(sliced(content)),
            starts.tolist(),
            ends.tolist(),
            rows["label"].tolist(),
        )

    def _found(
        self, wanted: NDArray[np.int64], copy: bool, made: Callable[..., Made]
    ) -> tuple[Made, NDArray[np.int64], list[str]]:
        if isinstance(self.place, Path):
            return self._read(self.index.take(wanted), wanted, copy, made)
        # Each shard is fetched whole, so that its samples are wanted one after the other.
        order = np.argsort(wanted, kind="stable")
        wanted = wanted[order]
        found, lost, reasons = self._read(self.index.take(wanted), wanted, copy, listed)
        back = np.argsort(np.delete(order, lost), kind="stable").tolist()
        ids, payloads, labels = ([column[at] for at in back] for column in found)
        return (ids, payloads, labels), order[lost], reasons

    def _read(
        self,
        rows: NDArray[Any],
        positions: NDArray[np.int64],
        copy: bool,
        made: Callable[..., Made],
    ) -> tuple[Made, NDArray[np.int64], list[str]]:
        numbers = rows["shard"].tolist()
        self._files.look_again(set(numbers))
        content_of: Callable[[int], Any] = self._files.content
        view_of: Callable[[int], Any] = lambda number: memoryview(self._files.content(number))  # noqa: E731
        if isinstance(self.place, Path):
            there = {number: self._files.content(number) for number in set(numbers)}
            content_of = there.__getitem__
            view_of = {number: memoryview(content) for number, content in there.items()}.__getitem__
        lost, reasons = np.empty(0, dtype=np.int64), []
        if not self._verified.covers_all(positions):
            for number in set(numbers):
                if self._verified.is_better_whole(number, numbers.count(number)):
                    self._verified.verify_whole(number, self._files.content(number))
        if not self._verified.covers_all(positions):
            kept = self._verify(rows, positions, map(view_of, numbers))
            if kept is not None:
                lost = np.flatnonzero(~kept)
                reasons = [self.loss(at) for at in positions[lost[:20]].tolist()]
                rows, numbers = rows[kept], rows["shard"][kept].tolist()
        starts = rows["start"]
        ends = (starts + rows["length"]).tolist()
        contents = map(content_of if copy else view_of, numbers)
        found = made(rows["id"].tolist(), contents, starts.tolist(), ends, rows["label"].tolist())
        self._files.count_touched(len(rows), int(rows["extent"].sum()))
        return found, lost, reasons

    def _verify(
        self, rows: NDArray[Any], positions: NDArray[np.int64], views: Iterable[Any]
    ) -> NDArray[np.bool_] | None:
        """Verify records; return which are whole, or None where all are. Strict mode raises instead."""
        whole = self._verified.verify(rows, positions, views)
        if whole is not None and self.strict:
            raise self._damaged(int(positions[np.argmin(whole)]))
        return whole

    def _verify_one(self, position: int, number: int, content: Any) -> None:
        if self._verified.is_better_whole(number, 1):
            self._verified.verify_whole(number, content)
            if self._flags[position]:
                return
        begin, extent, check = self._check(
            self._row_bytes, (position + 1) * self._row_size - self._check_size
        )
        if xxh3(memoryview(content)[begin : begin + extent]) != check:
            raise self._damaged(position)
        self._flags[position] = 1

    def _set(self) -> OpenedSet:
        opened = self._opened
        if opened is None:
            opened = open_set(self.place, strict=self.strict, wanted=self._wanted)
            self._opened = opened
            self._verified = VerifiedRecords(opened)
            self._flags = self._verified.flags
            self._files = ShardFiles(self.place, opened.manifest, self._verified.forget)
            self._count = CoverageCount(opened.manifest.class_names)
            self._pass: list[int] = []
            kind = opened.rows.dtype
            # id, label, shard, length and start; see `format.index_dtype`.
            self._row = struct.Struct(f"<{kind['id'].itemsize}sii8xqq").unpack_from
            self._place = struct.Struct(f"<{kind['id'].itemsize + 4}xi8xqq").unpack_from
            # From the end of a row: offset, extent and check.
            check = struct.Struct("<q16xqQ")
            self._check, self._check_size = check.unpack_from, check.size
            self._row_size, self._samples = kind.itemsize, len(opened.rows)
            self._row_bytes = memoryview(opened.rows.view(np.uint8))  # type: ignore[arg-type]
            self._kept = self._files.kept
            self._until_look = _READS_BETWEEN_LOOKS
        return opened

    def _look_again(self) -> None:
        self._until_look = _READS_BETWEEN_LOOKS
        self._files.count_touched(_READS_BETWEEN_LOOKS, 0)
        self._files.look_again(set(self._kept))

    def _checked_position(self, position: int) -> int:
        if not 0 <= position < len(self):
            raise CourseError(
                f"There is no such sample in {self._title}",
                expected=f"a position from 0 to {len(self) - 1:,}",
                found=repr(position),
            )
        return position

    def _checked_positions(self, positions: Sequence[int] | NDArray[np.integer]) -> NDArray[np.int64]:
        wanted = np.asarray(positions, dtype=np.int64)
        outside = (wanted < 0) | (wanted >= len(self))
        if outside.any():
            self._checked_position(int(wanted[outside][0]))
        return wanted

    @property
    def _title(self) -> str:
        return str(self.place) if isinstance(self.place, Path) else self.manifest.title

    def _damaged(self, position: int) -> CourseError:
        row = self.index[position]
        number = int(row["shard"])
        content = self._files.content(number)
        name = self.manifest.shards[number].name
        end = int(row["offset"] + row["extent"])
        if not len(content):
            found: str = "a shard that is missing or cannot be read"
        elif len(content) < end:
            found = f"a shard that ends at byte {len(content):,}"
        else:
            found = "other bytes than were packed"
        return CourseError(
            f"Sample {row['id'].decode()} in shard {name} of {self._title} is damaged",
            expected=f"the checked bytes {int(row['offset']):,} to {end:,}",
            found=found,
            next_step="run `course shards repair`, or read it with strict=False and look at the coverage",
        )


def lazy(
    ids: list[bytes], contents: Iterable[Any], starts: list[int], ends: list[int], labels: list[int]
) -> tuple[Iterator[str], Iterator[bytes], list[int]]:
    """Return ids and payloads that are made when they are asked for, and labels."""
    return map(bytes.decode, ids), map(getitem, contents, map(slice, starts, ends)), labels


def listed(
    ids: list[bytes], contents: Iterable[Any], starts: list[int], ends: list[int], labels: list[int]
) -> tuple[list[str], list[bytes], list[int]]:
    """Return ids, payloads and labels, all made at once."""
    return list(map(bytes.decode, ids)), list(map(getitem, contents, map(slice, starts, ends))), labels
