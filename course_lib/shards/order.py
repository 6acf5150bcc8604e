"""In which order an epoch reads a set, and how its batches are dealt out to ranks and workers.

An order is made from the index alone, by seed and epoch. The ranks take its batches in turn, the workers of a
rank take the batches of that rank in turn: so every sample comes exactly once an epoch for any number of
ranks, workers and shards, and where to go on is one number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError

Shuffle = Literal["none", "shards+buffer", "full"]
Uneven = Literal["level", "drop", "pad"]
DEFAULT_BUFFER = 8_192


@dataclass(frozen=True)
class OrderRecipe:
    """How the order of an epoch is made.

    Parameters
    ----------
    shuffle : {"none", "shards+buffer", "full"}
        Pack order; the shards in an order of the epoch's own, then samples drawn from a buffer that the
        shards fill one after the other; or a permutation of all samples.
    seed : int
        Together with the epoch it decides the order.
    buffer : int
        Samples in the buffer.

    Raises
    ------
    CourseError
        For another way to shuffle, or numbers out of range.
    """

    shuffle: Shuffle = "shards+buffer"
    seed: int = 2026
    buffer: int = DEFAULT_BUFFER

    def __post_init__(self) -> None:
        _need_one_of("way to shuffle", self.shuffle, get_args(Shuffle))
        need_whole("The seed", self.seed, 0)
        need_whole("The buffer", self.buffer, 1)

    def positions(self, shard_sizes: NDArray[np.integer], epoch: int) -> NDArray[np.int64]:
        """Return the positions of all samples in the order of one epoch.

        Parameters
        ----------
        shard_sizes : ndarray of int, shape (shards,)
            Samples of each shard.
        epoch : int
            From 0 on.

        Returns
        -------
        ndarray of int64, shape (samples,)
        """
        need_whole("The epoch", epoch, 0)
        sizes = np.asarray(shard_sizes, dtype=np.int64)
        total = int(sizes.sum())
        if self.shuffle == "none":
            return np.arange(total, dtype=np.int64)
        draw = np.random.default_rng((self.seed, epoch))
        if self.shuffle == "full":
            return draw.permutation(total)
        shards = draw.permutation(len(sizes))
        starts = np.cumsum(sizes) - sizes
        # Each shard's positions count up from its start, the shards one after the other in their new order.
        lengths = sizes[shards]
        steps = np.repeat(starts[shards] - (np.cumsum(lengths) - lengths), lengths)
        return (np.arange(total) + steps)[_through_a_buffer(total, self.buffer, draw)]


def _through_a_buffer(count: int, buffer: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Return which of ``count`` samples leaves a shuffle buffer when.

    The buffer is filled with the first samples. Then, again and again, one of its slots is drawn, its sample
    leaves, and the next one takes the slot; at the end the rest leaves in random order. All at once: the
    sample that leaves at time ``t`` came at the last time before when the same slot was drawn.
    """
    buffer = min(buffer, count)
    # Sorting 16-bit numbers takes NumPy a tenth of the time of wider ones.
    slots = draw.integers(0, buffer, size=count - buffer, dtype=np.uint16 if buffer <= 1 << 16 else np.uint32)
    by_slot = np.argsort(slots, kind="stable")
    slot = slots[by_slot].astype(np.int64)
    same_as_before = np.zeros(len(slots), dtype=np.bool_)
    same_as_before[1:] = slot[1:] == slot[:-1]
    leaving = np.empty(count, dtype=np.int64)
    before = np.concatenate(([0], by_slot[:-1])) if len(by_slot) else by_slot
    leaving[by_slot] = np.where(same_as_before, before + buffer, slot)
    rest = np.arange(buffer, dtype=np.int64)
    is_last = np.append(~same_as_before[1:], True) if len(slots) else same_as_before
    rest[slot[is_last]] = by_slot[is_last] + buffer
    leaving[count - buffer :] = draw.permutation(rest)
    return leaving


@dataclass(frozen=True)
class BatchPlan:
    """How an epoch's order is cut into batches, and these dealt out to ranks: every rank has as many.

    Parameters
    ----------
    samples, batch_size : int
        Samples of the epoch, and of a full batch of one rank.
    ranks : int
        Training processes that share the epoch.
    uneven : {"level", "drop", "pad"}
        What happens where the samples do not fill the last batches of all ranks: these are made smaller,
        nearly alike, and every sample comes exactly once; the rest of the epoch is dropped; or the first
        samples of the order come a second time.

    Raises
    ------
    CourseError
        When a rank would be left without a batch, so that the others waited for it for ever.
    """

    samples: int
    batch_size: int
    ranks: int = 1
    uneven: Uneven = "level"

    def __post_init__(self) -> None:
        need_whole("The number of samples", self.samples, 1)
        need_whole("The batch size", self.batch_size, 1)
        need_whole("The number of ranks", self.ranks, 1)
        _need_one_of("way to even out ranks", self.uneven, get_args(Uneven))
        if self.uneven == "drop" and self.samples < self._full_step:
            raise CourseError(
                "No batch would be left when the incomplete ones are dropped",
                expected=f"at least {self._full_step:,} samples ({self.ranks:,} ranks x {self.batch_size:,})",
                found=f"{self.samples:,}",
                next_step="take smaller batches or fewer ranks, or uneven='level'",
            )
        if self.uneven == "level" and self._tail_batches > self.samples - self._tail_start:
            raise CourseError(
                "A rank would be left without a batch, and the others would wait for it for ever",
                expected=f"a number of samples that {self.ranks:,} ranks can share",
                found=f"{self.samples:,} samples in batches of {self.batch_size:,}",
                next_step="start fewer ranks, or take uneven='drop' or 'pad'",
            )

    @property
    def _full_step(self) -> int:
        return self.ranks * self.batch_size

    @property
    def steps(self) -> int:
        """Batches of each rank."""
        whole, rest = divmod(self.samples, self._full_step)
        return whole + (rest > 0 and self.uneven != "drop")

    @property
    def note(self) -> str:
        """Say in words how the epoch was evened out; "" where it needed nothing."""
        rest = self.samples % self._full_step
        if not rest:
            return ""
        if self.uneven == "drop":
            return f"{rest:,} of {self.samples:,} samples are left out of each epoch: all batches are full."
        if self.uneven == "pad":
            again = self.steps * self._full_step - self.samples
            return f"{again:,} of {self.samples:,} samples come again in each epoch: all batches are full."
        if self.ranks == 1:
            return f"The last batch holds {rest:,} samples."
        return f"The last {self._tail_batches:,} batches, over {self.ranks:,} ranks, are smaller."

    @property
    def _tail_batches(self) -> int:
        rest = self.samples % self._full_step
        if not rest or self.uneven != "level":
            return 0
        # A rest that does not reach all ranks is shared out together with the step before it.
        return self.ranks * (2 if rest < self.ranks and self.steps > 1 and self.batch_size > 1 else 1)

    @property
    def _tail_start(self) -> int:
        return self.batch_size * (self.steps * self.ranks - self._tail_batches)

    def places(self, rank: int, step: int) -> tuple[int, int]:
        """Return where a batch begins and ends in the order; the end may lie behind it with ``pad``."""
        batch = step * self.ranks + rank
        in_tail = batch - (self.steps * self.ranks - self._tail_batches)
        if in_tail < 0 or not self._tail_batches:
            return batch * self.batch_size, (batch + 1) * self.batch_size
        size, larger = divmod(self.samples - self._tail_start, self._tail_batches)
        begin = self._tail_start + in_tail * size + min(in_tail, larger)
        return begin, begin + size + (in_tail < larger)

    def batch(self, order: NDArray[np.integer], rank: int, step: int) -> NDArray[np.integer]:
        """Return the positions of one batch, shape (batch_size,) or less.

        Parameters
        ----------
        order : ndarray of int, shape (samples,)
            From :meth:`OrderRecipe.positions`.
        rank, step : int
            From 0 to before ``ranks`` and ``steps``.
        """
        begin, end = self.places(rank, step)
        if end <= len(order):
            return order[begin:end]
        return np.take(order, np.arange(begin, end), mode="wrap")


def need_whole(what: str, number: object, smallest: int) -> None:
    """Raise a CourseError unless ``number`` is a whole number of at least ``smallest``."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < smallest:
        raise CourseError(
            f"{what} is out of range", expected=f"a whole number from {smallest} on", found=repr(number)
        )


def _need_one_of(what: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise CourseError(f"There is no such {what}", expected=", ".join(allowed), found=repr(value))
