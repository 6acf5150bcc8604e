"""A live panel moves while its task runs, compares fairly, and leaves nothing behind after Stop."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from course_lib.errors import CourseError
from course_lib.widgets import NumberControl
from course_lib.widgets import live as live_module
from course_lib.widgets.live import LivePanel, LivePreset
from course_lib.widgets.live_chart import LiveChart
from course_lib.widgets.live_figures import LivePoint, changed_factors, figures_of, verdict

PATIENCE_SECONDS = 60
_ODD = ("children", "hangs", "fails", "crashes")


def steady(request: dict[str, Any], emit: Callable[[dict[str, Any]], None]) -> None:
    """Report windows without end; a time lapse, so that a minute of work takes a second."""
    emit({"note": "The data are being made."})
    emit({"origin": "Data: none, made up for a test", "cache": {"kind": request.get("cache", "warm")}})
    if request.get("children"):
        code = "import time; time.sleep(600)"
        subprocess.Popen([sys.executable, "-c", code])
    if request.get("fails"):
        raise CourseError("The data are damaged", next_step="load them again")
    if request.get("crashes"):
        raise ZeroDivisionError("by <zero>")
    for window in range(1, 100_000):
        emit(
            {
                "seconds": window / 5,
                "samples_per_second": request["rate"] + window % 3,
                "batch_wait_ms": 4.0,
                "batch_waits_ms": [1.0, 2.0, 9.0],
                "waiting_share": 0.5,
                "transfer_share": 0.1,
                "compute_share": 0.4,
            }
        )
        time.sleep(600 if request.get("hangs") and window == 5 else 0.01)


def _request(case: str, workers: int) -> dict[str, Any]:
    if workers == 7:
        raise CourseError("Seven workers have no meaning here", next_step="choose fewer")
    request = {"rate": 100 if case == "slow" else 1000, "loader": {"workers": workers}}
    return {**request, **({"cache": "cold"} if case == "cold" else {case: True} if case in _ODD else {})}


_others: set[int] = set()


@pytest.fixture(autouse=True)
def others() -> None:
    """Note which processes earlier tests of this session still have: servers, Python's own trackers."""
    _others.clear()
    _others.update(one.pid for one in psutil.Process().children(recursive=True))


def _processes() -> list[psutil.Process]:
    """Return what this test started and what still runs of it."""
    started = [one for one in psutil.Process().children(recursive=True) if one.pid not in _others]
    with contextlib.suppress(psutil.NoSuchProcess):
        return [one for one in started if one.status() != "zombie"]
    return _processes()


@pytest.fixture
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path_factory.mktemp("t")  # short, so that processes take it for their own folders
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def panel(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[LivePanel]:
    monkeypatch.setattr(live_module, "_RESTING_SECONDS", 0.05)
    made = _panel()
    yield made
    made.stop()


def _panel(title: str = "Live") -> LivePanel:
    names = ("steady", "slow", "cold", *_ODD)
    presets = {name: LivePreset(name) for name in names}
    presets["busy"] = LivePreset("busy", {"workers": 4})
    controls = {"workers": NumberControl("Workers", 0, 8, 1)}
    return LivePanel(
        title,
        presets,
        controls,
        task="test_live_panel:steady",
        request=_request,
        words=lambda request: f"{request['loader']['workers']} workers",
    )


def _wait_for(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _run_until(panel: LivePanel, windows: int) -> None:
    _wait_for(lambda: panel.b is not None and len(panel.b.points) >= windows)


def _left_over(temporary: Path) -> tuple[list[Any], list[str], list[Path]]:
    """Return processes, threads and files of panels that are still there."""
    threads = [
        one.name for one in threading.enumerate() if re.match("course|watched|Thread-.*Timer", one.name)
    ]
    return _processes(), threads, list(temporary.iterdir())


def _points(rates: list[float], **more: Any) -> list[LivePoint]:
    return [LivePoint(n / 5, rate, 1.0, more.get("waits", ())) for n, rate in enumerate(rates, start=1)]


def test_the_chart_moves_while_the_task_runs(panel: LivePanel) -> None:
    panel.widget()
    panel.start()
    assert panel.running and panel._parts["start"].disabled and not panel._parts["stop"].disabled
    _run_until(panel, 20)
    _wait_for(lambda: "<polyline" in panel._parts["chart"].value)
    before = panel._parts["chart"].value
    _wait_for(lambda: panel._parts["chart"].value != before)
    assert panel._parts["chart"].value.count('role="img"') == 2
    assert "Running: 1 workers" in panel._parts["state"].value
    _wait_for(lambda: "1,001" in panel._parts["table"].value)
    assert "made up for a test" in panel._parts["table"].value


def test_a_note_says_what_is_prepared_before_the_first_window(
    panel: LivePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr(live_module, "_set", lambda place, content: said.append(content))
    panel.widget()
    panel.start()
    _run_until(panel, 1)
    assert any("The data are being made." in one for one in said)


@pytest.mark.parametrize("case", ["steady", "children", "hangs"])
def test_stop_leaves_no_process_no_thread_and_no_file(panel: LivePanel, temporary: Path, case: str) -> None:
    panel.widget()
    panel.preset.value = case
    panel.start()
    _run_until(panel, 5)
    assert panel.b is not None
    processes, threads, files = _left_over(temporary)
    assert len(processes) == (2 if case == "children" else 1) and threads and files
    panel.stop()
    assert _left_over(temporary) == ([], [], [])
    assert not panel.running and "Stopped after" in panel._parts["state"].value
    windows = len(panel.b.points)
    panel.stop()
    assert len(panel.b.points) == windows


def test_stop_before_the_first_window_leaves_nothing_either(panel: LivePanel, temporary: Path) -> None:
    panel.widget()
    panel.start()
    panel.stop()
    assert _left_over(temporary) == ([], [], [])
    assert not panel.running


def test_a_prepared_process_is_the_one_that_works(panel: LivePanel) -> None:
    panel.prepare()
    (waiting,) = _processes()
    panel.prepare()
    panel.start()
    _run_until(panel, 1)
    (working,) = _processes()
    assert working.pid == waiting.pid


def test_a_changed_control_restarts_the_run_and_the_old_one_becomes_a(panel: LivePanel) -> None:
    panel.widget()
    panel.start()
    _run_until(panel, 60)
    first = panel.b
    for workers in (2, 3, 4, 5):
        panel.controls["workers"].value = workers  # type: ignore[misc]
    assert first is not None and not first.running and panel.running
    # On a busy machine the values may rest in between.
    _wait_for(lambda: panel.b is not None and panel.b.request["loader"] == {"workers": 5})
    assert panel.a is first
    _run_until(panel, 60)
    _wait_for(lambda: '<th scope="col">B</th>' in panel._parts["table"].value)
    assert "Within the noise: only loader.workers" in panel.verdict


def test_another_state_of_the_page_cache_is_a_factor_unless_it_was_the_one_that_was_set(
    panel: LivePanel,
) -> None:
    for case in ("steady", "cold"):
        panel.preset.value = case
        panel.start()
        _run_until(panel, 60)
    assert panel.a is not None and "only cache was changed" in panel.verdict
    panel.a.about["cache"] = "unknown"
    panel.a.request["cache"] = "cold"
    assert "the page cache at the start was changed" in panel.verdict
    panel.a.about["origin"] = "another mirror"
    assert panel.verdict.startswith("No comparison: 2 factors") and "the data" in panel.verdict


def test_stop_while_a_restart_waits_cancels_it(
    panel: LivePanel, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "_RESTING_SECONDS", 600.0)
    panel.widget()
    panel.start()
    _run_until(panel, 5)
    panel.controls["workers"].value = 2  # type: ignore[misc]
    assert panel.running and "starts as soon as" in panel._parts["state"].value
    panel.stop()
    assert not panel.running
    assert _left_over(temporary) == ([], [], [])


def test_a_change_while_nothing_runs_starts_nothing(panel: LivePanel) -> None:
    panel.widget()
    panel.controls["workers"].value = 2  # type: ignore[misc]
    assert not panel.running and panel.b is None


def test_a_case_moves_its_controls_and_the_next_one_puts_them_back(panel: LivePanel) -> None:
    panel.controls["workers"].value = 2  # type: ignore[misc]
    panel.preset.value = "busy"
    assert panel.values == {"workers": 4}
    panel.preset.value = "slow"
    assert panel.values == {"workers": 2}


def test_an_error_of_the_task_is_one_sentence_and_start_works_again(
    panel: LivePanel, temporary: Path
) -> None:
    panel.widget()
    for case, sentence in (
        ("fails", "The data are damaged; load them again."),
        ("crashes", "by &lt;zero&gt;"),
    ):
        panel.preset.value = case
        panel.start()
        assert panel.b is not None
        panel.b.ended.wait(PATIENCE_SECONDS)
        _wait_for(lambda: 'role="alert"' in panel._parts["problem"].value)
        assert sentence in panel._parts["problem"].value
        assert not panel._parts["start"].disabled and panel._parts["stop"].disabled
    panel.preset.value = "steady"
    panel.start()
    _run_until(panel, 5)
    assert panel._parts["problem"].value == ""
    panel.stop()
    assert _left_over(temporary) == ([], [], [])


def test_values_without_a_meaning_are_refused_in_the_panel(panel: LivePanel) -> None:
    panel.widget()
    panel.controls["workers"].value = 7  # type: ignore[misc]
    panel.start()
    assert not panel.running
    assert "Seven workers have no meaning here" in panel._parts["problem"].value
    panel.controls["workers"].value = 1  # type: ignore[misc]
    panel.start()
    _run_until(panel, 1)
    assert panel._parts["problem"].value == ""


def test_a_run_kept_as_a_stays_until_it_is_released(panel: LivePanel) -> None:
    panel.widget()
    panel.start()
    _run_until(panel, 20)
    first = panel.b
    panel._parts["keep"].click()
    assert panel._parts["keep"].description == "Release A"
    for _ in range(2):
        panel.start()
        _run_until(panel, 20)
    assert panel.a is first
    second = panel.b
    panel._parts["keep"].click()
    panel.start()
    assert panel.a is second and panel._parts["keep"].description == "Keep as A"


def test_one_panel_runs_at_a_time(panel: LivePanel) -> None:
    other = _panel("another")
    try:
        panel.start()
        _run_until(panel, 1)
        other.start()
        assert not panel.running and other.running
    finally:
        other.stop()


def test_a_run_that_nobody_stops_ends_by_itself(
    panel: LivePanel, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "_LIMIT_SECONDS", 6.0)
    panel.widget()
    panel.start()
    assert panel.b is not None
    panel.b.ended.wait(PATIENCE_SECONDS)
    _wait_for(lambda: "Stopped by itself" in panel._parts["state"].value)
    _wait_for(lambda: _left_over(temporary) == ([], [], []))
    assert not panel.running


def test_without_widgets_a_short_real_run_stands_in(
    panel: LivePanel, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output

    monkeypatch.setenv("COURSE_WIDGETS", "off")
    InteractiveShell.instance()
    try:
        with capture_output() as captured:
            panel._ipython_display_()
            panel.preset.value = "fails"
            panel._ipython_display_()
    finally:
        InteractiveShell.clear_instance()
    table, failed = captured.outputs
    assert "<td" in table.data["text/html"] and "measured on this machine" in table.data["text/html"]
    assert "COURSE_WIDGETS=off" in table.data["text/plain"] and "1,00" in table.data["text/plain"]
    assert "The data are damaged" in failed.data["text/html"] and "damaged" in failed.data["text/plain"]
    assert _left_over(temporary) == ([], [], [])


def test_an_interrupted_short_run_leaves_nothing(
    panel: LivePanel, temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = panel.start

    def start_and_interrupt() -> None:
        start()
        raise KeyboardInterrupt

    monkeypatch.setattr(panel, "start", start_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        panel.run_for()
    assert _left_over(temporary) == ([], [], [])


def test_more_than_three_controls_are_refused() -> None:
    controls = {name: NumberControl(name, 0, 1, 0) for name in "pqrs"}
    with pytest.raises(CourseError, match="at most 3, found 4"):
        LivePanel("t", {"a": LivePreset("a")}, controls, task="a:b", request=dict, words=str)


def test_figures_leave_the_first_second_out_and_take_the_middle_of_the_rest() -> None:
    points = _points([9_999.0] * 5 + [float(rate) for rate in range(1, 102)], waits=(3.0, 1.0, 40.0))
    figures = figures_of(points)
    assert figures is not None and (figures.batches, figures.first_seconds) == (303, 0.2)
    assert (figures.rate, figures.rate_low, figures.rate_high) == (51.0, 6.0, 96.0)
    assert (figures.wait_p50_ms, figures.wait_p95_ms) == (3.0, 40.0)
    assert figures.seconds == pytest.approx(20)
    assert figures_of(points[:3]) is None and figures_of([]) is None


def test_without_single_waits_those_of_the_points_stand_in() -> None:
    figures = figures_of(_points([10.0] * 20))
    assert figures is not None and (figures.wait_p50_ms, figures.batches) == (1.0, 0)


def test_no_winner_inside_the_noise_and_none_without_enough_windows() -> None:
    slow = figures_of(_points([10.0, 11.0, 12.0, 13.0] * 9))
    alike = figures_of(_points([13.0, 14.0, 15.0, 16.0] * 9))
    fast = figures_of(_points([40.0, 44.0] * 18))
    short = figures_of(_points([40.0] * 20))
    assert slow and alike and fast and short
    assert verdict(slow, alike, ["the workers"]).startswith("Within the noise: only the workers")
    assert "B delivered 3.7 times the samples/s of A" in verdict(slow, fast, ["the workers"])
    assert "A delivered 3.7 times the samples/s of B" in verdict(fast, slow, ["the workers"])
    assert "the repeated measurement decides" in verdict(fast, slow, ["the workers"])
    assert "No verdict yet" in verdict(slow, short, ["the workers"])
    assert "Nothing was changed" in verdict(slow, fast, [])
    halted = figures_of(_points([0.0] * 36))
    assert halted and "B delivered nothing" in verdict(slow, halted, ["the workers"])


def test_a_comparison_of_two_factors_is_refused_by_their_names() -> None:
    slow, fast = figures_of(_points([10.0] * 36)), figures_of(_points([40.0] * 36))
    assert slow and fast
    refused = verdict(slow, fast, ["the workers", "the batch size"])
    assert refused.startswith("No comparison: 2 factors") and "the workers, the batch size" in refused
    assert "delivered" not in refused


def test_factors_are_found_at_any_depth_and_when_one_side_lacks_them() -> None:
    one = {"loader": {"workers": 0, "seed": 1}, "steps": 4}
    other = {"loader": {"workers": 2, "seed": 1}, "steps": 4, "repeats": 2}
    assert changed_factors(one, other) == ("loader.workers", "repeats")
    assert changed_factors(one, one) == ()


def _ticks(html: str) -> list[str]:
    return re.findall(r'text-anchor="end"[^>]*>([\d,.]+)</text>', html)


def test_axes_keep_still_while_a_run_falls_and_grow_in_steps() -> None:
    chart = LiveChart()
    points = _points([1_000.0] * 20)
    before = _ticks(chart.html(points))
    points += [LivePoint(4 + n / 5, 10.0, 1.0) for n in range(1, 20)]
    assert _ticks(chart.html(points)) == before
    points.append(LivePoint(7.9, 1_190.0, 1.0))
    assert _ticks(chart.html(points)) == before
    points.append(LivePoint(8.0, 1_500.0, 1.0))
    grown = _ticks(chart.html(points))
    assert grown != before and "1,500" in grown
    chart.restart()
    assert "1,500" not in _ticks(chart.html(_points([10.0] * 20)))


def test_a_wild_first_second_does_not_flatten_the_chart() -> None:
    chart = LiveChart()
    wild = _points([90_000.0] * 3 + [100.0] * 20)
    chart.html(wild[:3])
    assert "100,000" not in _ticks(chart.html(wild))


def test_a_long_run_is_drawn_with_few_points_over_its_whole_length() -> None:
    html = LiveChart().html(_points([1_000.0] * 3_000))
    line = re.search(r'<polyline points="([^"]+)"', html)
    assert line is not None and 100 < len(line[1].split()) <= 240
    assert ">640<" in html or ">600<" in html


def test_a_and_b_keep_their_colours_whichever_is_there() -> None:
    a, b = _points([1.0] * 20), _points([2.0] * 20)
    both = LiveChart().html(b, a)
    alone = LiveChart().html((), a)
    colour = re.compile(r'<polyline[^>]* stroke="(#\w+)"')
    blue, orange = colour.findall(both)[:2]
    assert colour.findall(alone)[0] == orange != blue
