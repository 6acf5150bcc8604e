"""The map of the course: every lesson with its question, whether it is there, and how far the learner is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from course_lib.widgets.style import STYLE
from course_lib.widgets.texts import text


@dataclass(frozen=True)
class LessonRow:
    """One lesson on the map.

    Attributes
    ----------
    number, title, question : str
        For example "01", "Prediction time", "Which fields may a model see?".
    notebook : str
        File name beside the map's own notebook; "" while the lesson is not there yet.
    solved, total : int
        Exercises solved, and all there are.
    """

    number: str
    title: str
    question: str
    notebook: str = ""
    solved: int = 0
    total: int = 0


@dataclass(frozen=True)
class CourseMap:
    """The map as HTML, with links and progress bars, and as plain text."""

    rows: tuple[LessonRow, ...]

    def _repr_html_(self) -> str:
        heads = "".join(
            f'<th scope="col">{escape(head)}</th>'
            for head in (text("map.number"), text("map.lesson"), text("map.progress"))
        )
        body = "".join(_row_html(row) for row in self.rows)
        return (
            f'{STYLE}<div class="course-view"><table><caption>{escape(text("map.caption"))}</caption>'
            f"<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def __str__(self) -> str:
        return "\n".join(f"{row.number}  {row.title}: {row.question} [{_progress(row)}]" for row in self.rows)

    __repr__ = __str__


def course_map(rows: Iterable[LessonRow]) -> CourseMap:
    """Return the map of the lessons in the order given; shown as the last expression of a cell."""
    return CourseMap(tuple(rows))


def _progress(row: LessonRow) -> str:
    """Return how far the learner is, in words."""
    if not row.notebook:
        return text("map.not_there")
    if not row.total:
        return text("map.no_exercises")
    return text("map.solved", solved=row.solved, total=row.total)


def _row_html(row: LessonRow) -> str:
    """Return one lesson as a table row; a lesson that is there is a link."""
    title = escape(row.title)
    if row.notebook:
        title = f'<a href="{escape(quote(row.notebook))}">{title}</a>'
    bar = ""
    if row.notebook and row.total:
        share = min(100, round(100 * row.solved / row.total))
        bar = f'<span class="course-bar" aria-hidden="true"><span style="width:{share}%"></span></span>'
    missing = "" if row.notebook else ' class="course-missing"'
    return (
        f"<tr{missing}><td>{escape(row.number)}</td>"
        f'<th scope="row"><strong>{title}</strong><br>{escape(row.question)}</th>'
        f'<td class="course-progress">{bar}{escape(_progress(row))}</td></tr>'
    )
