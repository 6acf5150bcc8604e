"""Short Markdown of questions and feedback as HTML; raw HTML in it is shown, not run."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def markdown_html(markdown: str, *, inline: bool = False) -> str:
    """Return Markdown as HTML; ``inline`` makes no paragraph of it where it is only one."""
    html = _renderer().render(markdown).strip()
    if inline and html.count("<p>") == 1 and html.startswith("<p>") and html.endswith("</p>"):
        return html[len("<p>") : -len("</p>")]
    return html


def unmarked(markdown: str) -> str:
    """Return one line of Markdown without its marks, for labels that show plain text.

    Examples
    --------
    >>> unmarked("The field `duration` is **not** known")
    'The field duration is not known'
    """
    return re.sub(r"(\*\*|`)(.+?)\1", r"\2", markdown)
