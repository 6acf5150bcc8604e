"""The widgets of a panel, and how they lie: one below the other, or beside each other in large type."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from course_lib.widgets.naming import ANNOUNCED, naming_script, toggle
from course_lib.widgets.style import STYLE
from course_lib.widgets.texts import text


def panel_widgets(
    title: str,
    controls: Sequence[Any],
    *,
    presets: Sequence[str] = (),
    manual: bool = False,
    pin: bool = False,
    actions: Any = None,
    large: bool = False,
) -> dict[str, Any]:
    """Return the widgets by name: "view", "presets" (buttons by name), "all", and what was asked for.

    Parameters
    ----------
    title : str
        Stands above everything.
    controls : sequence of widgets
        From top to bottom.
    presets : sequence of str
        The words on the preset buttons.
    manual, pin : bool
        Whether there are "button" and "state" for Run, and "pin", "unpin" and "pinned" for a comparison.
    actions : widget, optional
        Stands under the view.
    large : bool
        Large type and a page's whole width.
    """
    import ipywidgets as widgets

    def button(words: str, style: str = "") -> Any:
        return widgets.Button(description=words, button_style=style, layout=widgets.Layout(width="auto"))

    def row(*members: Any) -> Any:
        box = widgets.HBox(members)
        box.add_class("course-buttons")
        return box

    parts: dict[str, Any] = {
        "view": widgets.HTML(),
        "presets": {name: toggle(button(name)) for name in presets},
    }
    asked = []
    if presets:
        words = widgets.HTML(f'<span class="course-before">{escape(text("panel.presets"))}</span>')
        asked.append(row(words, *parts["presets"].values()))
    asked += controls
    if manual:
        parts |= {"button": button(text("panel.run"), "primary"), "state": widgets.HTML()}
        asked.append(row(parts["button"], parts["state"]))
    shown = [parts["view"]]
    if pin:
        parts |= {"pin": toggle(button(text("panel.pin"))), "unpin": button(text("panel.unpin"))}
        parts["pinned"] = widgets.HTML()
        asked.append(row(parts["pin"], parts["unpin"]))
        shown.insert(0, parts["pinned"])
    if actions is not None:
        shown.append(actions)
    left, right = widgets.VBox(asked), widgets.VBox(shown)
    left.add_class("course-asked")
    right.add_class("course-shown")
    head = widgets.HTML(f'{STYLE}<p class="course-heading">{escape(title)}</p>{ANNOUNCED}')
    parts["all"] = widgets.VBox([head, left, right, naming_script()])
    parts["all"].add_class("course-panel")
    if large:
        parts["all"].add_class("course-large")
    return parts
