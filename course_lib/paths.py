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
    """
    chosen = os.environ.get("COURSE_HOME", "").strip()
    if chosen:
        return Path(chosen).expanduser().resolve()
    if in_checkout():
        return _PACKAGE.parent / ".course"
    import platformdirs

    return Path(platformdirs.user_data_dir("ai-storage-workbook", appauthor=False))


def mirror_folder() -> Path | None:
    """Return the folder named by ``COURSE_DATA``, or None when the variable is not set.

    Raises
    ------
    CourseError
        When the variable names something that is not a folder.
    """
    chosen = os.environ.get("COURSE_DATA", "").strip()
    if not chosen:
        return None
    folder = Path(chosen).expanduser().resolve()
    if not folder.is_dir():
        raise CourseError(
            "COURSE_DATA does not name a folder",
            expected="the folder of a data mirror",
            found=str(folder),
            next_step="correct the variable, or unset it to use generated data",
        )
    return folder
