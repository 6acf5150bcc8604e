"""How large a lesson's experiment is: small enough for a class, or full size."""

from __future__ import annotations

import os
from typing import TypeVar

FULL_SIZE_VARIABLE = "COURSE_FULL_SIZE"
"""Set to 1 by ``course run --full`` for the lessons that it runs."""

InClass = TypeVar("InClass")
Full = TypeVar("Full")


def sized(in_class: InClass, full: Full) -> InClass | Full:
    """Return the first value in class, and the second one under ``course run --full``.

    Parameters
    ----------
    in_class, full : object
        A number of samples, files or the like; None often stands for all.

    Examples
    --------
    >>> sized(640, None)
    640
    """
    return full if os.environ.get(FULL_SIZE_VARIABLE) == "1" else in_class
