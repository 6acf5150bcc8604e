"""A question on an artefact takes the notebook's newest variable, or a folder that is typed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import LessonExercises, open_exercises
from course_lib.widgets import show_question
from course_lib.widgets.answer_inputs import ArtefactInput
from course_lib.widgets.questions import QuestionView

QID = "own_manifest"


@pytest.fixture
def exercises() -> LessonExercises:
    return open_exercises("03")


@pytest.fixture
def handed_in(exercises: LessonExercises, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect what the Check button hands in; it is submitted as a folder that is not there."""
    answers: list[Any] = []
    submit = exercises.submit
    monkeypatch.setattr(
        exercises, "submit", lambda qid, answer: answers.append(answer) or submit(qid, "nowhere at all")
    )
    return answers


def _input(view: QuestionView) -> ArtefactInput:
    view.widget()
    assert isinstance(view.answer, ArtefactInput)
    return view.answer


def test_the_newest_variable_is_taken_and_a_typed_folder_before_it(
    exercises: LessonExercises, handed_in: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import __main__

    view = show_question(exercises, QID, artefact=Path("first"))
    answer = _input(view)
    view.parts["check"].click()
    monkeypatch.setattr(__main__, "my_manifest", Path("second"), raising=False)
    view.parts["check"].click()
    answer.path.value = ' "a folder" '
    view.parts["check"].click()
    assert handed_in == [Path("first"), Path("second"), "a folder"]


def test_the_stub_is_shown_and_untouched_it_does_not_count(exercises: LessonExercises) -> None:
    view = show_question(exercises, QID, artefact=...)
    answer = _input(view)
    assert "my_manifest = ..." in answer.widget.children[0].value
    view.parts["check"].click()
    assert "Not attempted." in view.parts["feedback"].value and exercises.state(QID).attempts == 0


def test_what_cannot_be_opened_is_said_and_does_not_count(
    exercises: LessonExercises, handed_in: list[Any]
) -> None:
    view = show_question(exercises, QID)
    _input(view).path.value = "nowhere at all"
    view.parts["check"].click()
    assert "Not an answer yet." in view.parts["feedback"].value and exercises.state(QID).attempts == 0


def test_a_kept_digest_is_not_shown_as_a_folder(exercises: LessonExercises) -> None:
    answer = _input(show_question(exercises, QID))
    answer.restore("sha256 " + "0" * 64)
    assert answer.path.value == "" and answer.answer is None


def test_an_artefact_goes_with_its_own_kind_of_question_only(exercises: LessonExercises) -> None:
    with pytest.raises(CourseError, match="takes no artefact"):
        show_question(exercises, "carve_out", artefact=Path("x"))
    with pytest.raises(CourseError, match="takes no function"):
        show_question(exercises, QID, function=print)
