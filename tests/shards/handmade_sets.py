"""Small shard sets written with Python's own tarfile, so that readers are tested apart from the packer."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from course_lib.shards.format import IndexFile, ShardFile, ShardSetManifest, index_dtype

CLASSES = ("cat", "dog", "owl")


class Sample(NamedTuple):
    id: str
    payload: bytes
    label: int


def samples_of(count: int, seed: int = 1) -> list[Sample]:
    """Return samples of 1 to 1,500 random bytes, the classes in turn."""
    draw = np.random.default_rng(seed)
    return [
        Sample(f"s-{at:04d}", draw.bytes(int(draw.integers(1, 1_500))), at % len(CLASSES))
        for at in range(count)
    ]


def write_set(
    folder: Path, samples: Sequence[Sample], shard_sizes: Sequence[int], *, split: str = "train"
) -> list[Sample]:
    """Write a set with so many samples in each shard, and return its samples in pack order."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = np.zeros(len(samples), dtype=index_dtype(max(len(sample.id.encode()) for sample in samples)))
    shards, begin = [], 0
    for number, size in enumerate(shard_sizes):
        path = folder / f"{split}-{number:06d}.tar"
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
            for sample in samples[begin : begin + size]:
                _add(archive, f"{sample.id}.bin", sample.payload)
                _add(archive, f"{sample.id}.cls", str(sample.label).encode())
        content = path.read_bytes()
        with tarfile.open(path) as archive:
            members = archive.getmembers()
        for at in range(size):
            payload, label = members[2 * at : 2 * at + 2]
            end = label.offset_data + 512
            check = xxhash.xxh3_64_intdigest(content[payload.offset : end])
            sample = samples[begin + at]
            rows[begin + at] = (
                sample.id.encode(), sample.label, number, payload.offset, payload.size,
                payload.offset_data, end - payload.offset, check,
            )  # fmt: skip
        shards.append(ShardFile(path.name, len(content), size, *_digests(content)))
        begin += size
    assert begin == len(samples)
    np.save(folder / "index.npy", rows)
    index = (folder / "index.npy").read_bytes()
    manifest = ShardSetManifest(
        dataset="handmade",
        variant="",
        split=split,
        split_digest="5" * 64,
        data_digest="d" * 64,
        origin="Data: handmade, generated from seed 1",
        id_kind="a running number",
        class_names=CLASSES,
        extension="bin",
        recipe={"seed": 1, "target_samples": max(shard_sizes), "order": "as given"},
        plan_digest="",
        code_version="0",
        shards=tuple(shards),
        index=IndexFile("index.npy", len(index), *_digests(index), len(rows)),
        samples=len(rows),
        payload_bytes=sum(len(sample.payload) for sample in samples),
    )
    (folder / "shards.json").write_bytes(manifest.as_json())
    return list(samples)


def flip_byte(path: Path, at: int) -> None:
    """Change one bit of a file."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


def cut(path: Path, count: int) -> None:
    """Cut so many bytes off the end of a file."""
    path.write_bytes(path.read_bytes()[:-count])


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))


def _digests(content: bytes) -> tuple[str, str]:
    return hashlib.sha256(content).hexdigest(), xxhash.xxh3_64_hexdigest(content)
