"""Browsers on this machine: one to work in, and a Chromium that the browser tests can drive."""

from __future__ import annotations

import os
import shutil
import webbrowser
from pathlib import Path

from course_lib.errors import CourseError

_COMMANDS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
    "msedge",
)
_APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Microsoft/Edge/Application/msedge.exe",
)


def has_browser() -> bool:
    """Tell whether Python finds a browser in which JupyterLab can open."""
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def find_chromium() -> Path | None:
    """Return a browser of the Chromium family, or None; ``COURSE_BROWSER`` names one by its path.

    Raises
    ------
    CourseError
        When ``COURSE_BROWSER`` names a file that is not there.
    """
    chosen = os.environ.get("COURSE_BROWSER", "").strip()
    if chosen:
        found = shutil.which(chosen)
        if not found:
            raise CourseError(
                "COURSE_BROWSER does not name a program",
                found=chosen,
                next_step="correct or unset the variable",
            )
        return Path(found)
    for command in _COMMANDS:
        found = shutil.which(command)
        if found:
            return Path(found)
    return next((path for path in map(Path, _APPLICATIONS) if path.is_file()), None)
