"""Starting a Python that uses the same workbook and the same packages as this one."""

from __future__ import annotations

import importlib.machinery
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import course_lib
from course_lib.errors import CourseError

_BOOTSTRAP = "import sys; sys.path[:] = {path}; from course_lib.watched.child import main; main({arguments})"

_FOLDER_PREFIX = "cw-"
# Workers make sockets inside the folder, and systems take no longer path for one (macOS: 104 with its end).
_LONGEST_SOCKET_PATH = 103
_SOCKET_IN_FOLDER = f"/{_FOLDER_PREFIX}12345678/pymp-12345678/listener-12345678"
_SHORT_FOLDERS = ("/tmp", "/var/tmp")


def start_python(imports: tuple[str, ...]) -> tuple[subprocess.Popen[bytes], str]:
    """Start a Python that imports these modules and waits for a task, with a temporary folder of its own.

    It leads a session and process group of its own, so that Ctrl-C reaches only this process.

    Returns
    -------
    tuple of Popen and str
        The process, with pipes for all three streams, and the temporary folder.

    Raises
    ------
    CourseError
        When the system does not let it start.
    """
    folder = ""
    try:
        folder = tempfile.mkdtemp(prefix=_FOLDER_PREFIX, dir=_parent_folder())
        arguments = f"{list(imports)!a}, {folder!a}"
        return (
            subprocess.Popen(
                [
                    sys.executable,
                    *(["-I"] if sys.flags.isolated else []),
                    "-c",
                    _BOOTSTRAP.format(path=ascii(_search_path()), arguments=arguments),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), folder)},
                start_new_session=True,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
                | getattr(subprocess, "CREATE_NO_WINDOW", 0),
            ),
            folder,
        )
    except BaseException as error:
        if folder:
            shutil.rmtree(folder, ignore_errors=True)
        if isinstance(error, OSError):
            raise CourseError(
                "A process for the task could not be started",
                found=error.strerror or str(error),
                next_step="close other programs, free some disk space, or raise the container's limits",
            ) from error
        raise


def _parent_folder() -> str:
    """Return the usual folder for temporary files, or a shorter one where its sockets would have no room."""
    usual = tempfile.gettempdir()
    if os.name == "nt" or len(os.fsencode(usual + _SOCKET_IN_FOLDER)) <= _LONGEST_SOCKET_PATH:
        return usual
    usable = (folder for folder in _SHORT_FOLDERS if os.access(folder, os.W_OK | os.X_OK))
    return next(usable, usual)


def _search_path() -> list[str]:
    """Return this process's search path, on which the copy of the workbook that is running comes first."""
    path = [entry or _current_folder() for entry in sys.path if isinstance(entry, str)]
    package = Path(course_lib.__file__).resolve().parent
    found = importlib.machinery.PathFinder.find_spec("course_lib", path)
    if found is None or found.origin is None or Path(found.origin).resolve().parent != package:
        path.insert(0, str(package.parent))
    return path


def _current_folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:
        return ""
