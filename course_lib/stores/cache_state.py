"""Which share of some files is in the system's page cache, and dropping them from it without root.

Only Linux tells, for files that one may write to. Nothing here touches the rest of the machine's cache.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

CacheKind = Literal["warm", "cold", "partly warm", "unknown"]

_WARM_SHARE, _COLD_SHARE = 0.95, 0.05
_IN_MEMORY = ("tmpfs", "ramfs")


@dataclass(frozen=True)
class CacheState:
    """What is known of some files' presence in the page cache at one moment.

    Attributes
    ----------
    kind : {"warm", "cold", "partly warm", "unknown"}
        Warm from 95% of the pages, cold up to 5%; systems page in and out on their own.
    resident_share : float or None
        Share of the observed pages that are in memory, 0 to 1; None where it is unknown.
    file_count, byte_count : int
        Files and bytes that were observed.
    reason : str
        Why it is unknown, or what else there is to say; "" where there is nothing.
    """

    kind: CacheKind
    resident_share: float | None
    file_count: int
    byte_count: int
    reason: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the state as plain values for a record."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> CacheState:
        """Return the state that `as_dict` described."""
        return cls(**values)


def observe_cache(paths: Iterable[Path], *, most_files: int = 2000) -> CacheState:
    """Look which share of some files is in the page cache; reads nothing and changes nothing.

    Parameters
    ----------
    paths : iterable of Path
        The files.
    most_files : int
        Of more files than this, so many are looked at, evenly spread; the reason says so.
    """
    everything = [Path(path) for path in paths]
    looked_at = _evenly_spread(everything, most_files)
    if not sys.platform.startswith("linux"):
        return _unknown("this system does not tell which files are in its cache")
    if not everything:
        return _unknown("there are no files")
    pages = resident = byte_count = 0
    try:
        system = _System()
        for path in looked_at:
            size, in_memory = system.resident_pages(path)
            byte_count += size
            pages += len(in_memory)
            resident += int(np.count_nonzero(in_memory & 1))
    except (OSError, AttributeError, ValueError) as error:
        return _unknown(f"it could not be looked up: {getattr(error, 'strerror', None) or error}")
    if not pages:
        return _unknown("the files are empty")
    share = resident / pages
    kind: CacheKind = "warm" if share >= _WARM_SHARE else "cold" if share <= _COLD_SHARE else "partly warm"
    reasons = []
    if len(looked_at) < len(everything):
        reasons.append(f"{len(looked_at):,} of {len(everything):,} files were looked at")
    if (name := file_system_of(looked_at[0])) in _IN_MEMORY:
        reasons.append(f"{name} holds its files in memory and nowhere else")
    return CacheState(kind, share, len(looked_at), byte_count, "; ".join(reasons))


def evict(
    paths: Iterable[Path], *, most_files: int = 2000, on_file: Callable[[], None] | None = None
) -> CacheState:
    """Ask the system to drop these files from its page cache, and look whether it did.

    Each file is written out first, since only clean pages can be dropped; contents never change.

    Parameters
    ----------
    paths : iterable of Path
        The files; all of them are dropped.
    most_files : int
        As for `observe_cache`, which looks afterwards.
    on_file : callable, optional
        Called after each file.

    Returns
    -------
    CacheState
        As it was found afterwards: cold only where the files really are gone from memory.
    """
    everything = [Path(path) for path in paths]
    if not hasattr(os, "posix_fadvise"):
        return _unknown("this system does not let a program drop its files from the cache")
    try:
        for path in everything:
            _drop(path)
            if on_file is not None:
                on_file()
    except OSError as error:
        return _unknown(f"the files could not be dropped: {error.strerror or error}")
    after = observe_cache(everything, most_files=most_files)
    if after.kind not in ("warm", "partly warm"):
        return after
    name = file_system_of(everything[0])
    told = (
        f"nothing was dropped: {name} holds its files in memory and nowhere else"
        if name in _IN_MEMORY
        else f"the system kept {after.resident_share:.0%} of the pages although it was asked to drop them"
    )
    return CacheState(after.kind, after.resident_share, after.file_count, after.byte_count, told)


def _drop(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(descriptor)


class _System:
    """The two calls of the C library that Python lacks: a mapping's address, and mincore."""

    def __init__(self) -> None:
        library = ctypes.CDLL(None, use_errno=True)
        self._map, self._unmap, self._look = library.mmap, library.munmap, library.mincore
        address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        self._map.argtypes = (address, size, number, number, number, ctypes.c_long)
        self._map.restype = address
        self._unmap.argtypes = (address, size)
        self._look.argtypes = (address, size, address)

    def resident_pages(self, path: Path) -> tuple[int, np.ndarray]:
        """Return the size in bytes and one byte per page; its lowest bit says whether it is in memory."""
        descriptor = os.open(path, os.O_RDONLY)
        try:
            about = os.fstat(descriptor)
            if not (about.st_uid == os.geteuid() or os.access(path, os.W_OK)):
                # Linux answers "all of it" for files that one may not write to.
                raise PermissionError(0, "the system tells it only for files that you own or may write to")
            in_memory = np.zeros(-(-about.st_size // mmap.PAGESIZE), dtype=np.uint8)
            if not about.st_size:
                return 0, in_memory
            address = self._map(None, about.st_size, mmap.PROT_READ, mmap.MAP_SHARED, descriptor, 0)
            if address in (None, ctypes.c_void_p(-1).value):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            try:
                if self._look(address, about.st_size, in_memory.ctypes.data):
                    raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            finally:
                self._unmap(address, about.st_size)
            return about.st_size, in_memory
        finally:
            os.close(descriptor)


def _unknown(reason: str) -> CacheState:
    return CacheState("unknown", None, 0, 0, reason)


def _evenly_spread(paths: Sequence[Path], most: int) -> list[Path]:
    if len(paths) <= most:
        return list(paths)
    return [paths[place * len(paths) // most] for place in range(most)]


def file_system_of(path: Path) -> str:
    """Return the type of the file system that holds ``path``, such as ``"ext4"``; "" where it is unknown."""
    import psutil

    with contextlib.suppress(OSError, RuntimeError):
        place = path.resolve()
        mounted = {Path(mount.mountpoint): mount.fstype for mount in psutil.disk_partitions(all=True)}
        for folder in (place, *place.parents):
            if folder in mounted:
                return mounted[folder]
    return ""
