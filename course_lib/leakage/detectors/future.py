"""The future in the training part: training samples that are later than samples held out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.leakage.detectors.finding import Finding, cannot_tell
from course_lib.leakage.detectors.parts import parts_of
from course_lib.leakage.detectors.wording import counted

_KIND = "future_in_training"


def find_future_in_training(split: Any, times: Sequence[int] | NDArray[Any] | None = None) -> Finding:
    """Find out whether training samples are later than samples held out.

    One swapped sample can make thousands of others look late, so the samples listed are the fewest
    that would have to move for the order to hold. Samples of one and the same time on both sides are
    counted but not held against the split: neither is the other's future.

    Parameters
    ----------
    split : Split, SplitManifest or Parts
        Which sample lies in which part; the first part is the training part, all others are held out.
    times : sequence of int, optional
        Larger is later, in the order of the split's ids; a `Split`'s own where left out.

    Returns
    -------
    Finding
    """
    parts = parts_of(split)
    if times is None and hasattr(split, "samples"):
        times = split.samples.times
    if times is None:
        return cannot_tell(_KIND, "Nothing says when the samples came into being, so their order is unknown.")
    parts.aligned(times, "times")
    moments = np.asarray(times)
    held_out = parts.codes != 0
    if held_out.all() or not held_out.any():
        return cannot_tell(_KIND, "All samples lie on one side, so there is no order to keep between parts.")
    ranks = np.unique(moments, return_inverse=True)[1].ravel()
    steps = int(ranks.max()) + 1
    training_at = np.bincount(ranks[~held_out], minlength=steps)
    held_out_at = np.bincount(ranks[held_out], minlength=steps)
    begin = int(ranks[held_out].min())
    # With the cut at a time t: training samples after it and held-out samples before it are misplaced.
    wrong = (training_at.sum() - np.cumsum(training_at)) + (np.cumsum(held_out_at) - held_out_at)
    cut = int(np.argmin(wrong))
    misplaced = np.flatnonzero(np.where(held_out, ranks < cut, ranks > cut))
    figures = {
        "samples": len(parts),
        "misplaced": len(misplaced),
        "training_after": int(training_at[begin + 1 :].sum()),
        "same_time": int(training_at[begin]),
    }
    if not len(misplaced):
        return Finding(_KIND, "clear", "No training sample is later than a sample held out.", (), figures)
    sentence = (
        f"{counted(figures['training_after'], 'training sample is', 'training samples are')} later than the "
        f"earliest sample held out; the fewest that would have to move are {len(misplaced):,}."
    )
    return Finding(_KIND, "found", sentence, tuple(sorted(parts.ids_at(misplaced))), figures)
