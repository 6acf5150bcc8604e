"""The check of a learner's manifest opens what is there and says which property fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from course_lib.datasets import load_bank_marketing
from course_lib.datasets.samples import bank_samples
from course_lib.exercises.answers import InvalidAnswerError
from course_lib.exercises.checks import bank_manifest
from course_lib.exercises.marking.trial import PropertyFailedError
from course_lib.splits import SampleTable, SplitManifest, make_split, parse_recipe, write_split

ORDERED = parse_recipe("ordered-70-15-15")


@pytest.fixture(scope="module")
def table():
    return load_bank_marketing(source="generated", row_count=1000)


@pytest.fixture
def samples(table, monkeypatch: pytest.MonkeyPatch) -> SampleTable:
    """Let a small table be the one on this machine."""
    samples = bank_samples(table)
    monkeypatch.setattr("course_lib.datasets.samples.load_samples", lambda *_: (samples, table.origin))
    return samples


def failure(answer: object) -> PropertyFailedError:
    with pytest.raises(PropertyFailedError) as caught:
        bank_manifest.check(bank_manifest.opened(answer))
    return caught.value


def symptom(answer: object) -> str:
    return failure(answer).symptom


def written(samples: SampleTable, folder: Path, recipe: str = "ordered-70-15-15") -> SplitManifest:
    return write_split(make_split(samples, parse_recipe(recipe)), folder)


def test_a_good_manifest_is_right_as_object_folder_text_or_file(samples: SampleTable, tmp_path: Path) -> None:
    manifest = written(samples, tmp_path / "good")
    for answer in (manifest, manifest.folder, str(manifest.folder), manifest.folder / "samples.csv"):
        artefact = bank_manifest.opened(answer)
        assert "all 1,000 samples" in bank_manifest.check(artefact) and artefact.digest == manifest.digest


def test_the_files_count_and_not_the_object_in_memory(samples: SampleTable, tmp_path: Path) -> None:
    manifest = written(samples, tmp_path / "edited")
    file = manifest.folder / "samples.csv"
    file.write_bytes(file.read_bytes().replace(b",train,", b",test,", 1))
    assert symptom(manifest) == "edited"


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        ("random-70-15-15", "random_kind"),
        ("stratified-70-15-15", "random_kind"),
        ("ordered-15-15-70", "other_ratios"),
        ("ordered-70-30", "other_ratios"),
    ],
)
def test_another_recipe_is_named(samples: SampleTable, tmp_path: Path, recipe: str, expected: str) -> None:
    assert symptom(written(samples, tmp_path / "other", recipe)) == expected


def test_other_rows_and_other_contents_are_named(samples: SampleTable, tmp_path: Path) -> None:
    some = failure(written(samples.take(np.arange(900)), tmp_path / "some"))
    assert some.symptom == "incomplete"
    assert some.message == "100 samples of the table are not in the manifest, `row-00901` among them."
    assert samples.content is not None
    touched = samples.content.copy()
    touched[3, 0] ^= 1
    assert symptom(written(replace(samples, content=touched), tmp_path / "touched")) == "other_contents"
    elsewhere = replace(samples, variant="additional-full-generated-7-1000")
    assert symptom(written(elsewhere, tmp_path / "seed 7")) == "other_origin"
    assert symptom(written(replace(samples, variant="full"), tmp_path / "full")) == "other_data"
    assert symptom(written(replace(samples, dataset="client_calls"), tmp_path / "calls")) == "other_data"


def test_a_recipe_that_says_ordered_is_not_believed(samples: SampleTable, tmp_path: Path) -> None:
    assert samples.times is not None
    backwards = replace(samples, times=samples.times[::-1].copy())
    assert symptom(written(backwards, tmp_path / "backwards")) in ("not_ordered", "misplaced")


@pytest.mark.parametrize("content", ["{", "[]", '{"schema_version": 1}'])
def test_what_is_no_manifest_is_no_attempt(samples: SampleTable, tmp_path: Path, content: str) -> None:
    folder = written(samples, tmp_path / "broken").folder
    (folder / "split.json").write_text(content, encoding="utf-8")
    for answer in (folder, tmp_path / "nowhere", tmp_path, 7):
        with pytest.raises(InvalidAnswerError):
            bank_manifest.opened(answer)


def test_a_split_in_memory_is_to_be_written_first(samples: SampleTable) -> None:
    with pytest.raises(InvalidAnswerError, match="write_split"):
        bank_manifest.opened(make_split(samples, ORDERED))
