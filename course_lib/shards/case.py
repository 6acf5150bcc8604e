"""The case of a million small files worked out: shards, container overhead, set times, break-even."""

from __future__ import annotations

import math
from dataclasses import dataclass

from course_lib.errors import CourseError
from course_lib.shards.format import record_bytes
from course_lib.shards.tar import archive_end


@dataclass(frozen=True)
class ShardCase:
    """Samples of one size that are to be packed; nothing is measured here.

    Parameters
    ----------
    samples : int
        Files before packing, one for each sample.
    sample_bytes : int
        Mean payload of a sample.
    target_bytes : int
        Most bytes of a shard.

    Raises
    ------
    CourseError
        When a number is not a whole one above 0.

    Examples
    --------
    >>> case = ShardCase(1_000_000, 40_000, 256_000_000)
    >>> case.shards_by_payload, case.shards_packed
    (157, 165)
    """

    samples: int = 1_000_000
    sample_bytes: int = 40_000
    target_bytes: int = 256_000_000

    def __post_init__(self) -> None:
        for name in ("samples", "sample_bytes", "target_bytes"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise CourseError(
                    f"{name} is out of range", expected="a whole number above 0", found=repr(value)
                )

    @property
    def payload_bytes(self) -> int:
        """Bytes of all payloads."""
        return self.samples * self.sample_bytes

    @property
    def shards_by_payload(self) -> int:
        """Shards of ``target_bytes`` that the payloads need, without any container: rounded up."""
        return -(-self.payload_bytes // self.target_bytes)

    @property
    def record_bytes(self) -> int:
        """Bytes of one sample in a tar shard: two headers, the payload in whole blocks, the label."""
        return record_bytes(self.sample_bytes)

    @property
    def overhead(self) -> float:
        """What the container adds to a payload, as a ratio: 0.05 is 5%."""
        return self.record_bytes / self.sample_bytes - 1

    @property
    def samples_per_shard(self) -> int:
        """Records that fit into a shard with the end of its archive; at least one."""
        count = max(1, self.target_bytes // self.record_bytes)
        while count > 1 and _file_bytes(count * self.record_bytes) > self.target_bytes:
            count -= 1
        return min(count, self.samples)

    @property
    def shards_packed(self) -> int:
        """Shards that the packer writes, containers and boundaries included."""
        return -(-self.samples // self.samples_per_shard)

    @property
    def packed_bytes(self) -> int:
        """Bytes of all shard files."""
        full, rest = divmod(self.samples, self.samples_per_shard)
        last = _file_bytes(rest * self.record_bytes) if rest else 0
        return full * _file_bytes(self.samples_per_shard * self.record_bytes) + last


def operation_seconds(count: int, seconds_each: float, *, at_once: int = 1) -> float:
    """Return how long ``count`` operations of a set time take when ``at_once`` of them wait side by side.

    Examples
    --------
    >>> operation_seconds(1_000_000, 0.002) / 60
    33.333333333333336
    """
    if count < 0 or at_once < 1 or not (math.isfinite(seconds_each) and seconds_each >= 0):
        raise CourseError(
            "There is no such number of operations or time for each",
            expected="0 or more of both, and 1 or more at once",
            found=f"{count}, {seconds_each} s, {at_once} at once",
        )
    return math.ceil(count / at_once) * seconds_each


def break_even_epochs(packing: float, from_files: float, from_shards: float) -> float | None:
    """Return after how many epochs packing has paid for itself: ``packing / (from_files - from_shards)``.

    Parameters
    ----------
    packing, from_files, from_shards : float
        Seconds for packing, and for an epoch from either layout.

    Returns
    -------
    float or None
        None where an epoch from shards takes as long as one from files, or longer.

    Examples
    --------
    >>> break_even_epochs(90, 50, 35)
    6.0
    """
    saved = from_files - from_shards
    return packing / saved if saved > 0 else None


def _file_bytes(content: int) -> int:
    return content + len(archive_end(content))
