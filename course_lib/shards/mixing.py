"""How well the order of an epoch mixes: measured on the index, beside a full permutation of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.order import OrderRecipe, need_whole
from course_lib.shards.reading import ShardSet

_PERMUTATION_SEED = 606
_WELL_MIXED = 1.25


@dataclass(frozen=True)
class Mixing:
    """Figures of one order; those of a full permutation of the same samples are what to compare with.

    Attributes
    ----------
    recipe : OrderRecipe
    batch_size, samples : int
    class_gap, class_gap_permuted : float
        Mean over the batches of half the sum of absolute differences between the class shares of a batch and
        those of the set (total variation distance): 0 is the same mix, towards 1 a batch of one class.
    distance_moved, distance_permuted : float
        Mean distance between a sample's place in the pack and in the epoch, as a share of all samples. A
        permutation moves by a third.
    repeats, repeats_permuted : float
        Share of the pairs in a batch that are in one batch again in the next epoch.
    """

    recipe: OrderRecipe
    batch_size: int
    samples: int
    class_gap: float
    class_gap_permuted: float
    distance_moved: float
    distance_permuted: float
    repeats: float
    repeats_permuted: float

    @property
    def like_a_permutation(self) -> bool:
        """Tell whether the batches' classes are within a quarter of what a full permutation gives."""
        return self.class_gap <= self.class_gap_permuted * _WELL_MIXED

    @property
    def sentence(self) -> str:
        """Say in one line how the order mixes."""
        judged = "mix classes like" if self.like_a_permutation else "mix classes worse than"
        return (
            f"Batches of {self.batch_size:,} {judged} a full permutation: class gap {self.class_gap:.3f}"
            f" against {self.class_gap_permuted:.3f}, moved by {self.distance_moved:.1%} of the set against"
            f" {self.distance_permuted:.1%}, {self.repeats:.2%} of batch mates met again against"
            f" {self.repeats_permuted:.2%}."
        )


@dataclass(frozen=True)
class PackOrder:
    """Whether a set was packed class by class.

    Attributes
    ----------
    same_as_next, expected : float
        Share of neighbours in the pack with the same label, and what a random order has.
    class_sorted : bool
    """

    same_as_next: float
    expected: float

    @property
    def class_sorted(self) -> bool:
        """Tell whether neighbours share a label far more often than in a random order."""
        return self.expected < 1.0 and self.same_as_next > (1.0 + self.expected) / 2

    @property
    def sentence(self) -> str:
        """Say in one line what was found."""
        found = f"{self.same_as_next:.1%} of neighbours share a label, {self.expected:.1%} in a random order"
        if self.class_sorted:
            return f"The set was packed class by class: {found}; pack it anew in a seeded order."
        return f"The set was not packed class by class: {found}."


def measure_mixing(
    shards: ShardSet, recipe: OrderRecipe, batch_size: int, *, epoch: int = 0, ranks: int = 1
) -> Mixing:
    """Measure one epoch's order against a full permutation, without reading a sample.

    Parameters
    ----------
    shards : ShardSet
    recipe : OrderRecipe
    batch_size : int
        Samples of a batch.
    epoch : int, optional
        It is compared with the next one.
    ranks : int, optional
        With several, a batch is the samples of all ranks in one step.

    Raises
    ------
    CourseError
        When the set has fewer samples than one batch.
    """
    need_whole("The batch size", batch_size, 1)
    need_whole("The number of ranks", ranks, 1)
    size = batch_size * ranks
    if len(shards) < size:
        raise CourseError(
            "The set is smaller than one batch",
            expected=f"at least {size:,} samples",
            found=f"{len(shards):,}",
        )
    full = OrderRecipe("full", _PERMUTATION_SEED)
    figures = [
        _figures(
            shards.labels,
            each.positions(shards.shard_sizes, epoch),
            each.positions(shards.shard_sizes, epoch + 1),
            size,
        )
        for each in (recipe, full)
    ]
    (gap, moved, again), (gap_permuted, moved_permuted, again_permuted) = figures
    return Mixing(
        recipe, batch_size, len(shards), gap, gap_permuted, moved, moved_permuted, again, again_permuted
    )


def pack_order(labels: NDArray[np.integer]) -> PackOrder:
    """Tell how often neighbours in a pack share their label.

    Parameters
    ----------
    labels : ndarray of int, shape (samples,)
        In pack order; at least two.
    """
    if len(labels) < 2:
        raise CourseError("There is no order to look at", expected="at least 2 samples", found=len(labels))
    counts = np.unique(labels, return_counts=True)[1].astype(float)
    pairs = len(labels) * (len(labels) - 1.0)
    return PackOrder(
        float((labels[1:] == labels[:-1]).mean()), float((counts * (counts - 1.0)).sum() / pairs)
    )


def _figures(
    labels: NDArray[np.int64], order: NDArray[np.int64], following: NDArray[np.int64], size: int
) -> tuple[float, float, float]:
    batches = len(order) // size
    count = batches * size
    classes = int(labels.max()) + 1
    batch_of = np.arange(count) // size
    mixes = np.bincount(batch_of * classes + labels[order[:count]], minlength=batches * classes)
    overall = np.bincount(labels, minlength=classes) / len(labels)
    gap = float(np.abs(mixes.reshape(batches, classes) / size - overall).sum(axis=1).mean() / 2)
    moved = float(np.abs(order - np.arange(len(order))).mean() / len(order))
    return gap, moved, _repeats(order, following, count, size)


def _repeats(order: NDArray[np.int64], following: NDArray[np.int64], count: int, size: int) -> float:
    if size < 2:
        return 0.0
    batches = count // size
    later = np.full(len(order), -1, dtype=np.int64)
    later[following[:count]] = np.arange(count) // size
    both = (np.arange(count) // size) * (batches + 1) + later[order[:count]]
    # Samples of one batch that share their next batch too make n (n - 1) / 2 pairs that meet again.
    met = np.unique(both[later[order[:count]] >= 0], return_counts=True)[1].astype(float)
    return float((met * (met - 1)).sum() / (batches * size * (size - 1.0)))
