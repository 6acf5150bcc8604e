"""The split manifests that come with the workbook: what the real files give, on every machine."""

import os
import subprocess
import sys

import numpy as np
import pytest

from course_lib.datasets import load_samples
from course_lib.errors import CourseError
from course_lib.manifests import load_manifest
from course_lib.paths import manifests_folder
from course_lib.splits import (
    committed_folder,
    locked_split,
    make_split,
    parse_recipe,
    read_split,
    write_split,
)

VARIANTS = ("additional-full", "full")
ORDERED, STRATIFIED = parse_recipe("ordered-70-15-15"), parse_recipe("stratified-70-15-15")


def committed(variant, recipe=ORDERED):
    return committed_folder("bank_marketing", variant, recipe)


def files_of(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_committed_manifest_is_whole_and_ordered(variant):
    manifest = read_split(committed(variant))
    assert (manifest.dataset, manifest.variant) == ("bank_marketing", variant)
    assert manifest.names == ("train", "validation", "test")
    rows = np.array([int(name.removeprefix("row-")) for name in manifest.ids.to_pylist()])
    assert sorted(rows) == list(range(1, len(rows) + 1))
    assert (np.diff(manifest.codes[np.argsort(rows)]) >= 0).all()
    sizes = np.bincount(manifest.codes)
    assert (np.abs(sizes - np.array([0.7, 0.15, 0.15]) * len(rows)) <= 1).all()


def test_a_committed_manifest_holds_ids_splits_and_digests_only():
    header, first, *_ = (committed("full") / "samples.csv").read_bytes().split(b"\n")
    assert header == b"sample_id,split,sha256"
    name, split, digest = first.decode().split(",")
    assert (name, split) == ("row-00001", "train") and len(bytes.fromhex(digest)) == 32


def test_git_leaves_the_bytes_of_samples_alone():
    path = (committed("full") / "samples.csv").relative_to(manifests_folder().parent).as_posix()
    command = ["git", "check-attr", "text", "--", path]
    done = subprocess.run(command, cwd=manifests_folder().parent, capture_output=True, text=True)
    if done.returncode:
        pytest.skip("this is no git checkout")
    assert done.stdout.strip().endswith("text: unset")
    assert all(b"\r" not in (committed(variant) / "samples.csv").read_bytes() for variant in VARIANTS)


@pytest.mark.mirror
@pytest.mark.parametrize("variant", VARIANTS)
def test_made_anew_it_is_the_committed_one_byte_for_byte(variant, mirror, tmp_path):
    samples, _ = load_samples("bank_marketing", variant, source="mirror")
    shuffled = samples.take(np.random.default_rng(5).permutation(len(samples)))
    for number, table in enumerate((samples, shuffled)):
        folder = tmp_path / str(number)
        write_split(make_split(table, ORDERED), folder, origin="the published data")
        assert files_of(folder) == files_of(committed(variant))


@pytest.mark.mirror
def test_the_command_makes_the_committed_one(mirror, tmp_path):
    from click.testing import CliRunner

    from course_lib.cli.splits import split as command

    words = ["make", "bank_marketing", "--recipe", "ordered-70-15-15", "--out", str(tmp_path / "made")]
    done = CliRunner().invoke(command, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert files_of(tmp_path / "made") == files_of(committed("additional-full"))


@pytest.mark.mirror
def test_another_process_with_another_hash_seed_makes_the_same_bytes(mirror, tmp_path):
    script = (
        "import sys; from pathlib import Path; from course_lib.datasets import load_samples;"
        "from course_lib.splits import make_split, parse_recipe, write_split;"
        "samples, _ = load_samples('bank_marketing', source='mirror');"
        "split = make_split(samples, parse_recipe('ordered-70-15-15'));"
        "write_split(split, Path(sys.argv[1]), origin='the published data')"
    )
    for seed in ("1", "77"):
        folder = tmp_path / seed
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        subprocess.run([sys.executable, "-c", script, str(folder)], env=environment, check=True)
        assert files_of(folder) == files_of(committed("additional-full"))


@pytest.mark.mirror
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_stratified_split_is_held_to_its_committed_digest(variant, mirror, tmp_path, monkeypatch):
    samples, _ = load_samples("bank_marketing", variant, source="mirror")
    assert [path.name for path in committed(variant, STRATIFIED).iterdir()] == ["split.json"]
    manifest = locked_split(samples, STRATIFIED, origin="the published data")
    written = (manifest.folder / "split.json").read_bytes()
    assert written == (committed(variant, STRATIFIED) / "split.json").read_bytes()
    other = manifest.recipe.__class__.of("stratified", manifest.recipe.ratios, manifest.names, seed=7)
    monkeypatch.setattr("course_lib.splits.locking.make_split", lambda table, _: make_split(table, other))
    monkeypatch.setattr(
        "course_lib.splits.locking.committed_folder", lambda *_: committed(variant, STRATIFIED)
    )
    with pytest.raises(CourseError, match="not the split"):
        locked_split(samples, other)


@pytest.mark.mirror
def test_texts_are_held_to_their_committed_digest(mirror):
    samples, _ = load_samples("ag_news", source="mirror")
    recipe = parse_recipe("official-90-10")
    manifest = locked_split(samples, recipe, origin="the published data")
    committed_json = committed_folder("ag_news", "train-sample", recipe) / "split.json"
    assert (manifest.folder / "split.json").read_bytes() == committed_json.read_bytes()
    assert manifest.ids_of("test").to_pylist() == [f"test-{row:06d}" for row in range(7_600)]


def test_generated_data_are_not_held_to_the_digest_of_the_real_ones():
    samples, _ = load_samples("bank_marketing", source="generated")
    manifest = locked_split(samples, ORDERED)
    assert manifest.digest != read_split(committed("additional-full")).digest
    assert locked_split(samples, ORDERED).digest == manifest.digest


@pytest.mark.parametrize("name", ["bank_marketing", "cifar10", "ag_news"])
def test_every_committed_split_is_of_its_folders_data_and_recipe(name):
    import json

    classes = set(load_manifest(name).label_map)
    found = sorted((manifests_folder() / name / "splits").glob("*/*/split.json"))
    assert found
    for path in found:
        content = json.loads(path.read_text(encoding="utf-8"))
        assert (content["dataset"], content["variant"]) == (name, path.parts[-3])
        assert str(parse_recipe(content["recipe"])) == path.parts[-2]
        assert all(set(counts) == classes for counts in content["counts"].values())
