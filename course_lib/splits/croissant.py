"""A split manifest as Croissant 1.0, so that other tools read which sample is in which split."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.manifests.reading import manifest_names, manifest_path
from course_lib.splits.entries import SAMPLES_FILE, read_split_json
from course_lib.splits.files import SplitManifest
from course_lib.splits.lines import (
    DIGEST_COLUMN,
    GROUP_COLUMN,
    ID_COLUMN,
    SPLIT_COLUMN,
    column_names,
)

_USUAL_URLS = {
    "train": "cr:TrainingSplit",
    "validation": "cr:ValidationSplit",
    "test": "cr:TestSplit",
}
_DESCRIPTIONS = {
    ID_COLUMN: "Id of the sample",
    SPLIT_COLUMN: "Split that the sample belongs to",
    GROUP_COLUMN: "Group that stays whole",
    DIGEST_COLUMN: "SHA-256 of the sample's content with its label",
}
_CONTEXT = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}


def export_croissant(manifest: SplitManifest, path: Path) -> Path:
    """Write the splits as a Croissant file that refers to the manifest's ``samples.csv`` by its digest.

    Two record sets: ``splits`` lists the splits, ``samples`` has one record for each sample.

    Parameters
    ----------
    manifest : SplitManifest
        As it was read from its folder.
    path : Path
        The JSON-LD file; its place relative to ``samples.csv`` is written into it, so move both together.

    Returns
    -------
    Path

    Raises
    ------
    CourseError
        When the file cannot be written, or lies on another drive than the manifest.
    """
    samples_path = manifest.folder.resolve() / SAMPLES_FILE
    try:
        relative = Path(os.path.relpath(samples_path, Path(path).resolve().parent)).as_posix()
    except ValueError as error:
        raise CourseError(
            f"{path} lies on another drive than the split manifest",
            expected=f"a place on the drive of {manifest.folder}",
            next_step="write it into the manifest's folder",
        ) from error
    content = _metadata(manifest, relative, samples_path.stat().st_size)
    return write_atomically(Path(path), json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def _metadata(manifest: SplitManifest, relative: str, size: int) -> dict[str, Any]:
    name = "-".join(part for part in (manifest.dataset, manifest.variant, str(manifest.recipe)) if part)
    columns = column_names(manifest.groups is not None, manifest.sample_digests is not None)
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": name,
        "description": f"Splits of {manifest.title} by the recipe {manifest.recipe}: "
        "sample ids and digests, no data. "
        f"Digest {manifest.digest}.",
        "version": "1.0.0",
        **_said_of_the_data(manifest.dataset),
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": SAMPLES_FILE,
                "name": SAMPLES_FILE,
                "contentUrl": relative,
                "contentSize": f"{size} B",
                "encodingFormat": "text/csv",
                "sha256": read_split_json(manifest.folder)["samples_sha256"],
            }
        ],
        "recordSet": [_splits(manifest), _samples(columns)],
    }


def _said_of_the_data(dataset: str) -> dict[str, Any]:
    """Return licence, citation and date of publication from the data set's own manifest, if it has one."""
    if dataset not in manifest_names():
        return {}
    content = json.loads(manifest_path(dataset).read_text(encoding="utf-8"))
    return {key: content[key] for key in ("license", "citeAs", "datePublished", "url") if key in content}


def _splits(manifest: SplitManifest) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": "splits",
        "name": "splits",
        "description": "The splits, and what each is for.",
        "dataType": "cr:Split",
        "key": {"@id": "splits/name"},
        "field": [
            _field("splits/name", "sc:Text", "Name of the split"),
            _field("splits/url", "sc:URL", "What the split is for, where its name is a usual one"),
        ],
        "data": [
            {"splits/name": name, "splits/url": _USUAL_URLS.get(name, "cr:Split")} for name in manifest.names
        ],
    }


def _samples(columns: list[str]) -> dict[str, Any]:
    fields = []
    for column in columns:
        field = _field(f"samples/{column}", "sc:Text", _DESCRIPTIONS[column])
        field["source"] = {"fileObject": {"@id": SAMPLES_FILE}, "extract": {"column": column}}
        if column == SPLIT_COLUMN:
            field["references"] = {"field": {"@id": "splits/name"}}
        fields.append(field)
    return {
        "@type": "cr:RecordSet",
        "@id": "samples",
        "name": "samples",
        "description": "One record for each sample.",
        "key": {"@id": f"samples/{ID_COLUMN}"},
        "field": fields,
    }


def _field(identifier: str, data_type: str, description: str) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": identifier,
        "name": identifier,
        "description": description,
        "dataType": data_type,
    }
