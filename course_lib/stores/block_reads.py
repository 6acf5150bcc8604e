"""Reading small blocks at random places of one open file: the figure of data sheets, without metadata."""

from __future__ import annotations

import os
import random
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from course_lib.errors import CourseError
from course_lib.files import cannot_write
from course_lib.stores.cache_state import CacheState, evict

_MOST_BYTES = 200_000_000


@dataclass(frozen=True)
class BlockReads:
    """Reads of blocks from one file that stays open, one at a time.

    Attributes
    ----------
    blocks, block_bytes : int
        How many blocks of how many bytes were read in each repeat.
    seconds : tuple of float
        From the first read to the last, in each repeat; opening the file is not in it.
    caches : tuple of CacheState
        What was found in the page cache before each repeat.
    """

    blocks: int
    block_bytes: int
    seconds: tuple[float, ...]
    caches: tuple[CacheState, ...]

    @property
    def rates(self) -> tuple[float, ...]:
        """Blocks per second of each repeat."""
        return tuple(self.blocks / seconds for seconds in self.seconds)

    @property
    def median(self) -> float:
        """The median repeat's blocks per second."""
        return statistics.median(self.rates)

    @property
    def read_state(self) -> str:
        """The cache state that the reads met, in words."""
        return ", ".join(dict.fromkeys(state.kind for state in self.caches))


def time_block_reads(
    path: Path, *, blocks: int = 1000, block_bytes: int = 4096, repeats: int = 3, seed: int = 2026
) -> BlockReads:
    """Read all blocks of one file of one's own in a shuffled order; the file is removed afterwards.

    Parameters
    ----------
    path : Path
        A folder on the storage to measure.
    blocks, block_bytes : int
        How many blocks of how many bytes the file has.
    repeats : int
        How often it is read; each time it is dropped from the page cache before, where the system allows it.
    seed : int
        Decides contents and order.

    Raises
    ------
    CourseError
        When the numbers do not fit or the folder does not take the file.
    """
    if blocks < 1 or block_bytes < 1 or repeats < 1 or blocks * block_bytes > _MOST_BYTES:
        raise CourseError(
            "These blocks cannot be read",
            expected=f"1 or more blocks, bytes and repeats, and at most {_MOST_BYTES:,} B in all",
            found=f"{blocks:,} blocks of {block_bytes:,} B, {repeats:,} repeats",
        )
    draw = random.Random(seed)
    seconds, caches = [], []
    try:
        with TemporaryDirectory(prefix="course-blocks-", dir=path) as folder:
            file = Path(folder) / "blocks.bin"
            file.write_bytes(draw.randbytes(blocks * block_bytes))
            for _ in range(repeats):
                places = [number * block_bytes for number in draw.sample(range(blocks), k=blocks)]
                caches.append(evict([file]))
                seconds.append(_read_at(file, places, block_bytes))
    except OSError as error:
        raise cannot_write(path, error) from error
    return BlockReads(blocks, block_bytes, tuple(seconds), tuple(caches))


def _read_at(path: Path, places: list[int], block_bytes: int) -> float:
    with path.open("rb", buffering=0) as file:
        if hasattr(os, "posix_fadvise"):
            # Without this the system reads ahead, and most blocks would be there before they are asked for.
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
        began = time.perf_counter()
        for place in places:
            file.seek(place)
            file.read(block_bytes)
        return time.perf_counter() - began
