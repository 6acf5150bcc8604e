"""Decoding whole batches: every library gives one buffer, fallbacks are told, damage names the sample."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handmade_sets import Sample, write_set
from PIL import Image

from course_lib.errors import CourseError
from course_lib.shards import ShardedBatches, ShardedLoader, choose_decoder
from course_lib.shards.decoding import UndecodableError

INSTALLED = [name for name in ("pillow", "torchvision", "simplejpeg") if name == "pillow" or find_spec(name)]


def encoded(seed: int, kind: str = "JPEG", size: tuple[int, int] = (24, 16), mode: str = "RGB") -> bytes:
    height, width = size
    smooth = np.linspace(0, 200, height * width * 3).reshape(height, width, 3) + seed % 50
    file = io.BytesIO()
    Image.fromarray(smooth.astype(np.uint8)).convert(mode).save(file, kind)
    return file.getvalue()


def write_images(folder: Path, count: int, **changes: bytes) -> None:
    images = [Sample(f"s-{at:04d}", encoded(at), at % 3) for at in range(count)]
    write_set(
        folder,
        [
            Sample(image.id, changes.get(image.id.replace("-", "_"), image.payload), image.label)
            for image in images
        ],
        [count],
    )


@pytest.mark.parametrize("name", INSTALLED)
def test_a_batch_is_one_buffer_with_the_right_pixels(name: str) -> None:
    payloads = [encoded(at) for at in range(5)]
    pixels = choose_decoder(name).batch(payloads)
    assert pixels.shape == (5, 24, 16, 3) and pixels.dtype == np.uint8 and pixels.flags.c_contiguous
    wanted = np.stack([np.asarray(Image.open(io.BytesIO(payload))) for payload in payloads])
    assert np.abs(pixels.astype(int) - wanted).max() <= 3
    assert choose_decoder(name).batch([]).shape == (0, 0, 0, 3)


@pytest.mark.parametrize("name", INSTALLED)
def test_grey_images_and_other_formats_are_decoded_to_rgb(name: str) -> None:
    grey = encoded(1, mode="L")
    assert choose_decoder(name).batch([encoded(1), grey, encoded(1, "PNG")]).shape == (3, 24, 16, 3)


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize("size", [(16, 24), (8, 8), (48, 32)])
def test_an_image_of_another_size_is_refused(name: str, size: tuple[int, int]) -> None:
    with pytest.raises(
        UndecodableError, match="another size than the first: expected 16 x 24 pixels"
    ) as told:
        choose_decoder(name).batch([encoded(1), encoded(2), encoded(3, size=size)])
    assert told.value.place == 2


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize("payload", [b"", b"no image", b"\xff\xd8\xff"])
def test_what_is_no_image_is_refused(name: str, payload: bytes) -> None:
    with pytest.raises(UndecodableError, match="cannot be decoded") as told:
        choose_decoder(name).batch([encoded(1), payload])
    assert told.value.place == 1


def test_a_decoder_that_is_not_installed_is_replaced_and_the_note_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = {"torchvision"}
    monkeypatch.setattr("course_lib.shards.decoding.find_spec", lambda name: name if name in there else None)
    assert choose_decoder("auto").name == "torchvision"
    assert choose_decoder("auto").note == "simplejpeg would be faster and is not installed."
    assert choose_decoder("simplejpeg").note == "simplejpeg is not installed, torchvision decodes instead."
    assert choose_decoder("pillow").note == ""
    there.clear()
    assert choose_decoder("auto").name == "pillow"
    with pytest.raises(CourseError, match="no such decoder: expected auto, pillow, torchvision, simplejpeg"):
        choose_decoder("opencv")


@pytest.mark.parametrize("workers", [0, 2])
def test_an_undecodable_sample_is_named(tmp_path: Path, workers: int) -> None:
    write_images(tmp_path / "set", 12, s_0007=b"no image")
    options: dict[str, Any] = {"shuffle": "none", "decoder": "auto"}
    loader = ShardedLoader(ShardedBatches(tmp_path / "set", 4, **options), workers=workers)
    with pytest.raises(CourseError, match="Sample s-0007 of handmade, split train cannot be decoded"):
        list(loader)
    tolerant = ShardedLoader(ShardedBatches(tmp_path / "set", 4, strict=False, **options), workers=workers)
    found = [at for batch in tolerant for at in batch["position"].tolist()]
    assert found == [at for at in range(12) if at != 7]
    assert tolerant.coverage().failed == (0, 1, 0)
    assert "s-0007" in tolerant.coverage().losses[0]


@pytest.mark.parametrize("name", INSTALLED)
@pytest.mark.parametrize("workers", [0, 1])
def test_decoded_batches_are_uint8_tensors_with_channels_first(
    tmp_path: Path, name: str, workers: int
) -> None:
    write_images(tmp_path / "set", 9)
    loader = ShardedLoader(ShardedBatches(tmp_path / "set", 4, shuffle="none", decoder=name), workers=workers)
    shapes = [tuple(batch["image"].shape) for batch in loader]
    assert shapes == [(4, 3, 24, 16), (4, 3, 24, 16), (1, 3, 24, 16)]
