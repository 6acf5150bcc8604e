"""The artefact kind: opened for real, marked by its properties, and only its digest goes on record."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from course_lib.exercises import LessonExercises
from course_lib.exercises.answers import InvalidAnswerError
from course_lib.exercises.marking.trial import PropertyFailedError
from course_lib.exercises.questions import load_questions

QUESTIONS = """
lesson: "98"
title: Artefacts
questions:
  - id: made
    kind: artefact
    title: A file of three lines
    prompt: Write one.
    variable: my_file
    check: three_lines
    stub: my_file = ...
    reference: my_file = "three.txt"
    hints: [Count., Count again.]
    solution: Three lines.
    wrong:
      - {symptom: short, explanation: A line is missing., example: my_file = "two.txt"}
      - {symptom: long, explanation: One too many., example: my_file = "four.txt"}
"""


@dataclass(frozen=True)
class _Opened:
    content: bytes

    @property
    def digest(self) -> str:
        return sha256(self.content).hexdigest()


def _opened(answer: object) -> _Opened:
    if not isinstance(answer, (str, Path)) or not Path(answer).is_file():
        raise InvalidAnswerError("There is no such file.")
    return _Opened(Path(answer).read_bytes())


def _check(artefact: _Opened) -> str:
    lines = artefact.content.count(b"\n")
    if lines != 3:
        raise PropertyFailedError(f"It has {lines} lines.", "short" if lines < 3 else "long")
    return "Three lines were counted."


@pytest.fixture
def exercises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> LessonExercises:
    module: Any = ModuleType("course_lib.exercises.checks.three_lines")
    module.opened, module.check = _opened, _check
    monkeypatch.setitem(sys.modules, module.__name__, module)
    file = tmp_path / "98_artefacts.yaml"
    file.write_text(QUESTIONS, encoding="utf-8")
    monkeypatch.setattr("course_lib.exercises.lesson.question_files", lambda: {file.stem: file})
    return LessonExercises(file.stem)


def _file(folder: Path, lines: int) -> Path:
    path = folder / "secret client list.txt"
    path.write_text("row of a client\n" * lines, encoding="utf-8", newline="\n")
    return path


@pytest.mark.parametrize("as_given", [Path, str])
def test_a_good_artefact_is_right_as_a_path_or_as_text(
    exercises: LessonExercises, tmp_path: Path, as_given: Any
) -> None:
    feedback = exercises.submit("made", as_given(_file(tmp_path, 3)))
    assert feedback.status == "correct" and feedback.message == "Three lines were counted."


@pytest.mark.parametrize(("lines", "words"), [(2, "A line is missing."), (4, "One too many.")])
def test_the_property_that_failed_is_said_with_its_explanation(
    exercises: LessonExercises, tmp_path: Path, lines: int, words: str
) -> None:
    feedback = exercises.submit("made", _file(tmp_path, lines))
    assert feedback.status == "wrong" and feedback.message == f"It has {lines} lines. {words}"
    assert feedback.attempts == 1 and feedback.hint == "Count."


@pytest.mark.parametrize("answer", [None, ..., "", "...", Path("...")])
def test_an_untouched_artefact_is_not_attempted(exercises: LessonExercises, answer: object) -> None:
    assert exercises.submit("made", answer).status == "not_attempted"


@pytest.mark.parametrize("answer", ["no such file", Path("nowhere"), 3, object(), [1]])
def test_what_cannot_be_opened_does_not_count(exercises: LessonExercises, answer: object) -> None:
    feedback = exercises.submit("made", answer)
    assert feedback.status == "invalid" and feedback.attempts == 0


@pytest.mark.parametrize("lines", [3, 2])
def test_the_digest_goes_on_record_and_neither_path_nor_contents(
    exercises: LessonExercises, tmp_path: Path, lines: int
) -> None:
    path = _file(tmp_path, lines)
    exercises.submit("made", path)
    kept = exercises.progress.path.read_text(encoding="utf-8")
    assert exercises.state("made").answer == f"sha256 {sha256(path.read_bytes()).hexdigest()}"
    assert "secret" not in kept and "client" not in kept


def test_page_and_solution_show_the_code_that_makes_it(exercises: LessonExercises, tmp_path: Path) -> None:
    page = exercises.show("made").markdown
    assert "my_file = ..." in page and 'exercises.submit("made", my_file)' in page
    exercises.submit("made", _file(tmp_path, 1))
    assert 'my_file = "three.txt"' in exercises.solution("made").markdown


def test_the_question_file_of_this_test_is_a_good_one(tmp_path: Path) -> None:
    path = tmp_path / "98_artefacts.yaml"
    path.write_text(QUESTIONS, encoding="utf-8")
    assert load_questions(path).questions[0].kind == "artefact"
