"""The pieces that charts are made of, as SVG text: lines, filled boxes, words that are kept inside."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from html import escape

from course_lib.widgets.svg_words import FONT, shortened

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
WIDTH = 660
_EDGE = 4
_PATTERN = "course-pattern-"


def filled(box: str, rank: int) -> str:
    """Return a rectangle in a series' colour, with stripes for every second series."""
    colour = f'<rect {box} fill="{PALETTE[rank]}" stroke="currentColor" stroke-width="0.8"/>'
    return colour + (f'<rect {box} fill="url(#{_PATTERN}{rank})"/>' if rank % 2 else "")


def stripes(rank: Mapping[str, int]) -> str:
    """Return definitions of the stripes that tell every second series apart without colour."""
    patterns = "".join(
        f'<pattern id="{_PATTERN}{number}" width="7" height="7" patternUnits="userSpaceOnUse"'
        ' patternTransform="rotate(45)">'
        '<rect width="2.5" height="7" fill="#fff" fill-opacity="0.65"/></pattern>'
        for number in sorted({number for number in rank.values() if number % 2})
    )
    return f"<defs>{patterns}</defs>" if patterns else ""


def words_at(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    size: int = FONT,
    bold: bool = False,
    opacity: float = 1,
    full: str = "",
) -> str:
    """Return one line of text that ends inside the picture.

    What is too long is shortened in the middle; the pointer, and a screen reader, get all of it.

    Parameters
    ----------
    x, y : float
        Where it starts, ends or has its middle, by ``anchor``; and its base line.
    words : str
        The line.
    anchor : {"start", "end", "middle"}
    size : int
        Of the letters.
    bold : bool
    opacity : float
    full : str
        What ``words`` are a part of, where they do not say everything.
    """
    left, right = x - _EDGE, WIDTH - _EDGE - x
    room = {"start": right, "end": left, "middle": 2 * min(left, right)}[anchor]
    shown = shortened(words, room, size, bold=bold)
    full = full or (words if shown != words else "")
    title = f"<title>{escape(full)}</title>" if full else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
        f' font-weight="{600 if bold else 400}" fill="currentColor" fill-opacity="{opacity}">'
        f"{escape(shown)}{title}</text>"
    )


def rule(
    x1: float, y1: float, x2: float, y2: float, *, width: float = 1, opacity: float = 1, dash: str = ""
) -> str:
    """Return one straight line in the colour of the text."""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor"'
        f' stroke-width="{width}" stroke-opacity="{opacity}" stroke-dasharray="{dash}"/>'
    )


def diamond(x: float, y: float) -> str:
    """Return the marker of a guess, which shows on any bar and on any background."""
    return f'<path d="M{x:.1f} {y - 8:.1f} l7 8 l-7 8 l-7 -8 z" fill="#fff" stroke="#000" stroke-width="2"/>'


def picture(parts: Sequence[str], height: float, title: str, description: str, definitions: str = "") -> str:
    """Return the whole picture with what a screen reader says about it.

    Ids are made from the contents: two charts in one page must not share a pattern, since the one that
    holds it may be hidden.
    """
    whole = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:.0f}" width="{WIDTH}"'
        f' role="img" aria-label="{escape(title)}"'
        ' style="max-width:min(100%,720px);height:auto;color:inherit"'
        " font-family=\"system-ui, -apple-system, 'Segoe UI', sans-serif\">"
        f"<desc>{escape(description)}</desc>{definitions}{''.join(parts)}</svg>"
    )
    digest = hashlib.sha256(whole.encode("utf-8")).hexdigest()[:10]
    return whole.replace(_PATTERN, f"{_PATTERN}{digest}-")
