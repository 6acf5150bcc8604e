"""The check of a learner's metadata record computes the figures again and asks for the cache state."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from course_lib.exercises.answers import InvalidAnswerError
from course_lib.exercises.checks import metadata_record
from course_lib.exercises.marking.trial import PropertyFailedError
from course_lib.experiments import publish_record
from course_lib.experiments.measurements import record_metadata
from course_lib.stores import CacheState, MetadataResult, OperationRates
from course_lib.stores.metadata_result import OPERATIONS


def result(*, files=100, bytes_per_file=16_000, directories=4, repeats=3, kind="cold") -> MetadataResult:
    operations = tuple(
        OperationRates(
            name, (files,) * repeats, tuple(0.1 + 0.01 * place + 0.3 * turn for turn in range(repeats))
        )
        for place, name in enumerate(OPERATIONS)
    )
    states = (CacheState(kind, None, files, 0),) * repeats
    return MetadataResult(files, bytes_per_file, directories, 1, 2026, operations, states, "ext4")


def symptom(answer: object) -> str:
    with pytest.raises(PropertyFailedError) as caught:
        metadata_record.check(metadata_record.opened(answer))
    return caught.value.symptom


def changed(change: Callable[[dict[str, Any]], None]) -> Path:
    path = record_metadata(result())
    values = json.loads(path.read_text(encoding="utf-8"))
    change(values)
    path.write_text(json.dumps(values), encoding="utf-8")
    return path


@pytest.mark.parametrize("as_given", [Path, str])
@pytest.mark.parametrize("kind", ["cold", "warm", "partly warm", "unknown"])
def test_a_whole_record_is_right_in_every_named_cache_state(kind: str, as_given: Any) -> None:
    artefact = metadata_record.opened(as_given(record_metadata(result(kind=kind))))
    said = metadata_record.check(artefact)
    assert "All 6 operations" in said and f"({kind})" in said and len(artefact.digest) == 64


def test_more_files_and_repeats_than_asked_for_are_right() -> None:
    assert metadata_record.check(metadata_record.opened(record_metadata(result(files=500, repeats=5))))


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ({"repeats": 2}, "few_repeats"),
        ({"files": 99}, "other_conditions"),
        ({"bytes_per_file": 4096}, "other_conditions"),
        ({"directories": 1}, "other_conditions"),
    ],
)
def test_other_conditions_are_named(conditions: dict[str, int], expected: str) -> None:
    assert symptom(record_metadata(result(**conditions))) == expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda values: values["figures"].update(open_per_second_median=1e9), "edited"),
        (lambda values: values["figures"].update(read_per_second_lowest=1.0), "edited"),
        (lambda values: values["runs"][1].update(stat_seconds=0.5), "edited"),
        (lambda values: values["conditions"].update(files=200), "edited"),
        (lambda values: values["figures"].pop("scan_per_second_total"), "incomplete"),
        (lambda values: values["runs"][2].pop("create_seconds"), "incomplete"),
        (lambda values: values.update(runs=[]), "incomplete"),
        (lambda values: values["conditions"].pop("files"), "incomplete"),
        (lambda values: values["conditions"].pop("cache_state"), "no_cache_state"),
        (lambda values: values["conditions"].update(cache_state="fine"), "no_cache_state"),
        (lambda values: values["runs"][0].pop("cache_before_reads"), "no_cache_state"),
        (lambda values: values["runs"][0].update(cache_before_reads={"kind": "warm"}), "no_cache_state"),
        (lambda values: values["machine"].update(logical_cores=4096), "other_machine"),
    ],
)
def test_a_record_that_was_changed_is_refused(
    change: Callable[[dict[str, Any]], None], expected: str
) -> None:
    assert symptom(changed(change)) == expected


def test_a_record_of_something_else_is_refused() -> None:
    assert symptom(publish_record("auc_comparison", {"auc": 0.7})) == "other_record"


def test_what_is_no_record_is_no_attempt(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.json"
    damaged.write_text("{", encoding="utf-8")
    for answer in (result(), 5, tmp_path, tmp_path / "nowhere.json", damaged, "a\0b"):
        with pytest.raises(InvalidAnswerError):
            metadata_record.opened(answer)
