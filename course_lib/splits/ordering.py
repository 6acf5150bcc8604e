"""The order of samples that decides: a keyed digest of each id, which no platform or library changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from course_lib.splits.byte_order import utf8_parts

_KEY_BYTES = 8
# Small enough for the objects of a block to stay in the processor's cache.
_BLOCK = 1 << 12


def keyed_digests(texts: pa.Array, key: str) -> NDArray[np.uint64]:
    """Return the BLAKE2b digest of 8 bytes of each text under a key, as whole numbers (big-endian).

    The texts are read from Arrow's own UTF-8 buffer, block by block, so that no Python text is made.
    """
    prepared = hashlib.blake2b(digest_size=_KEY_BYTES, key=hashlib.sha256(key.encode("utf-8")).digest())
    digests = np.empty(len(texts), dtype=np.uint64)
    at = 0
    for payload, ends in _utf8_blocks(texts):
        joined = []
        start = 0
        for end in ends:
            state = prepared.copy()
            state.update(payload[start:end])
            joined.append(state.digest())
            start = end
        digests[at : at + len(ends)] = np.frombuffer(b"".join(joined), dtype=">u8")
        at += len(ends)
    return digests


def order_by_digest(
    positions: NDArray[np.int64], digests: NDArray[np.uint64], texts: pa.Array
) -> NDArray[np.int64]:
    """Return ``positions`` sorted by digest; where two digests are equal, by the bytes of the text."""
    chosen = digests[positions]
    order = np.argsort(chosen)
    in_order = positions[order]
    chosen = chosen[order]
    equal = np.flatnonzero(chosen[1:] == chosen[:-1])
    if len(equal):
        for start, end in _runs(equal):
            run = in_order[start:end].tolist()
            in_order[start:end] = sorted(run, key=lambda place: texts[place].as_py().encode("utf-8"))
    return in_order


def _utf8_blocks(texts: pa.Array) -> Iterator[tuple[bytes, list[int]]]:
    """Yield the bytes of a block of texts, and where each text ends in them."""
    ends, payload = utf8_parts(texts)
    for start in range(0, len(texts), _BLOCK):
        block = ends[start : start + _BLOCK + 1]
        yield bytes(payload[block[0] : block[-1]]), (block[1:] - block[0]).tolist()


def _runs(equal_to_next: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each run of equal values, from the places that equal the one after them."""
    for run in np.split(equal_to_next, np.flatnonzero(np.diff(equal_to_next) > 1) + 1):
        yield int(run[0]), int(run[-1]) + 2
