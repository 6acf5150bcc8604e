"""What the commands of ``course plan`` share: a plan is calculated, printed, saved and put on a page."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from course_lib.cli.output import print_json, print_table
from course_lib.cli.plan_options import base_values, sizes_read
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.planning import Plan

CALCULATED = "Every figure is calculated from what you give; nothing is measured."

Inputs = tuple[dict[str, Any], tuple[str, ...]]
"""A calculator's inputs in SI base units, and a sentence about each that was worked out from others."""

_Option = Callable[[Callable[..., Any]], Callable[..., Any]]

NEW_FILE = click.Path(path_type=Path)

as_json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object instead of tables."
)

_OUTPUTS: tuple[_Option, ...] = (
    click.option("--save", type=NEW_FILE, help="Write the plan to this new file, as JSON."),
    click.option("--page", type=NEW_FILE, help="Write a Markdown page for a proposal to this new file."),
    as_json_option,
)


def with_options(*options: _Option) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command options in the order in which its help lists them, then those for its outputs."""

    def dressed(command: Callable[..., Any]) -> Callable[..., Any]:
        for option in reversed((*options, *_OUTPUTS)):
            command = option(command)
        return command

    return dressed


def calculator(
    group: click.Group, *options: _Option
) -> Callable[[Callable[[dict[str, Any]], Inputs]], click.Command]:
    """Make a command of ``group`` for the kind of plan by whose name a function is called.

    The function's text is the command's help; it gets what was given in SI base units and returns what the
    calculator takes.
    """

    def made(inputs_of: Callable[[dict[str, Any]], Inputs]) -> click.Command:
        @with_options(*options)
        def command(**given: Any) -> None:
            report(inputs_of.__name__, given, inputs_of(base_values(given)))

        return group.command(inputs_of.__name__, help=inputs_of.__doc__)(command)

    return made


def report(kind: str, given: dict[str, Any], inputs: Inputs) -> Plan:
    """Calculate a plan, print it, and write what was asked for."""
    from course_lib.experiments.plan_kinds import KINDS, described, planned
    from course_lib.experiments.plans import save_plan

    save, page, as_json = (given[name] for name in ("save", "page", "as_json"))
    check_new_files({"--save": save, "--page": page})
    values, notes = inputs
    made = planned(KINDS[kind], values)
    readings = sizes_read(given)
    if as_json:
        print_json({**described(made), "sizes_as_typed": list(readings), "notes": list(notes)})
    else:
        print_plan(made, readings, notes)
    if save is not None:
        save_plan(made, save)
        if not as_json:
            click.echo(f"Saved: {save}")
    write_page([made], page, notes=notes, quiet=as_json)
    return made


def check_new_files(files: dict[str, Path | None]) -> None:
    """See that the files to write, by their options, are new and different ones.

    Raises
    ------
    CourseError
        When one is there already, or two are the same.
    """
    from course_lib.experiments.plans import check_new_file

    named: dict[Path, str] = {}
    for option, file in files.items():
        if file is None:
            continue
        check_new_file(file)
        if file in named:
            raise CourseError(
                f"{named[file]} and {option} name the same file", found=str(file), next_step="name two files"
            )
        named[file] = option


def print_plan(made: Plan, readings: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> None:
    """Print a plan as tables, with what binds, what it rests on and what it leaves open."""
    from course_lib.experiments.plan_kinds import kind_of
    from course_lib.experiments.plan_pages import input_rows, result_rows, tables_of
    from course_lib.experiments.plan_verdicts import verdict_of
    from course_lib.experiments.plan_words import assumptions_of, binding_lines, unsaid_of

    click.echo(f"{kind_of(made).title}. {CALCULATED}")
    print_table(("Input", "Value", "Origin"), input_rows(made))
    for reading in readings:
        click.echo(f"Size as typed: {reading}")
    print_table(("Result", "Value, calculated"), result_rows(made))
    for what, head, rows in tables_of(made):
        click.echo(f"{what}:")
        print_table(head, rows)
    click.echo(verdict_of(made))
    for line in binding_lines(made):
        click.echo(line)
    for note in notes:
        click.echo(note)
    for heading, sentences in (
        ("Assumptions", assumptions_of(made)),
        ("What this does not say", unsaid_of(made)),
        ("Source of the formula", (made.source,)),
    ):
        click.echo(f"\n{heading}:")
        for sentence in sentences:
            click.echo(f"- {sentence}")


def write_page(
    plans: list[Plan],
    page: Path | None,
    *,
    title: str = "Storage plan",
    notes: tuple[str, ...] = (),
    quiet: bool,
) -> None:
    """Write plans as one page to a new file, where one was named."""
    from course_lib.experiments.plans import check_new_file, plan_page
    from course_lib.files import write_atomically

    if page is None:
        return
    check_new_file(page)
    write_atomically(page, plan_page(plans, title=title, notes=notes))
    if not quiet:
        click.echo(f"Page: {page}")
