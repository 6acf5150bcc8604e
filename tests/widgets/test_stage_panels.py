"""Every panel that can stand alone on a page is made there, in large type; every other one says why not."""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.widgets import panels, stage_sources
from course_lib.widgets.stage_panels import NOT_ALONE, STAGE_PANELS, StagePanel, find_panel, stage_panel


def _panel_functions() -> Iterator[tuple[str, str]]:
    """Yield module and name of every public function that returns something to work with, not to read."""
    for module in pkgutil.iter_modules(panels.__path__):
        content = import_module(f"{panels.__name__}.{module.name}")
        for name, function in inspect.getmembers(content, inspect.isfunction):
            if name.startswith("_") or function.__module__ != content.__name__:
                continue
            returned = str(function.__annotations__.get("return", ""))
            if name.endswith(("_panel", "_desk")) or returned.endswith(("Panel", "Desk")):
                yield module.name, name


def test_every_panel_of_the_lessons_has_a_page_or_a_reason() -> None:
    found = sorted(_panel_functions())
    known = [(one.module, one.function) for one in (*STAGE_PANELS, *NOT_ALONE)]
    assert sorted(known) == found
    assert all(missing.reason for missing in NOT_ALONE)


def test_names_are_told_apart_and_sources_are_there() -> None:
    names = [(one.lesson, one.name) for one in (*STAGE_PANELS, *NOT_ALONE)]
    assert len(set(names)) == len(names)
    used = {one.source for one in STAGE_PANELS if one.source}
    offered = {
        name
        for name, function in inspect.getmembers(stage_sources, inspect.isfunction)
        if function.__module__ == stage_sources.__name__
    }
    assert used == offered


@pytest.mark.parametrize("one", STAGE_PANELS, ids=lambda one: f"{one.lesson} {one.name}")
def test_each_panel_is_made_in_large_type_with_a_result(
    one: StagePanel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    panel = stage_panel(one.lesson, one.name)
    assert capsys.readouterr() == ("", ""), "what loading prints has no place on the page"
    assert panel.large and {"course-panel", "course-large"} <= set(panel.widget()._dom_classes)
    if not getattr(panel, "manual", False):
        assert panel.view.title
    assert list(tmp_path.iterdir()) == []


def test_a_page_whose_data_cannot_be_had_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_DATA", "/nowhere/at/all")
    shown = stage_panel("01", "moment")
    assert 'role="alert"' in shown and "COURSE_DATA does not name a folder" in shown
    assert "<style>" in shown._repr_html_()


def test_a_lesson_with_one_panel_needs_no_name() -> None:
    assert find_panel("05").name == "loading"
    with pytest.raises(CourseError, match="has several panels"):
        find_panel("06")
