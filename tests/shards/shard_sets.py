"""Small made-up sources and shard sets for the tests of packing, verifying and repairing."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from course_lib.shards.payloads import BlobSource
from course_lib.shards.plain_sources import blob_source

CLASSES = ("cat", "dog", "sheep")


def made_source(
    count: int = 60,
    *,
    split: str = "train",
    seed: int = 5,
    size: int = 900,
    classes: tuple[str, ...] = CLASSES,
) -> BlobSource:
    """Return samples with payloads of random bytes and lengths around ``size``, sorted by class."""
    random = np.random.default_rng(seed)
    payloads = [random.bytes(int(random.integers(0, 2 * size))) for _ in range(count)]
    labels = np.sort(np.arange(count) % len(classes))
    ids = [f"{split or 'any'}-{label}-{place:05d}" for place, label in enumerate(labels)]
    return blob_source(
        payloads,
        ids,
        labels,
        dataset="animals",
        class_names=classes,
        extension="bin",
        split=split,
        origin="Data: animals, generated from seed 5",
    )


def bytes_of(folder: Path) -> dict[str, bytes]:
    """Return the visible files of a folder and their bytes."""
    return {
        path.name: path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.startswith(".")
    }
