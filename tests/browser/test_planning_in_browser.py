"""Lesson 09 in a real browser: each panel by keyboard, mouse and typing; dark, large, without a kernel."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, expect

from course_lib.widgets.texts import text

pytestmark = pytest.mark.browser

LESSON = "09_capacity_and_bandwidth.ipynb"
ORIGINAL = Path(__file__).resolve().parents[2] / "notebooks" / LESSON
READABLE = 4.5
"""WCAG 2.2, 1.4.3: least contrast of text against what lies behind it."""

# Contrast of each text in a panel against the page, with all that is half transparent blended in.
CONTRASTS = """panel => {
  const colour = words => {
    const parts = words.match(/[\\d.]+/g).map(Number);
    return {rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1};
  };
  const over = (top, alpha, under) => top.map((part, place) => part * alpha + under[place] * (1 - alpha));
  const line = element => { const up = []; for (; element; element = element.parentElement) up.push(element);
    return up; };
  const behind = element => line(element).reverse().reduce((under, one) => {
    const {rgb, alpha} = colour(getComputedStyle(one).backgroundColor);
    return over(rgb, alpha, under);
  }, [255, 255, 255]);
  const light = rgb => rgb.map(part => part / 255).map(part =>
    part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  return [...panel.querySelectorAll("svg text, p, td, th, label, button, input")]
    .filter(element => element.getClientRects().length)
    .filter(element => element.tagName !== "INPUT" || element.type === "text")
    .map(element => {
      const style = getComputedStyle(element), page = behind(element);
      const ink = colour(element.closest("svg") ? style.fill : style.color);
      const seen = line(element).reduce((part, one) => part * getComputedStyle(one).opacity, ink.alpha);
      const [low, high] = [light(over(ink.rgb, seen, page)), light(page)].sort((a, b) => a - b);
      return {text: element.textContent || element.value, inFigure: Boolean(element.closest("svg")),
        page: light(page), contrast: (high + 0.05) / (low + 0.05)};
    });
}"""


@dataclass(frozen=True)
class Case:
    """What is done on one panel: a slider moved, a value typed, one refused, a preset chosen.

    Where values are missing at the beginning, the preset ``first`` gives them.
    """

    title: str
    slider: str
    box: str
    typed: str
    shown: str
    refused: str
    because: str
    preset: str
    preset_value: str
    first: str = ""


CASES = (
    Case("capacity", "Jobs, each with a cache", "Temporary while converting", "0.25 TB", "250 GB",
         "1,5 GB", "a comma that separates no thousands", "A large conversion", "500 GB"),
    Case("caches", "Jobs at the same time", "Size of a cache", "200\u00a0GB", "200 GB",
         "75", "75 has no unit", "8 accelerators", "100 GB"),
    Case("bandwidth", "Training consumers", "Hit rate", "60 %", "60%",
         "75", "75% may be meant", "Hit rate 75%", "75%"),
    Case("cache", "Epochs", "Size of a cache", "100 GiB", "107.4 GB",
         "GB", "No number could be read", "All data cached", "300 GB"),
    Case("burst", "Time of one save", "Bytes of a checkpoint", "1,500 MB", "1.5 GB",
         "nan GB", "No number could be read", "8 x 10^9 parameters", "112.4 GB"),
    Case("interval", "Time of one save", "Mean time between failures", "3 h", "3 h",
         "2 GB", "another kind of unit", "16,384 devices", "3.093 h"),
    Case("cost", "Ordinary storage, GB and month", "Device, hour", "2.5", "2.5",
         "-1", "outside 0 to 20", "Invented: dear devices", "3", first="Invented: cheap devices"),
    Case("metadata", "Opens at the same time", "Time of one operation", "500 us", "500 us",
         "0 ms", "outside", "Laptop", "20 us"),
    Case("object", "Requests in flight", "Bytes per object", "1 MiB", "1.049 MB",
         "1e400 GB", "finite", "Shards of 256 MB", "256 MB"),
    Case("benchmark", "Emulated accelerators", "Memory of the host", "64 GiB", "68.72 GB",
         "1 GB", "outside", "8 accelerators", "274.9 GB"),
)  # fmt: skip


@pytest.fixture(scope="module")
def lesson(open_for_all: Callable[[str], Any]) -> Any:
    opened = open_for_all(LESSON)
    opened.run_all(patience_seconds=400)
    assert opened.errors() == []
    assert opened.page.get_by_text("Error displaying widget").count() == 0
    return opened


def _panel(lesson: Any, name: str) -> Locator:
    return lesson.panel(text(f"planning.{name}_panel"))


def _screenshot(page: Page, name: str) -> None:
    folder = os.environ.get("COURSE_SCREENSHOTS", "").strip()
    if folder:
        page.screenshot(path=Path(folder) / name)


def _type(box: Locator, typed: str) -> None:
    box.fill(typed)
    box.press("Enter")


def _changes(panel: Locator, act: Callable[[], Any]) -> None:
    """Act, and wait until the panel says something else."""
    before = panel.inner_text()
    act()
    panel.page.wait_for_function(
        "([panel, text]) => panel.innerText !== text", arg=[panel.element_handle(), before]
    )


def _in_step(slider: Locator, box: Locator) -> None:
    """Wait until a screen reader says of a slider what stands in the box beside it."""
    slider.page.wait_for_function(
        "([slider, box]) => slider.getAttribute('aria-valuetext') === box.value",
        arg=[slider.element_handle(), box.element_handle()],
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_a_panel_answers_to_keyboard_mouse_typing_presets_and_pin(lesson: Any, case: Case) -> None:
    page, panel = lesson.page, _panel(lesson, case.title)
    assert panel.count() == 1
    slider = panel.get_by_role("slider", name=case.slider, exact=True)
    its_box = panel.get_by_role("textbox", name=case.slider, exact=True)
    slider.scroll_into_view_if_needed()
    if case.first:
        _changes(panel, panel.get_by_role("button", name=case.first, exact=True).click)

    _changes(panel, lambda: (slider.focus(), slider.press("ArrowRight")))
    _in_step(slider, its_box)
    expect(slider).to_be_focused()

    place = slider.get_attribute("aria-valuenow")
    track = slider.locator("xpath=ancestor::*[contains(@class, 'noUi-target')]")
    width, height = track.evaluate("track => [track.clientWidth, track.clientHeight]")
    _changes(panel, lambda: track.click(position={"x": 0.7 * width, "y": height / 2}))
    assert slider.get_attribute("aria-valuenow") != place
    _in_step(slider, its_box)

    box = panel.get_by_role("textbox", name=case.box, exact=True)
    _changes(panel, lambda: _type(box, case.typed))
    expect(box).to_have_value(case.shown)
    finding = panel.locator(".course-finding").first.inner_text()
    _type(box, case.refused)
    problem = panel.get_by_role("alert").filter(has_text=case.because)
    expect(problem).to_contain_text(f"It stays at {case.shown}")
    assert panel.locator(".course-finding").first.inner_text() == finding
    _type(box, case.shown)
    expect(problem).to_have_count(0)

    preset = panel.get_by_role("button", name=case.preset, exact=True)
    expect(preset).to_have_attribute("aria-pressed", "false")
    _changes(panel, preset.click)
    expect(preset).to_have_attribute("aria-pressed", "true")
    expect(box).to_have_value(case.preset_value)

    pin = panel.get_by_role("button", name=text("panel.pin"), exact=True)
    pin.click()
    pinned = panel.locator(".course-pinned")
    expect(panel.locator('button[aria-pressed="true"]')).to_have_count(2)
    slider.scroll_into_view_if_needed()
    before = its_box.input_value()
    _changes(panel, lambda: (slider.focus(), slider.press("ArrowRight")))
    cells = pinned.get_by_role("row").filter(has=page.get_by_role("rowheader", name=case.slider, exact=True))
    expect(its_box).not_to_have_value(before)
    expect(cells.get_by_role("cell").nth(0)).to_have_text(before)
    expect(cells.get_by_role("cell").nth(1)).to_have_text(its_box.input_value())
    panel.get_by_role("button", name=text("panel.unpin"), exact=True).click()
    expect(pinned).to_have_count(0)
    expect(pin).to_have_attribute("aria-pressed", "false")
    _screenshot(page, f"planning_{case.title}.png")


def test_axe_finds_nothing_in_the_lesson(lesson: Any) -> None:
    assert lesson.panels().count() > len(CASES), "panels and questions"
    assert lesson.accessibility_findings() == []


@pytest.fixture
def dark(lesson: Any) -> Iterator[Any]:
    """Choose JupyterLab's dark theme from its menu, and the light one afterwards."""

    def choose(theme: str, light: str) -> None:
        lesson.choose("Settings", "Theme", theme)
        lesson.page.locator(f'body[data-jp-theme-light="{light}"]').wait_for(state="attached")

    choose("JupyterLab Dark", "false")
    yield lesson
    choose("JupyterLab Light", "true")


def test_in_the_dark_theme_pages_are_dark_and_all_texts_are_readable(dark: Any) -> None:
    for case in CASES:
        panel = _panel(dark, case.title)
        seen = panel.evaluate(CONTRASTS)
        assert any(one["inFigure"] for one in seen)
        assert max(one["page"] for one in seen if one["inFigure"]) < 0.1, "the page behind a figure is dark"
        assert [one for one in seen if one["contrast"] < READABLE] == []
    panel.scroll_into_view_if_needed()
    _screenshot(dark.page, "planning_dark.png")
    assert dark.accessibility_findings() == []


def test_in_the_light_theme_all_texts_are_readable(lesson: Any) -> None:
    for case in CASES:
        seen = _panel(lesson, case.title).evaluate(CONTRASTS)
        assert min(one["page"] for one in seen if one["inFigure"]) > 0.9
        assert [one for one in seen if one["contrast"] < READABLE] == []


LARGE = """\
from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel

panel = bandwidth_panel()
panel.large = True
panel"""


def test_in_large_type_everything_is_larger_and_fits(lesson: Any, open_for_all: Callable[..., Any]) -> None:
    """The same panel as in the lesson, on a wide page and in large type."""
    large = open_for_all("large_for_tests.ipynb", (LARGE,))
    large.page.set_viewport_size({"width": 1920, "height": 1080})
    large.run_all()
    assert large.errors() == []
    usual, panel = (_panel(opened, "bandwidth") for opened in (lesson, large))
    measure = "part => parseFloat(getComputedStyle(part).fontSize)"
    for part in (".course-heading", ".course-finding", ".widget-label", "input[type=text]", "button", "td"):
        sizes = [one.locator(part).first.evaluate(measure) for one in (usual, panel)]
        assert sizes[1] >= 1.15 * sizes[0], part
    widths = "figure => figure.getBoundingClientRect().width"
    assert panel.locator("svg").first.evaluate(widths) > usual.locator("svg").first.evaluate(widths)
    assert panel.evaluate(
        "it => [...it.querySelectorAll('*')].every(one => one.closest('.course-hidden') || "
        "one.getBoundingClientRect().right <= it.getBoundingClientRect().right + 1)"
    ), "nothing is cut off"
    slider = panel.get_by_role("slider", name="Training consumers", exact=True)
    _changes(panel, lambda: (slider.focus(), slider.press("ArrowRight")))
    _screenshot(large.page, "planning_large.png")
    assert large.accessibility_findings() == []


def _is_static(page: Page) -> None:
    """Make sure that each panel stands still, with figure and table, and that no dead widget is in sight."""
    for case in CASES:
        title = text(f"planning.{case.title}_panel")
        still = page.locator(".course-static").filter(has=page.get_by_text(title, exact=True))
        expect(still).to_be_visible()
        expect(still.locator("svg").first).to_be_visible()
        expect(still.locator("table").first).to_be_visible()
        assert still.locator("svg").first.evaluate("svg => svg.getBoundingClientRect().height") > 50
    expect(page.locator(".course-panel:visible")).to_have_count(0)
    for words in ("Error displaying widget", "Loading widget"):
        expect(page.get_by_text(words).locator("visible=true")).to_have_count(0)


# From here on the lesson's kernel is gone: these tests stand last.
def test_after_a_restart_of_the_kernel_figures_and_tables_stand_there(lesson: Any) -> None:
    page = lesson.page
    lesson.choose("Kernel", "Restart Kernel…")
    page.locator(".jp-Dialog .jp-mod-accept").click()
    expect(page.locator(".course-panel:visible")).to_have_count(0, timeout=60_000)
    _is_static(page)


def test_the_saved_lesson_shows_figures_and_tables_without_its_kernel(
    lesson: Any, browser: BrowserContext, tmp_path: Path
) -> None:
    from nbconvert import HTMLExporter

    file = lesson.saved()
    lesson.server.shut_kernels_down()
    try:
        lesson.page.reload()
        _is_static(lesson.page)
        body, _ = HTMLExporter().from_filename(str(file))
    finally:
        shutil.copyfile(ORIGINAL, file)
    written = tmp_path / "lesson.html"
    written.write_text(body, encoding="utf-8")
    page = browser.new_page()
    page.route(re.compile("^(?!file:)"), lambda route: route.abort())
    page.goto(written.as_uri())
    _is_static(page)
    _screenshot(page, "planning_html.png")
    page.close()
