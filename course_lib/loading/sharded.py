"""The same samples read by position from a shard set, as PyTorch's DataLoader asks for them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions
from course_lib.loading.samples import LoadedSamples
from course_lib.loading.sampling import Draw
from course_lib.shards import ShardSet
from course_lib.stores import FolderStore, SetLatencyStore

WHAT_OPENS = (
    "The set time per open applies to each file of the layout files, and in the layout shards to each shard "
    "once in every process that reads it."
)


class ShardSamples(LoadedSamples):
    """Image samples of a shard set, under the positions that they have as files.

    Ids, labels and payloads are those of the set, looked up once by the ids of the files. A process opens a
    shard when it first needs a sample of it, and keeps it open; the set time of an open is spent then. What
    is read is checked by the shard set itself.

    Parameters
    ----------
    files : LoadedSamples
        The same samples as files.
    shard_set : ShardSet
        Holds them all, in any order.
    conditions : LoaderConditions
        Transforms and what is set for the store.

    Raises
    ------
    CourseError
        When the set does not hold each sample with its label; and from reading, with shard and sample.
    """

    def __init__(self, files: LoadedSamples, shard_set: ShardSet, conditions: LoaderConditions) -> None:
        assert isinstance(shard_set.place, Path)
        folder = shard_set.place
        self.shard_set = shard_set
        self._at = shard_set.positions_of(files.sample_ids(range(len(files))))
        labels = shard_set.labels[self._at]
        if not np.array_equal(labels, files.labels):
            raise damaged_set(folder, "other labels than the files")
        super().__init__(
            FolderStore(folder),
            np.array([shard.name.encode() for shard in shard_set.manifest.shards], dtype=np.bytes_),
            shard_set.index["id"][self._at],
            labels,
            None,
            files.shape,
            files.origin,
            folder,
            conditions,
        )
        self._shard_of = shard_set.index["shard"][self._at]
        bandwidth = conditions.bandwidth_bytes_per_second
        self._opens = SetLatencyStore(FolderStore(folder), open_seconds=conditions.open_ms / 1000)
        self._link = SetLatencyStore(_RecordStore(folder, shard_set), bytes_per_second=bandwidth)
        self._opened_by = -1
        self._opened: set[int] = set()

    def __len__(self) -> int:
        return len(self._at)

    def __getitems__(self, draws: Sequence[Draw | int]) -> list[dict[str, Any]]:
        """Return several samples; their payloads are read together."""
        pairs = [draw if isinstance(draw, tuple) else Draw(0, draw) for draw in draws]
        payloads = self.payloads([position for _, position in pairs])
        return [
            self._sample(payload, epoch, position)
            for payload, (epoch, position) in zip(payloads, pairs, strict=True)
        ]

    def payload(self, position: int) -> bytes:
        """Return the encoded bytes of one sample, checked by the shard set."""
        return self.payloads([position])[0]

    def payloads(self, positions: Sequence[int]) -> list[bytes]:
        """Return the encoded bytes of several samples, checked by the shard set."""
        wanted = np.asarray(positions, dtype=np.int64)
        if self._opens.set_seconds["open"]:
            self._open(np.unique(self._shard_of[wanted]).tolist())
        records = self._at[wanted]
        if self._link.bytes_per_second is None:
            return self.shard_set.read_many(records).payloads
        return [self._link.read(str(record)) for record in records.tolist()]

    def _open(self, shards: list[int]) -> None:
        # A forked worker inherits what its parent has opened, but has to open the shards for itself.
        if self._opened_by != os.getpid():
            self._opened_by, self._opened = os.getpid(), set()
        for number in shards:
            if number not in self._opened:
                self._opens.read_range(self.shard_set.manifest.shards[number].name, 0, 1)
                self._opened.add(number)


@dataclass(frozen=True)
class _RecordStore(FolderStore):
    """The folder of a shard set, from which a record is read by its position, and verified."""

    shard_set: ShardSet

    def read(self, name: str) -> bytes:
        """Return the payload of the record at a position."""
        return self.shard_set.read(int(name)).payload


def damaged_set(folder: Path, found: str) -> CourseError:
    """Say that a set in the course's home is not what was packed, and that it can be made again."""
    return CourseError(
        f"The shard set {folder} does not hold the samples that were packed",
        found=found,
        next_step="delete that folder, it is packed again at the next load",
    )
