"""Everything that is wrong with a shard set is found and named, and mended from the source."""

from __future__ import annotations

import io
import json
import shutil
import sys
import tarfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from shard_sets import bytes_of, made_source

from course_lib.errors import CourseError
from course_lib.shards import (
    ShardVerification,
    pack,
    read_manifest,
    record_bytes,
    repair_shards,
    unpack_shards,
    verify_shards,
)
from course_lib.shards.format import INDEX_FILE, MANIFEST_FILE, index_bytes, manifest_digest, open_index
from course_lib.shards.payloads import BlobSource
from course_lib.shards.records import record_rows
from course_lib.shards.scanning import OpenShard, samples
from course_lib.shards.tar import member_header
from course_lib.shards.verify import is_class_sorted
from course_lib.splits import SplitManifest, make_split, parse_recipe, sample_table, write_split

SOURCE = made_source(60)
SHARD = "train-000001.tar"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pack(SOURCE, tmp_path / "set", target_bytes=40_960)
    return tmp_path / "set"


def flip(path: Path, at: int, bit: int = 0) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)


def first_row(folder: Path, shard: int = 1) -> np.void:
    rows = open_index(folder, read_manifest(folder))
    row: np.void = np.array(rows[rows["shard"] == shard])[1]
    return row


def kinds(found: ShardVerification) -> set[str]:
    return {finding.kind for finding in found.findings}


def test_a_set_as_it_was_packed_is_without_fault(folder: Path) -> None:
    found = verify_shards(folder)
    assert found.ok
    assert found.sentences == ()
    assert found.samples == 60
    assert found.bytes_read == read_manifest(folder).shard_bytes


@pytest.mark.parametrize("place", ["payload", "payload header", "label header", "label", "padding"])
def test_a_flipped_bit_anywhere_in_a_record_is_found_with_shard_and_sample(folder: Path, place: str) -> None:
    row = first_row(folder)
    end = int(row["offset"] + row["extent"])
    at = {
        "payload": int(row["start"]) + int(row["length"]) // 2,
        "payload header": int(row["offset"]) + 3,
        "label header": end - 1024 + 3,
        "label": end - 512,
        "padding": end - 600,
    }[place]
    flip(folder / SHARD, at)
    found = verify_shards(folder)
    assert [(finding.kind, finding.shard, finding.sample_id) for finding in found.findings] == [
        ("damaged record", SHARD, row["id"].decode())
    ]
    assert SHARD in found.sentences[0] and row["id"].decode() in found.sentences[0]


@pytest.mark.parametrize("place", ["payload header", "label header", "hole"])
def test_behind_a_damaged_header_the_samples_are_still_found_and_counted(folder: Path, place: str) -> None:
    row = first_row(folder)
    start, end = int(row["offset"]), int(row["offset"] + row["extent"])
    if place == "hole":
        content = (folder / SHARD).read_bytes()
        (folder / SHARD).write_bytes(content[:start] + bytes(end - start) + content[end:])
    else:
        flip(folder / SHARD, start + 3 if place == "payload header" else end - 1024 + 3)
    last = open_index(folder, read_manifest(folder))
    behind = int(np.array(last[last["shard"] == 1])[-1]["start"])
    flip(folder / SHARD, behind)
    found = verify_shards(folder)
    assert found.samples == 59
    assert [finding.kind for finding in found.findings] == ["damaged record", "damaged record"]


def test_without_the_index_no_place_of_the_damage_is_made_up(folder: Path) -> None:
    row = first_row(folder)
    (folder / INDEX_FILE).unlink()
    flip(folder / SHARD, int(row["start"]) if row["length"] else int(row["offset"]))
    said = " ".join(verify_shards(folder).sentences)
    assert "in which sample cannot be told without the index" in said
    assert "outside all records" not in said and "Errno" not in said
    flip(folder / SHARD, int(row["offset"] + row["extent"]))
    assert f"cannot be read on after sample {row['id'].decode()}" not in said
    assert "cannot be read on" in " ".join(verify_shards(folder).sentences)


@pytest.mark.parametrize("kind", ["gone", "a folder"])
def test_a_set_that_lost_its_manifest_is_not_called_whole(folder: Path, kind: str) -> None:
    (folder / MANIFEST_FILE).unlink()
    if kind == "a folder":
        (folder / MANIFEST_FILE).mkdir()
    (finding,) = verify_shards(folder).findings
    assert finding.kind == "manifest"
    assert "has lost its shards.json" in finding.sentence


@pytest.mark.parametrize("size", [b"many", b"-1024"])
def test_an_extended_header_with_a_nonsensical_size_is_named(tmp_path: Path, size: bytes) -> None:
    about = tarfile.TarInfo("a.jpg")
    about.pax_headers = {"size": size.decode()}
    (tmp_path / "one.tar").write_bytes(about.tobuf(tarfile.PAX_FORMAT) + bytes(1024))
    (finding,) = verify_shards(tmp_path).findings
    assert finding.kind == "damaged shard" and "extended header" in finding.sentence


def test_every_bit_of_a_record_counts(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    pack(made_source(2, size=20), folder)
    size = (folder / "train-000000.tar").stat().st_size
    for at in range(0, size, 97):
        flip(folder / "train-000000.tar", at, at % 8)
        assert not verify_shards(folder).ok, at
        flip(folder / "train-000000.tar", at, at % 8)
    assert verify_shards(folder).ok


@pytest.mark.parametrize("cut", [1_024, 16_384])
def test_a_truncated_shard_is_found_with_what_is_lost(folder: Path, cut: int) -> None:
    path = folder / SHARD
    path.write_bytes(path.read_bytes()[:-cut])
    (finding,) = verify_shards(folder).findings
    assert (finding.kind, finding.shard) == ("truncated shard", SHARD)
    assert ("samples lost, the first is train-" in finding.sentence) == (cut > 10_240)


def test_a_flipped_bit_behind_the_last_record_is_found(folder: Path) -> None:
    flip(folder / SHARD, (folder / SHARD).stat().st_size - 1)
    (finding,) = verify_shards(folder).findings
    assert finding.kind == "damaged shard"


def test_a_missing_and_an_extra_shard_are_found(folder: Path) -> None:
    (folder / SHARD).rename(folder / "train-000777.tar")
    found = verify_shards(folder)
    assert [(finding.kind, finding.shard) for finding in found.findings] == [
        ("missing shard", SHARD),
        ("extra shard", "train-000777.tar"),
    ]


def test_exchanged_shards_are_told_as_such_and_mended(folder: Path) -> None:
    first, second, aside = folder / "train-000000.tar", folder / SHARD, folder / "aside"
    first.rename(aside)
    second.rename(first)
    aside.rename(second)
    found = verify_shards(folder)
    assert [(finding.kind, finding.shard) for finding in found.findings] == [
        ("damaged shard", first.name),
        ("damaged shard", second.name),
    ]
    assert f"{first.name} holds the bytes of {second.name}" in found.sentences[0]
    assert found.samples == len(SOURCE)
    repair_shards(folder, SOURCE)
    assert verify_shards(folder).ok


def test_a_shard_copied_over_another_is_told_and_its_samples_are_there_twice(folder: Path) -> None:
    shutil.copyfile(folder / "train-000000.tar", folder / SHARD)
    found = verify_shards(folder)
    assert f"{SHARD} holds the bytes of train-000000.tar" in found.sentences[0]
    assert kinds(found) == {"damaged shard", "id twice"}
    assert found.damaged_shards() == (SHARD,)


def test_a_flipped_bit_in_the_index_is_found_and_the_shards_are_looked_through_all_the_same(
    folder: Path,
) -> None:
    flip(folder / INDEX_FILE, 300)
    flip(folder / SHARD, 700)
    assert kinds(verify_shards(folder)) == {"index", "damaged shard"}


def test_a_missing_index_is_found(folder: Path) -> None:
    (folder / INDEX_FILE).unlink()
    assert kinds(verify_shards(folder)) == {"index"}


@pytest.mark.parametrize("field", ["id", "label", "offset", "length", "start", "extent", "check"])
def test_an_index_that_was_written_anew_with_other_values_disagrees_with_the_archive(
    folder: Path, field: str
) -> None:
    manifest = read_manifest(folder)
    rows = np.array(open_index(folder, manifest))
    rows[field][7] = b"train-other-00001" if field == "id" else rows[field][7] + 1
    _with_index(folder, rows)
    found = verify_shards(folder)
    assert kinds(found) == {"index against tar"}
    assert len(found.findings) == 1


@pytest.mark.parametrize("change", ["row of another shard", "row too many", "row too few"])
def test_an_index_with_other_rows_disagrees_with_the_archive(folder: Path, change: str) -> None:
    rows = np.array(open_index(folder, read_manifest(folder)))
    if change == "row of another shard":
        rows["shard"][-1] = 0
    else:
        rows = np.append(rows, rows[-1:]) if change == "row too many" else rows[:-1]
    _with_index(folder, rows)
    assert kinds(verify_shards(folder)) == {"index against tar"}


def _with_index(folder: Path, rows: np.ndarray) -> None:
    import hashlib

    import xxhash

    content = index_bytes([rows])
    (folder / INDEX_FILE).write_bytes(content)
    manifest = read_manifest(folder)
    index = replace(
        manifest.index,
        bytes=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        xxh3=xxhash.xxh3_64_hexdigest(content),
        rows=len(rows),
    )
    (folder / MANIFEST_FILE).write_bytes(replace(manifest, index=index).as_json())


def test_an_edited_manifest_is_found(folder: Path) -> None:
    path = folder / MANIFEST_FILE
    path.write_text(path.read_text(encoding="utf-8").replace('"split": "train"', '"split": "test"'), "utf-8")
    found = verify_shards(folder)
    assert kinds(found) == {"manifest"}
    assert "not as it was written" in found.sentences[0]
    with pytest.raises(CourseError, match="cannot be repaired"):
        repair_shards(folder, SOURCE)


def test_a_set_of_a_newer_version_is_refused_in_words(folder: Path) -> None:
    path = folder / MANIFEST_FILE
    entries = json.loads(path.read_text(encoding="utf-8")) | {"schema_version": 2, "compression": "zstd"}
    path.write_text(json.dumps(entries | {"digest": manifest_digest(entries)}), encoding="utf-8")
    with pytest.raises(CourseError, match="from a newer version of the workbook: expected schema_version 1"):
        read_manifest(folder)


def test_a_folder_without_a_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="holds no shard set"):
        verify_shards(tmp_path)
    with pytest.raises(CourseError, match="holds no shard set"):
        verify_shards(tmp_path / "nowhere")


@pytest.mark.parametrize("harm", ["flip", "cut", "delete", "index", "index and shard", "all gone"])
def test_a_repair_gives_the_very_same_bytes_again(folder: Path, harm: str) -> None:
    wanted = bytes_of(folder)
    if "index" in harm:
        flip(folder / INDEX_FILE, 500)
    if harm in ("flip", "index and shard"):
        flip(folder / SHARD, 5_000)
    if harm == "cut":
        (folder / SHARD).write_bytes((folder / SHARD).read_bytes()[:-3_000])
    if harm == "delete":
        (folder / SHARD).unlink()
    if harm == "all gone":
        for path in (*folder.glob("*.tar"), folder / INDEX_FILE):
            path.unlink()
    done = repair_shards(folder, SOURCE)
    assert not done.before.ok
    assert done.after.ok
    assert bytes_of(folder) == wanted
    expected = (
        {name for name in wanted if name != MANIFEST_FILE} if harm == "all gone" else set(done.rewritten)
    )
    assert set(done.rewritten) == expected and done.rewritten
    assert {path.name for path in folder.iterdir() if path.name.startswith(".")} <= {".packing.lock"}


def test_a_repair_of_a_whole_set_writes_nothing(folder: Path) -> None:
    assert repair_shards(folder, SOURCE).rewritten == ()


def test_a_repair_from_other_samples_is_refused_and_changes_nothing(folder: Path) -> None:
    flip(folder / SHARD, 5_000)
    before = bytes_of(folder)
    with pytest.raises(CourseError, match="was packed from other samples"):
        repair_shards(folder, made_source(61))
    same_lengths = replace(SOURCE, blob=bytes(len(SOURCE.blob)))
    with pytest.raises(CourseError, match="cannot be written anew to the bytes that it had"):
        repair_shards(folder, same_lengths)
    assert bytes_of(folder) == before


def test_an_extra_shard_is_named_by_a_repair_and_left_alone(folder: Path) -> None:
    shutil.copy(folder / SHARD, folder / "train-000009.tar")
    flip(folder / SHARD, 5_000)
    after = repair_shards(folder, SOURCE).after
    assert kinds(after) == {"extra shard", "id twice"}
    assert (folder / "train-000009.tar").exists()


def test_unpacking_gives_every_payload_in_its_class_folder(folder: Path, tmp_path: Path) -> None:
    out = unpack_shards(folder, tmp_path / "out")
    names = {path.relative_to(out).as_posix(): path.read_bytes() for path in out.rglob("*.bin")}
    expected = {}
    for at, (sample_id, label) in enumerate(zip(SOURCE.ids.tolist(), SOURCE.labels.tolist(), strict=True)):
        expected[f"{SOURCE.facts.class_names[label]}/{sample_id.decode()}.bin"] = SOURCE.payload(at)
    assert names == expected


@pytest.mark.parametrize("harm", ["flip", "cut", "missing"])
def test_unpacking_a_damaged_set_leaves_nothing_behind(folder: Path, tmp_path: Path, harm: str) -> None:
    if harm == "flip":
        flip(folder / SHARD, int(first_row(folder)["start"]))
    elif harm == "cut":
        (folder / SHARD).write_bytes((folder / SHARD).read_bytes()[:-20_000])
    else:
        (folder / SHARD).unlink()
    with pytest.raises(CourseError, match=r"train-000001\.tar"):
        unpack_shards(folder, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out*"))


def test_unpacking_over_a_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(CourseError, match="is there already"):
        unpack_shards(folder, tmp_path / "out")


def test_a_class_with_a_slash_gets_a_folder_and_two_that_collide_are_refused(tmp_path: Path) -> None:
    pack(made_source(6, classes=("World", "Sci/Tech")), tmp_path / "set")
    out = unpack_shards(tmp_path / "set", tmp_path / "out")
    assert sorted(path.name for path in out.iterdir()) == ["Sci-Tech", "World"]
    pack(made_source(6, classes=("a/b", "a b")), tmp_path / "other")
    with pytest.raises(CourseError, match="share one folder"):
        unpack_shards(tmp_path / "other", tmp_path / "out2")


def _split(folder: Path) -> SplitManifest:
    samples = sample_table(
        [f"s-{n:03d}" for n in range(100)], ["cat", "dog"] * 50, dataset="animals", times=range(100)
    )
    return write_split(make_split(samples, parse_recipe("ordered-60-20-20")), folder)


def _source_of(ids: list[str], split: str, digest: str) -> BlobSource:
    source = made_source(len(ids), split=split)
    facts = replace(source.facts, split_digest=digest)
    return replace(source, ids=np.array([text.encode() for text in ids]), facts=facts)


def test_samples_of_two_splits_in_one_set_are_found(tmp_path: Path) -> None:
    split = _split(tmp_path / "split")
    train = split.ids_of("train").to_pylist()
    pack(_source_of(train, "train", split.digest), tmp_path / "good")
    assert verify_shards(tmp_path / "good", split=split).ok
    stray = split.ids_of("test").to_pylist()[3]
    pack(_source_of([*train[1:], stray], "train", split.digest), tmp_path / "mixed")
    found = verify_shards(tmp_path / "mixed", split=split)
    assert kinds(found) == {"other split", "missing sample"}
    (finding,) = found.of_kind("other split")
    assert finding.sample_id == stray
    assert "belongs to split test" in finding.sentence


def test_a_manifest_of_another_split_is_found(tmp_path: Path) -> None:
    split = _split(tmp_path / "split")
    pack(_source_of(split.ids_of("train").to_pylist(), "train", "0" * 64), tmp_path / "set")
    (finding,) = verify_shards(tmp_path / "set", split=split).findings
    assert finding.kind == "other split"
    assert "another split manifest" in finding.sentence


def test_what_sorted_by_class_means() -> None:
    sorted_labels = np.repeat([0, 1, 2], 100)
    assert is_class_sorted(sorted_labels)
    assert is_class_sorted(np.repeat([2, 0, 1, 2], 25))
    assert not is_class_sorted(np.random.default_rng(0).permutation(sorted_labels))
    assert not is_class_sorted(np.zeros(100, dtype=np.int32))
    assert not is_class_sorted(np.array([0, 0, 1, 1]))
    rare = np.zeros(1_000, dtype=np.int64)
    rare[:20] = 1
    assert is_class_sorted(rare)
    assert not is_class_sorted(np.random.default_rng(0).permutation(rare))


def write_tar(path: Path, members: list[tuple[str, bytes]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w") as archive:
        for name, body in members:
            about = tarfile.TarInfo(name)
            about.size = len(body)
            archive.addfile(about, io.BytesIO(body))


def pair(key: str, label: int = 0) -> list[tuple[str, bytes]]:
    return [(f"{key}.cls", b"%d" % label), (f"{key}.jpg", b"payload " + key.encode())]


@pytest.mark.parametrize(
    ("shards", "expected"),
    [
        ([pair("a") + pair("b"), pair("c")], set()),
        ([pair("a") + pair("b"), pair("a")], {"id twice"}),
        ([pair("a") + pair("b") + pair("a")], {"id twice"}),
        ([pair("a")[:1] + pair("b") + pair("a")[1:]], {"members apart"}),
        ([pair("a")[:1], pair("b") + pair("a")[1:]], {"members apart"}),
        ([pair("a")[1:] + pair("b")], {"incomplete sample"}),
        ([pair("a")[:1] + pair("b")], {"incomplete sample"}),
        ([pair("a"), []], {"empty shard"}),
        ([[x for n in range(60) for x in pair(f"s{n}", n // 20)]], {"class-sorted"}),
    ],
)
def test_faults_in_shards_of_another_tool_are_found(
    tmp_path: Path, shards: list[list[tuple[str, bytes]]], expected: set[str]
) -> None:
    for number, members in enumerate(shards):
        write_tar(tmp_path / "set" / f"shard-{number}.tar", members)
    assert kinds(verify_shards(tmp_path / "set")) == expected


@pytest.mark.parametrize("cut", [1, 600, 10_240])
def test_a_writer_that_was_not_closed_leaves_a_shard_that_is_found(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "set/shard-0.tar"
    write_tar(path, [member for number in range(9) for member in pair(f"s{number}")])
    whole = path.read_bytes()
    last = whole.rstrip(b"\0")
    path.write_bytes(whole[: len(last) + 100 - cut] if cut < 10_240 else b"")
    assert kinds(verify_shards(tmp_path / "set")) == {"truncated shard"}


@pytest.mark.skipif(sys.platform == "win32", reason="a file with a hole would be written out in full")
def test_records_beyond_four_gigabytes_keep_their_place(tmp_path: Path) -> None:
    """A sparse file stands in for five gigabytes that nobody writes."""
    folder = tmp_path / "set"
    pack(made_source(3, size=20), folder)
    rows = np.array(open_index(folder, read_manifest(folder)))
    hole = 5 * 2**30
    small = (folder / "train-000000.tar").read_bytes()
    path = tmp_path / "large.tar"
    with path.open("wb") as file:
        head = member_header(b"a-hole.bin", hole)
        file.write(head)
        file.seek(len(head) + hole)
        file.write(small)
    with OpenShard(path) as content:
        found = list(samples(content))
    assert [sample.key for sample in found] == [b"a-hole", *rows["id"].tolist()]
    for sample, row in zip(found[1:], rows, strict=True):
        assert sample.offset == 512 + hole + int(row["offset"]) > 2**32
        assert sample.members[b"bin"].start == 512 + hole + int(row["start"])


def test_the_index_of_a_large_shard_counts_in_64_bits() -> None:
    source = made_source(3)
    sizes = np.array([3 * 2**30, 3 * 2**30 + 5, 11])
    rows = record_rows(source, sizes, 0, 24)
    assert rows["offset"].tolist() == [
        0,
        record_bytes(3 * 2**30),
        record_bytes(3 * 2**30) + record_bytes(3 * 2**30 + 5),
    ]
    assert rows["offset"][2] > 2**32
    assert {rows.dtype[name].itemsize for name in ("offset", "length", "start", "extent")} == {8}
