"""Shard sets that are broken on purpose, in folders of their own: what checks and readers say of them."""

from __future__ import annotations

import io
import os
import shutil
import tarfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.foreign import index_foreign
from course_lib.shards.format import index_bytes, index_dtype, xxh3_file
from course_lib.shards.packing import pack
from course_lib.shards.payloads import ArraySource
from course_lib.shards.plain_sources import blob_source
from course_lib.shards.reading import ShardSet

if TYPE_CHECKING:
    from course_lib.shards.format import ShardSetManifest

FLIPPED, CUT, DELETED = "one bit flipped", "shard cut short", "shard deleted"
_CUT_BYTES = 1_024
_PUZZLE_SAMPLES, _STRAYED, _PUZZLE_SHARD = 200, 10, 40
_DAMAGED_PUZZLE_SHARD = 3


def flip_bit(path: Path, at: int, bit: int = 0) -> None:
    """Change one bit of a file in place."""
    content = bytearray(path.read_bytes())
    content[at] ^= 1 << bit
    path.write_bytes(content)


def damaged_copies(folder: Path, aside: Path) -> dict[str, Path]:
    """Return three copies of a shard set, each damaged in one way; the set itself is left alone.

    Parameters
    ----------
    folder : Path
        A set of at least three shards.
    aside : Path
        A folder for the copies.

    Raises
    ------
    CourseError
        When the set has fewer shards.
    """
    with ShardSet.open(folder) as shards:
        names = [shard.name for shard in shards.manifest.shards]
        row = shards.index[len(shards) // 2]
        number, middle = int(row["shard"]), int(row["start"]) + int(row["length"]) // 2
    if len(names) < 3:
        raise CourseError("The set has too few shards to lose one", expected="at least 3", found=len(names))
    copies = {}
    for place, damage in enumerate((FLIPPED, CUT, DELETED)):
        copies[damage] = aside / f"damaged-{place}"
        shutil.copytree(folder, copies[damage])
    flip_bit(copies[FLIPPED] / names[number], middle)
    cut = copies[CUT] / names[-2]
    # 1 KB more than the end of the archive holds, so that a record loses its end.
    kept = cut.stat().st_size - _end_bytes(cut) - _CUT_BYTES
    cut.write_bytes(cut.read_bytes()[:kept])
    (copies[DELETED] / names[1]).unlink()
    return copies


@dataclass(frozen=True, eq=False)
class BitFlips:
    """What becomes of an encoded image when one bit of it is changed, tried at many places.

    Attributes
    ----------
    tried, refused, unchanged, other_pixels : int
        Flips, and how many of them the decoder refused, gave the same pixels, and gave other ones in silence.
    before, after : ndarray of uint8, shape (height, width, 3)
        The image, and the one of the silent flips that changes most.
    place : tuple of int
        Byte and bit of that flip.
    payload_bytes : int
    """

    tried: int
    refused: int
    unchanged: int
    other_pixels: int
    before: NDArray[np.uint8]
    after: NDArray[np.uint8]
    place: tuple[int, int]
    payload_bytes: int


def flip_bits(payload: bytes, *, tries: int = 200, seed: int = 2026) -> BitFlips:
    """Flip one bit at a time in an encoded image, decode it with Pillow, and count what happens.

    Parameters
    ----------
    payload : bytes
        A JPEG or PNG file.
    tries : int, optional
        Flips, each in a fresh copy, at places drawn from ``seed``.
    """
    before = _pixels(payload)
    if before is None:
        raise CourseError("These bytes are no image that can be decoded")
    draw = np.random.default_rng(seed)
    bits = draw.choice(8 * len(payload), size=min(tries, 8 * len(payload)), replace=False).tolist()
    counts = {"refused": 0, "unchanged": 0, "other_pixels": 0}
    worst, after, place = -1.0, before, (0, 0)
    for at, bit in (divmod(bit, 8) for bit in bits):
        changed = bytearray(payload)
        changed[at] ^= 1 << bit
        pixels = _pixels(bytes(changed))
        if pixels is None or pixels.shape != before.shape:
            counts["refused"] += 1
        elif np.array_equal(pixels, before):
            counts["unchanged"] += 1
        else:
            counts["other_pixels"] += 1
            distance = float(np.abs(pixels.astype(int) - before).mean())
            if distance > worst:
                worst, after, place = distance, pixels, (at, bit)
    return BitFlips(len(bits), **counts, before=before, after=after, place=place, payload_bytes=len(payload))


def class_sorted_set(source: ArraySource, folder: Path, *, per_shard: int) -> ShardSetManifest:
    """Write the samples of a source class by class, as a plain tar writer does, and index the shards.

    Parameters
    ----------
    source : ArraySource
    folder : Path
        A new folder.
    per_shard : int
        Samples in a shard.
    """
    folder.mkdir(parents=True)
    order = np.argsort(source.labels, kind="stable")
    facts = source.facts
    for number, start in enumerate(range(0, len(order), per_shard)):
        with tarfile.open(folder / f"{facts.split}-{number:06d}.tar", "w") as archive:
            for position in order[start : start + per_shard].tolist():
                name = source.ids[position].decode()
                _add(archive, f"{name}.{facts.extension}", source.payload(position))
                _add(archive, f"{name}.cls", str(source.labels[position]).encode())
    return index_foreign(
        folder,
        split=facts.split,
        dataset=facts.dataset,
        class_names=facts.class_names,
        extension=facts.extension,
        origin=facts.origin,
    )


def puzzle_sets(train: ArraySource, validation: ArraySource, folder: Path) -> dict[str, Path]:
    """Return three small shard sets by name; at most one of them mixes splits.

    Parameters
    ----------
    train, validation : ArraySource
        Two splits of one manifest, each of at least 200 samples.
    folder : Path
        A folder for the sets.
    """
    own = _some(train, _PUZZLE_SAMPLES)
    parts = {
        "amber": own,
        "birch": _with_strays(own, _some(validation, _STRAYED)),
        "cedar": _some(validation, _PUZZLE_SAMPLES),
    }
    for name, source in parts.items():
        pack(source, folder / name, target_samples=_PUZZLE_SHARD)
    return {name: folder / name for name in parts}


def puzzle_damage(train: ArraySource, folder: Path) -> Path:
    """Return a small shard set with one bit changed in one of its five shards."""
    pack(_some(train, _PUZZLE_SAMPLES), folder, target_samples=_PUZZLE_SHARD)
    with ShardSet.open(folder) as shards:
        row = shards.index[_DAMAGED_PUZZLE_SHARD * _PUZZLE_SHARD + _PUZZLE_SHARD // 2]
        path = folder / shards.manifest.shards[int(row["shard"])].name
        middle = int(row["start"]) + int(row["length"]) // 2
    written = path.stat()
    flip_bit(path, middle)
    # Bits that rot on a disk don't change a file's time either, and it would give the answer away.
    os.utime(path, ns=(written.st_atime_ns, written.st_mtime_ns))
    return folder


@dataclass(frozen=True)
class ScanAgainstIndex:
    """What it takes to know all samples: looking up files, or opening an index of as many rows and more.

    Attributes
    ----------
    files, entries : int
        Files that were really made and looked up, and rows of the index.
    scan_seconds, index_seconds : tuple of float
        For each repeat: listing the folder with a look-up of each file; checking the bytes of the index,
        opening it through a memory map, and taking its first, middle and last row.
    index_file_bytes : int
    """

    files: int
    entries: int
    scan_seconds: tuple[float, ...]
    index_seconds: tuple[float, ...]
    index_file_bytes: int


def scan_against_index(
    folder: Path, *, files: int = 2_000, entries: int = 1_000_000, repeats: int = 3
) -> ScanAgainstIndex:
    """Make small files and a large index in a new folder, and time both ways to learn what is there.

    Parameters
    ----------
    folder : Path
        A new folder; the index stays in it, the files are removed after they were timed.
    files, entries, repeats : int, optional
        Each file has 16 B; 200,000 of them take 0.8 GB for a while on many file systems.
    """
    from course_lib.stores import FolderStore

    small = folder / "files"
    small.mkdir(parents=True)
    for number in range(files):
        (small / f"{number:07d}.bin").write_bytes(number.to_bytes(16, "little"))
    rows = np.zeros(entries, dtype=index_dtype(12))
    rows["id"] = np.char.add(b"s-", np.char.zfill(np.arange(entries).astype("S10"), 10))
    path = folder / "index.npy"
    path.write_bytes(index_bytes([rows]))
    del rows
    scans, opens = [], []
    store = FolderStore(small)
    for _ in range(repeats):
        began = time.perf_counter()
        found = len([store.stat(name) for name in store.list()])
        scans.append(time.perf_counter() - began)
        began = time.perf_counter()
        xxh3_file(path)
        index = np.load(path, mmap_mode="r", allow_pickle=False)
        taken = [index[place]["id"] for place in (0, entries // 2, entries - 1)]
        opens.append(time.perf_counter() - began)
        del index
        if found != files or len(taken) != min(3, entries + 2):
            raise CourseError("Files were lost while they were looked up", expected=files, found=found)
    shutil.rmtree(small)
    return ScanAgainstIndex(files, entries, tuple(scans), tuple(opens), path.stat().st_size)


def read_tolerantly(copies: Mapping[str, Path]) -> dict[str, Any]:
    """Return the coverage of each set when it is read through and damage is counted instead of raised."""
    found = {}
    for name, folder in copies.items():
        with ShardSet.open(folder, strict=False) as shards:
            for _ in shards.iterate():
                pass
            found[name] = shards.coverage()
    return found


def strict_errors(copies: Mapping[str, Path]) -> dict[str, CourseError | None]:
    """Return what stops a strict reader of each set; None where it reads everything."""
    found: dict[str, CourseError | None] = {}
    for name, folder in copies.items():
        found[name] = None
        try:
            with ShardSet.open(folder) as shards:
                for _ in shards.iterate():
                    pass
        except CourseError as error:
            found[name] = error
    return found


def _some(source: ArraySource, count: int) -> ArraySource:
    """Return samples from all over a source, which is often sorted by class."""
    return source.take(np.linspace(0, len(source) - 1, count).astype(np.int64))


def _with_strays(own: ArraySource, strays: ArraySource) -> ArraySource:
    kept = own.take(np.arange(len(strays), len(own)))
    both = blob_source(
        [source.payload(at) for source in (kept, strays) for at in range(len(source))],
        [name.decode() for source in (kept, strays) for name in source.ids.tolist()],
        np.concatenate([kept.labels, strays.labels]),
        dataset=own.facts.dataset,
        class_names=own.facts.class_names,
        extension=own.facts.extension,
        split=own.facts.split,
    )
    return replace(both, facts=own.facts)


def _pixels(payload: bytes) -> NDArray[np.uint8] | None:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(payload)) as image:
            return np.asarray(image.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return None


def _end_bytes(path: Path) -> int:
    """Return how many bytes after its last record an archive has."""
    with tarfile.open(path) as archive:
        last = archive.getmembers()[-1]
    return path.stat().st_size - (last.offset_data + 512)


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    archive.addfile(member, io.BytesIO(content))
