"""``course lab``: JupyterLab at the first lesson."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from course_lib.cli.output import become

_FIRST_NOTEBOOK = "notebooks/00_start_here.ipynb"


@click.command(context_settings={"ignore_unknown_options": True})
@click.option("--no-browser", is_flag=True, help="Only print the address; open it in a browser yourself.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to serve on; the next free one from 8888.")
@click.argument("further", nargs=-1, type=click.UNPROCESSED)
def lab(no_browser: bool, port: int | None, further: tuple[str, ...]) -> None:
    """Open JupyterLab at the first notebook; Ctrl-C stops it.

    Further options go to JupyterLab as they are.

    \b
    Example:
      course lab
      course lab --no-browser --port 9000
      course lab --ServerApp.ip=0.0.0.0
    """
    from course_lib.paths import workbook_root

    root = workbook_root()
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(
        [str(root), *filter(None, [os.environ.get("JUPYTER_CONFIG_PATH")])]
    )
    # Kernels and settings of this environment come before those of the user's other installations.
    os.environ.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    click.echo("JupyterLab starts; its address is below. Stop it with Ctrl-C.")
    become(lab_command(root, no_browser=no_browser, port=port, further=further), folder=root)


def lab_command(root: Path, *, no_browser: bool, port: int | None, further: tuple[str, ...]) -> list[str]:
    """Return the command that serves the workbook from this environment."""
    from course_lib.paths import course_home

    page = _FIRST_NOTEBOOK if (root / _FIRST_NOTEBOOK).is_file() else "notebooks"
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        f"--ServerApp.root_dir={root}",
        f"--LabApp.default_url=/lab/tree/{page}",
        "--ServerApp.answer_yes=True",
    ]
    # Else this one would begin with the open tabs and the looks of the same person's other JupyterLabs.
    for name, folder in (("workspaces_dir", "workspaces"), ("user_settings_dir", "settings")):
        # An option given twice counts for nothing.
        if not any(word.startswith(f"--LabApp.{name}") for word in further):
            command.append(f"--LabApp.{name}={course_home() / 'lab' / folder}")
    if no_browser:
        command.append("--no-browser")
    if port is not None:
        command.append(f"--ServerApp.port={port}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    return [*command, *further]
