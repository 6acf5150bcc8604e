"""CIFAR-10 through torchvision: 60,000 colour images of 32 x 32 pixels in ten classes."""

from __future__ import annotations

import io
import tarfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from torch.utils.data import Dataset
from torchvision.datasets import CIFAR10, ImageFolder

from course_lib.datasets.downloads import data_folder, need_disk_space, one_process_at_a_time
from course_lib.datasets.generated_images import GENERATOR_VERSION, Part, generate_jpeg_files
from course_lib.datasets.image_folders import (
    ImageIndex,
    damaged_folder,
    missing_images,
    published_image_folder,
    zip_images,
)
from course_lib.datasets.origin import Origin
from course_lib.datasets.settings import Source
from course_lib.datasets.sources import FoundFile, find_data_set
from course_lib.datasets.subsets import checked_count, checked_part, checked_seed, spread_over_classes
from course_lib.errors import CourseError
from course_lib.files import folder_published_whole
from course_lib.manifests import load_manifest

NAME = "cifar10"
DEFAULT_GENERATED_COUNTS: dict[Part, int] = {"train": 2_000, "test": 400}
LARGEST_GENERATED_COUNT = 100_000
_MIRROR_IMAGES = 60_000


class ImageFiles(NamedTuple):
    """The files of an image set, in its order.

    Attributes
    ----------
    folder : Path
        Where they are.
    names : ndarray of bytes, shape (samples,)
        Their names below the folder, with forward slashes.
    checksums : ndarray of uint32, shape (samples,)
        CRC-32 of each file.
    """

    folder: Path
    names: NDArray[np.bytes_]
    checksums: NDArray[np.uint32]


class ImageSet(Dataset[tuple[Any, int]], ABC):
    """One part of CIFAR-10: item ``i`` is ``(image, label)``, the image 32 x 32 in RGB.

    Attributes
    ----------
    origin : Origin
        Where the images came from.
    classes : list of str
        The class names from the data manifest; a label is a place in this list.
    labels : ndarray of int64, shape (samples,)
        All labels, without decoding an image.
    """

    origin: Origin
    classes: list[str]
    labels: NDArray[np.int64]

    @abstractmethod
    def sample_id(self, index: int) -> str:
        """Return the stable id of a sample: no dot, no slash, and no other sample has it."""


class JpegImageSet(ImageFolder, ImageSet):
    """JPEG files in one folder for each class, as the mirror and the generated stand-in have them.

    The order is that of the relative paths. Sample ids are made from these, such as
    ``train-airplane-0000``. Names and checksums sit in arrays, the classes come from the manifest,
    and what else lies in the folder is ignored.

    Reading an image raises CourseError, with the sample's id, when its file is gone or its bytes are
    not those that were written.
    """

    def __init__(
        self,
        folder: Path,
        index: ImageIndex,
        positions: NDArray[np.int64],
        classes: Sequence[str],
        origin: Origin,
        transform: Callable[[Any], Any] | None = None,
    ) -> None:
        self.origin = origin
        self._names = index.names[positions]
        self._checksums = index.checksums[positions]
        self._class_names = list(classes)
        super().__init__(str(folder), transform=transform)
        self.labels = labels_of(self._names, classes)
        self.targets = self.labels
        missing = missing_images(folder, self._names)
        if missing:
            raise damaged_folder(
                folder, f"{len(missing):,} of {len(self):,} images missing, the first is {missing[0]}"
            )

    def find_classes(self, directory: str | Path) -> tuple[list[str], dict[str, int]]:
        """Return the manifest's classes; what folders there are does not matter."""
        return self._class_names, {name: code for code, name in enumerate(self._class_names)}

    def make_dataset(self, *_: Any, **__: Any) -> Sequence[tuple[str, int]]:
        """Return the samples as a sequence that builds its entries when they are asked for."""
        return _Samples(self.root, self._names, labels_of(self._names, self._class_names))

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, label = self.samples[index]
        try:
            payload = Path(path).read_bytes()
        except OSError as error:
            raise damaged_folder(Path(self.root), f"sample {self.sample_id(index)} cannot be read") from error
        if zlib.crc32(payload) != self._checksums[index]:
            raise damaged_folder(Path(self.root), f"sample {self.sample_id(index)} has other bytes")
        image = Image.open(io.BytesIO(payload)).convert("RGB")
        return (image if self.transform is None else self.transform(image)), label

    def files(self) -> ImageFiles:
        """Return the folder, names and checksums of the images."""
        return ImageFiles(Path(self.root), self._names, self._checksums)

    def sample_id(self, index: int) -> str:
        """Return the id, such as ``train-airplane-0000``."""
        name: bytes = self._names[index]
        return name.decode().removesuffix(".jpg").replace("/", "-")


class OfficialImageSet(CIFAR10, ImageSet):
    """The publisher's own files, in the publisher's order.

    A sample id tells the position in the published file, such as ``train-00042``.
    """

    data: NDArray[np.uint8]
    targets: Any

    def __init__(
        self,
        folder: Path,
        part: Part,
        sample_count: int | None,
        seed: int,
        classes: Sequence[str],
        sha256: str,
        transform: Callable[[Any], Any] | None = None,
    ) -> None:
        try:
            super().__init__(str(folder), train=part == "train", transform=transform)
        except RuntimeError as error:
            raise damaged_folder(folder, "a file that torchvision does not know") from error
        if list(self.classes) != list(classes):
            raise damaged_folder(folder, f"classes in another order: {', '.join(self.classes)}")
        self._part = part
        all_labels = np.asarray(self.targets, dtype=np.int64)
        self._positions = spread_over_classes(all_labels, sample_count, seed, NAME)
        if sample_count is not None:
            self.data = self.data[self._positions]
        self.labels = all_labels[self._positions]
        self.targets = self.labels
        self.origin = Origin("official", NAME, "", len(self.labels), sha256)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        image, label = super().__getitem__(index)
        return image, int(label)

    def sample_id(self, index: int) -> str:
        """Return the id, such as ``train-00042``."""
        return f"{self._part}-{self._positions[index]:05d}"


class _Samples(Sequence[tuple[str, int]]):
    """``ImageFolder.samples`` without a Python object for each sample."""

    def __init__(self, root: str | Path, names: NDArray[np.bytes_], labels: NDArray[np.int64]) -> None:
        self._root = Path(root)
        self._names = names
        self._labels = labels

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        return str(self._root / self._names[index].decode()), int(self._labels[index])


def load_cifar10(
    part: Part = "train",
    *,
    source: Source = "auto",
    sample_count: int | None = None,
    seed: int = 2026,
    transform: Callable[[Any], Any] | None = None,
    progress: bool = True,
) -> ImageSet:
    """Load one part of CIFAR-10.

    Parameters
    ----------
    part : {"train", "test"}, optional
        Which part.
    source : {"auto", "official", "mirror", "generated"}, optional
        Where from; "auto" takes what the learner chose, else what is there, else generates.
    sample_count : int, optional
        Samples wanted. Generated data get that many (2,000 and 400 are usual); of real data as many
        are picked by ``seed``, evenly over the classes. Without it all real samples are loaded.
    seed : int, optional
        Seed of generated data and of picking.
    transform : callable, optional
        Applied to each PIL image, as in torchvision.
    progress : bool, optional
        Show a bar while images are unpacked or generated, which happens once.

    Returns
    -------
    ImageSet
        A map-style torch data set; ``JpegImageSet`` or ``OfficialImageSet`` tell how ids are made.

    Raises
    ------
    CourseError
        When the chosen source is not there or damaged, for more samples than there are, and when
        the course's home cannot be written.
    """
    checked_part(part)
    checked_seed(seed)
    manifest = load_manifest(NAME)
    classes = list(manifest.label_map)
    found = find_data_set(manifest, source=source)
    if found is None:
        count = checked_count(sample_count, LARGEST_GENERATED_COUNT) or DEFAULT_GENERATED_COUNTS[part]
        return _generated(part, count, seed, classes, transform, progress)
    (file,) = found.values()
    checked_count(sample_count)
    if file.kind == "official":
        folder = _official_folder(file, progress)
        return OfficialImageSet(folder, part, sample_count, seed, classes, file.sha256, transform)
    return _mirrored(part, file, sample_count, seed, classes, transform, progress)


def labels_of(names: NDArray[np.bytes_], classes: Sequence[str]) -> NDArray[np.int64]:
    """Return the label of each ``part/class/NNNN.jpg``: the class's place in ``classes``."""
    codes = {name.encode(): code for code, name in enumerate(classes)}
    return np.fromiter((codes[name.split(b"/")[1]] for name in names), dtype=np.int64, count=len(names))


def _mirrored(
    part: Part,
    file: FoundFile,
    sample_count: int | None,
    seed: int,
    classes: list[str],
    transform: Callable[[Any], Any] | None,
    progress: bool,
) -> ImageSet:
    folder = data_folder(NAME) / f"mirror-{file.sha256[:12]}"
    index = published_image_folder(
        folder,
        zip_images(file.path, classes),
        class_names=classes,
        file_count=_MIRROR_IMAGES,
        doing=f"unpacking {NAME}",
        progress=progress,
    )
    of_part = np.flatnonzero(np.char.startswith(index.names, f"{part}/".encode()))
    picked = spread_over_classes(labels_of(index.names[of_part], classes), sample_count, seed, NAME)
    origin = Origin("mirror", NAME, "", len(picked), file.sha256)
    return JpegImageSet(folder, index, of_part[picked], classes, origin, transform)


def _generated(
    part: Part,
    count: int,
    seed: int,
    classes: list[str],
    transform: Callable[[Any], Any] | None,
    progress: bool,
) -> ImageSet:
    folder = data_folder(NAME) / f"generated-{seed}-{part}-{count}-v{GENERATOR_VERSION}"
    index = published_image_folder(
        folder,
        generate_jpeg_files(part, classes, count, seed),
        class_names=classes,
        file_count=count,
        doing=f"drawing {NAME} ({part})",
        progress=progress,
    )
    origin = Origin("generated", NAME, "", count, index.sha256, seed)
    return JpegImageSet(folder, index, np.arange(count), classes, origin, transform)


def _official_folder(file: FoundFile, progress: bool) -> Path:
    target = data_folder(NAME) / f"official-{file.sha256[:12]}"
    wanted = {
        f"{OfficialImageSet.base_folder}/{name}"
        for name, _ in (*OfficialImageSet.train_list, *OfficialImageSet.test_list)
    } | {f"{OfficialImageSet.base_folder}/{OfficialImageSet.meta['filename']}"}
    if target.is_dir():
        return target
    with one_process_at_a_time(
        target.parent / f".{target.name}.lock", f"unpacking {NAME}", progress=progress
    ):
        if target.is_dir():
            return target
        try:
            with tarfile.open(file.path) as archive, folder_published_whole(target) as folder:
                members = [member for member in archive if member.isfile() and member.name in wanted]
                need_disk_space(target, sum(member.size for member in members))
                for member in members:
                    content = archive.extractfile(member)
                    path = folder / member.name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    if content is not None:
                        path.write_bytes(content.read())
        except (tarfile.TarError, EOFError, zlib.error) as error:
            raise CourseError(
                f"{file.path} is damaged", found=str(error), next_step=f"run `course data fetch {NAME}`"
            ) from error
    return target


def prepare_for_croissant(*, source: Source = "auto") -> dict[str, Path]:
    """Find the mirror's archive, which Croissant readers take the images from.

    Parameters
    ----------
    source : {"auto", "mirror"}, optional
        Where from; the publisher's own archive holds pickles, which these readers do not open.

    Returns
    -------
    dict of str to Path
        ``@id`` of the file to its place, as :func:`course_lib.manifests.croissant_records` takes it.

    Raises
    ------
    CourseError
        When there is no mirror, or its archive is damaged.
    """
    found = find_data_set(load_manifest(NAME), source=source)
    located = {name: file.path for name, file in (found or {}).items() if file.kind == "mirror"}
    if not located:
        raise CourseError(
            "The JPEG files of CIFAR-10 are not on this machine",
            next_step="set COURSE_DATA to a mirror folder that has them",
        )
    return located
