"""Entry of the command ``course``: its words, and one sentence for everything that goes wrong."""

from __future__ import annotations

import contextlib
import errno
import io
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
from course_lib.cli.measure import measure
from course_lib.cli.notebook import notebook
from course_lib.cli.notes import notes
from course_lib.cli.pack import pack
from course_lib.cli.plan import plan
from course_lib.cli.progress import progress
from course_lib.cli.records import records
from course_lib.cli.run import run
from course_lib.cli.shards import shards
from course_lib.cli.splits import split
from course_lib.cli.stage import stage
from course_lib.cli.tests import test
from course_lib.errors import CourseError

WRONG_INPUT = 2
INTERRUPTED = 130
TERMINATED = 143

_FORESEEABLE = {
    errno.EACCES: "check its permissions",
    errno.EPERM: "check its permissions",
    errno.EROFS: "choose a place that you may write to",
    errno.ENOENT: "check that the file and the folder you work in still exist",
    errno.ENOTDIR: "check the name",
    errno.EISDIR: "name a file, not a folder",
    errno.ELOOP: "check the symbolic links",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.ENOSPC: "free some disk space and try again",
}
# pathlib has no errors of their own for an unknown user after "~" and for links in a ring.
_FORESEEABLE_WORDS = ("home directory", "Symlink loop")
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


for command in (
    *(doctor, lab, stage, run, data, split, leakage, custody, measure, pack, shards, plan, records),
    *(progress, notebook, notes, test),
):
    course.add_command(command)


def main() -> NoReturn:
    """Run the command line and end the process with its status: 0, 1 (no), 2 (bad input) or 130."""
    _prepare_process()
    output = sys.stdout
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
        _silence_outputs()
        _end(0)
    except SystemExit:
        # click answers a reader that went away with another output and status 1, as if the answer were no.
        if sys.stdout is not output:
            _silence_outputs()
            _end(0)
        raise
    except OSError as error:
        if error.errno not in _FORESEEABLE:
            raise
        what = (
            f"{error.filename} cannot be used"
            if error.filename
            else "The output, a file or a folder cannot be used"
        )
        _end_without_output(CourseError(what, found=error.strerror, next_step=_FORESEEABLE[error.errno or 0]))
    except RuntimeError as error:
        if not any(words in str(error) for words in _FORESEEABLE_WORDS):
            raise
        _end(WRONG_INPUT, str(CourseError(str(error).rstrip("."), next_step="correct the path")))
    sys.exit(status if isinstance(status, int) else 0)


def _prepare_process() -> None:
    """Make the folders in the environment absolute, as kernels start elsewhere; end tidily on SIGTERM."""
    for name in _FOLDER_VARIABLES:
        chosen = os.environ.get(name, "").strip()
        if chosen:
            # What cannot be made absolute is refused by name where the folder is needed.
            with contextlib.suppress(OSError, RuntimeError):
                os.environ[name] = str(Path(chosen).expanduser().absolute())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
    warnings.showwarning = _say_warning
    for name in ("stdout", "stderr"):
        # Python has no stream at all where a person closed it.
        if getattr(sys, name) is None:
            setattr(sys, name, io.StringIO())
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
        try:
            print(f"course: {sentence}", file=sys.stderr)
        except OSError:
            _silence_outputs()
    sys.exit(status)


def _end_without_output(error: CourseError) -> NoReturn:
    """Say what is wrong, then drop what the output may not have taken: a full disk would refuse it again."""
    with contextlib.suppress(OSError):
        print(f"course: {error}", file=sys.stderr)
    _silence_outputs()
    sys.exit(WRONG_INPUT)


def _silence_outputs() -> None:
    """Keep Python from complaining at its exit about a reader that went away, such as ``head``."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
