"""Cases: each fault is found by its own tool, clean sets are cleared, and nothing gives the answer away."""

from __future__ import annotations

import gc
import hashlib
import itertools
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.leakage.custody import CLEAN, LOOKS, case_kinds, make_case, open_case, try_detectors
from course_lib.leakage.custody.case import kind_of_seed, truth_of
from course_lib.leakage.custody.material import FORMS
from course_lib.leakage.detectors import KINDS

ROOT = Path(__file__).resolve().parent.parent.parent.parent


def digest_of(folder: Path) -> str:
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(file.relative_to(folder).as_posix().encode() + file.read_bytes())
    return digest.hexdigest()


@pytest.fixture(scope="module")
def trial():
    return try_detectors(count=120, seed=2026)


def test_every_planted_fault_is_found_by_its_tool(trial):
    assert {row.kind for row in trial.rows} == set(KINDS)
    assert all(row.planted >= 5 for row in trial.rows)
    assert {row.kind: row.detected for row in trial.rows} == {row.kind: row.planted for row in trial.rows}


def test_no_tool_finds_what_is_not_there(trial):
    assert {row.kind: row.alarms_on for row in trial.rows if row.false_alarms} == {}
    assert trial.clean == trial.cleared == 40
    assert {row.kind for row in trial.rows if row.undecided} == set()


def test_the_trial_is_a_table_that_says_the_same_as_its_sentence(trial):
    text = str(trial)
    assert "120 cases" in text and "80 of 80 faults detected" in text and "40 of 40 clean sets" in text
    assert all(len(row) == len(trial.columns) for row in trial.table())


def test_the_trial_would_show_a_blind_detector_and_a_jumpy_one(monkeypatch):
    from course_lib.leakage.custody import case
    from course_lib.leakage.detectors import Finding

    def wrong(kind, files):
        return Finding(kind, "clear" if kind == "group_spread" else "found", "Always the same.")

    monkeypatch.setattr(case, "run_detector", wrong)
    spoilt = {row.kind: row for row in try_detectors(count=15, seed=1).rows}
    assert spoilt["group_spread"].detected == 0 and spoilt["group_spread"].planted == 1
    assert spoilt["class_missing"].false_alarms == 14


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", (CLEAN, *KINDS))
def test_each_kind_in_each_form_is_found_with_the_very_evidence(kind, form):
    case = make_case(5, kind=kind, form=form, budget=len(KINDS))
    findings = {tool: case.inspect(tool) for tool in KINDS}
    assert {tool for tool, finding in findings.items() if finding.status == "found"} == {kind} - {CLEAN}
    truth = truth_of(case)
    if kind in ("exact_duplicate", "near_duplicate", "group_spread", "future_in_training", "manifest_edited"):
        found = set(findings[kind].sample_ids)
        assert found and all(names & found for names in truth.evidence)
        assert found <= set().union(*truth.evidence)
    elif kind != CLEAN:
        told = f"{findings[kind].sentence} {dict(findings[kind].figures)}"
        assert all(any(name in told for name in names) for names in truth.evidence)


@pytest.mark.parametrize("kind", (CLEAN, *KINDS))
def test_a_seed_gives_the_same_bytes(tmp_path, kind):
    first = make_case(11, kind=kind, folder=tmp_path / "a")
    again = make_case(11, kind=kind, folder=tmp_path / "b")
    other = make_case(12, kind=kind, folder=tmp_path / "c")
    assert digest_of(first.folder) == digest_of(again.folder) != digest_of(other.folder)


def test_another_process_with_another_hash_seed_writes_the_same_bytes(tmp_path):
    code = (
        "import sys; from pathlib import Path; from course_lib.leakage.custody import make_case;"
        "make_case(7, kind='manifest_edited', form='news', folder=Path(sys.argv[1]))"
    )
    for name, hash_seed in (("a", "1"), ("b", "2")):
        subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / name)],
            cwd=ROOT,
            check=True,
            env={"PYTHONHASHSEED": hash_seed, "PATH": ""},
        )
    assert digest_of(tmp_path / "a") == digest_of(tmp_path / "b")


def test_about_a_third_of_the_seeds_is_clean_and_neighbours_tell_nothing():
    kinds = [kind_of_seed(seed) for seed in range(900)]
    counts = Counter(kinds)
    assert set(counts) == set(case_kinds())
    assert 0.28 < counts[CLEAN] / 900 < 0.39
    assert all(counts[kind] > 30 for kind in KINDS)


@pytest.mark.parametrize("form", FORMS)
def test_neither_the_case_nor_its_files_name_the_fault(tmp_path, form):
    shapes = set()
    for kind in (CLEAN, *KINDS):
        case = make_case(21, kind=kind, form=form, folder=tmp_path / kind / "case")
        files = sorted(path for path in case.folder.rglob("*") if path.is_file())
        shapes.add(tuple(path.relative_to(case.folder).as_posix() for path in files))
        telling = (f"{case!r} {vars(case)}").replace(str(tmp_path / kind), "")
        telling += "".join(path.read_text("utf-8") for path in files if path.suffix == ".json")
        assert not [word for word in (*case_kinds(), "Truth", "truth") if word in telling]
    assert len(shapes) == 1


def test_a_temporary_case_goes_with_its_object():
    case = make_case(3)
    folder = case.folder
    assert folder.is_dir()
    del case
    gc.collect()
    assert not folder.exists()


def test_the_budget_counts_detectors_once_and_no_looks():
    case = make_case(4, budget=2)
    for look in LOOKS:
        assert case.inspect(look).rows
    first = case.inspect("group_spread")
    assert case.inspect("group_spread") is first and case.uses_left == 1
    case.inspect("exact_duplicate")
    with pytest.raises(CourseError, match="budget of 2 tools"):
        case.inspect("near_duplicate")
    assert case.inspect("exact_duplicate") and case.inspect("times")
    assert case.used == ("group_spread", "exact_duplicate")


def test_the_looks_show_what_they_say():
    case = make_case(8, kind=CLEAN)
    assert [row[:2] for row in case.inspect("class_counts").rows] == [
        ("train", 336),
        ("validation", 72),
        ("test", 72),
    ]
    days = [row[1:] for row in case.inspect("times").rows]
    assert days == sorted(days) and all(first[1] < second[0] for first, second in itertools.pairwise(days))
    assert all(published == loader for _, published, loader in case.inspect("label_maps").rows)
    swapped = make_case(8, kind="label_map_changed").inspect("label_maps").rows
    assert any(published != loader for _, published, loader in swapped)
    missing = make_case(8, kind="class_missing").inspect("class_counts").rows
    assert 0 in missing[1] + missing[2]


def test_wrong_tools_kinds_forms_and_folders_are_refused_in_a_sentence(tmp_path):
    case = make_case(1)
    with pytest.raises(CourseError, match=r"no tool 'magnifier'.*class_counts or .*drifting_rate"):
        case.inspect("magnifier")
    with pytest.raises(CourseError, match=r"Unknown kind of fault.*exact_duplicate"):
        make_case(1, kind="gremlin")
    with pytest.raises(CourseError, match="Unknown form"):
        make_case(1, form="films")
    with pytest.raises(CourseError, match="below zero"):
        make_case(1, budget=-1)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(CourseError, match="is not empty"):
        make_case(1, folder=tmp_path / "full")
    with pytest.raises(CourseError, match="no whole case"):
        open_case(tmp_path / "nothing")


def test_a_damaged_case_is_named(tmp_path):
    case = make_case(2, folder=tmp_path / "case")
    (case.folder / "case.json").write_text("{", encoding="utf-8")
    with pytest.raises(CourseError, match=r"case\.json cannot be read"):
        open_case(case.folder)
    (case.folder / "case.json").write_text('{"schema_version": 9}', encoding="utf-8")
    with pytest.raises(CourseError, match="case of this version"):
        open_case(case.folder)
