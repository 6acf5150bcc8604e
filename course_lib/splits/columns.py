"""Columns of a sample table: classes, contents' digests, groups and official parts."""

from __future__ import annotations

import binascii
import datetime as dt
import unicodedata
from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.splits.given import need_list, shown
from course_lib.splits.ids import text_column

_DIGEST_BYTES = 32
ARROW_REFUSES = (
    pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, TypeError,
    UnicodeEncodeError,
)  # fmt: skip
_NAMES_SHOWN = 12


def hexadecimal(digests: NDArray[np.uint8]) -> bytes:
    """Return digests of shape (n, bytes) as lower-case hexadecimal digits, one after the other."""
    return binascii.hexlify(np.ascontiguousarray(digests).data)


def from_hexadecimal(digits: bytes) -> NDArray[np.uint8]:
    """Return the bytes that lower-case hexadecimal digits stand for; ValueError for anything else."""
    values = bytes.fromhex(digits.decode("ascii"))
    if values.hex().encode("ascii") != digits:
        raise ValueError("not lower-case hexadecimal digits")
    return np.frombuffer(values, dtype=np.uint8)


def need_column(
    column: str, values: Any, count: int, title: str, *, dimensions: tuple[int, ...] = (1,)
) -> None:
    """Raise CourseError when a column of ``title`` is no list, or not of one value for each sample."""
    need_list(values, f"The {column} of {title}", dimensions=dimensions)
    found = len(values)
    if found != count:
        raise CourseError(
            f"The {column} of {title} do not fit the ids",
            expected=f"{count:,} values",
            found=f"{found:,}",
            next_step="give one for each sample",
        )


def checked_labels(
    labels: Any, class_names: Sequence[str] | None, count: int, title: str
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    """Return class codes and class names; all labels are text, or all are whole numbers."""
    need_column("labels", labels, count, title)
    names = None if class_names is None else _checked_class_names(class_names, title)
    packed = _packed_labels(labels, title)
    if pa.types.is_string(packed.type):
        return _codes_of_text(packed, names, title)
    return _codes_of_numbers(packed.to_numpy(zero_copy_only=False), names, title)


def checked_content(content: Any, count: int, title: str) -> NDArray[np.uint8]:
    """Return the contents' digests as an array of shape (n, 32)."""
    need_column("digests", content, count, title, dimensions=(1, 2))
    wrong = CourseError(
        f"The digests of {title} are not usable",
        expected="64 hexadecimal digits, or 32 bytes, for each sample",
        next_step="compute the SHA-256 of each sample's content",
    )
    if isinstance(content, np.ndarray) and content.dtype == np.uint8:
        if content.shape != (count, _DIGEST_BYTES):
            raise wrong
        return np.ascontiguousarray(content)
    try:
        rows = [_bytes_of(value) for value in content]
    except (TypeError, ValueError) as error:
        raise wrong from error
    if any(len(row) != _DIGEST_BYTES for row in rows):
        raise wrong
    return np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(count, _DIGEST_BYTES)


def _bytes_of(digest: Any) -> bytes:
    if isinstance(digest, str):
        return bytes.fromhex(digest)
    # bytes(32) would be 32 zeros, and an array of wider numbers would give their memory.
    values = isinstance(digest, np.ndarray) and digest.dtype == np.uint8
    if not (values or isinstance(digest, (bytes, bytearray, memoryview, list, tuple))):
        raise TypeError
    return bytes(digest)


def checked_groups(groups: Any, count: int, title: str) -> pa.Array:
    """Return the groups as text: no value missing, empty or with a control character."""
    need_column("groups", groups, count, title)
    kinds = {kind_of(value) for value in groups} if is_plain(groups) else set()
    if len(kinds - {"missing"}) > 1:
        raise mixed_types("groups", kinds, title)
    if kinds == {"whole number"}:
        groups = _whole_numbers_as_text(groups, title)
    elif isinstance(groups, np.ndarray) and groups.dtype.kind in "iu":
        groups = pa.array(groups).cast(pa.string())
    packed = text_column(groups, f"A group of {title}")
    bad = pc.or_(pc.equal(pc.binary_length(packed), 0), pc.match_substring_regex(packed, r"\pC"))
    if pc.any(bad).as_py():
        raise CourseError(
            f"A group of {title} is empty or holds a control character",
            found=shown(packed[pc.index(bad, True).as_py()].as_py()),
            next_step="name every group in one line of visible text",
        )
    return packed


def _whole_numbers_as_text(groups: Any, title: str) -> list[str]:
    try:
        return [str(int(value)) for value in groups]
    except ValueError as error:
        raise CourseError(
            f"A group of {title} is not usable",
            expected="text, or whole numbers of at most 4,300 digits",
            found="a longer one",
            next_step="give it a shorter name",
        ) from error


def checked_official(official: Any, count: int, title: str) -> NDArray[np.int8]:
    """Return the publisher's parts: 0 for training, 1 for test."""
    need_column("official parts", official, count, title)
    try:
        parts = np.asarray(official)
        usable = parts.dtype.kind in "iub" and parts.ndim == 1 and bool(np.isin(parts, (0, 1)).all())
        usable = usable and not np.ma.is_masked(official)
    except (TypeError, ValueError, OverflowError):
        usable = False
    if not usable:
        raise CourseError(
            f"The official parts of {title} are not usable",
            expected="0 for the publisher's training set and 1 for its test set",
            next_step="give one of these for every sample",
        )
    return parts.astype(np.int8)


def first_line_of(error: Exception) -> str:
    """Return what a library said, as far as it fits into a sentence."""
    return (str(error).splitlines() or [type(error).__name__])[0]


def mixed_types(column: str, kinds: set[str], title: str) -> CourseError:
    """Return the error for a column whose values are of more than one kind."""
    return CourseError(
        f"The {column} of {title} are of mixed types",
        expected="one type",
        found=" and ".join(sorted(kinds)),
        next_step="convert them to one type",
    )


def is_plain(values: Any) -> bool:
    """Tell whether the values are Python objects, which need not be of one type."""
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return False
    dtype = getattr(values, "dtype", None)
    return dtype is None or str(dtype) == "object"


def kind_of(value: Any) -> str:
    """Return the kind of a Python object in words; "missing" for everything that stands for no value."""
    if value is None or (isinstance(value, (float, np.floating)) and value != value):
        return "missing"
    if type(value).__name__ in ("NaTType", "NAType"):
        return "missing"
    if isinstance(value, (bool, np.bool_)):
        return "true or false"
    if isinstance(value, Integral):
        return "whole number"
    if isinstance(value, str):
        return "text"
    if isinstance(value, dt.datetime):
        return "time without a zone" if value.tzinfo is None else "time with a zone"
    return type(value).__name__


def _packed_labels(labels: Any, title: str) -> pa.Array:
    """Return the labels as one Arrow array of string or of int64."""
    if is_plain(labels):
        kinds = {kind_of(value) for value in labels}
        if "missing" in kinds:
            raise _missing_label(
                next(at for at, value in enumerate(labels) if kind_of(value) == "missing"), title
            )
        if len(kinds) > 1:
            raise mixed_types("labels", kinds, title)
    try:
        packed = (
            labels if isinstance(labels, (pa.Array, pa.ChunkedArray)) else pa.array(labels, from_pandas=True)
        )
    except ARROW_REFUSES as error:
        raise _unusable_labels(first_line_of(error), title) from error
    if isinstance(packed, pa.ChunkedArray):
        packed = packed.combine_chunks()
    if pa.types.is_dictionary(packed.type):
        packed = packed.dictionary_decode()
    if packed.null_count:
        raise _missing_label(pc.index(pc.is_null(packed), True).as_py(), title)
    is_text = pa.types.is_string(packed.type) or pa.types.is_large_string(packed.type)
    if is_text or pa.types.is_integer(packed.type) or pa.types.is_boolean(packed.type):
        try:
            return packed.cast(pa.string() if is_text else pa.int64())
        except ARROW_REFUSES as error:
            raise _unusable_labels(first_line_of(error), title) from error
    raise _unusable_labels(str(packed.type), title)


def _codes_of_text(
    packed: pa.Array, names: tuple[str, ...] | None, title: str
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    occurring = pc.unique(packed).to_pylist()
    if names is None:
        names = _checked_class_names(sorted(occurring, key=lambda name: name.encode("utf-8")), title)
    codes = pc.index_in(packed, pa.array(names, type=pa.string()))
    if codes.null_count:
        raise _unknown_label(shown(next(name for name in occurring if name not in names)), names, title)
    return codes.to_numpy().astype(np.int32, copy=False), names


def _codes_of_numbers(
    numbers: NDArray[np.int64], names: tuple[str, ...] | None, title: str
) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    if names is None:
        occurring, codes = np.unique(numbers, return_inverse=True)
        return codes.astype(np.int32), tuple(str(number) for number in occurring)
    outside = (numbers < 0) | (numbers >= len(names))
    if outside.any():
        raise _unknown_label(str(numbers[outside][0]), names, title)
    return numbers.astype(np.int32), names


def _checked_class_names(names: Sequence[str], title: str) -> tuple[str, ...]:
    need_list(names, f"The class names of {title}")
    checked = tuple(names)
    usable = all(isinstance(name, str) and name.strip() and name.isprintable() for name in checked)
    # Names that differ only by how an accent is put together look alike in every table.
    if (
        not checked
        or not usable
        or len({unicodedata.normalize("NFC", name) for name in checked}) != len(checked)
    ):
        listed = ", ".join(map(shown, checked[:_NAMES_SHOWN])) + ", ..." * (len(checked) > _NAMES_SHOWN)
        raise CourseError(
            f"The class names of {title} are not usable",
            expected="at least one, each in one line of visible text and only once",
            found=listed or "none",
            next_step="correct them",
        )
    return checked


def _missing_label(position: int, title: str) -> CourseError:
    return CourseError(
        f"A label of {title} is missing",
        expected="a class for every sample",
        found=f"none at position {position}",
        next_step="leave the sample out or give it a class",
    )


def _unusable_labels(found: str, title: str) -> CourseError:
    return CourseError(
        f"The labels of {title} are not classes",
        expected="whole numbers, or text",
        found=found,
        next_step="convert them",
    )


def _unknown_label(found: str, names: tuple[str, ...], title: str) -> CourseError:
    listed = ", ".join(names[:_NAMES_SHOWN]) + (", ..." if len(names) > _NAMES_SHOWN else "")
    return CourseError(
        f"A label of {title} is in no class",
        expected=f"one of {listed}, or a code from 0 to {len(names) - 1}",
        found=found,
        next_step="correct the label or the class names",
    )
