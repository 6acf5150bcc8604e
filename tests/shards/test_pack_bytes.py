"""A shard is a plain tar archive, byte for byte the one that Python's tarfile writes."""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest
from shard_sets import bytes_of, made_source

from course_lib.shards import pack
from course_lib.shards.format import open_index, record_bytes, record_head, record_tail, xxh3_file
from course_lib.shards.plain_sources import blob_source
from course_lib.shards.tar import archive_end, member_header, plain_headers


def by_tarfile(samples: list[tuple[str, bytes, int]], extension: str) -> bytes:
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, payload, label in samples:
            for member, body in ((f"{name}.{extension}", payload), (f"{name}.cls", b"%d" % label)):
                about = tarfile.TarInfo(member)
                about.size = len(body)
                archive.addfile(about, io.BytesIO(body))
    return content.getvalue()


@pytest.mark.parametrize("width", [1, 40, 94, 95, 96, 97, 150, 200])
def test_a_shard_has_the_bytes_of_tarfile_for_ids_of_every_length(tmp_path: Path, width: int) -> None:
    ids = [f"{place:0{width}d}" if width > 1 else f"{place}" for place in range(9)]
    payloads = [
        bytes([place]) * length for place, length in enumerate((0, 1, 511, 512, 513, 900, 2, 10240, 7))
    ]
    labels = [place % 12 for place in range(9)]
    source = blob_source(
        payloads,
        ids,
        labels,
        dataset="d",
        class_names=[str(n) for n in range(12)],
        extension="jpeg",
        split="train",
    )
    manifest = pack(source, tmp_path / "set")
    rows = open_index(tmp_path / "set", manifest)
    order = [ids.index(row["id"].decode()) for row in rows]
    expected = by_tarfile([(ids[at], payloads[at], labels[at]) for at in order], "jpeg")
    assert (tmp_path / "set/train-000000.tar").read_bytes() == expected
    for row, at in zip(rows, order, strict=True):
        start = int(row["start"])
        assert expected[start : start + int(row["length"])] == payloads[at]
        assert row["extent"] == record_bytes(len(payloads[at]), id_length=len(ids[at]), extension_length=4)


def test_tar_lists_a_shard_without_a_warning(tmp_path: Path) -> None:
    if shutil.which("tar") is None:
        pytest.skip("there is no tar command here")
    source = made_source(12)
    pack(source, tmp_path / "set")
    listed = subprocess.run(
        ["tar", "tf", "train-000000.tar"], cwd=tmp_path / "set", capture_output=True, check=True
    )
    assert listed.stderr == b""
    names = listed.stdout.decode().split()
    assert sorted(names) == sorted(f"{i.decode()}.{kind}" for i in source.ids for kind in ("bin", "cls"))


def test_headers_written_in_one_go_are_those_written_one_by_one() -> None:
    names = np.array([b"a.jpg", b"train-cat-0001.jpg", b"x" * 100], dtype=np.bytes_)
    lengths = np.array([0, 40_000, 8**11 - 1])
    rows = plain_headers(names, lengths)
    assert [row.tobytes() for row in rows] == [
        member_header(name, int(length)) for name, length in zip(names.tolist(), lengths, strict=True)
    ]


def test_a_record_is_head_payload_and_tail() -> None:
    record = record_head(b"a-1", 5, b"txt") + b"hello" + record_tail(b"a-1", 11, 5)
    assert len(record) == record_bytes(5)
    whole = record + archive_end(len(record))
    assert whole == by_tarfile([("a-1", b"hello", 11)], "txt")


def test_what_a_record_takes_beyond_its_payload() -> None:
    assert record_bytes(1024) == 2560
    assert record_bytes(40_000) == 41_984


def test_the_manifest_says_what_the_files_are(tmp_path: Path) -> None:
    import hashlib

    source = made_source(100)
    manifest = pack(source, tmp_path / "set", target_bytes=40_000)
    files = bytes_of(tmp_path / "set")
    assert set(files) == {"shards.json", "index.npy", *(shard.name for shard in manifest.shards)}
    for shard in manifest.shards:
        assert len(files[shard.name]) == shard.bytes <= 40_000
        assert hashlib.sha256(files[shard.name]).hexdigest() == shard.sha256
        assert xxh3_file(tmp_path / "set" / shard.name) == shard.xxh3
    assert manifest.samples == sum(shard.samples for shard in manifest.shards) == 100
    assert manifest.payload_bytes == int(source.sizes().sum())
    assert sorted(open_index(tmp_path / "set", manifest)["id"].tolist()) == sorted(source.ids.tolist())


def test_more_records_than_a_write_buffer_holds_stand_in_one_shard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = made_source(200)
    pack(source, tmp_path / "large")
    monkeypatch.setattr("course_lib.shards.records._BUFFER_BYTES", 3_000)
    pack(source, tmp_path / "small")
    assert bytes_of(tmp_path / "large") == bytes_of(tmp_path / "small")
