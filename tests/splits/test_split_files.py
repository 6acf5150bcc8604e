"""Split manifests on the disk: canonical bytes, digests that find every edit, and the lock."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_calls import digest_of, make_calls

from course_lib.errors import CourseError
from course_lib.splits import (
    SampleTable,
    SplitManifest,
    diff_splits,
    export_croissant,
    locked_split,
    make_split,
    parse_recipe,
    read_split,
    sample_table,
    split_folder,
    verify_split,
    write_split,
)

GROUPED = parse_recipe("grouped-stratified-70-15-15")
STRATIFIED = parse_recipe("stratified-80-20")
GOLDEN_DIGESTS = {
    "ordered-70-15-15": "f326b490659d167f4cf3ecafd2becf7d7d030b5066664621b5aed21d2b64c44c",
    "stratified-80-20": "9905c248692af001a790f525215bcb30a2213b49ffe80e0fb344df9cdeeffee8",
    "grouped-stratified-70-15-15": "4dc251c8201e5c1543a97c7b1c197959d250cd79ae149658d8870f9d294d5c9f",
    "official-75-25": "63aaa14c3126bd4203ed9b574364fbe3cfea6b2ae958a0bfca0b66c7b28f281b",
}


def written(samples: SampleTable, folder: Path, text: str = "grouped-stratified-70-15-15") -> SplitManifest:
    return write_split(make_split(samples, parse_recipe(text)), folder)


@pytest.mark.parametrize("text", GOLDEN_DIGESTS)
def test_digests_are_those_written_down(text: str, calls: SampleTable, tmp_path: Path) -> None:
    assert written(calls, tmp_path / "split", text).digest == GOLDEN_DIGESTS[text]


def test_samples_csv_holds_what_it_says(calls: SampleTable, tmp_path: Path) -> None:
    split = make_split(calls, GROUPED)
    write_split(split, tmp_path / "split")
    content = (tmp_path / "split" / "samples.csv").read_bytes()
    assert b"\r" not in content
    rows = list(csv.reader(content.decode("utf-8").splitlines()))
    expected = [
        [f"call-{n:04d}", split.names[split.codes[n]], f"client {n // 3}",
         digest_of(digest_of(f"content {n}") + ("\nyes" if n % 4 == 0 else "\nno"))]
        for n in range(len(calls))
    ]  # fmt: skip
    assert rows == [["sample_id", "split", "group", "sha256"], *expected]


def test_digests_can_be_computed_by_hand(calls: SampleTable, tmp_path: Path) -> None:
    manifest = written(calls, tmp_path / "split")
    content = json.loads((tmp_path / "split" / "split.json").read_text(encoding="utf-8"))
    lines = (tmp_path / "split" / "samples.csv").read_text(encoding="utf-8").splitlines()
    without_split = "".join(",".join(line.split(",")[:1] + line.split(",")[2:]) + "\n" for line in lines)
    assert manifest.data_digest == digest_of(without_split)
    keys = [
        "schema_version", "dataset", "variant", "recipe", "seed", "splits", "counts", "samples_sha256",
        "data_sha256",
    ]  # fmt: skip
    canonical = json.dumps(
        {key: content[key] for key in keys}, sort_keys=True, separators=(",", ":"), ensure_ascii=False
    )
    assert manifest.digest == digest_of(canonical)
    assert (
        content["samples_sha256"]
        == hashlib.sha256((tmp_path / "split" / "samples.csv").read_bytes()).hexdigest()
    )


def test_same_bytes_whatever_the_order_of_the_samples(
    calls: SampleTable, shuffled: Callable[[SampleTable], SampleTable], tmp_path: Path
) -> None:
    written(calls, tmp_path / "a")
    written(shuffled(calls), tmp_path / "b")
    for name in ("samples.csv", "split.json"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_blocks_leave_no_trace(calls: SampleTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(calls, tmp_path / "a")
    monkeypatch.setattr("course_lib.splits.lines._BLOCK", 7)
    monkeypatch.setattr("course_lib.splits.samples._BLOCK", 3)
    monkeypatch.setattr("course_lib.splits.lines._READ_BYTES", 300)
    manifest = written(calls, tmp_path / "b")
    assert (tmp_path / "a" / "samples.csv").read_bytes() == (tmp_path / "b" / "samples.csv").read_bytes()
    again = read_split(tmp_path / "b")
    assert again.ids.equals(manifest.ids)
    assert (again.sample_digests == manifest.sample_digests).all()


@settings(deadline=None, max_examples=40)
@given(
    st.lists(
        st.text(st.characters(blacklist_categories=["C"]), min_size=1, max_size=12), min_size=2, max_size=20
    ),
    st.booleans(),
)
def test_groups_of_any_text_read_back(groups: list[str], with_content: bool) -> None:
    import tempfile

    count = len(groups)
    samples = sample_table(
        [f"s{n}" for n in range(count)], [0] * count, dataset="any", groups=groups,
        content=[digest_of(str(n)) for n in range(count)] if with_content else None,
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        made = write_split(make_split(samples, parse_recipe("random-50-50")), Path(folder) / "split")
        again = read_split(Path(folder) / "split")
        assert again.groups.equals(made.groups)
        assert again.codes.tolist() == made.codes.tolist()
        assert verify_split(again, samples).ok


def test_what_was_written_reads_back(calls: SampleTable, tmp_path: Path) -> None:
    made = write_split(make_split(calls, GROUPED), tmp_path / "split", origin="a list")
    again = read_split(tmp_path / "split")
    for name in (
        "dataset",
        "variant",
        "id_kind",
        "recipe",
        "digest",
        "data_digest",
        "counts",
        "notes",
        "origin",
    ):
        assert getattr(again, name) == getattr(made, name)
    assert again.ids.equals(made.ids)
    assert again.ids.equals(pa.array(sorted(calls.ids.to_pylist())))
    assert set(again.ids_of("test").to_pylist()) == {
        calls.ids[place].as_py() for place in make_split(calls, GROUPED).positions("test").tolist()
    }
    assert again.counts == make_split(calls, GROUPED).counts()


def edit(path: Path, old: bytes, new: bytes) -> None:
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


@pytest.mark.parametrize(
    ("file", "old", "new", "sentence"),
    [
        ("samples.csv", b",train,", b",test,", "samples.csv is not as it was written"),
        ("samples.csv", b"call-0001", b"call-9999", "samples.csv is not as it was written"),
        ("split.json", b'"no": 3', b'"no": 4', "split.json is not as it was written"),
        ("split.json", b"-70-15-15", b"-60-25-15", "split.json is not as it was written"),
        ("split.json", b'"dataset": "calls"', b'"dataset": "balls"', "split.json is not as it was written"),
        ("split.json", b'"schema_version": 1', b'"schema_version": 2', "cannot read"),
        ("split.json", b'"digest"', b'"digits"', "missing or of another type"),
        ("split.json", b"{", b"", "no JSON"),
    ],
)
def test_an_edited_file_is_refused_by_name(
    file: str, old: bytes, new: bytes, sentence: str, calls: SampleTable, tmp_path: Path
) -> None:
    written(calls, tmp_path / "split")
    edit(tmp_path / "split" / file, old, new)
    with pytest.raises(CourseError, match=sentence):
        read_split(tmp_path / "split")


def test_an_edited_manifest_can_be_inspected_when_asked_for(calls: SampleTable, tmp_path: Path) -> None:
    written(calls, tmp_path / "split")
    edit(tmp_path / "split" / "samples.csv", b",train,", b",test,")
    manifest = read_split(tmp_path / "split", trust=True)
    verification = verify_split(manifest, calls)
    assert not verification.ok
    assert len(verification.misplaced) == 1


def test_changed_line_endings_are_named(calls: SampleTable, tmp_path: Path) -> None:
    written(calls, tmp_path / "split")
    path = tmp_path / "split" / "samples.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    with pytest.raises(CourseError, match=r"other line endings \(CRLF\)"):
        read_split(tmp_path / "split")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (b",train,", b",practice,", "which the recipe does not name"),
        (b"sample_id,split", b"id,split", "other columns"),
        (b",train,", b",train,x,", "is not a split manifest's file"),
    ],
)
def test_what_is_no_manifest_is_refused_even_when_trusted(
    old: bytes, new: bytes, sentence: str, calls: SampleTable, tmp_path: Path
) -> None:
    written(calls, tmp_path / "split")
    edit(tmp_path / "split" / "samples.csv", old, new)
    with pytest.raises(CourseError, match=sentence):
        read_split(tmp_path / "split", trust=True)


def test_a_missing_file_is_named(calls: SampleTable, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="holds no split manifest"):
        read_split(tmp_path)
    written(calls, tmp_path / "split")
    (tmp_path / "split" / "samples.csv").unlink()
    for trust in (False, True):
        with pytest.raises(CourseError, match=r"samples\.csv"):
            read_split(tmp_path / "split", trust=trust)


def test_a_folder_is_written_once(calls: SampleTable, tmp_path: Path) -> None:
    first = written(calls, tmp_path / "split")
    assert written(calls, tmp_path / "split").digest == first.digest
    with pytest.raises(CourseError, match="holds another split already"):
        written(calls, tmp_path / "split", "stratified-80-20")
    (tmp_path / "empty").mkdir()
    assert written(calls, tmp_path / "empty").digest == first.digest
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(CourseError, match="holds other things than a split"):
        written(calls, tmp_path / "other")
    assert not list(tmp_path.glob(".*.part"))


def test_a_failed_write_leaves_nothing(
    calls: SampleTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CourseError, match="free some disk space"):
        written(calls, tmp_path / "split")
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_in_the_middle_leaves_nothing(
    calls: SampleTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Filling(io.BytesIO):
        def write(self, lines: Any) -> int:
            if self.tell() > 1000:
                raise OSError(28, "No space left on device")
            return super().write(lines)

    opened = Path.open
    monkeypatch.setattr(
        Path, "open", lambda path, mode="r", **how: Filling() if mode == "wb" else opened(path, mode, **how)
    )
    monkeypatch.setattr("course_lib.splits.lines._BLOCK", 7)
    with pytest.raises(CourseError, match="free some disk space"):
        written(calls, tmp_path / "split")
    assert list(tmp_path.iterdir()) == []


def test_verification_names_every_difference(calls: SampleTable, tmp_path: Path) -> None:
    manifest = written(calls, tmp_path / "split")
    assert verify_split(manifest, calls.take(np.arange(len(calls))[::-1])).ok
    fewer = verify_split(manifest, calls.take(np.arange(1, len(calls))))
    assert (fewer.ok, fewer.missing, fewer.unexpected) == (False, ("call-0000",), ())
    more = verify_split(manifest, make_calls(63))
    assert more.unexpected == ("call-0060", "call-0061", "call-0062")
    assert more.changed == ()


@pytest.mark.parametrize("column", ["content", "labels", "groups"])
def test_a_changed_sample_is_named(column: str, calls: SampleTable, tmp_path: Path) -> None:
    from dataclasses import replace

    manifest = written(calls, tmp_path / "split")
    value = getattr(calls, column)
    if column == "groups":
        changed = pa.array(["client x", *value.to_pylist()[1:]])
    else:
        changed = value.copy()
        changed[0] ^= 1
    verification = verify_split(manifest, replace(calls, **{column: changed}))
    assert not verification.ok
    assert verification.changed == ("call-0000",)


def test_diff_lists_moved_added_removed_and_changed(calls: SampleTable, tmp_path: Path) -> None:
    first = written(calls, tmp_path / "a", "ordered-70-15-15")
    assert diff_splits(first, read_split(tmp_path / "a")).same
    second = written(calls, tmp_path / "b", "ordered-80-10-10")
    moved = diff_splits(first, second).moved
    assert moved["validation", "train"] == tuple(f"call-{n:04d}" for n in range(42, 48))
    third = written(make_calls(62).take(np.arange(1, 62)), tmp_path / "c", "ordered-70-15-15")
    difference = diff_splits(first, third)
    assert difference.removed == ("call-0000",)
    assert difference.added == ("call-0060", "call-0061")
    assert first.data_digest == second.data_digest != third.data_digest


def test_croissant_export_is_valid_and_readable(calls: SampleTable, tmp_path: Path) -> None:
    import mlcroissant

    manifest = written(calls, tmp_path / "split")
    for path in (tmp_path / "split" / "croissant.json", tmp_path / "elsewhere" / "croissant.json"):
        dataset = mlcroissant.Dataset(str(export_croissant(manifest, path)))
        assert not dataset.metadata.ctx.issues.errors
        assert [record["splits/name"] for record in dataset.records("splits")] == [
            "train",
            "validation",
            "test",
        ]
        records = list(dataset.records("samples"))
        read = {record["samples/sample_id"].decode(): record["samples/split"].decode() for record in records}
        names = [manifest.names[code] for code in manifest.codes]
        assert read == dict(zip(manifest.ids.to_pylist(), names, strict=True))
        assert str(tmp_path) not in path.read_text(encoding="utf-8")


def test_a_split_is_locked_on_first_use(calls: SampleTable, course_home: Path) -> None:
    first = locked_split(calls, GROUPED)
    assert first.folder == course_home / "splits" / "calls-small" / str(GROUPED)
    assert first.folder == split_folder("calls", "small", GROUPED)
    assert locked_split(calls, GROUPED).digest == first.digest
    with pytest.raises(CourseError, match=r"not the one that was locked .* call-0059"):
        locked_split(calls.take(np.arange(59)), GROUPED)


def test_the_committed_digest_is_kept_to(
    calls: SampleTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("course_lib.splits.locking.manifests_folder", lambda: tmp_path)
    committed = tmp_path / "calls" / "splits" / "small" / str(STRATIFIED)
    written(calls, committed, str(STRATIFIED))
    (committed / "samples.csv").unlink()
    assert locked_split(calls, STRATIFIED).digest
    content = json.loads((committed / "split.json").read_text(encoding="utf-8"))
    content["digest"] = "0" * 64
    (committed / "split.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CourseError, match="is not the split stratified-80-20 that the workbook has"):
        locked_split(calls, STRATIFIED)
    content["data_sha256"] = "0" * 64
    (committed / "split.json").write_text(json.dumps(content), encoding="utf-8")
    assert locked_split(calls, STRATIFIED).digest
