"""The records of a shard as big buffers of tar blocks, with their index rows: the hot path of packing.

All headers of a buffer are written at once through arrays; a tar block is 512 bytes, and so every header and
every payload begins at a whole row of the buffer.
"""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.format import LABEL_EXTENSION, index_dtype, record_extents, record_head
from course_lib.shards.payloads import PayloadSource
from course_lib.shards.tar import (
    BLOCK,
    LARGEST_MEMBER,
    LONGEST_PLAIN_NAME,
    header_lengths,
    member_header,
    plain_headers,
)

_BUFFER_BYTES = 4 << 20


class RecordBuffer(NamedTuple):
    """Whole records, one after the other.

    Attributes
    ----------
    content : memoryview
        The bytes as they stand in the shard.
    rows : structured ndarray
        Their index rows; ``offset`` and ``start`` are counted from the beginning of the shard.
    """

    content: memoryview
    rows: NDArray[Any]


def record_rows(source: PayloadSource, sizes: NDArray[np.int64], shard: int, id_bytes: int) -> NDArray[Any]:
    """Return the index rows of a shard with these samples, ``check`` still zero."""
    id_lengths = np.char.str_len(source.ids).astype(np.int64)
    extension_length = len(source.facts.extension.encode())
    extents = record_extents(sizes, id_lengths, extension_length)
    rows = np.zeros(len(source), dtype=index_dtype(id_bytes))
    rows["id"], rows["label"], rows["shard"] = source.ids, source.labels, shard
    rows["length"], rows["extent"] = sizes, extents
    rows["offset"][1:] = np.cumsum(extents)[:-1]
    rows["start"] = rows["offset"] + header_lengths(id_lengths + 1 + extension_length)
    return rows


def record_buffers(
    source: PayloadSource, sizes: NDArray[np.int64], shard: int, id_bytes: int
) -> Iterator[RecordBuffer]:
    """Yield the records of a shard in buffers of about 4 MB, each with its index rows.

    Parameters
    ----------
    source : PayloadSource
        The samples of this shard alone.
    sizes : ndarray of int64, shape (n,)
        Bytes of each payload, as planned.
    shard : int
        Number of the shard.
    id_bytes : int
        Bytes of the longest id of the whole set.

    Raises
    ------
    CourseError
        When a payload is not the one that the split manifest knows, has another length than was planned,
        or is beyond what a tar header holds.
    """
    if len(sizes) and int(sizes.max()) > LARGEST_MEMBER:
        raise _too_large(source, int(sizes.argmax()), int(sizes.max()))
    rows = record_rows(source, sizes, shard, id_bytes)
    ends = rows["offset"] + rows["extent"]
    start = 0
    while start < len(rows):
        limit = int(rows["offset"][start]) + _BUFFER_BYTES
        stop = max(start + 1, int(np.searchsorted(ends, limit, side="right")))
        yield _filled(source, rows[start:stop], start)
        start = stop


def _filled(source: PayloadSource, rows: NDArray[Any], first: int) -> RecordBuffer:
    base = int(rows["offset"][0])
    buffer = np.zeros(int(rows["extent"].sum()), dtype=np.uint8)
    _write_headers(buffer, rows, base, source.facts.extension)
    content = buffer.data
    payloads = list(source.payloads(first, first + len(rows)))
    lengths = np.fromiter(map(len, payloads), dtype=np.int64, count=len(payloads))
    if (lengths != rows["length"]).any():
        at = int((lengths != rows["length"]).argmax())
        raise _other_length(source, first + at, int(rows["length"][at]), int(lengths[at]))
    if source.sample_digests is not None:
        _need_known_payloads(source, first, payloads)
    starts = rows["start"] - base
    for start, end, payload in zip(starts.tolist(), (starts + lengths).tolist(), payloads, strict=True):
        content[start:end] = payload
    offsets = rows["offset"] - base
    records = map(slice, offsets.tolist(), (offsets + rows["extent"]).tolist())
    checks = list(map(xxhash.xxh3_64_intdigest, map(content.__getitem__, records)))
    rows["check"] = np.array(checks, dtype=np.uint64)
    return RecordBuffer(content, rows)


def _write_headers(buffer: NDArray[np.uint8], rows: NDArray[Any], base: int, extension: str) -> None:
    blocks = buffer.reshape(-1, BLOCK)
    labels = rows["label"].astype(np.bytes_)
    texts = labels.view(np.uint8).reshape(len(rows), -1)
    label_blocks = (rows["offset"] + rows["extent"] - base) // BLOCK - 1
    blocks[label_blocks, : texts.shape[1]] = texts
    longest = max(len(extension.encode()), len(LABEL_EXTENSION)) + 1
    plain = np.char.str_len(rows["id"]) + longest <= LONGEST_PLAIN_NAME
    ids = rows["id"][plain]
    if len(ids):
        names = np.char.add(ids, f".{extension}".encode())
        blocks[(rows["start"][plain] - base) // BLOCK - 1] = plain_headers(names, rows["length"][plain])
        names = np.char.add(ids, f".{LABEL_EXTENSION}".encode())
        blocks[label_blocks[plain] - 1] = plain_headers(
            names, np.char.str_len(labels[plain]).astype(np.int64)
        )
    for place in np.flatnonzero(~plain).tolist():
        row = rows[place]
        head = record_head(row["id"], int(row["length"]), extension.encode())
        start = int(row["start"]) - base
        buffer[start - len(head) : start] = np.frombuffer(head, dtype=np.uint8)
        head = member_header(row["id"] + f".{LABEL_EXTENSION}".encode(), len(labels[place]))
        end = int(label_blocks[place]) * BLOCK
        buffer[end - len(head) : end] = np.frombuffer(head, dtype=np.uint8)


def _need_known_payloads(source: PayloadSource, first: int, payloads: list[bytes]) -> None:
    known = source.sample_digests
    assert known is not None
    block = slice(first, first + len(payloads))
    # The digest of a sample is explained at `SampleTable.sample_digests`.
    endings = [b"\n" + name.encode("utf-8") for name in source.facts.class_names]
    contents = [state.hexdigest().encode("ascii") for state in map(hashlib.sha256, payloads)]
    lines = map(operator.add, contents, map(endings.__getitem__, source.labels[block].tolist()))
    found = b"".join([state.digest() for state in map(hashlib.sha256, lines)])
    expected = known[block]
    if found == expected.tobytes():
        return
    differs = (np.frombuffer(found, dtype=np.uint8).reshape(expected.shape) != expected).any(axis=1)
    position = first + int(differs.argmax())
    raise CourseError(
        f"Sample {_text(source.ids[position])} of {source.facts.title} is not the one of the split manifest",
        expected=f"the digest {expected[position - first].tobytes().hex()[:12]}... over content and label",
        found="other bytes or another label",
        next_step="restore the data, or make the split anew from the data as they are",
    )


def _other_length(source: PayloadSource, position: int, expected: int, found: int) -> CourseError:
    return CourseError(
        f"The payload of sample {_text(source.ids[position])} of {source.facts.title} changed while it was "
        "packed",
        expected=f"{expected:,} bytes",
        found=f"{found:,}",
        next_step="let nothing write to the data, and pack them anew in a fresh folder",
    )


def _too_large(source: PayloadSource, position: int, size: int) -> CourseError:
    return CourseError(
        f"The payload of sample {_text(source.ids[position])} is too large for a tar member",
        expected=f"at most {LARGEST_MEMBER:,} bytes",
        found=f"{size:,}",
        next_step="divide the sample into smaller ones",
    )


def _text(sample_id: bytes) -> str:
    return sample_id.decode("utf-8", "replace")
