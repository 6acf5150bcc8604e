"""``course leakage``: which fields may a model see, and has a split let anything through?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from course_lib.cli.output import print_json, print_table, visible

if TYPE_CHECKING:
    from course_lib.leakage.detectors import Finding

_LINES_SHOWN = 10


@click.group()
def leakage() -> None:
    """Find fields that a model cannot know when it decides, and samples that a split let through.

    \b
    Example:
      course leakage audit bank_marketing --at before_call
      course leakage check my_split
    """


@leakage.command()
@click.argument("name")
@click.option("--at", "moment", required=True, help="The decision moment, as in the manifest: before_call.")
@click.option("--variant", default="", help="Which of the data set's tables; the first one where left out.")
@click.option(
    "--csv",
    "csv_file",
    type=click.Path(path_type=Path),
    help="Audit this file's columns; those that the manifest does not describe are not usable.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def audit(name: str, moment: str, variant: str, csv_file: Path | None, as_json: bool) -> None:
    """Judge every field of a data set: usable, doubtful or not usable at a decision moment.

    \b
    Example:
      course leakage audit bank_marketing --at before_call
      course leakage audit bank_marketing --variant full --at before_call --csv my_calls.csv
    """
    from course_lib.leakage import audit as audit_fields
    from course_lib.manifests import load_manifest, read_header

    manifest = load_manifest(name, variant)
    columns = None if csv_file is None else read_header(csv_file, manifest, required="features")
    result = audit_fields(manifest, moment, columns)
    if as_json:
        print_json({"schema_version": 1, **result.as_dict()})
        return
    print_table(
        ("Field", "Verdict", "Why"),
        [(row.field, row.verdict, row.reason) for row in result.rows],
    )
    click.echo(result.summary())
    if result.note:
        click.echo(result.note)


@leakage.command()
@click.argument("manifests", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="MANIFEST...")
@click.option("--data", default="", help="Compare with this data set, not the one that the manifest names.")
@click.option("--quick", is_flag=True, help="Leave out near duplicates, which take minutes for images.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.pass_context
def check(context: click.Context, manifests: tuple[Path, ...], data: str, quick: bool, as_json: bool) -> None:
    """Look for leaks in split manifests: duplicates, spread groups, edits, the future in training.

    MANIFEST is a folder that `course split make` wrote. What needs the data runs where they are on this
    machine. The exit status is 1 when something is found.

    \b
    Example:
      course leakage check my_split
      course leakage check my_split --data bank_marketing --json
    """
    from course_lib.leakage import check_manifest

    checked = {
        str(folder): check_manifest(folder, data=data, near_duplicates=not quick) for folder in manifests
    }
    if as_json:
        print_json(
            {
                "schema_version": 1,
                "manifests": [
                    {"manifest": name, "findings": [finding.as_dict() for finding in findings]}
                    for name, findings in checked.items()
                ],
            }
        )
    else:
        for name, findings in checked.items():
            click.echo(name)
            print_table(
                ("Look for", "Answer", "Samples", "In words"),
                [(f.title, f.status, str(len(f.sample_ids) or ""), f.sentence) for f in findings],
            )
            for finding in findings:
                _print_samples(finding)
    if any(finding.status == "found" for findings in checked.values() for finding in findings):
        context.exit(1)


def _print_samples(finding: Finding) -> None:
    """List the samples by id: those that belong together on one line, the first few of many."""
    lines = finding.together or tuple((sample_id,) for sample_id in finding.sample_ids)
    if lines:
        click.echo(f"{finding.title[0].upper()}{finding.title[1:]}:")
        for ids in lines[:_LINES_SHOWN]:
            click.echo(visible("  " + ", ".join(ids)))
        if len(lines) > _LINES_SHOWN:
            click.echo(f"  and {len(lines) - _LINES_SHOWN:,} more; --json lists all of them")
