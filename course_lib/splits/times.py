"""The times of samples: instants in UTC, or positions."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.splits.columns import (
    ARROW_REFUSES,
    first_line_of,
    is_plain,
    kind_of,
    mixed_types,
    need_column,
)

_ZONED = r"[0-9]{2}:[0-9]{2}.*(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
_FROM_SECONDS_ON = ("s", "ms", "us", "ns", "ps", "fs", "as")


def checked_times(times: Any, count: int, title: str) -> NDArray[np.int64]:
    """Return times as nanoseconds since 1970 in UTC, or positions as they are."""
    need_column("times", times, count, title)
    if is_plain(times):
        kinds = {kind_of(value) for value in times}
        if "missing" in kinds:
            raise _missing_time(
                next(at for at, value in enumerate(times) if kind_of(value) == "missing"), title
            )
        if {"time with a zone", "time without a zone"} <= kinds:
            raise _mixed_zones(title)
        if len(kinds) > 1:
            raise mixed_types("times", kinds, title)
    elif isinstance(times, np.ndarray) and times.dtype.kind == "M":
        # Arrow knows neither hours nor months; seconds hold all that is coarser. What is finer than
        # nanoseconds Arrow refuses.
        coarser = np.datetime_data(times.dtype)[0] not in _FROM_SECONDS_ON
        times = times.astype("datetime64[s]") if coarser else times
    try:
        if is_plain(times):
            times = [_in_utc(value) for value in times]
        packed = (
            times if isinstance(times, (pa.Array, pa.ChunkedArray)) else pa.array(times, from_pandas=True)
        )
        packed = packed.combine_chunks() if isinstance(packed, pa.ChunkedArray) else packed
        if packed.null_count:
            raise _missing_time(pc.index(pc.is_null(packed), True).as_py(), title)
        if pa.types.is_string(packed.type) or pa.types.is_large_string(packed.type):
            packed = _instants_of_text(packed.cast(pa.string()), title)
        if pa.types.is_timestamp(packed.type):
            return packed.cast(pa.timestamp("ns", packed.type.tz)).cast(pa.int64()).to_numpy()
        if pa.types.is_date(packed.type):
            return packed.cast(pa.timestamp("ns")).cast(pa.int64()).to_numpy()
        if pa.types.is_integer(packed.type):
            return packed.cast(pa.int64()).to_numpy()
    except ARROW_REFUSES as error:
        raise CourseError(
            f"A time of {title} is not usable",
            expected="a year, month and day of ISO 8601 from 1678 to 2261",
            found=first_line_of(error),
            next_step="correct it",
        ) from error
    raise CourseError(
        f"The times of {title} are not usable",
        expected="whole numbers, dates in ISO 8601 or datetimes",
        found=str(packed.type),
        next_step="convert them",
    )


def _instants_of_text(packed: pa.Array, title: str) -> pa.Array:
    zoned = pc.match_substring_regex(packed, _ZONED)
    if not pc.any(zoned).as_py():
        return packed.cast(pa.timestamp("ns"))
    if not pc.all(zoned).as_py():
        raise _mixed_zones(title)
    return packed.cast(pa.timestamp("ns", "UTC"))


def _in_utc(value: Any) -> Any:
    return value.astimezone(dt.timezone.utc) if isinstance(value, dt.datetime) and value.tzinfo else value


def _missing_time(position: int, title: str) -> CourseError:
    return CourseError(
        f"A time of {title} is missing",
        expected="a time for every sample",
        found=f"none at position {position}",
        next_step="leave the sample out, or choose a recipe that needs no times",
    )


def _mixed_zones(title: str) -> CourseError:
    return CourseError(
        f"The times of {title} cannot be compared",
        expected="a time zone on all of them or on none",
        found="some with and some without",
        next_step="add the zone where it is missing",
    )
