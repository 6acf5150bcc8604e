"""Decoding through torchvision, apart from the others so that they do without torch."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torchvision.io import ImageReadMode, decode_jpeg


def decode_into(payload: bytes, image: NDArray[np.uint8]) -> None:
    """Decode one JPEG into ``image``, shape (height, width, 3); a ValueError when it has another size."""
    # A copy: torch warns about the read-only memory of bytes.
    encoded = torch.frombuffer(bytearray(payload), dtype=torch.uint8)
    pixels = decode_jpeg(encoded, mode=ImageReadMode.RGB).permute(1, 2, 0)
    if tuple(pixels.shape) != image.shape:
        raise ValueError("another size")
    image[:] = pixels.numpy()
