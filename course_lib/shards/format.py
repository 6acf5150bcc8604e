"""What a shard set is on disk: names of its files, its manifest, its index, and the bytes of a record.

A set is one folder, or one prefix of a store, for one split: ``shards.json`` (the shard manifest, published
last), ``index.npy`` (one row for each sample in pack order, read through a memory map) and the shards: plain
tar archives that WebDataset readers open, each sample as ``<id>.<extension>`` followed by ``<id>.cls``.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.tar import BLOCK, header_lengths, member_header, padded

SCHEMA_VERSION = 1
MANIFEST_FILE, INDEX_FILE = "shards.json", "index.npy"
WORK_FOLDER = ".packing"
CHECKSUM = "xxh3-64"
ORDER = "seeded permutation"
LABEL_EXTENSION = "cls"
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class ShardFile:
    """One shard as the manifest describes it.

    Attributes
    ----------
    name : str
        File name in the set's folder.
    bytes, samples : int
        Length of the file, and how many records are in it.
    sha256 : str
        64 hexadecimal digits over the whole file.
    xxh3 : str
        XXH3 (64 bits) over the whole file, 16 hexadecimal digits: the quick check of a reader.
    """

    name: str
    bytes: int
    samples: int
    sha256: str
    xxh3: str


@dataclass(frozen=True)
class IndexFile:
    """The index as the manifest describes it; ``rows`` is the number of samples."""

    name: str
    bytes: int
    sha256: str
    xxh3: str
    rows: int


@dataclass(frozen=True)
class ShardSetManifest:
    """What is in a shard set, and the digests that prove it.

    Attributes
    ----------
    dataset, variant, split : str
        What the samples are; ``split`` is the one split that the set holds.
    split_digest, data_digest : str
        Digests of the split manifest and of its data; "" where the samples came without one.
    origin : str
        Where the data came from, in one line of words.
    id_kind : str
        What an id is made from.
    class_names : tuple of str
        The label map: a label is a place in it.
    extension : str
        Of the payload members, such as ``jpg``, without a dot.
    recipe : dict
        ``seed``, ``target_bytes`` or ``target_samples``, and ``order``.
    plan_digest : str
        Digest of the ids, labels, payload lengths and recipe: what the same input is known by.
    code_version : str
        Version of the code that packed it.
    checksum : str
        Name of the quick checksum: "xxh3-64".
    shards : tuple of ShardFile
        In the order of their numbers; the index refers to places in this tuple.
    index : IndexFile
    samples, payload_bytes : int
        Totals over all shards; payloads are counted without tar headers, padding and labels.
    digest : str
        SHA-256 of the canonical JSON of all other entries.
    schema_version : int
    """

    dataset: str
    variant: str
    split: str
    split_digest: str
    data_digest: str
    origin: str
    id_kind: str
    class_names: tuple[str, ...]
    extension: str
    recipe: dict[str, Any]
    plan_digest: str
    code_version: str
    shards: tuple[ShardFile, ...]
    index: IndexFile
    samples: int
    payload_bytes: int
    digest: str = ""
    checksum: str = CHECKSUM
    schema_version: int = SCHEMA_VERSION
    notes: tuple[str, ...] = field(default=())

    @property
    def title(self) -> str:
        """Return the name for errors and tables, such as ``cifar10 (jpeg), split train``."""
        name = f"{self.dataset} ({self.variant})" if self.variant else self.dataset
        return f"{name}, split {self.split}"

    @property
    def shard_bytes(self) -> int:
        """Return the bytes of all shards together."""
        return sum(shard.bytes for shard in self.shards)

    def as_json(self) -> bytes:
        """Return the bytes of ``shards.json``, with the digest as it has to be."""
        content = asdict(self)
        content["digest"] = manifest_digest(content)
        return (json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n").encode("utf-8")

    def sealed(self) -> ShardSetManifest:
        """Return the manifest with its digest filled in."""
        return manifest_from_json(self.as_json(), MANIFEST_FILE)


def manifest_digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a manifest's entries, all but ``digest``."""
    counted = {key: value for key, value in content.items() if key != "digest"}
    canonical = json.dumps(counted, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def read_manifest(folder: Path) -> ShardSetManifest:
    """Read ``shards.json`` and check its digest.

    Raises
    ------
    CourseError
        When the set is unfinished, the file is missing, damaged, or of a newer format version.
    """
    folder = Path(folder)
    path = folder / MANIFEST_FILE
    try:
        content = path.read_bytes()
    except OSError as error:
        raise _no_manifest(folder, error) from error
    return manifest_from_json(content, str(path))


def manifest_from_json(content: bytes, title: str) -> ShardSetManifest:
    """Return the manifest that these bytes of a ``shards.json`` hold.

    Raises
    ------
    CourseError
        When they are damaged or of another format version; ``title`` names the file.
    """
    try:
        entries = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _not_as_written(title, "no JSON in UTF-8") from error
    version = entries.get("schema_version") if isinstance(entries, dict) else None
    if type(version) is int and version > SCHEMA_VERSION:
        raise CourseError(
            f"{title} is from a newer version of the workbook",
            expected=f"schema_version {SCHEMA_VERSION}",
            found=version,
            next_step="update the workbook",
        )
    if type(version) is not int or version != SCHEMA_VERSION:
        raise _not_as_written(title, "no schema_version that this workbook knows")
    if entries.get("digest") != manifest_digest(entries):
        raise _not_as_written(title, f"the digest {manifest_digest(entries)[:12]}...")
    try:
        entries["shards"] = tuple(ShardFile(**shard) for shard in entries["shards"])
        entries["index"] = IndexFile(**entries["index"])
        entries["class_names"] = tuple(entries["class_names"])
        entries["notes"] = tuple(entries["notes"])
        return ShardSetManifest(**entries)
    except (KeyError, TypeError) as error:
        raise _not_as_written(title, "entries that are missing or of another type") from error


def index_dtype(id_bytes: int) -> np.dtype[Any]:
    """Return the type of an index row.

    Fields: ``id`` (UTF-8, padded with zeros), ``label``, ``shard`` (place in the manifest's list), ``offset``
    (of the record's first tar header), ``length`` (payload bytes), ``start`` (of the payload), ``extent``
    (bytes of the whole record) and ``check`` (XXH3, 64 bits, over the extent); all little-endian.

    Parameters
    ----------
    id_bytes : int
        Bytes of the longest id.
    """
    return np.dtype(
        [
            ("id", f"S{max(1, id_bytes)}"),
            ("label", "<i4"),
            ("shard", "<i4"),
            ("offset", "<i8"),
            ("length", "<i8"),
            ("start", "<i8"),
            ("extent", "<i8"),
            ("check", "<u8"),
        ]
    )


def index_bytes(rows: Sequence[NDArray[Any]]) -> bytes:
    """Return the bytes of ``index.npy`` for these rows."""
    content = io.BytesIO()
    np.lib.format.write_array(content, np.concatenate(rows), version=(1, 0), allow_pickle=False)
    return content.getvalue()


def open_index(folder: Path, manifest: ShardSetManifest, *, check: bool = True) -> NDArray[Any]:
    """Open the index through a memory map, after its bytes were checked by a plain chunked read.

    Raises
    ------
    CourseError
        When it is missing, damaged, or has other rows than the manifest says.
    """
    path = Path(folder) / manifest.index.name
    try:
        if path.stat().st_size != manifest.index.bytes:
            raise _damaged_index(path, f"{manifest.index.bytes:,} bytes", f"{path.stat().st_size:,}")
        if check and (found := xxh3_file(path)) != manifest.index.xxh3:
            raise _damaged_index(path, f"XXH3 {manifest.index.xxh3}", found)
        rows: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise _damaged_index(path, "an index", error.strerror or str(error)) from error
    except ValueError as error:
        raise _damaged_index(path, "an index", str(error)) from error
    if rows.ndim != 1 or len(rows) != manifest.index.rows or rows.dtype.names != index_dtype(1).names:
        raise _damaged_index(path, f"{manifest.index.rows:,} rows", f"{len(rows):,}")
    return rows


def xxh3_file(path: Path) -> str:
    """Return the XXH3 (64 bits) of a file's bytes as 16 hexadecimal digits, read in chunks."""
    state = xxhash.xxh3_64()
    buffer = bytearray(_CHUNK_BYTES)
    view = memoryview(buffer)
    with Path(path).open("rb", buffering=0) as file:
        while count := file.readinto(buffer):
            state.update(view[:count])
    return state.hexdigest()


def shard_name(split: str, number: int) -> str:
    """Return the file name of a shard, such as ``train-000000.tar``."""
    return f"{split}-{number:06d}.tar"


def record_head(sample_id: bytes, length: int, extension: bytes) -> bytes:
    """Return the bytes before a sample's payload of ``length`` bytes."""
    return member_header(b"%s.%s" % (sample_id, extension), length)


def record_tail(sample_id: bytes, label: int, length: int) -> bytes:
    """Return the bytes after a payload of ``length`` bytes: its padding and the member with the label."""
    text = b"%d" % label
    head = member_header(b"%s.%s" % (sample_id, LABEL_EXTENSION.encode()), len(text))
    return bytes(-length % BLOCK) + head + text.ljust(BLOCK, b"\0")


def record_bytes(payload_length: int, *, id_length: int = 0, extension_length: int = 3) -> int:
    """Return the bytes that one sample takes in a shard: two headers, the padded payload, the label.

    Examples
    --------
    >>> record_bytes(40_000)
    41984
    """
    lengths = record_extents(np.array([payload_length]), np.array([id_length]), extension_length)
    return int(lengths[0])


def record_extents(
    payload_lengths: NDArray[np.int64], id_lengths: NDArray[np.int64], extension_length: int
) -> NDArray[np.int64]:
    """Return the bytes that each sample takes in a shard."""
    payload_heads = header_lengths(id_lengths + 1 + extension_length)
    label_heads = header_lengths(id_lengths + 1 + len(LABEL_EXTENSION))
    blocks = -(-payload_lengths.astype(np.int64) // BLOCK) * BLOCK
    extents: NDArray[np.int64] = payload_heads + blocks + label_heads + padded(1)
    return extents


def _no_manifest(folder: Path, error: OSError) -> CourseError:
    if (folder / WORK_FOLDER).is_dir():
        return CourseError(
            f"The shard set in {folder} is not finished",
            expected=f"{MANIFEST_FILE}, which is published last",
            found="a pack that was interrupted, or one still at work",
            next_step="run the same `course pack` again, which goes on where it stopped",
        )
    if (folder / INDEX_FILE).is_file() or not isinstance(error, (FileNotFoundError, NotADirectoryError)):
        return CourseError(
            f"The shard set in {folder} has lost its {MANIFEST_FILE}",
            expected=f"{MANIFEST_FILE}, as it was written",
            found=error.strerror or str(error),
            next_step="restore that file, or pack the set anew in a fresh folder",
        )
    return CourseError(
        f"{folder} holds no shard set",
        expected=MANIFEST_FILE,
        found=error.strerror or str(error),
        next_step="name the folder that `course pack` wrote",
    )


def _not_as_written(title: str, found: str) -> CourseError:
    return CourseError(
        f"{title} is not as it was written",
        expected="a shard manifest with its own digest",
        found=found,
        next_step="restore it, or pack the set anew in a fresh folder",
    )


def _damaged_index(path: Path, expected: str, found: str) -> CourseError:
    return CourseError(
        f"The index {path} is damaged or missing",
        expected=expected,
        found=found,
        next_step="restore it with `course shards repair`",
    )
