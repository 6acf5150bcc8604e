"""A small lesson with one question of each kind, free of any real lesson's wording."""

from __future__ import annotations

from pathlib import Path

import pytest

from course_lib.exercises import LessonExercises, lesson, open_exercises

QUESTIONS = """
lesson: "99"
title: A lesson for tests
questions:
  - id: rate
    kind: number
    title: Opens per second
    prompt: At `2 ms` an open, how many opens a second does **one** thread make?
    placeholder: 100 /s
    answer: 500 /s
    tolerance: 1%
    hints: [Divide one second by the time of one open., A second has 1000 ms.]
    solution: 1 s / 2 ms = 500 per second.
    wrong:
      - {answer: 2000 /s, explanation: That multiplies.}
      - {answer: 50 /s, explanation: A power of ten is missing.}
  - id: leak
    kind: choice
    title: Which field leaks?
    prompt: Which one is not known before the call?
    options:
      - id: A
        text: "`age`, the age of the person who is called, as the bank's own files have it, in whole years"
      - {id: B, text: "`duration` <b>in seconds</b>"}
      - {id: C, text: "`job`"}
    answer: B
    hints: [Think of the telephone., It is measured while people talk.]
    solution: The duration is known after the call.
    wrong:
      - {chosen: A, explanation: The age is known before.}
      - {chosen: C, explanation: The job is known before.}
  - id: both
    kind: choice
    several: true
    title: Which are known before?
    prompt: Tick them.
    options: [{id: A, text: age}, {id: B, text: duration}, {id: C, text: job}]
    answer: [A, C]
    hints: [Two., Not the duration.]
    solution: Age and job.
    wrong:
      - {chosen: B, explanation: Known after.}
      - {missing: C, explanation: The job is known.}
  - id: order
    kind: ordering
    title: In the order of time
    prompt: Put the moments in order.
    items:
      - {id: after, text: after the call}
      - {id: before, text: before the call}
      - {id: start, text: before the campaign}
    answer: [start, before, after]
    hints: [Start with the campaign., The call comes last.]
    solution: Campaign, then dialling, then after.
    wrong:
      - {ahead: [after, before], explanation: The call is over then.}
      - {ahead: [before, start], explanation: The campaign is planned first.}
  - id: match
    kind: matching
    title: When is it known?
    prompt: Give each field its moment.
    items: [{id: age, text: age}, {id: duration, text: duration of the last contact in seconds}]
    targets: [{id: early, text: before the call}, {id: late, text: after the call}]
    answer: {age: early, duration: late}
    hints: [Think., Think again.]
    solution: The age is known early.
    wrong:
      - {item: age, target: late, explanation: Known before.}
      - {item: duration, target: early, explanation: Known after.}
  - id: write
    kind: code
    title: Write usable_fields
    prompt: Return the names that may be used.
    function: usable_fields
    check: usable_fields
    stub: |
      def usable_fields(fields, at):
          ...
    reference: |
      def usable_fields(fields, at):
          return []
    hints: [Compare the moments., Doubtful ones are left out.]
    solution: See the code.
    wrong:
      - {symptom: a, explanation: x, example: "def usable_fields(fields, at): return [1]"}
      - {symptom: b, explanation: y, example: "def usable_fields(fields, at): return [2]"}
  - id: guess
    kind: prediction
    title: AUC without duration
    prompt: What AUC do you expect?
    placeholder: "0.75"
    close_within: "0.02"
    close: Close.
    lower: The field mattered more.
    higher: The field mattered less.
  - id: guess_word
    kind: prediction
    title: Which split is better?
    prompt: Which split gives the higher AUC?
    options: [{id: random, text: the random split}, {id: ordered, text: the ordered split}]
    same: As expected.
    other: The ordered split holds the future back.
"""


@pytest.fixture
def question_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make the exercises of one lesson, 99, the only ones there are."""
    file = tmp_path / "99_for_tests.yaml"
    file.write_text(QUESTIONS, encoding="utf-8")
    monkeypatch.setattr(lesson, "question_files", lambda: {file.stem: file})
    return tmp_path


@pytest.fixture
def exercises(question_folder: Path) -> LessonExercises:
    """Return the exercises of that lesson with the learner's (isolated) progress."""
    return open_exercises("99")
