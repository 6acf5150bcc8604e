"""The bytes of a plain tar archive (POSIX ustar): the same for the same members, on every machine.

Members have time stamp 0, user and group 0 without names, and mode 0644. A name of more than 100 bytes gets
the extended header of POSIX pax before it, which every reader of today knows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCK = 512
ARCHIVE_BLOCK = 20 * BLOCK
LONGEST_PLAIN_NAME = 100
LARGEST_MEMBER = 8**11 - 1
_NAME_END, _TYPE = 100, 156
_SIZE, _CHECKSUM = slice(124, 135), slice(148, 154)
_PAX_NAME = b"././@PaxHeader"


def padded(length: int) -> int:
    """Return ``length`` rounded up to whole tar blocks of 512 bytes."""
    return -(-length // BLOCK) * BLOCK


def member_header(name: bytes, length: int) -> bytes:
    """Return everything that stands before a member's payload: 512 bytes, 1,536 or more for a long name.

    Parameters
    ----------
    name : bytes
        UTF-8, without a slash.
    length : int
        Bytes of the payload, at most 8 GiB.
    """
    if len(name) <= LONGEST_PLAIN_NAME:
        return _header(name, length, _FILE)
    record = _pax_record(b"path", name)
    extended = _header(_PAX_NAME, len(record), _PAX) + record + bytes(-len(record) % BLOCK)
    return extended + _header(name[:_NAME_END], length, _FILE)


def plain_headers(names: NDArray[np.bytes_], lengths: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Return the headers of many members whose names have at most 100 bytes.

    Parameters
    ----------
    names : ndarray of bytes, shape (n,)
    lengths : ndarray of int64, shape (n,)
        Bytes of each payload.

    Returns
    -------
    ndarray of uint8, shape (n, 512)
        What `member_header` gives, a row for each.
    """
    headers = np.empty((len(names), BLOCK), dtype=np.uint8)
    headers[:] = np.frombuffer(_header(b"", 0, _FILE), dtype=np.uint8)
    width = min(names.dtype.itemsize, _NAME_END)
    headers[:, :width] = np.ascontiguousarray(names).view(np.uint8).reshape(len(names), -1)[:, :width]
    headers[:, _SIZE] = _octal(lengths, 11)
    sums = headers[:, :width].sum(axis=1, dtype=np.int64) + headers[:, _SIZE].sum(axis=1, dtype=np.int64)
    headers[:, _CHECKSUM] = _octal(sums + _FILE[2], 6)
    return headers


def _octal(numbers: NDArray[np.int64], digits: int) -> NDArray[np.uint8]:
    places = 3 * np.arange(digits - 1, -1, -1, dtype=np.int64)
    return ((numbers[:, None] >> places & 7) + ord("0")).astype(np.uint8)


def header_lengths(name_lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the bytes of ``member_header`` for names of these lengths."""
    lengths = np.full(len(name_lengths), BLOCK, dtype=np.int64)
    for place in np.flatnonzero(name_lengths > LONGEST_PLAIN_NAME).tolist():
        lengths[place] = len(member_header(b"x" * int(name_lengths[place]), 0))
    return lengths


def archive_end(length: int) -> bytes:
    """Return what closes an archive of ``length`` bytes: two empty blocks, filled up to 10,240 bytes."""
    return bytes(2 * BLOCK + -(length + 2 * BLOCK) % ARCHIVE_BLOCK)


def _header(name: bytes, length: int, fixed: tuple[bytes, bytes, int]) -> bytes:
    before_size, after_checksum, fixed_sum = fixed
    size = b"%011o\0" % length
    checksum = b"%06o\0 " % (fixed_sum + sum(name) + sum(size))
    return b"".join((name.ljust(_NAME_END, b"\0"), before_size, size, _TIME, checksum, after_checksum))


def _fixed_parts(mode: bytes, kind: bytes) -> tuple[bytes, bytes, int]:
    """Return what stands before the size and after the checksum, and the sum over it and the time."""
    before_size = mode + _NOBODY
    after_checksum = (kind + bytes(100) + b"ustar\x0000").ljust(BLOCK - _TYPE, b"\0")
    # A header's checksum counts its own eight bytes as blanks.
    return before_size, after_checksum, sum(before_size) + sum(_TIME) + sum(after_checksum) + 8 * ord(" ")


def _pax_record(key: bytes, value: bytes) -> bytes:
    length = len(key) + len(value) + 3
    while length != len(record := b"%d %s=%s\n" % (length, key, value)):
        length = len(record)
    return record


_NOBODY = 2 * b"0000000\0"
_TIME = b"%011o\0" % 0
_FILE = _fixed_parts(b"0000644\0", b"0")
_PAX = _fixed_parts(b"0000000\0", b"x")
