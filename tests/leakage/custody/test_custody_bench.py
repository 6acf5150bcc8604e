"""Verdicts: what they are worth, what they say before and after the last attempt, and the series' score."""

from __future__ import annotations

import json

import pytest

from course_lib.errors import CourseError
from course_lib.leakage.custody import CLEAN, Bench, accuse, case_kinds, judge, make_case, open_case
from course_lib.leakage.custody.bench import series_kinds
from course_lib.leakage.custody.case import truth_of
from course_lib.leakage.custody.faults import Truth
from course_lib.leakage.custody.judging import judged
from course_lib.leakage.detectors import KINDS

PAIRS = Truth(
    "exact_duplicate",
    (frozenset({"s-1", "s-2"}), frozenset({"s-3", "s-4"}), frozenset({"s-5", "s-6"})),
    explanation="Three samples were copied.",
)
FIELD = Truth(
    "field_too_good", (frozenset({"balance_eur"}),), explanation="The field was made from the class."
)
CLASS = Truth(
    "class_missing",
    (frozenset({"complained", "3"}),),
    frozenset({"test"}),
    explanation="The class was taken out.",
)
NOTHING = Truth(CLEAN, explanation="Nothing was done.")


@pytest.mark.parametrize(
    ("truth", "kind", "evidence", "outcome", "score"),
    [
        (PAIRS, "exact_duplicate", ["s-1", "s-3"], "right", 1.0),
        (PAIRS, "exact_duplicate", ["s-1", "s-2", "s-3", "s-4", "s-5", "s-6"], "right", 1.0),
        (PAIRS, "exact_duplicate", ["s-1", "s-2"], "evidence", 0.5),
        (PAIRS, "exact_duplicate", ["s-1", "s-3", "s-5", "s-9"], "evidence", 0.5),
        (PAIRS, "exact_duplicate", [], "evidence", 0.5),
        (PAIRS, "near_duplicate", ["s-1", "s-3"], "kind", 0.0),
        (PAIRS, CLEAN, [], "missed", -0.5),
        (FIELD, "field_too_good", "Balance_EUR", "right", 1.0),
        (FIELD, "field_too_good", "age_years", "evidence", 0.5),
        (CLASS, "class_missing", ["complained", "test"], "right", 1.0),
        (CLASS, "class_missing", ["test"], "evidence", 0.5),
        (NOTHING, CLEAN, [], "right", 1.0),
        (NOTHING, CLEAN, ["s-1"], "right", 1.0),
        (NOTHING, "group_spread", ["s-1"], "false alarm", -0.5),
    ],
)
def test_what_a_verdict_is_worth(truth, kind, evidence, outcome, score):
    verdict = judged(truth, accuse(kind, evidence))
    assert (verdict.outcome, verdict.score, verdict.final) == (outcome, score, True)
    assert truth.explanation in verdict.message


@pytest.mark.parametrize("truth", [PAIRS, FIELD, CLASS, NOTHING])
def test_before_the_last_attempt_a_wrong_verdict_gives_nothing_away(truth):
    for kind in case_kinds():
        if kind == truth.kind:
            continue
        verdict = judged(truth, accuse(kind, "s-9"), final=False)
        assert (verdict.outcome, verdict.score, verdict.final) == ("wrong", None, False)
        secret = {truth.explanation, *set().union(*truth.evidence, ())}
        assert not [word for word in secret if word in verdict.message]
    messages = {judged(t, accuse("group_spread", "s-9"), final=False).message for t in (PAIRS, NOTHING)}
    assert len(messages) == 1, "an accusation that fails sounds the same for a clean set and a faulty one"


def test_the_right_kind_with_wrong_evidence_is_told_so_without_the_evidence():
    verdict = judged(PAIRS, accuse("exact_duplicate", "s-9"), final=False)
    assert verdict.outcome == "evidence" and not verdict.final
    assert "ids of the samples" in verdict.message and "s-1" not in verdict.message


def test_evidence_is_read_as_people_write_it():
    expected = ("s-1", "call again", "s-2")
    assert accuse("group_spread", " 's-1', call again;\n[s-2], s-1,, ").evidence == expected
    assert accuse("group_spread", ["s-1", " call again ", "s-2"]).evidence == expected
    with pytest.raises(CourseError, match=r"names a kind of fault.*clean or .*drifting_rate"):
        accuse("witchcraft")
    with pytest.raises(CourseError, match="Evidence consists of names"):
        accuse("group_spread", [1, 2])


def test_the_evidence_that_a_tool_gives_is_right():
    for kind in ("near_duplicate", "manifest_edited", "group_spread", "future_in_training"):
        case = make_case(31, kind=kind)
        assert judge(case, accuse(kind, case.inspect(kind).sample_ids)).score == 1.0


def test_clearing_or_accusing_everything_earns_nothing():
    for kind in (CLEAN, "exact_duplicate"):
        points = sum(
            judged(Truth(planted, (frozenset({"x"}),) if planted != CLEAN else ()), accuse(kind)).score
            for planted in series_kinds(60, 5)
        )
        assert points <= 0


def test_a_series_has_a_third_of_clean_sets_and_every_kind():
    kinds = series_kinds(15, 3)
    assert kinds.count(CLEAN) == 5 and set(kinds) == set(case_kinds())
    assert kinds == series_kinds(15, 3) != series_kinds(15, 4)


def wrong_kind(bench: Bench, number: int) -> str:
    truth = truth_of(bench.case(number)).kind
    return next(kind for kind in KINDS if kind != truth)


def test_a_second_attempt_counts_half_and_closes_the_case():
    bench = Bench(count=4, seed=9)
    truth = truth_of(bench.case(2))
    assert bench.judge(2, kind=wrong_kind(bench, 2)).outcome == "wrong"
    assert bench.attempts_left(2) == 1 and not bench.closed(2) and bench.score().possible == 0
    verdict = bench.judge(2, kind=truth.kind, evidence=[min(names) for names in truth.evidence])
    assert (verdict.outcome, verdict.score) == ("right", 0.5)
    assert bench.closed(2) and bench.attempts_left(2) == 0
    with pytest.raises(CourseError, match="Case 2 is closed"):
        bench.judge(2, kind="clean")


def test_the_score_counts_closed_cases_and_says_how_they_ended():
    bench = Bench(count=6, seed=9, attempts=1)
    assert bench.score().sentence() == "No case is closed yet."
    for number in range(1, 7):
        truth = truth_of(bench.case(number))
        bench.judge(number, kind=truth.kind if number != 3 else wrong_kind(bench, 3), evidence=())
    score = bench.score()
    assert score.possible == 6 and sum(score.outcomes.values()) == 6
    assert score.points == sum(bench.verdict(number).score for number in range(1, 7))
    assert "points" in score.sentence()


def test_the_same_seed_is_the_same_bench():
    first, again = Bench(count=3, seed=4), Bench(count=3, seed=4)
    for number in (1, 2, 3):
        assert first.case(number).origin == again.case(number).origin
        assert first.case(number) is first.case(number)
    assert first.case(1).origin.kind == "generated"
    assert "closed" in repr(first) and not [kind for kind in KINDS if kind in repr(first)]


@pytest.mark.parametrize("number", [0, 4, -1, "1", True, 1.0])
def test_a_case_that_is_not_there_is_refused(number):
    with pytest.raises(CourseError, match="number from 1 to 3"):
        Bench(count=3).case(number)


def test_a_bench_without_cases_or_attempts_is_refused():
    for values in ({"count": 0}, {"attempts": 0}):
        with pytest.raises(CourseError, match="at least"):
            Bench(**values)


def test_a_case_from_a_folder_can_be_inspected_and_not_judged(tmp_path):
    made = make_case(6, kind="class_missing", folder=tmp_path / "case")
    opened = open_case(made.folder)
    assert opened.inspect("class_missing").status == "found" and opened.origin is None
    with pytest.raises(CourseError, match="truth about case is not here"):
        judge(opened, accuse("clean"))


def test_verdicts_are_written_to_be_handed_in(tmp_path):
    bench = Bench(count=3, seed=4)
    with pytest.raises(CourseError, match="no verdict to hand in"):
        bench.write_verdicts(tmp_path / "ada.json")
    bench.judge(2, kind="field_too_good", evidence="balance_eur")
    content = json.loads(bench.write_verdicts(tmp_path / "ada.json", learner="Ada").read_text("utf-8"))
    assert content["learner"] == "Ada"
    assert content["verdicts"] == {"case-02": {"kind": "field_too_good", "evidence": ["balance_eur"]}}
