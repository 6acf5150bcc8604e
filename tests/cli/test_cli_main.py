from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import click
import pytest

from course_lib.cli.main import course


def every_command() -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []

    def visit(words: str, command: click.Command) -> None:
        found.append((words, command))
        if isinstance(command, click.Group):
            for name, child in command.commands.items():
                visit(f"{words} {name}", child)

    visit("course", course)
    return found


@pytest.mark.parametrize(("words", "command"), every_command(), ids=lambda value: str(value)[:30])
def test_every_command_explains_itself_with_an_example(words: str, command: click.Command) -> None:
    assert command.help and command.help.splitlines()[0].endswith((".", ";"))
    if words != "course":
        assert f"  {words}" in command.help, "an example that starts with the command's own words"


@pytest.mark.parametrize("words", ["", "--help", "run --help", "data --help"])
def test_help_ends_well(workbook: Any, words: str) -> None:
    done = workbook.course(*words.split())
    assert "Usage: course" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("rnu", "No such command 'rnu'"),
        ("run", "Missing argument"),
        ("run 99", "There is no lesson 99: expected one of 01 (first)"),
        ("run 01 --cell-timeout soon", "'soon' is not a valid float"),
        ("doctor --jsno", "No such option"),
        ("data show nothing", "no data manifest called 'nothing'"),
        ("leakage audit bank_marketing --at noon", "no decision moment 'noon'"),
        ("leakage audit bank_marketing --at before_call --csv missing.csv", "missing.csv"),
        ("notes 01", "Lesson 01 has no readable instructor's notes"),
        ("progress verify nowhere.json", "nowhere.json"),
        ("notebook restore 01", "git history"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(workbook: Any, words: str, sentence: str) -> None:
    workbook.add_notebook("01_first.ipynb", "1")
    done = workbook.course(*words.split())
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_doctor_says_as_json_what_it_says_in_words(workbook: Any) -> None:
    done = workbook.course("doctor", "--json")
    content = json.loads(done.stdout)
    assert content["schema_version"] == 1
    assert content["ready"] is (done.returncode == 0) is True
    names = [check["name"] for check in content["checks"]]
    words = workbook.course("doctor").stdout
    assert {"Python", "packages", "cores", "memory", "free disk", "shared memory", "GPU"} <= set(names)
    assert all(name in words for name in names if not name.startswith("data"))
    assert "This machine is ready" in words


def test_doctor_names_a_broken_mirror_and_ends_with_1(workbook: Any, tmp_path: Path) -> None:
    done = workbook.course("doctor", COURSE_DATA=str(tmp_path / "not there"))
    assert done.returncode == 1
    assert "PROBLEM" in done.stdout and "COURSE_DATA" in done.stdout


def test_warnings_are_sentences_too(workbook: Any, course_home: Path) -> None:
    (course_home / "settings.json").write_text("{", encoding="utf-8")
    done = workbook.course("data", "status")
    assert done.returncode == 0
    assert done.stderr.startswith("course: ") and "settings.json" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_mirror_may_be_given_relative_to_where_the_person_is(workbook: Any) -> None:
    (workbook.root.parent / "stick").mkdir()
    workbook.add_notebook("01_first.ipynb", "import os; assert os.path.isabs(os.environ['COURSE_DATA'])")
    assert workbook.course("run", "01", COURSE_DATA="stick").returncode == 0


def test_notes_are_printed_as_they_are_into_a_pipe(workbook: Any) -> None:
    workbook.add_notebook("01_first.ipynb", "1")
    text = "# Lesson 01\n\nAsk first: *why?* – é\n"
    (workbook.root / "notebooks" / "instructor" / "01_first.md").write_text(text, encoding="utf-8")
    assert workbook.course("notes", "1").stdout == text


def test_show_names_licence_files_and_when_fields_are_known(workbook: Any) -> None:
    shown = workbook.course("data", "show", "bank_marketing", "--variant", "full").stdout
    assert "Licence: " in shown and "bank_marketing (full)" in shown
    duration = next(line for line in shown.splitlines() if line.strip().startswith("duration"))
    assert "seconds" in duration and "after_call" in duration


@pytest.mark.parametrize("variant", ["additional-full", "full"])
def test_audit_names_duration_and_the_doubtful_fields(workbook: Any, variant: str) -> None:
    words = ("leakage", "audit", "bank_marketing", "--variant", variant, "--at", "before_call")
    audit = json.loads(workbook.course(*words, "--json").stdout)
    assert audit["not_usable"] == ["duration"]
    assert "campaign" in audit["doubtful"]
    table = workbook.course(*words).stdout
    duration = next(line for line in table.splitlines() if line.strip().startswith("duration"))
    assert "not usable" in duration


def test_audit_of_a_file_refuses_columns_that_nobody_described(workbook: Any, tmp_path: Path) -> None:
    from course_lib.manifests import load_manifest

    features = [field.name for field in load_manifest("bank_marketing").fields if field.role == "feature"]
    file = tmp_path / "calls.csv"
    words = ("leakage", "audit", "bank_marketing", "--at", "before_call", "--csv", str(file), "--json")
    file.write_text(";".join([*features, "score"]) + "\n", encoding="utf-8")
    audit = json.loads(workbook.course(*words).stdout)
    assert audit["undescribed"] == ["score"]
    assert [field["field"] for field in audit["fields"]] == [*features, "score"]
    file.write_text(";".join(features[1:]) + "\n", encoding="utf-8")
    refused = workbook.course(*words)
    assert refused.returncode == 2 and "age" in refused.stderr


def test_progress_is_exported_and_verified(workbook: Any, tmp_path: Path) -> None:
    assert "No question has been answered yet" in workbook.course("progress", "show").stdout
    file = tmp_path / "mine.json"
    assert workbook.course("progress", "export", str(file), "--learner", "Ada L.").returncode == 0
    assert "is unchanged since its export" in workbook.course("progress", "verify", str(file)).stdout
    file.write_text(file.read_text(encoding="utf-8").replace("Ada", "Eve"), encoding="utf-8")
    assert "was changed after it was exported" in workbook.course("progress", "verify", str(file)).stderr


def test_progress_shows_attempts(workbook: Any) -> None:
    from course_lib.exercises.progress import Event, Progress

    Progress().add(Event("attempt", "01_first/q1", "choice", "b", "wrong"))
    Progress().add(Event("attempt", "01_first/q1", "choice", "a", "correct"))
    shown = workbook.course("progress", "show").stdout
    row = next(line for line in shown.splitlines() if "01_first/q1" in line)
    assert row.split() == ["01_first/q1", "choice", "2", "solved"]


def _is_one_sentence(done: Any) -> bool:
    return done.stderr.startswith("course: ") and len(done.stderr.strip().splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="arguments are always text on Windows")
def test_a_name_that_is_no_text_is_refused(workbook: Any, tmp_path: Path) -> None:
    done = workbook.course("progress", "export", str(tmp_path / "f"), "--learner", os.fsdecode(b"A\xff"))
    assert done.returncode == 2
    assert _is_one_sentence(done) and "--learner" in done.stderr
    assert not (tmp_path / "f").exists()


def test_a_folder_of_an_unknown_user_is_one_sentence(workbook: Any) -> None:
    done = workbook.course("progress", "show", COURSE_HOME="~nosuchuser/x")
    assert done.returncode == 2 and _is_one_sentence(done)


def test_a_file_name_that_is_too_long_is_one_sentence(workbook: Any) -> None:
    done = workbook.course("progress", "verify", "x" * 300)
    assert done.returncode == 2 and _is_one_sentence(done)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("words", ["data show bank_marketing", "data status --json"])
def test_an_output_that_is_full_is_one_sentence(workbook: Any, words: str) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(**workbook.process(*words.split()), stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 2 and _is_one_sentence(done)
        done = subprocess.run(**workbook.process("rnu"), stderr=full, stdout=subprocess.PIPE)
        assert done.returncode == 2


@pytest.mark.skipif(os.name == "nt", reason="a pipe without a reader")
@pytest.mark.parametrize("words", ["data show bank_marketing", "data status --json", "--help"])
def test_a_reader_that_went_away_is_no_trouble(workbook: Any, words: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(**workbook.process(*words.split()), stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
