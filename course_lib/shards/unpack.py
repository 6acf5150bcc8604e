"""Unpacking a shard set into one folder for each class, every record verified, whole or not at all."""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.files import folder_published_whole
from course_lib.shards.format import ShardSetManifest, open_index, read_manifest
from course_lib.shards.scanning import OpenShard


def unpack_shards(folder: Path | str, out: Path | str, *, progress: bool = False) -> Path:
    """Write each payload of a shard set to ``<out>/<class>/<id>.<extension>``.

    Parameters
    ----------
    folder : Path
        The shard set.
    out : Path
        A folder that is not there yet.
    progress : bool, optional
        Show a bar.

    Returns
    -------
    Path
        The new folder.

    Raises
    ------
    CourseError
        When a record is damaged or missing (nothing is left behind), the folder is there already, or the
        disk does not take the files.
    """
    from tqdm import tqdm

    folder, out = Path(folder), Path(out)
    if out.exists():
        raise CourseError(
            f"{out} is there already", expected="a folder to be made", next_step="choose another one"
        )
    manifest = read_manifest(folder)
    rows = open_index(folder, manifest)
    classes = class_folders(manifest)
    with folder_published_whole(out) as aside:
        for name in classes:
            (aside / name).mkdir()
        bar = tqdm(
            total=len(rows),
            desc=f"Unpacking {manifest.title}",
            unit="sample",
            disable=not progress,
            leave=False,
            file=sys.stdout,
        )
        with bar:
            for number in range(len(manifest.shards)):
                own = rows[np.flatnonzero(rows["shard"] == number)]
                _unpack_one(folder, manifest, number, own, aside, classes)
                bar.update(len(own))
    return out


def class_folders(manifest: ShardSetManifest) -> list[str]:
    """Return a folder name for each class: ``Sci-Tech`` for ``Sci/Tech``.

    Raises
    ------
    CourseError
        When two classes would share a folder.
    """
    names = [re.sub(r"[^\w-]+", "-", name).strip("-") or "unnamed" for name in manifest.class_names]
    (name, count), *_ = Counter(name.casefold() for name in names).most_common(1)
    if count > 1:
        raise CourseError(
            f"Two classes of {manifest.title} would share one folder",
            expected="class names that differ in letters and digits",
            found=name,
        )
    return names


def _unpack_one(
    folder: Path,
    manifest: ShardSetManifest,
    number: int,
    rows: NDArray[Any],
    aside: Path,
    classes: list[str],
) -> None:
    shard = manifest.shards[number]
    with OpenShard(folder / shard.name) as content:
        for row in rows:
            offset, extent = int(row["offset"]), int(row["extent"])
            name = row["id"].decode("utf-8")
            with content[offset : offset + extent] as record:
                whole = len(record) == extent and xxhash.xxh3_64_intdigest(record) == int(row["check"])
            if not whole:
                raise CourseError(
                    f"Sample {name} in shard {shard.name} is damaged",
                    expected="the bytes that were packed",
                    found="other bytes" if offset + extent <= len(content) else "a shard that is cut short",
                    next_step="mend the set with `course shards repair`, and unpack it again",
                )
            start = int(row["start"])
            target = aside / classes[int(row["label"])] / f"{name}.{manifest.extension}"
            with content[start : start + int(row["length"])] as payload:
                target.write_bytes(payload)
