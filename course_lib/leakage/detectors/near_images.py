"""Images that are nearly the same, in two parts: a perceptual hash proposes pairs, the pixels decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.leakage.detectors.finding import Finding
from course_lib.leakage.detectors.pairs import finding_of_pairs
from course_lib.leakage.detectors.parts import Parts, parts_of

_KIND = "near_duplicate"
_BITS = 64
_SIDE = 32
_FINE, _COARSE = 0.7, 4.0
_BLOCK = 128
_PAIR_BLOCK = 2048


def find_near_duplicate_images(
    split: Any,
    images: NDArray[np.uint8],
    *,
    threshold: float = 0.8,
    differing_bits: int = 14,
    labels: Sequence[Any] | NDArray[Any] | None = None,
    content: NDArray[np.uint8] | None = None,
) -> Finding:
    """Find images in two parts that show the same picture: brightened, faded, grey, noisy or recompressed.

    The 64 bits of ImageHash's ``phash`` propose pairs: all pairs across parts are compared, so none of few
    differing bits is overlooked. Then the pixels are compared, as the correlation of the two images without
    their finest grain and their slow gradients: two different birds before one blue sky correlate well in
    the raw pixels, and hardly in what is left of them. A copy that is moved by a pixel of 32, or cropped, is
    mostly overlooked, and a mirrored one always: the hash looks at what is where.

    Parameters
    ----------
    split : Split, SplitManifest or Parts
        Which sample lies in which part.
    images : ndarray of uint8, shape (samples, height, width, 3)
        In the order of the split's ids.
    threshold : float, optional
        Correlation from which a pair is listed. On the 60,000 images of CIFAR-10 nearly all pairs listed
        from 0.8 up show the same picture to the eye; from 0.75 other pictures of the same kind come in.
    differing_bits : int, optional
        Bits in which the hashes of a proposed pair differ at most, of 64.
    labels : sequence, optional
        Each image's class; pairs under different labels are counted then.
    content : ndarray of uint8, shape (samples, 32), optional
        Digests of the files: pairs that share one are exact duplicates and left to
        `find_exact_duplicates`. Without them, pairs that are equal in every pixel are left to it.

    Returns
    -------
    Finding
        ``together`` holds the pairs, the most alike first, for `contact_sheet`.

    Raises
    ------
    CourseError
        For images of another shape or type, or that do not match the split.

    Notes
    -----
    The time grows with the product of the parts' sizes: 60,000 small images take a minute or two.
    """
    parts = parts_of(split)
    parts.aligned(images, "images")
    if images.ndim != 4 or images.shape[3] != 3 or images.dtype != np.uint8:
        raise CourseError(
            "Images cannot be compared in this form",
            expected="an array of uint8 of shape (samples, height, width, 3)",
            found=f"{images.dtype} of shape {images.shape}",
        )
    hashes = _hashes(images)
    found: list[tuple[float, int, int]] = []
    candidates = identical = 0
    for pairs in _proposed(hashes, parts, differing_bits):
        candidates += len(pairs)
        left, right = pairs[:, 0], pairs[:, 1]
        if content is None:
            same = (images[left] == images[right]).all(axis=(1, 2, 3))
        else:
            same = (content[left] == content[right]).all(axis=1)
        identical += int(same.sum())
        likeness = _likeness(images[left], images[right])
        for at in np.flatnonzero((likeness >= threshold) & ~same):
            found.append((float(likeness[at]), int(left[at]), int(right[at])))
    figures = {
        "samples": len(parts),
        "candidates": candidates,
        "identical_pairs": identical,
        "threshold": threshold,
    }
    return finding_of_pairs(_KIND, parts, found, "images", "show nearly the same picture", figures, labels)


def _hashes(images: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return each image's perceptual hash as 64 numbers of 1 or -1, whose products count equal bits."""
    import imagehash
    from PIL import Image

    hashes = np.empty((len(images), _BITS), dtype=np.float32)
    for at, image in enumerate(images):
        hashes[at] = np.where(imagehash.phash(Image.fromarray(image)).hash.ravel(), 1, -1)
    return hashes


def _proposed(hashes: NDArray[np.float32], parts: Parts, differing_bits: int) -> Iterator[NDArray[np.intp]]:
    """Yield pairs of positions in different parts with hashes close to each other, shape (pairs, 2)."""
    agreement = _BITS - 2 * differing_bits
    for code in range(len(parts.names) - 1):
        here, later = np.flatnonzero(parts.codes == code), np.flatnonzero(parts.codes > code)
        fewer, more = sorted((here, later), key=len)
        targets = hashes[more].T
        for start in range(0, len(fewer), _BLOCK):
            block = fewer[start : start + _BLOCK]
            at, to = np.nonzero(hashes[block] @ targets >= agreement)
            pairs = np.stack([block[at], more[to]], axis=1)
            for first in range(0, len(pairs), _PAIR_BLOCK):
                yield pairs[first : first + _PAIR_BLOCK]


def _likeness(left: NDArray[np.uint8], right: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the correlation of each pair's band-passed pixels; 0 for an image without any detail."""
    one, other = _details(left), _details(right)
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return np.divide((one * other).sum(axis=1), norms, out=np.zeros(len(one)), where=norms > 1e-3)


def _details(images: NDArray[np.uint8]) -> NDArray[np.float64]:
    from scipy.ndimage import gaussian_filter

    pixels = _small(images).astype(np.float32)
    fine = gaussian_filter(pixels, (0, _FINE, _FINE, 0))
    details = (fine - gaussian_filter(pixels, (0, _COARSE, _COARSE, 0))).reshape(len(images), -1)
    centred: NDArray[np.float64] = (details - details.mean(axis=1, keepdims=True)).astype(np.float64)
    return centred


def _small(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Return the images at 32 x 32 pixels, the size for which the widths of the filters are meant."""
    from PIL import Image

    if images.shape[1:3] == (_SIDE, _SIDE):
        return images
    return np.stack([np.asarray(Image.fromarray(image).resize((_SIDE, _SIDE))) for image in images])
