"""Shares of the classes that drift through time, beyond what chance allows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.leakage.detectors.finding import Figure, Finding, cannot_tell

_KIND = "drifting_rate"
_FEWEST_EXPECTED = 5


def find_drifting_rate(
    labels: Sequence[Any] | NDArray[Any],
    times: Sequence[int] | NDArray[Any] | None = None,
    *,
    positive: Any = None,
    blocks: int = 10,
    cut: float = 0.8,
    largest_p: float = 0.001,
    smallest_effect: float = 0.1,
) -> Finding:
    """Compare the classes' shares over equal stretches of time.

    Two conditions must hold. The differences must be larger than chance allows (Pearson's chi-square
    test), and large enough to matter (Cramér's V): in a huge table every trifle is beyond chance.

    Parameters
    ----------
    labels : sequence
        Each sample's class.
    times : sequence of int, optional
        Larger is later; where left out, the samples are in the order of time already.
    positive : optional
        The class whose shares are told; the one that moves most where left out, or the rarer of two.
    blocks : int, optional
        Stretches to compare; fewer are taken where a class would be expected less than five times in one,
        as the test does not hold there.
    cut : float, optional
        Share of the samples before the cut, at which ``share_before`` and ``share_after`` meet.
    largest_p : float, optional
        Chance's probability up to which differences count: one false alarm in a thousand tables.
    smallest_effect : float, optional
        Cramér's V from which a drift counts. 0.1 is what J. Cohen, Statistical Power Analysis for the
        Behavioral Sciences (1988), ch. 7, calls a small effect.

    Returns
    -------
    Finding

    Raises
    ------
    CourseError
        For times that do not match the labels, a class that does not occur, or a cut outside (0, 1).
    """
    values = np.asarray(labels)
    if times is not None:
        moments = np.asarray(times)
        if len(moments) != len(values):
            raise CourseError(
                "The times do not match the labels", expected=f"{len(values):,}", found=f"{len(moments):,}"
            )
        values = values[np.argsort(moments, kind="stable")]
    if not 0 < cut < 1 or blocks < 2:
        raise CourseError(
            "Drift needs two stretches at least, and a cut between them",
            expected="blocks of 2 or more and a cut between 0 and 1",
            found=f"blocks {blocks}, cut {cut}",
        )
    classes, codes = np.unique(values, return_inverse=True)
    codes = codes.ravel()
    if positive is not None and positive not in classes:
        raise CourseError("The positive class does not occur", found=repr(positive))
    rarest = int(np.bincount(codes).min()) if len(codes) else 0
    stretches = min(blocks, rarest // _FEWEST_EXPECTED)
    if len(classes) < 2 or stretches < 2:
        return cannot_tell(_KIND, "There are too few samples of some class to tell a drift from chance.")
    return _judged(classes, codes, stretches, positive, cut, largest_p, smallest_effect)


def _judged(
    classes: NDArray[Any],
    codes: NDArray[np.intp],
    stretches: int,
    positive: Any,
    cut: float,
    largest_p: float,
    smallest_effect: float,
) -> Finding:
    from scipy.stats import chi2_contingency

    edges = [len(codes) * block // stretches for block in range(stretches + 1)]
    counts = np.array(
        [np.bincount(codes[start:end], minlength=len(classes)) for start, end in itertools.pairwise(edges)]
    )
    chi_square, p_value = chi2_contingency(counts, correction=False)[:2]
    effect = math.sqrt(chi_square / (len(codes) * (min(counts.shape) - 1)))
    shares = counts / counts.sum(axis=1, keepdims=True)
    if positive is None:
        # Of two classes both move alike, and the rarer one is the one that people speak of.
        told = int(np.argmin(counts.sum(axis=0)) if len(classes) == 2 else np.argmax(np.ptp(shares, axis=0)))
    else:
        told = int(np.flatnonzero(classes == positive)[0])
    at = min(max(round(len(codes) * cut), 1), len(codes) - 1)
    before, after = float((codes[:at] == told).mean()), float((codes[at:] == told).mean())
    figures: dict[str, Figure] = {
        "samples": len(codes),
        "blocks": stretches,
        "drifting_class": str(classes[told]),
        "lowest_share": float(shares[:, told].min()),
        "highest_share": float(shares[:, told].max()),
        "share_before": before,
        "share_after": after,
        "p_value": float(p_value),
        "effect": effect,
    }
    spoken = (
        f"the share of {classes[told]} is {before:.1%} in the first {cut:.0%} of the samples "
        f"and {after:.1%} after"
    )
    if p_value > largest_p:
        return Finding(_KIND, "clear", f"Chance explains what movement there is: {spoken}.", (), figures)
    if effect < smallest_effect:
        return Finding(_KIND, "clear", f"The drift is real but slight: {spoken}.", (), figures)
    sentence = (
        f"{spoken[0].upper()}{spoken[1:]}, with {figures['lowest_share']:.1%} to "
        f"{figures['highest_share']:.1%} in stretches of equal length: a random split hides this."
    )
    return Finding(_KIND, "found", sentence, (), figures)
