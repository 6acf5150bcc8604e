"""A case as files: the data, the split manifest, the fitted statistics and the loader's label map.

Every case has the same names of files and the same columns, whatever is wrong with it.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.leakage.custody.faults import ManifestEdit
from course_lib.leakage.custody.material import FORMS, RECIPE, Material
from course_lib.leakage.custody.reading import brief, is_text_list, read_json

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

    from course_lib.splits import SampleTable, SplitManifest

CASE = "case.json"
TABLE = "table.csv"
PICTURES = "pictures.npy"
SPLIT = "split"
STATISTICS = "statistics.json"
LOADER = "loader.json"
DATASET = "custody_bench"

_SCHEMA_VERSION = 1
_PICTURE_SHAPE = (32, 32, 3)
_NEXT_STEP = "get the case anew from whoever handed it out"
_OWN_COLUMNS = ("sample_id", "client", "day", "label", "text")
PROMISES = (
    "no sample, or one nearly like it, is in two parts",
    "no client is in two parts",
    "the parts follow each other in time",
    "every part has every class, in shares that hold still",
    "no field knows the answer",
    "the statistics were fitted on the training part",
    "the loader uses the published label map",
    "the manifest is as it was written",
)


def write_case(material: Material, edit: ManifestEdit, folder: Path, name: str) -> Path:
    """Write a data set with its manifest as a case.

    Parameters
    ----------
    material : Material
    edit : ManifestEdit
        What to change in the manifest once it has its digest.
    folder : Path
        Made when it is not there.
    name : str
        The case's name, which says nothing about what is wrong.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    CourseError
        When the folder cannot be written.
    """
    from course_lib.splits import Split, parse_recipe, write_split

    order = sorted(range(len(material)), key=lambda position: material.ids[position])
    case = {
        "schema_version": _SCHEMA_VERSION,
        "name": name,
        "form": material.form,
        "published_label_map": material.published_map,
    }
    write_atomically(folder / CASE, _json(case))
    write_atomically(folder / TABLE, _table_text(material, order))
    if material.pictures is not None:
        payload = io.BytesIO()
        np.save(payload, material.pictures[order], allow_pickle=False)
        write_atomically(folder / PICTURES, payload.getvalue())
    write_atomically(folder / STATISTICS, _json(material.statistics))
    write_atomically(folder / LOADER, _json({"label_map": material.loader_map}))
    samples = CaseFiles(folder).samples
    codes = np.asarray([material.codes[position] for position in order], dtype=np.int8)
    write_split(Split(samples, parse_recipe(RECIPE), codes, ()), folder / SPLIT)
    _edit_manifest(folder / SPLIT / "samples.csv", edit)
    return folder


def _json(content: object) -> str:
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _table_text(material: Material, order: list[int]) -> str:
    """Return the table as CSV, in the order of the ids, which says nothing about time."""
    with_text = bool(material.texts)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["sample_id", "client", "day", *material.fields, *(["text"] if with_text else []), "label"]
    )
    for position in order:
        writer.writerow(
            [
                material.ids[position],
                material.clients[position],
                material.days[position],
                *(repr(values[position]) for values in material.fields.values()),
                *([material.texts[position]] if with_text else []),
                material.labels[position],
            ]
        )
    return out.getvalue()


def _edit_manifest(file: Path, edit: ManifestEdit) -> None:
    """Change lines of a written samples.csv and leave the digest beside it as it was."""
    if edit == ManifestEdit():
        return
    rows = list(csv.reader(io.StringIO(file.read_text(encoding="utf-8"))))
    split_at, digest_at = rows[0].index("split"), rows[0].index("sha256")
    moved = dict(edit.moved)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for row in rows:
        sample_id = row[0]
        if sample_id in edit.dropped:
            continue
        row[split_at] = moved.get(sample_id, row[split_at])
        if sample_id in edit.relabelled:
            row[digest_at] = hashlib.sha256(row[digest_at].encode()).hexdigest()
        writer.writerow(row)
    write_atomically(file, out.getvalue())


@dataclass(frozen=True)
class CaseFiles:
    """The files of a case, each read when it is first needed.

    Attributes
    ----------
    folder : Path

    Raises
    ------
    CourseError
        From every property: when a file is missing or is not what a case holds.
    """

    folder: Path

    @cached_property
    def about(self) -> dict[str, Any]:
        """The case's name, form and published label map."""
        about = self._json(CASE)
        if about.get("schema_version") != _SCHEMA_VERSION or about.get("form") not in list(FORMS):
            raise CourseError(
                f"{self.folder / CASE} does not describe a case of this version",
                expected=f"schema_version {_SCHEMA_VERSION} and a form among {', '.join(FORMS)}",
                found=f"{brief(about.get('schema_version'))} and {brief(about.get('form'))}",
                next_step=_NEXT_STEP,
            )
        label_map = about.get("published_label_map")
        if not isinstance(about.get("name"), str) or not _is_label_map(label_map):
            raise self.changed(CASE, "a name and a label map of codes from 0 on", brief(label_map))
        return about

    @property
    def form(self) -> str:
        """ "calls", "news" or "pictures"."""
        return str(self.about["form"])

    @property
    def class_names(self) -> tuple[str, ...]:
        """The published names of the classes in the order of their codes."""
        return tuple(self.about["published_label_map"].values())

    @cached_property
    def table(self) -> pandas.DataFrame:
        """The table, a row for each sample in the order of the ids."""
        import pandas as pd

        try:
            frame = pd.read_csv(
                self._there(TABLE),
                dtype={"sample_id": str, "client": str, "day": str, "text": str},
                keep_default_na=False,
                encoding="utf-8",
            )
        except (OSError, ValueError) as error:
            raise self.changed(TABLE, "a table as CSV in UTF-8", str(error).strip()) from error
        needed = ["sample_id", "client", "day", "label", *(["text"] if self.form == "news" else [])]
        missing = [name for name in needed if name not in frame.columns]
        if missing:
            raise self.changed(TABLE, "a column for each part of a sample", f"no {', '.join(missing)}")
        if frame.empty or not frame["sample_id"].is_unique:
            found = "a sample listed twice" if len(frame) else "none"
            raise self.changed(TABLE, "samples, each once", found)
        no_numbers = [
            name
            for name in frame.columns
            if name not in _OWN_COLUMNS and not pd.api.types.is_numeric_dtype(frame[name])
        ]
        if no_numbers:
            raise self.changed(TABLE, "numbers in every field", f"other values in {', '.join(no_numbers)}")
        return frame

    @cached_property
    def fields(self) -> pandas.DataFrame:
        """The numeric fields alone."""
        return self.table[[name for name in self.table.columns if name not in _OWN_COLUMNS]]

    @cached_property
    def pictures(self) -> NDArray[np.uint8]:
        """The pictures, shape (samples, 32, 32, 3), in the order of the table."""
        try:
            pictures = np.load(self._there(PICTURES), allow_pickle=False)
        except (OSError, EOFError, ValueError) as error:
            raise self.changed(PICTURES, "an array that NumPy saved", str(error)) from error
        shape = (len(self.table), *_PICTURE_SHAPE)
        if not isinstance(pictures, np.ndarray) or pictures.dtype != np.uint8 or pictures.shape != shape:
            found = f"{pictures.dtype} {pictures.shape}" if isinstance(pictures, np.ndarray) else "no array"
            raise self.changed(PICTURES, f"uint8 {shape}", found)
        return pictures

    @cached_property
    def statistics(self) -> dict[str, dict[str, float]]:
        """Mean and standard deviation of each field, as the scaler keeps them."""
        statistics = self._json(STATISTICS)
        fields = list(self.fields.columns)
        for name, summaries in statistics.items():
            if name not in fields or not _are_figures(summaries):
                raise self.changed(STATISTICS, "figures for fields of the table", brief({name: summaries}))
        return statistics

    @cached_property
    def loader_map(self) -> dict[str, str]:
        """Code to class name, as the loading code used it."""
        label_map = self._json(LOADER).get("label_map")
        if not _is_label_map(label_map):
            raise self.changed(LOADER, "a label map of codes from 0 on", brief(label_map))
        assert isinstance(label_map, dict)
        return label_map

    @cached_property
    def samples(self) -> SampleTable:
        """What splits and manifests need of the data."""
        from course_lib.splits import sample_table

        return sample_table(
            self.table["sample_id"].tolist(),
            self.table["label"].to_numpy(),
            dataset=DATASET,
            variant=self.form,
            id_kind="drawn at random when the sample was written down",
            content=self._content_digests(),
            groups=self.table["client"].tolist(),
            times=self.table["day"].tolist(),
            class_names=self.class_names,
        )

    @cached_property
    def manifest(self) -> SplitManifest:
        """The split manifest as it stands there, its digest not checked."""
        from course_lib.splits import read_split

        return read_split(self.folder / SPLIT, trust=True)

    def _content_digests(self) -> NDArray[np.uint8]:
        """Return the SHA-256 of each sample's content, shape (samples, 32)."""
        if self.form == "calls":
            contents = [json.dumps(values).encode() for values in self.fields.to_numpy(dtype=float).tolist()]
        elif self.form == "news":
            contents = [text.encode() for text in self.table["text"]]
        else:
            contents = [picture.tobytes() for picture in self.pictures]
        digests = b"".join(hashlib.sha256(content).digest() for content in contents)
        return np.frombuffer(digests, dtype=np.uint8).reshape(-1, 32)

    def _there(self, name: str) -> Path:
        file = self.folder / name
        if not file.is_file():
            raise CourseError(
                f"{self.folder} is no whole case",
                expected=f"a file {name}",
                found="none",
                next_step=_NEXT_STEP,
            )
        return file

    def _json(self, name: str) -> dict[str, Any]:
        content = read_json(self._there(name), "a part of a case")
        if not isinstance(content, dict):
            raise self.changed(name, "a JSON object", brief(content))
        return content

    def changed(self, name: str, expected: str, found: str) -> CourseError:
        """Return the error for a file that is not as `write_case` wrote it."""
        return CourseError(
            f"{self.folder / name} is not as it belongs to a case",
            expected=expected,
            found=(found.splitlines() or ["nothing"])[0].rstrip("."),
            next_step=_NEXT_STEP,
        )


def _is_label_map(value: object) -> bool:
    """Tell whether a value maps the codes 0, 1, 2, ... as text, in any order, to names, each once."""
    return (
        isinstance(value, dict)
        and len(value) > 0
        and set(value) == {str(code) for code in range(len(value))}
        and is_text_list(list(value.values()))
        and len(set(value.values())) == len(value)
    )


def _are_figures(value: object) -> bool:
    return (
        isinstance(value, dict)
        and set(value) <= {"mean", "std"}
        and all(isinstance(figure, (int, float)) and math.isfinite(figure) for figure in value.values())
    )
