"""Manifests through mlcroissant, the reader that other tools use too."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.manifests.reading import manifest_path
from course_lib.paths import course_home


def validate_with_mlcroissant(name: str) -> list[str]:
    """Return what mlcroissant finds wrong with a manifest, warnings included; empty when it is valid.

    Raises
    ------
    CourseError
        When there is no such manifest.
    """
    path = manifest_path(name)
    _unpack_into_the_course_home()
    import mlcroissant

    try:
        dataset = mlcroissant.Dataset(str(path))
    except (mlcroissant.ValidationError, ValueError) as error:
        lines = [line.strip() for line in str(error).splitlines()]
        return [line.lstrip("- ") for line in lines if line.startswith("-")] or lines
    issues = dataset.metadata.ctx.issues
    return [*sorted(issues.errors), *sorted(issues.warnings)]


def croissant_records(name: str, record_set: str, located: Mapping[str, Path]) -> Iterator[dict[str, Any]]:
    """Read the records of a data set as any other Croissant tool would.

    Parameters
    ----------
    name : str
        Folder under ``data_manifests/``.
    record_set : str
        ``@id`` of the record set.
    located : mapping of str to Path
        Where the files lie on this machine, by their ``@id``; mlcroissant compares their digests.

    Yields
    ------
    dict
        One record: field name to value, text as ``str``.

    Raises
    ------
    CourseError
        When a file is missing or has another digest, or the record set is unknown.
    """
    path = manifest_path(name)
    _unpack_into_the_course_home()
    import mlcroissant

    for file, place in located.items():
        if not place.exists():
            raise CourseError(
                f"The file {file} of {name} is missing", expected=str(place), next_step="get the data first"
            )
    prefix = record_set + "/"
    try:
        dataset = mlcroissant.Dataset(
            str(path), mapping={file: str(place) for file, place in located.items()}
        )
        for record in dataset.records(record_set):
            yield {
                key.removeprefix(prefix): value.decode("utf-8") if isinstance(value, bytes) else value
                for key, value in record.items()
            }
    # mlcroissant wraps whatever went wrong, and its own exceptions are not all public.
    except Exception as error:
        raise CourseError(
            f"mlcroissant refuses the record set {record_set} of {name}",
            found=str(error.__cause__ or error),
            next_step="check the files against the manifest",
        ) from error


def _unpack_into_the_course_home() -> None:
    """Tell mlcroissant, which reads this once when it is imported, where to unpack archives."""
    os.environ.setdefault("CROISSANT_CACHE", str(course_home() / "cache" / "croissant"))
