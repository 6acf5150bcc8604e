"""The live training loop in a real browser: it moves, answers, stops; and its page for a room, offline."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import psutil
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_SECONDS = 120
START = "import sys; sys.path.insert(0, {root!r}); from course_lib.cli.main import main; main()"
PANEL = """\
from course_lib.widgets.panels.live_loading import live_loading_panel

panel = live_loading_panel()
panel"""
BUSY = """\
import time
from pathlib import Path

panel.start()
while not Path("go_on").exists():
    time.sleep(0.05)"""


def _watched(ancestor: int = 0) -> list[psutil.Process]:
    """Return the processes that do a panel's work, below one process: the tests' own without any."""
    found = []
    for process in psutil.Process(ancestor or os.getpid()).children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if any("course_lib.watched.child" in word for word in process.cmdline()):
                found.append(process)
    return found


def _wait_for(page: Page, condition: Callable[[], Any]) -> None:
    for _ in range(PATIENCE_SECONDS * 10):
        # Jupyter's server answers 500 for a moment while it starts a kernel.
        with contextlib.suppress(OSError):
            if condition():
                return
        page.wait_for_timeout(100)
    _screenshot(page, "not_in_time.png")
    panels = page.locator(".course-panel").all_inner_texts()
    pytest.fail("it did not happen in time; the panels say:\n" + "\n\n".join(panels))


def _points(panel: Locator) -> int:
    """Return how many points the newest run's line of samples per second has."""
    lines = panel.locator('svg[aria-label^="Samples per second"] polyline')
    drawn = [(lines.nth(number).get_attribute("points") or "") for number in range(lines.count())]
    return len(drawn[0].split()) if drawn else 0


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _screenshot(page: Page, name: str) -> None:
    folder = os.environ.get("COURSE_SCREENSHOTS", "").strip()
    if folder:
        page.screenshot(path=Path(folder) / name)


def test_the_panel_moves_while_another_cell_runs_answers_and_stops(
    open_notebook: Callable[[str], Any], lab_server: Any
) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in (PANEL, BUSY)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    target = lab_server.root / "notebooks" / "live_for_a_test.ipynb"
    target.write_text(nbformat.writes(notebook), encoding="utf-8")
    lesson = open_notebook(target.name)
    page = lesson.page
    lesson.begin_all()
    panel = lesson.panels().first
    panel.wait_for()
    prompts = page.locator(".jp-Notebook:visible .jp-CodeCell .jp-InputPrompt")
    _wait_for(page, lambda: _points(panel) >= 5)
    assert "*" in prompts.all_inner_texts()[1], "the second cell has to run all the while"
    before = _points(panel)
    _wait_for(page, lambda: _points(panel) > before)
    assert _watched()
    target.with_name("go_on").touch()
    _wait_for(page, lambda: _points(panel) >= 35)

    panel.get_by_label("Case").select_option("slow open (set)")
    panel.get_by_text("Running: no workers, batches of 64, each open set to last 4 ms").wait_for()
    _wait_for(page, lambda: "only the set time of an open was changed" in panel.inner_text())
    _screenshot(page, "live_in_lab.png")

    panel.get_by_role("button", name="Stop").click()
    panel.get_by_text("Stopped after").wait_for()
    assert _watched() == []

    panel.get_by_role("button", name="Start").click()
    panel.get_by_text("Running:").wait_for()
    panel.get_by_role("button", name="Stop").click()
    panel.get_by_text("Stopped after").wait_for()
    assert _watched() == []
    assert lesson.errors() == []


@pytest.fixture
def stage_page(browser: BrowserContext, course_home: Path, tmp_path: Path) -> Iterator[tuple[Page, Any]]:
    """Serve the page by its own command and open it with nothing but this machine within reach."""
    port = _free_port()
    command = [sys.executable, "-I", "-c", START.format(root=str(ROOT)), "stage", "05", "--no-browser"]
    environment = {
        **os.environ,
        "COURSE_HOME": str(course_home),
        "TMPDIR": str(tmp_path),
        "TEMP": str(tmp_path),
    }
    with (
        (tmp_path / "stage.log").open("wb") as log,
        subprocess.Popen(
            [*command, "--port", str(port)], env=environment, stdout=log, stderr=subprocess.STDOUT
        ) as server,
    ):
        page = browser.new_page()
        outside: list[str] = []

        def offline(route: Route) -> None:
            address = route.request.url
            if re.match(r"(http|ws)://localhost:|data:|blob:", address):
                route.continue_()
            else:
                outside.append(address)
                route.abort()

        page.route("**/*", offline)
        page.set_viewport_size({"width": 1920, "height": 1080})
        address = f"http://localhost:{port}/"

        def serves() -> bool:
            try:
                urllib.request.urlopen(address + "static/none", timeout=5).close()
            except urllib.error.HTTPError:
                return True
            except OSError:
                return server.poll() is not None
            return True

        try:
            _wait_for(page, serves)
            assert server.poll() is None, (tmp_path / "stage.log").read_text(encoding="utf-8")
            page.goto(address)
            yield page, server
        finally:
            page.close()
            if server.poll() is None:
                server.terminate()
            server.wait(60)
        assert outside == []


def test_the_page_for_a_room_works_offline_in_large_type_and_ctrl_c_ends_everything(
    stage_page: tuple[Page, Any], tmp_path: Path
) -> None:
    page, server = stage_page
    panel = page.locator(".course-large")
    panel.get_by_role("button", name="Start").click()
    _wait_for(page, lambda: _points(panel) >= 35)
    box = panel.get_by_label("Workers", exact=True).last
    box.fill("1")
    box.press("Tab")
    _wait_for(page, panel.get_by_text("Running: 1 worker with 2 batches ahead").is_visible)
    _wait_for(page, lambda: "the number of workers was changed" in panel.inner_text())
    _screenshot(page, "stage.png")
    size = panel.get_by_role("button", name="Stop").evaluate("button => getComputedStyle(button).fontSize")
    assert float(size.removesuffix("px")) >= 20
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    family = psutil.Process(server.pid).children(recursive=True)
    assert _watched(server.pid)

    server.terminate() if os.name == "nt" else server.send_signal(signal.SIGINT)
    server.wait(60)
    _, alive = psutil.wait_procs(family, timeout=20)
    assert alive == []
    assert [one.name for one in tmp_path.iterdir()] == ["stage.log"]
