"""Reading a shard set: by position, many positions at once, or one shard after another.

Where the checks are paid: opening a set verifies the digest of ``shards.json`` and the checksum of the index;
a record is verified, with both its tar headers and its label, when this process touches it first, by itself
or with its whole shard, and again when its shard's file has changed. So other bytes than those that were
packed are not handed out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.coverage import Coverage, CoverageCount
from course_lib.shards.record_access import RecordAccess, lazy, listed

if TYPE_CHECKING:
    from course_lib.splits import SplitManifest
    from course_lib.stores import Store

# What is verified and then copied out should still be in the processor's cache; verified shards only pay for
# the work on the index, which is cheaper in larger blocks.
_FIRST_BLOCK_BYTES, _BLOCK_BYTES = 1 << 19, 1 << 23
_MOST_BLOCK_RECORDS = 4_096
_ROWS_AHEAD = 512
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


class ShardSet(RecordAccess):
    """A shard set that was opened for reading; make one with :meth:`open`.

    Only what it takes to open it travels to another process, where it is opened again at first use.

    Attributes
    ----------
    place : Path or Store
        Where the set is.
    strict : bool
        Whether damage stops the reading.
    """

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
        identifier, label, shard, length, start = self._row(self._row_bytes, position * self._row_size)
        content = self._kept.get(shard)
        if content is None:
            content = self._files.content(shard)
        if not self._flags[position]:
            self._verify_one(position, shard, content)
        if not identifier[-1]:
            identifier = identifier.rstrip(b"\0")
        return _new_tuple(Record, (identifier.decode(), content[start : start + length], label))

    def payload(self, position: int) -> bytes:
        """Return the encoded bytes of one sample, verified: what :meth:`read` returns, without id and label.

        Raises
        ------
        CourseError
            As :meth:`read`.
        """
        if self._opened is None:
            self._set()
        self._until_look -= 1
        if self._until_look < 0 or not 0 <= position < self._samples:
            self._checked_position(position)
            self._look_again()
        shard, length, start = self._place(self._row_bytes, position * self._row_size)
        content = self._kept.get(shard)
        if content is None:
            content = self._files.content(shard)
        if not self._flags[position]:
            self._verify_one(position, shard, content)
        return content[start : start + length]

    def read_each(
        self, positions: Sequence[int] | NDArray[np.integer], *, copy: bool = True
    ) -> Iterator[tuple[str, bytes, int]]:
        """Return an iterator over ``(id, payload, label)`` at many positions in any order, verified.

        Where the order is known, this is faster than :meth:`read`: the index is read some rows ahead.
        ``copy`` is that of :meth:`iterate`; in tolerant mode samples that are lost are left out.

        Raises
        ------
        CourseError
            When there is no such position; from the iterator, in strict mode, for damaged or missing samples.
        """
        wanted = self._checked_positions(positions)
        return chain.from_iterable(
            zip(*self._found(wanted[at : at + _ROWS_AHEAD], copy, lazy)[0], strict=False)
            for at in range(0, len(wanted), _ROWS_AHEAD)
        )

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
        found, lost, reasons = self._found(self._checked_positions(positions), copy, listed)
        return Records(*found), lost, reasons

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

    def _batches(
        self, size: int, shards: Iterable[int] | None, sliced: Callable[[Any], Any]
    ) -> Iterator[Records]:
        part, planned = Records([], [], []), 0
        for _, begin, end in self._ranges(shards):
            at = begin
            while at < end:
                until = min(end, at + size - planned)
                found = Records(*self._block(at, until, sliced, listed))
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
            mean_extent = max(1, self.manifest.shards[number].bytes // (end - begin))
            at = begin
            while at < end:
                block_bytes = _BLOCK_BYTES if self._verified.covers(begin, end) else _FIRST_BLOCK_BYTES
                until = min(end, at + max(1, min(_MOST_BLOCK_RECORDS, block_bytes // mean_extent)))
                ids, payloads, labels = self._block(at, until, sliced, lazy)
                yield zip(ids, payloads, labels, strict=False)
                self._count.delivered(labels)
                at = until


def _copying(content: Any) -> Any:
    return content


def _joined(first: Records, second: Records) -> Records:
    return Records(first.ids + second.ids, first.payloads + second.payloads, first.labels + second.labels)
