"""What the kit says back: plain values with a readable text and Markdown form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Status = Literal["not_attempted", "correct", "wrong", "invalid", "recorded"]

_HEADINGS: dict[Status, str] = {
    "not_attempted": "Not attempted",
    "correct": "Correct",
    "wrong": "Not yet",
    "invalid": "Not an answer yet",
    "recorded": "Recorded",
}


def _plain(markdown: str) -> str:
    """Return Markdown without the marks that only a renderer needs."""
    return re.sub(r"\*\*(.+?)\*\*", r"\1", markdown)


@dataclass(frozen=True, repr=False)
class Page:
    """Something to read in a notebook: a question, a list of questions or a solution.

    Attributes
    ----------
    markdown : str
        The page as Markdown.
    """

    markdown: str

    @property
    def text(self) -> str:
        """The page for places that do not render Markdown."""
        return _plain(self.markdown)

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.markdown


@dataclass(frozen=True, repr=False)
class Feedback:
    """The reply to one answer.

    Attributes
    ----------
    question_id, title : str
        The question that was answered.
    status : {"not_attempted", "correct", "wrong", "invalid", "recorded"}
        An "invalid" answer could not be read and does not count; "recorded" is for predictions.
    message : str
        What was got and which property failed, as short Markdown.
    hint : str
        The newest hint, "" when none is due.
    hints : tuple of str
        All hints given so far, the newest last.
    attempts : int
        Attempts that counted, this one included.
    solution_available : bool
        Whether the solution may be opened.
    saved : bool
        Whether this answer is on the disk.
    save_problem : str
        One sentence on why it is not, or on what happened to the progress file; "" when all is well.
    """

    question_id: str
    title: str
    status: Status
    message: str
    hint: str = ""
    hints: tuple[str, ...] = ()
    attempts: int = 0
    solution_available: bool = False
    saved: bool = False
    save_problem: str = ""

    def _repr_markdown_(self) -> str:
        parts = [f"**{_HEADINGS[self.status]}: {self.title}**", self.message]
        if self.hint:
            parts.append(f"**Hint {len(self.hints)}.** {self.hint}")
        if self.attempts:
            counted = f"{self.attempts} attempt{'s' if self.attempts != 1 else ''} so far."
            if self.solution_available:
                counted += f' `exercises.solution("{self.question_id}")` explains the answer.'
            parts.append(counted)
        if self.save_problem:
            parts.append(f"**Progress file.** {self.save_problem}")
        return "\n\n".join(parts)

    def __repr__(self) -> str:
        return _plain(self._repr_markdown_())


@dataclass(frozen=True, repr=False)
class Reconciliation:
    """A guess beside what was then measured; neither right nor wrong.

    Attributes
    ----------
    predicted : str
        The guess as text, "" when none was recorded before the run.
    measured, difference : str
        What the run gave, and the step from the guess to it ("" without a guess).
    message : str
        What the difference may teach.
    saved : bool
        Whether the pair is on the disk.
    save_problem : str
        One sentence on why it is not, "" when all is well.
    """

    question_id: str
    title: str
    predicted: str
    measured: str
    difference: str
    message: str
    saved: bool = False
    save_problem: str = ""

    def _repr_markdown_(self) -> str:
        if self.predicted:
            head = f"You predicted {self.predicted}; this run gave {self.measured}."
            head += f" {self.difference}" if self.difference else ""
        else:
            head = f"This run gave {self.measured}. No prediction was recorded before it."
        parts = [f"**{self.title}**", head, self.message]
        if self.save_problem:
            parts.append(f"**Progress file.** {self.save_problem}")
        return "\n\n".join(part for part in parts if part)

    def __repr__(self) -> str:
        return _plain(self._repr_markdown_())
