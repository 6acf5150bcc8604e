"""What a slider shows one step further is in the browser before the key is pressed, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Route, expect

pytestmark = pytest.mark.browser

LOOK = """
handle => [
  handle.closest(".course-panel").querySelector(".course-view:not(.course-pinned)").textContent,
  handle.closest(".course-control").querySelector(".course-typed input").value,
]"""

STEPS = 12
TENTHS = """\
from course_lib.widgets import NumberControl, Panel, View

control = NumberControl("Time", 0, 20, 0, step=0.1, unit="ms")
Panel("Tenths", {"ms": control}, lambda ms: View(f"{ms:.1f} ms", "Rounded."))"""

COUNTING = """\
from course_lib.widgets import NumberControl, Panel, View

computed = []

def compute(number):
    computed.append(number)
    return View(f"{number} it is", f"Computation {len(computed)}.")

panel = Panel("Counting", {"number": NumberControl("Number", 0, 500, 7)}, compute)
panel"""


def test_each_slider_of_a_panel_shows_the_next_step_at_the_key_press(
    open_notebook: Callable[..., Any], shown_at_once: Callable[[Locator], list[str]]
) -> None:
    source = "from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel\nbandwidth_panel()"
    opened = open_notebook("ahead.ipynb", [source])
    opened.run_all()
    panel = opened.panels().first
    panel.get_by_role("button", name="Pin as A").click()
    for place in range(3):
        slider = panel.get_by_role("slider").nth(place)
        shown = shown_at_once(slider)
        panel.get_by_role("button", name="Pin the current values as A").click()
        # The kernel's own values on both sides: it has answered the key and the button.
        differences = panel.locator(".course-pinned tbody td:last-child")
        expect(differences.filter(has_not_text="the same")).to_have_count(0)
        assert slider.evaluate(LOOK) == shown, "the kernel says something else than was shown ahead"
    assert opened.errors() == []


def test_a_slider_with_parts_of_a_step_shows_them_at_the_key_press_too(
    open_notebook: Callable[..., Any], press_key: Callable[[Locator, str], tuple[list[str], list[str]]]
) -> None:
    opened = open_notebook("ahead_tenths.ipynb", [TENTHS])
    opened.run_all()
    page, panel = opened.page, opened.panels().first
    slider, at_once = panel.get_by_role("slider"), 0
    for _ in range(STEPS):
        before, after = press_key(slider, "ArrowRight")
        at_once += before != after
        page.wait_for_timeout(600)
    # The first key press is what the panel is first used with.
    assert at_once >= STEPS - 2
    expect(panel.get_by_text(f"{0.1 * STEPS:.1f} ms").first).to_be_visible()
    assert panel.get_by_role("textbox").input_value() == f"{0.1 * STEPS:.1f}"
    assert opened.errors() == []


def test_what_the_kernel_finds_replaces_what_was_shown_ahead(
    open_notebook: Callable[..., Any], shown_at_once: Callable[[Locator], list[str]]
) -> None:
    opened = open_notebook("ahead_counting.ipynb", [COUNTING])
    opened.run_all()
    panel = opened.panels().first
    shown, number = shown_at_once(panel.get_by_role("slider"))
    ahead = int(shown.partition("Computation ")[2].partition(".")[0])
    # The computation has an effect, which none should have: the kernel's own differs from the one ahead.
    expect(panel.get_by_text(f"Computation {ahead}.")).to_have_count(0)
    expect(panel.get_by_text(f"{number} it is").first).to_be_visible()
    assert opened.errors() == []


def test_a_typed_value_never_shows_the_slider_place_beside_it(
    open_notebook: Callable[..., Any], shown_at_once: Callable[[Locator], list[str]]
) -> None:
    source = "from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel\nbandwidth_panel()"
    opened = open_notebook("ahead_typed.ipynb", [source])
    opened.run_all()
    page, panel = opened.page, opened.panels().first
    slider = panel.get_by_role("slider").nth(1)
    shown_at_once(slider)
    page.wait_for_timeout(1000)
    panel.evaluate(
        """panel => {
          window.findings = [];
          new MutationObserver(() => {
            const finding = panel.querySelector(".course-finding")?.textContent;
            if (finding && finding !== window.findings.at(-1)) window.findings.push(finding);
          }).observe(panel, {childList: true, characterData: true, subtree: true});
        }"""
    )
    box = panel.get_by_role("textbox").nth(1)
    for typed in ("108 KB", "95 KB", "108 KB"):
        # Between two places, and nearer to another one than to where the slider stands.
        box.fill(typed)
        box.press("Enter")
        page.wait_for_timeout(1000)
    assert len(page.evaluate("window.findings")) == 3, page.evaluate("window.findings")
    assert opened.errors() == []


def test_a_browser_that_cannot_load_the_script_waits_for_the_kernel(
    open_notebook: Callable[..., Any], browser: BrowserContext
) -> None:
    kept_back: list[str] = []

    def keep_back(route: Route) -> None:
        kept_back.append(route.request.url)
        route.abort()

    browser.route("**/extensions/anywidget/**", keep_back)
    try:
        opened = open_notebook("ahead_alone.ipynb", [COUNTING])
        opened.run_all()
        panel = opened.panels().first
        panel.get_by_role("slider").press("ArrowRight")
        expect(panel.get_by_text("8 it is").first).to_be_visible()
        expect(panel.get_by_role("textbox").first).to_have_value("8")
        assert kept_back
        expect(opened.page.get_by_text("Error displaying widget")).to_have_count(0)
        expect(opened.page.get_by_role("dialog")).to_have_count(0)
        assert opened.errors() == []
    finally:
        browser.unroute("**/extensions/anywidget/**", keep_back)
