"""A panel's assumptions can be typed: by name in Python, and in boxes under a button."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.widgets.panels.planning_bandwidth import bandwidth_panel
from course_lib.widgets.panels.planning_capacity import capacity_panel
from course_lib.widgets.panels.planning_checkpoints import burst_panel
from course_lib.widgets.plan_panel import PlanPanel


@pytest.fixture
def panel() -> PlanPanel:
    shown = bandwidth_panel()
    shown.widget()
    return shown


def box(panel: PlanPanel, name: str) -> Any:
    return panel._assumed._parts[name]


def said(panel: PlanPanel) -> str:
    return panel._assumed._parts["said"].value


def test_an_assumption_changes_the_plan_and_its_box(panel: PlanPanel) -> None:
    assert "too narrow" in panel.at(consumers=8).title
    panel.assume(available_bytes_per_second="10 Gbit/s", batches_per_second=8)
    assert panel.plan.available_bytes_per_second == 1.25e9
    assert panel.plan.bytes_per_second == 409.6e6
    assert box(panel, "available_bytes_per_second").value == "1.25 GB/s"
    assert "1.25 GB/s" in panel._parts["view"].value


def test_assumptions_are_told_with_their_values(panel: PlanPanel) -> None:
    panel.assume(available_bytes_per_second=None)
    assert panel.assumptions == {
        "batches_per_second": "4 /s",
        "batch_size": "128",
        "available_bytes_per_second": "not given",
    }


def test_what_is_typed_in_a_box_is_an_assumption(panel: PlanPanel) -> None:
    box(panel, "batch_size").value = "256"
    assert panel.plan.batch_size == 256
    box(panel, "available_bytes_per_second").value = " "
    assert panel.plan.available_bytes_per_second is None
    panel.forget()
    assert (panel.plan.batch_size, box(panel, "available_bytes_per_second").value) == (128, "125 MB/s")


@pytest.mark.parametrize(
    ("typed", "because"), [("100", "no unit"), ("2 ms", "kind of unit"), ("lots", "read")]
)
def test_what_cannot_be_read_is_said_and_changes_nothing(panel: PlanPanel, typed: str, because: str) -> None:
    box(panel, "available_bytes_per_second").value = typed
    assert because in said(panel) and "It stays at 125 MB/s." in said(panel)
    assert panel.plan.available_bytes_per_second == 125e6
    box(panel, "available_bytes_per_second").value = "200 MB/s"
    assert said(panel) == "" and panel.plan.available_bytes_per_second == 200e6


def test_a_value_that_the_calculator_refuses_is_a_sentence_in_the_panel(panel: PlanPanel) -> None:
    panel.assume(batch_size=0)
    with pytest.raises(CourseError, match="batch"):
        _ = panel.view
    assert 'role="alert"' in panel._parts["view"].value
    panel.assume(batch_size=128)
    assert panel.plan.batch_size == 128


def test_an_unknown_assumption_names_those_that_there_are(panel: PlanPanel) -> None:
    with pytest.raises(CourseError, match=r"no assumption 'link'.*available_bytes_per_second"):
        panel.assume(link="1 GB/s")
    with pytest.raises(CourseError, match="no assumption 'consumers'"):
        panel.assume(consumers=3)


def test_the_boxes_are_out_of_sight_until_they_are_asked_for(panel: PlanPanel) -> None:
    parts = panel._assumed._parts
    assert parts["boxes"].layout.display == "none"
    parts["button"].click()
    assert parts["boxes"].layout.display is None and "course-pressed" in parts["button"]._dom_classes
    parts["button"].click()
    assert parts["boxes"].layout.display == "none" and "course-pressed" not in parts["button"]._dom_classes


def test_a_typed_assumption_is_saved_and_loaded(tmp_path: Path) -> None:
    first, second = capacity_panel(), capacity_panel()
    first.assume(checkpoint_bytes="112 GB", disk_bytes="2 TB", raw_bytes="1.2 TB", processed_bytes=None)
    second.widget()
    second.load(first.save(tmp_path / "large"))
    assert second.plan.checkpoint_bytes == 112e9
    assert box(second, "disk_bytes").value == "2 TB"


def test_a_failed_save_is_an_assumption_of_the_burst() -> None:
    panel = burst_panel()
    before = panel.plan.worst_loss_seconds
    panel.assume(failed_saves=1)
    assert panel.plan.worst_loss_seconds == before + panel.plan.interval_seconds


def test_a_panel_that_is_only_printed_says_what_it_found() -> None:
    assert "204.8 MB/s" in str(bandwidth_panel())
