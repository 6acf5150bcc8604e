"""Presets set several controls with one computation; a pinned result stands against the current one."""

from __future__ import annotations

import re
import threading
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.units import Quantity
from course_lib.widgets import Panel, QuantityControl, View


def _panel(seen: list[tuple[float, float]] | None = None, **options: Any) -> Any:
    def compute(size: float, devices: int) -> View:
        if seen is not None:
            seen.append((size, devices))
        rate = Quantity(size * devices * 512, "B/s")
        return View("A rate", "Computed.", figures=(("Bytes a second", rate),))

    controls = {
        "size": QuantityControl("Sample", "1 KB", "10 MB", "100 KB"),
        "devices": QuantityControl("Devices", 1, 64, 1, dimension="number", whole=True),
    }
    panel = Panel("Bandwidth", controls, compute, **options)
    panel.widget()
    return panel


PRESETS = {"8 accelerators": {"size": "200 KB", "devices": 8}, "laptop": {"size": 1000}}


def test_a_preset_sets_its_controls_with_one_computation() -> None:
    seen: list[tuple[float, float]] = []
    panel = _panel(seen, presets=PRESETS)
    panel._parts["presets"]["8 accelerators"].click()
    assert seen == [(100_000, 1), (200_000, 8)]
    with pytest.raises(CourseError, match="no preset 'desk'; choose '8 accelerators' or 'laptop'"):
        panel.choose("desk")


def test_a_preset_that_a_control_does_not_take_is_refused_at_once() -> None:
    with pytest.raises(CourseError, match="outside"):
        _panel(presets={"huge": {"size": "1 TB"}})
    with pytest.raises(CourseError, match="no control 'sise'"):
        _panel(presets={"huge": {"sise": "1 MB"}})


def test_a_pinned_result_stands_beside_the_current_one_until_it_is_let_go() -> None:
    panel = _panel(pin=True)
    panel._parts["pin"].click()
    panel.controls["devices"].value = 4
    rows = [tuple(re.split(" {2,}", line)) for line in panel.static_text("").splitlines()[-3:]]
    assert rows == [
        ("Sample", "100 KB", "100 KB", "the same"),
        ("Devices", "1", "4", "+3 (4 times)"),
        ("Bytes a second", "51.2 MB/s", "204.8 MB/s", "+153.6 MB/s (4 times)"),
    ]
    assert "204.8 MB/s" in panel._parts["pinned"].value and "204.8 MB/s" in panel.static_text("")
    panel._parts["unpin"].click()
    assert panel._parts["pinned"].value == "" and panel._parts["unpin"].layout.display == "none"


def test_buttons_say_which_preset_is_in_force_and_whether_something_is_pinned() -> None:
    panel = _panel(presets={**PRESETS, "desk": {"size": "100 KB"}}, pin=True)
    buttons = {**panel._parts["presets"], "pin": panel._parts["pin"]}
    assert all("course-toggle" in button._dom_classes for button in buttons.values())

    def pressed() -> set[str]:
        return {name for name, button in buttons.items() if "course-pressed" in button._dom_classes}

    assert pressed() == {"desk"}, "the values at the start are those of a preset"
    panel.choose("8 accelerators")
    panel.pin()
    assert pressed() == {"8 accelerators", "pin"}
    panel.controls["devices"].value = 7
    panel.unpin()
    assert pressed() == set()


def test_an_action_gets_the_values_and_takes_no_second_press_while_it_works() -> None:
    begun, release, calls = threading.Event(), threading.Event(), []

    def measure(size: float, devices: int) -> str:
        calls.append((size, devices))
        begun.set()
        release.wait(30)
        return f"{devices} measured"

    panel = _panel(actions={"Run it": measure})
    parts = panel._actions._parts
    parts["buttons"]["Run it"].click()
    assert begun.wait(30)
    assert parts["buttons"]["Run it"].disabled and "working" in parts["result"].value
    assert parts["stop"].layout.display == "none", "this one cannot be stopped"
    parts["buttons"]["Run it"].click()
    release.set()
    panel._actions.thread.join(30)
    assert calls == [(100_000, 1)]
    assert "1 measured" in parts["result"].value and not parts["buttons"]["Run it"].disabled


def test_an_action_that_takes_a_stop_can_be_stopped() -> None:
    begun = threading.Event()

    def measure(size: float, devices: int, stop: threading.Event) -> str:
        begun.set()
        return "stopped early" if stop.wait(30) else "to the end"

    panel = _panel(actions={"Run it": measure})
    parts = panel._actions._parts
    parts["buttons"]["Run it"].click()
    assert begun.wait(30) and parts["stop"].layout.display is None
    parts["stop"].click()
    panel._actions.thread.join(30)
    assert "stopped early" in parts["result"].value


def test_an_action_that_fails_says_so_in_a_sentence() -> None:
    def measure(size: float, devices: int) -> str:
        raise CourseError("The disk is full", next_step="make room")

    panel = _panel(actions={"Run it": measure})
    with pytest.raises(CourseError, match="The disk is full; make room"):
        panel.act("Run it")
    assert 'role="alert"' in panel._actions._parts["result"].value
    with pytest.raises(CourseError, match="no action 'Run'"):
        panel.act("Run")
