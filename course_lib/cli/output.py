"""How results reach a person (tables) or a program (JSON)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import click

# Line feeds and tabs aside: what moves a terminal's cursor, colours it, turns text round, or is no character.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def print_json(content: Mapping[str, Any]) -> None:
    """Print one JSON object in plain ASCII, which every terminal and pipe carries."""
    click.echo(json.dumps(content, indent=2, allow_nan=False))


def bar_wanted(*, as_json: bool = False) -> bool:
    """Return whether a progress bar may be drawn: on a terminal, and not among JSON."""
    return not as_json and sys.stdout.isatty()


def visible(text: str) -> str:
    """Return text from somebody's file as it may be shown: control characters become escapes in ASCII.

    Examples
    --------
    >>> print(visible("Ada\\x1b[2J"))
    Ada\\x1b[2J
    """
    return _UNPRINTABLE.sub(lambda match: ascii(match[0])[1:-1], text)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table that folds long cells to the terminal's width."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(Text(visible(column)))
    for row in rows:
        table.add_row(*(Text(visible(cell), overflow="fold") for cell in row))
    # Where nobody's terminal sets the width (a pipe, a file), rich would take a narrow 80.
    Console(width=None if sys.stdout.isatty() else 110).print(table)


def become(command: Sequence[str], *, folder: Path | None = None) -> NoReturn:
    """Let a program take this process's place: its signals and its exit status are then ours."""
    sys.stdout.flush()
    sys.stderr.flush()
    if folder is not None:
        os.chdir(folder)
    if os.name != "nt":
        os.execv(command[0], list(command))
    with subprocess.Popen(list(command)) as child:
        while True:
            try:
                sys.exit(child.wait())
            except KeyboardInterrupt:
                # The program got the same Ctrl-C and ends by itself.
                continue
