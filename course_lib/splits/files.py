"""Split manifests: ``samples.csv`` and ``split.json``, the proof of which sample was where.

The digest of a manifest is explained in `course_lib.splits.entries`. The digest of the data is the SHA-256 of
``samples.csv`` without its column ``split``.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.files import cannot_write, folder_published_whole
from course_lib.splits.entries import SAMPLES_FILE, SCHEMA_VERSION, SPLIT_FILE, digest_of, read_split_json
from course_lib.splits.given import need_line, need_type
from course_lib.splits.lines import (
    Columns,
    column_names,
    not_a_manifest,
    read_columns,
    sha256_as_written,
    sha256_of_lines,
    write_lines,
)
from course_lib.splits.making import Split, positions_of
from course_lib.splits.recipe import Recipe, parse_recipe
from course_lib.splits.samples import SampleTable


@dataclass(frozen=True, eq=False, repr=False)
class SplitManifest:
    """A split as it stands in a folder; all columns are sorted by the bytes of the ids.

    Attributes
    ----------
    folder : Path
        Where it was read from.
    dataset, variant, id_kind : str
        As in the sample table.
    recipe : Recipe
        How the split was made.
    digest : str
        64 hexadecimal digits over the contents: recipe, counts, ids, splits, groups and sample digests.
    data_digest : str
        64 hexadecimal digits over ids, groups and sample digests: the same for every split of the same data.
    ids : pyarrow.Array of string, length n
    codes : ndarray of int8, shape (n,)
        Place of each sample's split in ``names``.
    groups : pyarrow.Array of string, length n, or None
    sample_digests : ndarray of uint8, shape (n, 32), or None
        SHA-256 of each sample's content with its label; None where the contents were not digested.
    counts : dict
        Number of samples by split and class name.
    notes : tuple of str
        As in `Split`; they are not under the digest.
    origin : str
        Where the data came from, in words ("" where nobody said); not under the digest either.
    """

    folder: Path
    dataset: str
    variant: str
    id_kind: str
    recipe: Recipe
    digest: str
    data_digest: str
    ids: pa.Array
    codes: NDArray[np.int8]
    groups: pa.Array | None
    sample_digests: NDArray[np.uint8] | None
    counts: dict[str, dict[str, int]]
    notes: tuple[str, ...] = ()
    origin: str = ""

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"SplitManifest({self.title}, {self.recipe}, {len(self):,} samples, digest {self.digest[:12]})"

    @property
    def title(self) -> str:
        """Return the name that errors and tables use, such as ``bank_marketing (full)``."""
        return f"{self.dataset} ({self.variant})" if self.variant else self.dataset

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the splits; a code is a place in them."""
        return self.recipe.names

    def positions(self, name: str) -> NDArray[np.int64]:
        """Return the places of a split's samples in the columns, ascending."""
        return positions_of(self.names, self.codes, name)

    def ids_of(self, name: str) -> pa.Array:
        """Return the ids of a split's samples, sorted by their bytes."""
        return self.ids.take(pa.array(self.positions(name)))


def write_split(split: Split, folder: Path, *, origin: str = "") -> SplitManifest:
    """Write ``samples.csv`` and ``split.json`` into a new folder, whole or not at all.

    The bytes are read back and their digest is compared. A folder that holds this very split already is left
    as it is.

    Parameters
    ----------
    split : Split
    folder : Path
        New or empty, or with this very split in it.
    origin : str, optional
        Where the data came from, in one line of words; kept beside the split, not under its digest.

    Returns
    -------
    SplitManifest

    Raises
    ------
    CourseError
        When the folder holds something else, or cannot be written.
    """
    need_type(split, Split, "A split", "make one first: make_split(samples, recipe)")
    need_line(origin, "The origin of the data of a split")
    folder = Path(folder)
    _need_free_folder(folder)
    with folder_published_whole(folder) as aside:
        content, columns = _written(split, aside, origin)
    there = read_split_json(folder)
    _verify_digest(there, folder)
    if there["digest"] != content["digest"]:
        raise CourseError(
            f"{folder} holds another split already",
            expected=f"the digest {content['digest'][:12]}...",
            found=f"{there['digest'][:12]}...",
            next_step="choose another folder, or look at both with `course split diff`",
        )
    return _manifest(folder, there, split.recipe, columns)


def read_split(folder: Path, *, trust: bool = False) -> SplitManifest:
    """Read a split manifest and verify its digest.

    Parameters
    ----------
    folder : Path
        With ``samples.csv`` and ``split.json``.
    trust : bool, optional
        Read it although it was edited: for tools that look into such files. Then ``digest`` is what the file
        says, true or not.

    Returns
    -------
    SplitManifest

    Raises
    ------
    CourseError
        When a file is missing, is no manifest, or is not as it was written: the file is named.
    """
    folder = Path(folder)
    content = read_split_json(folder)
    samples_path = folder / SAMPLES_FILE
    recipe = _recipe_in(content, folder)
    if not trust:
        _verify_digest(content, folder)
        if content["seed"] != recipe.seed:
            raise not_a_manifest(
                folder / SPLIT_FILE, f"a seed that is not the recipe's, which is {recipe.seed}"
            )
    columns = read_columns(samples_path, recipe.names, trust=trust)
    counted = np.bincount(columns.codes, minlength=len(recipe.names)).tolist()
    said = [sum(classes.values()) for classes in content["counts"].values()]
    if not trust and counted != said:
        raise not_a_manifest(folder / SPLIT_FILE, "class counts that are not those of samples.csv")
    return _manifest(folder, content, recipe, columns)


def _manifest(folder: Path, content: Mapping[str, Any], recipe: Recipe, columns: Columns) -> SplitManifest:
    return SplitManifest(
        folder=folder,
        dataset=content["dataset"],
        variant=content["variant"],
        id_kind=content["id_kind"],
        recipe=recipe,
        digest=content["digest"],
        data_digest=content["data_sha256"],
        ids=columns.ids,
        codes=columns.codes,
        groups=columns.groups,
        sample_digests=columns.sample_digests,
        counts=content["counts"],
        notes=tuple(content["notes"]),
        origin=content["origin"],
    )


def digest_as_written(manifest: SplitManifest) -> str:
    """Return the digest that a manifest with these columns, counts and recipe has when it is written.

    It is another one than ``manifest.digest`` where somebody edited the files and computed a digest anew, but
    left lines, a seed or a digest of the data that `write_split` does not write.
    """
    columns = Columns(manifest.ids, manifest.codes, manifest.groups, manifest.sample_digests)
    digests = sha256_as_written(columns, manifest.names)
    return digest_of(_entries(manifest, columns, manifest.counts, manifest.recipe, digests))


def _entries(
    of: SampleTable | SplitManifest,
    columns: Columns,
    counts: dict[str, dict[str, int]],
    recipe: Recipe,
    digests: tuple[str, str],
) -> dict[str, Any]:
    """Return what a ``split.json`` has under its digest, and the columns; their order is that in the file."""
    samples_sha256, data_sha256 = digests
    return {
        "schema_version": SCHEMA_VERSION,
        "dataset": of.dataset,
        "variant": of.variant,
        "recipe": str(recipe),
        "seed": recipe.seed,
        "splits": list(recipe.names),
        "columns": column_names(columns.groups is not None, columns.sample_digests is not None),
        "counts": counts,
        "samples_sha256": samples_sha256,
        "data_sha256": data_sha256,
    }


def _written(split: Split, folder: Path, origin: str) -> tuple[dict[str, Any], Columns]:
    """Write both files into a folder that nobody reads yet; return what they say."""
    with (folder / SAMPLES_FILE).open("wb") as file:
        columns, *digests = write_lines(split, file)
        _to_disk(file)
    content = _entries(split.samples, columns, split.counts(), split.recipe, (digests[0], digests[1]))
    content |= {
        "digest": digest_of(content),
        "id_kind": split.samples.id_kind,
        "origin": origin,
        "notes": list(split.notes),
    }
    with (folder / SPLIT_FILE).open("wb") as file:
        file.write((json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode("utf-8"))
        _to_disk(file)
    return content, columns


def _to_disk(file: Any) -> None:
    file.flush()
    os.fsync(file.fileno())


def _need_free_folder(folder: Path) -> None:
    """Remove an empty folder, which could not be replaced everywhere; refuse one with other things in it."""
    try:
        if not folder.exists():
            return
        if not folder.is_dir() or (any(folder.iterdir()) and not (folder / SPLIT_FILE).exists()):
            raise CourseError(
                f"{folder} holds other things than a split",
                expected="a new or an empty folder",
                next_step="choose another one",
            )
        if not (folder / SPLIT_FILE).exists():
            with contextlib.suppress(FileNotFoundError):
                folder.rmdir()
    except OSError as error:
        raise cannot_write(folder, error) from error


def _verify_digest(content: dict[str, Any], folder: Path) -> None:
    samples_path = folder / SAMPLES_FILE
    try:
        found, with_line_feeds = sha256_of_lines(samples_path)
    except OSError as error:
        raise not_a_manifest(samples_path, error.strerror or "no such file") from error
    if found != content["samples_sha256"]:
        line_ends_only = with_line_feeds == content["samples_sha256"]
        raise CourseError(
            f"{samples_path} is not as it was written",
            expected=f"sha256 {content['samples_sha256'][:12]}...",
            found="other line endings (CRLF)" if line_ends_only else f"{found[:12]}...",
            next_step="restore the line feeds; bytes are bytes"
            if line_ends_only
            else "restore it, or make the split anew in a fresh folder",
        )
    if digest_of(content) != content["digest"]:
        raise CourseError(
            f"{folder / SPLIT_FILE} is not as it was written",
            expected=f"the digest {content['digest'][:12]}...",
            found=f"{digest_of(content)[:12]}...",
            next_step="restore it, or make the split anew in a fresh folder",
        )


def _recipe_in(content: dict[str, Any], folder: Path) -> Recipe:
    try:
        return parse_recipe(content["recipe"], names=content["splits"])
    except CourseError as error:
        raise not_a_manifest(folder / SPLIT_FILE, error.what) from error
