"""What is passed from Python and is no column, no name, no recipe: one sentence, never a guess."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from made_calls import digest_of

from course_lib.errors import CourseError
from course_lib.splits import SampleTable, make_split, parse_recipe, sample_table, write_split

COLUMNS = {
    "ids": ["a", "b"],
    "labels": ["no", "yes"],
    "content": [digest_of("a"), digest_of("b")],
    "groups": ["x", "y"],
    "times": [1, 2],
    "official": [0, 1],
    "class_names": ["no", "yes"],
}
RECIPE = parse_recipe("stratified-80-20")


def table(**columns: Any) -> SampleTable:
    columns = {"ids": ["a", "b"], "labels": ["no", "yes"], "dataset": "calls", **columns}
    return sample_table(columns.pop("ids"), columns.pop("labels"), **columns)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize(
    "make",
    [
        lambda values: 5,
        lambda values: (value for value in values),
        iter,
        lambda values: np.array(5),
        lambda values: np.array([values, values]),
        set,
        dict.fromkeys,
        lambda values: pd.DataFrame({"a": values, "b": values}),
        lambda values: pa.table({"a": values}),
        lambda values: "ab",
        lambda values: b"ab",
    ],
)
def test_what_is_no_column_is_refused(column: str, make: Any) -> None:
    table(**{column: COLUMNS[column]})
    with pytest.raises(CourseError, match=r"calls are not (in one list|usable)"):
        table(**{column: make(COLUMNS[column])})


@pytest.mark.parametrize("column", ["ids", "labels"])
def test_a_needed_column_that_is_missing_is_refused(column: str) -> None:
    with pytest.raises(CourseError, match="not in one list"):
        table(**{column: None})


@pytest.mark.parametrize(
    "columns",
    [
        {"labels": np.array([2**64 - 1, 1], dtype=np.uint64)},
        {"labels": [10**30, 1]},
        {"labels": [10**5000, 1]},
        {"groups": [10**5000, 1]},
        {"class_names": [10**5000, "yes"]},
        {"times": [np.datetime64("2020-01-01")] * 2},
        {"times": ["\ud800"] * 2},
        {"times": [10**5000, 1]},
        {"times": [dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=2)))] * 2},
        {"times": np.array([1, 2], dtype="datetime64[ps]")},
        {"content": [10**12] * 2},
        {"content": [32, 32]},
        {"content": [True, False]},
        {"content": [np.arange(4)] * 2},
        {"content": [[10**30] * 32] * 2},
        {"official": [[0], [1]]},
        {"official": np.ma.array([0, 1], mask=[False, True])},
        {"official": [10**5000, 0]},
        {"labels": ["\u00e9", "e\u0301"]},
        {"class_names": ["no", "yes", "\u00e9", "e\u0301"]},
    ],
)
def test_values_that_no_column_can_hold_are_refused(columns: dict[str, Any]) -> None:
    with pytest.raises(CourseError, match=r"of calls (is|are) not (usable|classes)") as caught:
        table(**columns)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "names",
    [
        {"dataset": None}, {"dataset": 5}, {"dataset": ""}, {"dataset": " "}, {"dataset": "a\nb"},
        {"dataset": "\ud800"}, {"variant": "\ud800"}, {"variant": None}, {"id_kind": "a\x1b[2J"},
        {"id_kind": 10**5000},
    ],
)  # fmt: skip
def test_names_are_one_line_of_visible_text(names: dict[str, Any]) -> None:
    with pytest.raises(CourseError, match="expected one line of visible text"):
        table(**names)


@pytest.mark.parametrize("origin", [None, "a\nb", "\ud800"])
def test_an_origin_that_cannot_be_written_leaves_nothing(
    origin: Any, calls: SampleTable, tmp_path: Path
) -> None:
    with pytest.raises(CourseError, match="origin of the data of a split is not usable"):
        write_split(make_split(calls, RECIPE), tmp_path / "split", origin=origin)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "recipe", [None, 5, pytest.param(10**5000, id="huge"), "random-50-50", ["random-50-50"]]
)
def test_a_recipe_must_be_parsed_first(recipe: Any, calls: SampleTable) -> None:
    with pytest.raises(CourseError, match="parse it first"):
        make_split(calls, recipe)


@pytest.mark.parametrize("samples", [None, ["a", "b"], pd.DataFrame({"a": [1]})])
def test_samples_must_be_a_table_first(samples: Any, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="make one first"):
        make_split(samples, RECIPE)
    with pytest.raises(CourseError, match="make one first"):
        write_split(samples, tmp_path / "split")
