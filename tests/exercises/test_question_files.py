"""A question file that is not as it should be is refused by file, question and field."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from course_lib.errors import CourseError
from course_lib.exercises.feedback import Reconciliation
from course_lib.exercises.lesson import LessonExercises
from course_lib.exercises.questions import load_questions

_CHOICE: dict[str, Any] = {
    "id": "pick",
    "kind": "choice",
    "title": "Pick one",
    "prompt": "Which?",
    "options": [{"id": "A", "text": "one"}, {"id": "B", "text": "two"}, {"id": "C", "text": "three"}],
    "answer": "B",
    "hints": ["look", "look again"],
    "wrong": [{"chosen": "A", "explanation": "no"}, {"chosen": "C", "explanation": "neither"}],
    "solution": "It is B.",
}
_NUMBER: dict[str, Any] = {
    **{key: _CHOICE[key] for key in ("title", "prompt", "hints", "solution")},
    "id": "rate",
    "kind": "number",
    "placeholder": "1 MB/s",
    "answer": "51.2 MB/s",
    "tolerance": "1%",
    "wrong": [{"answer": "1 MB/s", "explanation": "a"}, {"answer": "2 MB/s", "explanation": "b"}],
}
_GUESS: dict[str, Any] = {
    "id": "guess",
    "kind": "prediction",
    "title": "Which is slower?",
    "prompt": "Guess.",
    "options": [{"id": "A", "text": "open"}, {"id": "B", "text": "read"}],
    "same": "As you thought.",
    "other": "Not what you thought.",
}
_AUC: dict[str, Any] = {
    "id": "auc",
    "kind": "prediction",
    "title": "Which AUC?",
    "prompt": "Guess.",
    "placeholder": "0.8",
    "at_least": "0",
    "at_most": "1",
    "close_within": "0.03",
    "close": "Close.",
    "lower": "Less.",
    "higher": "More.",
}


def _write(
    folder: Path, *questions: dict[str, Any], name: str = "07_caches.yaml", lesson: str = "07"
) -> Path:
    path = folder / name
    path.write_text(
        yaml.safe_dump({"lesson": lesson, "title": "T", "questions": list(questions)}), encoding="utf-8"
    )
    return path


def test_a_good_file_is_read(tmp_path: Path) -> None:
    lesson = load_questions(_write(tmp_path, _CHOICE, _NUMBER, _GUESS))
    assert [question.id for question in lesson.questions] == ["pick", "rate", "guess"]


@pytest.mark.parametrize(
    ("question", "change", "says"),
    [
        (_CHOICE, {"answer": "D"}, "question 'pick', field wrong|question 'pick'.*answer: there is no D"),
        (_CHOICE, {"answer": ["A", "B"]}, "needs 'several: true'"),
        (_CHOICE, {"hints": ["one"]}, "question 'pick', field hints"),
        (_CHOICE, {"solution": ""}, "question 'pick', field solution"),
        (_CHOICE, {"solucion": "x"}, "question 'pick', field solucion"),
        (_CHOICE, {"kind": "riddle"}, "question 'pick'.*riddle"),
        (_CHOICE, {"id": "Pick!"}, "field id"),
        (
            _CHOICE,
            {"options": [{"id": "A", "text": "x"}, {"id": "a", "text": "y"}]},
            "options: the id a stands twice",
        ),
        (_CHOICE, {"options": [{"id": "A"}, {"id": "B", "text": "y"}]}, "field options.0.text"),
        (
            _CHOICE,
            {"wrong": [{"chosen": "A", "explanation": "no"}] * 2},
            "no explanation for the wrong option C",
        ),
        (_CHOICE, {"wrong": [{"explanation": "no"}] * 2}, "wrong.0"),
        (_CHOICE, {"wrong": [{"chosen": "B", "explanation": "no"}] * 2}, "part of the right answer"),
        (_NUMBER, {"answer": "51.2 mb/s"}, "question 'rate', field answer: .*bits or bytes"),
        (_NUMBER, {"answer": 51.2}, "question 'rate', field answer"),
        (_NUMBER, {"tolerance": "1 s"}, "tolerance: give a percentage"),
        (_NUMBER, {"unit": "GB/s"}, "unit: answer and placeholder"),
        (_NUMBER, {"wrong": [{"answer": "51.3 MB/s", "explanation": "a"}] * 2}, "within the tolerance"),
        (_GUESS, {"placeholder": "5 s"}, "question 'guess'.*for a number, or options"),
        (_GUESS, {"at_least": "0"}, "at_least, at_most: options have no ends"),
        (_AUC, {"at_most": "1 s"}, "at_most: 1 s is another kind of value than 0.8"),
        (_AUC, {"at_most": "one"}, "question 'auc'.*No number"),
        (_AUC, {"at_least": "0.9"}, "placeholder: it lies outside"),
    ],
)
def test_a_mistake_is_named(
    tmp_path: Path, question: dict[str, Any], change: dict[str, Any], says: str
) -> None:
    path = _write(tmp_path, {**copy.deepcopy(question), **change})
    with pytest.raises(CourseError, match=says) as caught:
        load_questions(path)
    assert "07_caches.yaml" in str(caught.value)


def test_the_same_id_twice_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="question 'pick', field id: the id stands twice"):
        load_questions(_write(tmp_path, _CHOICE, _CHOICE))


def test_another_lessons_number_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"07_caches\.yaml, field lesson: expected 07, found 08"):
        load_questions(_write(tmp_path, _CHOICE, lesson="08"))


@pytest.mark.parametrize(
    "text", ["lesson: [", "- 1\n- 2", "", "lesson: '07'", "lesson: '07'\ntitle: T\nquestions: [5]"]
)
def test_what_is_no_question_file_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "07_caches.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=r"07_caches\.yaml"):
        load_questions(path)


def test_a_guess_among_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _write(tmp_path, _GUESS)
    monkeypatch.setattr("course_lib.exercises.lesson.question_files", lambda: {"07_caches": path})
    exercises = LessonExercises("07_caches")
    assert exercises.predict("guess", "neither").status == "invalid"
    assert exercises.predict("guess", "open").status == "recorded"
    reply = exercises.reconcile("guess", "B")
    assert isinstance(reply, Reconciliation)
    assert (reply.predicted, reply.measured) == ("A (“open”)", "B (“read”)")
    assert reply.message == "Not what you thought."
    assert exercises.reconcile("guess", "A").message == "As you thought."


def _asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: dict[str, Any]) -> LessonExercises:
    path = _write(tmp_path, question)
    monkeypatch.setattr("course_lib.exercises.lesson.question_files", lambda: {"07_caches": path})
    return LessonExercises("07_caches")


@pytest.mark.parametrize(
    ("guess", "sentence"),
    [
        ("1.01", "1.01 cannot be: the value is at least 0 and at most 1"),
        (-0.1, "-0.1 cannot be"),
        ("85", 'at most 1; write "85%" for a percentage'),
        ("120%", "120% cannot be"),
    ],
)
def test_a_guess_outside_the_natural_ends_is_none(
    guess: object, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercises = _asked(tmp_path, monkeypatch, _AUC)
    reply = exercises.predict("auc", guess)
    assert reply.status == "invalid" and sentence in repr(reply)
    for good in ("0", 1, "85%", "0.85"):
        assert exercises.predict("auc", good).status == "recorded"


def test_a_guess_without_ends_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free = {name: value for name, value in _AUC.items() if name not in ("at_least", "at_most")}
    assert _asked(tmp_path, monkeypatch, free).predict("auc", "85").status == "recorded"
    factor = {**free, "at_least": "0"}
    exercises = _asked(tmp_path, monkeypatch, factor)
    assert "-2 cannot be: the value is at least 0." in repr(exercises.predict("auc", "-2"))


@pytest.mark.parametrize(
    ("guess", "shown"),
    [("200,000,000,000 bytes", "200 GB"), ("600 GB", "600 GB"), ("1.5 GiB", "1.5 GiB"), ("0.6 TB", "600 GB")],
)
def test_a_guess_of_bytes_is_shown_as_the_measurement_is(
    guess: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {**_AUC, "placeholder": "600 GB", "at_least": "0 B", "at_most": "", "close_within": "1%"}
    exercises = _asked(tmp_path, monkeypatch, sizes)
    exercises.predict("auc", guess)
    reply = exercises.reconcile("auc", "632 GB")
    assert isinstance(reply, Reconciliation)
    assert (reply.predicted, reply.measured) == (shown, "632 GB")
