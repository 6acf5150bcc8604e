"""Measurement records: figures with the conditions, machine, versions and data origin they belong to."""

from __future__ import annotations

import contextlib
import math
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, FiniteFloat, JsonValue, ValidationError

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.experiments.machine import code_version, describe_machine, library_versions
from course_lib.files import write_atomically
from course_lib.paths import course_home


class Record(BaseModel):
    """One result that somebody else can judge.

    Attributes
    ----------
    schema_version : int
        Version of this layout.
    name : str
        What was measured or computed, in lower-case words joined by underscores.
    created : datetime
        When, in UTC.
    figures : dict
        The results; the unit stands at the end of a name where there is one.
    conditions : dict
        What was chosen for this run.
    runs : tuple of dict
        The single runs behind the figures, each with its own conditions; empty where there are none, and in
        records of the first layout.
    origin : Origin or None
        Where the data came from; None for a result that needs none.
    machine : dict
        See :class:`course_lib.experiments.machine.Machine`.
    versions : dict
        Python, the workbook and the libraries.
    code_version : str
        Package version with the commit where there is one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal[1, 2] = 2
    name: str
    created: AwareDatetime
    figures: dict[str, int | FiniteFloat | str]
    conditions: dict[str, JsonValue]
    runs: tuple[dict[str, JsonValue], ...] = ()
    origin: Origin | None
    machine: dict[str, JsonValue]
    versions: dict[str, str]
    code_version: str


def records_folder() -> Path:
    """Return where records go: into the run named by ``COURSE_RUN_DIR``, else into the learner's folder."""
    run = os.environ.get("COURSE_RUN_DIR", "").strip()
    return (Path(run) if run else course_home()) / "records"


def publish_record(
    name: str,
    figures: Mapping[str, Any],
    conditions: Mapping[str, Any] | None = None,
    origin: Origin | None = None,
    *,
    runs: Sequence[Mapping[str, Any]] = (),
) -> Path:
    """Write one record whole, or not at all.

    Parameters
    ----------
    name : str
        Lower-case words joined by underscores, such as ``"auc_comparison"``.
    figures : mapping
        Names to numbers or short texts; NumPy numbers are welcome. Never rows of data.
    conditions : mapping, optional
        What was chosen: anything that JSON can hold.
    origin : Origin, optional
        Where the data came from.
    runs : sequence of mappings, optional
        The single runs behind the figures, as anything that JSON can hold; sample ids, never rows.

    Returns
    -------
    Path
        The new file; an earlier record is never overwritten.

    Raises
    ------
    CourseError
        When a figure is not a finite number or a text, or the file cannot be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise CourseError(
            f"{name!r} is no name for a record",
            expected="lower-case words joined by underscores",
            next_step="rename it, for example auc_comparison",
        )
    created = datetime.now(timezone.utc)
    try:
        record = Record(
            name=name,
            created=created,
            figures={key: _plain(key, value) for key, value in figures.items()},
            conditions={key: _plain_condition(value) for key, value in (conditions or {}).items()},
            runs=tuple({key: _plain_condition(value) for key, value in run.items()} for run in runs),
            origin=origin,
            machine=describe_machine().as_dict(),  # type: ignore[arg-type]
            versions=library_versions(),
            code_version=code_version(),
        )
    except ValidationError as error:
        raise CourseError(f"The record {name} cannot be written", found=_first_problem(error)) from error
    file_name = f"{created:%Y%m%dT%H%M%SZ}-{name}-{secrets.token_hex(3)}.json"
    return write_atomically(records_folder() / file_name, record.model_dump_json(indent=2) + "\n")


def load_record(path: Path) -> Record:
    """Read one record.

    Raises
    ------
    CourseError
        When the file is missing, damaged, or of a layout that this version does not know.
    """
    try:
        return Record.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CourseError(f"{path} is not readable", found=error.strerror) from error
    except ValidationError as error:
        raise CourseError(
            f"{path} is not a record that this version can read",
            expected="schema version 1 or 2",
            found=_first_problem(error),
            next_step="run the lesson again to make a new one",
        ) from error


def find_record(wanted: str, folder: Path | None = None) -> Path:
    """Return the file of one record, named by its path, its file's name, or a part of it that is unique.

    ``last`` names the newest.

    Raises
    ------
    CourseError
        When no record has this name, or several have.
    """
    place = folder or records_folder()
    if wanted != "last" and Path(wanted).is_file():
        return Path(wanted)
    paths = record_paths(place)
    found = _newest(paths) if wanted == "last" else [path for path in paths if wanted and wanted in path.name]
    if len(found) == 1:
        return found[0]
    raise CourseError(
        f"No record in {place} is meant by {wanted!r}" if not found else f"{wanted!r} names several records",
        expected="a file, `last`, or a part of one file's name",
        found=f"{len(paths):,} records" if not found else ", ".join(path.stem for path in found[:5]),
        next_step="choose one that `course records list` shows",
    )


def record_paths(folder: Path | None = None) -> list[Path]:
    """Return the files of a folder's records (by default of this run), by name, so by the second.

    Raises
    ------
    CourseError
        When something else than a folder is there.
    """
    place = folder or records_folder()
    if place.exists() and not place.is_dir():
        raise CourseError(f"{place} is no folder", next_step="name the folder that holds the records")
    return sorted(place.glob("[!.]*.json"))


def check_place_for_records() -> None:
    """See before long work that its record can be written afterwards.

    Raises
    ------
    CourseError
        When the folder cannot be made or does not take a file.
    """
    trial = records_folder() / f".trial-{secrets.token_hex(3)}"
    write_atomically(trial, "")
    trial.unlink(missing_ok=True)


def _newest(paths: Sequence[Path]) -> list[Path]:
    """Return the newest record that can be read; one that was damaged hides none of the others."""
    readable = []
    for path in paths:
        with contextlib.suppress(CourseError):
            readable.append((load_record(path).created, path))
    return [max(readable)[1]] if readable else []


def load_records(folder: Path | None = None) -> tuple[Record, ...]:
    """Return the records of a folder (by default of this run), oldest first."""
    return tuple(
        sorted((load_record(path) for path in record_paths(folder)), key=lambda record: record.created)
    )


def _plain(name: str, value: Any) -> int | float | str:
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise CourseError(
            f"The figure {name} cannot stand in a record",
            expected="a number or a short text",
            found=type(value).__name__,
        )
    if isinstance(value, float) and not math.isfinite(value):
        raise CourseError(
            f"The figure {name} is not a finite number", found=value, next_step="look at how it was computed"
        )
    return value


def _plain_condition(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{first['msg'].rstrip('.')}{f' in {place}' if place else ''}"
