"""Lesson 00: this machine, the data at hand, and the map of the course."""

from __future__ import annotations

from collections.abc import Sequence

from course_lib.datasets.settings import SOURCES, Source, choose_source, chosen_source
from course_lib.datasets.status import DatasetStatus, data_status
from course_lib.exercises import all_lessons_summary
from course_lib.experiments.environment import Check, can_run, check_environment
from course_lib.experiments.lessons import all_lessons
from course_lib.units import format_bytes
from course_lib.widgets.controls import ChoiceControl
from course_lib.widgets.lesson_map import CourseMap, LessonRow, course_map
from course_lib.widgets.markdown import unmarked
from course_lib.widgets.panel import Panel
from course_lib.widgets.svg import Bar
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, bar_view

_LESSON_COUNT = 16


def environment_view(checks: Sequence[Check] | None = None) -> View:
    """Return what the check of this machine found; ``checks`` stand in for a new check."""
    found = tuple(check_environment() if checks is None else checks)
    counts = {
        status: sum(check.status == status for check in found) for status in ("ok", "warning", "problem")
    }
    title = text("environment.ready") if can_run(found) else text("environment.not_ready")
    names = {
        "ok": text("environment.ok"),
        "warning": text("environment.warning"),
        "problem": text("environment.problem"),
    }
    columns = (
        text("environment.what"),
        text("environment.status"),
        text("environment.found"),
        text("environment.remedy"),
    )
    rows = tuple((check.name, names[check.status], check.found, unmarked(check.remedy)) for check in found)
    summary = text(
        "environment.summary", ok=counts["ok"], warnings=counts["warning"], problems=counts["problem"]
    )
    return View(title, summary, columns, rows, source_note=text("environment.source"), result=found)


def data_view(statuses: Sequence[DatasetStatus]) -> View:
    """Return where each data set comes from, with what keeps it from being loaded."""
    troubled = [status for status in statuses if status.problem]
    bars = [
        Bar(_name(status), status.bytes_on_disk / 1e6, shown=_size(status.bytes_on_disk))
        for status in statuses
    ]
    chart = bar_view(
        text("data.title_problem", count=len(troubled)) if troubled else text("data.title"),
        bars,
        summary=text("data.summary"),
        axis=text("data.axis"),
        label_head=text("data.name"),
        value_head=text("data.axis"),
        source_note=text("data.source"),
    )
    columns = (text("data.name"), text("data.origin"), text("data.why"), text("data.size"))
    rows = tuple(
        (_name(status), status.source, status.problem or status.detail, _size(status.bytes_on_disk))
        for status in statuses
    )
    figure = chart.figure_svg if any(status.bytes_on_disk for status in statuses) else ""
    return View(
        chart.title, chart.summary, columns, rows, figure, None, chart.source_note, result=tuple(statuses)
    )


def data_panel() -> Panel:
    """Return a panel that chooses where data come from, for all lessons, and shows what that gives."""

    def choose(source: Source) -> View:
        if source != chosen_source():
            choose_source(source)
        return data_view(data_status())

    names = {
        "auto": text("data.auto"),
        "official": text("data.official"),
        "mirror": text("data.mirror"),
        "generated": text("data.generated"),
    }
    control = ChoiceControl(
        text("data.control"), {names[source]: source for source in SOURCES}, chosen_source()
    )
    return Panel(text("data.panel"), {"source": control}, choose)


def _name(status: DatasetStatus) -> str:
    return f"{status.dataset} ({status.variant})" if status.variant else status.dataset


def _size(byte_count: int) -> str:
    return format_bytes(byte_count) if byte_count else text("data.nothing_on_disk")


def map_view() -> CourseMap:
    """Return the map of all lessons, those that are still to come included, with the learner's progress."""
    summaries = {summary.lesson: summary for summary in all_lessons_summary()}
    notebooks = {lesson.number: lesson.notebook.name for lesson in all_lessons()}
    rows = []
    for number in (f"{position:02d}" for position in range(_LESSON_COUNT)):
        summary = summaries.get(number)
        rows.append(
            LessonRow(
                number,
                text(f"lesson.{number}.title"),
                text(f"lesson.{number}.question"),
                notebooks.get(number, ""),
                summary.solved if summary else 0,
                summary.total if summary else 0,
            )
        )
    return course_map(rows)
