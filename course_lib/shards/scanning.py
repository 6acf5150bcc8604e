"""The members of any tar shard, ours or another tool's, and the samples that they make up."""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from course_lib.errors import CourseError
from course_lib.shards.tar import BLOCK, padded

_NAME, _SIZE, _CHECKSUM, _TYPE = slice(0, 100), slice(124, 136), slice(148, 156), 156
_MAGIC, _PREFIX = slice(257, 263), slice(345, 500)
_FILE_TYPES = (ord("0"), 0)
_LONGEST_EXTENDED_HEADER = 1 << 20


class Member(NamedTuple):
    """One member of an archive.

    Attributes
    ----------
    name : bytes
        The whole path.
    offset : int
        Of its first header, an extended one where it has one.
    start, length : int
        Of the payload.
    """

    name: bytes
    offset: int
    start: int
    length: int

    @property
    def end(self) -> int:
        """Return where the next member may begin."""
        return self.start + padded(self.length)


@dataclass
class Sample:
    """Members that stand together under one key: the name up to the first dot of its last part.

    Attributes
    ----------
    key : bytes
    members : dict of bytes to Member
        By extension, which is all after that dot, in lower case.
    """

    key: bytes
    members: dict[bytes, Member]

    @property
    def offset(self) -> int:
        """Return where the first header begins."""
        return min(member.offset for member in self.members.values())

    @property
    def end(self) -> int:
        """Return where the next sample may begin."""
        return max(member.end for member in self.members.values())


class DamagedArchiveError(Exception):
    """A tar archive that cannot be read on from ``offset``, and why.

    ``before`` are the members in a row that stand before it, which may be all of their sample or a part.
    """

    def __init__(self, offset: int, why: str) -> None:
        super().__init__(why)
        self.offset = offset
        self.why = why
        self.before: Sample | None = None


class OpenShard:
    """A shard through a memory map, for as long as the ``with`` block runs.

    Raises
    ------
    CourseError
        When the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> memoryview:
        try:
            self._file = self.path.open("rb")
            # An empty file cannot be mapped.
            empty = not self.path.stat().st_size
            self._map = None if empty else mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise CourseError(
                f"{self.path} could not be read",
                found=error.strerror or str(error),
                next_step="check that it is there and that you may read it",
            ) from error
        self._view = memoryview(b"" if self._map is None else self._map)
        return self._view

    def __exit__(self, *_: object) -> None:
        self._view.release()
        if self._map is not None:
            with contextlib.suppress(BufferError):
                self._map.close()
        self._file.close()


def members(content: memoryview | bytes, start_at: int = 0) -> Iterator[Member]:
    """Yield the files in an archive from a header on; folders, links and the like are passed over.

    Raises
    ------
    DamagedArchiveError
        At the first header that is damaged, a payload that is cut short, or a missing end.
    """
    # No view of its own: one that outlives an error would keep a memory map from being closed.
    view = content
    at, begins, name, size = start_at, start_at, None, None
    while True:
        header = bytes(view[at : at + BLOCK])
        if len(header) < BLOCK:
            raise DamagedArchiveError(at, "the archive is cut short" if len(view) else "the file is empty")
        if not any(header):
            return
        length = _checked_length(header, at)
        kind, start = header[_TYPE], at + BLOCK
        if kind not in b"xLg" and size is not None:
            length = size
        end = start + padded(length)
        if start + length > len(view):
            raise DamagedArchiveError(at, f"the member {_shown(name or _name(header))} is cut short")
        if kind in b"xLg":
            if length > _LONGEST_EXTENDED_HEADER:
                raise DamagedArchiveError(at, "an extended header is too long")
            body = bytes(view[start : start + length])
            if kind == ord("L"):
                name = body.rstrip(b"\0")
            elif kind == ord("x"):
                records = _pax_records(body, at)
                name = records.get(b"path", name)
                size = _pax_size(records[b"size"], at) if b"size" in records else size
        else:
            if kind in _FILE_TYPES:
                yield Member(name if name is not None else _name(header), begins, start, length)
            name, size, begins = None, None, end
        at = end


def samples(content: memoryview | bytes, start_at: int = 0) -> Iterator[Sample]:
    """Yield the samples of an archive from a header on: members in a row under one key.

    A key that comes again later, since its members stand apart, is yielded once more.

    Raises
    ------
    DamagedArchiveError
        As `members` does, after the samples before; it carries the last one, which may be a part.
    """
    current: Sample | None = None
    try:
        for member in members(content, start_at):
            key, extension = key_and_extension(member.name)
            if current is not None and current.key == key and extension not in current.members:
                current.members[extension] = member
                continue
            if current is not None:
                yield current
            current = Sample(key, {extension: member})
    except DamagedArchiveError as error:
        error.before = current
        raise
    if current is not None:
        yield current


def key_and_extension(name: bytes) -> tuple[bytes, bytes]:
    """Divide a member's name at the first dot of its last part, as WebDataset does."""
    folder, slash, last = name.rpartition(b"/")
    stem, _, extension = last.partition(b".")
    return folder + slash + stem, extension.lower()


def _checked_length(header: bytes, at: int) -> int:
    blanked = header[: _CHECKSUM.start] + b" " * 8 + header[_CHECKSUM.stop :]
    try:
        length = _number(header[_SIZE])
        if _number(header[_CHECKSUM]) == sum(blanked) and length >= 0:
            return length
    except ValueError:
        pass
    raise DamagedArchiveError(at, f"the tar header at byte {at:,} is damaged")


def _number(field: bytes) -> int:
    """Return a number from a header: octal digits, or base 256 beyond 8 GiB."""
    if field[0] == 0o200:
        return int.from_bytes(field[1:], "big")
    return int(field.strip(b" \0") or b"0", 8)


def _name(header: bytes) -> bytes:
    name = header[_NAME].partition(b"\0")[0]
    prefix = (
        header[_PREFIX].partition(b"\0")[0]
        if header[_MAGIC] == b"ustar" and header[262:263] == b"\0"
        else b""
    )
    return prefix + b"/" + name if prefix else name


def _pax_records(body: bytes, at: int) -> dict[bytes, bytes]:
    records: dict[bytes, bytes] = {}
    while body.strip(b"\0"):
        try:
            length = int(body.partition(b" ")[0])
            key, _, value = body[:length].partition(b" ")[2].rstrip(b"\n").partition(b"=")
        except ValueError as error:
            raise DamagedArchiveError(at, f"the extended header at byte {at:,} is damaged") from error
        if length <= 0:
            raise DamagedArchiveError(at, f"the extended header at byte {at:,} is damaged")
        records[key] = value
        body = body[length:]
    return records


def _pax_size(value: bytes, at: int) -> int:
    # No length may be below zero: the archive would be read backwards, for ever.
    if not value.isdigit():
        raise DamagedArchiveError(at, f"the extended header at byte {at:,} is damaged")
    return int(value)


def _shown(name: bytes) -> str:
    return name.decode("utf-8", "replace")
