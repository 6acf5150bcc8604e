"""Every question of every lesson: solution, untouched cell, and the wrong answers people give."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from course_lib.exercises import Feedback, open_exercises
from course_lib.exercises.marking.trial import FunctionOnTrial
from course_lib.exercises.questions import (
    ArtefactQuestion,
    ChoiceQuestion,
    CodeQuestion,
    MatchingQuestion,
    NumberQuestion,
    OrderingQuestion,
    PredictionQuestion,
    Question,
    load_questions,
    question_files,
)

_ALL = [
    pytest.param(name, question, id=f"{name}/{question.id}")
    for name, path in question_files().items()
    for question in load_questions(path).questions
]
_MARKED = [case for case in _ALL if not isinstance(case.values[1], PredictionQuestion)]
_GUESSED = [case for case in _ALL if isinstance(case.values[1], PredictionQuestion)]


def _function(source: str, name: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {}
    exec(source, namespace)
    return namespace[name]


@cache
def _artefact(source: str, variable: str) -> Any:
    """Make an artefact once for all tests; it lies in the home of the test that came first."""
    return _function(source, variable)


def _solution(question: Question) -> Any:
    if isinstance(question, ArtefactQuestion):
        return _artefact(question.reference, question.variable)
    if isinstance(question, CodeQuestion):
        return _function(question.reference, question.function)
    if isinstance(question, ChoiceQuestion) and not question.several:
        return question.answer[0]
    return question.answer


def _untouched(question: Question) -> Iterator[Any]:
    yield from (None, ..., "", "  ", "...", [], {})
    if isinstance(question, MatchingQuestion):
        yield {item.id: ... for item in question.items}
    if isinstance(question, ArtefactQuestion):
        yield _function(question.stub, question.variable)
    if isinstance(question, CodeQuestion):
        yield _function(question.stub, question.function)
        yield lambda *arguments: None
        yield lambda *arguments: ...


def _wrong(question: Question) -> Iterator[tuple[list[Any], str]]:
    """Yield each explained mistake as answers that show it, and the explanation."""
    for wrong in question.wrong:
        if isinstance(question, NumberQuestion):
            answers: list[Any] = [wrong.answer]
        elif isinstance(question, MatchingQuestion):
            answers = [{**question.answer, wrong.item: wrong.target}]
        elif isinstance(question, CodeQuestion):
            answers = [_function(wrong.example, question.function)]
        elif isinstance(question, ArtefactQuestion):
            answers = [_artefact(wrong.example, question.variable)]
        elif isinstance(question, OrderingQuestion):
            first, second = wrong.ahead
            others = [item for item in question.answer if item != first]
            place = others.index(second)
            behind = [item for item in question.answer if item != second]
            after = behind.index(first) + 1
            swapped = [{first: second, second: first}.get(item, item) for item in question.answer]
            answers = [
                [*others[:place], first, *others[place:]],
                [*behind[:after], second, *behind[after:]],
                swapped,
            ]
        elif wrong.chosen:
            answers = [[*question.answer, wrong.chosen] if question.several else wrong.chosen]
        else:
            answers = [[name for name in question.answer if name != wrong.missing]]
        yield answers, wrong.explanation


def _gives_away(question: Question, answer: Any, feedback: Feedback) -> list[str]:
    """Return what the feedback says of the right answer though the learner did not type it."""
    said = "\n".join([feedback.message, feedback.hint, *feedback.hints, repr(feedback)])
    typed = repr(answer)
    if isinstance(question, NumberQuestion):
        number = f"{question.expected.value:g}"
        return (
            [number]
            if re.search(rf"(?<![\d.]){re.escape(number)}(?!\d|\.\d)", said.replace(typed, ""))
            else []
        )
    if isinstance(question, ChoiceQuestion):
        right = [
            option for option in question.options if option.id in question.answer and option.id not in typed
        ]
        named = [
            o.id
            for o in right
            if re.search(rf"`{o.id}`|option {o.id}\b|\b{o.id}(?=[,.:;)]| \(|$)", said, re.M)
        ]
        return named + [option.text for option in right if option.text in said]
    if isinstance(question, OrderingQuestion):
        return [text for text in (", ".join(question.answer), "".join(question.answer)) if text in said]
    if isinstance(question, MatchingQuestion):
        texts = {target.id: target.text for target in question.targets}
        wrong = [item for item, target in answer.items() if question.answer[item] != target]
        rights = {question.answer[item] for item in wrong} if len(wrong) == 1 else set()
        return [r for right in rights for r in (right, texts[right]) if r.casefold() in said.casefold()]
    return [question.reference] if question.reference.splitlines()[-1].strip() in said else []


@pytest.fixture(autouse=True)
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an endless function wait for a short time only."""
    monkeypatch.setattr(FunctionOnTrial.__init__, "__defaults__", (0.5,))


@pytest.mark.parametrize(("name", "question"), _MARKED)
def test_the_solution_is_right(name: str, question: Question) -> None:
    feedback = open_exercises(name).submit(question.id, _solution(question))
    assert feedback.status == "correct", feedback
    assert feedback.saved and not feedback.save_problem
    assert feedback.hint == ""


@pytest.mark.parametrize(
    ("name", "question"), [c for c in _MARKED if isinstance(c.values[1], ArtefactQuestion)]
)
def test_an_artefact_leaves_its_digest_on_record_and_nothing_else(
    name: str, question: ArtefactQuestion
) -> None:
    exercises = open_exercises(name)
    answer = _solution(question)
    exercises.submit(question.id, answer)
    kept = exercises.state(question.id).answer
    opened = import_module(f"course_lib.exercises.checks.{question.check}").opened(answer)
    assert kept == f"sha256 {opened.digest}"
    file = exercises.progress.path.read_text(encoding="utf-8")
    place = answer if isinstance(answer, Path) else answer.folder
    assert str(place) not in file and place.name not in file


@pytest.mark.parametrize(("name", "question"), _ALL)
def test_an_untouched_answer_is_not_attempted(name: str, question: Question) -> None:
    exercises = open_exercises(name)
    answers = _untouched(question) if not isinstance(question, PredictionQuestion) else (None, ..., "")
    for answer in answers:
        feedback = exercises.submit(question.id, answer)
        assert feedback.status == "not_attempted", (answer, feedback)
        assert feedback.attempts == 0 and not feedback.solution_available
    assert not exercises.progress.path.exists()


@pytest.mark.parametrize(("name", "question"), _MARKED)
def test_each_typical_mistake_gets_its_own_explanation(name: str, question: Question) -> None:
    exercises = open_exercises(name)
    explanations = [explanation for _, explanation in _wrong(question)]
    assert len(set(explanations)) == len(explanations) >= 2
    for answers, explanation in _wrong(question):
        replies = [exercises.submit(question.id, answer) for answer in answers]
        assert all(reply.status == "wrong" for reply in replies), replies
        assert any(explanation in reply.message for reply in replies), (answers, explanation, replies)


@pytest.mark.parametrize(("name", "question"), _MARKED)
def test_no_reply_gives_the_answer_away(name: str, question: Question) -> None:
    exercises = open_exercises(name)
    for answers, _ in _wrong(question):
        for answer in answers:
            feedback = exercises.submit(question.id, answer)
            assert _gives_away(question, answer, feedback) == []


def test_the_search_for_given_away_answers_finds_them() -> None:
    for name, question in (case.values for case in _MARKED):
        if isinstance(question, OrderingQuestion):
            continue
        exercises = open_exercises(name)
        answer = next(_wrong(question))[0][0]
        exercises.submit(question.id, answer)
        told = Feedback(question.id, question.title, "wrong", exercises.solution(question.id).markdown)
        typed = "" if isinstance(question, ChoiceQuestion) else answer
        assert _gives_away(question, typed, told), question.id


@pytest.mark.parametrize(("name", "question"), _MARKED)
def test_one_hint_more_at_each_wrong_attempt(name: str, question: Question) -> None:
    exercises = open_exercises(name)
    answer = next(_wrong(question))[0][0]
    for number in range(len(question.hints) + 2):
        feedback = exercises.submit(question.id, answer)
        given = min(number + 1, len(question.hints))
        assert feedback.hints == question.hints[:given]
        assert feedback.hint == question.hints[given - 1]
        assert feedback.attempts == number + 1


@pytest.mark.parametrize(("name", "question"), _MARKED)
def test_an_answer_of_the_wrong_type_does_not_count(name: str, question: Question) -> None:
    exercises = open_exercises(name)
    for answer in (3.5j, object(), b"bytes", True, range(3)):
        feedback = exercises.submit(question.id, answer)
        assert feedback.status == "invalid", answer
        assert feedback.attempts == 0 and not feedback.solution_available, answer


@pytest.mark.parametrize(("name", "question"), _GUESSED)
def test_predictions_are_recorded_and_never_wrong(name: str, question: PredictionQuestion) -> None:
    exercises = open_exercises(name)
    guess = question.options[0].id if question.options else question.placeholder
    assert exercises.predict(question.id, guess).status == "recorded"
    assert exercises.predict(question.id, {"a": 1}).status == "invalid"
    reply = exercises.reconcile(question.id, guess)
    assert reply.predicted and reply.message in (question.close, question.same)


def test_stubs_and_references_run_as_they_are_shown() -> None:
    for case in _MARKED:
        question = case.values[1]
        if isinstance(question, CodeQuestion):
            assert callable(_function(question.stub, question.function))
            assert callable(_function(question.reference, question.function))
