"""``course progress``: what has been answered so far, and the file to hand in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from course_lib.cli.output import print_json, print_table

if TYPE_CHECKING:
    from course_lib.exercises.progress import QuestionRecord


@click.group()
def progress() -> None:
    """See your answers, and hand them in as one file.

    \b
    Example:
      course progress show
      course progress export my_progress.json --learner "Ada L."
      course progress verify my_progress.json
    """


@progress.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def show(as_json: bool) -> None:
    """Show every question you have tried, with your attempts.

    \b
    Example:
      course progress show
    """
    from course_lib.exercises.progress import Progress

    kept = Progress()
    questions = kept.records()
    if as_json:
        print_json(
            {
                "schema_version": 1,
                "file": str(kept.path),
                "questions": {name: record.model_dump(mode="json") for name, record in questions.items()},
            }
        )
    else:
        _print(questions)


def _readable_name(context: click.Context, parameter: click.Parameter, name: str) -> str:
    try:
        name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise click.BadParameter("the name has bytes that are no text in UTF-8") from error
    return name


@progress.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--learner", default="", callback=_readable_name, help="A name to put into the file.")
def export(file: Path, learner: str) -> None:
    """Write all progress into one file that can be handed in.

    \b
    Example:
      course progress export my_progress.json --learner "Ada L."
    """
    from course_lib.exercises.progress import Progress

    click.echo(f"{Progress().export(file, learner=learner)} holds your progress.")


@progress.command()
@click.argument("file", type=click.Path(path_type=Path))
def verify(file: Path) -> None:
    """Check that a file handed in is as it was exported, and show it.

    \b
    Example:
      course progress verify my_progress.json
    """
    from course_lib.exercises.progress import verify_export

    export_file = verify_export(file)
    whose = export_file.learner or "no name given"
    click.echo(f"{file} is unchanged since its export on {export_file.exported_utc} ({whose}).")
    _print(export_file.questions)


def _print(questions: Mapping[str, QuestionRecord]) -> None:
    if not questions:
        click.echo("No question has been answered yet.")
        return
    rows = [(name, record.kind, str(record.attempts), _state(record)) for name, record in questions.items()]
    print_table(("Question", "Kind", "Attempts", "State"), rows)


def _state(record: QuestionRecord) -> str:
    if record.predicted is not None or record.measured is not None:
        return "measured" if record.measured is not None else "predicted"
    if record.solved_utc:
        return "solved"
    return "solution opened" if record.solution_opened_utc else "not solved yet"
