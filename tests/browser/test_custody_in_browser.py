"""A learner at the custody bench, in a real browser: a case is inspected and a verdict given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nbformat
import pytest

pytestmark = pytest.mark.browser

NOTEBOOK = "custody_for_tests.ipynb"
CELLS = (
    "from course_lib.leakage.custody import Bench\n"
    "from course_lib.widgets.panels.custody import custody_desk, score_view\n"
    "bench = Bench(count=4, seed=9, budget=2)",
    "custody_desk(bench)",
)


@pytest.fixture
def desk(lab_server: Any, open_notebook: Callable[[str], Any]) -> Any:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    notebook.metadata["kernelspec"] = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    file = lab_server.root / "notebooks" / NOTEBOOK
    file.write_text(nbformat.writes(notebook), encoding="utf-8")
    opened = open_notebook(NOTEBOOK)
    opened.run_all()
    assert opened.errors() == []
    yield opened
    file.unlink()


def test_a_case_is_inspected_and_a_verdict_is_judged(desk: Any) -> None:
    panel, verdict = desk.panels().nth(0), desk.panels().nth(1)
    panel.get_by_role("combobox", name="Tool").select_option(label="detector: one group in two parts")
    assert "Nothing has been computed yet" in panel.inner_text(), "choosing a tool spends nothing"
    panel.get_by_role("button", name="Run").click()
    panel.get_by_text("1 of 2 detectors are left").wait_for()
    assert "groups looked at" in panel.inner_text() and "generated from seed" in panel.inner_text()

    assert "Your verdict on case-01" in verdict.inner_text()
    verdict.get_by_role("combobox", name="Verdict").select_option(label="nothing is wrong with this set")
    verdict.get_by_role("button", name="Submit the verdict").click()
    feedback = verdict.get_by_role("status")
    feedback.wait_for()
    assert feedback.inner_text().startswith(("Right.", "This set cannot be cleared"))

    number = panel.get_by_role("textbox", name="Case")
    number.fill("2")
    number.press("Enter")
    verdict.get_by_text("Your verdict on case-02").wait_for()
    assert verdict.get_by_role("status").count() == 0
    verdict.get_by_role("combobox", name="Verdict").select_option(label="another label map")
    verdict.get_by_role("textbox", name="Evidence").fill("cat, ship")
    verdict.get_by_role("button", name="Submit the verdict").click()
    verdict.get_by_role("status").wait_for()
    assert "Attempts left: 1" in verdict.inner_text() or "Right." in verdict.inner_text()
