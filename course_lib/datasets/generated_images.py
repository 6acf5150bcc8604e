"""A stand-in for CIFAR-10, drawn from a seed: ten classes told apart by colour, texture and shape.

Classes that people confuse in photographs share their colours here (airplane and ship, cat and dog, deer
and horse, automobile and truck, bird and frog), so that colour alone names the pair and the shape decides
within it. Some pictures carry the shape of the pair's other class: no model can get all of them right.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Part = Literal["train", "test"]
SIDE_PIXELS = 32
JPEG_QUALITY = 75
GENERATOR_VERSION = 1
SHARE_WITH_THE_OTHER_SHAPE = 0.08

_PART_CODES: dict[Part, int] = {"train": 0, "test": 1}
_Grid = NDArray[np.float64]
_Shape = Callable[[_Grid, _Grid], NDArray[np.bool_]]


@dataclass(frozen=True)
class _Look:
    """Mean colours (0 to 255), wave number of the background's stripes, and silhouette of a class."""

    background: tuple[int, int, int]
    body: tuple[int, int, int]
    stripes: float
    shape: _Shape


def _wings(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    return (np.abs(y) < 0.2) & (np.abs(x) < 1.0) | (np.abs(x - 0.2 * y) < 0.25) & (np.abs(y) < 0.8)


def _hull(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    return (y > 0.1) & (y < 0.65) & (np.abs(x) < 1.1 - 0.6 * y) | (np.abs(x) < 0.12) & (y < 0.1) & (y > -0.9)


def _car(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    return (np.abs(x) < 1.0) & (y > 0.0) & (y < 0.5) | (np.abs(x) < 0.5) & (y > -0.45) & (y <= 0.0)


def _lorry(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    return (x > -1.0) & (x < 0.35) & (np.abs(y) < 0.75) | (x >= 0.45) & (x < 1.0) & (y > -0.1) & (y < 0.75)


def _drop(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    return (x**2 + (1.6 * y) ** 2 < 0.5) | ((x - 0.75) ** 2 + (y + 0.35) ** 2 < 0.08)


def _blob(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    return (x**2 / 0.9 + (y - 0.2) ** 2 / 0.4 < 1.0) | ((np.abs(x) - 0.5) ** 2 + (y + 0.5) ** 2 < 0.08)


def _pointed_head(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    ears = (np.abs(np.abs(x) - 0.5) < 0.28 * (y + 1.1)) & (y < -0.3) & (y > -1.1)
    return (x**2 + y**2 < 0.55) | ears


def _long_head(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    ears = ((np.abs(x) - 0.75) ** 2 / 0.05 + (y - 0.1) ** 2 / 0.35) < 1.0
    return (x**2 / 0.35 + y**2 / 0.85 < 1.0) | ears


def _antlers(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    fork = (np.abs(np.abs(x) - 0.35 + 0.35 * y) < 0.13) & (y < -0.05) & (y > -1.0)
    return fork | (x**2 / 0.3 + (y - 0.4) ** 2 / 0.3 < 1.0)


def _four_legs(x: _Grid, y: _Grid) -> NDArray[np.bool_]:
    legs = (np.abs(np.abs(x) - 0.6) < 0.16) & (y > 0.1) & (y < 0.95)
    return (np.abs(x) < 0.85) & (np.abs(y + 0.1) < 0.32) | legs


_LOOKS: dict[str, _Look] = {
    "airplane": _Look((150, 185, 215), (200, 200, 205), 0.8, _wings),
    "automobile": _Look((130, 130, 135), (165, 60, 60), 2.0, _car),
    "bird": _Look((120, 155, 110), (120, 95, 70), 3.0, _drop),
    "cat": _Look((165, 140, 120), (110, 90, 80), 1.6, _pointed_head),
    "deer": _Look((105, 125, 75), (145, 105, 70), 3.6, _antlers),
    "dog": _Look((170, 145, 115), (120, 95, 75), 1.6, _long_head),
    "frog": _Look((115, 140, 95), (90, 130, 65), 3.0, _blob),
    "horse": _Look((115, 130, 85), (110, 75, 55), 3.6, _four_legs),
    "ship": _Look((130, 165, 205), (185, 180, 180), 0.8, _hull),
    "truck": _Look((140, 140, 140), (95, 105, 165), 2.0, _lorry),
}
_PARTNERS = {
    **(pairs := {"airplane": "ship", "automobile": "truck", "bird": "frog", "cat": "dog", "deer": "horse"}),
    **{second: first for first, second in pairs.items()},
}


def class_counts(sample_count: int, classes: Sequence[str]) -> dict[str, int]:
    """Share samples out evenly; the first classes take one more where it does not come out even."""
    each, rest = divmod(sample_count, len(classes))
    return {name: each + (code < rest) for code, name in enumerate(classes)}


def draw_image(class_name: str, part: Part, number: int, seed: int) -> NDArray[np.uint8]:
    """Draw one picture.

    Parameters
    ----------
    class_name : str
        One of CIFAR-10's ten class names.
    part : {"train", "test"}
        Which part it belongs to; the parts never share a picture.
    number : int
        The picture's number within its class; it is the same picture however many are made.
    seed : int
        Seed of the whole set.

    Returns
    -------
    ndarray of uint8, shape (32, 32, 3)
        Red, green and blue.
    """
    rng = np.random.default_rng([seed, _PART_CODES[part], sorted(_LOOKS).index(class_name), number])
    look = _LOOKS[class_name]
    shape = look.shape
    if rng.random() < SHARE_WITH_THE_OTHER_SHAPE:
        shape = _LOOKS[_PARTNERS[class_name]].shape
    light = rng.normal(0, 22)
    background = np.asarray(look.background) + light + rng.normal(0, 19, 3)
    body = np.asarray(look.body) + light + rng.normal(0, 22, 3)

    across = np.linspace(-1.0, 1.0, SIDE_PIXELS)
    x, y = np.meshgrid(across, across)
    centre_x, centre_y = rng.uniform(-0.3, 0.3, 2)
    scale, tilt = rng.uniform(0.45, 0.85), rng.normal(0, 0.25)
    mirrored = rng.choice((-1.0, 1.0))
    turned_x = ((x - centre_x) * np.cos(tilt) + (y - centre_y) * np.sin(tilt)) / scale * mirrored
    turned_y = ((y - centre_y) * np.cos(tilt) - (x - centre_x) * np.sin(tilt)) / scale

    angle = rng.uniform(0, np.pi)
    waves = np.sin(
        np.pi * look.stripes * rng.uniform(0.7, 1.4) * (x * np.cos(angle) + y * np.sin(angle))
        + rng.uniform(0, 2 * np.pi)
    )
    slope = rng.normal(0, 18, 2)
    canvas = background + (rng.uniform(4, 16) * waves + slope[0] * x + slope[1] * y)[..., None]
    visible = rng.uniform(0.6, 1.0) * shape(turned_x, turned_y)[..., None]
    canvas = canvas * (1 - visible) + body * visible
    canvas += rng.normal(0, 9, (SIDE_PIXELS, SIDE_PIXELS, 1)) + rng.normal(0, 4, canvas.shape)
    return np.clip(np.rint(canvas), 0, 255).astype(np.uint8)


def generate_jpeg_files(
    part: Part, classes: Sequence[str], sample_count: int, seed: int
) -> Iterator[tuple[str, bytes]]:
    """Yield the relative path and the bytes of each picture, in the order of the paths.

    Parameters
    ----------
    part : {"train", "test"}
        Which part to make.
    classes : sequence of str
        The class names of the manifest, in the order of their codes.
    sample_count : int
        Pictures in all, shared out evenly over the classes.
    seed : int
        The same seed gives the same pictures.

    Yields
    ------
    path : str
        ``part/class/NNNN.jpg``.
    payload : bytes
        A JPEG file.
    """
    from PIL import Image

    for class_name, count in sorted(class_counts(sample_count, classes).items()):
        for number in range(count):
            buffer = io.BytesIO()
            picture = Image.fromarray(draw_image(class_name, part, number, seed))
            picture.save(buffer, "JPEG", quality=JPEG_QUALITY)
            yield f"{part}/{class_name}/{number:04d}.jpg", buffer.getvalue()
