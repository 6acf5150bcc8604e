"""Which records of a set this process has verified: by record, or by the checksum of their whole shard.

Reading at random, a whole shard is verified at once when much of it was read: one long hash costs less than
many short ones, and finds the pages in order. A shard whose checksum is not the manifest's is verified by
record, which names the sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import getitem
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from course_lib.shards.opening import OpenedSet

# A longer shard would keep the sample waiting that is asked for.
_MOST_WHOLE_BYTES = 1 << 28
# From a set that may not stay in memory, a shard would be fetched twice.
_MOST_SET_BYTES = 1 << 32
_SHARE_READ_SINGLY = 16
xxh3 = xxhash.xxh3_64_intdigest


class VerifiedRecords:
    """The records of one opened set that are known to be as they were packed.

    Parameters
    ----------
    opened : OpenedSet

    Attributes
    ----------
    flags : bytearray
        1 for each verified record, by position.
    """

    def __init__(self, opened: OpenedSet) -> None:
        self.flags = bytearray(opened.manifest.samples)
        self._array = np.frombuffer(self.flags, dtype=np.uint8)
        self._bounds: list[int] = opened.bounds.tolist()
        self._shards = opened.manifest.shards
        self._stays_in_memory = opened.manifest.shard_bytes <= _MOST_SET_BYTES
        self._read_singly = [0] * len(self._shards)
        self._enough: list[int] = (np.diff(opened.bounds) // _SHARE_READ_SINGLY).tolist()
        self._unsound: set[int] = set()

    def covers(self, begin: int, end: int) -> bool:
        """Tell whether all records from ``begin`` to before ``end`` are verified."""
        return 0 not in self.flags[begin:end]

    def covers_all(self, positions: NDArray[np.int64]) -> bool:
        """Tell whether the records at these positions are verified."""
        return bool(self._array[positions].all())

    def forget(self, number: int) -> None:
        """Count the records of a shard as not verified."""
        self._array[self._bounds[number] : self._bounds[number + 1]] = 0
        self._read_singly[number] = 0
        self._unsound.discard(number)

    def verify(
        self, rows: NDArray[Any], positions: NDArray[np.int64], views: Iterable[Any]
    ) -> NDArray[np.bool_] | None:
        """Verify records by their rows of the index; return which are whole, or None where all are."""
        offsets = rows["offset"]
        ends = (offsets + rows["extent"]).tolist()
        extents: Iterator[Any] = map(getitem, views, map(slice, offsets.tolist(), ends))
        checks = list(map(xxh3, extents))
        if checks == rows["check"].tolist():
            self._array[positions] = 1
            return None
        whole = np.array(checks, dtype=np.uint64) == rows["check"]
        self._array[positions[whole]] = 1
        return whole

    def is_better_whole(self, number: int, records: int) -> bool:
        """Count records of a shard that are read at random; tell whether to verify it whole now."""
        self._read_singly[number] += records
        return (
            self._read_singly[number] > self._enough[number]
            and self._stays_in_memory
            and number not in self._unsound
            and self._shards[number].bytes <= _MOST_WHOLE_BYTES
        )

    def verify_whole(self, number: int, content: Any) -> None:
        """Verify all records of a shard by its own checksum, which tells nothing where it differs."""
        if len(content) == self._shards[number].bytes and xxh3(content) == int(self._shards[number].xxh3, 16):
            self._array[self._bounds[number] : self._bounds[number + 1]] = 1
        else:
            self._unsound.add(number)
