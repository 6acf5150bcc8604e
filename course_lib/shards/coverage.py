"""What a reading pass planned, delivered and lost, by class: nothing is left out in silence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError

NAMED_LOSSES = 20
_BLOCKS_AT_ONCE = 16


@dataclass(frozen=True)
class Coverage:
    """Samples of a pass or an epoch, counted by class.

    Attributes
    ----------
    class_names : tuple of str
        The label map.
    planned, delivered, failed : tuple of int
        Samples of each class that were asked for, handed out, and lost. What is planned and neither handed
        out nor lost was not reached: the pass was broken off.
    losses : tuple of str
        The first losses, each with its sample, shard and reason.
    """

    class_names: tuple[str, ...]
    planned: tuple[int, ...]
    delivered: tuple[int, ...]
    failed: tuple[int, ...]
    losses: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Tell whether everything that was planned was delivered."""
        return self.planned == self.delivered

    @property
    def share(self) -> float:
        """Return the delivered share of what was planned, 0 to 1."""
        return sum(self.delivered) / sum(self.planned) if sum(self.planned) else 1.0

    @property
    def sentence(self) -> str:
        """Say in one line how many samples came through, and which classes lost some."""
        planned, delivered, failed = sum(self.planned), sum(self.delivered), sum(self.failed)
        told = f"{delivered:,} of {planned:,} samples delivered ({self.share:.2%}), {failed:,} failed"
        if not failed:
            return told + "."
        lost = sorted(
            ((lost, name) for name, lost in zip(self.class_names, self.failed, strict=True) if lost),
            reverse=True,
        )
        return told + ": " + ", ".join(f"{name} {count:,}" for count, name in lost) + "."


class CoverageCount:
    """Counts a pass while it is read.

    Parameters
    ----------
    class_names : sequence of str
        The label map; a label outside of it is an error when it is counted.
    """

    def __init__(self, class_names: Sequence[str]) -> None:
        self._names = tuple(class_names)
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self._planned, self._delivered, self._failed = np.zeros((3, len(self._names)), dtype=np.int64)
        self._losses: list[str] = []
        self._handed_out: list[list[int]] = []

    def planned(self, labels: NDArray[np.integer] | Sequence[int]) -> None:
        """Count samples that are asked for."""
        self._planned += self._by_class(labels)

    def delivered(self, labels: list[int]) -> None:
        """Count samples that were handed out."""
        # Counting waits until many have come together: this is called for every block.
        self._handed_out.append(labels)
        if len(self._handed_out) >= _BLOCKS_AT_ONCE:
            self._count_handed_out()

    def failed(self, labels: NDArray[np.integer] | Sequence[int], losses: Sequence[str] = ()) -> None:
        """Count samples that were lost, and keep the first reasons."""
        self._failed += self._by_class(labels)
        self._losses += losses[: NAMED_LOSSES - len(self._losses)]

    def result(self) -> Coverage:
        """Return what was counted so far."""
        self._count_handed_out()
        planned, delivered, failed = (
            tuple(counts.tolist()) for counts in (self._planned, self._delivered, self._failed)
        )
        return Coverage(self._names, planned, delivered, failed, tuple(self._losses))

    def _count_handed_out(self) -> None:
        self._delivered += self._by_class(list(chain.from_iterable(self._handed_out)))
        self._handed_out.clear()

    def _by_class(self, labels: NDArray[np.integer] | Sequence[int]) -> NDArray[np.int64]:
        array = np.asarray(labels, dtype=np.int64)
        if len(array) and not 0 <= array.min() <= array.max() < len(self._names):
            wrong = array[(array < 0) | (array >= len(self._names))][0]
            raise CourseError(
                "A label of the shard set is outside its label map",
                expected=f"0 to {len(self._names) - 1}",
                found=int(wrong),
                next_step="run `course shards verify` on the set",
            )
        return np.bincount(array, minlength=len(self._names))
