"""Lesson 06 in a real browser: it runs, its panels answer to the keyboard, and answers are judged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_the_lesson_runs_and_the_panels_and_questions_answer(open_notebook: Callable[[str], Any]) -> None:
    lesson = open_notebook("06_small_files_vs_shards.ipynb")
    lesson.run_all(patience_seconds=400)
    # Progress bars go to the standard error.
    stopped = [said for said in lesson.errors() if "Traceback" in said or "Error" in said]
    assert stopped == []
    assert "Error displaying widget" not in lesson.page.locator(".jp-Notebook:visible").inner_text()

    assert lesson.accessibility_findings() == []

    case = lesson.panels().filter(has_text="From files to shards").first
    case.scroll_into_view_if_needed()
    assert "157 shards" in case.inner_text()
    target = case.get_by_role("slider", name="Target of a shard")
    if target.count() == 0:
        target = case.get_by_label("Target of a shard")
    target.first.focus()
    lesson.page.keyboard.press("ArrowRight")
    lesson.page.keyboard.press("Tab")
    lesson.page.wait_for_function(
        "panel => !panel.innerText.includes('157 shards')", arg=case.element_handle()
    )
    assert "156 shards" in case.inner_text(), "one step more than 256 MB"

    question = lesson.panels().filter(has_text="How many shards?").last
    question.scroll_into_view_if_needed()
    for answer, said in (("156", "rounded down"), ("157", "Correct.")):
        box = question.get_by_role("textbox").first
        box.fill(answer)
        box.press("Tab")
        question.get_by_role("button", name="Check").click()
        lesson.page.wait_for_function(
            "([panel, said]) => panel.innerText.includes(said)", arg=[question.element_handle(), said]
        )
