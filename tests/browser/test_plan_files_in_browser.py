"""Lesson 09 in a real browser: a plan is saved by name, changed, and loaded back, by keyboard alone."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.browser


def test_a_saved_plan_brings_its_numbers_back(open_notebook: Callable[[str], Any]) -> None:
    lesson = open_notebook("09_capacity_and_bandwidth.ipynb")
    lesson.run_all()
    assert lesson.errors() == []

    panel = lesson.panels().filter(has_text="Bandwidth, backwards from consumption").first
    panel.scroll_into_view_if_needed()
    lesson_rate, changed_rate = "204.8 MB/s", "409.6 MB/s"
    panel.get_by_text(lesson_rate).first.wait_for()
    name = panel.get_by_label("File of the plan")
    name.focus()
    lesson.page.keyboard.type("reading")
    # By keyboard from field to button: Tab, then Enter.
    lesson.page.keyboard.press("Tab")
    lesson.page.keyboard.press("Enter")
    panel.get_by_text("Saved: ").wait_for()
    saved = lesson.server.home / "plans" / "reading.json"
    assert json.loads(saved.read_text(encoding="utf-8"))["inputs"]["consumers"] == 4

    consumers = panel.get_by_role("textbox", name="Training consumers")
    consumers.fill("8")
    consumers.press("Enter")
    panel.get_by_text(changed_rate).first.wait_for()
    panel.get_by_role("button", name="Save plan").click()
    panel.get_by_role("alert").get_by_text("is there already").wait_for()

    panel.get_by_role("button", name="Load plan").press("Enter")
    panel.get_by_text("Loaded: reading").wait_for()
    panel.get_by_text(lesson_rate).first.wait_for()
    # What is read out follows when the panel has come to rest.
    expect(panel.get_by_text(changed_rate)).to_have_count(0)
    expect(consumers).to_have_value("4")

    panel.get_by_role("button", name="Write page").press("Enter")
    panel.get_by_text("Page written: ").wait_for()
    page = (lesson.server.home / "plans" / "reading.md").read_text(encoding="utf-8")
    assert page.startswith("# Bandwidth, backwards from consumption\n") and lesson_rate in page

    disk = lesson.panels().filter(has_text="Space over the life cycle").first
    disk.get_by_label("File of the plan").fill("reading")
    disk.get_by_role("button", name="Load plan").click()
    disk.get_by_role("alert").get_by_text("another kind of plan").wait_for()
