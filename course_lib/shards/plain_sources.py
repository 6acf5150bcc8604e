"""Sources of payloads from anywhere: a folder, a zip, a store, a table, or what is in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.payloads import (
    BlobSource,
    FileSource,
    SetFacts,
    StoreSource,
    ZipSource,
    as_bytes,
    joined,
    opened_zip,
)
from course_lib.stores.folder import FolderStore
from course_lib.stores.store import Store

if TYPE_CHECKING:
    import pandas


def folder_source(
    folder: Path | str,
    *,
    split: str = "",
    dataset: str | None = None,
    class_names: Sequence[str] | None = None,
    origin: str = "",
) -> FileSource:
    """Return the files of a folder with one subfolder for each class; hidden ones are left out.

    An id is the path below the folder without its ending, such as ``cat-0001`` for ``cat/0001.jpg``.

    Parameters
    ----------
    folder : Path
    split : str, optional
        Which split they are; may be told to `pack` instead.
    dataset : str, optional
        Name; the folder's where left out.
    class_names : sequence of str, optional
        The label map; without it the subfolders, sorted.
    origin : str, optional
        Where the data came from, in words.

    Raises
    ------
    CourseError
        When the folder cannot be listed, holds no file in a class folder or files of several kinds, or a
        class that the label map does not have.
    """
    root = Path(folder)
    names = FolderStore(root).list()
    facts, ids, labels = _from_names(names, str(folder), split, dataset or root.name, class_names, origin)
    return FileSource(facts, ids, labels, str(root), as_bytes(names))


def zip_source(
    archive: Path | str,
    *,
    split: str = "",
    dataset: str | None = None,
    class_names: Sequence[str] | None = None,
    origin: str = "",
) -> ZipSource:
    """Return the members of a zip archive with one folder for each class; see `folder_source`."""
    path = Path(archive)
    with opened_zip(path) as opened:
        names = sorted(member.filename for member in opened.infolist() if not member.is_dir())
    names = [name for name in names if not any(part.startswith(".") for part in name.split("/"))]
    facts, ids, labels = _from_names(names, str(path), split, dataset or path.stem, class_names, origin)
    return ZipSource(facts, ids, labels, str(path), as_bytes(names))


def store_source(
    store: Store,
    *,
    dataset: str,
    split: str = "",
    prefix: str = "",
    class_names: Sequence[str] | None = None,
    origin: str = "",
) -> StoreSource:
    """Return the objects of a store below a prefix, one folder for each class; see `folder_source`."""
    names = store.list(prefix)
    below = [name[len(prefix) :] for name in names]
    facts, ids, labels = _from_names(below, f"{store}", split, dataset, class_names, origin)
    return StoreSource(facts, ids, labels, store, as_bytes(names))


def blob_source(
    payloads: Iterable[bytes | str],
    ids: Sequence[str],
    labels: Sequence[int] | NDArray[np.integer[Any]],
    *,
    dataset: str,
    class_names: Sequence[str],
    extension: str,
    split: str = "",
    origin: str = "",
) -> BlobSource:
    """Return payloads that are in memory: bytes, or texts that become UTF-8.

    Raises
    ------
    CourseError
        When there are not as many payloads and labels as ids.
    """
    blob, bounds = joined(
        payload.encode("utf-8") if isinstance(payload, str) else payload for payload in payloads
    )
    if not len(ids) == len(labels) == len(bounds) - 1:
        raise CourseError(
            f"The columns of {dataset} have different lengths",
            expected="an id, a label and a payload for each sample",
            found=f"{len(ids):,}, {len(labels):,} and {len(bounds) - 1:,}",
        )
    facts = SetFacts(dataset, split, tuple(class_names), extension, origin=origin)
    return BlobSource(facts, as_bytes(ids), np.asarray(labels, dtype=np.int32), blob, bounds)


def table_source(
    frame: pandas.DataFrame,
    ids: Sequence[str],
    labels: Sequence[int] | NDArray[np.integer[Any]],
    *,
    dataset: str,
    class_names: Sequence[str],
    leaving_out: Sequence[str] = (),
    split: str = "",
    origin: str = "",
) -> BlobSource:
    """Return the rows of a table, each as one line of canonical JSON without the columns ``leaving_out``."""
    from course_lib.datasets.samples import canonical_rows

    return blob_source(
        canonical_rows(frame, leaving_out=leaving_out),
        ids,
        labels,
        dataset=dataset,
        class_names=class_names,
        extension="json",
        split=split,
        origin=origin,
    )


def _from_names(
    names: Sequence[str],
    title: str,
    split: str,
    dataset: str,
    class_names: Sequence[str] | None,
    origin: str,
) -> tuple[SetFacts, NDArray[np.bytes_], NDArray[np.int32]]:
    folders = [name.split("/")[-2] if "/" in name else "" for name in names]
    if not names or "" in folders:
        raise CourseError(
            f"{title} holds no folders of samples" if not names else f"{title} has a file in no class folder",
            expected="files such as cat/0001.jpg",
            found="none" if not names else names[folders.index("")],
            next_step="put the files into one folder for each class",
        )
    endings = sorted({name.rpartition("/")[2].rpartition(".")[2].lower() for name in names if "." in name})
    if len(endings) != 1:
        raise CourseError(
            f"{title} holds files of several kinds",
            expected="one kind, such as .jpg, for a shard set",
            found=", ".join(endings) or "names without an ending",
            next_step="leave out what does not belong to the samples",
        )
    classes = tuple(class_names) if class_names is not None else tuple(sorted(set(folders)))
    codes = {name: code for code, name in enumerate(classes)}
    unknown = next((folder for folder in folders if folder not in codes), None)
    if unknown is not None:
        raise CourseError(
            f"{title} has a class that the label map does not have",
            expected=", ".join(classes[:12]),
            found=unknown,
            next_step="correct the label map, or move the folder away",
        )
    ids = as_bytes([name.rpartition(".")[0].replace("/", "-") for name in names])
    labels = np.fromiter((codes[folder] for folder in folders), dtype=np.int32, count=len(folders))
    facts = SetFacts(dataset, split, classes, endings[0], origin=origin, id_kind="file name")
    return facts, ids, labels
