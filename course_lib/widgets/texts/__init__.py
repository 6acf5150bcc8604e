"""One catalogue for every text that panels and questions show; a language is one file in this folder.

``COURSE_LANGUAGE`` chooses the language ("en" without it). A key that a translation lacks is
shown in English.
"""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from course_lib.errors import CourseError

_FOLDER = Path(__file__).resolve().parent
_ENGLISH = "en"


def languages() -> tuple[str, ...]:
    """Return the languages that there is a catalogue for."""
    return tuple(sorted(file.stem for file in _FOLDER.glob("*.yaml")))


@cache
def catalogue(language: str) -> dict[str, str]:
    """Return one language's texts by key, read once.

    Raises
    ------
    CourseError
        When there is no such language, or its file is not a mapping of keys to texts.
    """
    if language not in languages():
        raise CourseError(
            f"There is no language {language!r} in this workbook",
            expected=" or ".join(languages()),
            next_step="correct COURSE_LANGUAGE, or unset it",
        )
    import yaml

    file = _FOLDER / f"{language}.yaml"
    try:
        entries = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (UnicodeDecodeError, yaml.YAMLError) as error:
        raise CourseError(
            f"The texts {file.name} cannot be read", found=str(error).splitlines()[0]
        ) from error
    if not isinstance(entries, dict) or not all(isinstance(entry, str) for entry in entries.values()):
        raise CourseError(f"The texts {file.name} are damaged", expected="one text for each key")
    return entries


def text(key: str, **values: object) -> str:
    """Return the text of ``key`` in the chosen language, its placeholders filled with ``values``.

    Raises
    ------
    CourseError
        When ``COURSE_LANGUAGE`` names a language that is not there.
    KeyError
        When no catalogue has the key, or a placeholder got no value.
    """
    chosen = os.environ.get("COURSE_LANGUAGE", "").strip() or _ENGLISH
    entry = catalogue(chosen).get(key)
    if entry is None:
        entry = catalogue(_ENGLISH)[key]
    return entry.format(**values)
