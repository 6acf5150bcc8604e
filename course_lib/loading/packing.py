"""Packing the samples of a loader into a shard set of the course's home, once."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.datasets.downloads import need_disk_space, one_process_at_a_time
from course_lib.errors import CourseError
from course_lib.files import folder_published_whole
from course_lib.loading.conditions import LoaderConditions
from course_lib.loading.samples import LoadedSamples
from course_lib.loading.sharded import ShardSamples, damaged_set
from course_lib.manifests import load_manifest
from course_lib.paths import course_home
from course_lib.shards import ShardSet, ShardSetManifest, pack
from course_lib.shards.payloads import ArraySource, FileSource, SetFacts, StoreSource

UNLABELLED = "unlabelled"
"""The one class of a folder of the reader's own."""


def sharded(files: LoadedSamples, conditions: LoaderConditions, *, progress: bool = False) -> ShardSamples:
    """Return samples of the shard set in the course's home that holds them; it is packed where there is none.

    The set is packed aside, read back, and moved to its place whole; later calls find it there. Its name
    carries a digest of what it was packed from, so that a changed file makes a new set.

    Parameters
    ----------
    files : LoadedSamples
        The samples as files.
    conditions : LoaderConditions
        Of the same samples.
    progress : bool, optional
        Show a bar while they are packed.

    Raises
    ------
    CourseError
        When a file is missing or damaged, the disk is full, or the set that is there is damaged.
    """
    folder = set_folder(files, conditions)
    if not folder.is_dir():
        lock = folder.parent / f".{folder.name}.lock"
        with one_process_at_a_time(lock, "packing the samples into shards", progress=progress):
            if not folder.is_dir():
                with folder_published_whole(folder) as aside:
                    pack_samples(files, conditions, aside, progress=progress)
                    _check_packed(files, aside, folder)
    try:
        return ShardSamples(files, ShardSet.open(folder), conditions)
    except CourseError as error:
        raise damaged_set(folder, str(error).rstrip(".")) from error


def set_folder(files: LoadedSamples, conditions: LoaderConditions) -> Path:
    """Return where the shard set of these samples is kept, in the course's home."""
    name = "folder" if conditions.path else f"{conditions.data}-{conditions.part}"
    key = hashlib.sha256()
    for column in (files.ids, files.labels, files.names, files.versions()):
        key.update(np.ascontiguousarray(column).data)
    target = conditions.shard_target_bytes
    parts = (name, len(files), conditions.seed, target, key.hexdigest()[:12])
    return course_home() / "shards" / "-".join(map(str, parts))


def pack_samples(
    files: LoadedSamples,
    conditions: LoaderConditions,
    folder: Path,
    *,
    as_set: bool = False,
    progress: bool = False,
) -> ShardSetManifest:
    """Pack samples into an empty folder, each file checked against its checksum where that is known.

    Parameters
    ----------
    files : LoadedSamples
    conditions : LoaderConditions
        Their part and seed, and most bytes of a shard.
    folder : Path
    as_set : bool, optional
        Read the files through the store that they are loaded from, with what is set for it.
    progress : bool, optional
        Show a bar.

    Raises
    ------
    CourseError
        When a file is missing or damaged (read as set: only when it is missing), or the disk is full.
    """
    endings = {name.rpartition(b".")[2].lower() for name in files.names.tolist()}
    facts = SetFacts(
        dataset="folder" if conditions.path else conditions.data,
        split=conditions.part,
        class_names=label_map_of(files),
        extension=endings.pop().decode() if len(endings) == 1 else "image",
        origin=files.origin.label() if files.origin is not None else "Data: a folder of one's own",
        id_kind="position in the sorted folder" if conditions.path else "name of the file",
    )
    assert files.folder is not None
    labels = files.labels.astype(np.int32)
    source: ArraySource
    if as_set:
        source = StoreSource(facts, files.ids, labels, files.store, files.names)
    else:
        source = _CheckedFiles(facts, files.ids, labels, str(files.folder), files.names, files.checksums)
    need_disk_space(folder, 4 * int(source.sizes().sum()))
    return pack(
        source,
        folder,
        target_bytes=conditions.shard_target_bytes,
        seed=conditions.seed,
        progress=progress,
    )


def label_map_of(samples: LoadedSamples) -> tuple[str, ...]:
    """Return the class names in the order of the labels: the shard set's own, else the data manifest's."""
    if isinstance(samples, ShardSamples):
        names: tuple[str, ...] = samples.shard_set.manifest.class_names
        return names
    return (UNLABELLED,) if samples.origin is None else tuple(load_manifest(samples.origin.dataset).label_map)


@dataclass(frozen=True, eq=False, repr=False)
class _CheckedFiles(FileSource):
    """Files whose CRC-32 may be known: other bytes than these are never packed."""

    checksums: NDArray[np.uint32] | None

    def payloads(self, start: int, stop: int) -> Iterator[bytes]:
        """Yield the bytes of the files from ``start`` up to ``stop``."""
        for position, payload in enumerate(super().payloads(start, stop), start):
            if self.checksums is not None and zlib.crc32(payload) != self.checksums[position]:
                raise self._unreadable(position, "other bytes than were written")
            yield payload

    def take(self, positions: NDArray[np.integer[Any]]) -> _CheckedFiles:
        """Return a source of these samples alone, in this order."""
        checksums = None if self.checksums is None else self.checksums[positions]
        return self._taken(positions, names=self.names[positions], checksums=checksums)


def _check_packed(files: LoadedSamples, aside: Path, folder: Path) -> None:
    """Read a new set back, each record against its file's checksum where that is known."""
    with ShardSet.open(aside) as shard_set:
        known = None
        if files.checksums is not None:
            known = np.empty(len(files), dtype=np.uint32)
            known[shard_set.positions_of(files.sample_ids(range(len(files))))] = files.checksums
        for at, (identifier, payload, _) in enumerate(shard_set.iterate()):
            if known is not None and zlib.crc32(payload) != known[at]:
                raise damaged_set(folder, f"other bytes of sample {identifier}")
