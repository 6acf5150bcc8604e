"""Entry of the command ``course``: its words, and one sentence for everything that goes wrong."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import warnings
from pathlib import Path
from typing import NoReturn, TextIO

import click

from course_lib import __version__
from course_lib.cli.custody import custody
from course_lib.cli.data import data
from course_lib.cli.doctor import doctor
from course_lib.cli.lab import lab
from course_lib.cli.leakage import leakage
from course_lib.cli.notebook import notebook
from course_lib.cli.notes import notes
from course_lib.cli.progress import progress
from course_lib.cli.run import run
from course_lib.cli.splits import split
from course_lib.cli.tests import test
from course_lib.errors import CourseError

WRONG_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143

_FOLDER_VARIABLES = ("COURSE_DATA", "COURSE_HOME", "COURSE_RUN_DIR")


class _InReadingOrder(click.Group):
    """Lists its commands in the order in which a newcomer needs them, not by the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=_InReadingOrder,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Every command explains itself and shows an example: course run --help",
)
@click.version_option(__version__, message="course %(version)s")
def course() -> None:
    """Work through the AI Storage Workbook: predict, measure and repair on your own machine.

    Start with `course doctor` to see whether this machine is ready, then `course lab` to open the
    first lesson in JupyterLab.
    """


for command in (doctor, lab, run, data, split, leakage, custody, progress, notebook, notes, test):
    course.add_command(command)


def main() -> NoReturn:
    """Run the command line and end the process with its status: 0, 1 (no), 2 (bad input) or 130."""
    _prepare_process()
    try:
        status = course.main(prog_name="course", standalone_mode=False)
        sys.stdout.flush()
    except CourseError as error:
        _end(WRONG_INPUT, str(error))
    except click.UsageError as error:
        words = error.ctx.command_path if error.ctx else "course"
        _end(WRONG_INPUT, f"{error.format_message().rstrip('.')}; `{words} --help` shows what it takes.")
    except click.ClickException as error:
        _end(WRONG_INPUT, error.format_message())
    except (click.Abort, KeyboardInterrupt):
        _end(INTERRUPTED, "stopped.")
    except BrokenPipeError:
        _silence_closed_output()
        _end(0)
    sys.exit(status if isinstance(status, int) else 0)


def _prepare_process() -> None:
    """Make the folders in the environment absolute, as kernels start elsewhere; end tidily on SIGTERM."""
    for name in _FOLDER_VARIABLES:
        chosen = os.environ.get(name, "").strip()
        if chosen:
            os.environ[name] = str(Path(chosen).expanduser().absolute())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    warnings.showwarning = _say_warning
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]


def _say_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"course: {message}", file=sys.stderr)


def _end(status: int, sentence: str = "") -> NoReturn:
    if sentence:
        print(f"course: {sentence}", file=sys.stderr)
    sys.exit(status)


def _silence_closed_output() -> None:
    """Keep Python from complaining at its exit about a reader that went away, such as ``head``."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
