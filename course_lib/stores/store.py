"""What every place that holds samples by name can do (P4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from course_lib.errors import CourseError


@dataclass(frozen=True)
class StoreStat:
    """What a store tells about one object without reading it.

    Attributes
    ----------
    size : int
        Bytes.
    """

    size: int


class Store(Protocol):
    """Objects of bytes under names such as ``"train/cat/0001.jpg"``: relative, parts divided by ``/``.

    A store can be pickled, so that worker processes can have it, and used from several threads.
    """

    def list(self, prefix: str = "") -> list[str]:
        """Return the names that begin with ``prefix``, sorted; hidden files and folders are left out."""

    def stat(self, name: str) -> StoreStat:
        """Return what is known of an object without reading it."""

    def read(self, name: str) -> bytes:
        """Return all bytes of an object."""

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """Return ``length`` bytes from ``start``; a CourseError where the object is shorter."""

    def write(self, name: str, payload: bytes) -> None:
        """Write an object; one that is interrupted may be there in part."""

    def publish(self, name: str, payload: bytes) -> None:
        """Write an object so that it is there whole or not at all."""


def checked_name(name: str) -> str:
    """Return ``name`` where it stays inside a store.

    Raises
    ------
    CourseError
        For a name that is empty, absolute, or leads out of the store.
    """
    parts = name.split("/") if isinstance(name, str) else [""]
    if not all(parts) or {".", ".."} & set(parts) or "\\" in name or "\0" in name or ":" in parts[0]:
        raise CourseError(
            "This is no name of an object in a store",
            expected="a relative one such as train/cat/0001.jpg",
            found=repr(name),
        )
    return name
