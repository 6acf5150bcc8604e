"""Shards that another tool wrote are indexed in place, or refused by name."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.shards import index_foreign, repair_shards, unpack_shards, verify_shards
from course_lib.shards.format import open_index, read_manifest


def write_tar(path: Path, members: list[tuple[str, bytes]], *, kind: int = tarfile.GNU_FORMAT) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w", format=kind) as archive:
        for name, body in members:
            about = tarfile.TarInfo(name)
            about.size = len(body)
            about.mtime = 1_700_000_000.25 if kind == tarfile.PAX_FORMAT else 1_700_000_000  # type: ignore[assignment]
            archive.addfile(about, io.BytesIO(body))


def sample(key: str, label: int) -> list[tuple[str, bytes]]:
    return [(f"{key}.cls", b"%d" % label), (f"{key}.jpg", f"payload of {key}".encode())]


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("width", [6, 98, 180])
def test_every_kind_of_tar_header_is_read(tmp_path: Path, kind: int, width: int) -> None:
    if kind == tarfile.USTAR_FORMAT and width > 96:
        pytest.skip("ustar has no longer names")
    keys = [f"{number:0{width}d}" for number in range(5)]
    folder = tmp_path / "set"
    write_tar(folder / "a-0.tar", sample(keys[0], 0) + sample(keys[1], 1), kind=kind)
    write_tar(folder / "a-1.tar", [m for n in (2, 3, 4) for m in sample(keys[n], n)], kind=kind)
    manifest = index_foreign(folder, split="train")
    assert manifest == read_manifest(folder)
    assert manifest.class_names == tuple(f"class {code}" for code in range(5))
    rows = open_index(folder, manifest)
    assert [row["id"].decode() for row in rows] == keys
    assert rows["label"].tolist() == [0, 1, 2, 3, 4]
    for row in rows:
        content = (folder / manifest.shards[row["shard"]].name).read_bytes()
        start = int(row["start"])
        assert content[start : start + int(row["length"])] == b"payload of " + row["id"]
    assert verify_shards(folder).ok


def test_webdatasets_own_writer_is_read(tmp_path: Path) -> None:
    webdataset = pytest.importorskip("webdataset", reason="needs webdataset")
    (tmp_path / "set").mkdir()
    pattern = str(tmp_path / "set/w-%06d.tar")
    with webdataset.ShardWriter(pattern, maxcount=7, verbose=0) as writer:
        for number in range(20):
            writer.write({"__key__": f"s{number:04d}", "jpg": b"bytes %d" % number, "cls": number % 3})
    manifest = index_foreign(tmp_path / "set", split="train")
    assert manifest.samples == 20
    assert verify_shards(tmp_path / "set").ok
    out = unpack_shards(tmp_path / "set", tmp_path / "out")
    assert (out / "class-1/s0004.jpg").read_bytes() == b"bytes 4"


def test_other_members_stay_part_of_the_record(tmp_path: Path) -> None:
    members = [("a.cls", b"0"), ("a.json", b"{}"), ("a.jpg", b"pixels"), *sample("b", 1)]
    folder = tmp_path / "set"
    write_tar(folder / "a.tar", members)
    with pytest.raises(CourseError, match=r"Sample a in .* is not complete.*cls, jpg, json.*say which"):
        index_foreign(folder, split="train")
    manifest = index_foreign(folder, split="train", extension="jpg", class_names=["x", "y"])
    rows = open_index(folder, manifest)
    content = (folder / "a.tar").read_bytes()
    assert content[int(rows["start"][0]) :][:6] == b"pixels"
    assert int(rows["extent"][0]) == 3 * 1024
    assert verify_shards(folder).ok
    damaged = bytearray(content)
    damaged[1024 + 512] ^= 1
    (folder / "a.tar").write_bytes(damaged)
    (finding,) = verify_shards(folder).findings
    assert (finding.kind, finding.sample_id) == ("damaged record", "a")
    with pytest.raises(CourseError, match="written by another tool"):
        from shard_sets import made_source

        repair_shards(folder, made_source(3))


@pytest.mark.parametrize(
    ("members", "said"),
    [
        (sample("a", 0) + sample("b", 1) + sample("a", 0), "occurs twice"),
        (sample("a", 0)[:1] + sample("b", 1) + sample("a", 0)[1:], "Sample a in .* is not complete"),
        (sample("a", 0)[1:], "is not complete"),
        (sample("a", 0)[:1], "is not complete"),
        ([("a.cls", b"cat"), ("a.jpg", b"")], "label of sample a in .* is no number"),
        (sample("x/a", 0), "holds a slash"),
        ([], "is an empty shard"),
        ([*sample("a", 0), ("b.cls", b"1"), ("b.png", b"")], "payloads of several kinds"),
    ],
)
def test_shards_that_cannot_be_read_as_samples_are_refused(
    tmp_path: Path, members: list[tuple[str, bytes]], said: str
) -> None:
    write_tar(tmp_path / "set/a.tar", members)
    with pytest.raises(CourseError, match=said):
        index_foreign(tmp_path / "set", split="train")
    assert not (tmp_path / "set/shards.json").exists()


def test_a_truncated_or_damaged_shard_is_not_indexed(tmp_path: Path) -> None:
    path = tmp_path / "set/a.tar"
    write_tar(path, sample("a", 0) + sample("b", 1))
    whole = path.read_bytes()
    path.write_bytes(whole[:2600])
    with pytest.raises(CourseError, match=r"a\.tar cannot be indexed.*cut short, after sample a"):
        index_foreign(path.parent, split="train")
    path.write_bytes(whole[:1027] + b"?" + whole[1028:])
    with pytest.raises(CourseError, match="the tar header at byte 1,024 is damaged"):
        index_foreign(path.parent, split="train")


def test_a_folder_without_shards_or_with_a_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"cannot be indexed: expected .* found none"):
        index_foreign(tmp_path, split="train")
    write_tar(tmp_path / "a.tar", sample("a", 0))
    index_foreign(tmp_path, split="train")
    with pytest.raises(CourseError, match=r"a set already; .*delete shards\.json and index\.npy first"):
        index_foreign(tmp_path, split="train")


def test_a_label_beyond_the_label_map_is_refused(tmp_path: Path) -> None:
    write_tar(tmp_path / "a.tar", sample("a", 3))
    with pytest.raises(CourseError, match="outside the label map: expected 0 to 1, found 3"):
        index_foreign(tmp_path, split="train", class_names=["x", "y"])
