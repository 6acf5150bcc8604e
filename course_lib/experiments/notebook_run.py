"""Run lessons from top to bottom without a screen, on copies, into a folder of their own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import secrets
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.experiments.lesson_sizes import FULL_SIZE_VARIABLE
from course_lib.experiments.lessons import Lesson
from course_lib.files import cannot_write, write_atomically
from course_lib.paths import notebooks_folder, workbook_root

CELL_TIMEOUT_SECONDS, FULL_CELL_TIMEOUT_SECONDS = 600, 14_400

OnCell = Callable[[Lesson, int, int], None]
"""Called before each code cell with the lesson, the cells that are done, and all of them."""

_ANSI_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True)
class CellFailure:
    """The cell that stopped a lesson.

    Attributes
    ----------
    number : int
        Its place among the code cells, from 1, as JupyterLab numbers them.
    first_line : str
        Its first line of code, comments left aside.
    error : str
        What went wrong, in one sentence.
    """

    number: int
    first_line: str
    error: str

    def __str__(self) -> str:
        return f"code cell {self.number} (`{self.first_line}`) failed: {self.error}"


@dataclass(frozen=True)
class LessonRun:
    """One lesson that was run: where its executed copy lies, how long it took, what stopped it."""

    lesson: Lesson
    executed: Path
    seconds: float
    failure: CellFailure | None


@dataclass(frozen=True)
class Run:
    """Lessons that were run together, and the folder that holds their copies and records."""

    folder: Path
    lessons: tuple[LessonRun, ...]

    @property
    def succeeded(self) -> bool:
        """Tell whether every lesson ran to its end."""
        return all(lesson.failure is None for lesson in self.lessons)


def run_lessons(
    lessons: Sequence[Lesson],
    *,
    parent: Path | None = None,
    cell_timeout_seconds: int = CELL_TIMEOUT_SECONDS,
    full_size: bool = False,
    on_cell: OnCell | None = None,
) -> Run:
    """Run lessons one after the other, each in a fresh kernel; a failing one does not stop the others.

    The kernels work in a temporary copy of ``notebooks/``, so that nothing of the workbook changes,
    and publish their records into the run's folder.

    Parameters
    ----------
    lessons : sequence of Lesson
        What to run.
    parent : Path, optional
        Where the run's folder is made; ``runs/`` in the workbook's folder by default.
    cell_timeout_seconds : int
        A cell that takes longer is stopped and counts as failed.
    full_size : bool, optional
        Take everything where a lesson is content with less in class.
    on_cell : callable, optional
        Told of every code cell before it runs, and once more at the end of a lesson.

    Raises
    ------
    CourseError
        When one of the notebooks is damaged (then none is run), or the run's folder or the
        temporary copy cannot be made.
    """
    notebooks = [_read(lesson.notebook) for lesson in lessons]
    folder = new_run_folder(parent or workbook_root() / "runs")
    with _removed_unless_finished(folder), _working_copy() as working_copy:
        done = [
            _run_lesson(
                lesson, notebook, folder, working_copy, cell_timeout_seconds, full_size, on_cell or _ignore
            )
            for lesson, notebook in zip(lessons, notebooks, strict=True)
        ]
    return Run(folder, tuple(done))


def new_run_folder(parent: Path) -> Path:
    """Make a folder that no other run has or will get, named by the time in UTC."""
    folder = parent / f"{datetime.now(timezone.utc):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    try:
        folder.mkdir(parents=True, exist_ok=False)
    except OSError as error:
        raise cannot_write(folder, error) from error
    return folder.resolve()


@contextlib.contextmanager
def _removed_unless_finished(folder: Path) -> Iterator[None]:
    """Leave nothing of a run that was stopped half-way."""
    try:
        yield
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


@contextlib.contextmanager
def _working_copy() -> Iterator[Path]:
    """Give a copy of the notebooks' folder that is removed after the block."""
    with contextlib.ExitStack() as stack:
        try:
            temporary = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="course-run-", ignore_cleanup_errors=True)
            )
            working_copy = Path(temporary) / "notebooks"
            shutil.copytree(
                notebooks_folder(),
                working_copy,
                ignore=shutil.ignore_patterns(".ipynb_checkpoints", "instructor"),
            )
        except shutil.Error as error:
            source, _, why = error.args[0][0]
            raise CourseError(
                f"{source} could not be copied for the run",
                found=str(why),
                next_step="remove it if it is no ordinary file, or make room in the temporary folder",
            ) from error
        except OSError as error:
            raise CourseError(
                "The temporary copy of the notebooks could not be made",
                found=str(error),
                next_step="make room in the temporary folder, or set TMPDIR to another one",
            ) from error
        yield working_copy


def _read(path: Path) -> Any:
    import nbformat

    try:
        if not path.is_file():
            raise ValueError("no ordinary file")
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except (OSError, ValueError, TypeError, AttributeError, LookupError, nbformat.ValidationError) as error:
        raise CourseError(
            f"{path.name} is not readable as a notebook",
            found=(str(error).splitlines() or [type(error).__name__])[0],
            next_step="get a clean copy of it",
        ) from error
    return notebook


def _ignore(lesson: Lesson, done: int, total: int) -> None:
    return None


def _run_lesson(
    lesson: Lesson,
    notebook: Any,
    folder: Path,
    working_copy: Path,
    cell_timeout_seconds: int,
    full_size: bool,
    on_cell: OnCell,
) -> LessonRun:
    import nbformat
    from nbclient import NotebookClient

    client = NotebookClient(
        notebook,
        timeout=cell_timeout_seconds,
        kernel_name="python3",
        resources={"metadata": {"path": str(working_copy)}},
    )
    code_cells = [
        (index, cell)
        for index, cell in enumerate(notebook.cells)
        if cell.cell_type == "code" and cell.source.strip()
    ]
    executed = folder / lesson.notebook.name
    failure = None
    started = time.monotonic()
    environment = {**os.environ, "COURSE_RUN_DIR": str(folder), "PYTHONUTF8": "1"}
    if full_size:
        environment[FULL_SIZE_VARIABLE] = "1"
    # The cells are driven from here, not by nbclient's execute(): there a Ctrl-C stops the kernel but
    # lets the run go on as if the kernel had died.
    with (
        (folder / "kernels.log").open("ab") as log,
        client.setup_kernel(env=environment, stdout=log, stderr=log),
        _no_task_left_when_stopped(),
    ):
        for done, (index, cell) in enumerate(code_cells):
            on_cell(lesson, done, len(code_cells))
            failure = _run_cell(client, cell, index, done + 1, cell_timeout_seconds)
            if failure:
                break
        else:
            on_cell(lesson, len(code_cells), len(code_cells))
        client.set_widgets_metadata()
    write_atomically(executed, nbformat.writes(notebook) + "\n")
    return LessonRun(lesson, executed, time.monotonic() - started, failure)


@contextlib.contextmanager
def _no_task_left_when_stopped() -> Iterator[None]:
    """End what nbclient has begun for a cell before its kernel is shut down.

    A Ctrl-C leaves its tasks half-way. They would go on while the kernel is ended, fail for want of it, and
    asyncio would print that nobody asked how they ended.
    """
    from nbclient.util import run_sync

    try:
        yield
    except (KeyboardInterrupt, SystemExit):
        run_sync(_end_tasks)()
        raise


async def _end_tasks() -> None:
    tasks = asyncio.all_tasks() - {asyncio.current_task()}
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _run_cell(client: Any, cell: Any, index: int, number: int, timeout_seconds: int) -> CellFailure | None:
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    try:
        client.execute_cell(cell, index, execution_count=number)
    except CellExecutionError as error:
        # The reply that nbclient quotes knows nothing of an error in showing the cell's last value.
        shown = next((output for output in reversed(cell.outputs) if output.output_type == "error"), error)
        text = _ANSI_COLOURS.sub("", str(shown.evalue)).strip()
        message = text.splitlines()[0] if text else "no message"
        sentence = message if shown.ename == "CourseError" else f"{shown.ename}: {message}"
    except CellTimeoutError:
        sentence = f"it ran longer than {timeout_seconds} seconds and was stopped"
    except DeadKernelError:
        sentence = "its kernel died, most often for want of memory"
    else:
        return None
    lines = [line.strip() for line in cell.source.splitlines() if line.strip()]
    first_line = next((line for line in lines if not line.startswith(("#", "%"))), lines[0])
    return CellFailure(number, first_line, sentence.rstrip(".") + ".")
