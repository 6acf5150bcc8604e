"""Tar shards that another tool wrote, such as WebDataset's ShardWriter: an index and a manifest for them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import xxhash
from numpy.typing import NDArray

from course_lib import __version__
from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.shards.format import (
    INDEX_FILE,
    LABEL_EXTENSION,
    MANIFEST_FILE,
    IndexFile,
    ShardFile,
    ShardSetManifest,
    index_bytes,
    index_dtype,
)
from course_lib.shards.scanning import DamagedArchiveError, OpenShard, Sample, samples
from course_lib.shards.targets import file_digests
from course_lib.splits.ids import checked_ids

NOTE = "Indexed, not packed, by the workbook: damage from before is not in the checksums."
_ORDER = "as it was found"


class _Found(NamedTuple):
    ids: list[bytes]
    rows: list[tuple[int, ...]]
    extensions: set[bytes]


def index_foreign(
    folder: Path | str,
    *,
    split: str,
    dataset: str | None = None,
    class_names: Sequence[str] | None = None,
    extension: str | None = None,
    origin: str = "",
) -> ShardSetManifest:
    """Index the tar shards of a folder in place, so that they can be read, verified and unpacked as a set.

    The shards stay as they are; ``index.npy`` and ``shards.json`` are added. A label is the text of the
    ``cls`` member.

    Parameters
    ----------
    folder : Path
        With ``*.tar`` files and no ``shards.json``.
    split : str
        Which split the samples are.
    dataset : str, optional
        Name; the folder's where left out.
    class_names : sequence of str, optional
        The label map; without it ``class 0``, ``class 1``, ...
    extension : str, optional
        Which member is the payload, where samples have more than one beside the label.
    origin : str, optional
        Where the data came from, in words.

    Raises
    ------
    CourseError
        When there are no shards, one is empty or damaged, a sample has no label or no payload, an id comes
        twice (or its members stand apart), cannot be used, or the folder is a set already.
    """
    folder = Path(folder)
    paths = sorted(folder.glob("*.tar")) if folder.is_dir() else []
    if (folder / MANIFEST_FILE).exists() or not paths:
        raise CourseError(
            f"{folder} cannot be indexed",
            expected="*.tar shards of another tool",
            found=f"{MANIFEST_FILE}, a set already" if paths else "none",
            next_step=f"open it as it is; to index it anew, delete {MANIFEST_FILE} and {INDEX_FILE} first"
            if paths
            else "name the folder of the shards; unpack .tar.gz files first",
        )
    found = [_scanned(path, number, extension) for number, path in enumerate(paths)]
    kinds = set().union(*(shard.extensions for shard in found))
    if len(kinds) != 1:
        raise CourseError(
            f"The samples in {folder} have payloads of several kinds",
            expected="one",
            found=", ".join(sorted(_text(kind) for kind in kinds)),
            next_step="say which one is the payload: extension='jpg'",
        )
    ids = [sample_id for shard in found for sample_id in shard.ids]
    checked_ids(pa.array([_text(sample_id) for sample_id in ids]), f"the shards in {folder}")
    rows = np.zeros(len(ids), dtype=index_dtype(max(map(len, ids))))
    rows["id"] = ids
    columns = np.array([row for shard in found for row in shard.rows], dtype=np.uint64).T
    for name, column in zip(rows.dtype.names[1:], columns, strict=True):
        rows[name] = column
    names = _classes(rows["label"], class_names, folder)
    return _published(folder, paths, found, rows, names, _text(kinds.pop()), split, dataset, origin)


def _scanned(path: Path, number: int, extension: str | None) -> _Found:
    found = _Found([], [], set())
    with OpenShard(path) as content:
        try:
            for sample in samples(content):
                kind, label = _payload_and_label(sample, content, path, extension)
                payload = sample.members[kind]
                record = content[sample.offset : sample.end]
                check = xxhash.xxh3_64_intdigest(record)
                record.release()
                found.ids.append(sample.key)
                found.extensions.add(kind)
                found.rows.append(
                    (
                        label,
                        number,
                        sample.offset,
                        payload.length,
                        payload.start,
                        sample.end - sample.offset,
                        check,
                    )
                )
        except DamagedArchiveError as error:
            last = f"after sample {_text(found.ids[-1])}" if found.ids else "before the first sample"
            raise CourseError(
                f"{path} cannot be indexed",
                expected="a whole tar archive",
                found=f"{error.why}, {last}",
                next_step="get a whole copy, or write it anew and close the writer",
            ) from error
    if not found.ids:
        raise CourseError(f"{path} is an empty shard", next_step="remove it")
    return found


def _payload_and_label(
    sample: Sample, content: memoryview, path: Path, extension: str | None
) -> tuple[bytes, int]:
    label = sample.members.get(LABEL_EXTENSION.encode())
    kinds = [kind for kind in sample.members if kind != LABEL_EXTENSION.encode()]
    if extension is not None:
        kinds = [kind for kind in kinds if kind == extension.lower().encode()]
    if label is None or len(kinds) != 1:
        has = ", ".join(sorted(_text(kind) for kind in sample.members))
        raise CourseError(
            f"Sample {_text(sample.key)} in {path} is not complete",
            expected="one payload and a label in a member .cls, side by side",
            found=f"members {has}",
            next_step="say which member is the payload with `extension`, or write the shard anew",
        )
    text = bytes(content[label.start : label.start + label.length]).strip()
    if not text.isdigit():
        raise CourseError(
            f"The label of sample {_text(sample.key)} in {path} is no number",
            expected="such as 3",
            found=text,
        )
    return kinds[0], int(text)


def _classes(labels: NDArray[np.int32], names: Sequence[str] | None, folder: Path) -> tuple[str, ...]:
    if names is None:
        return tuple(f"class {code}" for code in range(int(labels.max()) + 1))
    if int(labels.max()) >= len(names):
        raise CourseError(
            f"A label in {folder} is outside the label map",
            expected=f"0 to {len(names) - 1}",
            found=int(labels.max()),
            next_step="name all classes",
        )
    return tuple(names)


def _published(
    folder: Path,
    paths: list[Path],
    found: list[_Found],
    rows: NDArray[Any],
    class_names: tuple[str, ...],
    extension: str,
    split: str,
    dataset: str | None,
    origin: str,
) -> ShardSetManifest:
    shards = []
    for path, shard in zip(paths, found, strict=True):
        digests = file_digests(path)
        shards.append(ShardFile(path.name, digests.bytes, len(shard.ids), digests.sha256, digests.xxh3))
    write_atomically(folder / INDEX_FILE, index_bytes([rows]))
    digests = file_digests(folder / INDEX_FILE)
    manifest = ShardSetManifest(
        dataset=dataset or folder.resolve().name,
        variant="",
        split=split,
        split_digest="",
        data_digest="",
        origin=origin,
        id_kind="key in the shard",
        class_names=class_names,
        extension=extension,
        recipe={"order": _ORDER},
        plan_digest=hashlib.sha256(rows.tobytes()).hexdigest(),
        code_version=__version__,
        shards=tuple(shards),
        index=IndexFile(INDEX_FILE, digests.bytes, digests.sha256, digests.xxh3, len(rows)),
        samples=len(rows),
        payload_bytes=int(rows["length"].sum()),
        notes=(NOTE,),
    ).sealed()
    write_atomically(folder / MANIFEST_FILE, manifest.as_json())
    return manifest


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")
