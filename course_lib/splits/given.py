"""What people pass to this package from Python: shown in errors, and refused where its form means nothing."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from course_lib.errors import CourseError

_LONGEST_SHOWN = 60


def shown(value: object) -> str:
    """Return a value in plain ASCII, so that blanks and look-alikes can be seen, not too long.

    Examples
    --------
    >>> shown("b\\n")
    "'b\\\\n'"
    """
    try:
        written = ascii(value)
    except (ValueError, RecursionError):
        # Python writes out no whole number of more than 4,300 digits, nor lists within lists without end.
        return "a value too long to show"
    return written if len(written) <= _LONGEST_SHOWN else written[: _LONGEST_SHOWN - 3] + "..."


def need_list(values: Any, what: str, *, dimensions: tuple[int, ...] = (1,)) -> None:
    """Raise CourseError for what has no length, no order or more than one column.

    Parameters
    ----------
    values : object
        Lists, tuples, arrays, Series and the like are fine; text, sets, dictionaries, iterators and tables
        are not.
    what : str
        What they are, in the plural, such as "The labels of calls".
    dimensions : tuple of int, optional
        Numbers of dimensions that an array may have.
    """
    no_list = isinstance(values, (str, bytes, bytearray, Set, Mapping)) or not hasattr(values, "__len__")
    # A table has a schema, whichever library it is from; pandas' has two dimensions.
    if no_list or getattr(values, "ndim", 1) not in dimensions or hasattr(values, "schema"):
        raise CourseError(
            f"{what} are not in one list",
            expected="a list, an array or a column of a table, with one value after the other",
            found=f"a {type(values).__name__}",
            next_step="convert them",
        )


def need_type(value: object, wanted: type, what: str, next_step: str) -> None:
    """Raise CourseError, telling how to make one, for a value that is not of the type that is needed."""
    if not isinstance(value, wanted):
        raise CourseError(
            f"{what} is needed here",
            found=shown(value) if isinstance(value, (str, int)) else f"a {type(value).__name__}",
            next_step=next_step,
        )


def need_line(value: object, what: str, *, may_be_empty: bool = True) -> None:
    """Raise CourseError for a name or a remark that is not one line of visible text."""
    usable = isinstance(value, str) and value.isprintable() and (may_be_empty or bool(value.strip()))
    if not usable:
        raise CourseError(
            f"{what} is not usable",
            expected="one line of visible text",
            found=shown(value),
            next_step="write it in letters, digits and blanks",
        )
