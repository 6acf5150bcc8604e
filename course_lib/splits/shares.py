"""Whole numbers of samples from shares: the largest remainders get what is left over."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def apportion(
    total: int, ratios: Sequence[Fraction], behind: Sequence[Fraction] | None = None
) -> tuple[list[int], bool]:
    """Share out ``total`` samples: each share is its exact value rounded down or up.

    What rounding down leaves over goes to the largest remainders. Between equal remainders the share that
    is furthest behind goes first (``behind``: exact value less what it got, over the strata before), then the
    one named first.

    Returns
    -------
    counts : list of int
        They sum to ``total``.
    tied : bool
        Whether equal remainders competed for the last sample.

    Examples
    --------
    >>> apportion(10, [Fraction(7, 10), Fraction(3, 20), Fraction(3, 20)])
    ([7, 2, 1], True)
    """
    exact = [total * ratio for ratio in ratios]
    counts = [int(value) for value in exact]
    remainders = [value - count for value, count in zip(exact, counts, strict=True)]
    lag = [Fraction(0)] * len(ratios) if behind is None else list(behind)
    ranking = sorted(range(len(ratios)), key=lambda place: (-remainders[place], -lag[place], place))
    left_over = total - sum(counts)
    for place in ranking[:left_over]:
        counts[place] += 1
    tied = 0 < left_over < len(ratios) and (
        remainders[ranking[left_over - 1]] == remainders[ranking[left_over]]
    )
    return counts, tied
