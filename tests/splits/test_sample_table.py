"""Columns of samples: what is refused, by name, and what comes through unchanged."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from made_calls import digest_of

from course_lib.errors import CourseError
from course_lib.splits import checked_ids, sample_table


def table(**columns: Any) -> Any:
    columns = {"ids": ["a", "b"], "labels": ["no", "yes"], "dataset": "calls", **columns}
    return sample_table(columns.pop("ids"), columns.pop("labels"), **columns)


@pytest.mark.parametrize(
    ("ids", "sentence"),
    [
        (["a.1", "b"], "holds a dot"),
        (["a/1", "b"], "holds a slash"),
        (["a\\1", "b"], "holds a backslash"),
        (["a,1", "b"], "holds a comma"),
        (['a"1', "b"], "holds a quotation mark"),
        (["a 1", "b"], "holds a blank"),
        (["a\u00a01", "b"], "holds a blank"),
        (["a\u30001", "b"], "holds a blank"),
        (["a\n1", "b"], "holds a line break"),
        (["a\r", "b"], "holds a line break"),
        (["a\t1", "b"], "holds a blank"),
        (["a\x00", "b"], "holds a control or invisible character"),
        (["a\u200b", "b"], "holds a control or invisible character"),
        (["\ufeffa", "b"], "holds a control or invisible character"),
        (["", "b"], "is empty"),
        (["x" * 201, "b"], "is too long"),
        (["e\u0301", "b"], "is not in Unicode's composed form"),
        (["b", "b"], "occurs twice"),
        (["train-A", "train-a"], "differ only by case"),
        (["Ärger", "ärger"], "differ only by case"),
        (["straße", "STRASSE"], "differ only by case"),
        (["a", None], "is missing"),
        (["a", 2], "found a int at position 1"),
        ([1, 2], "is not text"),
        (["a", "\ud800"], "no valid text"),
        ([b"a", b"b"], "is not text"),
    ],
)
def test_an_id_that_breaks_a_rule_is_refused_in_one_sentence(ids: list[Any], sentence: str) -> None:
    with pytest.raises(CourseError) as caught:
        checked_ids(ids)
    assert sentence in str(caught.value)
    assert str(caught.value).isascii() or "\n" not in str(caught.value)


def test_the_offending_id_is_shown_so_that_it_can_be_seen() -> None:
    with pytest.raises(CourseError, match=r"found 'b\\n'"):
        checked_ids(["a", "b\n"])


def test_every_ascii_character_is_accepted_or_refused_alike_in_any_company() -> None:
    for code in range(128):
        ids = [f"a{chr(code)}1", "b"]
        allowed = chr(code).isprintable() and chr(code) not in './\\," '
        for company in ([], ["Ärger"]):
            if allowed:
                assert checked_ids(ids + company).to_pylist() == ids + company
            else:
                with pytest.raises(CourseError, match="holds a"):
                    checked_ids(ids + company)


def test_the_repeated_ids_are_named_in_the_order_they_came_in() -> None:
    with pytest.raises(CourseError, match=r"found 'Row-1' and 'row-1'"):
        checked_ids(["row-2", "Row-1", "row-3", "row-1", "ROW-1"])


def test_no_ids_are_refused() -> None:
    with pytest.raises(CourseError, match="no samples"):
        checked_ids([])


@pytest.mark.parametrize(
    "make", [list, np.array, pd.Series, pa.array, lambda ids: pa.chunked_array([ids[:1], ids[1:]])]
)
def test_ids_come_from_lists_arrays_and_series(make: Any) -> None:
    ids = ["图像-1", "ملف_2", "чтение", "train-00042"]
    assert checked_ids(make(ids)).to_pylist() == ids


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (["no", None], "label of calls is missing"),
        (["no", float("nan")], "label of calls is missing"),
        (np.array([1.0, np.nan]), "label of calls is missing"),
        (pd.Series([1, None]), "label of calls is missing"),
        (pd.Series([1, pd.NA], dtype="Int64"), "label of calls is missing"),
        (["no", 1], "mixed types"),
        (pd.Series(["no", 1], dtype=object), "mixed types"),
        ([1, True], "mixed types"),
        ([1.5, 2.5], "not classes"),
        (["no"], "do not fit the ids"),
        (["no", "a\nb"], "class names of calls are not usable"),
    ],
)
def test_unusable_labels_are_refused(labels: Any, sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence):
        table(labels=labels)


def test_labels_become_codes_of_sorted_or_given_names() -> None:
    assert table(labels=["yes", "no"]).labels.tolist() == [1, 0]
    assert table(labels=["yes", "no"], class_names=["yes", "no"]).labels.tolist() == [0, 1]
    assert table(labels=[1, 0], class_names=["yes", "no"]).labels.tolist() == [1, 0]
    assert table(labels=[10, 9]).class_names == ("9", "10")
    assert table(labels=pd.Series(["b", "a"], dtype="category")).class_names == ("a", "b")
    for unknown in (["yes", "maybe"], [0, 2], [-1, 0]):
        with pytest.raises(CourseError, match="in no class"):
            table(labels=unknown, class_names=["yes", "no"])


HOUR = 3_600_000_000_000
BERLIN = dt.timezone(dt.timedelta(hours=2))


@pytest.mark.parametrize(
    "times",
    [
        ["2020-01-01T02:00:00+02:00", "2020-01-01T01:00:00Z"],
        [dt.datetime(2020, 1, 1, 2, tzinfo=BERLIN), dt.datetime(2020, 1, 1, 1, tzinfo=dt.timezone.utc)],
        pd.Series(pd.to_datetime(["2020-01-01T00:00Z", "2020-01-01T01:00Z"])).dt.tz_convert("Europe/Berlin"),
        np.array(["2020-01-01T00", "2020-01-01T01"], dtype="datetime64[h]"),
        ["2020-01-01T00:00:00", "2020-01-01T01:00:00"],
    ],
)
def test_times_are_compared_in_utc(times: Any) -> None:
    first, second = table(times=times).times.tolist()
    assert (first, second - first) == (1_577_836_800 * 10**9, HOUR)


def test_an_hour_that_the_clock_shows_twice_keeps_its_order() -> None:
    times = ["2020-10-25T02:30:00+02:00", "2020-10-25T02:10:00+01:00"]
    assert np.diff(table(times=times).times) == 40 * 60 * 10**9


def test_dates_and_positions_are_times_too() -> None:
    assert table(times=[dt.date(1970, 1, 1), dt.date(1970, 1, 2)]).times.tolist() == [0, 24 * HOUR]
    assert table(times=["1970-01-01", "1970-01-02"]).times.tolist() == [0, 24 * HOUR]
    assert table(times=[2, 1]).times.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("times", "sentence"),
    [
        (["2020-01-01T00:00:00+02:00", "2020-01-01T00:00:00"], "a time zone on all of them or on none"),
        ([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, tzinfo=BERLIN)], "a time zone on all"),
        ([1, None], "is missing: .* position 1"),
        (["2020-01-01", None], "is missing"),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[s]"), "is missing"),
        ([1, "2020-01-01"], "mixed types"),
        ([1.0, 2.0], "not usable"),
        (["01/02/2020", "2020-01-01"], "not usable"),
        (["2600-01-01", "2020-01-01"], "not usable"),
        ([1], "do not fit the ids"),
    ],
)
def test_unusable_times_are_refused(times: Any, sentence: str) -> None:
    with pytest.raises(CourseError, match=sentence):
        table(times=times)


def test_groups_are_text_or_whole_numbers_without_gaps() -> None:
    assert table(groups=[7, 7]).groups.to_pylist() == ["7", "7"]
    assert table(groups=np.array([7, 8])).groups.to_pylist() == ["7", "8"]
    assert table(groups=["A, B", "C"]).groups.to_pylist() == ["A, B", "C"]
    for groups, sentence in (
        (["a", None], "missing"),
        ([1, "a"], "mixed types"),
        (["a", ""], "empty"),
        (["a", "b\nc"], "control character"),
        ([1.5, 2.5], "not text"),
    ):
        with pytest.raises(CourseError, match=sentence):
            table(groups=groups)


def test_content_digests_are_hexadecimal_text_bytes_or_arrays() -> None:
    rows = [bytes(range(32)), bytes(32)]
    arrays = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(2, 32)
    for content in (rows, [row.hex() for row in rows], arrays):
        assert table(content=content).content.tobytes() == b"".join(rows)
    for content in (["ab", "cd"], ["z" * 64] * 2, arrays[:, :31], [1, 2]):
        with pytest.raises(CourseError, match="digests of calls are not usable"):
            table(content=content)


def test_a_sample_digest_covers_content_and_class_name() -> None:
    samples = table(content=[digest_of("x"), digest_of("x")])
    assert samples.sample_digests()[1].tobytes().hex() == digest_of(digest_of("x") + "\nyes")
    assert samples.sample_digests(np.array([1])).tolist() == samples.sample_digests()[1:].tolist()
    with pytest.raises(CourseError, match="have no digests"):
        table().sample_digests()


def test_official_parts_are_zero_or_one() -> None:
    assert table(official=[0, 1]).official.tolist() == [0, 1]
    for official in ([0, 2], ["train", "test"], [0.0, 1.0], [0, None]):
        with pytest.raises(CourseError, match="official parts of calls are not usable"):
            table(official=official)


def test_a_table_shows_no_values() -> None:
    assert repr(table()) == "SampleTable(calls, 2 samples, 2 classes)"
