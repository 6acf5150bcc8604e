"""The samples behind the three tasks: ids, classes, order in time, official part and content digests.

No rows, images or texts stay in memory and none are kept; what is left of a sample is its id and a digest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.datasets.origin import Origin
from course_lib.datasets.settings import Source
from course_lib.errors import CourseError
from course_lib.splits.samples import SampleTable, sample_table

if TYPE_CHECKING:
    import pandas

    from course_lib.datasets.ag_news import TextSet
    from course_lib.datasets.bank_marketing import Table
    from course_lib.datasets.cifar10 import ImageSet

POSITION = "position in the published file"
FILE_NAME = "file name"

_DIGEST_BYTES = 32
_TRAIN, _TEST = 0, 1


def load_samples(name: str, variant: str = "", *, source: Source = "auto") -> tuple[SampleTable, Origin]:
    """Load a task's data once and keep of each sample what a split and its manifest need.

    Parameters
    ----------
    name : {"bank_marketing", "cifar10", "ag_news"}
        Which task.
    variant : str, optional
        Of Bank Marketing: "additional-full" (without it) or "full".
    source : {"auto", "official", "mirror", "generated"}, optional
        As for the loaders.

    Returns
    -------
    SampleTable, Origin
        The samples in the order of the files, and where they came from. The table's ``variant`` tells
        apart what never shares a split: generated data, JPEG files and pixels, the mirror's part of
        AG News and the whole of it.

    Raises
    ------
    CourseError
        For an unknown task or variant, and as the loader does.
    """
    loaders: dict[str, Callable[[str, Source], tuple[SampleTable, Origin]]] = {
        "bank_marketing": _load_bank,
        "cifar10": _load_images,
        "ag_news": _load_texts,
    }
    if name not in loaders:
        raise CourseError("There is no data set of this name", expected=", ".join(loaders), found=repr(name))
    if variant and name != "bank_marketing":
        raise CourseError(
            f"The data set {name} has no variants", found=repr(variant), next_step="leave it out"
        )
    return loaders[name](variant, source)


def bank_samples(table: Table) -> SampleTable:
    """Return the samples of a Bank Marketing table: an id is the row's place in the file, and so is its time.

    Two rows with the same values have the same content digest, whatever the clients' answers.
    """
    label = table.manifest.label_field.name
    names = tuple(table.manifest.label_map)
    rows = len(table.frame)
    return sample_table(
        [f"row-{place:05d}" for place in range(1, rows + 1)],
        _codes(table.frame[label].tolist(), table.manifest.label_map),
        dataset=table.origin.dataset,
        variant=_variant(table.origin, table.origin.variant),
        id_kind=POSITION,
        content=row_digests(table.frame, leaving_out=[label]),
        times=np.arange(1, rows + 1, dtype=np.int64),
        class_names=names,
    )


def image_samples(train: ImageSet, test: ImageSet) -> SampleTable:
    """Return the samples of CIFAR-10: digests are those of the files, or of the publisher's pixels."""
    parts = (train, test)
    is_official = train.origin.kind == "official"
    return sample_table(
        [part.sample_id(at) for part in parts for at in range(len(part.labels))],
        np.concatenate([part.labels for part in parts]).astype(np.int32),
        dataset=train.origin.dataset,
        variant=_variant(both_parts(train.origin, test.origin), "pixels" if is_official else "jpeg"),
        id_kind=POSITION if is_official else FILE_NAME,
        content=_gathered(payload for part in parts for payload in _image_payloads(part)),
        official=_parts(len(train.labels), len(test.labels)),
        class_names=tuple(train.classes),
    )


def text_samples(train: TextSet, test: TextSet) -> SampleTable:
    """Return the samples of AG News: an id tells the published part and the row, a digest is the text's."""
    import pyarrow as pa

    parts = (train.dataset, test.dataset)
    published = "train-sample" if train.origin.kind == "mirror" else ""
    return sample_table(
        pa.chunked_array([chunk for part in parts for chunk in _arrow_chunks(part, "sample_id")]),
        np.concatenate([np.asarray(part["label"], dtype=np.int32) for part in parts]),
        dataset=train.origin.dataset,
        variant=_variant(both_parts(train.origin, test.origin), published),
        id_kind=POSITION,
        content=_gathered(text.encode("utf-8") for part in parts for text in _texts(part)),
        official=_parts(len(train.dataset), len(test.dataset)),
        class_names=tuple(train.manifest.label_map),
    )


def row_digests(frame: pandas.DataFrame, *, leaving_out: Collection[str] = ()) -> NDArray[np.uint8]:
    """Return the SHA-256 of each row of a table in canonical form.

    The canonical form is a JSON object in UTF-8 without blanks, names sorted, whole numbers without a
    fraction, null for a missing value: neither the order of the columns nor how a file spells 5191.0
    makes a difference.

    Parameters
    ----------
    frame : pandas.DataFrame
        Text, integers and floats; values may be missing.
    leaving_out : collection of str, optional
        Columns that do not count, such as the label.

    Returns
    -------
    ndarray of uint8, shape (rows, 32)

    Raises
    ------
    CourseError
        For a column that is not there, or a value of another kind.
    """
    return _gathered(canonical_rows(frame, leaving_out=leaving_out))


def canonical_rows(frame: pandas.DataFrame, *, leaving_out: Collection[str] = ()) -> Iterator[bytes]:
    """Return the canonical form of each row, in UTF-8, as `row_digests` describes it.

    Raises
    ------
    CourseError
        As `row_digests` does.
    """
    unknown = sorted(set(leaving_out) - set(frame.columns))
    if unknown:
        raise CourseError("The table has no such column", found=", ".join(unknown))
    names = sorted(name for name in frame.columns if name not in set(leaving_out))
    if not names:
        raise CourseError("No column is left to take a digest of", next_step="leave out fewer")
    columns = [_json_cells(frame[name].tolist(), name) for name in names]
    heads = [json.dumps(name, ensure_ascii=False) for name in names]

    def canonical(cells: Sequence[str]) -> bytes:
        return ("{" + ",".join(map("{}:{}".format, heads, cells)) + "}").encode("utf-8")

    return map(canonical, zip(*columns, strict=True))


def _json_cells(values: Sequence[Any], name: str) -> list[str]:
    written: dict[Any, str] = {}
    for value in set(values):
        missing = value is None or value != value
        if not (missing or isinstance(value, (str, int)) or (isinstance(value, float) and isfinite(value))):
            raise CourseError(
                f"Column {name} holds a value that has no canonical form",
                expected="text, finite numbers or missing values",
                found=repr(value) if isinstance(value, float) else type(value).__name__,
            )
        whole = isinstance(value, float) and value.is_integer()
        plain = None if missing else int(value) if whole else value
        written[value] = json.dumps(plain, ensure_ascii=False)
    return [written[value] for value in values]


def _load_bank(variant: str, source: Source) -> tuple[SampleTable, Origin]:
    from course_lib.datasets.bank_marketing import DEFAULT_VARIANT, load_bank_marketing

    table = load_bank_marketing(variant or DEFAULT_VARIANT, source=source)
    return bank_samples(table), table.origin


def _load_images(_: str, source: Source) -> tuple[SampleTable, Origin]:
    from course_lib.datasets.cifar10 import load_cifar10

    train, test = load_cifar10("train", source=source), load_cifar10("test", source=source)
    return image_samples(train, test), both_parts(train.origin, test.origin)


def _load_texts(_: str, source: Source) -> tuple[SampleTable, Origin]:
    from course_lib.datasets.ag_news import load_ag_news

    train, test = load_ag_news("train", source=source), load_ag_news("test", source=source)
    return text_samples(train, test), both_parts(train.origin, test.origin)


def both_parts(train: Origin, test: Origin) -> Origin:
    """Return the origin of training and test part together.

    Parts out of one archive keep its digest; else it is the digest of the two digests, each in
    hexadecimal digits on a line of its own.
    """
    digest = train.sha256
    if test.sha256 != digest:
        digest = hashlib.sha256(f"{train.sha256}\n{test.sha256}\n".encode()).hexdigest()
    count = train.sample_count + test.sample_count
    return Origin(train.kind, train.dataset, train.variant, count, digest, train.seed)


def _variant(origin: Origin, real: str) -> str:
    """Return the name under which samples of this origin keep their splits."""
    if origin.kind != "generated":
        return real
    made = f"generated-{origin.seed}-{origin.sample_count}"
    return f"{origin.variant}-{made}" if origin.variant else made


def _codes(values: Sequence[str], label_map: Any) -> NDArray[np.int32]:
    return np.fromiter((label_map[value] for value in values), dtype=np.int32, count=len(values))


def _parts(train: int, test: int) -> NDArray[np.int8]:
    return np.repeat(np.array([_TRAIN, _TEST], dtype=np.int8), [train, test])


def _gathered(payloads: Iterator[bytes]) -> NDArray[np.uint8]:
    """Return the SHA-256 of each payload as it comes by, 32 bytes a row."""
    digests = bytearray()
    for payload in payloads:
        digests += hashlib.sha256(payload).digest()
    return np.frombuffer(bytes(digests), dtype=np.uint8).reshape(-1, _DIGEST_BYTES)


def _image_payloads(images: ImageSet) -> Iterator[bytes]:
    from course_lib.datasets.cifar10 import OfficialImageSet
    from course_lib.datasets.image_folders import damaged_folder

    if isinstance(images, OfficialImageSet):
        yield from (pixels.tobytes() for pixels in images.data)
        return
    samples: Sequence[tuple[str, int]] = images.samples  # type: ignore[attr-defined]
    for at in range(len(samples)):
        path = Path(samples[at][0])
        try:
            yield path.read_bytes()
        except OSError as error:
            folder = path.parents[2]
            raise damaged_folder(folder, f"sample {images.sample_id(at)} cannot be read") from error


def _texts(dataset: Any) -> Iterator[str]:
    for chunk in _arrow_chunks(dataset, "text"):
        yield from chunk.to_pylist()


def _arrow_chunks(dataset: Any, column: str) -> Iterator[Any]:
    for batch in dataset.with_format("arrow").iter(batch_size=1000):
        yield from batch.column(column).chunks
