"""Shared by the tests of loading: a small folder of images, and conditions that read it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from course_lib.loading import LoaderConditions


@pytest.fixture
def image_folder(tmp_path: Path) -> Path:
    """Return a folder of 48 PNG images of 12 x 12 in two folders, and of things that are no images."""
    folder = tmp_path / "images"
    noise = np.random.default_rng(5)
    for at in range(48):
        path = folder / ("a" if at % 2 else "b") / f"{at:03d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(noise.integers(0, 256, (12, 12, 3), dtype=np.uint8)).save(path)
    (folder / "notes.txt").write_text("no image", encoding="utf-8")
    (folder / ".ipynb_checkpoints").mkdir()
    (folder / ".ipynb_checkpoints" / "000.png").write_bytes(b"no image either")
    return folder


@pytest.fixture
def small(image_folder: Path) -> Callable[..., LoaderConditions]:
    """Return what makes conditions for that folder: 12 batches of 4."""

    def conditions(**changes: Any) -> LoaderConditions:
        return LoaderConditions(path=str(image_folder), sample_count=48, batch_size=4).with_changes(**changes)

    return conditions
