"""The samples of one split with their payloads: of the three tasks, or of any source by a split manifest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from course_lib.datasets.settings import Source
from course_lib.errors import CourseError
from course_lib.shards.payloads import ArraySource, BlobSource, FileSource, SetFacts, as_bytes
from course_lib.shards.plain_sources import blob_source, table_source

if TYPE_CHECKING:
    from course_lib.datasets.cifar10 import ImageSet
    from course_lib.splits.files import SplitManifest


def source_for(
    name: str,
    split: str | SplitManifest = "train",
    *,
    part: str = "train",
    recipe: str | None = None,
    variant: str = "",
    source: Source = "auto",
) -> ArraySource:
    """Return the samples of one split of a task, with their payloads.

    A payload is what the split manifest took its digest of: the bytes of an image file, a text in UTF-8, or a
    row of the table as canonical JSON without its label.

    Parameters
    ----------
    name : {"bank_marketing", "cifar10", "ag_news"}
        Which task.
    split : str or SplitManifest, optional
        Name of the split, made by ``recipe`` and kept with the learner's splits; or a manifest, whose
        ``part`` is taken.
    part : str, optional
        Which split of a manifest.
    recipe : str, optional
        Such as ``official-90-10``; without it the workbook's own for this task.
    variant : str, optional
        Of Bank Marketing.
    source : {"auto", "official", "mirror", "generated"}, optional
        As for the loaders.

    Raises
    ------
    CourseError
        For an unknown task, recipe or split, and when a sample of the split has no payload.
    """
    from course_lib.datasets.samples import load_samples
    from course_lib.splits import locked_split, parse_recipe

    if isinstance(split, str):
        samples, origin = load_samples(name, variant, source=source)
        chosen = parse_recipe(recipe or _default_recipe(name, origin.kind == "generated"))
        manifest, part = locked_split(samples, chosen, origin=origin.label()), split
    else:
        manifest = split
    if name not in _MAKERS:
        raise CourseError("There is no data set of this name", expected=", ".join(_MAKERS), found=repr(name))
    return restricted(_MAKERS[name](variant, source), manifest, part)


def need_split(name: str, split: str, recipe: str | None = None) -> None:
    """Refuse a split that a recipe does not make of one of the three tasks, before any data are loaded.

    Raises
    ------
    CourseError
        For another name, and a recipe that is none.
    """
    from course_lib.splits import parse_recipe

    names = parse_recipe(recipe or _default_recipe(name, True)).names
    if name in _MAKERS and split not in names:
        raise CourseError(
            f"There is no split of this name in {name}",
            expected=", ".join(names),
            found=repr(split),
            next_step="name one of these, or the --manifest that has it",
        )


def restricted(source: ArraySource, manifest: SplitManifest, split: str) -> ArraySource:
    """Return the samples of one split; their payloads will be checked by the manifest's digests.

    Parameters
    ----------
    source : ArraySource
        Samples of any split; those of others are left out.
    manifest : SplitManifest
    split : str
        Which of its splits.

    Raises
    ------
    CourseError
        When the manifest has no such split, the split is empty, or a sample of it is not in the source.
    """
    places = manifest.positions(split)
    ids = manifest.ids.take(pa.array(places))
    if not len(ids):
        raise CourseError(
            f"The split {split} of {manifest.title} holds no sample", next_step="choose another one"
        )
    have = pa.array([sample_id.decode("utf-8", "replace") for sample_id in source.ids.tolist()], pa.string())
    positions = pc.index_in(ids, value_set=have)
    if positions.null_count:
        missing = ids[pc.index(pc.is_null(positions), True).as_py()].as_py()
        raise CourseError(
            f"Samples of split {split} of {manifest.title} have no payload",
            expected=f"{len(ids):,} samples",
            found=f"{positions.null_count:,} missing, the first is {missing}",
            next_step="pack from the data that the split was made of",
        )
    digests = manifest.sample_digests
    facts = replace(
        source.facts,
        dataset=manifest.dataset,
        variant=manifest.variant,
        split=split,
        split_digest=manifest.digest,
        data_digest=manifest.data_digest,
        origin=source.facts.origin or manifest.origin,
        id_kind=manifest.id_kind,
    )
    taken = source.take(positions.to_numpy(zero_copy_only=False).astype(np.int64))
    return replace(taken, facts=facts, sample_digests=None if digests is None else digests[places])


def _default_recipe(name: str, generated: bool) -> str:
    """Return the recipe whose digest the workbook has for real data; generated ones come in other numbers."""
    if name == "bank_marketing":
        return "ordered-70-15-15"
    return "official-45000-5000" if name == "cifar10" and not generated else "official-90-10"


def _bank(variant: str, source: Source) -> ArraySource:
    from course_lib.datasets.bank_marketing import DEFAULT_VARIANT, load_bank_marketing
    from course_lib.datasets.samples import bank_samples

    table = load_bank_marketing(variant or DEFAULT_VARIANT, source=source)
    samples = bank_samples(table)
    return table_source(
        table.frame,
        samples.ids.to_pylist(),
        samples.labels,
        dataset=samples.dataset,
        class_names=samples.class_names,
        leaving_out=[table.manifest.label_field.name],
        origin=table.origin.label(),
    )


def _images(_: str, source: Source) -> ArraySource:
    from course_lib.datasets.cifar10 import load_cifar10
    from course_lib.datasets.samples import both_parts

    parts = [load_cifar10("train", source=source), load_cifar10("test", source=source)]
    origin = both_parts(parts[0].origin, parts[1].origin).label()
    labels = np.concatenate([images.labels for images in parts]).astype(np.int32)
    return _image_files(parts, labels, origin) or _image_pixels(parts, labels, origin)


def _image_files(parts: Sequence[ImageSet], labels: NDArray[np.int32], origin: str) -> ArraySource | None:
    from course_lib.datasets.cifar10 import JpegImageSet

    # Training and test images of generated data lie in two folders, and so a name begins with its folder.
    files = [images.files() for images in parts if isinstance(images, JpegImageSet)]
    if len(files) != len(parts):
        return None
    same = len({part.folder for part in files}) == 1
    root = files[0].folder if same else files[0].folder.parent
    names = [_below(root, part.folder, part.names) for part in files]
    ids = [np.char.replace(_without_ending(part.names), b"/", b"-") for part in files]
    facts = SetFacts("cifar10", "", tuple(parts[0].classes), "jpg", origin=origin, id_kind="file name")
    return FileSource(facts, np.concatenate(ids), labels, str(root), np.concatenate(names))


def _image_pixels(parts: Sequence[ImageSet], labels: NDArray[np.int32], origin: str) -> ArraySource:
    pixels = np.concatenate([images.data for images in parts])  # type: ignore[attr-defined]
    ids = [images.sample_id(at) for images in parts for at in range(len(images.labels))]
    size = int(np.prod(pixels.shape[1:]))
    facts = SetFacts("cifar10", "", tuple(parts[0].classes), "rgb", origin=origin)
    return BlobSource(facts, as_bytes(ids), labels, pixels.tobytes(), size * np.arange(len(ids) + 1))


def _texts(_: str, source: Source) -> ArraySource:
    from course_lib.datasets.ag_news import load_ag_news
    from course_lib.datasets.samples import both_parts

    parts = [load_ag_news("train", source=source), load_ag_news("test", source=source)]
    return blob_source(
        (text for texts in parts for text in texts.dataset["text"]),
        [sample_id for texts in parts for sample_id in texts.dataset["sample_id"]],
        np.concatenate([np.asarray(texts.dataset["label"], dtype=np.int32) for texts in parts]),
        dataset="ag_news",
        class_names=tuple(parts[0].manifest.label_map),
        extension="txt",
        origin=both_parts(parts[0].origin, parts[1].origin).label(),
    )


def _without_ending(names: NDArray[np.bytes_]) -> NDArray[np.bytes_]:
    return np.char.rpartition(names, b".")[:, 0]


def _below(root: Path, folder: Path, names: NDArray[np.bytes_]) -> NDArray[np.bytes_]:
    inside = folder.relative_to(root).as_posix()
    return names if inside == "." else np.char.add(f"{inside}/".encode(), names)


_MAKERS = {"bank_marketing": _bank, "cifar10": _images, "ag_news": _texts}
