"""Opening lessons, predictions, solutions and the summary for the map."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import all_lessons_summary, lesson_names, open_exercises
from course_lib.exercises.progress import Event
from course_lib.units import Quantity


@pytest.mark.parametrize("lesson", ["1", "01", 1, "01_prediction_time", " 01 "])
def test_a_lesson_opens_by_number_or_name(lesson: str | int) -> None:
    assert open_exercises(lesson).name == "01_prediction_time"


@pytest.mark.parametrize("lesson", ["99", 99, -1, "", "prediction", "001", None])
def test_an_unknown_lesson_is_refused_with_those_there_are(lesson: str | int) -> None:
    with pytest.raises(CourseError, match="00_start_here, 01_prediction_time"):
        open_exercises(lesson)


def test_an_unknown_question_is_refused_with_the_nearest() -> None:
    exercises = open_exercises("01")
    for call in (exercises.show, exercises.solution, exercises.state):
        with pytest.raises(CourseError, match="did you mean 'campaign'"):
            call("campain")
    with pytest.raises(CourseError, match="no question"):
        exercises.submit("campain", "B")


def test_the_solution_opens_after_an_attempt_only() -> None:
    exercises = open_exercises("01")
    with pytest.raises(CourseError, match="opens after an attempt"):
        exercises.solution("campaign")
    exercises.submit("campaign", ...)
    exercises.submit("campaign", 5)
    with pytest.raises(CourseError, match="opens after an attempt"):
        exercises.solution("campaign")
    exercises.submit("campaign", "A")
    assert "Subtract one" in exercises.solution("campaign").text
    record = exercises.progress.record("01_prediction_time/campaign")
    assert record is not None and record.solution_opened_utc


def test_a_prediction_is_set_beside_the_measurement() -> None:
    exercises = open_exercises("01")
    assert exercises.predict("without_duration", "0.05").status == "recorded"
    reply = exercises.reconcile("without_duration", 0.15231)
    assert reply.predicted == "0.05" and reply.measured == "0.1523"
    assert reply.difference == "That is 0.1023 above your guess."
    assert reply.message == exercises.question("without_duration").higher
    assert reply.saved
    assert (
        exercises.reconcile("without_duration", 0.01).message == exercises.question("without_duration").lower
    )
    assert exercises.state("without_duration").status == "reconciled"


def test_a_guess_may_change_before_the_measurement_and_stays_after_it() -> None:
    exercises = open_exercises("01")
    exercises.predict("without_duration", 0.05)
    exercises.predict("without_duration", "0.1")
    exercises.reconcile("without_duration", 0.152)
    assert "0.1, stays on record" in exercises.predict("without_duration", "0.152").message
    assert open_exercises("01").reconcile("without_duration", 0.152).predicted == "0.1"


def test_reconciling_without_a_guess_or_a_run_is_no_error() -> None:
    exercises = open_exercises("01")
    reply = exercises.reconcile("without_duration", 0.152)
    assert reply.predicted == "" and "No prediction was recorded" in repr(reply)
    assert not reply.saved and not exercises.progress.path.exists()
    assert "Run the cell" in exercises.reconcile("without_duration", None).message


def test_durations_are_compared_as_a_factor() -> None:
    exercises = open_exercises("00")
    exercises.predict("table_load_time", "2 s")
    for measured in (0.5, "500 ms", Quantity(500, "ms")):
        reply = exercises.reconcile("table_load_time", measured)
        assert reply.measured == "500 ms"
        assert reply.difference == "That is 0.25 times your guess."


def test_predictions_and_questions_are_not_mixed_up() -> None:
    exercises = open_exercises("01")
    with pytest.raises(CourseError, match="is a question"):
        exercises.predict("campaign", "B")
    with pytest.raises(CourseError, match="has no solution"):
        exercises.solution("without_duration")
    with pytest.raises(CourseError, match="could not be read"):
        exercises.reconcile("without_duration", "a lot")
    assert exercises.submit("without_duration", "0.1").status == "recorded"
    assert exercises.predict("without_duration", "5 MB").status == "invalid"


def test_the_map_lists_lessons_that_have_exercises() -> None:
    exercises = open_exercises("01")
    exercises.submit("campaign", "B")
    exercises.submit("both_leaks", "A")
    exercises.predict("without_duration", "0.1")
    summaries = all_lessons_summary()
    assert [summary.name for summary in summaries] == list(lesson_names())
    done = summaries[1]
    assert (done.lesson, done.solved, done.attempted, done.total) == ("01", 1, 2, 9)
    assert (done.predicted, done.predictions) == (1, 3)
    assert (summaries[0].solved, summaries[0].attempted) == (0, 0)


def test_every_question_shows_its_options_and_the_call_that_answers_it() -> None:
    for name in lesson_names():
        exercises = open_exercises(name)
        whole = exercises.questions()
        for qid in exercises.question_ids:
            question, page = exercises.question(qid), exercises.show(qid)
            assert question.prompt in page.text and f'("{qid}"' in page.text
            assert page.markdown in whole.markdown
            for option in (*getattr(question, "options", ()), *getattr(question, "items", ())):
                assert option.text in page.text
            assert repr(page) == page.text and page._repr_markdown_() == page.markdown


def test_feedback_reads_well_as_text_and_as_markdown() -> None:
    feedback = open_exercises("01").submit("campaign", "A")
    assert repr(feedback).startswith("Not yet: A field that is almost known\n\nYou answered A")
    assert "**Hint 1.**" in feedback._repr_markdown_()
    assert "**" not in repr(feedback)
    assert 'exercises.solution("campaign")' in repr(feedback)


def test_importing_the_package_loads_no_heavy_library() -> None:
    code = "import sys, course_lib.exercises; print({'pydantic', 'yaml', 'filelock'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def test_an_unreadable_guess_on_record_is_named(course_home: Path) -> None:
    exercises = open_exercises("01")
    exercises.progress.add(
        Event("prediction", "01_prediction_time/without_duration", "prediction", "rubbish")
    )
    with pytest.raises(CourseError, match="The guess on record"):
        exercises.reconcile("without_duration", 0.1)
    with pytest.raises(CourseError, match="The measured value"):
        exercises.reconcile("without_duration", "rubbish")
