"""Reading a CSV file against a manifest: what does not fit is refused by name, and nothing is guessed.

Messages name columns, lines and at most the one cell that is wrong, never a whole row.
"""

from __future__ import annotations

import codecs
import csv
import io
import math
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from course_lib.errors import CourseError
from course_lib.manifests.model import DataManifest, Field

if TYPE_CHECKING:
    import pandas

Required = Literal["all", "features", "any"]

DELIMITERS = {";": "a semicolon", ",": "a comma", "\t": "a tab", "|": "a vertical bar"}
_HEADER_BYTES = 1 << 20
_ESCAPED_BYTES = frozenset(map(chr, range(0xDC80, 0xDD00)))
_WHOLE_NUMBER = re.compile(r"[+-]?[0-9]+")
# No two parts of this pattern can share digits, so it takes time in proportion to the cell.
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_FIRST_LINE = re.compile(r"[^\r\n]+")
_LONGEST_CELL_SHOWN = 30
_LONGEST_LIST_SHOWN = 60
# The csv module's own limit for one cell; even at four bytes a character it lies within _HEADER_BYTES.
_LONGEST_HEADER = 131_072
_OTHER_DELIMITERS_TRIED = 32


def read_table(path: Path, manifest: DataManifest, *, required: Required = "all") -> pandas.DataFrame:
    r"""Read a CSV file whose columns a manifest describes.

    The delimiter (semicolon, comma, tab or vertical bar) is found out from the header; a byte order
    mark and any of the line endings \\n, \\r\\n and \\r are fine.

    Parameters
    ----------
    path : Path
        The CSV file.
    manifest : DataManifest
        Describes its columns.
    required : {"all", "features", "any"}, optional
        Which described columns must be there: all, all but the label, or at least one.

    Returns
    -------
    pandas.DataFrame
        One row for each line, in the order of the file. Columns stand in the manifest's order: text as
        text, integers as int64, floats as float64. Columns that the manifest does not describe come
        after them, as text, and are listed in ``frame.attrs["undescribed"]``.

    Raises
    ------
    CourseError
        When the file cannot be read, is empty, is no UTF-8, has another delimiter, lacks columns, has a
        column twice, a line with too few or too many cells, a quotation mark that is not closed, a line
        break in a described column, text where a number belongs, or a category that the manifest does
        not list.
    """
    return table_from_bytes(_bytes_of(path), str(path), manifest, required=required)


def read_header(path: Path, manifest: DataManifest, *, required: Required = "any") -> tuple[str, ...]:
    """Return the names of a CSV file's columns in their order, from its first line alone.

    Parameters are those of :func:`read_table`, and so are the errors that a first line can give. A
    file of any size is read in no time; a header without rows is fine here.
    """
    content = _bytes_of(path, _HEADER_BYTES)
    # Rows may hold anything here: bytes that are no UTF-8 only count when they stand in the header.
    text = _decoded(content, str(path), errors="surrogateescape")
    header, _ = _header_and_delimiter(text, str(path), manifest, required)
    if any(character in _ESCAPED_BYTES for name in header for character in name):
        _decoded(content, str(path))
    return header


def table_from_bytes(
    content: bytes, source: str, manifest: DataManifest, *, required: Required = "all"
) -> pandas.DataFrame:
    """Do what :func:`read_table` does with the bytes of a file; ``source`` is its name in errors."""
    import pandas as pd

    text = _decoded(content, source)
    header, delimiter = _header_and_delimiter(text, source, manifest, required)
    lines: list[int] = []
    rows: list[list[str]] = []
    for line, row in _rows(text, delimiter, source):
        if len(row) != len(header):
            raise _ragged(source, line, row, header, delimiter)
        lines.append(line)
        rows.append(row)
    if len(rows) < 2:
        raise CourseError(
            f"{source} holds a header and no rows", expected="at least one row", next_step="check the file"
        )
    columns = dict(zip(header, zip(*rows[1:], strict=True), strict=True))
    described = {
        field.name: _typed(columns[field.name], field, lines[1:], source)
        for field in manifest.fields
        if field.name in columns
    }
    undescribed = {name: _as_text(cells) for name, cells in columns.items() if name not in described}
    frame = pd.DataFrame({**described, **undescribed})
    frame.attrs["undescribed"] = list(undescribed)
    return frame


def _bytes_of(path: Path, limit: int = -1) -> bytes:
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise CourseError(
                f"{path} is a folder", expected="a CSV file", next_step="name the file inside it"
            )
        if not stat.S_ISREG(mode):
            raise CourseError(
                f"{path} is a pipe or a device", expected="a CSV file", next_step="save its content as a file"
            )
        with path.open("rb") as file:
            return file.read(limit)
    except FileNotFoundError as error:
        raise CourseError(
            f"There is no file {path}", expected="a CSV file", next_step="check its name and folder"
        ) from error
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read",
            found=error.strerror or str(error),
            next_step="check the file and its permissions",
        ) from error


def _decoded(content: bytes, source: str, *, errors: Literal["strict", "surrogateescape"] = "strict") -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise CourseError(
            f"{source} is not readable", expected="UTF-8", found="UTF-16", next_step="save it as UTF-8"
        )
    try:
        text = content.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        line = len(content[: error.start].splitlines()) or 1
        raise CourseError(
            f"{source} is not readable",
            expected="UTF-8",
            found=f"the byte 0x{content[error.start]:02X} at byte {error.start + 1:,}, in line {line:,}",
            next_step="save it as UTF-8",
        ) from error
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise CourseError(
            f"{source} is not a text file",
            expected="a CSV file in UTF-8",
            found=f"a zero byte in line {text[: text.index(chr(0))].count(chr(10)) + 1:,}",
            next_step="check that this is the file you mean",
        )
    if not text.strip():
        raise CourseError(f"{source} is empty", expected="a header and rows", next_step="check the file")
    return text


def _rows(text: str, delimiter: str, source: str) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that is not blank with the number of the line on which it starts."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise CourseError(
            f"{source} is not a CSV file that can be read",
            found=f"line {line:,}: {error}",
            next_step="look for a quotation mark that is not closed",
        ) from error


def _first_line(text: str, source: str) -> str:
    """Return the first line that is not blank, which has to hold the whole header."""
    match = _FIRST_LINE.search(text)
    line = match[0] if match else ""
    if len(line) > _LONGEST_HEADER:
        raise CourseError(
            f"The first line of {source} is too long for a header",
            expected=f"at most {_LONGEST_HEADER:,} characters",
            next_step="check that this is a CSV file and that its lines end",
        )
    return line


def _header_and_delimiter(
    text: str, source: str, manifest: DataManifest, required: Required
) -> tuple[tuple[str, ...], str]:
    known = set(manifest.field_names)
    first_line = _first_line(text, source)

    def described(delimiter: str) -> int:
        # Quotation marks look wrong to a strict reader as long as the delimiter is only tried out.
        return len(known.intersection(next(csv.reader([first_line], delimiter=delimiter), [])))

    delimiter = max(DELIMITERS, key=described)
    if described(delimiter) < min(2, len(known)):
        if first_line.count('"') % 2:
            raise _unreadable_header(source)
        _refuse_other_delimiter(first_line, source, known, described)
    if described(delimiter) == 0:
        raise CourseError(
            f"The first line of {source} names no column that the manifest of"
            f" {manifest.title_with_variant} describes",
            expected="a header with names such as " + ", ".join(manifest.field_names[:3]),
            next_step="check that the file has a header and that this is its manifest",
        )
    try:
        names = next(csv.reader([first_line], delimiter=delimiter, strict=True))
    except csv.Error as error:
        raise _unreadable_header(source) from error
    header = tuple(name or f"unnamed column {place}" for place, name in enumerate(names, 1))
    if repeated := [name for name, count in Counter(header).items() if count > 1]:
        raise CourseError(
            f"{source} has a column more than once",
            found=_shortened(", ".join(repeated), _LONGEST_LIST_SHOWN),
            next_step="rename or remove the second one",
        )
    _refuse_missing(header, source, manifest, required)
    return header, delimiter


def _unreadable_header(source: str) -> CourseError:
    return CourseError(
        f"The header of {source} cannot be read",
        expected="column names without line breaks, each quotation mark closed",
        next_step="correct its first line",
    )


def _refuse_other_delimiter(
    first_line: str, source: str, known: set[str], described: Callable[[str], int]
) -> None:
    no_delimiters = {*"".join(known), *DELIMITERS, *"\"'\ufeff"}
    others = Counter(character for character in first_line if character not in no_delimiters)
    for character, _ in others.most_common(_OTHER_DELIMITERS_TRIED):
        if described(character) >= 2:
            raise CourseError(
                f"{source} has a delimiter that the workbook does not read",
                expected=", ".join(DELIMITERS.values()),
                found=repr(character),
                next_step="save it with one of these",
            )


def _refuse_missing(header: Sequence[str], source: str, manifest: DataManifest, required: Required) -> None:
    needed = {
        "all": manifest.field_names,
        "features": tuple(field.name for field in manifest.fields if field.role == "feature"),
        "any": (),
    }[required]
    missing = [name for name in needed if name not in header]
    if missing:
        raise CourseError(
            f"{source} lacks {len(missing)} of the {len(needed)} columns that the manifest of"
            f" {manifest.title_with_variant} asks for",
            found="no " + ", no ".join(missing),
            next_step="add them, or choose the manifest that fits this file",
        )


def _ragged(source: str, line: int, row: list[str], header: Sequence[str], delimiter: str) -> CourseError:
    found = f"{len(row)}"
    if len(row) == 1:
        for other, words in DELIMITERS.items():
            if other != delimiter and len(next(csv.reader(row, delimiter=other), [])) == len(header):
                found += f", as this line is separated by {words}"
    return CourseError(
        f"Line {line:,} of {source} has the wrong number of cells",
        expected=f"{len(header)} separated by {DELIMITERS[delimiter]}, as in the header",
        found=found,
        next_step="correct this line",
    )


def _as_text(cells: Sequence[str]) -> pandas.Series:
    import pandas as pd

    # Left to itself pandas chooses the same text type as read_csv: object before pandas 3, str since.
    return pd.Series(list(cells))


def _typed(cells: Sequence[str], field: Field, lines: Sequence[int], source: str) -> pandas.Series:
    import numpy as np
    import pandas as pd

    _refuse_line_breaks(cells, field, lines, source)
    if field.data_type not in ("integer", "float"):
        _refuse_other_values(cells, field, lines, source)
        return _as_text(cells)
    whole = field.data_type == "integer"
    numbers: dict[str, float] = {}
    for cell in dict.fromkeys(cells):
        number = _whole_number(cell) if whole else _number(cell)
        if number is None:
            line = lines[cells.index(cell)]
            raise _no_number(
                cell, "a whole number of at most 64 bits" if whole else "a number", field, line, source
            )
        numbers[cell] = number
    values = map(numbers.__getitem__, cells)
    return pd.Series(np.fromiter(values, dtype=np.int64 if whole else np.float64, count=len(cells)))


def _refuse_line_breaks(cells: Sequence[str], field: Field, lines: Sequence[int], source: str) -> None:
    for cell in dict.fromkeys(cells):
        if "\n" in cell or "\r" in cell:
            raise CourseError(
                f"Column {field.name} of {source} has a line break inside a cell",
                found=f"the cell that starts in line {lines[cells.index(cell)]:,}",
                next_step="look for a quotation mark that is not closed",
            )


def _refuse_other_values(cells: Sequence[str], field: Field, lines: Sequence[int], source: str) -> None:
    if not field.values:
        return
    for cell in dict.fromkeys(cells):
        if cell not in field.values:
            raise CourseError(
                f"Column {field.name} of {source} holds a value that the manifest does not list",
                expected="one of " + _shortened(", ".join(field.values), _LONGEST_LIST_SHOWN),
                found=_cell_shown(cell, lines[cells.index(cell)]),
                next_step="correct the cell",
            )


def _whole_number(cell: str) -> int | None:
    # Twenty characters hold every 64-bit number; longer ones would only cost time.
    if len(cell) > 20 or not _WHOLE_NUMBER.fullmatch(cell):
        return None
    number = int(cell)
    return number if -(2**63) <= number < 2**63 else None


def _number(cell: str) -> float | None:
    number = float(cell) if _NUMBER.fullmatch(cell) else math.inf
    return None if math.isinf(number) else number


def _no_number(cell: str, expected: str, field: Field, line: int, source: str) -> CourseError:
    return CourseError(
        f"Column {field.name} of {source} does not hold numbers only",
        expected=expected,
        found=_cell_shown(cell, line),
        next_step="correct the cell",
    )


def _cell_shown(cell: str, line: int) -> str:
    shown = repr(_shortened(cell, _LONGEST_CELL_SHOWN)) if cell else "an empty cell"
    return f"{shown} in line {line:,}"


def _shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest] + "..."
