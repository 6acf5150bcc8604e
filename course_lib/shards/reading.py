"""Reading a shard set: by position, many positions at once, or one shard after another.

Where the checks are paid: opening a set verifies the digest of ``shards.json`` and the checksum of the index;
a record is verified, with both its tar headers and its label, when this process touches it first, and again
when its shard's file has changed. So other bytes than those that were packed are not handed out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, repeat
from operator import getitem
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.coverage import Coverage, CoverageCount
from course_lib.shards.opening import OpenedSet, open_set
from course_lib.shards.shard_files import ShardFiles

if TYPE_CHECKING:
    from course_lib.splits import SplitManifest
    from course_lib.stores import Store

# What is verified and then copied out should still be in the processor's cache; verified shards only pay for
# the work on the index, which is cheaper in larger blocks.
_FIRST_BLOCK_BYTES, _BLOCK_BYTES = 1 << 19, 1 << 23
_MOST_BLOCK_RECORDS = 4_096
_READS_BETWEEN_LOOKS = 1_000
_xxh3 = xxhash.xxh3_64_intdigest
_new_tuple = tuple.__new__


class Record(NamedTuple):
    """One sample: its id, its encoded bytes and its label."""

    id: str
    payload: bytes
    label: int


class Records(NamedTuple):
    """Several samples, as three lists of the same length."""

    ids: list[str]
    payloads: list[bytes]
    labels: list[int]


class ShardSet:
    """A shard set that was opened for reading; make one with :meth:`open`.

    Only what it takes to open it travels to another process, where it is opened again at first use.

    Attributes
    ----------
    place : Path or Store
        Where the set is.
    strict : bool
        Whether damage stops the reading.
    """

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

    @classmethod
    def open(
        cls,
        place: Path | str | Store,
        *,
        strict: bool = True,
        split: SplitManifest | str | None = None,
        split_name: str | None = None,
    ) -> ShardSet:
        """Open a set: its manifest and index are verified, its shards looked at but not read.

        Parameters
        ----------
        place : Path, str or Store
            The folder of the set; or a store, from which shards are fetched whole.
        strict : bool, optional
            True stops at the first damage with its shard and sample; False leaves out what is lost, and
            counts it by class in :meth:`coverage`.
        split : SplitManifest or str, optional
            What the set must hold: a split by name, or a split manifest whose digest the set must carry.
        split_name : str, optional
            With a split manifest: the name of the split.

        Raises
        ------
        CourseError
            When the set is unfinished, damaged, of a newer format or of another split; in strict mode also
            when a shard is missing, too many, or of another length.
        """
        digest = getattr(split, "digest", None)
        name = split if isinstance(split, str) else split_name
        made = cls(
            Path(place) if isinstance(place, str) else place, strict=strict, split=name, split_digest=digest
        )
        _ = made.manifest
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process opens the set by."""
        return {"place": self.place, "strict": self.strict, "_wanted": self._wanted, "_opened": None}

    def __repr__(self) -> str:
        return f"ShardSet({self.manifest.title}, {len(self):,} samples, {len(self.manifest.shards):,} shards)"

    def __enter__(self) -> ShardSet:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of all files; the next use opens them again."""
        if self._opened is not None:
            self._files.release()
        self._opened = None

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

    @property
    def labels(self) -> NDArray[np.int64]:
        """All labels in pack order, shape (samples,)."""
        return self.index["label"].astype(np.int64)

    @property
    def shard_sizes(self) -> NDArray[np.int64]:
        """Samples of each shard, shape (shards,)."""
        return np.diff(self._set().bounds)

    def id(self, position: int) -> str:
        """Return the id of a sample."""
        identifier: bytes = self.index["id"][self._checked_position(position)]
        return identifier.decode()

    def ids(self, positions: Any = slice(None)) -> list[str]:
        """Return the ids of several samples, of all by default."""
        return [identifier.decode() for identifier in self.index["id"][positions].tolist()]

    def label(self, position: int) -> int:
        """Return the label of a sample."""
        return int(self.index["label"][self._checked_position(position)])

    def positions_of(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return where samples are in the set, in the order of ``ids``; a CourseError names a stranger."""
        there = np.ascontiguousarray(self.index["id"])
        wanted = np.array([identifier.encode() for identifier in ids], dtype=np.bytes_)
        order = np.argsort(there)
        at = order[np.minimum(np.searchsorted(there, wanted, sorter=order), len(there) - 1)]
        strangers = there[at] != wanted
        if strangers.any():
            raise CourseError(
                f"The shard set in {self._title} does not hold every sample",
                expected=f"the id {wanted[strangers][0].decode()}",
                found=f"{strangers.sum():,} of {len(wanted):,} ids missing",
                next_step="take the set of this split, or pack it anew",
            )
        return np.asarray(at, dtype=np.int64)

    def read(self, position: int) -> Record:
        """Return one sample, verified.

        Raises
        ------
        CourseError
            When there is no such position, or its bytes are damaged or missing; in either mode.
        """
        if self._opened is None:
            self._set()
        self._until_look -= 1
        if self._until_look < 0 or not 0 <= position < self._samples:
            self._checked_position(position)
            self._look_again()
        identifier, label, shard, offset, length, start, extent, check = self._row(
            self._row_bytes, position * self._row_size
        )
        content = self._kept.get(shard)
        if content is None:
            content = self._files.content(shard)
        if not self._verified[position]:
            if _xxh3(memoryview(content)[offset : offset + extent]) != check:
                raise self._damaged(position)
            self._verified[position] = 1
        return _new_tuple(Record, (identifier.rstrip(b"\0").decode(), content[start : start + length], label))

    def read_many(self, positions: Sequence[int] | NDArray[np.integer], *, copy: bool = True) -> Records:
        """Return several samples in one pass, verified; in tolerant mode without those that are lost.

        ``copy`` is that of :meth:`iterate`.

        Raises
        ------
        CourseError
            When there is no such position; in strict mode for the first sample that is damaged or missing.
        """
        return self.read_found(positions, copy=copy)[0]

    def read_found(
        self, positions: Sequence[int] | NDArray[np.integer], *, copy: bool = True
    ) -> tuple[Records, NDArray[np.int64], list[str]]:
        """Return samples like :meth:`read_many`, the places in ``positions`` that were lost, and why."""
        wanted = np.asarray(positions, dtype=np.int64)
        outside = (wanted < 0) | (wanted >= len(self))
        if outside.any():
            self._checked_position(int(wanted[outside][0]))
        order = None
        if not isinstance(self.place, Path):
            # Each shard is fetched whole, so that its samples are wanted one after the other.
            order = np.argsort(wanted, kind="stable")
            wanted = wanted[order]
        found, lost, reasons = self._read(self.index.take(wanted), wanted, copy)
        if order is not None:
            back = np.argsort(np.delete(order, lost), kind="stable").tolist()
            found = Records(*([column[at] for at in back] for column in found))
            lost = order[lost]
        return found, lost, reasons

    def iterate(
        self, shards: Iterable[int] | None = None, *, copy: bool = True
    ) -> Iterator[tuple[str, bytes, int]]:
        """Return an iterator over ``(id, payload, label)``, one sample at a time, verified.

        Parameters
        ----------
        shards : iterable of int, optional
            Numbers of shards in the order to read them; all in pack order by default.
        copy : bool, optional
            False hands out payloads as memoryviews of the mapped shard, which keep it mapped; nothing is
            copied, which makes small samples twice as fast.

        Raises
        ------
        CourseError
            From the iterator, in strict mode, for the first sample that is damaged or missing.
        """
        return chain.from_iterable(self._walk(shards, _copying if copy else memoryview))

    def iterate_batches(
        self, batch_size: int, shards: Iterable[int] | None = None, *, copy: bool = True
    ) -> Iterator[Records]:
        """Return an iterator over batches of ``batch_size`` samples; the last one may be smaller.

        ``shards`` and ``copy`` are those of :meth:`iterate`.

        Raises
        ------
        CourseError
            From the iterator, in strict mode, for the first sample that is damaged or missing.
        """
        if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
            raise CourseError("There is no such batch size", expected="1 or more", found=repr(batch_size))
        return self._batches(batch_size, shards, _copying if copy else memoryview)

    def coverage(self) -> Coverage:
        """Return what :meth:`iterate` and :meth:`iterate_batches` planned, delivered and lost last."""
        planned = CoverageCount(self.manifest.class_names)
        bounds = self._set().bounds.tolist()
        for number in self._pass:
            planned.planned(self.index["label"][bounds[number] : bounds[number + 1]])
        return replace(self._count.result(), planned=planned.result().planned)

    def loss(self, position: int) -> str:
        """Say in one sentence what is wrong with a damaged or missing sample."""
        return str(self._damaged(position))

    def _batches(
        self, size: int, shards: Iterable[int] | None, sliced: Callable[[Any], Any]
    ) -> Iterator[Records]:
        part, planned = Records([], [], []), 0
        for _, begin, end in self._ranges(shards):
            at = begin
            while at < end:
                until = min(end, at + size - planned)
                found = Records(*self._block(at, until, sliced, _listed))
                part = _joined(part, found) if planned else found
                planned += until - at
                at = until
                if planned == size:
                    yield part
                    self._count.delivered(part.labels)
                    part, planned = Records([], [], []), 0
        if planned:
            yield part
            self._count.delivered(part.labels)

    def _walk(
        self, shards: Iterable[int] | None, sliced: Callable[[Any], Any]
    ) -> Iterator[Iterable[tuple[str, bytes, int]]]:
        for number, begin, end in self._ranges(shards):
            block_bytes = _FIRST_BLOCK_BYTES if 0 in self._verified[begin:end] else _BLOCK_BYTES
            mean_extent = self.manifest.shards[number].bytes // (end - begin)
            step = max(1, min(_MOST_BLOCK_RECORDS, block_bytes // max(1, mean_extent)))
            for at in range(begin, end, step):
                ids, payloads, labels = self._block(at, min(end, at + step), sliced, _lazy)
                yield zip(ids, payloads, labels, strict=False)
                self._count.delivered(labels)

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

    def _block(
        self, begin: int, end: int, sliced: Callable[[Any], Any], made: Callable[..., tuple[Any, Any, Any]]
    ) -> tuple[Any, Any, list[int]]:
        """Return the records of one range inside one shard; fast, since one content holds them all."""
        rows = self.index[begin:end]
        content = self._files.content(rows["shard"].item(0))
        if 0 in self._verified[begin:end]:
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

    def _read(
        self, rows: NDArray[Any], positions: NDArray[np.int64], copy: bool
    ) -> tuple[Records, NDArray[np.int64], list[str]]:
        numbers = rows["shard"].tolist()
        self._files.look_again(set(numbers))
        content_of: Callable[[int], Any] = self._files.content
        view_of: Callable[[int], Any] = lambda number: memoryview(self._files.content(number))  # noqa: E731
        if isinstance(self.place, Path):
            there = {number: self._files.content(number) for number in set(numbers)}
            content_of = there.__getitem__
            view_of = {number: memoryview(content) for number, content in there.items()}.__getitem__
        lost, reasons = np.empty(0, dtype=np.int64), []
        if not self._verified_array[positions].all():
            kept = self._verify(rows, positions, map(view_of, numbers))
            if kept is not None:
                lost = np.flatnonzero(~kept)
                reasons = [self.loss(at) for at in positions[lost[:20]].tolist()]
                rows, numbers = rows[kept], rows["shard"][kept].tolist()
        starts = rows["start"]
        ends = (starts + rows["length"]).tolist()
        contents = map(content_of if copy else view_of, numbers)
        found = _listed(rows["id"].tolist(), contents, starts.tolist(), ends, rows["label"].tolist())
        self._files.count_touched(len(rows), int(rows["extent"].sum()))
        return Records(*found), lost, reasons

    def _verify(
        self, rows: NDArray[Any], positions: NDArray[np.int64], views: Iterable[Any]
    ) -> NDArray[np.bool_] | None:
        """Verify records; return which are whole, or None where all are. Strict mode raises instead."""
        offsets = rows["offset"]
        ends = (offsets + rows["extent"]).tolist()
        extents: Iterator[Any] = map(getitem, views, map(slice, offsets.tolist(), ends))
        checks = list(map(_xxh3, extents))
        if checks == rows["check"].tolist():
            self._verified_array[positions] = 1
            return None
        whole = np.array(checks, dtype=np.uint64) == rows["check"]
        self._verified_array[positions[whole]] = 1
        if self.strict:
            raise self._damaged(int(positions[np.argmin(whole)]))
        return whole

    def _set(self) -> OpenedSet:
        opened = self._opened
        if opened is None:
            opened = open_set(self.place, strict=self.strict, wanted=self._wanted)
            self._opened = opened
            self._files = ShardFiles(self.place, opened.manifest, self._forget)
            self._verified = bytearray(opened.manifest.samples)
            self._verified_array = np.frombuffer(self._verified, dtype=np.uint8)
            self._count = CoverageCount(opened.manifest.class_names)
            self._pass: list[int] = []
            row = struct.Struct(f"<{opened.rows.dtype['id'].itemsize}siiqqqqQ")
            self._row, self._row_size, self._samples = row.unpack_from, row.size, len(opened.rows)
            self._row_bytes = memoryview(opened.rows.view(np.uint8))  # type: ignore[arg-type]
            self._kept = self._files.kept
            self._until_look = _READS_BETWEEN_LOOKS
        return opened

    def _look_again(self) -> None:
        self._until_look = _READS_BETWEEN_LOOKS
        self._files.count_touched(_READS_BETWEEN_LOOKS, 0)
        self._files.look_again(set(self._kept))

    def _forget(self, number: int) -> None:
        begin, end = self._set().bounds[number : number + 2].tolist()
        self._verified_array[begin:end] = 0

    def _checked_position(self, position: int) -> int:
        if not 0 <= position < len(self):
            raise CourseError(
                f"There is no such sample in {self._title}",
                expected=f"a position from 0 to {len(self) - 1:,}",
                found=repr(position),
            )
        return position

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


def _copying(content: Any) -> Any:
    return content


def _joined(first: Records, second: Records) -> Records:
    return Records(first.ids + second.ids, first.payloads + second.payloads, first.labels + second.labels)


def _lazy(
    ids: list[bytes], contents: Iterable[Any], starts: list[int], ends: list[int], labels: list[int]
) -> tuple[Iterator[str], Iterator[bytes], list[int]]:
    return map(bytes.decode, ids), map(getitem, contents, map(slice, starts, ends)), labels


def _listed(
    ids: list[bytes], contents: Iterable[Any], starts: list[int], ends: list[int], labels: list[int]
) -> tuple[list[str], list[bytes], list[int]]:
    return list(map(bytes.decode, ids)), list(map(getitem, contents, map(slice, starts, ends))), labels
