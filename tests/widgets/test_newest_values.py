"""A panel in an event loop, as in a kernel: what is computed at once, what when, and what never."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from course_lib.widgets import ChoiceControl, NumberControl, Panel, View


def _panel(compute: Callable[..., View]) -> Panel:
    controls = {"ms": NumberControl("Time", 1, 50, 2), "kind": ChoiceControl("Kind", ["a", "b"])}
    panel = Panel("Opens", controls, compute)
    panel.widget()
    return panel


class _FrontEnd:
    """Sends moves of a slider as ipywidgets does: before one is answered, it keeps the newest only."""

    def __init__(self, slider: Any) -> None:
        self.slider = slider
        self._unanswered = False
        self._held: int | None = None

    def move(self, value: int) -> None:
        if self._unanswered:
            self._held = value
            return
        self._unanswered = True
        asyncio.get_running_loop().call_soon(self._received, value)

    def _received(self, value: int) -> None:
        # The kernel answers a message when its handler returns, ahead of what else waits in its loop.
        self.slider.value = value
        self._unanswered = False
        if self._held is not None:
            value, self._held = self._held, None
            self.move(value)


async def _at_rest() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def test_of_the_moves_during_a_slow_computation_only_the_newest_is_computed() -> None:
    seen: list[int] = []
    meanwhile = {3: range(4, 13), 12: range(13, 21)}

    def compute(ms: int, kind: str) -> View:
        seen.append(ms)
        for value in meanwhile.get(ms, ()):
            front_end.move(value)
        return View(f"{ms} ms", "")

    panel = _panel(compute)
    front_end = _FrontEnd(panel.controls["ms"]._parts["slider"])

    async def hold_the_key() -> None:
        front_end.move(3)
        await _at_rest()

    asyncio.run(hold_the_key())
    assert seen == [2, 3, 12, 20]
    assert panel._parts["view"].value.count("20 ms") == 1


@pytest.mark.parametrize("part", ["slider", "box", "choice"])
def test_a_move_by_hand_is_computed_at_once_and_moves_by_code_when_the_cell_gives_way(part: str) -> None:
    seen: list[tuple[int, str]] = []

    def compute(ms: int, kind: str) -> View:
        seen.append((ms, kind))
        return View(f"{ms} ms", "")

    panel = _panel(compute)
    number, choice = panel.controls["ms"], panel.controls["kind"]

    async def cell() -> list[tuple[int, str]]:
        if part == "choice":
            choice._widget.value = "b"
        else:
            number._parts[part].value = 7 if part == "slider" else "7"
        at_once = list(seen)
        number.value, choice.value = 30, "a"
        number.value, choice.value = 31, "b"
        assert seen == at_once
        await _at_rest()
        return at_once

    by_hand = (2, "b") if part == "choice" else (7, "a")
    assert asyncio.run(cell()) == [(2, "a"), by_hand]
    assert seen == [(2, "a"), by_hand, (31, "b")]


def test_the_result_is_sent_ahead_of_the_box() -> None:
    panel = _panel(lambda ms, kind: View(f"{ms} ms", ""))
    parts = panel.controls["ms"]._parts
    boxes: list[str] = []
    panel._parts["view"].observe(lambda change: boxes.append(parts["box"].value), "value")
    parts["slider"].value = 9
    assert (boxes, parts["box"].value) == (["2"], "9")
