"""Sample ids: what they may look like, so that they survive files, shards and every file system."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from course_lib.errors import CourseError
from course_lib.splits.byte_order import byte_order, utf8_parts
from course_lib.splits.given import need_list, shown

LONGEST_ID_BYTES = 200
# \pZ: blanks of every script; \pC: control characters, invisible ones and those for private use. What no
# version of Unicode has assigned yet stays allowed: that would depend on the version of Python.
_FORBIDDEN = r'[./\\,"\pZ\pC]'
_WHAT_IS_FORBIDDEN = (
    ("\n", "a line break"), ("\r", "a line break"), (".", "a dot"), ("/", "a slash"), ("\\", "a backslash"),
    (",", "a comma"), ('"', "a quotation mark"),
)  # fmt: skip
_PLAIN = np.array([chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "-_") for byte in range(256)])
_BLOCK_BYTES = 1 << 20


def checked_ids(ids: Any, title: str = "the samples") -> pa.Array:
    """Check sample ids and pack them into one Arrow array of strings.

    Parameters
    ----------
    ids : sequence of str, ndarray, pandas Series or Arrow array
        Unique; none empty or longer than 200 bytes in UTF-8; without a dot, slash, backslash, comma,
        quotation mark, blank, control or invisible character; in Unicode's composed form (NFC); no two
        that differ only by case.
    title : str, optional
        What the ids belong to, for errors.

    Returns
    -------
    pyarrow.Array of string

    Raises
    ------
    CourseError
        For the first id that breaks a rule, shown in ASCII so that it can be seen.

    Examples
    --------
    >>> checked_ids(["row-00001", "row-00002"]).to_pylist()
    ['row-00001', 'row-00002']
    """
    need_list(ids, f"The ids of {title}")
    packed = text_column(ids, f"An id of {title}")
    if not len(packed):
        raise CourseError(f"There are no samples in {title}", expected="at least one id", found="none")
    _refuse_first(packed, pc.equal(pc.binary_length(packed), 0), title, "is empty", "give every sample an id")
    _refuse_first(
        packed,
        pc.greater(pc.binary_length(packed), LONGEST_ID_BYTES),
        title,
        "is too long",
        f"use at most {LONGEST_ID_BYTES} bytes",
    )
    ascii_only = _are_plain(packed) or _checked_characters(packed, title)
    _refuse_repeats(packed, title, ascii_only)
    return packed


def text_column(values: Any, what: str) -> pa.Array:
    """Pack text into one Arrow array; a CourseError names the first value that is missing or no text."""
    try:
        packed = (
            values if isinstance(values, (pa.Array, pa.ChunkedArray)) else pa.array(values, from_pandas=True)
        )
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError, TypeError) as error:
        raise CourseError(
            f"{what} is no valid text",
            expected="text in Unicode",
            found=_first_odd_value(values),
            next_step="turn every value into text first",
        ) from error
    if isinstance(packed, pa.ChunkedArray):
        packed = packed.combine_chunks()
    if pa.types.is_dictionary(packed.type):
        packed = packed.dictionary_decode()
    if packed.null_count:
        missing = pc.index(pc.is_null(packed), True).as_py()
        raise CourseError(
            f"{what} is missing",
            expected="a value for every sample",
            found=f"none at position {missing}",
            next_step="fill it in or leave the sample out",
        )
    if len(packed) == 0:
        return pa.array([], type=pa.string())
    if not (pa.types.is_string(packed.type) or pa.types.is_large_string(packed.type) or _is_view(packed)):
        raise CourseError(
            f"{what} is not text",
            expected="text",
            found=f"{packed.type} at position 0",
            next_step="turn every value into text first, such as row-00001",
        )
    try:
        packed = packed.cast(pa.string())
        packed.validate(full=True)
    except pa.ArrowInvalid as error:
        raise CourseError(
            f"{what} is no valid text",
            expected="valid UTF-8, at most 2 GiB in all",
            found=str(error),
            next_step="check where the values come from",
        ) from error
    return packed


def _is_view(packed: pa.Array) -> bool:
    return hasattr(pa.types, "is_string_view") and pa.types.is_string_view(packed.type)


def _first_odd_value(values: Any) -> str:
    for position, value in enumerate(values):
        if not isinstance(value, str):
            return f"a {type(value).__name__} at position {position}"
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            return f"{shown(value)} at position {position}"
    return type(values).__name__


def _first(packed: pa.Array, marked: pa.Array) -> str:
    text: str = packed[pc.index(marked, True).as_py()].as_py()
    return text


def _refuse_first(packed: pa.Array, marked: pa.Array, title: str, trouble: str, next_step: str) -> None:
    if pc.any(marked).as_py():
        raise CourseError(
            f"A sample id of {title} {trouble}", found=shown(_first(packed, marked)), next_step=next_step
        )


def _forbidden_in(text: str) -> str:
    for character, name in _WHAT_IS_FORBIDDEN:
        if character in text:
            return name
    if any(character.isspace() for character in text):
        return "a blank"
    return "a control or invisible character"


def _are_plain(packed: pa.Array) -> bool:
    """Tell whether all ids are made of ASCII letters, digits, - and _ alone: one look at each byte."""
    ends, payload = utf8_parts(packed)
    letters = np.frombuffer(payload, dtype=np.uint8)[ends[0] : ends[-1]]
    return all(
        _PLAIN[letters[start : start + _BLOCK_BYTES]].all() for start in range(0, len(letters), _BLOCK_BYTES)
    )


def _checked_characters(packed: pa.Array, title: str) -> bool:
    """Refuse ids with forbidden or decomposed characters; tell whether all of them are ASCII."""
    forbidden = pc.match_substring_regex(packed, _FORBIDDEN)
    if pc.any(forbidden).as_py():
        _refuse_first(
            packed,
            forbidden,
            title,
            f"holds {_forbidden_in(_first(packed, forbidden))}",
            "make ids of letters, digits, - and _, such as train-00042",
        )
    ascii_only: bool = pc.all(pc.string_is_ascii(packed)).as_py()
    if not ascii_only:
        _refuse_first(
            packed,
            pc.not_equal(packed, pc.utf8_normalize(packed, form="NFC")),
            title,
            "is not in Unicode's composed form",
            "apply unicodedata.normalize('NFC', id)",
        )
    return ascii_only


def _refuse_repeats(packed: pa.Array, title: str, ascii_only: bool) -> None:
    folded = _folded(packed, ascii_only)
    # Sorting takes a fifth of the memory that Arrow's count_distinct needs.
    order = byte_order(folded)
    in_order = folded.take(pa.array(order))
    same_as_next = pc.equal(in_order[:-1], in_order[1:])
    if not pc.any(same_as_next).as_py():
        return
    repeated = pc.index(same_as_next, True).as_py()
    first, second = (packed[place].as_py() for place in order[repeated : repeated + 2].tolist())
    if first == second:
        raise CourseError(
            f"A sample id of {title} occurs twice",
            expected="unique ids",
            found=shown(first),
            next_step="give every sample an id of its own",
        )
    raise CourseError(
        f"Two sample ids of {title} differ only by case, which some file systems cannot tell apart",
        found=f"{shown(first)} and {shown(second)}",
        next_step="rename one of them",
    )


def _folded(packed: pa.Array, ascii_only: bool) -> pa.Array:
    if ascii_only:
        return pc.ascii_lower(packed)
    return pa.array([text.casefold() for text in packed.to_pylist()], type=pa.string())
