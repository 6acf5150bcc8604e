"""Finding the samples of a run: a data set's image files, or a folder of the reader's own."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from course_lib.datasets.cifar10 import ImageFiles, JpegImageSet, OfficialImageSet, labels_of, load_cifar10
from course_lib.datasets.downloads import data_folder
from course_lib.datasets.image_folders import published_image_folder
from course_lib.datasets.subsets import spread_over_classes
from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions, check_batches
from course_lib.loading.samples import LoadedSamples
from course_lib.stores import FolderStore, SetLatencyStore
from course_lib.stores.folder import file_names

if TYPE_CHECKING:
    from course_lib.stores import Store

_CIFAR10_SHAPE = (3, 32, 32)
_IMAGE_ENDINGS = (".jpg", ".jpeg", ".png")
_PNG_COMPRESSION = 1


def open_samples(conditions: LoaderConditions, *, progress: bool = False) -> LoadedSamples:
    """Find the samples that the conditions name; encoded bytes are read only for layout "memory".

    For layout "shards" the samples are packed, unless their shard set is in the course's home already.

    Images of a data set are the JPEG files of the mirror or of the generated stand-in. The
    publisher's own pixel arrays are written as lossless PNG files once, into the course's home.

    Parameters
    ----------
    conditions : LoaderConditions
        Which samples, and the store's set latency.
    progress : bool, optional
        Show a bar while images are unpacked, written or generated, which happens once.

    Raises
    ------
    CourseError
        When the data are not there or damaged, there are too few of them, or a given path is no
        folder with images that can be read.
    """
    samples = _of_folder(conditions) if conditions.path else _of_cifar10(conditions, progress)
    check_batches(conditions, len(samples))
    if conditions.layout != "shards":
        return samples
    from course_lib.loading.packing import sharded

    return sharded(samples, conditions, progress=progress)


def on_disk(conditions: LoaderConditions) -> LoaderConditions:
    """Return conditions whose samples are the files or shards that a run reads, without reading them."""
    return conditions.with_changes(layout="files") if conditions.layout == "memory" else conditions


def _of_cifar10(conditions: LoaderConditions, progress: bool) -> LoadedSamples:
    images = load_cifar10(
        conditions.part,
        source=conditions.source,
        sample_count=conditions.sample_count,
        seed=conditions.seed,
        progress=progress,
    )
    if isinstance(images, OfficialImageSet):
        files = _files_of_pixels(images, conditions, progress)
        ids = [f"{conditions.part}-{Path(name.decode()).stem}" for name in files.names.tolist()]
    else:
        assert isinstance(images, JpegImageSet)
        files = images.files()
        ids = [images.sample_id(position) for position in range(len(images))]
    return LoadedSamples(
        _store(files.folder, conditions),
        files.names,
        np.array(ids, dtype=np.bytes_),
        labels_of(files.names, images.classes),
        files.checksums,
        _CIFAR10_SHAPE,
        images.origin,
        files.folder,
        conditions,
    )


def _files_of_pixels(picked: OfficialImageSet, conditions: LoaderConditions, progress: bool) -> ImageFiles:
    whole = picked
    if conditions.sample_count is not None:
        loaded = load_cifar10(conditions.part, source="official", progress=progress)
        assert isinstance(loaded, OfficialImageSet)
        whole = loaded
    folder = data_folder("cifar10") / f"official-{picked.origin.sha256[:12]}-{conditions.part}-png"
    index = published_image_folder(
        folder,
        _png_files(whole, conditions.part),
        class_names=whole.classes,
        file_count=len(whole),
        doing="writing cifar10 as PNG files",
        progress=progress,
    )
    published_order = np.argsort([int(Path(name.decode()).stem) for name in index.names.tolist()])
    picks = spread_over_classes(whole.labels, conditions.sample_count, conditions.seed, "cifar10")
    chosen = published_order[picks]
    return ImageFiles(folder, index.names[chosen], index.checksums[chosen])


def _png_files(images: OfficialImageSet, part: str) -> Iterator[tuple[str, bytes]]:
    for position in range(len(images)):
        image, label = images[position]
        content = io.BytesIO()
        image.save(content, "PNG", compress_level=_PNG_COMPRESSION)
        yield f"{part}/{images.classes[label]}/{position:05d}.png", content.getvalue()


def _of_folder(conditions: LoaderConditions) -> LoadedSamples:
    folder = _expanded(conditions.path)
    names = _image_names(folder)[: conditions.sample_count]
    if not len(names):
        raise CourseError(
            f"There are no images in {folder}",
            expected=f"files ending in {', '.join(_IMAGE_ENDINGS)}",
            next_step="name a folder that has some",
        )
    if conditions.sample_count is not None and len(names) < conditions.sample_count:
        raise CourseError(
            f"{folder} has fewer images than were asked for",
            expected=f"{conditions.sample_count:,}",
            found=f"{len(names):,}",
            next_step="lower sample_count",
        )
    digits = max(6, len(str(len(names))))
    return LoadedSamples(
        _store(folder, conditions),
        names,
        np.array([f"image-{at:0{digits}d}" for at in range(len(names))], dtype=np.bytes_),
        np.zeros(len(names), dtype=np.int64),
        None,
        _shape_of(folder / names[0].decode()),
        None,
        folder,
        conditions,
    )


def _image_names(folder: Path) -> NDArray[np.bytes_]:
    """Return the images below a folder, sorted, of what `file_names` finds there."""
    if not folder.is_dir():
        raise CourseError(
            f"{folder} is not a folder", next_step="name a folder of images that this machine has mounted"
        )
    try:
        names = sorted(name for name in file_names(folder) if name.lower().endswith(_IMAGE_ENDINGS))
    except OSError as error:
        raise CourseError(f"{error.filename} cannot be listed", found=error.strerror) from error
    try:
        return np.array([name.encode("utf-8") for name in names], dtype=np.bytes_)
    except UnicodeEncodeError as error:
        raise CourseError(
            f"The name of an image in {folder} cannot be read as text",
            expected="names in UTF-8",
            found=ascii(error.object),
            next_step="rename that file, or name another folder",
        ) from error


def _expanded(path: str) -> Path:
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise CourseError(f"{path} names no home folder", next_step="write the path out in full") from error


def _shape_of(path: Path) -> tuple[int, ...]:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            return (3, image.height, image.width)
    except (OSError, UnidentifiedImageError) as error:
        raise CourseError(f"The first image, {path}, cannot be read", found=str(error)) from error


def _store(folder: Path, conditions: LoaderConditions) -> Store:
    store = FolderStore(folder)
    nothing_set = not conditions.open_ms and conditions.bandwidth_bytes_per_second is None
    if nothing_set or conditions.layout == "memory":
        return store
    return SetLatencyStore(
        store,
        open_seconds=conditions.open_ms / 1000,
        bytes_per_second=conditions.bandwidth_bytes_per_second,
    )
