"""Where the workbook lives on this machine: its own files, and what it keeps for the learner."""

from __future__ import annotations

import os
from pathlib import Path

from course_lib.errors import CourseError

_PACKAGE = Path(__file__).resolve().parent


def in_checkout() -> bool:
    """Tell whether the package runs from the workbook's own folder rather than from a wheel."""
    return (_PACKAGE.parent / "notebooks").is_dir()


def workbook_root() -> Path:
    """Return the workbook's folder, which holds ``notebooks/``.

    Raises
    ------
    CourseError
        When only the package is installed, without the notebooks.
    """
    if not in_checkout():
        raise CourseError(
            "The notebooks are not part of the installed package",
            expected="a folder with notebooks/ beside course_lib/",
            found=str(_PACKAGE),
            next_step="get the workbook's folder and run `python3 course.py lab` in it",
        )
    return _PACKAGE.parent


def notebooks_folder() -> Path:
    """Return the folder of the lesson notebooks."""
    return workbook_root() / "notebooks"


def manifests_folder() -> Path:
    """Return the folder of the data manifests, from the workbook or from the installed wheel."""
    return _PACKAGE.parent / "data_manifests" if in_checkout() else _PACKAGE / "data_manifests"


def course_home() -> Path:
    """Return the folder for what the workbook keeps: data, progress and settings.

    ``COURSE_HOME`` decides; without it ``.course`` in the workbook's folder, or the user's data
    folder where only the package is installed. The folder may not exist yet.

    Raises
    ------
    CourseError
        When the variable names a folder that cannot be found out.
    """
    chosen = os.environ.get("COURSE_HOME", "").strip()
    if chosen:
        return _resolved("COURSE_HOME", chosen)
    if in_checkout():
        return _PACKAGE.parent / ".course"
    import platformdirs

    return Path(platformdirs.user_data_dir("ai-storage-workbook", appauthor=False))


def mirror_folder() -> Path | None:
    """Return the folder named by ``COURSE_DATA``, or None when the variable is not set.

    Raises
    ------
    CourseError
        When the variable names something that is not a folder, or that cannot be looked at.
    """
    chosen = os.environ.get("COURSE_DATA", "").strip()
    if not chosen:
        return None
    folder = _resolved("COURSE_DATA", chosen)
    try:
        found = folder.is_dir()
    except OSError as error:
        raise _cannot_use("COURSE_DATA", chosen, error) from error
    if not found:
        raise CourseError(
            "COURSE_DATA does not name a folder",
            expected="the folder of a data mirror",
            found=str(folder),
            next_step="correct the variable, or unset it to use generated data",
        )
    return folder


def _resolved(variable: str, chosen: str) -> Path:
    try:
        return Path(chosen).expanduser().resolve()
    except (OSError, RuntimeError) as error:
        # An unknown user after "~" is a RuntimeError and so, before Python 3.13, are links in a ring.
        raise _cannot_use(variable, chosen, error) from error


def _cannot_use(variable: str, chosen: str, error: OSError | RuntimeError) -> CourseError:
    reason = error.strerror if isinstance(error, OSError) else None
    return CourseError(
        f"{variable} does not name a folder that can be used",
        found=f"{chosen} ({(reason or str(error)).rstrip('.')})",
        next_step="correct the variable or unset it",
    )
