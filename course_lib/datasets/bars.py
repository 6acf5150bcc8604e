"""Whether somebody sees a progress bar."""

from __future__ import annotations

import sys
from typing import TextIO


def is_watched(stream: TextIO) -> bool:
    """Return whether a progress bar on a stream is seen as one: on a terminal, or in a notebook.

    In a pipe or a file it would be a heap of lines.
    """
    return stream.isatty() or _in_notebook()


def _in_notebook() -> bool:
    # A kernel's own streams say that they are no terminal.
    interactive = sys.modules.get("IPython")
    shell = interactive.get_ipython() if interactive else None
    return getattr(shell, "kernel", None) is not None
