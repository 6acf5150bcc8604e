"""Contact sheets: pairs of images side by side with their ids, for a person to judge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.leakage.detectors.finding import Finding

if TYPE_CHECKING:
    from PIL.Image import Image as Picture

_MARGIN = 8
_TEXT_HEIGHT = 12
_TEXT_WIDTH = 6
_INK = (20, 20, 20)


def contact_sheet(
    pairs: Finding | Sequence[Sequence[str]],
    image_of: Callable[[str], Picture | NDArray[Any]],
    path: Path | None = None,
    *,
    first: int = 0,
    count: int = 40,
    columns: int = 4,
    side: int = 96,
    caption: str = "",
) -> Picture:
    """Draw pairs of images side by side, each with its id below.

    The sheet shows images, which a finding never holds: who may look at the data may look at it too.

    Parameters
    ----------
    pairs : Finding, or sequence of tuples of ids
        A finding's ``together``; of a set of more than two samples the first two are drawn.
    image_of : callable
        Returns the image of an id, as a PIL image or an array of uint8, shape (height, width, 3).
    path : Path, optional
        Where to write the sheet, as PNG or JPEG by its suffix.
    first, count : int, optional
        Which pairs, in the order of the finding.
    columns : int, optional
        Pairs in a row.
    side : int, optional
        Pixels of a drawn image's longer side.
    caption : str, optional
        A line above the images, such as the data's origin.

    Returns
    -------
    PIL.Image.Image
        The sheet, which a notebook shows as it is.

    Raises
    ------
    CourseError
        When there is no pair to draw, or the file cannot be written.
    """
    from PIL import Image, ImageDraw

    together = pairs.together if isinstance(pairs, Finding) else pairs
    shown = [ids[:2] for ids in together[first : first + count]]
    if not shown or columns < 1 or side < 8:
        raise CourseError(
            "There is nothing to draw on a contact sheet",
            expected="a pair at least, one column or more, and images of 8 pixels or more",
            found=f"{len(shown)} pairs, {columns} columns, {side} pixels",
        )
    columns = min(columns, len(shown))
    text_width = _TEXT_WIDTH * max(len(sample_id) for ids in shown for sample_id in ids)
    cell = (max(2 * side + 2, text_width) + 2 * _MARGIN, side + 2 * _TEXT_HEIGHT + 2 * _MARGIN)
    top = 2 * _TEXT_HEIGHT if caption else 0
    rows = -(-len(shown) // columns)
    sheet = Image.new("RGB", (columns * cell[0], top + rows * cell[1]), "white")
    draw = ImageDraw.Draw(sheet)
    draw.text((_MARGIN, _MARGIN), caption, fill=_INK)
    for (left, upper), ids in zip(_corners(cell, top, columns), shown, strict=False):
        for at, sample_id in enumerate(ids):
            sheet.paste(_drawn(image_of(sample_id), side), (left + at * (side + 2), upper))
            draw.text((left, upper + side + 1 + at * _TEXT_HEIGHT), sample_id, fill=_INK)
    if path is not None:
        _write(sheet, path)
    return sheet


def _corners(cell: tuple[int, int], top: int, columns: int) -> Iterator[tuple[int, int]]:
    at = 0
    while True:
        yield at % columns * cell[0] + _MARGIN, top + at // columns * cell[1] + _MARGIN
        at += 1


def _drawn(image: Picture | NDArray[Any], side: int) -> Picture:
    from PIL import Image

    picture = Image.fromarray(image) if isinstance(image, np.ndarray) else image
    scale = side / max(picture.size)
    width, height = (max(1, round(length * scale)) for length in picture.size)
    return picture.convert("RGB").resize((width, height), Image.Resampling.NEAREST)


def _write(sheet: Picture, path: Path) -> None:
    import io

    formats = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
    if path.suffix.lower() not in formats:
        raise CourseError(
            f"{path.name} is no image file", expected=" or ".join(formats), found=repr(path.suffix)
        )
    content = io.BytesIO()
    sheet.save(content, format=formats[path.suffix.lower()])
    write_atomically(path, content.getvalue())
