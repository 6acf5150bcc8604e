"""The samples of a data set as compact columns: ids, classes, contents' digests, groups and times."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.splits.columns import (
    checked_content,
    checked_groups,
    checked_labels,
    checked_official,
    hexadecimal,
)
from course_lib.splits.given import need_line
from course_lib.splits.ids import checked_ids
from course_lib.splits.times import checked_times

if TYPE_CHECKING:
    import pandas as pd

    Column: TypeAlias = Sequence[Any] | NDArray[Any] | pa.Array | pa.ChunkedArray | pd.Series

DIGEST_BYTES = 32
# Small enough for the objects of a block to stay in the processor's cache.
_BLOCK = 1 << 12


@dataclass(frozen=True, eq=False, repr=False)
class SampleTable:
    """Everything about the samples that a split may depend on, and nothing of what is in them.

    Attributes
    ----------
    dataset, variant : str
        Name of the data set, and which of its tables ("" where there is one only).
    id_kind : str
        What an id is made from, in words: "position in the published file", "content", ...
    ids : pyarrow.Array of string, length n
        Unique; see `course_lib.splits.checked_ids` for what an id may look like.
    labels : ndarray of int32, shape (n,)
        Class codes: places in ``class_names``.
    class_names : tuple of str
        Name of each class.
    content : ndarray of uint8, shape (n, 32), or None
        SHA-256 of each sample's content without its label; None where nobody computed it.
    groups : pyarrow.Array of string, length n, or None
        What must not be spread over splits, such as a client.
    times : ndarray of int64, shape (n,), or None
        Nanoseconds since 1970 in UTC, or positions: larger is later.
    official : ndarray of int8, shape (n,), or None
        0 for the publisher's training set, 1 for the publisher's test set.
    """

    dataset: str
    variant: str
    id_kind: str
    ids: pa.Array
    labels: NDArray[np.int32]
    class_names: tuple[str, ...]
    content: NDArray[np.uint8] | None = None
    groups: pa.Array | None = None
    times: NDArray[np.int64] | None = None
    official: NDArray[np.int8] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        has = [name for name in ("content", "groups", "times", "official") if getattr(self, name) is not None]
        return f"SampleTable({self.title}, {len(self):,} samples, {len(self.class_names)} classes" + (
            f", with {', '.join(has)})" if has else ")"
        )

    @property
    def title(self) -> str:
        """Return the name that errors and tables use, such as ``bank_marketing (full)``."""
        return f"{self.dataset} ({self.variant})" if self.variant else self.dataset

    def take(self, positions: NDArray[np.integer[Any]]) -> SampleTable:
        """Return the samples at these positions, in this order."""
        columns = {field.name: getattr(self, field.name) for field in fields(self)}
        for name in ("ids", "groups"):
            if columns[name] is not None:
                columns[name] = columns[name].take(pa.array(positions))
        for name in ("labels", "content", "times", "official"):
            if columns[name] is not None:
                columns[name] = columns[name][positions]
        return SampleTable(**columns)

    def sample_digests(self, positions: NDArray[np.integer[Any]] | None = None) -> NDArray[np.uint8]:
        """Return each sample's digest with its label, as ``samples.csv`` holds it.

        It is the SHA-256 of the content's 64 hexadecimal digits, a line feed and the class's name in UTF-8.

        Parameters
        ----------
        positions : ndarray of int, optional
            Which samples; all where left out.

        Returns
        -------
        ndarray of uint8, shape (samples, 32)

        Raises
        ------
        CourseError
            When the contents' digests are not known.
        """
        if self.content is None:
            raise CourseError(
                f"The samples of {self.title} have no digests",
                expected="the SHA-256 of each sample's content",
                next_step="pass `content` when making the sample table",
            )
        count = len(self) if positions is None else len(positions)
        digests = np.empty((count, DIGEST_BYTES), dtype=np.uint8)
        endings = [b"\n" + name.encode("utf-8") for name in self.class_names]
        for start in range(0, count, _BLOCK):
            block = slice(start, min(start + _BLOCK, count))
            rows = block if positions is None else positions[block]
            contents = np.frombuffer(hexadecimal(self.content[rows]), dtype=f"S{2 * DIGEST_BYTES}").tolist()
            payloads = map(operator.add, contents, map(endings.__getitem__, self.labels[rows].tolist()))
            joined = b"".join([state.digest() for state in map(hashlib.sha256, payloads)])
            digests[block] = np.frombuffer(joined, dtype=np.uint8).reshape(-1, DIGEST_BYTES)
        return digests


def sample_table(
    ids: Column,
    labels: Column,
    *,
    dataset: str,
    variant: str = "",
    id_kind: str = "chosen by hand",
    content: Any = None,
    groups: Column | None = None,
    times: Column | None = None,
    official: Column | None = None,
    class_names: Sequence[str] | None = None,
) -> SampleTable:
    """Check the columns of a data set and pack them.

    Parameters
    ----------
    ids : sequence of str
        Unique, with no dot, slash, backslash, comma, quotation mark, blank, control or invisible character,
        in Unicode's composed form (NFC), and no two that differ only by case.
    labels : sequence of str or int
        One class for each sample: all text, or all whole numbers.
    dataset, variant, id_kind : str
        See `SampleTable`; each one line of visible text.
    content : ndarray of uint8, shape (n, 32), or sequence of hexadecimal text or of 32 bytes, optional
        SHA-256 of each sample's content without its label.
    groups : sequence of str or int, optional
        Which group each sample belongs to.
    times : sequence of int, ISO 8601 text or datetime, optional
        Positions, or instants: all with a time zone (they are compared in UTC) or all without.
    official : sequence of int, optional
        0 for the publisher's training set, 1 for the publisher's test set.
    class_names : sequence of str, optional
        Name of each code. Where left out, the classes are the labels that occur, sorted.

    Returns
    -------
    SampleTable

    Raises
    ------
    CourseError
        For a column of another length, for what is no column (text, a set, a dictionary, a table), and for
        every value that breaks these rules, with the first one named.

    Examples
    --------
    >>> sample_table(["a-1", "a-2"], ["no", "yes"], dataset="calls")
    SampleTable(calls, 2 samples, 2 classes)
    """
    need_line(dataset, "The name of a data set", may_be_empty=False)
    need_line(variant, "The variant of a data set")
    need_line(id_kind, "What an id is made from")
    title = f"{dataset} ({variant})" if variant else dataset
    checked = checked_ids(ids, title)
    count = len(checked)
    codes, names = checked_labels(labels, class_names, count, title)
    return SampleTable(
        dataset=dataset,
        variant=variant,
        id_kind=id_kind,
        ids=checked,
        labels=codes,
        class_names=names,
        content=None if content is None else checked_content(content, count, title),
        groups=None if groups is None else checked_groups(groups, count, title),
        times=None if times is None else checked_times(times, count, title),
        official=None if official is None else checked_official(official, count, title),
    )
