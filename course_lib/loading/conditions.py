"""What one run of a loader depends on: every condition by name, checked before anything starts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from course_lib.datasets.settings import SOURCES, Source
from course_lib.datasets.subsets import checked_count, checked_part, checked_seed
from course_lib.errors import CourseError

Layout = Literal["files", "shards", "memory"]
Transforms = Literal["bytes", "decode", "augment"]
Cache = Literal["as found", "evict"]
StartMethod = Literal["", "fork", "forkserver", "spawn"]

LARGEST_OPEN_MS = 10_000.0
MOST_WORKERS = 1_024
SAMPLE_FACTORS = frozenset(
    {"data", "part", "source", "path", "sample_count", "batch_size", "shuffle", "seed", "epoch"}
)
"""Conditions which decide, with the number of batches, which samples are delivered and in which order."""

_SECONDS_FOR_ANY_BATCH = 30.0
_SECONDS_TO_DECODE_ONE_SLOWLY = 0.002
_BYTES_OF_A_SAMPLE_AT_MOST = 100_000


@dataclass(frozen=True)
class LoaderConditions:
    """The conditions of one loader run; what is not named here is left to PyTorch's defaults.

    Attributes
    ----------
    data : str
        Name of the data set; images of "cifar10".
    part, source : str
        As :func:`course_lib.datasets.load_cifar10` takes them.
    path : str
        A folder of JPEG or PNG files on any mounted path, taken instead of the data set; "" for none.
    sample_count : int or None
        Samples; None takes all.
    layout : {"files", "shards", "memory"}
        Each sample is read from a file of its own; from a shard set, packed once into the course's home; or
        from encoded bytes that were read into memory before the run (the decode-only control, which no set
        latency touches).
    batch_size : int
        Samples in a batch.
    workers, prefetch : int
        Worker processes, and the batches that each of them prepares ahead (without workers: none).
    persistent_workers : bool
        Keep the workers from one epoch to the next.
    transforms : {"bytes", "decode", "augment"}
        Hand over the encoded bytes (the read-only control), decoded uint8 pixels, or decoded, cropped,
        flipped and normalised float32.
    decode_repeats : int
        How often each image is decoded; more than once stands for a slow decoder, with real work.
    open_ms, bandwidth_bytes_per_second : float
        Time per open and bandwidth of the store, both *set*, not measured; 0 and None set nothing. A file
        is opened for each sample, a shard once by each process that reads it.
    shuffle : bool
        Deliver in an order drawn from seed and epoch, else in the order of the names.
    seed, epoch : int
        Decide the order and the augmentation.
    start_method : {"", "fork", "forkserver", "spawn"}
        How workers start; "" is the platform's own.
    cache : {"as found", "evict"}
        Leave the page cache as it is, or drop the run's own files from it before the run.
    shard_target_bytes : int
        Most bytes of a shard in the layout "shards".

    Raises
    ------
    CourseError
        For conditions that no run can have.
    """

    data: str = "cifar10"
    part: Literal["train", "test"] = "train"
    source: Source = "auto"
    path: str = ""
    sample_count: int | None = 2_000
    layout: Layout = "files"
    batch_size: int = 64
    workers: int = 0
    prefetch: int = 2
    persistent_workers: bool = True
    transforms: Transforms = "decode"
    decode_repeats: int = 1
    open_ms: float = 0.0
    bandwidth_bytes_per_second: float | None = None
    shuffle: bool = True
    seed: int = 2026
    epoch: int = 0
    start_method: StartMethod = ""
    cache: Cache = "as found"
    shard_target_bytes: int = 16_000_000

    def __post_init__(self) -> None:
        checked_choice("data", self.data, ("cifar10",))
        checked_part(self.part)
        checked_choice("source", self.source, SOURCES)
        checked_choice("layout", self.layout, get_args(Layout))
        checked_choice("transforms", self.transforms, get_args(Transforms))
        checked_choice("cache", self.cache, get_args(Cache))
        checked_choice("start_method", self.start_method, get_args(StartMethod))
        if not isinstance(self.path, str):
            raise CourseError("The path is no text", found=repr(self.path))
        for name in ("shuffle", "persistent_workers"):
            checked_choice(name, getattr(self, name), (True, False))
        checked_count(self.sample_count)
        checked_whole("batch_size", self.batch_size, 1, 1_000_000)
        checked_whole("workers", self.workers, 0, MOST_WORKERS)
        checked_whole("prefetch", self.prefetch, 1, 1_024)
        checked_whole("decode_repeats", self.decode_repeats, 1, 10_000)
        checked_seed(self.seed)
        checked_whole("epoch", self.epoch, 0, 2**31 - 1)
        checked_whole("shard_target_bytes", self.shard_target_bytes, 1, 2**40)
        _checked_number("open_ms", self.open_ms, 0, LARGEST_OPEN_MS)
        if self.bandwidth_bytes_per_second is not None:
            _checked_number("bandwidth_bytes_per_second", self.bandwidth_bytes_per_second, 1, math.inf)
        if self.sample_count is not None:
            check_batches(self, self.sample_count)

    @property
    def batch_seconds_at_most(self) -> float:
        """Seconds after which a batch counts as hung, generous for what was set to be slow."""
        sample_seconds = self.open_ms / 1000 + self.decode_repeats * _SECONDS_TO_DECODE_ONE_SLOWLY
        if self.bandwidth_bytes_per_second is not None:
            sample_seconds += _BYTES_OF_A_SAMPLE_AT_MOST / self.bandwidth_bytes_per_second
        return _SECONDS_FOR_ANY_BATCH + 4 * self.batch_size * sample_seconds

    def as_dict(self) -> dict[str, Any]:
        """Return the conditions as plain values for a record."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LoaderConditions:
        """Return the conditions that a record holds.

        Raises
        ------
        CourseError
            When there is a name that is no condition, or a value that is out of range.
        """
        unknown = sorted(set(values) - {field.name for field in fields(cls)})
        if unknown:
            raise CourseError(
                f"{unknown[0]} is no condition of a loader",
                expected=f"one of {', '.join(field.name for field in fields(cls))}",
            )
        return cls(**values)

    def with_changes(self, **changes: Any) -> LoaderConditions:
        """Return the same conditions with some of them changed, checked anew."""
        return type(self).from_dict(self.as_dict() | changes)


def differing_factors(first: LoaderConditions, second: LoaderConditions) -> tuple[str, ...]:
    """Return the names of the conditions in which two runs differ."""
    return tuple(
        field.name
        for field in fields(LoaderConditions)
        if getattr(first, field.name) != getattr(second, field.name)
    )


def check_batches(conditions: LoaderConditions, sample_count: int) -> int:
    """Return how many batches ``sample_count`` samples make.

    Raises
    ------
    CourseError
        When there are no samples, fewer than a batch, or more workers than batches.
    """
    if sample_count < 1:
        raise CourseError("There are no samples to load", expected="at least 1", found="0")
    if sample_count < conditions.batch_size:
        raise CourseError(
            "There are fewer samples than one batch holds",
            expected=f"at least {conditions.batch_size:,}",
            found=f"{sample_count:,}",
            next_step="lower batch_size or take more samples",
        )
    batches = math.ceil(sample_count / conditions.batch_size)
    if conditions.workers > batches:
        raise CourseError(
            "There are more workers than batches, so some would have nothing to do",
            expected=f"at most {batches:,} workers",
            found=f"{conditions.workers:,}",
            next_step="lower workers or batch_size, or take more samples",
        )
    return batches


def checked_choice(name: str, value: object, choices: tuple[object, ...]) -> None:
    """Raise CourseError unless ``value`` is one of ``choices``, and of its type."""
    if not any(value is choice or (type(value) is type(choice) and value == choice) for choice in choices):
        shown = ", ".join(repr(choice) for choice in choices)
        raise CourseError(f"{name} is not one of its choices", expected=shown, found=repr(value))


def checked_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise CourseError unless ``value`` is a whole number in the range."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise CourseError(
            f"{name} is out of range",
            expected=f"a whole number from {least:,} to {most:,}",
            found=repr(value),
        )


def _checked_number(name: str, value: object, least: float, most: float) -> None:
    number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not number or not least <= value <= most:  # type: ignore[operator]
        limit = f" and at most {most:,.0f}" if math.isfinite(most) else ""
        raise CourseError(f"{name} is out of range", expected=f"at least {least:,}{limit}", found=repr(value))
