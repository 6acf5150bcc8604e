"""Duplicates, groups, times, classes, label maps and edits: matters of fact, in which no detector may err."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.leakage.detectors import (
    Parts,
    find_changed_labels,
    find_edited_manifest,
    find_exact_duplicates,
    find_future_in_training,
    find_label_map_change,
    find_missing_classes,
    find_spread_groups,
)
from course_lib.splits import SampleTable, make_split, parse_recipe, sample_table, write_split


def digests(*contents: str) -> np.ndarray:
    joined = b"".join(hashlib.sha256(content.encode()).digest() for content in contents)
    return np.frombuffer(joined, dtype=np.uint8).reshape(-1, 32)


def samples_of(count: int = 40) -> SampleTable:
    return sample_table(
        [f"s-{at:03d}" for at in range(count)],
        ["yes" if at % 4 == 0 else "no" for at in range(count)],
        dataset="calls",
        content=digests(*(f"content {at}" for at in range(count))),
        times=list(range(count)),
    )


def test_a_copy_under_another_name_does_not_slip_through(tmp_path: Path) -> None:
    (tmp_path / "train.jpg").write_bytes(b"the same picture")
    (tmp_path / "renamed.jpg").write_bytes(b"the same picture")
    (tmp_path / "other.jpg").write_bytes(b"another picture")
    names = ["train.jpg", "renamed.jpg", "other.jpg"]
    content = [hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in names]
    # The copy even carries another label.
    samples = sample_table(["a", "b", "c"], ["cat", "dog", "cat"], dataset="pictures", content=content)
    finding = find_exact_duplicates(Parts(["c", "b", "a"], np.array([0, 1, 0])), samples)
    assert finding.status == "found"
    assert finding.sample_ids == ("a", "b")
    assert finding.together == (("a", "b"),)


def test_copies_within_one_part_are_counted_and_no_leak() -> None:
    finding = find_exact_duplicates(
        Parts(["a", "b", "c"], np.array([0, 0, 1])), digests=digests("x", "x", "y")
    )
    assert finding.status == "clear"
    assert finding.figures["repeats"] == 1


def test_exact_search_counts_sets_and_pairs_over_three_parts() -> None:
    parts = Parts(list("abcde"), np.array([0, 0, 1, 2, 2]), ("train", "validation", "test"))
    finding = find_exact_duplicates(parts, digests=digests("x", "x", "x", "x", "y"))
    assert (finding.figures["sets"], finding.figures["pairs"], finding.figures["repeats"]) == (1, 5, 3)


def test_exact_search_reads_a_split_and_a_manifest(tmp_path: Path) -> None:
    samples = samples_of()
    content = samples.content.copy()
    content[37] = content[3]
    copied = sample_table(
        samples.ids,
        samples.labels,
        dataset="calls",
        content=content,
        times=samples.times,
        class_names=("no", "yes"),
    )
    split = make_split(copied, parse_recipe("ordered-80-20"))
    for given in (split, write_split(split, tmp_path / "split")):
        assert find_exact_duplicates(given).sample_ids == ("s-003", "s-037")


def test_without_content_nobody_can_tell() -> None:
    assert find_exact_duplicates(Parts(["a", "b"], np.array([0, 1]))).status == "cannot tell"


def test_a_split_that_the_data_do_not_have_is_refused() -> None:
    with pytest.raises(CourseError, match=r"lacks samples of the split.*the first is z"):
        find_exact_duplicates(Parts(["s-001", "z"], np.array([0, 1])), samples_of())


def test_spread_groups_are_named_with_all_their_samples() -> None:
    parts = Parts(list("abcdef"), np.array([0, 0, 1, 1, 0, 1]))
    finding = find_spread_groups(parts, ["g1", "g2", "g2", "g3", "g1", "g2"])
    assert (finding.status, finding.together) == ("found", (("b", "c", "f"),))
    assert (finding.figures["groups"], finding.figures["spread_groups"]) == (3, 1)
    assert find_spread_groups(parts, ["g1", "g1", "g2", "g2", "g1", "g2"]).status == "clear"
    assert find_spread_groups(parts).status == "cannot tell"
    with pytest.raises(CourseError, match="needs a group"):
        find_spread_groups(parts, ["g1", None, "g2", "g2", "g1", "g2"])


@pytest.mark.parametrize(
    ("times", "status", "ids"),
    [
        ([1, 2, 3, 4, 5, 6], "clear", ()),
        ([1, 2, 9, 4, 5, 6], "found", ("c",)),
        ([1, 2, 3, 4, 0, 6], "found", ("e",)),
        ([1, 2, 4, 4, 5, 6], "clear", ()),
        ([6, 5, 4, 3, 2, 1], "found", ("a", "b", "c")),
    ],
)
def test_future_in_training_names_the_fewest_samples(
    times: list[int], status: str, ids: tuple[str, ...]
) -> None:
    finding = find_future_in_training(Parts(list("abcdef"), np.array([0, 0, 0, 1, 1, 1])), times)
    assert finding.status == status
    assert finding.figures["misplaced"] == len(finding.sample_ids)
    assert len(finding.sample_ids) == len(ids)
    if len(ids) == 1:
        assert finding.sample_ids == ids


def test_future_without_times_or_parts_cannot_be_told() -> None:
    parts = Parts(["a", "b"], np.array([0, 1]))
    assert find_future_in_training(parts).status == "cannot tell"
    assert find_future_in_training(Parts(["a", "b"], np.array([0, 0])), [1, 2]).status == "cannot tell"
    with pytest.raises(CourseError, match="times do not match"):
        find_future_in_training(parts, [1])


def test_missing_classes_are_named_by_part() -> None:
    parts = Parts(list("abcd"), np.array([0, 0, 1, 1]))
    finding = find_missing_classes(parts, ["x", "y", "x", "x"])
    assert finding.status == "found"
    assert "test has no sample of y" in finding.sentence
    assert find_missing_classes(parts, ["x", "y", "y", "x"]).status == "clear"
    assert find_missing_classes(parts, [0, 1, 1, 0], class_names=("x", "y")).status == "clear"
    assert find_missing_classes(parts, [0, 1, 1, 0], class_names=("x", "y", "z")).figures["missing"] == 2
    assert find_missing_classes(parts).status == "cannot tell"


def test_missing_classes_reads_the_counts_of_splits_and_manifests(tmp_path: Path) -> None:
    samples = sample_table(list("abcd"), ["x", "x", "x", "y"], dataset="d", times=[1, 2, 3, 4])
    split = make_split(samples, parse_recipe("ordered-50-50"), allow_missing_classes=True)
    for given in (split, write_split(split, tmp_path / "split")):
        assert "train has no sample of y" in find_missing_classes(given).sentence


def test_label_maps_are_compared_name_by_name() -> None:
    assert find_label_map_change({"no": 0, "yes": 1}, ["no", "yes"]).status == "clear"
    assert find_label_map_change(["a", "b", "c"], ["b", "a", "c"]).figures["changed_classes"] == 2
    shifted = find_label_map_change(["cat", "dog"], [".ipynb_checkpoints", "cat", "dog"])
    assert shifted.figures["changed_classes"] == 3
    assert find_label_map_change(["a"], []).status == "cannot tell"
    with pytest.raises(CourseError, match="two classes one code"):
        find_label_map_change({"a": 0, "b": 0}, ["a", "b"])


def test_samples_recorded_under_another_label_are_named(tmp_path: Path) -> None:
    samples = samples_of()
    labels = samples.labels.copy()
    labels[[4, 9]] = 1 - labels[[4, 9]]
    relabelled = sample_table(
        samples.ids, labels, dataset="calls", content=samples.content, class_names=samples.class_names
    )
    recipe = parse_recipe("stratified-80-20")
    honest = write_split(make_split(samples, recipe), tmp_path / "honest")
    assert find_changed_labels(honest, samples).status == "clear"
    wrong = write_split(make_split(relabelled, recipe), tmp_path / "wrong")
    assert find_changed_labels(wrong, samples).sample_ids == ("s-004", "s-009")


class TestEditedManifest:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        write_split(make_split(samples_of(), parse_recipe("ordered-80-20")), tmp_path / "split")
        return tmp_path / "split"

    def test_untouched(self, folder: Path) -> None:
        finding = find_edited_manifest(folder, samples_of())
        assert finding.status == "clear"
        assert finding.figures["recorded_digest"] == finding.figures["actual_digest"]

    def test_one_sample_moved(self, folder: Path) -> None:
        file = folder / "samples.csv"
        file.write_bytes(file.read_bytes().replace(b"s-002,train", b"s-002,test"))
        assert find_edited_manifest(folder).status == "found"
        finding = find_edited_manifest(folder, samples_of())
        assert finding.sample_ids == ("s-002",)
        assert finding.figures["recorded_digest"] != finding.figures["actual_digest"]

    def test_line_endings(self, folder: Path) -> None:
        file = folder / "samples.csv"
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
        assert find_edited_manifest(folder).status == "found"

    def test_counts_in_the_json(self, folder: Path) -> None:
        file = folder / "split.json"
        content = json.loads(file.read_text(encoding="utf-8"))
        content["counts"]["train"]["no"] += 1
        file.write_text(json.dumps(content), encoding="utf-8")
        assert "split.json" in find_edited_manifest(folder).sentence

    def test_another_layout_of_the_json_is_no_edit(self, folder: Path) -> None:
        file = folder / "split.json"
        file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8"))), encoding="utf-8")
        assert find_edited_manifest(folder).status == "clear"

    def test_a_digest_written_anew_still_shows_against_data_and_lock(self, folder: Path) -> None:
        from course_lib.splits.entries import digest_of

        locked = json.loads((folder / "split.json").read_text(encoding="utf-8"))["digest"]
        samples_csv = (folder / "samples.csv").read_bytes()
        moved = samples_csv.replace(b"s-002,train", b"s-002,TRAIN").replace(b"s-039,test", b"s-039,train")
        moved = moved.replace(b"s-002,TRAIN", b"s-002,test")
        (folder / "samples.csv").write_bytes(moved)
        content = json.loads((folder / "split.json").read_text(encoding="utf-8"))
        content["samples_sha256"] = hashlib.sha256(moved).hexdigest()
        content["digest"] = digest_of(content)
        (folder / "split.json").write_text(json.dumps(content), encoding="utf-8")
        assert find_edited_manifest(folder).status == "clear"
        assert find_edited_manifest(folder, locked_digest=locked).status == "found"
        assert find_edited_manifest(folder, samples_of()).sample_ids == ("s-002", "s-039")

    def test_a_folder_without_a_manifest_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(CourseError, match="no split manifest"):
            find_edited_manifest(tmp_path)
