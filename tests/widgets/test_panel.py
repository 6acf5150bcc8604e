"""A panel computes for the newest values only, stays usable after an error, and has a static form."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.widgets import ChoiceControl, NumberControl, Panel, View
from course_lib.widgets.static import bundles


def _view(ms: float) -> View:
    return View(
        f"{ms} ms", f"{1000 / ms:.0f} a second", ("ms", "per s"), ((ms, 1000 / ms),), result=1000 / ms
    )


class _Counting:
    """A computation that notes for which values it ran."""

    def __init__(self) -> None:
        self.seen: list[float] = []

    def __call__(self, ms: float) -> View:
        self.seen.append(ms)
        if ms == 13:
            raise CourseError("Thirteen has no result", next_step="choose another number")
        if ms == 14:
            raise ZeroDivisionError("by <zero>")
        return _view(ms)


def _panel(compute: Any = None, **options: Any) -> Panel:
    control = NumberControl("Time", 1, 50, 2, unit="ms")
    return Panel("Opens", {"ms": control}, _Counting() if compute is None else compute, **options)


def _shown(panel: Panel) -> str:
    panel.widget()
    return panel._parts["view"].value


def test_widget_shows_the_first_view_and_follows_the_control() -> None:
    panel = _panel()
    assert "2 ms" in _shown(panel) and "500 a second" in _shown(panel)
    panel.controls["ms"].value = 4
    assert "250 a second" in _shown(panel)
    assert (panel.view.title, panel.value) == ("4 ms", 250)


def test_the_view_is_shown_when_it_was_asked_for_before_the_widget() -> None:
    panel = _panel()
    assert panel.view.title == "2 ms"
    assert "500 a second" in _shown(panel)


def test_nothing_is_computed_twice_for_the_same_values() -> None:
    compute = _Counting()
    panel = _panel(compute)
    _shown(panel)
    panel.view, panel.value, bundles(panel)
    assert compute.seen == [2]


def test_moves_while_the_loop_is_busy_lead_to_one_computation() -> None:
    compute = _Counting()
    panel = _panel(compute)
    _shown(panel)

    async def drag() -> None:
        for ms in range(3, 40):
            panel.controls["ms"].value = ms
        computed = asyncio.Event()
        asyncio.get_running_loop().call_later(0.2, computed.set)
        await computed.wait()

    asyncio.run(drag())
    assert compute.seen == [2, 39]
    assert "39 ms" in _shown(panel)


def test_moves_during_a_computation_lead_to_one_more_for_the_newest() -> None:
    seen: list[float] = []

    def compute(ms: float) -> View:
        seen.append(ms)
        if ms == 3:
            for newer in (4, 5, 6):
                panel.controls["ms"].value = newer
        return _view(ms)

    panel = _panel(compute)
    _shown(panel)
    panel.controls["ms"].value = 3
    assert seen == [2, 3, 6]
    assert "6 ms" in _shown(panel)


def test_a_code_cell_sees_the_newest_result_without_waiting_for_the_loop() -> None:
    panel = _panel()
    _shown(panel)

    async def cell() -> str:
        panel.controls["ms"].value = 8
        return panel.view.title

    assert asyncio.run(cell()) == "8 ms"


def test_two_threads_compute_one_after_the_other() -> None:
    inside: list[int] = []
    worst: list[int] = []

    def compute(ms: float) -> View:
        inside.append(1)
        worst.append(len(inside))
        inside.pop()
        return _view(ms)

    panel = _panel(compute)

    def use(ms: int) -> None:
        panel.controls["ms"].value = ms
        _ = panel.view

    threads = [threading.Thread(target=use, args=(ms,)) for ms in range(5, 25)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(worst) == 1
    assert panel.view.title == f"{panel.values['ms']} ms"


def test_an_error_is_one_sentence_and_the_panel_goes_on() -> None:
    panel = _panel()
    _shown(panel)
    panel.controls["ms"].value = 13
    assert "Thirteen has no result; choose another number." in _shown(panel)
    with pytest.raises(CourseError, match="Thirteen"):
        _ = panel.view
    panel.controls["ms"].value = 14
    assert "ZeroDivisionError" in _shown(panel) and "by &lt;zero&gt;" in _shown(panel)
    panel.controls["ms"].value = 15
    assert "15 ms" in _shown(panel) and "course-problem" not in _shown(panel)


def test_an_interrupted_computation_can_be_run_again() -> None:
    calls: list[float] = []

    def compute(ms: float) -> View:
        calls.append(ms)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return _view(ms)

    panel = _panel(compute, manual=True)
    panel.widget()
    panel.run()
    assert "Stopped" in _shown(panel)
    panel.run()
    assert "2 ms" in _shown(panel)


def test_more_than_three_controls_are_refused() -> None:
    controls = {name: ChoiceControl(name, ["a", "b"]) for name in "pqrs"}
    with pytest.raises(CourseError, match="at most 3, found 4"):
        Panel("Too much", controls, lambda **_: _view(1))


def test_manual_panel_waits_for_run_and_says_when_its_result_is_old() -> None:
    compute = _Counting()
    panel = _panel(compute, manual=True)
    assert "press Run" in _shown(panel) and compute.seen == []
    button, state = panel._parts["button"], panel._parts["state"]
    button.click()
    assert compute.seen == [2] and "2 ms" in _shown(panel) and not button.disabled
    panel.controls["ms"].value = 5
    assert compute.seen == [2] and "2 ms" in _shown(panel) and "changed" in state.value
    button.click()
    assert compute.seen == [2, 5] and "5 ms" in _shown(panel) and state.value == ""


def test_run_takes_no_second_press_while_it_works() -> None:
    states: list[tuple[bool, str]] = []

    def compute(ms: float) -> View:
        button = panel._parts["button"]
        states.append((button.disabled, button.description))
        return _view(ms)

    panel = _panel(compute, manual=True)
    panel.widget()
    panel._parts["button"].click()
    assert states == [(True, "working…")]
    assert panel._parts["button"].description == "Run"


def test_at_leaves_the_controls_alone() -> None:
    panel = _panel()
    assert panel.at(ms=20).title == "20 ms"
    assert panel.controls["ms"].value == 2
    with pytest.raises(CourseError, match="outside"):
        panel.at(ms=999)
    with pytest.raises(CourseError, match="no control 'mss'"):
        panel.at(mss=3)


def test_live_output_comes_with_a_static_one_that_hides_behind_it() -> None:
    panel = _panel()
    live, static = bundles(panel)
    assert "application/vnd.jupyter.widget-view+json" in live and "text/html" not in live
    name = f"course-live-{panel.widget().model_id}"
    assert name in panel.widget()._dom_classes
    connected = f".{name}:not(.jupyter-widgets-disconnected)"
    assert (
        f".jp-OutputArea-child:has({connected}) + .jp-OutputArea-child .{name}-standin" in static["text/html"]
    )
    assert f"{name}-standin):not(:has({connected})) {{display: none;}}" in static["text/html"]
    assert f'class="{name}-standin"' in static["text/html"]
    for words in ("running kernel", "Time = 2 ms", ".at(ms=2)", "500 a second", "<table>"):
        assert words in static["text/html"]
    assert "500 a second" in static["text/plain"] and "running kernel" in static["text/plain"]


@pytest.mark.parametrize("manual", [False, True])
def test_switched_off_gives_the_static_form_alone(monkeypatch: pytest.MonkeyPatch, manual: bool) -> None:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    monkeypatch.setenv("COURSE_WIDGETS", "off")
    InteractiveShell.instance()
    try:
        with capture_output() as captured:
            _panel(manual=manual)._ipython_display_()
    finally:
        InteractiveShell.clear_instance()
    (output,) = captured.outputs
    assert set(output.data) == {"text/html", "text/plain"}
    assert "COURSE_WIDGETS=off" in output.data["text/html"] and "500 a second" in output.data["text/html"]


def test_without_ipywidgets_the_static_form_says_so() -> None:
    code = (
        "import sys; sys.modules['ipywidgets'] = None\n"
        "import importlib.util; find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name == 'ipywidgets' else find(name, *rest)\n"
        "from course_lib.widgets import NumberControl, Panel, View\n"
        "from course_lib.widgets.static import bundles\n"
        "controls = {'ms': NumberControl('Time', 1, 9, 2)}\n"
        "panel = Panel('t', controls, lambda ms: View('found', f'{ms} it is'))\n"
        "panel.view; (bundle,) = bundles(panel); print(bundle['text/plain'])\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert "ipywidgets, which is not installed" in run.stdout and "2 it is" in run.stdout, run.stderr


def test_importing_the_package_loads_no_widgets() -> None:
    code = "import sys, course_lib.widgets; print('ipywidgets' in sys.modules, 'yaml' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.stdout.split() == ["False", "False"], run.stderr


def test_print_gives_the_panel_as_text() -> None:
    panel = _panel()
    _ = panel.view
    assert "500 a second" in str(panel) and "Time = 2 ms" in str(panel)
