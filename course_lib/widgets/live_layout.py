"""The widgets of a live panel, and how they lie: one below the other, or beside each other in large type."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from course_lib.widgets.naming import naming_script
from course_lib.widgets.style import STYLE
from course_lib.widgets.texts import text


def live_widgets(
    title: str, controls: Sequence[Any], actions: Mapping[str, Callable[[], None]], *, large: bool
) -> dict[str, Any]:
    """Return the widgets by name: the buttons, "chart", "state", "problem", "table", and "all".

    Parameters
    ----------
    title : str
        Stands above everything.
    controls : sequence of widgets
        From top to bottom.
    actions : mapping of str to callable
        What each button does, by the button's name; the first one is the main one.
    large : bool
        Large type and a page's whole width.
    """
    import ipywidgets as widgets

    parts: dict[str, Any] = {name: widgets.HTML() for name in ("chart", "state", "problem", "table")}
    for place, (name, action) in enumerate(actions.items()):
        parts[name] = widgets.Button(
            description=text(f"live.button_{name}"),
            button_style="" if place else "primary",
            layout=widgets.Layout(width="auto"),
        )
        parts[name].on_click(lambda _, action=action: action())
    buttons = widgets.HBox([parts[name] for name in actions])
    buttons.add_class("course-buttons")
    asked = widgets.VBox([*controls, buttons, parts["state"], parts["problem"]])
    asked.add_class("course-live-controls")
    parts["chart"].add_class("course-live-chart")
    parts["table"].add_class("course-live-table")
    head = widgets.HTML(f'{STYLE}<p class="course-heading">{escape(title)}</p>')
    parts["all"] = widgets.VBox([head, asked, parts["chart"], parts["table"], naming_script()])
    for name in ("course-panel", "course-live", *(("course-large",) if large else ())):
        parts["all"].add_class(name)
    return parts
