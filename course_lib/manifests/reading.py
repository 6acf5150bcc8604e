"""Reading a Croissant file as plain JSON: quick, and without any library for it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from course_lib.errors import CourseError
from course_lib.manifests.model import (
    DataManifest,
    DataType,
    Field,
    MemberFile,
    Moment,
    PreparedFile,
    PublishedFile,
    Role,
)
from course_lib.paths import manifests_folder

_FILE_NAME = "croissant.json"
_DATA_TYPES: dict[str, DataType] = {
    "sc:Text": "text",
    "sc:Integer": "integer",
    "sc:Float": "float",
    "sc:ImageObject": "image",
}
_SHA256 = re.compile(r"[0-9a-f]{64}")


def manifest_names() -> tuple[str, ...]:
    """Return the names of the data sets that have a manifest, sorted."""
    return tuple(sorted(path.parent.name for path in manifests_folder().glob(f"*/{_FILE_NAME}")))


def manifest_path(name: str) -> Path:
    """Return the Croissant file of a data set.

    Raises
    ------
    CourseError
        When there is no such data set; the message lists those that there are.
    """
    names = manifest_names()
    if name not in names:
        raise CourseError(
            f"There is no data manifest called {name!r}",
            expected="one of " + ", ".join(names) if names else f"a folder in {manifests_folder()}",
            next_step="choose one of these, or write its manifest",
        )
    return manifests_folder() / name / _FILE_NAME


def variant_names(name: str) -> tuple[str, ...]:
    """Return the variants of a data set, the default one first; ``("",)`` where there is one only."""
    path = manifest_path(name)
    return tuple(_record_sets(_json_of(path), path))


def load_manifest(name: str, variant: str = "") -> DataManifest:
    """Read the manifest of one data set.

    Parameters
    ----------
    name : str
        Folder under ``data_manifests/``.
    variant : str, optional
        Which of its tables; "" takes the default one, which is the first in the file.

    Returns
    -------
    DataManifest

    Raises
    ------
    CourseError
        For an unknown name or variant, and for a manifest that breaks its own rules.

    Examples
    --------
    >>> load_manifest("bank_marketing").field("duration").known_at
    'after_call'
    """
    path = manifest_path(name)
    return manifest_from_json(_json_of(path), name, variant, path)


def manifest_from_json(content: dict[str, Any], name: str, variant: str, path: Path) -> DataManifest:
    """Turn the content of a Croissant file into a manifest; ``path`` is named in errors."""
    record_sets = _record_sets(content, path)
    chosen = variant or next(iter(record_sets))
    if chosen not in record_sets:
        raise CourseError(
            f"The data set {name} has no variant {variant!r}",
            expected="one of " + ", ".join(repr(known) for known in record_sets),
            next_step="choose one of these",
        )
    try:
        manifest = _manifest(content, name, chosen, record_sets[chosen])
    except KeyError as error:
        raise _broken(path, f"the key {error.args[0]} is missing") from error
    except (TypeError, AttributeError, ValueError) as error:
        raise _broken(path, f"a value has the wrong type ({error})") from error
    if problem := _first_problem(manifest):
        raise _broken(path, problem)
    return manifest


def _json_of(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(
            f"{path} cannot be read", found=error.strerror, next_step="check the file's permissions"
        ) from error
    except ValueError as error:
        raise _broken(path, f"it is not JSON in UTF-8 ({error})") from error
    if not isinstance(content, dict):
        raise _broken(path, "it holds no JSON object")
    return content


def _broken(path: Path, problem: str) -> CourseError:
    return CourseError(
        f"The data manifest {path} is not usable", found=problem, next_step="restore the workbook's own file"
    )


def _record_sets(content: dict[str, Any], path: Path) -> dict[str, dict[str, Any]]:
    found = {
        record_set["x-course:variant"]: record_set
        for record_set in content.get("recordSet", [])
        if "x-course:variant" in record_set
    }
    if not found:
        raise _broken(path, "no record set has the key x-course:variant")
    return found


def _manifest(content: dict[str, Any], name: str, variant: str, record_set: dict[str, Any]) -> DataManifest:
    files: list[PublishedFile] = []
    members: list[MemberFile] = []
    prepared: list[PreparedFile] = []
    for entry in content["distribution"]:
        if entry["@type"] != "cr:FileObject":
            continue
        if "x-course:prepared_from" in entry:
            prepared.append(
                PreparedFile(
                    entry["name"], entry["x-course:prepared_from"], entry["sha256"], entry["x-course:bytes"]
                )
            )
        elif "containedIn" in entry:
            members.append(
                MemberFile(
                    entry["name"],
                    entry["containedIn"]["@id"],
                    entry["contentUrl"],
                    entry["sha256"],
                    entry["x-course:bytes"],
                )
            )
        else:
            url = entry["contentUrl"]
            files.append(
                PublishedFile(
                    name=entry["name"],
                    url=url if url.startswith(("https://", "http://")) else "",
                    sha256=entry["sha256"],
                    bytes=entry["x-course:bytes"],
                    mirror_path=entry.get("x-course:mirror_path", ""),
                    licence_note=entry.get("x-course:licence_note", ""),
                )
            )
    classes = record_set.get("x-course:label_map", [])
    return DataManifest(
        name=name,
        variant=variant,
        title=content["name"],
        licence=content["license"],
        citation=content["citeAs"],
        url=content["url"],
        files=tuple(files),
        members=tuple(members),
        prepared=tuple(prepared),
        fields=tuple(_field(entry) for entry in record_set["field"] if "x-course:role" in entry),
        moments=tuple(
            Moment(entry["x-course:moment"], entry["x-course:title"]) for entry in content["x-course:moments"]
        ),
        label_map=MappingProxyType({label: code for code, label in enumerate(classes)}),
        record_set=record_set["@id"],
    )


def _field(entry: dict[str, Any]) -> Field:
    data_types = entry["dataType"]
    names = [data_types] if isinstance(data_types, str) else data_types
    known_types = [_DATA_TYPES[known] for known in names if known in _DATA_TYPES]
    if not known_types:
        raise ValueError(f"dataType of field {entry['name']} is none of {', '.join(_DATA_TYPES)}")
    return Field(
        name=entry["name"],
        data_type=known_types[0],
        unit=entry.get("x-course:unit", ""),
        description=entry["description"],
        known_at=entry["x-course:known_at"],
        doubt=entry.get("x-course:doubt", ""),
        role=cast(Role, entry["x-course:role"]),
        values=tuple(entry.get("x-course:values", ())),
    )


def _first_problem(manifest: DataManifest) -> str:
    moments = {moment.id for moment in manifest.moments}
    for field in manifest.fields:
        if field.known_at not in moments:
            return f"field {field.name} is known at {field.known_at!r}, which is no moment"
        if field.role not in ("feature", "label"):
            return f"field {field.name} has the role {field.role!r}"
    if len(set(manifest.field_names)) < len(manifest.fields):
        return "two fields have the same name"
    labels = [field.name for field in manifest.fields if field.role == "label"]
    if len(labels) != 1:
        return f"{len(labels)} fields have the role 'label'"
    files: tuple[PublishedFile | MemberFile | PreparedFile, ...]
    files = (*manifest.files, *manifest.members, *manifest.prepared)
    for file in files:
        if not _SHA256.fullmatch(file.sha256):
            return f"sha256 of {file.name} is not 64 lower-case hexadecimal digits"
        if not isinstance(file.bytes, int) or file.bytes < 0:
            return f"x-course:bytes of {file.name} is not a number of bytes"
    return ""
