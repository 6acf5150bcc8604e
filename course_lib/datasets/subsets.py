"""Picking some of the real samples, and checks of what loaders are asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError


def checked_part(part: object) -> None:
    """Raise a CourseError unless ``part`` is "train" or "test"."""
    if part not in ("train", "test"):
        raise CourseError("There is no such part of the data", expected="train or test", found=repr(part))


def checked_seed(seed: object) -> None:
    """Raise a CourseError unless ``seed`` is a whole number from 0 on."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise CourseError("The seed is no seed", expected="a whole number of at least 0", found=repr(seed))


def checked_count(sample_count: int | None, largest: int | None = None) -> int | None:
    """Return ``sample_count``; raise a CourseError unless it is None or a whole number in range."""
    if sample_count is None:
        return None
    whole = isinstance(sample_count, (int, np.integer)) and not isinstance(sample_count, bool)
    if not whole or sample_count < 1 or (largest is not None and sample_count > largest):
        raise CourseError(
            "The number of samples is out of range",
            expected="a whole number of at least 1" + (f" and at most {largest:,}" if largest else ""),
            found=repr(sample_count),
        )
    return int(sample_count)


def spread_over_classes(
    labels: NDArray[np.int64], sample_count: int | None, seed: int, dataset: str
) -> NDArray[np.int64]:
    """Pick samples by seed, as evenly over the classes as the classes allow.

    Parameters
    ----------
    labels : ndarray of int64, shape (samples,)
        Label of each sample.
    sample_count : int or None
        How many to pick; None picks all.
    seed : int
        The same seed picks the same samples, and a larger number keeps what a smaller one picked.
    dataset : str
        Name of the data set, for the message.

    Returns
    -------
    ndarray of int64
        Sorted positions of the picked samples.

    Raises
    ------
    CourseError
        When there are fewer samples.
    """
    if sample_count is None:
        return np.arange(len(labels))
    if sample_count > len(labels):
        raise CourseError(
            f"This part of {dataset} has fewer samples than were asked for",
            expected=f"at most {len(labels):,}",
            found=f"{sample_count:,}",
            next_step="lower sample_count",
        )
    shuffled = np.random.default_rng(seed).permutation(len(labels))
    order_in_class = np.empty(len(labels), dtype=np.int64)
    for label in np.unique(labels):
        members = shuffled[labels[shuffled] == label]
        order_in_class[members] = np.arange(len(members))
    turns = np.lexsort((labels, order_in_class))
    return np.sort(turns[:sample_count])
