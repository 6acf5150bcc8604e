"""Where the payloads of a shard set come from: files, a zip, rows of a table, texts, any store.

A source can be pickled and opened again in a worker process; taking some of its samples gives a source that
carries these samples alone, so that a task for one shard stays small.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.stores.store import Store

_Source = TypeVar("_Source", bound="ArraySource")


@dataclass(frozen=True)
class SetFacts:
    """What a shard manifest says of the samples, whatever they are read from.

    Attributes
    ----------
    dataset, variant, split : str
        What the samples are, and the one split that they belong to.
    split_digest, data_digest : str
        Of the split manifest that chose them; "" where there is none.
    origin : str
        Where the data came from, in one line of words.
    id_kind : str
        What an id is made from.
    class_names : tuple of str
        The label map: a label is a place in it.
    extension : str
        Of the payload, such as ``jpg``.
    """

    dataset: str
    split: str
    class_names: tuple[str, ...]
    extension: str
    variant: str = ""
    split_digest: str = ""
    data_digest: str = ""
    origin: str = ""
    id_kind: str = "chosen by hand"

    @property
    def title(self) -> str:
        """Return the name for errors, such as ``cifar10 (jpeg)``."""
        return f"{self.dataset} ({self.variant})" if self.variant else self.dataset


class PayloadSource(Protocol):
    """Samples with id, label and payload; it can be pickled."""

    @property
    def facts(self) -> SetFacts:
        """What the manifest says of the samples."""

    @property
    def ids(self) -> NDArray[np.bytes_]:
        """The ids in UTF-8, shape (n,)."""

    @property
    def labels(self) -> NDArray[np.int32]:
        """Places in ``facts.class_names``, shape (n,)."""

    @property
    def sample_digests(self) -> NDArray[np.uint8] | None:
        """SHA-256 of each sample's content with its label, as in a split manifest, shape (n, 32), or None.

        Payloads are checked by it.
        """

    def __len__(self) -> int: ...

    def sizes(self) -> NDArray[np.int64]:
        """Return the bytes of each payload without reading it where that can be."""

    def payload(self, position: int) -> bytes:
        """Return the payload of one sample."""

    def payloads(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield the payloads of the samples from ``start`` up to ``stop``."""

    def take(self, positions: NDArray[np.integer[Any]]) -> PayloadSource:
        """Return a source of these samples alone, in this order."""


@dataclass(frozen=True, eq=False, repr=False)
class ArraySource(ABC):
    """What all sources here share: columns, and how some samples are taken out of them."""

    facts: SetFacts
    ids: NDArray[np.bytes_]
    labels: NDArray[np.int32]
    sample_digests: NDArray[np.uint8] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.facts.title}, split {self.facts.split}, {len(self):,} samples)"

    @abstractmethod
    def sizes(self) -> NDArray[np.int64]:
        """Return the bytes of each payload."""

    @abstractmethod
    def payload(self, position: int) -> bytes:
        """Return the payload of one sample."""

    def payloads(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield the payloads of the samples from ``start`` up to ``stop``."""
        return map(self.payload, range(start, stop))

    @abstractmethod
    def take(self: _Source, positions: NDArray[np.integer[Any]]) -> _Source:
        """Return a source of these samples alone, in this order."""

    def _taken(self: _Source, positions: NDArray[np.integer[Any]], **more: Any) -> _Source:
        digests = self.sample_digests
        return replace(
            self,
            ids=self.ids[positions],
            labels=self.labels[positions],
            sample_digests=None if digests is None else digests[positions],
            **more,
        )

    def _unreadable(self, position: int, found: str) -> CourseError:
        return unreadable_payload(self.ids[position], self.facts.title, found)


@dataclass(frozen=True, eq=False, repr=False)
class FileSource(ArraySource):
    """One file for each sample.

    Attributes
    ----------
    root : str
        Folder of the files.
    names : ndarray of bytes, shape (n,)
        Their paths below it in UTF-8, with forward slashes.
    """

    root: str
    names: NDArray[np.bytes_]

    def sizes(self) -> NDArray[np.int64]:
        """Return the length of each file, as the file system tells it."""
        # A Path for each of a million files would take as long as the rest of the plan.
        sizes: list[int] = []
        paths = self._paths(0, len(self))
        try:
            sizes.extend([status.st_size for status in map(os.stat, paths)])
        except OSError as error:
            position = self._first_missing(paths)
            found = f"{os.fsdecode(paths[position])}: {error.strerror}"
            raise self._unreadable(position, found) from error
        return np.array(sizes, dtype=np.int64)

    def payload(self, position: int) -> bytes:
        """Return the bytes of a file."""
        return next(self.payloads(position, position + 1))

    def payloads(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield the bytes of the files from ``start`` up to ``stop``."""
        flags = os.O_RDONLY | getattr(os, "O_BINARY", 0)
        open_file, read, close = os.open, os.read, os.close
        paths = self._paths(start, stop)
        given = 0
        try:
            for path in paths:
                descriptor = open_file(path, flags)
                try:
                    payload = read(descriptor, _FIRST_READ)
                    if len(payload) == _FIRST_READ:
                        payload = b"".join((payload, *_rest_of(descriptor)))
                finally:
                    close(descriptor)
                yield payload
                given += 1
        except OSError as error:
            raise self._unreadable(start + given, f"{os.fsdecode(paths[given])}: {error.strerror}") from error

    def take(self, positions: NDArray[np.integer[Any]]) -> FileSource:
        """Return a source of these samples alone, in this order."""
        return self._taken(positions, names=self.names[positions])

    def _paths(self, start: int, stop: int) -> list[bytes]:
        before = os.fsencode(os.path.join(self.root, ""))  # noqa: PTH118 - a Path drops the last separator
        return [before + name for name in self.names[start:stop].tolist()]

    def _first_missing(self, paths: list[bytes]) -> int:
        return next((place for place, path in enumerate(paths) if not os.path.exists(path)), 0)  # noqa: PTH110


@dataclass(frozen=True, eq=False, repr=False)
class ZipSource(ArraySource):
    """One member of a zip archive for each sample; each process opens the archive for itself."""

    archive: str
    names: NDArray[np.bytes_]

    def sizes(self) -> NDArray[np.int64]:
        """Return the length of each member once it is unpacked."""
        with self._opened() as opened:
            infos = [self._member(opened, position).file_size for position in range(len(self))]
        return np.array(infos, dtype=np.int64)

    def payload(self, position: int) -> bytes:
        """Return the bytes of one member."""
        return next(self.payloads(position, position + 1))

    def payloads(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield the bytes of the members from ``start`` up to ``stop``."""
        with self._opened() as opened:
            for position in range(start, stop):
                member = self._member(opened, position)
                try:
                    payload = opened.read(member)
                except (OSError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
                    raise self._unreadable(
                        position, f"{member.filename} in {self.archive}: {error}"
                    ) from error
                yield payload

    def take(self, positions: NDArray[np.integer[Any]]) -> ZipSource:
        """Return a source of these samples alone, in this order."""
        return self._taken(positions, names=self.names[positions])

    def _member(self, opened: zipfile.ZipFile, position: int) -> zipfile.ZipInfo:
        name = self.names[position].decode("utf-8")
        try:
            return opened.getinfo(name)
        except KeyError as error:
            raise self._unreadable(position, f"no {name} in {self.archive}") from error

    def _opened(self) -> zipfile.ZipFile:
        return opened_zip(self.archive)


@dataclass(frozen=True, eq=False, repr=False)
class BlobSource(ArraySource):
    """Payloads that are in memory already, one after the other: texts, rows of a table, pixels.

    Attributes
    ----------
    blob : bytes
    bounds : ndarray of int64, shape (n + 1,)
        Payload ``i`` is ``blob[bounds[i]:bounds[i + 1]]``.
    """

    blob: bytes
    bounds: NDArray[np.int64]

    def sizes(self) -> NDArray[np.int64]:
        """Return the length of each payload."""
        return np.diff(self.bounds)

    def payload(self, position: int) -> bytes:
        """Return one payload."""
        return self.blob[self.bounds[position] : self.bounds[position + 1]]

    def take(self, positions: NDArray[np.integer[Any]]) -> BlobSource:
        """Return a source of these samples alone, in this order."""
        blob, bounds = joined(self.payload(int(position)) for position in positions)
        return self._taken(positions, blob=blob, bounds=bounds)


@dataclass(frozen=True, eq=False, repr=False)
class StoreSource(ArraySource):
    """One object of a store for each sample."""

    store: Store
    names: NDArray[np.bytes_]

    def sizes(self) -> NDArray[np.int64]:
        """Return the length of each object, as the store tells it."""
        found = [self._asked(position, "stat").size for position in range(len(self))]
        return np.array(found, dtype=np.int64)

    def payload(self, position: int) -> bytes:
        """Return the bytes of one object."""
        payload: bytes = self._asked(position, "read")
        return payload

    def take(self, positions: NDArray[np.integer[Any]]) -> StoreSource:
        """Return a source of these samples alone, in this order."""
        return self._taken(positions, names=self.names[positions])

    def _asked(self, position: int, operation: str) -> Any:
        try:
            return getattr(self.store, operation)(self.names[position].decode("utf-8"))
        except CourseError as error:
            raise self._unreadable(position, str(error).rstrip(".")) from error


def unreadable_payload(sample_id: bytes, title: str, found: str) -> CourseError:
    """Say that the payload of a sample is missing or cannot be read."""
    return CourseError(
        f"The payload of sample {sample_id.decode('utf-8', 'replace')} of {title} cannot be read",
        found=found,
        next_step="restore it and pack again: what is finished stays",
    )


def opened_zip(archive: str | Path) -> zipfile.ZipFile:
    """Open a zip archive; a CourseError says why it cannot be."""
    try:
        return zipfile.ZipFile(archive)
    except (OSError, zipfile.BadZipFile) as error:
        raise CourseError(
            f"{archive} cannot be read",
            expected="a zip archive",
            found=str(error),
            next_step="name another file, or get a whole copy",
        ) from error


def joined(payloads: Iterator[bytes]) -> tuple[bytes, NDArray[np.int64]]:
    """Return payloads one after the other, and where each begins and the last one ends."""
    parts = list(payloads)
    bounds = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=bounds[1:])
    return b"".join(parts), bounds


def as_bytes(texts: Sequence[str]) -> NDArray[np.bytes_]:
    """Return texts as an array of UTF-8.

    Raises
    ------
    CourseError
        For a text that UTF-8 or the array cannot hold.
    """
    try:
        encoded = [text.encode("utf-8") for text in texts]
    except UnicodeEncodeError as error:
        raise _no_name(error.object) from error
    # The array fills up with zero bytes: one at the end of a text would be lost without a word.
    for text, content in zip(texts, encoded, strict=True):
        if b"\0" in content:
            raise _no_name(text)
    return np.array(encoded, dtype=np.bytes_)


def _no_name(text: str) -> CourseError:
    return CourseError(
        "A sample's id or file name is no usable text",
        expected="characters that UTF-8 knows, and no zero byte",
        found=ascii(text),
        next_step="rename it",
    )


def _rest_of(descriptor: int) -> Iterator[bytes]:
    while chunk := os.read(descriptor, _NEXT_READ):
        yield chunk


# One call reads a small file whole; asking for much more than that costs memory at each call.
_FIRST_READ = 1 << 16
_NEXT_READ = 1 << 22
