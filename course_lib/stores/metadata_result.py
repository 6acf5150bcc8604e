"""What a metadata measurement found: rates per operation, and the conditions they hold under."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any

from course_lib.errors import CourseError
from course_lib.stores.cache_state import CacheState

OPERATIONS = ("create", "scan", "stat", "open", "read", "remove")
"""In the order in which each repeat performs them."""

ORDER = (
    "In each repeat all files are created, then listed, then each is looked up (stat), opened, read and at "
    "last removed; looking up, opening, reading and removing go through the files in shuffled orders of "
    "their own. Before the reads the files are written out and dropped from this machine's cache where it "
    "allows that; names and attributes just created or listed may stay in memory, here and on a server."
)


@dataclass(frozen=True)
class OperationRates:
    """How often one operation was done, and how long it took, in each repeat.

    Attributes
    ----------
    operation : str
        One of `OPERATIONS`.
    counts : tuple of int
        Operations in each repeat; for a scan the names that were listed.
    seconds : tuple of float
        Time from the first operation's start to the last one's end, over all processes, in each repeat.
    """

    operation: str
    counts: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def rates(self) -> tuple[float, ...]:
        """Operations per second of each repeat."""
        return tuple(count / time for count, time in zip(self.counts, self.seconds, strict=True))

    @property
    def per_second(self) -> float:
        """Operations per second over all repeats: total work over total time."""
        return sum(self.counts) / sum(self.seconds)

    @property
    def median(self) -> float:
        """The median repeat's operations per second."""
        return statistics.median(self.rates)

    @property
    def low(self) -> float:
        """The slowest repeat's operations per second."""
        return min(self.rates)

    @property
    def high(self) -> float:
        """The fastest repeat's operations per second."""
        return max(self.rates)


@dataclass(frozen=True)
class MetadataResult:
    """Rates of metadata operations on one file system, measured with the conditions named here.

    Attributes
    ----------
    files, bytes_per_file, directories, processes, seed : int
        What was done in each repeat, and the seed of its shuffled orders.
    operations : tuple of OperationRates
        In the order of `OPERATIONS`.
    cache_before_reads : tuple of CacheState
        What was found in the page cache just before the reads of each repeat. Without it a rate of reads
        says nothing about the storage, so there is no result without it.
    file_system : str
        Its type, for example ``"ext4"``; "" where the system does not tell.
    order : str
        In which order things were done, in words.
    """

    files: int
    bytes_per_file: int
    directories: int
    processes: int
    seed: int
    operations: tuple[OperationRates, ...]
    cache_before_reads: tuple[CacheState, ...]
    file_system: str = ""
    order: str = ORDER

    def __post_init__(self) -> None:
        reads = self["read"]
        if len(self.cache_before_reads) != len(reads.counts):
            raise CourseError(
                "A rate of reads needs the cache state before each of its repeats",
                expected=f"{len(reads.counts)} states",
                found=f"{len(self.cache_before_reads)}",
            )

    def __getitem__(self, operation: str) -> OperationRates:
        """Return the rates of one operation.

        Raises
        ------
        CourseError
            When it was not measured.
        """
        for rates in self.operations:
            if rates.operation == operation:
                return rates
        raise CourseError(
            f"{operation!r} was not measured",
            expected=f"one of {', '.join(rates.operation for rates in self.operations)}",
        )

    @property
    def repeats(self) -> int:
        """How often everything was done."""
        return len(self["read"].counts)

    @property
    def read_state(self) -> str:
        """The cache state that the reads met, in words, for example ``"cold"`` or ``"cold, unknown"``."""
        return ", ".join(dict.fromkeys(state.kind for state in self.cache_before_reads))

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a record: conditions, times and the rates computed from them; no path."""
        values = asdict(self)
        values["operations"] = [
            {
                "operation": rates.operation,
                "counts": list(rates.counts),
                "seconds": list(rates.seconds),
                "per_second": rates.per_second,
                "median": rates.median,
                "low": rates.low,
                "high": rates.high,
            }
            for rates in self.operations
        ]
        values["cache_before_reads"] = [state.as_dict() for state in self.cache_before_reads]
        return values

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> MetadataResult:
        """Return the result that `as_dict` described; rates are computed again from counts and times."""
        operations = tuple(
            OperationRates(each["operation"], tuple(each["counts"]), tuple(each["seconds"]))
            for each in values["operations"]
        )
        caches = tuple(CacheState.from_dict(state) for state in values["cache_before_reads"])
        return cls(**{**values, "operations": operations, "cache_before_reads": caches})
