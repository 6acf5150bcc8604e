"""Panels and questions for people who do not see the page or do not use a mouse: axe, names, news, focus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

pytestmark = pytest.mark.browser

PANELS = (
    "from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel\nbandwidth_panel()",
    """\
import time
from course_lib.widgets import NumberControl, Panel, View

def compute(ms):
    time.sleep(0.5)
    return View(f"{ms} ms found", "After half a second.")

time_of_open = NumberControl("Time", 1, 50, 2, unit="ms")
Panel("Slow", {"ms": time_of_open}, compute, manual=True, actions={"Measure": lambda ms: time.sleep(0.5)})""",
)
HEAR = """place => {
  window.heard = [];
  new MutationObserver(() => window.heard.push(place.textContent)).observe(place, {childList: true});
}"""


@pytest.fixture(scope="module")
def notebook(open_for_all: Callable[..., Any]) -> Any:
    opened = open_for_all("accessibility_for_tests.ipynb", PANELS)
    opened.run_all()
    assert opened.errors() == []
    return opened


@pytest.fixture
def bandwidth(notebook: Any) -> Locator:
    return notebook.panel("Bandwidth, backwards from consumption")


# The other lessons are looked at where their own browser tests run them.
@pytest.mark.parametrize("name", ["02_bytes_samples_files.ipynb"])
def test_axe_finds_nothing_in_a_lesson(open_notebook: Callable[[str], Any], name: str) -> None:
    lesson = open_notebook(name)
    lesson.run_all(patience_seconds=500)
    assert not lesson.stopped()
    assert lesson.accessibility_findings() == []


def test_axe_would_find_a_slider_without_a_name(notebook: Any, bandwidth: Locator) -> None:
    assert notebook.accessibility_findings() == []
    handle = bandwidth.get_by_role("slider").first.element_handle()
    handle.evaluate("handle => handle.setAttribute('aria-label', '')")
    try:
        (finding,) = notebook.accessibility_findings()
        assert finding.startswith("serious: aria-input-field-name in ")
    finally:
        handle.evaluate("handle => handle.removeAttribute('aria-label')")
        notebook.page.evaluate("document.body.append(document.createElement('i'))")
    expect(bandwidth.get_by_role("slider", name="Training consumers", exact=True)).to_have_count(1)


def test_a_new_finding_is_read_out_once_when_the_panel_has_come_to_rest(bandwidth: Locator) -> None:
    place = bandwidth.locator(".course-announced")
    assert (place.get_attribute("aria-live"), place.text_content()) == ("polite", ""), "not at the start"
    place.evaluate(HEAR)
    slider = bandwidth.get_by_role("slider", name="Training consumers", exact=True)
    slider.focus()
    for _ in range(8):
        slider.press("ArrowRight")
    expect(bandwidth.get_by_role("textbox", name="Training consumers")).to_have_value("12")
    expect(slider).to_have_attribute("aria-valuetext", "12")
    finding = bandwidth.locator(".course-finding").first
    expect(place).to_have_text(finding.inner_text())
    assert "614.4 MB/s" in finding.inner_text()
    heard = bandwidth.page.evaluate("window.heard")
    assert 1 <= len(heard) < 8, "not after each of the eight moves"
    expect(slider).to_be_focused()


def test_buttons_say_whether_they_are_pressed(bandwidth: Locator) -> None:
    preset = bandwidth.get_by_role("button", name="Laptop", exact=True)
    preset.focus()
    preset.press("Enter")
    expect(preset).to_have_attribute("aria-pressed", "true")
    expect(bandwidth.locator('button[aria-pressed="true"]')).to_have_count(1)
    slider = bandwidth.get_by_role("slider", name="Training consumers", exact=True)
    slider.focus()
    slider.press("ArrowRight")
    expect(preset).to_have_attribute("aria-pressed", "false")


def test_the_focus_stays_when_its_button_is_hidden_or_disabled(notebook: Any, bandwidth: Locator) -> None:
    pin = bandwidth.get_by_role("button", name="Pin as A", exact=True)
    pin.focus()
    pin.press("Enter")
    unpin = bandwidth.get_by_role("button", name="Unpin A", exact=True)
    expect(bandwidth.get_by_role("button", name="Pin the current values as A")).to_be_focused()
    unpin.focus()
    unpin.press("Enter")
    expect(pin).to_be_focused()

    slow = notebook.panel("Slow")
    for button, done in (("Run", "2 ms found"), ("Measure", "Done.")):
        pressed = slow.get_by_role("button", name=button, exact=True)
        pressed.focus()
        pressed.press("Enter")
        slow.get_by_text(done).last.wait_for()
        expect(pressed).to_be_enabled()
        expect(pressed).to_be_focused()


@pytest.mark.parametrize("role", ["slider", "textbox", "button"])
def test_the_focus_is_seen(bandwidth: Locator, role: Any) -> None:
    first, page = bandwidth.get_by_role(role).first, bandwidth.page
    first.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+Tab")
    expect(first).to_be_focused()
    style, width = first.evaluate(
        "it => [getComputedStyle(it).outlineStyle, getComputedStyle(it).outlineWidth]"
    )
    assert style != "none" and float(width.removesuffix("px")) >= 2
