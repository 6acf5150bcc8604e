"""Manifests that somebody edited and gave fresh digests: what they say is compared with the data."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.splits import (
    SampleTable,
    SplitManifest,
    diff_splits,
    make_split,
    parse_recipe,
    read_split,
    verify_split,
    write_split,
)
from course_lib.splits.entries import digest_of

Lines = list[bytes]


@pytest.fixture
def split(calls: SampleTable, tmp_path: Path) -> Path:
    return write_split(make_split(calls, parse_recipe("stratified-80-20")), tmp_path / "split").folder


def entries_of(folder: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((folder / "split.json").read_text(encoding="utf-8"))
    return content


def with_fresh_digest(folder: Path, **entries: Any) -> None:
    content = entries_of(folder) | entries
    content["samples_sha256"] = hashlib.sha256((folder / "samples.csv").read_bytes()).hexdigest()
    content["digest"] = digest_of(content)
    (folder / "split.json").write_text(json.dumps(content), encoding="utf-8")


def edit_lines(folder: Path, change: Callable[[Lines], Lines]) -> None:
    path = folder / "samples.csv"
    path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))


def one_more(counts: dict[str, dict[str, int]], line: bytes, label: str) -> None:
    counts[line.split(b",")[1].decode()][label] += 1


def test_a_line_that_stands_there_twice_is_refused(split: Path, calls: SampleTable) -> None:
    line = (split / "samples.csv").read_bytes().splitlines()[1]
    edit_lines(split, lambda lines: [lines[0], lines[1], *lines[1:]])
    counts = entries_of(split)["counts"]
    one_more(counts, line, "yes")
    with_fresh_digest(split, counts=counts)
    with pytest.raises(CourseError, match="not in the order of their bytes, or not each once"):
        read_split(split)
    trusted = verify_split(read_split(split, trust=True), calls)
    assert not trusted.ok


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [lines[0], lines[2], lines[1], *lines[3:]],
        lambda lines: [lines[0], b"\n", *lines[1:]],
        lambda lines: [*lines, b"\n"],
        lambda lines: [*lines, b"\r\n\r\n"],
    ],
    ids=["two lines swapped", "a blank line", "a blank line at the end", "blank lines of Windows"],
)
def test_lines_that_no_split_writes_are_refused(change: Any, split: Path, calls: SampleTable) -> None:
    edit_lines(split, change)
    with_fresh_digest(split)
    with pytest.raises(CourseError, match=r"samples\.csv"):
        read_split(split)
    trusted = verify_split(read_split(split, trust=True), calls)
    assert not trusted.ok
    assert "All 60 samples" not in " ".join(trusted.sentences)


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [line.replace(b"\n", b"\r\n") for line in lines],
        lambda lines: [lines[0], b'"' + lines[1].replace(b",", b'",', 1), *lines[2:]],
        lambda lines: [*lines[:-1], lines[-1].rstrip(b"\n")],
    ],
    ids=["other line ends", "quotation marks", "no line end"],
)
def test_the_same_lines_in_other_bytes_do_not_verify(change: Any, split: Path, calls: SampleTable) -> None:
    assert verify_split(read_split(split), calls).ok
    edit_lines(split, change)
    with_fresh_digest(split)
    told = verify_split(read_split(split), calls)
    assert not told.ok
    assert any("it was edited" in sentence for sentence in told.sentences)


@pytest.mark.parametrize(
    "entries",
    [{"data_sha256": "0" * 64}, {"recipe": "stratified-80.0-20"}, {"recipe": "stratified-80-20-seed2026"}],
)
def test_entries_that_no_split_writes_do_not_verify(
    entries: dict[str, Any], split: Path, calls: SampleTable
) -> None:
    with_fresh_digest(split, **entries)
    assert not verify_split(read_split(split), calls).ok


@pytest.mark.parametrize(
    ("train", "sentence"),
    [
        ({"no": 35, "yes": 13}, "counts other numbers"),
        ({"perhaps": 36, "yes": 12}, "counts other numbers"),
        ({"no": 10**50, "yes": 48 - 10**50}, "missing or of another type"),
        ({"no": True, "yes": 47}, "missing or of another type"),
    ],
)
def test_false_class_counts_do_not_verify(
    train: dict[str, int], sentence: str, split: Path, calls: SampleTable
) -> None:
    with_fresh_digest(split, counts={**entries_of(split)["counts"], "train": train})
    try:
        told = " ".join(verify_split(read_split(split), calls).sentences)
    except CourseError as error:
        told = str(error)
    assert sentence in told
    assert "All 60 samples" not in told


@pytest.mark.parametrize("seed", [7, 10**400, True, 2026.0, -1])
def test_a_seed_that_is_not_the_recipes_is_refused(seed: Any, split: Path, calls: SampleTable) -> None:
    with_fresh_digest(split, seed=seed)
    with pytest.raises(CourseError, match=r"split\.json"):
        read_split(split)
    if type(seed) is int:
        assert not verify_split(read_split(split, trust=True), calls).ok


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 5000,
        b'{"schema_version": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"schema_version": 1' + b"0" * 4000 + b"}",
    ],
)
def test_a_strange_split_json_is_named(content: bytes, split: Path) -> None:
    (split / "split.json").write_bytes(content)
    with pytest.raises(CourseError, match=r"split\.json (is not|has a layout)") as caught:
        read_split(split)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("version", [True, 1.0, "1", [1]])
def test_a_version_that_only_equals_the_number_is_refused(version: Any, split: Path) -> None:
    with_fresh_digest(split, schema_version=version)
    with pytest.raises(CourseError, match="has a layout that this workbook cannot read"):
        read_split(split)


@pytest.mark.parametrize(
    "entries",
    [
        {"dataset": "\ud800x"},
        {"variant": "a\nb"},
        {"counts": {"train": {"\ud800": 48}, "test": {"no": 12}}},
        {"recipe": "stratified-" + "9" * 5000 + "-1"},
        {"recipe": "random-50-50-seed" + "9" * 5000},
        {"splits": ["train", "\ud800"]},
    ],
)
def test_entries_of_odd_text_are_refused(entries: dict[str, Any], split: Path) -> None:
    (split / "split.json").write_text(json.dumps(entries_of(split) | entries), encoding="utf-8")
    with pytest.raises(CourseError, match=r"split\.json"):
        read_split(split)


def test_groups_that_one_side_lacks_are_told(split: Path, calls: SampleTable, tmp_path: Path) -> None:
    ungrouped = replace(calls, groups=None)
    other = write_split(make_split(ungrouped, parse_recipe("stratified-80-20")), tmp_path / "other")
    for told in (
        verify_split(read_split(split), ungrouped).sentences,
        verify_split(other, calls).sentences,
        diff_splits(read_split(split), other).sentences,
    ):
        assert "Groups were not compared, as one side has none." in told
    assert "Groups" not in " ".join(verify_split(other, ungrouped).sentences)


@pytest.mark.parametrize("call", [verify_split, diff_splits])
def test_a_folder_in_place_of_a_manifest_is_told_how_to_read_it(
    call: Callable[[Any, Any], Any], split: Path, calls: SampleTable
) -> None:
    with pytest.raises(CourseError, match="read it first"):
        call(split, calls)
    manifest: SplitManifest = read_split(split)
    with pytest.raises(CourseError, match="is needed here"):
        call(manifest, split)
