"""A prediction beside what was measured, as a view over `course_lib.exercises`."""

from __future__ import annotations

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.exercises import LessonExercises, Reconciliation
from course_lib.units import parse_quantity
from course_lib.widgets.svg import Bar, bar_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance


def show_reconciliation(
    exercises: LessonExercises,
    qid: str,
    measured: object,
    *,
    origin: Origin | None = None,
    source_note: str = "",
) -> View:
    """Return the guess beside what was measured, as figure, table and sentence.

    Parameters
    ----------
    exercises : LessonExercises
        The lesson's exercises.
    qid : str
        The prediction's id.
    measured : float, str or Quantity
        What the run gave: a number in base units, a quantity, or an option's id.
    origin : Origin, optional
        The data behind the measured value.
    source_note : str, optional
        How the value came about; "measured on this machine" without it.

    Raises
    ------
    CourseError
        When the lesson has no such prediction, or the measured value cannot be read.
    """
    found = exercises.reconcile(qid, measured)
    note = source_note or text("reconcile.source")
    if found.predicted:
        title = text("reconcile.title", predicted=found.predicted, measured=found.measured)
    else:
        title = text("reconcile.no_prediction", measured=found.measured)
    rows = (
        (text("reconcile.predicted"), found.predicted or text("reconcile.none")),
        (text("reconcile.measured"), found.measured),
    )
    return View(
        title=title,
        summary=" ".join(part for part in (found.difference, found.message) if part),
        columns=(text("reconcile.what"), text("reconcile.value")),
        rows=rows,
        figure_svg=_reconciliation_chart(found, exercises.question(qid).title, title, origin, note),
        origin=origin,
        source_note=note,
        result=found,
        warning=found.save_problem,
    )


def _reconciliation_chart(
    found: Reconciliation, what: str, title: str, origin: Origin | None, note: str
) -> str:
    """Return guess and measurement as bars over an axis named ``what``, "" where they are no numbers."""
    bars = []
    for label, shown in (
        (text("reconcile.predicted"), found.predicted),
        (text("reconcile.measured"), found.measured),
    ):
        try:
            quantity = parse_quantity(shown) if shown else None
        except CourseError:
            return ""
        bars.append(Bar(label, quantity.base if quantity else None, shown=shown or text("reconcile.none")))
    dimension = parse_quantity(found.measured).dimension
    plain = dimension in ("number", "ratio")
    axis = what if plain else text("reconcile.axis", what=what, dimension=dimension)
    return bar_chart(bars, title=title, axis=axis, corner=provenance(origin, note))
