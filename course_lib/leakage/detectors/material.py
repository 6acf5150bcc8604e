"""The data behind a split manifest, where they are on this machine."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.leakage.detectors.finding import Finding
from course_lib.leakage.detectors.parts import Parts

if TYPE_CHECKING:
    import pandas

    from course_lib.datasets import Source
    from course_lib.splits import SampleTable

_GENERATED = re.compile(r"(?P<real>.*?)-?generated-(?P<seed>[0-9]{1,19})-(?P<count>[0-9]{1,7})")
# Known to be measured anew for each contact, and so to hide that two rows are one client's.
_MEASURED_ANEW = ["duration"]


@dataclass(frozen=True, eq=False)
class Material:
    """A data set as the detectors want it.

    Attributes
    ----------
    samples : SampleTable
        Ids, labels, content digests, times.
    near_duplicates : callable
        Takes a split and the places of its samples in ``samples``; runs the detector for this kind of data.
    frame : pandas.DataFrame or None
        The rows of a table, in the order of ``samples``.
    label : str
        The label's column in ``frame``.
    """

    samples: SampleTable
    near_duplicates: Callable[[Parts, NDArray[np.intp]], Finding]
    frame: pandas.DataFrame | None = None
    label: str = ""


def load_material(dataset: str, variant: str) -> Material:
    """Load the data set that a manifest names.

    Raises
    ------
    CourseError
        When there is no such data set, or the data here are of another variant.
    """
    loaders: dict[str, Callable[[str], Material]] = {
        "bank_marketing": _bank,
        "cifar10": _images,
        "ag_news": _texts,
    }
    if dataset not in loaders:
        raise CourseError(f"{dataset} is no data set of the workbook", expected=" or ".join(loaders))
    material = loaders[dataset](variant)
    if variant and material.samples.variant != variant:
        raise CourseError(
            f"The data of {dataset} on this machine are others than the manifest's",
            expected=variant,
            found=material.samples.variant,
        )
    return material


def _source_of(variant: str) -> Source:
    return "generated" if _GENERATED.fullmatch(variant) else "auto"


def _bank(variant: str) -> Material:
    from course_lib.datasets import load_bank_marketing
    from course_lib.datasets.bank_marketing import DEFAULT_VARIANT
    from course_lib.datasets.samples import bank_samples

    made = _GENERATED.fullmatch(variant)
    wanted: dict[str, Any] = {}
    if made:
        wanted = {"source": "generated", "seed": int(made["seed"]), "row_count": int(made["count"])}
    table = load_bank_marketing((made["real"] if made else variant) or DEFAULT_VARIANT, **wanted)
    label = table.manifest.label_field.name

    def near_duplicates(parts: Parts, rows: NDArray[np.intp]) -> Finding:
        from course_lib.leakage.detectors.near_rows import find_near_duplicate_rows

        inputs = table.frame.drop(columns=label).iloc[rows]
        return find_near_duplicate_rows(parts, inputs, ignoring=_MEASURED_ANEW)

    return Material(bank_samples(table), near_duplicates, table.frame, label)


def _images(variant: str) -> Material:
    from course_lib.datasets import load_cifar10
    from course_lib.datasets.samples import image_samples

    source = _source_of(variant)
    train, test = load_cifar10("train", source=source), load_cifar10("test", source=source)
    samples = image_samples(train, test)

    def near_duplicates(parts: Parts, rows: NDArray[np.intp]) -> Finding:
        from course_lib.leakage.detectors.near_images import find_near_duplicate_images

        pixels = np.stack(
            [
                np.asarray(train[at][0] if at < len(train.labels) else test[at - len(train.labels)][0])
                for at in rows
            ]
        )
        content = None if samples.content is None else samples.content[rows]
        return find_near_duplicate_images(parts, pixels, labels=samples.labels[rows], content=content)

    return Material(samples, near_duplicates)


def _texts(variant: str) -> Material:
    from course_lib.datasets import load_ag_news
    from course_lib.datasets.samples import text_samples

    source = _source_of(variant)
    train, test = load_ag_news("train", source=source), load_ag_news("test", source=source)
    samples = text_samples(train, test)

    def near_duplicates(parts: Parts, rows: NDArray[np.intp]) -> Finding:
        from course_lib.leakage.detectors.near_texts import find_near_duplicate_texts

        texts = [*train.dataset["text"], *test.dataset["text"]]
        return find_near_duplicate_texts(parts, [texts[at] for at in rows], labels=samples.labels[rows])

    return Material(samples, near_duplicates)
