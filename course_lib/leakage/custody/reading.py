"""Reading what other people hand over: files that may be cut short, edited or something else altogether."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError

_LONGEST_SHOWN = 60


def read_json(file: Path, what: str) -> Any:
    """Return what a JSON file holds.

    Parameters
    ----------
    file : Path
    what : str
        What it should be, with its article, such as "a key".

    Raises
    ------
    CourseError
        When the file cannot be opened, is no JSON in UTF-8, or is nested too deeply to be what it should be.
    """
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(
            f"{file} cannot be read as {what}",
            found=error.strerror or str(error),
            next_step="check the name and the folder",
        ) from error
    except (ValueError, RecursionError) as error:
        # RecursionError: brackets within brackets, thousands deep.
        found = "lists within lists, too deep to read" if isinstance(error, RecursionError) else str(error)
        raise CourseError(
            f"{file} cannot be read as {what}",
            expected="JSON in UTF-8",
            found=found,
            next_step="get the file as it was written",
        ) from error


def brief(value: object) -> str:
    """Return a value as one short line of visible ASCII, for an error."""
    shown = ascii(value)
    return shown if len(shown) <= _LONGEST_SHOWN else shown[: _LONGEST_SHOWN - 3] + "..."


def is_text_list(value: object) -> bool:
    """Tell whether a value from a JSON file is a list of text."""
    return isinstance(value, list) and all(isinstance(entry, str) for entry in value)
