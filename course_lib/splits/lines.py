"""``samples.csv`` as bytes: written and read in blocks, without a Python object for each sample."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.splits.byte_order import byte_order, utf8_parts
from course_lib.splits.columns import from_hexadecimal, hexadecimal
from course_lib.splits.making import Split
from course_lib.splits.samples import DIGEST_BYTES

ID_COLUMN, SPLIT_COLUMN, GROUP_COLUMN, DIGEST_COLUMN = "sample_id", "split", "group", "sha256"
_BLOCK = 1 << 16
_READ_BYTES = 1 << 23
_DIGITS = 2 * DIGEST_BYTES


@dataclass(frozen=True)
class Columns:
    """The columns of a ``samples.csv``, or of a block of it, aligned; see `SplitManifest`."""

    ids: pa.Array
    codes: NDArray[np.int8]
    groups: pa.Array | None
    sample_digests: NDArray[np.uint8] | None


def column_names(has_groups: bool, has_digests: bool) -> list[str]:
    """Return the header of ``samples.csv``."""
    return [ID_COLUMN, SPLIT_COLUMN] + [GROUP_COLUMN] * has_groups + [DIGEST_COLUMN] * has_digests


def write_lines(split: Split, file: BinaryIO) -> tuple[Columns, str, str]:
    """Write a ``samples.csv`` in the order of the ids' bytes.

    Returns
    -------
    columns : Columns
        In the same order.
    samples_sha256, data_sha256 : str
        SHA-256 of the lines, and of the same without the split.
    """
    names = pa.array(split.names, type=pa.string())
    columns, blocks = _columns_of(split)
    header = _csv_header(columns.groups is not None, columns.sample_digests is not None)
    samples_sha256, data_sha256 = hashlib.sha256(), hashlib.sha256()

    def add(lines: bytes | memoryview, data_lines: bytes | memoryview) -> None:
        samples_sha256.update(lines)
        data_sha256.update(data_lines)
        file.write(lines)

    with ThreadPoolExecutor(max_workers=1) as beside:
        added = beside.submit(add, *header)
        for block in blocks:
            block_lines = _csv_lines(block, names)
            added.result()
            # Hashing and writing need no interpreter lock: meanwhile the next block is made.
            added = beside.submit(add, *block_lines)
        added.result()
    return columns, samples_sha256.hexdigest(), data_sha256.hexdigest()


def sha256_as_written(columns: Columns, split_names: tuple[str, ...]) -> tuple[str, str]:
    """Return the SHA-256 of the lines that `write_lines` writes for these columns, and without the split."""
    names = pa.array(split_names, type=pa.string())
    digests = hashlib.sha256(), hashlib.sha256()
    for digest, line in zip(
        digests, _csv_header(columns.groups is not None, columns.sample_digests is not None), strict=True
    ):
        digest.update(line)
    for start in range(0, len(columns.ids), _BLOCK):
        lines = _csv_lines(_block_of(columns, slice(start, start + _BLOCK)), names)
        for digest, some in zip(digests, lines, strict=True):
            digest.update(some)
    return digests[0].hexdigest(), digests[1].hexdigest()


def are_in_order(ids: pa.Array) -> bool:
    """Tell whether ids are sorted by their bytes and each stands there once, as `write_lines` leaves them."""
    return bool(len(ids) < 2 or pc.all(pc.less(ids[:-1], ids[1:])).as_py())


def read_columns(path: Path, split_names: tuple[str, ...], *, trust: bool = False) -> Columns:
    """Read a ``samples.csv``; where it is trusted, with blank lines and with ids in any order.

    Raises
    ------
    CourseError
        When it is not one: other columns, a split that the recipe does not name, digits that are no digest,
        ids that are not in order or not each once.
    """
    header = _header_of(path)
    names = pa.array(split_names, type=pa.string())
    blocks = []
    try:
        with pyarrow.csv.open_csv(
            path,
            read_options=pyarrow.csv.ReadOptions(block_size=_READ_BYTES),
            parse_options=pyarrow.csv.ParseOptions(ignore_empty_lines=trust),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={name: pa.string() for name in header}, null_values=[], strings_can_be_null=False
            ),
        ) as reader:
            for batch in reader:
                block = Columns(
                    ids=batch.column(ID_COLUMN),
                    codes=_codes_in(batch.column(SPLIT_COLUMN), names, path),
                    groups=batch.column(GROUP_COLUMN) if GROUP_COLUMN in header else None,
                    sample_digests=_digests_in(batch.column(DIGEST_COLUMN), path)
                    if DIGEST_COLUMN in header
                    else None,
                )
                blocks.append(block)
    except pa.ArrowInvalid as error:
        raise not_a_manifest(path, str(error).splitlines()[0]) from error
    if not blocks:
        raise not_a_manifest(path, "no samples")
    groups = [block.groups for block in blocks if block.groups is not None]
    digests = [block.sample_digests for block in blocks if block.sample_digests is not None]
    ids = pa.concat_arrays([block.ids for block in blocks])
    if not trust and not are_in_order(ids):
        raise not_a_manifest(path, "ids that are not in the order of their bytes, or not each once")
    return Columns(
        ids=ids,
        codes=np.concatenate([block.codes for block in blocks]),
        groups=pa.concat_arrays(groups) if groups else None,
        sample_digests=np.concatenate(digests) if digests else None,
    )


def sha256_of_lines(path: Path) -> tuple[str, str]:
    """Return the SHA-256 of a file's bytes, and what it would be with line feeds alone at the lines' ends."""
    as_it_is, with_line_feeds = hashlib.sha256(), None
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            if chunk.endswith(b"\r"):
                chunk += file.read(1)
            if with_line_feeds is None and b"\r\n" in chunk:
                with_line_feeds = as_it_is.copy()
            as_it_is.update(chunk)
            if with_line_feeds is not None:
                with_line_feeds.update(chunk.replace(b"\r\n", b"\n"))
    return as_it_is.hexdigest(), (with_line_feeds or as_it_is).hexdigest()


def not_a_manifest(path: Path, found: str) -> CourseError:
    """Return the error for a file that does not hold what a split manifest holds."""
    return CourseError(
        f"{path} is not a split manifest's file",
        found=found,
        next_step="make the split anew in a fresh folder",
    )


def _columns_of(split: Split) -> tuple[Columns, Iterator[Columns]]:
    """Return the columns of ``samples.csv``, in the order of the ids' bytes, and the same in blocks.

    The sample digests of a block are computed when it is taken, and stand in the whole columns from then on:
    so a block can be written while the next one is digested.
    """
    samples = split.samples
    rows = byte_order(samples.ids)
    order = pa.array(rows)
    columns = Columns(
        ids=samples.ids.take(order),
        codes=split.codes[rows],
        groups=None if samples.groups is None else samples.groups.take(order),
        sample_digests=None
        if samples.content is None
        else np.empty((len(samples), DIGEST_BYTES), dtype=np.uint8),
    )
    return columns, _blocks_of(columns, split, rows)


def _blocks_of(columns: Columns, split: Split, rows: NDArray[np.int64]) -> Iterator[Columns]:
    for start in range(0, len(rows), _BLOCK):
        place = slice(start, start + _BLOCK)
        if columns.sample_digests is not None:
            columns.sample_digests[place] = split.samples.sample_digests(rows[place])
        yield _block_of(columns, place)


def _block_of(columns: Columns, place: slice) -> Columns:
    return Columns(
        ids=columns.ids[place],
        codes=columns.codes[place],
        groups=None if columns.groups is None else columns.groups[place],
        sample_digests=None if columns.sample_digests is None else columns.sample_digests[place],
    )


def _csv_header(has_groups: bool, has_digests: bool) -> tuple[bytes, bytes]:
    """Return the first line of ``samples.csv``, and of the same without the split."""
    names = column_names(has_groups, has_digests)
    without = [name for name in names if name != SPLIT_COLUMN]
    return (",".join(names) + "\n").encode("ascii"), (",".join(without) + "\n").encode("ascii")


def _csv_lines(block: Columns, split_names: pa.Array) -> tuple[memoryview, memoryview]:
    """Return the lines of a block, and the same without the split, over which the data's digest is taken."""
    rest = []
    if block.groups is not None:
        rest.append(_quoted_where_needed(block.groups))
    if block.sample_digests is not None:
        rest.append(_digits_and_line_feed(block.sample_digests))
    names = split_names.take(pa.array(block.codes))
    line_feed_is_there = block.sample_digests is not None
    return (
        _lines([block.ids, names, *rest], line_feed_is_there),
        _lines([block.ids, *rest], line_feed_is_there),
    )


def _lines(columns: list[pa.Array], line_feed_is_there: bool) -> memoryview:
    """Return the columns joined to lines: the buffer of the joined Arrow array is the text itself."""
    lines = pc.binary_join_element_wise(*columns, ",") if len(columns) > 1 else columns[0]
    if not line_feed_is_there:
        lines = pc.binary_join_element_wise(lines, "", "\n")
    ends, payload = utf8_parts(lines)
    return payload[ends[0] : ends[-1]]


def _quoted_where_needed(texts: pa.Array) -> pa.Array:
    special = pc.match_substring_regex(texts, '[,"]')
    if not pc.any(special).as_py():
        return texts
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(special, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


def _digits_and_line_feed(digests: NDArray[np.uint8]) -> pa.Array:
    count = len(digests)
    texts = np.full((count, _DIGITS + 1), ord("\n"), dtype=np.uint8)
    texts[:, :_DIGITS] = np.frombuffer(hexadecimal(digests), dtype=np.uint8).reshape(count, _DIGITS)
    offsets = np.arange(count + 1, dtype=np.int32) * np.int32(_DIGITS + 1)
    return pa.Array.from_buffers(pa.string(), count, [None, pa.py_buffer(offsets), pa.py_buffer(texts)])


def _header_of(path: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            header = file.readline(1000).decode("utf-8", errors="replace").rstrip("\r\n").split(",")
    except OSError as error:
        raise not_a_manifest(path, error.strerror or "no such file") from error
    if header not in [column_names(groups, digests) for groups in (False, True) for digests in (False, True)]:
        raise not_a_manifest(path, "other columns than sample_id,split[,group][,sha256]")
    return header


def _codes_in(column: pa.Array, names: pa.Array, path: Path) -> NDArray[np.int8]:
    codes = pc.index_in(column, names)
    if codes.null_count:
        unknown = ascii(column[pc.index(pc.is_null(codes), True).as_py()].as_py())[:40]
        raise not_a_manifest(path, f"a split called {unknown}, which the recipe does not name")
    return codes.to_numpy().astype(np.int8)


def _digests_in(column: pa.Array, path: Path) -> NDArray[np.uint8]:
    ends, payload = utf8_parts(column)
    try:
        if (np.diff(ends) != _DIGITS).any():
            raise ValueError
        return from_hexadecimal(payload[ends[0] : ends[-1]].tobytes()).reshape(-1, DIGEST_BYTES)
    except ValueError as error:
        raise not_a_manifest(path, "a digest that is not 64 hexadecimal digits") from error
