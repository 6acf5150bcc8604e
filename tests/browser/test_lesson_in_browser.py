"""A newcomer's way through lesson 01, in a real browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser

LESSON = "01_prediction_time.ipynb"


def test_lesson_runs_its_slider_moves_and_an_answer_is_kept(open_notebook: Callable[[str], Any]) -> None:
    lesson = open_notebook(LESSON)
    lesson.run_all()
    assert lesson.errors() == []
    assert lesson.accessibility_findings() == []

    slider = lesson.page.locator(".course-panel").get_by_role("slider").first
    panel = lesson.panels().filter(has=lesson.page.get_by_role("slider")).first
    slider.scroll_into_view_if_needed()
    before = slider.get_attribute("aria-valuenow"), panel.inner_text()
    slider.focus()
    slider.press("ArrowRight")
    lesson.page.wait_for_function(
        "([panel, text]) => panel.innerText !== text", arg=[panel.element_handle(), before[1]]
    )
    assert slider.get_attribute("aria-valuenow") != before[0]

    question = lesson.panels().filter(has_text="30% less time, and then?").first
    question.scroll_into_view_if_needed()
    question.locator("input[type=radio]").first.check()
    question.get_by_role("button", name="Check").click()
    feedback = question.get_by_role("status")
    feedback.wait_for()
    assert feedback.inner_text().strip()

    progress = json.loads((lesson.server.home / "progress" / "progress.json").read_text(encoding="utf-8"))
    kept = [
        record for name, record in progress["questions"].items() if name.startswith("01_prediction_time/")
    ]
    assert any(record["attempts"] or record["predicted"] is not None for record in kept)


def test_lab_opens_quietly_with_the_course_defaults(open_notebook: Callable[[str], Any]) -> None:
    lesson = open_notebook("00_start_here.ipynb")
    lesson.run_all()
    assert lesson.errors() == []
    assert lesson.accessibility_findings() == []
    assert lesson.page.locator(".Toastify__toast").count() == 0, "no news and no update notices"
    notebook = json.loads(
        (lesson.server.root / "notebooks" / "00_start_here.ipynb").read_text(encoding="utf-8")
    )
    on_the_page = lesson.page.locator(".jp-Notebook:visible .jp-Cell")
    assert on_the_page.count() == len(notebook["cells"]), "JupyterLab keeps every cell on the page"
    kept = lesson.server.home / "lab" / "workspaces"
    for _ in range(600):
        if list(kept.glob("*.jupyterlab-workspace")):
            break
        lesson.page.wait_for_timeout(100)
    assert list(kept.glob("*.jupyterlab-workspace")), "open tabs are kept in the course's own folder"
