"""Panels and question views: a thin, accessible layer over pure functions.

The names below load what they need when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.widgets.controls import ChoiceControl as ChoiceControl
    from course_lib.widgets.controls import NumberControl as NumberControl
    from course_lib.widgets.lesson_map import LessonRow as LessonRow
    from course_lib.widgets.lesson_map import course_map as course_map
    from course_lib.widgets.live import LivePanel as LivePanel
    from course_lib.widgets.live import LivePreset as LivePreset
    from course_lib.widgets.panel import Panel as Panel
    from course_lib.widgets.quantity import QuantityControl as QuantityControl
    from course_lib.widgets.questions import show_prediction as show_prediction
    from course_lib.widgets.questions import show_question as show_question
    from course_lib.widgets.reconciliations import show_reconciliation as show_reconciliation
    from course_lib.widgets.svg import Bar as Bar
    from course_lib.widgets.svg import bar_chart as bar_chart
    from course_lib.widgets.svg import line_chart as line_chart
    from course_lib.widgets.texts import text as text
    from course_lib.widgets.view import View as View
    from course_lib.widgets.view import bar_view as bar_view
    from course_lib.widgets.view import origin_badge as origin_badge

_HOMES = {
    "controls": ("ChoiceControl", "NumberControl"),
    "lesson_map": ("LessonRow", "course_map"),
    "live": ("LivePanel", "LivePreset"),
    "panel": ("Panel",),
    "quantity": ("QuantityControl",),
    "questions": ("show_prediction", "show_question"),
    "reconciliations": ("show_reconciliation",),
    "svg": ("Bar", "bar_chart", "line_chart"),
    "texts": ("text",),
    "view": ("View", "bar_view", "origin_badge"),
}
_MODULES = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
