"""What marking an answer gives."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Verdict:
    """Whether an answer is right, and what to say about it.

    Attributes
    ----------
    correct : bool
        Whether every property holds.
    message : str
        What was got and which property failed, as Markdown; the expected value is never in it.
    kept : str
        What goes on record in place of the answer, such as an artefact's digest; "" keeps the answer itself.
    """

    correct: bool
    message: str
    kept: str = ""
