"""How the share of positive rows moves through time."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from course_lib.errors import CourseError


def yes_share_by_block(labels: Sequence[str], *, blocks: int = 20, positive: str = "yes") -> list[float]:
    """Return the share of positive rows in each of ``blocks`` equal stretches, in the rows' order.

    Returns
    -------
    list of float, length ``blocks``
        Shares between 0 and 1; the stretches differ by one row at most.

    Raises
    ------
    CourseError
        When there are fewer rows than stretches.
    """
    values = [value == positive for value in labels]
    if not 1 <= blocks <= len(values):
        raise CourseError(
            "The rows cannot be cut into so many stretches", expected=f"1 to {len(values)}", found=blocks
        )
    edges = [len(values) * block // blocks for block in range(blocks + 1)]
    return [sum(values[start:end]) / (end - start) for start, end in itertools.pairwise(edges)]


def yes_share_around_cut(
    labels: Sequence[str], cut_share: float, *, positive: str = "yes"
) -> tuple[float, float]:
    """Return the share of positive rows before and after a cut in the rows' order.

    Parameters
    ----------
    labels : sequence of str
    cut_share : float
        Share of the rows before the cut, between 0 and 1 (both excluded).

    Raises
    ------
    CourseError
        When the cut leaves one side without rows.
    """
    cut = round(len(labels) * cut_share)
    if not 0 < cut < len(labels):
        raise CourseError(
            "The cut must leave rows on both sides", expected="a share between 0 and 1", found=cut_share
        )
    values = [value == positive for value in labels]
    return sum(values[:cut]) / cut, sum(values[cut:]) / (len(values) - cut)
