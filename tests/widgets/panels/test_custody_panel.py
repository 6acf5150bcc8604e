"""The custody desk: a tool's answer as a view, the budget, and the verdict under it."""

from __future__ import annotations

import pytest

from course_lib.errors import CourseError
from course_lib.leakage.custody import CLEAN, Bench, Trial, case_kinds, make_case
from course_lib.leakage.custody.case import truth_of
from course_lib.leakage.custody.trial import TrialRow
from course_lib.leakage.detectors import KINDS, Finding
from course_lib.widgets.panels.custody import (
    custody_desk,
    inspection_panel,
    inspection_view,
    score_view,
    trial_view,
)


@pytest.fixture
def bench() -> Bench:
    return Bench(count=4, seed=9, budget=2)


def number_of(bench: Bench, faulty: bool) -> int:
    return next(n for n in range(1, 5) if (truth_of(bench.case(n)).kind != CLEAN) == faulty)


def test_a_finding_shows_its_samples_by_id_and_each_figure_with_its_meaning():
    case = make_case(31, kind="group_spread")
    view = inspection_view(case, "group_spread")
    finding = view.result
    assert isinstance(finding, Finding) and finding.status == "found"
    assert view.title == f"case: {finding.sentence}" and "4 of 5 detectors" in view.summary
    assert [row[1] for row in view.rows if row[0] == "samples"] == [
        ", ".join(ids) for ids in finding.together
    ]
    assert ("spread groups", 3, finding.explained()[1][2]) in view.rows
    assert "generated from seed 31" in view.text()


def test_no_view_shows_a_row_of_the_data():
    case = make_case(31, kind="near_duplicate", form="news", budget=10)
    table = case._files.table
    for tool in case.tools:
        words = inspection_view(case, tool).html()
        assert not [text for text in table["text"] if text[:40] in words]


def test_many_samples_are_cut_short_and_counted(monkeypatch):
    case = make_case(31, kind=CLEAN)
    many = Finding("exact_duplicate", "found", "Many.", (), {}, tuple((f"a{n}", f"b{n}") for n in range(40)))
    monkeypatch.setattr(case, "inspect", lambda tool: many)
    rows = inspection_view(case, "exact_duplicate").rows
    assert len(rows) == 13 and "28 lines more" in rows[-1][1]


def test_a_look_is_a_plain_table_and_free():
    case = make_case(31, kind=CLEAN)
    view = inspection_view(case, "class_counts")
    assert view.rows == case.inspect("class_counts").rows and "5 of 5" in view.summary


def test_choosing_a_tool_spends_nothing_before_run_is_pressed(bench):
    panel = inspection_panel(bench)
    panel.widget()
    assert len(panel.controls) <= 3
    for tool in KINDS:
        panel.controls["tool"].value = tool
    assert bench.case(1).uses_left == 2
    panel.run()
    assert bench.case(1).uses_left == 1 and panel.view.result.kind == "drifting_rate"


def test_beyond_the_budget_the_panel_says_so(bench):
    panel = inspection_panel(bench)
    for tool in ("group_spread", "class_missing", "fitted_on_everything"):
        panel.controls["tool"].value = tool
        panel.run()
    with pytest.raises(CourseError, match="budget of 2 tools"):
        _ = panel.view
    panel.controls["number"].value = 2
    panel.run()
    assert panel.view.result.kind == "fitted_on_everything"


def test_a_verdict_from_the_desk_closes_the_case_and_counts(bench):
    desk = custody_desk(bench)
    desk.widget()
    number = number_of(bench, faulty=True)
    truth = truth_of(bench.case(number))
    desk.panel.controls["number"].value = number
    assert f"case-{number:02d}" in desk.parts["heading"].value
    desk.parts["kind"].value = truth.kind
    assert "Evidence for this verdict" in desk.parts["wanted"].value
    desk.parts["evidence"].value = ", ".join(min(names) for names in truth.evidence)
    desk.parts["submit"].click()
    assert "Right." in desk.parts["feedback"].value and "Points: 1" in desk.parts["feedback"].value
    assert desk.parts["submit"].disabled and "1 of 1 points" in desk.parts["score"].value


def test_a_wrong_verdict_leaves_another_attempt_and_says_nothing_else(bench):
    desk = custody_desk(bench)
    desk.widget()
    number = number_of(bench, faulty=False)
    desk.panel.controls["number"].value = number
    desk.parts["kind"].value = "group_spread"
    desk.parts["submit"].click()
    feedback = desk.parts["feedback"].value
    assert "Attempts left: 1" in feedback and "clean" not in feedback
    assert not desk.parts["submit"].disabled
    desk.parts["submit"].click()
    assert "is clean" in desk.parts["feedback"].value and desk.parts["submit"].disabled


def test_without_a_choice_nothing_is_submitted(bench):
    desk = custody_desk(bench)
    assert desk.submit() is None
    assert desk.parts["kind"].label == "choose…"
    assert "Choose a verdict" in desk.parts["feedback"].value and bench.verdict(1) is None


def test_turning_to_another_case_clears_the_desk_and_coming_back_shows_its_verdict(bench):
    desk = custody_desk(bench)
    desk.widget()
    desk.parts["kind"].value = "clean"
    desk.parts["evidence"].value = "s-1"
    desk.parts["submit"].click()
    said = desk.parts["feedback"].value
    desk.panel.controls["number"].value = 2
    assert desk.parts["feedback"].value == desk.parts["evidence"].value == ""
    assert desk.parts["kind"].label == "choose…"
    desk.panel.controls["number"].value = 1
    assert desk.parts["feedback"].value == said != ""


def test_every_verdict_can_be_chosen(bench):
    desk = custody_desk(bench)
    desk.widget()
    assert [kind for _, kind in desk.parts["kind"].options] == ["", *case_kinds()]


def test_without_widgets_the_desk_says_which_calls_do_the_same(bench, monkeypatch):
    monkeypatch.setenv("COURSE_WIDGETS", "off")
    desk = custody_desk(bench)
    for words in (desk.static_text("No controls here."), desk.static_html("No controls here.")):
        assert "bench.case(3).inspect(" in words and "bench.judge(3" in words
        assert "No controls here." in words and "no client is in two parts" in words


def test_the_score_is_a_row_for_each_case(bench):
    bench.judge(number_of(bench, faulty=False), kind=CLEAN)
    view = score_view(bench)
    assert [row[0] for row in view.rows] == [f"case-{number:02d}" for number in range(1, 5)]
    assert sorted(str(row[4]) for row in view.rows) == ["1.0", "None", "None", "None"]
    assert view.title == bench.score().sentence()


def test_the_trial_is_shown_as_it_is():
    trial = Trial((TrialRow("class_missing", 3, 2, 7, 1, {"clean": 1}, 0),), 10, 4, 3, 5)
    view = trial_view(trial)
    assert view.rows == (("a class missing from a part", 3, 2, 7, "1 (1 on clean)", 0),)
    assert "2 of 3 faults" in view.title and "3 of 4 clean sets" in view.title
