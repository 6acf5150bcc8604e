"""Lesson 03 in a real browser: it runs, its split panel answers, and an own manifest is verified."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_the_split_panel_answers_and_a_folder_is_verified(
    open_notebook: Callable[[str], Any], tmp_path: Any
) -> None:
    from course_lib.datasets.samples import load_samples
    from course_lib.splits import make_split, parse_recipe, write_split

    samples, _ = load_samples("bank_marketing", "additional-full")
    manifest = write_split(make_split(samples, parse_recipe("ordered-70-15-15")), tmp_path / "mine")

    lesson = open_notebook("03_splits_and_manifests.ipynb")
    lesson.run_all()
    assert [said for said in lesson.errors() if "Drawing cifar10" not in said] == [], "a progress bar is none"
    assert lesson.accessibility_findings() == []

    panel = lesson.panels().filter(has_text="Split the calls, then score a model").first
    panel.scroll_into_view_if_needed()
    before = panel.inner_text()
    panel.get_by_label("Kind of split").select_option("at random")
    lesson.page.wait_for_function(
        "([panel, text]) => panel.innerText !== text", arg=[panel.element_handle(), before]
    )
    assert "Split at random" in panel.inner_text()

    question = lesson.panels().filter(has_text="Your own manifest of the Bank data").last
    question.scroll_into_view_if_needed()
    question.get_by_label("Path", exact=True).fill(str(manifest.folder))
    question.get_by_label("Path", exact=True).press("Tab")
    question.get_by_role("button", name="Check").click()
    question.get_by_role("status").wait_for()
    assert "Correct." in question.get_by_role("status").inner_text()

    kept = (lesson.server.home / "progress" / "progress.json").read_text(encoding="utf-8")
    record = json.loads(kept)["questions"]["03_splits_and_manifests/own_manifest"]
    assert record["history"][-1]["answer"] == f"sha256 {manifest.digest}"
    assert str(tmp_path) not in kept
