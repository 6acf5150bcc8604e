"""A result that was pinned, and the table that sets it against the current one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from course_lib.widgets.amounts import amount_of, difference
from course_lib.widgets.controls import Control
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, cell_text, table_html, table_text

Row = tuple[str, str, str, str]


@dataclass(frozen=True)
class Pinned:
    """The controls' values by name, and the view for them."""

    values: Mapping[str, Any]
    view: View


def pinned_rows(pinned: Pinned, controls: Mapping[str, Control], now: Pinned) -> tuple[Row, ...]:
    """Return name, pinned value, current value and difference: first the controls, then the key figures.

    A key figure that only one of the two has stands with "no value" on the other side. Without key figures
    the findings stand against each other.
    """
    rows = []
    for name, control in controls.items():
        before, after = pinned.values[name], now.values[name]
        change = difference(control.amount(before), control.amount(after), alike=before == after)
        rows.append((control.label, control.shown(before), control.shown(after), change))
    first, second = dict(pinned.view.key_figures()), dict(now.view.key_figures())
    for name in dict.fromkeys((*first, *second)):
        one, other = first.get(name), second.get(name)
        change = difference(amount_of(one), amount_of(other), alike=one == other)
        rows.append((name, _shown(one), _shown(other), change))
    if not first and not second:
        alike = pinned.view.title == now.view.title
        change = difference(None, None, alike=alike)
        rows.append((text("pinned.finding"), pinned.view.title, now.view.title, change))
    return tuple(rows)


def pinned_html(rows: tuple[Row, ...]) -> str:
    """Return the rows as a table."""
    return (
        f'<div class="course-view course-pinned">{table_html(text("pinned.caption"), _heads(), rows)}</div>'
    )


def pinned_text(rows: tuple[Row, ...]) -> str:
    """Return the rows as plain text."""
    return f"{text('pinned.caption')}\n{table_text(_heads(), rows)}"


def _heads() -> tuple[str, ...]:
    return text("pinned.what"), text("pinned.a"), text("pinned.b"), text("pinned.difference")


def _shown(value: object) -> str:
    amount = None if isinstance(value, str) else amount_of(value)
    return amount.shown() if amount else cell_text(value)
