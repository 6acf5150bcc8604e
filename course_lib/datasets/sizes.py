"""How big a task's data are: the same samples as a download, as files, in memory and as tensors.

A number of bytes says nothing without the representation that it counts, so none goes without one here.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from course_lib.datasets.origin import Origin
from course_lib.datasets.samples import both_parts
from course_lib.datasets.sources import files_of_kind
from course_lib.errors import CourseError
from course_lib.manifests import DataManifest, load_manifest

if TYPE_CHECKING:
    from PIL.Image import Image

    from course_lib.datasets.bank_marketing import Table
    from course_lib.datasets.cifar10 import ImageSet

Representation = Literal["download", "files", "memory", "decoded", "float32", "text", "tokens", "padded"]

REPRESENTATIONS: Mapping[Representation, str] = {
    "download": "files as fetched",
    "files": "files as stored",
    "memory": "a table in memory",
    "decoded": "decoded pixels, uint8",
    "float32": "tensors, float32",
    "text": "original text, UTF-8",
    "tokens": "token ids, int64",
    "padded": "padded tensors, int64 ids and mask",
}
BYTES_OF_FLOAT32 = 4
COLOURS = 3


@dataclass(frozen=True)
class Size:
    """The size of some samples in one representation.

    Attributes
    ----------
    representation : str
        A key of :data:`REPRESENTATIONS`.
    total_bytes : int
        Bytes of all samples together.
    samples : int
        How many samples these are.
    files : int or None
        In how many files they lie; None for what is not in files.
    how : {"counted", "computed"}
        Counted from what is there, or computed from the shape.
    """

    representation: Representation
    total_bytes: int
    samples: int
    files: int | None
    how: Literal["counted", "computed"]

    @property
    def bytes_per_sample(self) -> float:
        """Mean bytes of a sample in this representation."""
        return self.total_bytes / self.samples

    @property
    def title(self) -> str:
        """The representation in words."""
        return REPRESENTATIONS[self.representation]


@dataclass(frozen=True)
class TaskSizes:
    """One task's data in all the representations that they pass through.

    Attributes
    ----------
    task : str
        "table", "image" or "text".
    origin : Origin
        Which samples, and where they came from.
    sizes : tuple of Size
        From the download to what a device gets.
    """

    task: str
    origin: Origin
    sizes: tuple[Size, ...]

    def size(self, representation: Representation) -> Size:
        """Return the size in one representation.

        Raises
        ------
        CourseError
            When these data have no such representation: generated data, for example, no download.
        """
        for size in self.sizes:
            if size.representation == representation:
                return size
        raise CourseError(
            f"The {self.task} task has no {REPRESENTATIONS.get(representation, representation)}",
            expected=", ".join(size.representation for size in self.sizes),
        )


@dataclass(frozen=True)
class ImageBatch:
    """Bytes of one batch of images as tensors.

    Attributes
    ----------
    images, side, colours : int
        Shape of the batch: images x side x side x colours.
    uint8_bytes, float32_bytes : int
        With one byte a value, and with four.
    """

    images: int
    side: int
    colours: int
    uint8_bytes: int
    float32_bytes: int


@dataclass(frozen=True)
class FileLayout:
    """One amount of data cut into files of one size.

    Attributes
    ----------
    total_bytes, bytes_per_file, files : int
        The last file may be smaller.
    opening_seconds : float
        Time to open every file once, one after the other, at the time per open that was assumed.
    """

    total_bytes: int
    bytes_per_file: int
    files: int
    opening_seconds: float


def table_sizes(table: Table) -> TaskSizes:
    """Return the sizes of a Bank Marketing table.

    As a tensor it has one float32 for each field but the label: a category counts as its number.
    The file is the published one, unpacked; that of a generated table is what it would be: semicolons,
    text in quotation marks.
    """
    rows = len(table.frame)
    features = sum(field.role == "feature" for field in table.manifest.fields)
    memory = int(table.frame.memory_usage(index=False, deep=True).sum())
    sizes = (
        *_download(table.manifest, table.origin),
        _stored_table(table),
        Size("memory", memory, rows, None, "counted"),
        Size("float32", rows * features * BYTES_OF_FLOAT32, rows, None, "computed"),
    )
    return TaskSizes("table", table.origin, sizes)


def image_sizes(train: ImageSet, test: ImageSet) -> TaskSizes:
    """Return the sizes of CIFAR-10: its files on the disk, and its pixels as bytes and as float32."""
    origin = both_parts(train.origin, test.origin)
    count = origin.sample_count
    files = _image_files(train) | _image_files(test)
    side = train[0][0].size[0] if count else 0
    batch = image_batch(count, side)
    sizes = (
        *_download(load_manifest(origin.dataset), origin),
        Size("files", sum(files.values()), count, len(files), "counted"),
        Size("decoded", batch.uint8_bytes, count, None, "computed"),
        Size("float32", batch.float32_bytes, count, None, "computed"),
    )
    return TaskSizes("image", origin, sizes)


def image_batch(images: int, side: int, *, colours: int = COLOURS) -> ImageBatch:
    """Return the bytes of a batch of square images as tensors.

    Raises
    ------
    CourseError
        Unless all three are whole numbers of at least 1.

    Examples
    --------
    >>> image_batch(128, 224).float32_bytes
    77070336
    """
    for what, number in {"images": images, "side": side, "colours": colours}.items():
        checked_whole(what, number)
    values = images * side * side * colours
    return ImageBatch(images, side, colours, values, values * BYTES_OF_FLOAT32)


def encoded_bytes(images: Sequence[Image], *, quality: int | None) -> float:
    """Return the mean bytes of images when they are stored anew.

    Parameters
    ----------
    images : sequence of PIL.Image.Image
        Decoded images.
    quality : int or None
        1 to 95 for JPEG of this quality; None for PNG, which loses nothing.

    Raises
    ------
    CourseError
        Without any images, or for another quality.
    """
    if not images:
        raise CourseError("There are no images to encode", expected="at least one")
    if quality is not None and (isinstance(quality, bool) or quality not in range(1, 96)):
        raise CourseError(
            "The JPEG quality is out of range", expected="a whole number from 1 to 95", found=quality
        )
    total = 0
    for image in images:
        encoded = io.BytesIO()
        if quality is None:
            image.save(encoded, "PNG")
        else:
            image.save(encoded, "JPEG", quality=quality)
        total += encoded.tell()
    return total / len(images)


def file_layout(total_bytes: int, bytes_per_file: int, *, seconds_per_open: float) -> FileLayout:
    """Return how many files an amount of data makes, and how long it takes to open them one by one.

    Raises
    ------
    CourseError
        For sizes that are no whole numbers of at least 1, and a time that is negative or not finite.

    Examples
    --------
    >>> file_layout(100 * 10**9, 10**9, seconds_per_open=0.002)
    FileLayout(total_bytes=100000000000, bytes_per_file=1000000000, files=100, opening_seconds=0.2)
    """
    checked_whole("total_bytes", total_bytes)
    checked_whole("bytes_per_file", bytes_per_file)
    if not math.isfinite(seconds_per_open) or seconds_per_open < 0:
        raise CourseError("The time per open cannot be that", expected="0 s or more", found=seconds_per_open)
    files = -(-total_bytes // bytes_per_file)
    return FileLayout(total_bytes, bytes_per_file, files, files * seconds_per_open)


def download_of(manifest: DataManifest, origin: Origin) -> Size | None:
    """Return what is fetched, from the publisher or into a mirror; None for generated data."""
    if origin.kind == "generated":
        return None
    files = files_of_kind(manifest, origin.kind)
    return Size("download", sum(file.bytes for file in files), origin.sample_count, len(files), "counted")


def checked_whole(what: str, number: Any) -> int:
    """Return ``number``; raise a CourseError unless it is a whole number of at least 1."""
    if isinstance(number, bool) or number != int(number) or number < 1:
        raise CourseError(f"{what} is out of range", expected="a whole number of at least 1", found=number)
    return int(number)


def _download(manifest: DataManifest, origin: Origin) -> tuple[Size, ...]:
    download = download_of(manifest, origin)
    return () if download is None else (download,)


def _stored_table(table: Table) -> Size:
    rows = len(table.frame)
    if table.origin.kind != "generated":
        return Size(
            "files", table.manifest.member(f"bank-{table.manifest.variant}.csv").bytes, rows, 1, "counted"
        )
    text = table.frame.to_csv(sep=";", index=False, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    return Size("files", len(text.encode("utf-8")), rows, 1, "computed")


def _image_files(images: ImageSet) -> dict[Path, int]:
    """Return the size of each file that the images are read from."""
    from course_lib.datasets.cifar10 import OfficialImageSet

    if isinstance(images, OfficialImageSet):
        folder = Path(images.root) / images.base_folder
        listed = images.train_list if images.train else images.test_list
        paths = [folder / name for name, _ in listed]
    else:
        samples: Sequence[tuple[str, int]] = images.samples  # type: ignore[attr-defined]
        paths = [Path(samples[at][0]) for at in range(len(samples))]
    return {path: path.stat().st_size for path in paths}
