"""The check of a learner's loader record opens the file and works its figures out again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course_lib.exercises.answers import InvalidAnswerError
from course_lib.exercises.checks import loader_record
from course_lib.exercises.marking.trial import PropertyFailedError
from course_lib.experiments import publish_record
from course_lib.experiments.measurements import record_loading
from course_lib.loading import LoaderConditions, runs

_CONDITIONS = LoaderConditions(sample_count=80, batch_size=8, source="generated")


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure without a process of its own, which would take seconds."""
    monkeypatch.setattr(
        runs, "run_watched", lambda task, request, **_: runs.measure_task(request, lambda event: None)
    )


def measured(vary: dict[str, list[Any]] | None = None, *, repeats: int = 3, batches: int = 6) -> Path:
    found = runs.measure_loader(
        _CONDITIONS,
        vary={"transforms": ["bytes", "decode"]} if vary is None else vary,
        repeats=repeats,
        warmup_batches=2,
        measured_batches=batches,
        progress=False,
    )
    return record_loading(found)


def symptom(path: object) -> str:
    with pytest.raises(PropertyFailedError) as caught:
        loader_record.check(loader_record.opened(path))
    return caught.value.symptom


def edited(path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_a_good_record_is_right_as_a_path_or_as_text() -> None:
    path = measured()
    for answer in (path, str(path)):
        said = loader_record.check(loader_record.opened(answer))
        assert "6 runs of 2 candidates" in said and "transforms alone" in said and "generated" in said


def test_what_is_missing_is_named() -> None:
    assert symptom(measured(repeats=2)) == "few_repeats"
    assert symptom(measured({})) == "one_candidate"
    assert symptom(measured(batches=3)) == "few_batches"
    assert symptom(measured({"seed": [1, 2]})) == "other_samples"
    assert symptom(publish_record("auc", {"share": 0.1}, {}, None)) == "other_record"


def test_what_was_edited_is_found() -> None:
    def faster(content: dict[str, Any]) -> None:
        name = next(name for name in content["figures"] if "samples_per_second" in name)
        content["figures"][name] *= 2

    def shorter(content: dict[str, Any]) -> None:
        content["runs"][0]["timing"]["elapsed_seconds"] /= 3

    def no_state(content: dict[str, Any]) -> None:
        content["runs"][0]["cache_before"] |= {"kind": "unknown", "reason": ""}

    def lost_run(content: dict[str, Any]) -> None:
        del content["runs"][2]

    def other_digest(content: dict[str, Any]) -> None:
        for run in content["runs"]:
            run["delivered_digest"] = "ab" * 32

    good = measured().read_bytes()
    path = measured()
    for change, expected in (
        (faster, "edited"),
        (shorter, "edited"),
        (no_state, "no_cache_state"),
        (lost_run, "few_repeats"),
        (other_digest, "other_data"),
    ):
        path.write_bytes(good)
        assert symptom(edited(path, change)) == expected, change


@pytest.mark.parametrize("answer", [3, Path("nowhere.json"), "nowhere.json", object()])
def test_what_cannot_be_opened_does_not_count(answer: object) -> None:
    with pytest.raises(InvalidAnswerError):
        loader_record.opened(answer)
