"""The order in which samples are drawn: decided by seed and epoch, the same for any number of workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch.utils.data import Sampler

from course_lib.errors import CourseError


class Draw(NamedTuple):
    """One sample of one epoch.

    Attributes
    ----------
    epoch : int
        The epoch, which augmentation depends on; so it reaches workers that live on.
    position : int
        The sample's place in the data set.
    """

    epoch: int
    position: int


def epoch_order(sample_count: int, *, shuffle: bool, seed: int, epoch: int) -> NDArray[np.int64]:
    """Return the positions of all samples in the order of one epoch, shape (samples,)."""
    if not shuffle:
        return np.arange(sample_count)
    return np.random.default_rng((seed, epoch)).permutation(sample_count)


class EpochSampler(Sampler[Draw]):
    """Hands each sample out once an epoch, as a :class:`Draw`.

    Call :meth:`set_epoch` before each further epoch, as with PyTorch's ``DistributedSampler``; an
    epoch that is read again without it has the same order.
    """

    def __init__(self, sample_count: int, *, shuffle: bool, seed: int, epoch: int = 0) -> None:
        self._sample_count = sample_count
        self._shuffle = shuffle
        self._seed = seed
        self.set_epoch(epoch)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch that is drawn next.

        Raises
        ------
        CourseError
            When it is no whole number from 0 on.
        """
        if isinstance(epoch, bool) or not isinstance(epoch, int) or epoch < 0:
            raise CourseError("There is no such epoch", expected="0, 1, 2 and so on", found=repr(epoch))
        self.epoch = epoch

    def __iter__(self) -> Iterator[Draw]:
        epoch = self.epoch
        order = epoch_order(self._sample_count, shuffle=self._shuffle, seed=self._seed, epoch=epoch)
        return (Draw(epoch, position) for position in order.tolist())

    def __len__(self) -> int:
        return self._sample_count
