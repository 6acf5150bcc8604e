"""What a front end gets: the live widget where there can be one, and a static form that stands in for it."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from course_lib.widgets.control import Control
from course_lib.widgets.texts import text

_WAIT = "1.5s"
_DISCONNECTED = "jupyter-widgets-disconnected"  # what ipywidgets calls a view whose kernel is gone


class Showable(Protocol):
    """Something with a live and a static form."""

    def widget(self) -> Any:
        """Return the live form."""

    def static_html(self, reason: str) -> str:
        """Return the static form as HTML, with the reason why it stands still."""

    def static_text(self, reason: str) -> str:
        """Return the static form as plain text."""


def widgets_missing() -> str:
    """Return the sentence that says why there are no live controls here, or "" where there are."""
    if os.environ.get("COURSE_WIDGETS", "").strip().lower() in {"off", "0", "no", "false"}:
        return text("static.switched_off")
    if importlib.util.find_spec("ipywidgets") is None:
        return text("static.not_installed")
    return ""


def still_values(reason: str, controls: Mapping[str, Control], actions: Iterable[str]) -> str:
    """Return why a panel stands still, which values it shows, and how to see others.

    Parameters
    ----------
    reason : str
        Why there are no live controls.
    controls : mapping of str to Control
    actions : iterable of str
        The words on the panel's buttons that start work.
    """
    calls = [text("panel.action_static", name=name) for name in actions]
    reason = " ".join([reason, *calls])
    if not controls:
        return reason
    chosen = "; ".join(
        text("static.value", label=control.label, value=control.shown(control.value))
        for control in controls.values()
    )
    call = ", ".join(f"{name}={control.value!r}" for name, control in controls.items())
    return text("static.values", reason=reason, chosen=chosen, call=f".at({call})")


def bundles(shown: Showable) -> list[dict[str, Any]]:
    """Return the outputs that show ``shown``, each as content by media type.

    A front end shows one media type of an output. JupyterLab prefers the widget to HTML even when its
    model is gone, as in a notebook that is opened again, and then says "Error displaying widget" only; after
    a restart of the kernel it leaves a dead widget with a broken link beside each part. So the static form
    is an output of its own. Style rules show one of the two: the live one while it is on the page and
    connected, else the static one. That waits a moment, since the live one takes a moment to be made.
    """
    reason = widgets_missing()
    if reason:
        return [{"text/html": shown.static_html(reason), "text/plain": shown.static_text(reason)}]
    live = shown.widget()
    name = f"course-live-{live.model_id}"
    live.add_class(name)
    reason = text("static.not_live")
    static = f'{_rules(name)}<div class="{name}-standin">{shown.static_html(reason)}</div>'
    return [
        {**live._repr_mimebundle_(), "text/plain": ""},
        {"text/html": static, "text/plain": shown.static_text(reason)},
    ]


def _rules(name: str) -> str:
    """Return the style rules that show one of the two forms of a panel.

    They look at neighbouring outputs: with a rule on the whole page for each panel of a lesson, every new
    figure makes the browser look through everything. Only where outputs are kept apart from each other,
    or a page has few of them, does the whole page decide.
    """
    live, standin = f".{name}:not(.{_DISCONNECTED})", f".{name}-standin"
    output, content = ".jp-OutputArea-child", ".jp-OutputArea-output"
    elsewhere = "body:is(:not([data-jp-theme-light]), [data-voila])"
    return (
        f"<style>{output}:has({live}) + {output} {standin}, {elsewhere}:has({live}) {standin},"
        f" {output}:has(+ {output} > {content} > {standin}):not(:has({live})) {{display: none;}}"
        " @keyframes course-appear {from {max-height: 0;} to {max-height: none;}}"
        f" {standin} {{overflow: hidden; animation: course-appear 1ms {_WAIT} both;}}</style>"
    )


def show(shown: Showable) -> None:
    """Show the live and the static form as outputs of the running cell."""
    from IPython.display import display

    for bundle in bundles(shown):
        display(bundle, raw=True)
