from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from course_lib.errors import CourseError
from course_lib.manifests import load_manifest, read_header, read_table

_MANIFEST = load_manifest("bank_marketing", "full")
_NAMES = list(_MANIFEST.field_names)
_LINES = """\
47;retired;divorced;secondary;no;1200;no;no;telephone;3;feb;95;2;-1;0;unknown;no
26;technician;single;tertiary;no;-310;yes;no;cellular;3;feb;412;1;-1;0;unknown;no
35;services;married;secondary;no;7;yes;yes;cellular;4;feb;730;1;190;2;success;yes"""
_ROWS = [line.split(";") for line in _LINES.splitlines()]


def _csv(rows=_ROWS, names=_NAMES, delimiter=";", ending="\n", quoting=csv.QUOTE_MINIMAL) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator=ending, quoting=quoting).writerows([names, *rows])
    return out.getvalue()


@pytest.fixture
def file(tmp_path: Path):
    def write(content: str | bytes) -> Path:
        path = tmp_path / "contacts.csv"
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return write


def _refused(path: Path, **how) -> str:
    with pytest.raises(CourseError) as caught:
        read_table(path, _MANIFEST, **how)
    message = str(caught.value)
    for row in _ROWS:
        assert row[1] not in message, "no contents of rows in a message"
    return message


def test_columns_get_the_types_of_the_manifest(file) -> None:
    frame = read_table(file(_csv()), _MANIFEST)
    expected = pd.read_csv(io.StringIO(_csv()), sep=";")
    pd.testing.assert_frame_equal(frame, expected)
    assert frame["balance"].dtype == np.int64
    assert frame["balance"].tolist() == [1200, -310, 7]
    assert frame.attrs["undescribed"] == []


def test_floats_are_floats_even_when_all_of_them_are_whole(file) -> None:
    manifest = load_manifest("bank_marketing")
    row = [field.values[0] if field.values else "4" for field in manifest.fields]
    frame = read_table(file(_csv([row], manifest.field_names)), manifest)
    assert frame["nr.employed"].dtype == np.float64
    assert frame["age"].dtype == np.int64


@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC])
def test_the_form_of_the_file_does_not_change_the_table(file, delimiter, ending, mark, quoting) -> None:
    content = mark + _csv(delimiter=delimiter, ending=ending, quoting=quoting).encode("utf-8")
    pd.testing.assert_frame_equal(
        read_table(file(content), _MANIFEST), pd.read_csv(io.StringIO(_csv()), sep=";")
    )


def test_text_stays_as_it_is_written(file) -> None:
    texts = ["NA", "", 'say "a;b"\nhere', " yes"]
    frame = read_table(file(_csv([[*_ROWS[0], *texts]], [*_NAMES, *"abcd"])), _MANIFEST)
    assert frame.loc[0, list("abcd")].tolist() == texts


def test_blank_lines_are_passed_over(file) -> None:
    assert len(read_table(file(_csv().replace("\n", "\n\n")), _MANIFEST)) == 3


def test_undescribed_columns_are_kept_and_listed(file) -> None:
    rows = [[*row, "42", "x"] for row in _ROWS]
    frame = read_table(file(_csv(rows, [*_NAMES, "branch", ""])), _MANIFEST)
    assert frame.attrs["undescribed"] == ["branch", "unnamed column 19"]
    assert frame["branch"].tolist() == ["42"] * 3


def test_columns_come_in_the_order_of_the_manifest(file) -> None:
    shuffled = _csv([row[::-1] for row in _ROWS], _NAMES[::-1])
    assert list(read_table(file(shuffled), _MANIFEST).columns) == _NAMES


def test_missing_columns_are_all_named(file) -> None:
    content = _csv([row[2:] for row in _ROWS], _NAMES[2:])
    message = _refused(file(content))
    assert "no age, no job" in message
    assert "2 of the 17" in message


def test_the_label_may_be_absent_where_only_features_are_required(file) -> None:
    path = file(_csv([row[:-1] for row in _ROWS], _NAMES[:-1]))
    assert "no y" in _refused(path)
    assert "y" not in read_table(path, _MANIFEST, required="features")
    without_age = file(_csv([row[1:-1] for row in _ROWS], _NAMES[1:-1]))
    assert "no age" in _refused(without_age, required="features")
    assert len(read_table(without_age, _MANIFEST, required="any").columns) == 15


def test_another_delimiter_is_named(file) -> None:
    assert "':'" in _refused(file(_csv(delimiter=":")))
    assert "' '" in _refused(file(_csv(delimiter=" ")))


def test_rows_with_another_delimiter_than_the_header_are_told(file) -> None:
    header, rest = _csv().split("\n", 1)
    message = _refused(file(header + "\n" + rest.replace(";", ",")))
    assert "Line 2 " in message
    assert "separated by a comma" in message


def test_a_file_without_a_header_is_refused(file) -> None:
    message = _refused(file(_csv().split("\n", 1)[1]))
    assert "first line" in message


def test_a_column_that_comes_twice_is_named(file) -> None:
    assert "found job" in _refused(file(_csv([[*row, "x"] for row in _ROWS], [*_NAMES, "job"])))


@pytest.mark.parametrize("content", [b"", b"\xef\xbb\xbf", b"\r\n\n  \n"])
def test_an_empty_file_is_said_to_be_empty(file, content: bytes) -> None:
    assert "is empty" in _refused(file(content))


def test_a_header_alone_is_no_table(file) -> None:
    assert "no rows" in _refused(file(_csv([])))


def test_other_encodings_are_refused_with_the_place(file) -> None:
    content = _csv().encode("utf-8").replace(b"technician", b"t\xe9chnicien")
    message = _refused(file(content))
    assert f"0xE9 at byte {content.index(0xE9) + 1:,}, in line 3" in message
    assert "UTF-16" in _refused(file(_csv().encode("utf-16")))
    assert "zero byte in line 2" in _refused(file(_csv().replace("47", "4\0", 1)))


@pytest.mark.parametrize(("cells", "found"), [(16, "16"), (18, "18")])
def test_a_ragged_line_is_named(file, cells: int, found: str) -> None:
    rows = [_ROWS[0], ([*_ROWS[1], "more"])[:cells], _ROWS[2]]
    message = _refused(file(_csv(rows)))
    assert message.startswith("Line 3 of ")
    assert f"expected 17 separated by a semicolon, as in the header, found {found}" in message


def test_line_numbers_count_the_lines_inside_quoted_text(file) -> None:
    rows = [[*_ROWS[0], "two\nlines"], _ROWS[1][:5]]
    assert _refused(file(_csv(rows, [*_NAMES, "remark"]))).startswith("Line 4 of ")


def test_a_quotation_mark_not_closed_in_the_last_column_swallows_no_rows(file) -> None:
    good = ";".join(_ROWS[0])
    lines = [";".join(_NAMES), good, good[:-2] + '"no', *[good] * 1_000]
    message = _refused(file("\n".join(lines)))
    assert "line 3: " in message and "quotation mark" in message
    message = _refused(file("\n".join([*lines, good[:-2] + '"'])))
    assert "line 3: " in message or "line 3;" in message
    assert len(message) < 400


@pytest.mark.parametrize("column", ["age", "job", "y"])
@pytest.mark.parametrize("ending", ["\n", "\r"])
def test_a_line_break_inside_a_described_cell_is_refused(file, column: str, ending: str) -> None:
    rows = [list(row) for row in _ROWS]
    rows[1][_NAMES.index(column)] += f"{ending}secret"
    message = _refused(file(_csv(rows, quoting=csv.QUOTE_ALL)))
    assert message.startswith(f"Column {column} of ") and "line 3" in message
    assert "secret" not in message


@pytest.mark.parametrize("place", [0, 5, 16])
def test_a_line_break_in_the_header_is_refused_without_the_rows(file, place: int) -> None:
    names = list(_NAMES)
    names[place] = f'"{names[place]}'
    content = ";".join(names) + "\n" + "\n".join(";".join(row) for row in _ROWS * 100)
    for ending in ("", '"\n'):
        message = _refused(file(content + ending))
        assert "header" in message.lower() and "quotation mark" in message
        assert len(message) < 300


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("y", "maybe", "expected one of no, yes, found 'maybe' in line 3"),
        ("y", "", "expected one of no, yes, found an empty cell in line 3"),
        ("job", "astronaut", "expected one of admin., blue-collar"),
        ("marital", "unknown", "expected one of divorced, married, single, found 'unknown' in line 3"),
        ("housing", "x" * 500, f"found '{'x' * 30}...' in line 3"),
    ],
)
def test_a_category_that_the_manifest_does_not_list_is_refused(file, column, cell, expected) -> None:
    rows = [list(row) for row in _ROWS]
    rows[1][_NAMES.index(column)] = cell
    message = _refused(file(_csv(rows)))
    assert message.startswith(f"Column {column} of ")
    assert expected in message


def test_text_without_listed_values_may_say_anything(file) -> None:
    frame = read_table(file('text,label\n"Any words, at all",2\n'), load_manifest("ag_news"))
    assert frame["text"].tolist() == ["Any words, at all"]


@pytest.mark.mirror
@pytest.mark.parametrize("variant", ["additional-full", "full"])
def test_published_tables_fit_their_manifests(mirror: Path, variant: str) -> None:
    from course_lib.datasets import load_bank_marketing

    assert len(load_bank_marketing(variant, source="mirror").frame) in (41_188, 45_211)


@pytest.mark.parametrize("variant", ["additional-full", "full"])
def test_generated_tables_fit_their_manifests(tmp_path: Path, variant: str) -> None:
    from course_lib.datasets import load_bank_marketing

    path = tmp_path / "generated.csv"
    frame = load_bank_marketing(variant, source="generated").frame
    frame.to_csv(path, sep=";", index=False)
    assert len(read_table(path, load_manifest("bank_marketing", variant))) == len(frame)


def test_a_quotation_mark_that_is_not_closed_is_told(file) -> None:
    content = _csv([row for row in _ROWS for _ in range(2_000)]).replace(";technician", ';"technician', 1)
    message = _refused(file(content))
    assert "quotation mark" in message
    assert "line 2,002" in message


@pytest.mark.parametrize(
    ("column", "cell", "found"),
    [
        ("balance", "12.5", "'12.5' in line 3"),
        ("balance", "", "an empty cell in line 3"),
        ("balance", "1_000", "'1_000' in line 3"),
        ("balance", "nan", "'nan' in line 3"),
        ("balance", "9" * 19, f"'{'9' * 19}' in line 3"),
        ("balance", "x" * 500, f"'{'x' * 30}...' in line 3"),
    ],
)
def test_what_is_no_whole_number_is_refused_by_column_and_line(file, column, cell, found) -> None:
    rows = [list(row) for row in _ROWS]
    rows[1][_NAMES.index(column)] = cell
    message = _refused(file(_csv(rows)))
    assert message.startswith(f"Column {column} of ")
    assert found in message


@pytest.mark.parametrize("cell", ["high", "", "inf", "nan", "1e999", "4,857", "0x1A"])
def test_what_is_no_number_is_refused_by_column_and_line(file, cell: str) -> None:
    manifest = load_manifest("bank_marketing")
    row = [field.values[0] if field.values else "4" for field in manifest.fields]
    row[manifest.field_names.index("euribor3m")] = cell
    with pytest.raises(CourseError, match=r"Column euribor3m of .* in line 2"):
        read_table(file(_csv([row], manifest.field_names)), manifest)


def test_a_folder_and_a_missing_file_are_told_apart(tmp_path: Path) -> None:
    assert "is a folder" in _refused(tmp_path)
    assert "no file" in _refused(tmp_path / "nothing.csv")


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    assert "cannot be read" in _refused(tmp_path / ("x" * 300))
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        assert "is a pipe or a device" in _refused(tmp_path / "pipe")
        (tmp_path / "ring").symlink_to(tmp_path / "ring")
        assert "cannot be read" in _refused(tmp_path / "ring")


def test_long_numbers_and_strange_first_lines_end_in_a_sentence(file) -> None:
    manifest = load_manifest("bank_marketing")
    row = [field.values[0] if field.values else "4" for field in manifest.fields]
    row[manifest.field_names.index("euribor3m")] = "1" * 50_000 + "x"
    with pytest.raises(CourseError, match=r"Column euribor3m"):
        read_table(file(_csv([row], manifest.field_names)), manifest)
    strange = "".join(map(chr, range(0x4E00, 0x4E00 + 20_000)))
    assert "names no column" in _refused(file(strange + "\n1"))


@pytest.mark.parametrize("length", [131_073, 2 << 20])
def test_a_header_that_is_too_long_is_said_to_be(file, length: int) -> None:
    path = file(_csv().replace("\n", ";" + "x" * length + "\n", 1))
    assert "too long for a header" in _refused(path)
    with pytest.raises(CourseError, match="too long for a header"):
        read_header(path, _MANIFEST)


def test_a_header_is_read_without_the_rows(file) -> None:
    header = ";".join([*_NAMES[3:], "branch"]) + "\r\n"
    path = file(header.encode() + b"\xff" * (2 << 20))
    assert read_header(path, _MANIFEST) == (*_NAMES[3:], "branch")
    with pytest.raises(CourseError, match="no age, no job, no marital"):
        read_header(path, _MANIFEST, required="features")


def test_a_header_alone_is_enough_for_its_names(file) -> None:
    assert read_header(file("age,job"), _MANIFEST) == ("age", "job")


def test_bytes_that_are_no_text_count_in_the_header_only(file) -> None:
    with pytest.raises(CourseError, match=r"0xE9 at byte 14, in line 1"):
        read_header(file(b"age;job;caf\xc3\xa9\xe9;y\n47;\xff"), _MANIFEST)
