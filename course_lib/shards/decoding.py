"""Decoding a batch of images into one buffer, by a chosen library or the fastest that is installed."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError

DecoderName = Literal["pillow", "torchvision", "simplejpeg"]
_FASTEST_FIRST: tuple[DecoderName, ...] = ("simplejpeg", "torchvision", "pillow")
_COLOURS = 3
_JPEG = b"\xff\xd8"


class UndecodableError(CourseError):
    """A payload that is no whole image, or of another size than the first of its batch.

    Attributes
    ----------
    place : int
        Its place in the batch.
    """

    def __init__(self, place: int, trouble: str, *, expected: str, found: str) -> None:
        super().__init__(f"The image at place {place} {trouble}", expected=expected, found=found)
        self.place = place
        self.trouble = trouble

    def __reduce__(self) -> tuple[Any, ...]:
        return _undecodable, (self.place, self.trouble, self.expected, self.found)


@dataclass(frozen=True)
class Decoder:
    """One way to decode images; make it with :func:`choose_decoder`.

    Attributes
    ----------
    name : {"pillow", "torchvision", "simplejpeg"}
        The library.
    note : str
        Why this one, in words; "" where it was wanted and is there.
    """

    name: DecoderName
    note: str = ""

    def batch(self, payloads: Sequence[bytes]) -> NDArray[np.uint8]:
        """Decode images of one size into one buffer.

        Payloads that are no JPEG are decoded by Pillow, whatever the choice.

        Returns
        -------
        ndarray of uint8, shape (images, height, width, 3)

        Raises
        ------
        UndecodableError
            For the first payload that is no whole image or of another size than the first.
        """
        if not payloads:
            return np.empty((0, 0, 0, _COLOURS), dtype=np.uint8)
        into = _INTO[self.name]
        wanted = _shape(payloads[0])
        pixels = np.empty((len(payloads), *wanted), dtype=np.uint8)
        for place, payload in enumerate(payloads):
            image = pixels[place]
            try:
                (into if payload[:2] == _JPEG else _with_pillow)(payload, image)
            except Exception as error:
                # Damaged bytes make decoders raise nearly anything; Pillow tells size from damage.
                shape = _decoded(payload, place).shape
                if shape != wanted:
                    raise _other_size(place, wanted, shape) from error
                _with_pillow(payload, image)
        return pixels


def choose_decoder(name: str = "auto") -> Decoder:
    """Return a decoder.

    Parameters
    ----------
    name : {"auto", "pillow", "torchvision", "simplejpeg"}, optional
        "auto" takes the fastest that is installed. One that is not installed is replaced by the fastest that
        is, and the decoder's ``note`` says so.

    Raises
    ------
    CourseError
        For another name.
    """
    installed = [each for each in _FASTEST_FIRST if each == "pillow" or find_spec(each) is not None]
    if name == "auto":
        missing = [each for each in _FASTEST_FIRST[: _FASTEST_FIRST.index(installed[0])]]
        note = f"{', '.join(missing)} would be faster and is not installed." if missing else ""
        return Decoder(installed[0], note)
    for known in get_args(DecoderName):
        if name == known:
            if known in installed:
                return Decoder(known)
            return Decoder(installed[0], f"{known} is not installed, {installed[0]} decodes instead.")
    raise CourseError(
        "There is no such decoder", expected=", ".join(("auto", *get_args(DecoderName))), found=repr(name)
    )


def _shape(payload: bytes) -> tuple[int, ...]:
    """Return the shape of the first image of a batch, from its header alone."""
    from PIL import Image

    try:
        width, height = Image.open(io.BytesIO(payload)).size
    except Exception:
        # Said by who decodes it.
        return _decoded(payload, 0).shape
    return height, width, _COLOURS


def _decoded(payload: bytes, place: int) -> NDArray[np.uint8]:
    from PIL import Image

    try:
        return np.asarray(Image.open(io.BytesIO(payload)).convert("RGB"))
    except Exception as error:
        raise UndecodableError(
            place, "cannot be decoded", expected="a whole image", found=f"{len(payload):,} other bytes"
        ) from error


def _with_pillow(payload: bytes, image: NDArray[np.uint8]) -> None:
    pixels = _decoded(payload, 0)
    if pixels.shape != image.shape:
        raise ValueError("another size")
    image[:] = pixels


def _with_simplejpeg(payload: bytes, image: NDArray[np.uint8]) -> None:
    import simplejpeg  # type: ignore[import-not-found, unused-ignore]

    decoded = simplejpeg.decode_jpeg(payload, colorspace="RGB", buffer=image)
    if decoded.shape != image.shape:
        raise ValueError("another size")


def _with_torchvision(payload: bytes, image: NDArray[np.uint8]) -> None:
    from course_lib.shards.torch_decoding import decode_into

    decode_into(payload, image)


_INTO: dict[str, Callable[[bytes, NDArray[np.uint8]], None]] = {
    "pillow": _with_pillow,
    "torchvision": _with_torchvision,
    "simplejpeg": _with_simplejpeg,
}


def _undecodable(place: int, trouble: str, expected: str, found: str) -> UndecodableError:
    return UndecodableError(place, trouble, expected=expected, found=found)


def _other_size(place: int, first: tuple[int, ...], found: tuple[int, ...]) -> UndecodableError:
    return UndecodableError(
        place,
        "has another size than the first",
        expected=f"{first[1]} x {first[0]} pixels",
        found=f"{found[1]} x {found[0]}",
    )
