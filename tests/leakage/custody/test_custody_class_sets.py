"""Cases for a class: the key lies apart, and verdict files are judged against it."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from course_lib.cli.custody import custody
from course_lib.errors import CourseError
from course_lib.leakage.custody import Bench, case_kinds, class_set, judge_verdicts


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return class_set(6, 77, tmp_path_factory.mktemp("class") / "cases")


def files_of(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def all_right(made, tmp_path, learner="Ada"):
    bench = Bench.opened(made.folder)
    key = json.loads(made.key.read_text("utf-8"))
    for number, case in enumerate(key["cases"].values(), start=1):
        bench.judge(number, kind=case["kind"], evidence=[names[0] for names in case["evidence"]])
    return bench.write_verdicts(tmp_path / f"{learner}.json", learner=learner)


def test_the_learners_folder_holds_neither_key_nor_seed(made):
    assert made.folder not in made.key.parents and made.key.is_file()
    files = files_of(made.folder)
    assert sorted({name.split("/")[0] for name in files}) == [
        *(f"case-{number:02d}" for number in range(1, 7)),
        "set.json",
    ]
    told = b"".join(content for name, content in files.items() if name.endswith(".json"))
    assert not [kind for kind in case_kinds() if kind.encode() in told]
    assert b"77" not in files["set.json"] and b'"seed": 77' not in told


def test_the_same_seed_gives_the_same_set_and_key(made, tmp_path):
    again = class_set(6, 77, tmp_path / "cases", key=tmp_path / "locked" / "k.json")
    assert files_of(again.folder) == files_of(made.folder)
    assert again.key.read_bytes() == made.key.read_bytes()


def test_without_a_seed_two_sets_differ(tmp_path):
    first, second = (class_set(1, None, tmp_path / name / "cases") for name in ("a", "b"))
    assert files_of(first.folder) != files_of(second.folder)


def test_a_learner_inspects_and_keeps_verdicts_but_gets_no_judgement(made):
    bench = Bench.opened(made.folder)
    assert bench.count == 6 and bench.case(1).inspect("class_counts").rows
    verdict = bench.judge(1, kind="clean")
    assert (verdict.outcome, verdict.score, verdict.final) == ("handed in", None, False)
    assert bench.judge(1, kind="drifting_rate", evidence="World").outcome == "handed in"
    assert bench.score().possible == 0


def test_right_verdicts_get_every_point(made, tmp_path):
    report = judge_verdicts(all_right(made, tmp_path), made.key)
    assert report.learner == "Ada" and report.score.points == report.score.possible == 6
    assert all(case.verdict.outcome == "right" for case in report.cases)


def test_cases_without_a_verdict_are_listed_and_bring_nothing(made, tmp_path):
    bench = Bench.opened(made.folder)
    bench.judge(3, kind="clean")
    report = judge_verdicts(bench.write_verdicts(tmp_path / "a.json"), made.key)
    assert [case.accusation is None for case in report.cases] == [True, True, False, True, True, True]
    assert len(report.table()) == 6 and report.score.possible == report.as_dict()["possible"] == 6


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda c: c.update(set="0" * 16), "is not about this set"),
        (lambda c: c.update(schema_version=2), "is not a file of verdicts"),
        (lambda c: c["verdicts"].update({"case-99": {"kind": "clean"}}), "case-99"),
        (lambda c: c["verdicts"].update({"case-01": "clean"}), "no verdict on case-01"),
        (lambda c: c["verdicts"].update({"case-01": {"kind": "gremlin"}}), "gremlin"),
        (lambda c: c.update(verdicts=[]), "a verdict for each case"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_in_a_sentence(made, tmp_path, change, sentence):
    file = all_right(made, tmp_path)
    content = json.loads(file.read_text("utf-8"))
    change(content)
    file.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(CourseError, match=sentence):
        judge_verdicts(file, made.key)


def test_damaged_files_are_named(made, tmp_path):
    (tmp_path / "a.json").write_text("[", encoding="utf-8")
    with pytest.raises(CourseError, match=r"a\.json cannot be read as a file of verdicts"):
        judge_verdicts(tmp_path / "a.json", made.key)
    file = all_right(made, tmp_path)
    with pytest.raises(CourseError, match="cannot be read as a key"):
        judge_verdicts(file, tmp_path / "no-key.json")
    with pytest.raises(CourseError, match="holds no set of cases"):
        Bench.opened(tmp_path)


def test_the_key_never_lies_among_the_cases_and_nothing_is_overwritten(made, tmp_path):
    with pytest.raises(CourseError, match="must not lie among the cases"):
        class_set(1, 1, tmp_path / "cases", key=tmp_path / "cases" / "sub" / "key.json")
    with pytest.raises(CourseError, match="is there already"):
        class_set(1, 1, made.folder)
    with pytest.raises(CourseError, match="is there already"):
        class_set(1, 1, tmp_path / "cases", key=made.key)
    with pytest.raises(CourseError, match="below zero"):
        class_set(1, 1, tmp_path / "cases", budget=-1)
    for count in (0, 100):
        with pytest.raises(CourseError, match="1 to 99"):
            class_set(count, 1, tmp_path / "cases")
    assert not (tmp_path / "cases").exists()


def test_the_command_makes_a_set_and_judges_what_comes_back(made, tmp_path):
    run = CliRunner()
    out, key = tmp_path / "cases", tmp_path / "keys" / "cases.json"
    done = run.invoke(
        custody, ["make", "6", "--seed", "77", "--out", str(out), "--key", str(key)], catch_exceptions=False
    )
    assert done.exit_code == 0 and str(key) in done.output
    assert files_of(out) == files_of(made.folder)
    ada, alan = all_right(made, tmp_path), all_right(made, tmp_path, "Alan")
    done = run.invoke(custody, ["judge", str(ada), str(alan), "--key", str(key)], catch_exceptions=False)
    assert done.exit_code == 0
    assert "Ada: 6 of 6 points" in done.output and "Alan: 6 of 6 points" in done.output
    done = run.invoke(custody, ["judge", str(ada), "--key", str(key), "--json"], catch_exceptions=False)
    [report] = json.loads(done.output)["learners"]
    assert report["points"] == 6 and [case["outcome"] for case in report["cases"]] == ["right"] * 6


def test_the_command_is_part_of_course():
    from course_lib.cli.main import course

    assert course.commands["custody"] is custody
