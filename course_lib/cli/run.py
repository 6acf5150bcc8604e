"""``course run``: lessons from top to bottom without a screen."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from course_lib.cli.output import print_json, print_table

if TYPE_CHECKING:
    from course_lib.experiments.notebook_run import Run
    from course_lib.experiments.records import Record


@click.command()
@click.argument("lessons", nargs=-1, required=True)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object with the figures, and nothing else."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder in which the run's own new folder is made; runs/ in the workbook where left out.",
)
@click.option(
    "--full",
    is_flag=True,
    help="Take all samples and files where a lesson takes a few in class (lesson 06: half an hour and more).",
)
@click.option(
    "--cell-timeout",
    type=click.FloatRange(min=1, max=1_000_000),
    callback=lambda _, __, seconds: None if seconds is None else _whole_seconds(seconds),
    help="Seconds after which a cell is stopped and counts as failed; 600, and 14400 with --full.",
)
def run(
    lessons: tuple[str, ...], as_json: bool, out: Path | None, full: bool, cell_timeout: int | None
) -> int:
    """Run lessons from top to bottom without opening them.

    They are named by their numbers, or all at once, and run on copies. Each run leaves the
    executed copies and the records in a new folder. The exit status is 1 when a cell failed; the
    cell is named.

    \b
    Example:
      course run 01
      COURSE_DATA=/media/stick/data course run 00 01 --json
      COURSE_DATA=/media/stick/data course run 06 --full
      course run all

    The JSON object has the keys schema_version (1), ok, folder, lessons (lesson, executed, seconds,
    failure) and records: each with its name, figures, conditions, origin, machine and versions.
    """
    from course_lib.experiments.lessons import Lesson, find_lessons
    from course_lib.experiments.notebook_run import (
        CELL_TIMEOUT_SECONDS,
        FULL_CELL_TIMEOUT_SECONDS,
        run_lessons,
    )
    from course_lib.experiments.records import load_records

    chosen = find_lessons(lessons)
    with _Progress() as progress:

        def on_cell(lesson: Lesson, done: int, total: int) -> None:
            progress.show(f"lesson {lesson.number}", done, total)

        finished = run_lessons(
            chosen,
            parent=out.absolute() if out else None,
            cell_timeout_seconds=cell_timeout
            or (FULL_CELL_TIMEOUT_SECONDS if full else CELL_TIMEOUT_SECONDS),
            full_size=full,
            on_cell=on_cell,
        )
    records = load_records(finished.folder / "records")
    if as_json:
        print_json(_as_dict(finished, records))
    else:
        _print(finished, records)
    for one in finished.lessons:
        if one.failure:
            click.echo(f"course: lesson {one.lesson.number}, {one.failure}", err=True)
    return 0 if finished.succeeded else 1


def _whole_seconds(seconds: float) -> int:
    if math.isnan(seconds):
        raise click.BadParameter("nan is not a number of seconds; take a whole number such as 600.")
    return math.ceil(seconds)


class _Progress:
    """A bar on standard error, one task a lesson; only where somebody watches."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress

        self._bars = Progress(console=Console(file=sys.stderr), disable=not sys.stderr.isatty())
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> _Progress:
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def show(self, title: str, done: int, total: int) -> None:
        if title not in self._tasks:
            self._tasks[title] = self._bars.add_task(title, total=total)
        self._bars.update(self._tasks[title], completed=done)


def _as_dict(finished: Run, records: tuple[Record, ...]) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "ok": finished.succeeded,
        "folder": str(finished.folder),
        "lessons": [
            {
                "lesson": one.lesson.number,
                "executed": str(one.executed),
                "seconds": round(one.seconds, 1),
                "failure": None if one.failure is None else vars(one.failure),
            }
            for one in finished.lessons
        ],
        "records": [record.model_dump(mode="json") for record in records],
    }


def _print(finished: Run, records: tuple[Record, ...]) -> None:
    for one in finished.lessons:
        outcome = "failed" if one.failure else "ran to its end"
        click.echo(f"Lesson {one.lesson.number} {outcome} in {one.seconds:.0f} s: {one.executed}")
    for record in records:
        rows = [(name, _figure(value)) for name, value in record.figures.items()]
        click.echo(f"\n{record.name}" + (f" | {record.origin.label()}" if record.origin else ""))
        print_table(("Figure", "Value"), rows)


def _figure(value: float | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
