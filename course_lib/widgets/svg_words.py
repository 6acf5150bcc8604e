"""How wide words are in a chart, and how long ones are wrapped or shortened.

Nobody knows the reader's font here. The widths are those of a wide one, so that words in a narrower one
stay inside as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

FONT = 14
SMALL = 12

# In units of the letters' size; everything else is as wide as a small "n".
_WIDTHS = {
    **dict.fromkeys("fijlrtIJ.,:;'|!()[]{}-/\\ \u00a0·", 0.4),
    **dict.fromkeys("ABCEFKLPRSTVXYZ&", 0.7),
    **dict.fromkeys("DGHNOQUw=+<>~×±−", 0.84),
    **dict.fromkeys("mMW@%…—", 1.0),
}
_ORDINARY, _WIDE, _CAPITAL = 0.64, 1.0, 0.8
_BOLD = 1.1
_GAP = "…"


def width_of(words: str, size: float = FONT, *, bold: bool = False) -> float:
    """Return how wide a line is at most, in the units of the picture.

    Examples
    --------
    >>> round(width_of("n" * 10, 10), 1), width_of("nn") < width_of("mm")
    (64.0, True)
    """
    return sum(map(_letter, words)) * size * (_BOLD if bold else 1)


def shortened(words: str, room: float, size: float = FONT, *, bold: bool = False) -> str:
    """Return words that fit into ``room``: where they are too long, without their middle.

    Examples
    --------
    >>> shortened("checkpoint_0001_of_a_long_run", 120)
    'checkpo…long_run'
    """
    if width_of(words, size, bold=bold) <= room:
        return words
    left = room - width_of(_GAP, size, bold=bold)
    ends, taken = [0, 0], 0
    while taken < len(words):
        at_end = taken % 2
        letter = words[-1 - ends[1]] if at_end else words[ends[0]]
        left -= width_of(letter, size, bold=bold)
        if left < 0:
            break
        ends[at_end] += 1
        taken += 1
    return words[: ends[0]].rstrip() + _GAP + words[len(words) - ends[1] :].lstrip()


def wrapped(words: str, room: float, size: float = FONT, *, most_lines: int = 0) -> Sequence[str]:
    """Return words as lines no wider than ``room``, broken between words where there are any.

    Parameters
    ----------
    words : str
        One line, of any length.
    room, size : float
        The width of a line, and the size of the letters.
    most_lines : int
        Lines in the middle give way to a sign that something is missing; 0 keeps all.
    """
    lines = [""]
    for word in words.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_of(longer, size) > room:
            lines.append(word)
        else:
            lines[-1] = longer
    if 0 < most_lines < len(lines):
        kept = (most_lines + 1) // 2
        lines = [*lines[: kept - 1], f"{lines[kept - 1]} {_GAP}", *lines[len(lines) - most_lines + kept :]]
    return [shortened(line, room, size) for line in lines]


def _letter(letter: str) -> float:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if letter.isascii():
        return _ORDINARY
    if combining(letter):
        return 0.0
    if east_asian_width(letter) in "WF":
        return _WIDE
    return _CAPITAL if letter.isupper() else _ORDINARY
