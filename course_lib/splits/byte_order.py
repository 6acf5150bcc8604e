"""The order of texts by their bytes in UTF-8, faster than comparing them in pairs."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_WORD = 8
_BLOCK = 1 << 18
# Mask that keeps the first 0 to 8 bytes of a big-endian word.
_KEEP = np.array([((1 << 8 * kept) - 1) << 8 * (_WORD - kept) for kept in range(_WORD + 1)], dtype=np.uint64)


def utf8_parts(texts: pa.Array) -> tuple[NDArray[np.int32], memoryview]:
    """Return where texts begin and the last one ends, shape (n + 1,), and the bytes which that counts."""
    _, offsets, payload = texts.buffers()
    ends = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return ends, memoryview(payload if payload is not None else b"")


def byte_order(texts: pa.Array) -> NDArray[np.int64]:
    """Return the positions of the texts in the order of their bytes; of equal texts the first one first.

    Eight bytes after the common beginning are sorted as one whole number. Only texts that are alike in these,
    too, are compared by Arrow.

    Parameters
    ----------
    texts : pyarrow.Array of string, length n
        At least one, none missing, without the character NUL.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    words = _words_after_common_beginning(texts)
    order = np.argsort(words).astype(np.int64, copy=False)
    words = words[order]
    same_as_next = words[1:] == words[:-1]
    del words
    alike = np.zeros(len(texts), dtype=np.bool_)
    alike[:-1] |= same_as_next
    alike[1:] |= same_as_next
    if alike.any():
        positions = np.sort(order[alike])
        order[alike] = positions[pc.sort_indices(texts.take(pa.array(positions))).to_numpy()]
    return order


def _words_after_common_beginning(texts: pa.Array) -> NDArray[np.uint64]:
    """Return the next 8 bytes of each text as a big-endian number, short ones filled up with zeros."""
    outermost = [text.encode("utf-8") for text in pc.min_max(texts).as_py().values()]
    # Every text lies between these two, so what both begin with they all begin with.
    differing = (at for at, (low, high) in enumerate(zip(*outermost, strict=False)) if low != high)
    common = next(differing, min(map(len, outermost)))
    ends, payload = utf8_parts(texts)
    words = np.empty(len(texts), dtype=np.uint64)
    for start in range(0, len(texts), _BLOCK):
        block = ends[start : start + _BLOCK + 1]
        padded = bytes(payload[block[0] : block[-1]]) + bytes(_WORD)
        every_place = np.ndarray(len(padded) - _WORD + 1, dtype=">u8", buffer=padded, strides=(1,))
        left = np.minimum(np.diff(block) - common, _WORD)
        words[start : start + len(left)] = every_place[block[:-1] - block[0] + common] & _KEEP[left]
    return words
