"""``course custody``: cases for a class, and the judgement of what the class says about them."""

from __future__ import annotations

from pathlib import Path

import click

from course_lib.cli.output import print_json, print_table, visible


@click.group()
def custody() -> None:
    """Make data sets with hidden faults for a class, and judge the verdicts that come back.

    \b
    Example:
      course custody make 12 --out cases --key keys/cases.json
      course custody judge handed_in/ada.json handed_in/alan.json --key keys/cases.json
    """


@custody.command()
@click.argument("count", type=int)
@click.option(
    "--seed", type=int, help="The same seed gives the same cases; a fresh one, kept in the key, without it."
)
@click.option("--out", "folder", required=True, type=click.Path(path_type=Path), help="For the learners.")
@click.option(
    "--key",
    type=click.Path(path_type=Path),
    help="Where the key goes, outside the learners' folder; OUT-key/key.json without it.",
)
@click.option("--budget", type=int, default=5, show_default=True, help="Detectors for each case.")
def make(count: int, seed: int | None, folder: Path, key: Path | None, budget: int) -> None:
    """Write COUNT cases into a folder to hand out, and their key into another place.

    About a third of the cases is clean. Who knows the seed can make the key, so keep it to yourself.

    \b
    Example:
      course custody make 12 --out cases --key keys/cases.json
    """
    from course_lib.leakage.custody import class_set

    made = class_set(count, seed, folder, key=key, budget=budget)
    click.echo(f"{made.count} cases for the class in {made.folder}")
    click.echo(f"The key, for you alone, in {made.key}")


@custody.command()
@click.argument("verdicts", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--key", required=True, type=click.Path(path_type=Path), help="The key of these cases.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def judge(verdicts: tuple[Path, ...], key: Path, as_json: bool) -> None:
    """Judge the files of verdicts that learners handed in.

    Learners write theirs in a notebook: `bench = Bench.opened("cases")`, then `bench.judge(...)` for
    each case and `bench.write_verdicts("ada.json", learner="Ada")`. A file that cannot be judged is named
    after the others, which are judged all the same; then the status is 2.

    \b
    Example:
      course custody judge ada.json alan.json --key keys/cases.json
    """
    from course_lib.leakage.custody import judge_all

    reports, refused = judge_all(verdicts, key)
    if as_json:
        print_json(
            {
                "schema_version": 1,
                "learners": [report.as_dict() for _, report in reports],
                "refused": [{"file": str(file), "why": str(error)} for file, error in refused],
            }
        )
    else:
        for file, report in reports:
            click.echo(visible(f"{report.learner or file.name}: {report.score.sentence()}"))
            print_table(("Case", "Verdict", "Evidence", "Points", "Why"), report.table())
    for _, error in refused[:-1]:
        click.echo(visible(f"course: {error}"), err=True)
    if refused:
        raise refused[-1][1]
