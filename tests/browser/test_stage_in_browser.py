"""Ordinary panels on the stage in a real browser: they answer, in large type, and nothing is cut off."""

from __future__ import annotations

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

import psutil
import pytest
from playwright.sync_api import BrowserContext, Locator, Page, Route

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_SECONDS = 120
START = "import sys; sys.path.insert(0, {root!r}); from course_lib.cli.main import main; main()"
ROOMS = ((1280, 720, 18.0), (1920, 1080, 26.0))
SIZE = "element => parseFloat(getComputedStyle(element).fontSize)"
CUT_OFF = """panel => [...panel.querySelectorAll("p, table, label, button, input, select, svg")]
  .filter(element => element.getClientRects().length && !element.closest(".course-hidden"))
  .filter(element => {
    const box = element.getBoundingClientRect();
    return box.width > 1 && (box.left < 0 || box.right > window.innerWidth + 0.5
      || (element.tagName !== "INPUT" && element.scrollWidth > element.clientWidth + 1
          && getComputedStyle(element).overflowX !== "visible"));
  }).map(element => `${element.tagName} ${element.textContent.slice(0, 40)}`)"""
OVER_THE_EDGE = """panel => [...panel.querySelectorAll("svg text")].filter(words => {
    const box = words.getBBox(), picture = words.ownerSVGElement.viewBox.baseVal;
    return box.x < -0.5 || box.x + box.width > picture.width + 0.5;
  }).map(words => words.textContent)"""


def _wait_for(page: Page, condition: Callable[[], Any]) -> None:
    for _ in range(PATIENCE_SECONDS * 10):
        if condition():
            return
        page.wait_for_timeout(100)
    _screenshot(page, "stage_not_in_time.png")
    pytest.fail("it did not happen in time")


def _screenshot(page: Page, name: str) -> None:
    folder = os.environ.get("COURSE_SCREENSHOTS", "").strip()
    if folder:
        page.screenshot(path=Path(folder) / name)


class _Stage:
    """The command that serves one panel, and where."""

    def __init__(self, process: subprocess.Popen[bytes], address: str, log: Path) -> None:
        self.process = process
        self.address = address
        self._log = log

    def answers(self) -> bool:
        try:
            urllib.request.urlopen(self.address + "static/none", timeout=5).close()
        except urllib.error.HTTPError:
            return True
        except OSError:
            assert self.process.poll() is None, self._log.read_text(encoding="utf-8", errors="replace")
            return False
        return True


@pytest.fixture
def open_stage(
    browser: BrowserContext, course_home: Path, tmp_path: Path
) -> Iterator[Callable[..., tuple[Page, _Stage]]]:
    """Serve a panel by its own command and open it with nothing but this machine within reach."""
    opened: list[tuple[Page, subprocess.Popen[bytes]]] = []
    outside: list[str] = []

    def offline(route: Route) -> None:
        if re.match(r"(http|ws)://localhost:|data:|blob:", route.request.url):
            route.continue_()
        else:
            outside.append(route.request.url)
            route.abort()

    def open_one(*words: str) -> tuple[Page, _Stage]:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = tmp_path / "stage.log"
        command = [sys.executable, "-I", "-c", START.format(root=str(ROOT)), "stage", *words]
        temporary = {name: str(tmp_path) for name in ("TMPDIR", "TEMP", "TMP")}
        with log.open("wb") as output:
            process = subprocess.Popen(
                [*command, "--no-browser", "--port", str(port)],
                env={**os.environ, "COURSE_HOME": str(course_home), **temporary},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        stage = _Stage(process, f"http://localhost:{port}/", log)
        page = browser.new_page()
        opened.append((page, process))
        page.route("**/*", offline)
        _wait_for(page, stage.answers)
        page.goto(stage.address)
        return page, stage

    yield open_one
    for page, process in opened:
        page.close()
        if process.poll() is None:
            process.terminate()
        process.wait(60)
    assert outside == []


def _large(page: Page) -> Locator:
    panel = page.locator(".course-large")
    panel.locator(".course-finding").first.wait_for()
    return panel


def _is_readable_from_the_back(page: Page, panel: Locator, name: str) -> None:
    """Check type sizes and edges in both rooms."""
    for width, height, least in ROOMS:
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)
        _screenshot(page, f"stage_{name}_{width}.png")
        for part in (".course-finding", ".course-summary", "td", ".widget-label:visible", "input[type=text]"):
            size = panel.locator(part).first.evaluate(SIZE)
            assert size >= least, f"{part} at {width} x {height}: {size} pixels"
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert panel.evaluate(CUT_OFF) == []
        assert panel.evaluate(OVER_THE_EDGE) == []
        finding = panel.locator(".course-finding").first.bounding_box()
        control = panel.locator(".course-control").first.bounding_box()
        assert finding and control and control["x"] + control["width"] <= finding["x"]
        for place in (panel.locator(".course-control").last, panel.locator(".course-view svg").first):
            box = place.bounding_box()
            assert box and box["y"] + box["height"] <= height, "controls and figure are on the first screen"


def test_capacity_moves_pins_and_is_large_and_opens_again_after_it_was_closed(
    open_stage: Callable[..., tuple[Page, _Stage]],
    browser: BrowserContext,
    shown_at_once: Callable[[Locator], list[str]],
    tmp_path: Path,
) -> None:
    page, stage = open_stage("09", "capacity")
    panel = _large(page)
    before = panel.locator(".course-finding").first.inner_text()
    panel.get_by_role("button", name="Pin as A").click()
    handle = panel.locator("[role=slider]").first
    handle.focus()
    handle.press("ArrowRight")
    _wait_for(
        page, lambda: before not in panel.locator(".course-view:not(.course-pinned)").all_inner_texts()[0]
    )
    panel.locator(".course-pinned table").wait_for()
    moved = panel.locator(".course-finding").first.inner_text()
    assert moved != before
    shown_at_once(handle)
    _is_readable_from_the_back(page, panel, "capacity")

    page.close()
    again = browser.new_page()
    again.goto(stage.address)
    assert _large(again).locator(".course-finding").first.inner_text() == before
    again.close()
    family = psutil.Process(stage.process.pid).children(recursive=True)
    assert family
    stage.process.terminate() if os.name == "nt" else stage.process.send_signal(signal.SIGINT)
    stage.process.wait(60)
    assert psutil.wait_procs(family, timeout=20)[1] == []
    assert [one.name for one in tmp_path.iterdir()] == ["stage.log"]


def test_plans_are_saved_without_scrolling(
    open_stage: Callable[..., tuple[Page, _Stage]], course_home: Path
) -> None:
    page, _ = open_stage("09", "bandwidth")
    page.set_viewport_size({"width": 1600, "height": 900})
    panel = _large(page)
    page.wait_for_timeout(300)
    name = panel.get_by_label("File of the plan")
    name.fill("room")
    panel.get_by_role("button", name="Save plan").click()
    said = panel.get_by_text("Saved: ")
    said.wait_for()
    _screenshot(page, "stage_bandwidth_saved_1600.png")
    assert (course_home / "plans" / "room.json").is_file()
    assert page.evaluate("window.scrollY") == 0
    figure = panel.locator(".course-view svg").first.bounding_box()
    for part in (name, said, *panel.locator(".course-plan-files button:visible").all()):
        box = part.bounding_box()
        assert box and figure and box["y"] + box["height"] <= 900 and box["x"] + box["width"] <= figure["x"]
    assert panel.evaluate(CUT_OFF) == []
    page.set_viewport_size({"width": 1280, "height": 720})
    page.wait_for_timeout(300)
    _screenshot(page, "stage_bandwidth_saved_1280.png")
    box = panel.locator(".course-plan-files input").bounding_box()
    column = panel.locator(".course-plan-files").bounding_box()
    assert box and column and box["x"] + box["width"] <= column["x"] + column["width"] + 0.5


def test_a_panel_over_data_moves_and_is_large(open_stage: Callable[..., tuple[Page, _Stage]]) -> None:
    page, _ = open_stage("02", "images")
    panel = _large(page)
    assert "Drawing" not in page.locator("body").inner_text(), "what was drawn is no part of the page"
    before = panel.locator("tbody").inner_text()
    handle = panel.locator("[role=slider]").first
    handle.focus()
    handle.press("ArrowRight")
    _wait_for(page, lambda: panel.locator("tbody").inner_text() != before)
    _is_readable_from_the_back(page, panel, "images")
