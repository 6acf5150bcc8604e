"""What the learner has set for the workbook, kept in ``settings.json`` of the course's home."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Literal, get_args

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.paths import course_home

Source = Literal["auto", "official", "mirror", "generated"]
SOURCES: tuple[Source, ...] = get_args(Source)


def settings_path() -> Path:
    """Return where the settings are kept; the file may not exist yet."""
    return course_home() / "settings.json"


def chosen_source() -> Source:
    """Return the data source that the learner chose, "auto" where nothing was chosen.

    A settings file that cannot be read is set aside under another name, and a warning says so.
    """
    source: Source = _read_settings().get("source", "auto")
    return source


def choose_source(source: Source) -> None:
    """Remember which data source the loaders use when they are not told.

    Parameters
    ----------
    source : {"auto", "official", "mirror", "generated"}
        "auto" takes the mirror, then an official download that is already here, then generated data.

    Raises
    ------
    CourseError
        For any other word, and when the settings cannot be written.
    """
    settings = _read_settings() | {"source": checked_source(source)}
    write_atomically(settings_path(), json.dumps(settings, indent=2, sort_keys=True) + "\n")


def checked_source(source: object) -> Source:
    """Return ``source`` if it is the name of a data source.

    Raises
    ------
    CourseError
        When it is not.
    """
    for known in SOURCES:
        if source == known:
            return known
    raise CourseError(
        "There is no such data source", expected=f"one of {', '.join(SOURCES)}", found=repr(source)
    )


def resolved_source(source: Source) -> Source:
    """Return the source a loader should use: what it was told, or for "auto" what the learner chose.

    Raises
    ------
    CourseError
        When ``source`` is not the name of a data source.
    """
    return chosen_source() if checked_source(source) == "auto" else source


def _read_settings() -> dict[str, Any]:
    path = settings_path()
    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(settings, dict):
            raise ValueError("not a table of settings")
        checked_source(settings.get("source", "auto"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError, CourseError) as error:
        _set_aside(path, error)
        return {}
    return settings


def _set_aside(path: Path, error: Exception) -> None:
    reason = (
        "it holds no settings that the workbook knows"
        if isinstance(error, (ValueError, CourseError))
        else str(error)
    )
    try:
        kept = _move_to_free_name(path)
        outcome = f"it was kept as {kept.name}, and the standard settings are used from now on"
    except OSError:
        outcome = "it could not be moved, and the standard settings are used for this run"
    warnings.warn(f"{path} could not be read ({reason}): {outcome}.", UserWarning, stacklevel=4)


def _move_to_free_name(path: Path) -> Path:
    number = 1
    while (aside := path.with_name(f"settings.damaged-{number}.json")).exists():
        number += 1
    return path.rename(aside)
