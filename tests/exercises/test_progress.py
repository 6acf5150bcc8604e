"""Progress is on the disk at once, and never lost without a word."""

from __future__ import annotations

import json
import multiprocessing
import warnings
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import Progress, all_lessons_summary, open_exercises, verify_export
from course_lib.exercises.progress import Event


def _solve(exercises) -> None:
    assert exercises.submit("campaign", "B").status == "correct"


def test_a_new_kernel_sees_everything(course_home: Path) -> None:
    first = open_exercises("01")
    first.submit("campaign", "A")
    first.submit("campaign", "B")
    first.submit("honest_share", "74%")
    first.predict("without_duration", "0.1")
    again = open_exercises("01")
    assert again.progress.path == course_home / "progress" / "progress.json"
    assert again.state("campaign").status == "correct" and again.state("campaign").attempts == 2
    assert again.state("honest_share").status == "wrong" and again.state("honest_share").answer == "74%"
    assert len(again.state("honest_share").hints) == 1
    assert again.state("without_duration").status == "recorded"
    assert again.summary() == first.summary()


def test_a_solved_question_stays_solved(course_home: Path) -> None:
    exercises = open_exercises("01")
    _solve(exercises)
    assert exercises.submit("campaign", "A").status == "wrong"
    assert exercises.state("campaign").status == "correct"
    assert exercises.summary().solved == 1


def test_the_file_holds_answer_status_and_time_and_a_version(course_home: Path) -> None:
    exercises = open_exercises("01")
    exercises.submit("campaign", "A")
    content = json.loads(exercises.progress.path.read_text(encoding="utf-8"))
    assert content["version"] == 1
    record = content["questions"]["01_prediction_time/campaign"]
    assert record["attempts"] == 1 and record["kind"] == "choice"
    (attempt,) = record["history"]
    assert attempt["answer"] == "A" and attempt["status"] == "wrong" and attempt["utc"].endswith("+00:00")


def test_the_history_is_bounded_and_the_count_goes_on(course_home: Path) -> None:
    progress = Progress()
    for number in range(25):
        progress.add(Event("attempt", "01_x/q", "choice", number))
    record = Progress().record("01_x/q")
    assert record is not None
    assert record.attempts == 25
    assert [attempt.answer for attempt in record.history] == list(range(5, 25))


def test_a_guess_of_another_notebook_does_not_replace_the_one_before_the_measurement(
    course_home: Path,
) -> None:
    progress = Progress()
    for what, value in (("prediction", "0.1"), ("measurement", "0.15"), ("prediction", "0.15")):
        progress.add(Event(what, "01_x/q", "prediction", value))  # type: ignore[arg-type]
    record = Progress().record("01_x/q")
    assert record is not None and (record.predicted, record.measured) == ("0.1", "0.15")


def test_two_notebooks_open_at_once_keep_each_others_answers(course_home: Path) -> None:
    one, two = open_exercises("01"), open_exercises("01")
    one.submit("campaign", "A")
    two.submit("campaign", "C")
    two.submit("both_leaks", "A")
    one.submit("faster_reading", "B")
    assert open_exercises("01").state("campaign").attempts == 2
    assert open_exercises("01").summary().attempted == 3
    assert one.summary() == two.summary()


def _answer_many(path: str, name: str) -> None:
    progress = Progress(Path(path))
    for number in range(15):
        progress.add(Event("attempt", "01_x/shared", "choice", number))
        progress.add(Event("attempt", f"01_x/{name}{number}", "choice", number))


def test_two_processes_lose_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    path = str(tmp_path / "progress.json")
    processes = [context.Process(target=_answer_many, args=(path, name)) for name in "ab"]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    records = Progress(Path(path)).records()
    assert records["01_x/shared"].attempts == 30
    assert len(records) == 31


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b'{"version": 1, "questi',
        b"\xff\xfe\x00",
        b"[]",
        b'{"version": 1, "questions": {"a": 5}}',
        b"[" * 100_000,
    ],
    ids=["empty", "cut", "binary", "list", "schema", "deep"],
)
def test_a_damaged_file_is_said_at_once_and_set_aside(course_home: Path, damage: bytes) -> None:
    path = course_home / "progress" / "progress.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(damage)
    with pytest.warns(UserWarning, match="damaged: it was set aside"):
        exercises = open_exercises("01")
    assert "set aside" in exercises.problem
    (aside,) = path.parent.glob("progress.damaged-*.json")
    assert aside.read_bytes() == damage
    feedback = exercises.submit("campaign", "B")
    assert feedback.saved and aside.name in feedback.save_problem
    assert exercises.submit("campaign", "B").save_problem == ""
    assert open_exercises("01").state("campaign").attempts == 2


def test_damage_while_the_kernel_runs_loses_nothing(course_home: Path) -> None:
    exercises = open_exercises("01")
    _solve(exercises)
    exercises.progress.path.write_bytes(b"{")
    feedback = exercises.submit("both_leaks", "A")
    assert feedback.saved and "set aside" in feedback.save_problem
    assert open_exercises("01").state("campaign").status == "correct"
    assert open_exercises("01").state("both_leaks").status == "wrong"


def test_two_damaged_files_are_both_kept(course_home: Path) -> None:
    exercises = open_exercises("01")
    for damage in (b"1", b"2"):
        _solve(exercises)
        exercises.progress.path.write_bytes(damage)
    _solve(exercises)
    kept = sorted(p.read_bytes() for p in exercises.progress.path.parent.glob("progress.damaged-*.json"))
    assert kept == [b"1", b"2"]


def _block(course_home: Path) -> Path:
    """Put a file where the folder should be, which nobody can write into, whoever runs the test."""
    blocker = course_home / "progress"
    blocker.write_text("in the way", encoding="utf-8")
    return blocker


def test_unwritable_is_said_at_once_and_answers_stay_in_memory(course_home: Path, tmp_path: Path) -> None:
    blocker = _block(course_home)
    exercises = open_exercises("01")
    feedback = exercises.submit("campaign", "A")
    assert not feedback.saved
    assert "could not be written" in feedback.save_problem and "export" in feedback.save_problem
    assert feedback.attempts == 1 and feedback.hint
    assert exercises.submit("campaign", "B").attempts == 2
    assert exercises.summary().solved == 1
    exported = verify_export(exercises.progress.export(tmp_path / "mine.json", learner="Ada"))
    assert exported.questions["01_prediction_time/campaign"].attempts == 2
    blocker.unlink()
    feedback = exercises.submit("both_leaks", "A")
    assert feedback.saved and feedback.save_problem == ""
    assert exercises.problem == ""
    assert open_exercises("01").state("campaign").status == "correct"


def test_a_failing_disk_is_said_and_the_old_file_stays(
    course_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercises = open_exercises("01")
    _solve(exercises)
    before = exercises.progress.path.read_bytes()

    def full(*arguments: object) -> None:
        raise CourseError("progress.json could not be written", found="No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("course_lib.exercises.progress.write_atomically", full)
        feedback = exercises.submit("both_leaks", "A")
        assert not feedback.saved and "No space left" in feedback.save_problem
    assert exercises.progress.path.read_bytes() == before
    _solve(exercises)
    assert open_exercises("01").state("both_leaks").attempts == 1


def test_a_file_of_a_newer_workbook_is_left_alone(course_home: Path) -> None:
    path = course_home / "progress" / "progress.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 2, "questions": []}', encoding="utf-8")
    with pytest.warns(UserWarning, match="newer version"):
        exercises = open_exercises("01")
    feedback = exercises.submit("campaign", "B")
    assert not feedback.saved and "newer version" in feedback.save_problem
    assert path.read_text(encoding="utf-8") == '{"version": 2, "questions": []}'
    assert exercises.summary().solved == 1


def test_a_deleted_file_is_a_fresh_start_for_the_next_kernel(course_home: Path) -> None:
    exercises = open_exercises("01")
    _solve(exercises)
    exercises.progress.path.unlink()
    assert open_exercises("01").summary().solved == 0
    assert exercises.summary().solved == 1 and "stop the kernel before" in exercises.problem


def test_reading_alone_writes_nothing_and_warns_of_nothing(course_home: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        all_lessons_summary()
        open_exercises("01").questions()
    assert list(course_home.iterdir()) == []


def test_an_export_is_one_file_that_shows_a_change(course_home: Path, tmp_path: Path) -> None:
    exercises = open_exercises("01")
    _solve(exercises)
    path = exercises.progress.export(tmp_path / "hand in.json", learner="Zoë")
    checked = verify_export(path)
    assert checked.learner == "Zoë"
    assert checked.questions["01_prediction_time/campaign"].solved_utc
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content), encoding="utf-8")
    assert verify_export(path) == checked
    content["questions"]["01_prediction_time/campaign"]["attempts"] = 7
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CourseError, match="changed after it was exported"):
        verify_export(path)


def test_an_export_goes_into_a_folder_and_over_an_older_export_only(
    course_home: Path, tmp_path: Path
) -> None:
    progress = Progress()
    assert progress.export(tmp_path) == tmp_path / "my_progress.json"
    assert progress.export(tmp_path) == tmp_path / "my_progress.json"
    other = tmp_path / "thesis.json"
    other.write_text("{}", encoding="utf-8")
    with pytest.raises(CourseError, match="choose another name"):
        progress.export(other)
    assert other.read_text(encoding="utf-8") == "{}"


@pytest.mark.parametrize("content", [None, "{", "[1]", "{}"])
def test_what_is_no_export_is_refused_by_name(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "something.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(CourseError, match=r"something\.json"):
        verify_export(path)
