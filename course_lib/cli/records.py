"""``course records``: what was measured, under which conditions, and what may be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from course_lib.cli.output import print_json, print_table
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.experiments.records import Record

_RANGE = ("median", "lowest", "highest")
_MOST_RUNS_SHOWN = 6

_FOLDER = click.option(
    "--folder",
    type=click.Path(path_type=Path),
    help="Where the records are; the workbook's own place where left out.",
)
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")


@click.group()
def records() -> None:
    """List, show and compare the records that measurements leave behind.

    \b
    Example:
      course records list
      course records show last
    """


@records.command("list")
@_FOLDER
@_JSON
def list_records(folder: Path | None, as_json: bool) -> None:
    """List all records, oldest first.

    \b
    Example:
      course records list
    """
    from course_lib.experiments.records import load_record, record_paths, records_folder

    found, unreadable = [], []
    for path in record_paths(folder):
        try:
            found.append((path, load_record(path)))
        except CourseError as error:
            unreadable.append(str(error))
    found.sort(key=lambda one: one[1].created)
    if as_json:
        listed = [
            {
                "file": str(path),
                "name": record.name,
                "created": record.created.isoformat(),
                "data": _data(record),
            }
            for path, record in found
        ]
        print_json({"schema_version": 1, "records": listed, "unreadable": unreadable})
        return
    if found:
        print_table(
            ("Record", "What", "When (UTC)", "Data"),
            [
                (path.stem, record.name, f"{record.created:%Y-%m-%d %H:%M}", _data(record) or "needs none")
                for path, record in found
            ],
        )
    else:
        click.echo(f"No records yet in {folder or records_folder()}; `course measure loader` makes one.")
    for sentence in unreadable:
        click.echo(sentence, err=True)


@records.command()
@click.argument("record")
@click.option(
    "--delivered-ids", is_flag=True, help="Print the sample ids that the first run delivered instead."
)
@_FOLDER
@_JSON
def show(record: str, delivered_ids: bool, folder: Path | None, as_json: bool) -> None:
    """Show one record: figures, conditions, data, machine and versions.

    RECORD is a file, a part of its name that is unique, or `last`. With --delivered-ids the ids are
    worked out from the conditions, and shown only if their digest is the one in the record.

    \b
    Example:
      course records show last
      course records show last --delivered-ids
    """
    from course_lib.experiments.records import find_record, load_record

    path = find_record(record, folder)
    found = load_record(path)
    if delivered_ids:
        from course_lib.experiments.measurements import reproduced_ids

        ids = reproduced_ids(found)
        if as_json:
            print_json({"schema_version": 1, "record": str(path), "delivered_ids": ids})
        else:
            click.echo("\n".join(ids))
        return
    if as_json:
        print_json(found.model_dump(mode="json"))
        return
    click.echo(f"{found.name}, {found.created:%Y-%m-%d %H:%M} UTC, {path}")
    _print_figures(found.figures)
    print_table(("Condition", "Value"), [(name, _value(value)) for name, value in found.conditions.items()])
    if found.runs:
        _print_runs(found)
    click.echo(_data(found) or "Needs no data.")
    machine = ", ".join(f"{name} {_value(value)}" for name, value in found.machine.items() if value != [])
    click.echo(f"Machine: {machine}")
    versions = ", ".join(f"{name} {value}" for name, value in found.versions.items())
    click.echo(f"Versions: {versions}; code {found.code_version}")


@records.command()
@click.argument("first")
@click.argument("second")
@_FOLDER
@_JSON
def compare(first: str, second: str, folder: Path | None, as_json: bool) -> None:
    """Put two records side by side, and say what may be concluded.

    \b
    Example:
      course records compare 20261130T101500Z 20261130T102000Z
    """
    from course_lib.experiments.record_comparison import compare_records
    from course_lib.experiments.records import find_record, load_record

    result = compare_records(
        load_record(find_record(first, folder)), load_record(find_record(second, folder))
    )
    if as_json:
        print_json(
            {
                "schema_version": 1,
                "factors": {name: list(values) for name, values in result.factors.items()},
                "figures": {name: list(values) for name, values in result.figures.items()},
                "sentence": result.sentence,
            }
        )
        return
    if result.factors:
        print_table(("Differs", "First", "Second"), [(name, *both) for name, both in result.factors.items()])
    print_table(
        ("Figure", "First", "Second"),
        [(name, _value(old), _value(new)) for name, (old, new) in result.figures.items()],
    )
    click.echo(result.sentence)


def _print_figures(figures: Mapping[str, Any]) -> None:
    """Print figures with their range in one row each, and those that have none below."""
    stems = [name.removesuffix("_median") for name in figures if name.endswith("_median")]
    ranged = {stem: [figures.get(f"{stem}_{part}") for part in _RANGE] for stem in stems}
    inside = {f"{stem}_{part}" for stem in stems for part in _RANGE}
    if ranged:
        print_table(
            ("Figure", "Median", "Lowest", "Highest"),
            [(stem, *(_value(value) for value in values)) for stem, values in ranged.items()],
        )
    single = [(name, _value(value)) for name, value in figures.items() if name not in inside]
    if single:
        print_table(("Figure", "Value"), single)


def _print_runs(record: Record) -> None:
    """Print what differs between the runs, a column for each, and in one line what they share."""
    flat = [dict(_leaves(run)) for run in record.runs]
    names = dict.fromkeys(name for run in flat for name in run)
    values = {name: [_value(run.get(name)) for run in flat] for name in names}
    differing = {name: row for name, row in values.items() if len(set(row)) > 1}
    shared = [f"{name} {row[0]}" for name, row in values.items() if name not in differing]
    if len(flat) > _MOST_RUNS_SHOWN:
        click.echo(f"{len(flat)} runs; --json shows each.")
    elif differing:
        heads = ("Differs between runs", *(str(number) for number in range(1, len(flat) + 1)))
        print_table(heads, [(name, *row) for name, row in differing.items()])
    if shared:
        click.echo(f"The same in all {len(flat)} runs: {', '.join(shared)}")


def _leaves(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield names and values of nested dicts; a name says the way to its value."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name} ")
        else:
            yield f"{before}{name}", value


def _data(record: Record) -> str:
    return record.origin.label() if record.origin else ""


def _value(value: Any) -> str:
    """Return one value for people: numbers with six significant digits, lists by their length."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:,.6g}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list) and (len(value) > 6 or any(isinstance(entry, dict) for entry in value)):
        return f"{len(value):,} values"
    return str(value)
