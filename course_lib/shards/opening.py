"""Opening a shard set: its manifest and index verified, its shards looked at."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.format import (
    MANIFEST_FILE,
    ShardSetManifest,
    manifest_from_json,
    open_index,
    read_manifest,
)
from course_lib.shards.shard_files import ShardFiles, ShardTrouble

if TYPE_CHECKING:
    from course_lib.stores import Store


@dataclass(frozen=True)
class OpenedSet:
    """What reading needs to know of a set.

    Attributes
    ----------
    manifest : ShardSetManifest
    rows : ndarray, shape (samples,)
        The index, see ``format.index_dtype``.
    bounds : ndarray of int64, shape (shards + 1,)
        Shard ``n`` holds the rows from ``bounds[n]`` to before ``bounds[n + 1]``.
    """

    manifest: ShardSetManifest
    rows: NDArray[Any]
    bounds: NDArray[np.int64]


def open_set(place: Path | Store, *, strict: bool, wanted: tuple[str | None, str | None]) -> OpenedSet:
    """Open and verify manifest and index, and look at the shards.

    Parameters
    ----------
    place : Path or Store
    strict : bool
        Refuse missing shards, shards too many and those of another length.
    wanted : tuple of str or None
        Name of the split and digest of the split manifest that the set must carry.

    Raises
    ------
    CourseError
        With the file, shard and sample concerned.
    """
    if isinstance(place, Path):
        manifest = read_manifest(place)
        # A plain view: NumPy's own class for mappings makes every slice dearer.
        rows = np.asarray(open_index(place, manifest))
        title = str(place)
    else:
        manifest = manifest_from_json(place.read(MANIFEST_FILE), MANIFEST_FILE)
        rows = _index_from(place, manifest)
        title = manifest.title
    _need_split(manifest, title, *wanted)
    bounds = np.zeros(len(manifest.shards) + 1, dtype=np.int64)
    np.cumsum([shard.samples for shard in manifest.shards], out=bounds[1:])
    if bounds[-1] != len(rows) or (np.diff(bounds) < 1).any():
        raise CourseError(
            f"The index of {title} does not belong to its shards",
            expected=f"{int(bounds[-1]):,} rows, at least one for each shard",
            found=f"{len(rows):,}",
            next_step="run `course shards verify` on the set",
        )
    opened = OpenedSet(manifest, rows, bounds)
    if strict:
        _need_whole(opened, title, *ShardFiles(place, manifest, lambda _: None).listed())
    return opened


def _need_split(manifest: ShardSetManifest, title: str, split: str | None, digest: str | None) -> None:
    if split is not None and manifest.split != split:
        raise CourseError(
            f"{title} holds another split",
            expected=split,
            found=manifest.split,
            next_step="open the set of that split",
        )
    if digest is not None and manifest.split_digest != digest:
        raise CourseError(
            f"{title} was packed from another split manifest",
            expected=f"the digest {digest[:12]}...",
            found=f"{manifest.split_digest[:12]}..." if manifest.split_digest else "none",
            next_step="pack it from this split manifest",
        )


def _need_whole(opened: OpenedSet, title: str, troubles: list[ShardTrouble], extras: list[str]) -> None:
    if troubles:
        first = troubles[0]
        shard = opened.manifest.shards[first.number]
        others = f", and {len(troubles) - 1:,} more shards are not whole" if len(troubles) > 1 else ""
        raise CourseError(
            f"Shard {shard.name} of {title} {first.reason}{others}",
            expected=f"{shard.bytes:,} bytes with {shard.samples:,} samples",
            found=_what_is_lost(opened, first),
            next_step="run `course shards repair`, or open it with strict=False and look at its coverage",
        )
    if extras:
        raise CourseError(
            f"{title} holds a shard that its manifest does not know",
            expected=f"{len(opened.manifest.shards):,} shards",
            found=extras[0] + (f" and {len(extras) - 1:,} more" if len(extras) > 1 else ""),
            next_step="move it away, or pack the set anew in a folder of its own",
        )


def _what_is_lost(opened: OpenedSet, trouble: ShardTrouble) -> str:
    rows = opened.rows[opened.bounds[trouble.number] : opened.bounds[trouble.number + 1]]
    there = trouble.bytes or 0
    lost = np.flatnonzero(rows["offset"] + rows["extent"] > there)
    if not len(lost):
        return "every sample, but another end of the archive"
    samples = "sample" if len(lost) == 1 else "samples"
    return f"{len(lost):,} {samples} lost, the first is {rows['id'][lost[0]].decode()}"


def _index_from(store: Store, manifest: ShardSetManifest) -> NDArray[Any]:
    content = store.read(manifest.index.name)
    if (found := xxhash.xxh3_64_hexdigest(content)) != manifest.index.xxh3:
        raise CourseError(
            f"The index {manifest.index.name} of {manifest.title} is damaged",
            expected=f"XXH3 {manifest.index.xxh3}",
            found=found,
            next_step="restore it with `course shards repair`",
        )
    rows: NDArray[Any] = np.load(io.BytesIO(content), allow_pickle=False)
    return rows
