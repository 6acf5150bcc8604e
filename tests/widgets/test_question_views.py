"""Question views hand in what was entered, show what comes back, and stand there again after a restart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.exercises import LessonExercises, open_exercises
from course_lib.widgets import show_prediction, show_question, show_reconciliation
from course_lib.widgets.questions import QuestionView
from course_lib.widgets.static import bundles

_ORIGIN = Origin("generated", "bank_marketing", "full", 1200, "ab" * 32, 7)


def _made(view: QuestionView) -> QuestionView:
    view.widget()
    return view


def _give_number(view: QuestionView, answer: str) -> None:
    view.answer.widget.value = answer


def _give_choice(view: QuestionView, answer: str) -> None:
    view.answer.widget.value = answer


def _give_several(view: QuestionView, answer: str) -> None:
    for name, box in view.answer.boxes.items():  # type: ignore[attr-defined]
        box.value = name in answer


def _give_order(view: QuestionView, answer: str) -> None:
    for place in answer:
        view.answer.ups[int(place)].click()  # type: ignore[attr-defined]


def _give_match(view: QuestionView, answer: str) -> None:
    for name, target in zip(("age", "duration"), answer.split(), strict=True):
        view.answer.lists[name].value = target  # type: ignore[attr-defined]


_KINDS = [
    ("rate", _give_number, "500 /s", "2000 /s"),
    ("leak", _give_choice, "B", "A"),
    ("both", _give_several, "AC", "A"),
    ("order", _give_order, "21", "1"),
    ("match", _give_match, "early late", "late late"),
]


@pytest.mark.parametrize(("qid", "give", "right", "wrong"), _KINDS)
def test_each_kind_hands_in_right_and_wrong_answers(
    exercises: LessonExercises, qid: str, give: Any, right: str, wrong: str
) -> None:
    for answer, status, words in ((wrong, "wrong", "Not yet."), (right, "correct", "Correct.")):
        view = QuestionView(exercises, qid)
        view.widget()
        if qid == "order" and status == "correct":
            view.answer.restore(["after", "before", "start"])
            view.answer.ups[1].click()  # type: ignore[attr-defined]
        give(view, answer)
        view.parts["check"].click()
        assert exercises.state(qid).status == status
        assert (
            words in view.parts["feedback"].value and "Saved on this machine" in view.parts["feedback"].value
        )


@pytest.mark.parametrize("qid", ["rate", "leak", "both", "order", "match", "write"])
def test_an_untouched_question_is_not_attempted_and_does_not_count(
    exercises: LessonExercises, qid: str
) -> None:
    view = _made(show_question(exercises, qid))
    view.parts["check"].click()
    assert "Not attempted." in view.parts["feedback"].value
    assert exercises.state(qid).attempts == 0
    assert view.parts["solution"].disabled and view.parts["hint"].disabled


def test_hints_and_solution_open_after_a_wrong_attempt(exercises: LessonExercises) -> None:
    view = _made(show_question(exercises, "rate"))
    for number, answer in enumerate(("2000 /s", "50 /s"), start=1):
        _give_number(view, answer)
        view.parts["check"].click()
        assert view.parts["hint"].description == f"Hints ({number})"
    assert view.parts["hints"].value == "", "hints open when they are asked for"
    view.parts["hint"].click()
    assert "Divide one second" in view.parts["hints"].value and "1000 ms" in view.parts["hints"].value
    assert not view.parts["solution"].disabled
    view.parts["solution"].click()
    assert "500 per second" in view.parts["opened"].value


def test_an_unreadable_answer_is_said_and_does_not_count(exercises: LessonExercises) -> None:
    view = _made(show_question(exercises, "rate"))
    _give_number(view, "many <b>files</b>")
    view.parts["check"].click()
    assert "Not an answer yet." in view.parts["feedback"].value
    assert "<b>" not in view.parts["feedback"].value
    assert exercises.state("rate").attempts == 0


@pytest.mark.parametrize(("qid", "give", "right", "wrong"), _KINDS)
def test_the_last_answer_stands_there_after_a_restart(
    exercises: LessonExercises, qid: str, give: Any, right: str, wrong: str
) -> None:
    first = _made(show_question(exercises, qid))
    give(first, wrong)
    handed_in = first.answer.answer
    first.parts["check"].click()
    again = _made(show_question(open_exercises("99"), qid))
    assert again.answer.answer == handed_in is not None
    assert "attempts so far: 1" in again.parts["feedback"].value
    assert not again.parts["solution"].disabled and again.parts["hint"].description == "Hints (1)"


def test_an_answer_that_no_longer_fits_the_question_is_left_out(exercises: LessonExercises) -> None:
    for qid in ("leak", "both", "order", "match"):
        view = _made(show_question(exercises, qid))
        for kept in ("Z", ["Z"], {"Z": "Y"}, 7, None):
            view.answer.restore(kept)
        assert view.answer.answer is None


def test_moving_an_item_says_where_it_is_now(exercises: LessonExercises) -> None:
    view = _made(show_question(exercises, "order"))
    view.answer.downs[0].click()  # type: ignore[attr-defined]
    assert view.answer.answer == ["before", "after", "start"]
    assert 'role="status"' in view.answer._said.value  # type: ignore[attr-defined]
    assert "after the call is now number 2." in view.answer._said.value  # type: ignore[attr-defined]
    assert view.answer.ups[0].disabled and view.answer.downs[-1].disabled  # type: ignore[attr-defined]


def test_code_is_handed_in_and_its_newest_definition_is_taken(
    exercises: LessonExercises, monkeypatch: pytest.MonkeyPatch
) -> None:
    import __main__

    handed_in: list[Any] = []
    submit = exercises.submit
    monkeypatch.setattr(
        exercises, "submit", lambda qid, answer: handed_in.append(answer) or submit(qid, None)
    )

    def old(fields: Any, at: Any) -> list[str]:
        return []

    def new(fields: Any, at: Any) -> list[str]:
        return []

    view = _made(show_question(exercises, "write", function=old))
    assert "def usable_fields" in view.answer.widget.value
    view.parts["check"].click()
    monkeypatch.setattr(__main__, "usable_fields", new, raising=False)
    view.parts["check"].click()
    assert handed_in == [old, new]


def test_check_takes_no_second_press_while_it_works(
    exercises: LessonExercises, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = _made(show_question(exercises, "leak"))
    seen: list[Any] = []
    submit = exercises.submit

    def marking(qid: str, answer: object) -> Any:
        seen.append((view.parts["check"].disabled, view.parts["check"].description, view.check()))
        return submit(qid, answer)

    monkeypatch.setattr(exercises, "submit", marking)
    view.parts["check"].click()
    assert seen == [(True, "checking…", None)]
    assert view.parts["check"].description == "Check" and not view.parts["check"].disabled


def test_a_saving_problem_stands_on_top_at_once(exercises: LessonExercises) -> None:
    view = _made(show_question(exercises, "leak"))
    assert view.parts["trouble"].value == ""
    exercises.progress.path.mkdir(parents=True)
    view.answer.widget.value = "B"
    view.parts["check"].click()
    trouble = view.parts["trouble"].value
    assert "Your progress:" in trouble and "course-problem" in trouble and "role='alert'" in trouble
    assert (
        "Correct." in view.parts["feedback"].value
        and "Saved on this machine" not in view.parts["feedback"].value
    )
    assert view.widget().children[0] is view.parts["trouble"]


def test_a_damaged_progress_file_is_said_when_the_question_opens(question_folder: Path) -> None:
    path = open_exercises("99").progress.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{broken", encoding="utf-8")
    with pytest.warns(UserWarning, match="damaged"):
        damaged = open_exercises("99")
    assert "damaged" in _made(show_question(damaged, "leak")).parts["trouble"].value


def test_texts_of_a_question_are_shown_and_not_run(exercises: LessonExercises) -> None:
    view = _made(show_question(exercises, "leak"))
    labels = view.answer.widget._options_labels
    assert labels[1] == "B. duration <b>in seconds</b>", "labels of buttons are plain text for the browser"
    assert "<b>" not in bundles(view)[1]["text/html"]


def test_static_form_gives_the_question_and_the_call(
    exercises: LessonExercises, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_WIDGETS", "off")
    (bundle,) = bundles(show_question(exercises, "rate"))
    for shown in bundle.values():
        assert "COURSE_WIDGETS=off" in shown and "exercises.submit(" in shown and "how many opens" in shown
        assert "Not attempted so far." in shown
    exercises.submit("rate", "500 /s")
    assert "Solved; attempts: 1." in bundles(show_question(exercises, "rate"))[0]["text/plain"]


def test_a_prediction_is_recorded_and_stands_there_again(exercises: LessonExercises) -> None:
    view = _made(show_prediction(exercises, "guess"))
    assert "solution" not in view.parts and view.parts["check"].description == "Record my prediction"
    view.answer.widget.value = "0.9"
    view.parts["check"].click()
    assert "Recorded." in view.parts["feedback"].value
    again = _made(show_prediction(open_exercises("99"), "guess"))
    assert again.answer.answer == "0.9" and "on record: 0.9" in again.parts["feedback"].value


def test_a_prediction_of_options_shows_its_text_when_it_is_on_record(exercises: LessonExercises) -> None:
    view = _made(show_prediction(exercises, "guess_word"))
    view.answer.widget.value = "random"
    view.parts["check"].click()
    again = _made(show_prediction(open_exercises("99"), "guess_word"))
    assert again.answer.answer == "random"
    assert "on record: the random split" in again.parts["feedback"].value


def test_reconciliation_shows_both_values_and_the_step(exercises: LessonExercises) -> None:
    exercises.predict("guess", "0.9")
    view = show_reconciliation(exercises, "guess", 0.782, origin=_ORIGIN)
    assert view.rows == (("your prediction", "0.9"), ("this run", "0.782"))
    assert "below your guess" in view.summary and "The field mattered more." in view.summary
    assert view.figure_svg.count('height="20"') == 2 and "generated from seed 7" in view.figure_svg
    assert "measured on this machine" in view.html() and view.warning == ""
    assert "0.9" in view.title and "0.782" in view.title


def test_reconciliation_without_a_prediction_says_so_and_still_shows_the_value(
    exercises: LessonExercises,
) -> None:
    view = show_reconciliation(exercises, "guess", 0.782, source_note="simulated")
    assert view.title.startswith("No prediction was made") and "0.782" in view.title
    assert "no prediction made" in view.figure_svg and view.figure_svg.count('height="20"') == 1
    assert "simulated" in view.text()


def test_reconciliation_of_options_is_a_table_alone(exercises: LessonExercises) -> None:
    exercises.predict("guess_word", "ordered")
    view = show_reconciliation(exercises, "guess_word", "random")
    assert view.figure_svg == "" and "the random split" in view.html()


def test_reconciliation_says_when_it_cannot_be_saved(exercises: LessonExercises) -> None:
    exercises.predict("guess", "0.9")
    exercises.progress.path.unlink()
    exercises.progress.path.mkdir()
    assert "progress.json" in show_reconciliation(exercises, "guess", 0.782).warning


def test_wrong_uses_are_one_sentence(exercises: LessonExercises) -> None:
    with pytest.raises(CourseError, match="show_prediction"):
        show_question(exercises, "guess")
    with pytest.raises(CourseError, match="show_question"):
        show_prediction(exercises, "rate")
    with pytest.raises(CourseError, match="takes no function"):
        show_question(exercises, "rate", function=print)
    with pytest.raises(CourseError, match="no question 'rat'"):
        show_question(exercises, "rat")


def test_the_axis_of_a_reconciliation_says_what_was_predicted(exercises: LessonExercises) -> None:
    exercises.predict("guess", "0.8")
    figure = show_reconciliation(exercises, "guess", 0.7).figure_svg
    assert ">AUC without duration</text>" in figure and ">Value</text>" not in figure
