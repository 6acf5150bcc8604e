"""``course doctor``: is this machine ready?"""

from __future__ import annotations

from dataclasses import asdict

import click

from course_lib.cli.output import print_json, print_table

_MARKS = {"ok": "ok", "warning": "warning", "problem": "PROBLEM"}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def doctor(as_json: bool) -> int:
    """See whether this machine is ready for the workbook.

    Python, packages, cores, memory, disk, shared memory, GPU, workers, browser, data: each
    problem comes with its remedy. The exit status is 1 if the workbook cannot run here.

    \b
    Example:
      course doctor
      course doctor --json

    The JSON object has the keys schema_version (1), ready (true or false), machine (system, processor,
    logical_cores, usable_cores, memory_bytes, gpus), versions, and checks: a list of objects with name,
    status (ok, warning, problem), found and remedy.
    """
    from course_lib.experiments.environment import can_run, check_environment
    from course_lib.experiments.machine import describe_machine, library_versions

    checks = check_environment()
    ready = can_run(checks)
    if as_json:
        print_json(
            {
                "schema_version": 1,
                "ready": ready,
                "machine": describe_machine().as_dict(),
                "versions": library_versions(),
                "checks": [asdict(check) for check in checks],
            }
        )
    else:
        rows = [
            (_MARKS[check.status], check.name, check.found + (f"\n-> {check.remedy}" if check.remedy else ""))
            for check in checks
        ]
        print_table(("", "What", "Found, and what to do"), rows)
        click.echo(
            "This machine is ready: `course lab` opens the first lesson."
            if ready
            else "The workbook cannot run here yet: see each PROBLEM above."
        )
    return 0 if ready else 1
