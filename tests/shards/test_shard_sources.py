"""Sources of payloads: folders, zips, stores, tables, texts and the three tasks."""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from shard_sets import bytes_of, made_source

from course_lib.datasets.samples import load_samples
from course_lib.errors import CourseError
from course_lib.shards import pack, read_manifest, source_for, verify_shards
from course_lib.shards.format import open_index
from course_lib.shards.payloads import ArraySource
from course_lib.shards.plain_sources import (
    blob_source,
    folder_source,
    store_source,
    table_source,
    zip_source,
)
from course_lib.shards.sources import restricted
from course_lib.splits import SplitManifest, make_split, parse_recipe, sample_table, write_split
from course_lib.stores import FolderStore

FILES = {
    "cat/0001.jpg": b"cat one",
    "cat/0002.jpg": b"",
    "dog/0001.jpg": b"dog one" * 30_000,
    "sheep/0007.jpg": b"x" * 65_536,
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, payload in FILES.items():
        path = tmp_path / "animals" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(payload)
    hidden = tmp_path / "animals/.ipynb_checkpoints/0001.jpg"
    hidden.parent.mkdir()
    hidden.write_bytes(b"hidden")
    return tmp_path / "animals"


def zipped(folder: Path) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(folder.rglob("*.jpg")):
            archive.write(file, file.relative_to(folder).as_posix())
    return path


def everything(source: ArraySource) -> dict[str, tuple[bytes, str]]:
    return {
        source.ids[at].decode(): (source.payload(at), source.facts.class_names[source.labels[at]])
        for at in range(len(source))
    }


EXPECTED = {name[:-4].replace("/", "-"): (payload, name.partition("/")[0]) for name, payload in FILES.items()}


def test_folder_zip_and_store_give_the_same_samples_and_the_same_shards(folder: Path, tmp_path: Path) -> None:
    sources = {
        "folder": folder_source(folder, split="train"),
        "zip": zip_source(zipped(folder), split="train"),
        "store": store_source(FolderStore(folder), dataset="animals", split="train"),
    }
    for name, source in sources.items():
        again = pickle.loads(pickle.dumps(source))
        assert everything(again) == EXPECTED
        assert again.sizes().tolist() == [len(payload) for payload in again.payloads(0, len(again))]
        assert everything(again.take(np.array([2, 0]))) == {
            key: EXPECTED[key] for key in ("dog-0001", "cat-0001")
        }
        pack(source, tmp_path / name)
    assert bytes_of(tmp_path / "folder") == bytes_of(tmp_path / "zip") == bytes_of(tmp_path / "store")


def test_a_prefix_of_a_store_does_not_get_into_the_ids(folder: Path) -> None:
    source = store_source(FolderStore(folder.parent), dataset="animals", prefix="animals/")
    assert everything(source) == EXPECTED


def test_a_label_map_comes_from_the_caller_not_from_a_listing(folder: Path) -> None:
    source = folder_source(folder, class_names=["sheep", "dog", "cat", "horse"])
    assert source.labels.tolist() == [2, 2, 1, 0]
    with pytest.raises(CourseError, match=r"class that the label map does not have.*found dog"):
        folder_source(folder, class_names=["cat", "sheep"])


def test_what_is_no_folder_of_one_kind_of_files_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="could not be listed"):
        folder_source(tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    with pytest.raises(CourseError, match="holds no folders of samples"):
        folder_source(tmp_path / "empty")
    (folder / "cat/0003.png").write_bytes(b"png")
    with pytest.raises(CourseError, match=r"files of several kinds.*jpg, png"):
        folder_source(folder)
    (folder / "stray.jpg").write_bytes(b"stray")
    with pytest.raises(CourseError, match=r"file in no class folder.*stray\.jpg"):
        folder_source(folder)


def test_a_dot_in_a_file_name_is_refused_and_not_taken_apart(folder: Path, tmp_path: Path) -> None:
    (folder / "cat/0003.v2.jpg").write_bytes(b"two dots")
    with pytest.raises(CourseError, match=r"holds a dot: found 'cat-0003\.v2'"):
        pack(folder_source(folder, split="train"), tmp_path / "set")


@pytest.mark.parametrize("kind", ["folder", "zip", "store"])
def test_a_payload_that_is_gone_is_named(folder: Path, tmp_path: Path, kind: str) -> None:
    source: ArraySource
    if kind == "zip":
        whole = zip_source(zipped(folder), split="train")
        (folder / "dog/0001.jpg").unlink()
        zipped(folder)
        source = whole
    else:
        source = (
            folder_source(folder, split="train")
            if kind == "folder"
            else store_source(FolderStore(folder), dataset="animals", split="train")
        )
        (folder / "dog/0001.jpg").unlink()
    with pytest.raises(CourseError, match="payload of sample dog-0001 of animals cannot be read"):
        pack(source, tmp_path / "set")


def test_a_payload_that_cannot_be_read_is_named_and_the_pack_goes_on_when_it_can(
    folder: Path, tmp_path: Path
) -> None:
    source = folder_source(folder, split="train")
    path = folder / "dog/0001.jpg"
    sizes = source.sizes()
    path.unlink()
    path.mkdir()

    class WithSizes(type(source)):  # type: ignore[misc]
        def sizes(self) -> np.ndarray:
            return sizes[[source.ids.tolist().index(i) for i in self.ids.tolist()]]

    blocked = WithSizes(source.facts, source.ids, source.labels, source.root, source.names)
    with pytest.raises(
        CourseError, match=r"payload of sample dog-0001 .*0001\.jpg: Is a directory|Permission"
    ):
        pack(blocked, tmp_path / "set", target_samples=1)
    path.rmdir()
    path.write_bytes(FILES["dog/0001.jpg"])
    pack(source, tmp_path / "set", target_samples=1)
    assert verify_shards(tmp_path / "set").ok


def test_a_damaged_member_of_a_zip_is_named(folder: Path, tmp_path: Path) -> None:
    archive = zipped(folder)
    source = zip_source(archive, split="train")
    content = bytearray(archive.read_bytes())
    content[content.index(b"dog one")] ^= 1
    archive.write_bytes(content)
    with pytest.raises(CourseError, match=r"payload of sample dog-0001 of animals cannot be read.*CRC"):
        pack(source, tmp_path / "set")
    archive.write_bytes(b"no zip")
    with pytest.raises(CourseError, match="expected a zip archive"):
        zip_source(archive)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(CourseError, match=r"columns of d have different lengths.*2, 1 and 2"):
        blob_source([b"", b""], ["a", "b"], [0], dataset="d", class_names=["x"], extension="bin")


def test_a_row_of_a_table_is_one_line_of_canonical_json() -> None:
    import pandas as pd

    frame = pd.DataFrame({"b": [1.0, None], "a": ["ä", "x"], "label": ["no", "yes"]})
    source = table_source(
        frame, ["r-1", "r-2"], [0, 1], dataset="t", class_names=["no", "yes"], leaving_out=["label"]
    )
    assert list(source.payloads(0, 2)) == ['{"a":"ä","b":1}'.encode(), b'{"a":"x","b":null}']


def _manifest(folder: Path, ids: list[str], labels: list[str], payloads: list[bytes]) -> SplitManifest:
    import hashlib

    samples = sample_table(
        ids,
        labels,
        dataset="animals",
        content=[hashlib.sha256(payload).digest() for payload in payloads],
        times=range(len(ids)),
        class_names=["cat", "dog", "sheep"],
    )
    return write_split(
        make_split(samples, parse_recipe("ordered-50-25-25"), allow_missing_classes=True), folder
    )


def test_a_split_takes_its_own_samples_and_checks_their_payloads(tmp_path: Path) -> None:
    source = made_source(40)
    names = [source.facts.class_names[label] for label in source.labels]
    payloads = [source.payload(at) for at in range(40)]
    ids = [sample_id.decode() for sample_id in source.ids.tolist()]
    split = _manifest(tmp_path / "split", ids, names, payloads)
    sets = {}
    for name in ("train", "validation", "test"):
        own = restricted(source, split, name)
        manifest = pack(own, tmp_path / name)
        assert (manifest.split, manifest.split_digest) == (name, split.digest)
        assert manifest.data_digest == split.data_digest
        assert verify_shards(tmp_path / name, split=split).ok
        sets[name] = set(open_index(tmp_path / name, manifest)["id"].tolist())
    assert [len(held) for held in sets.values()] == [20, 10, 10]
    assert set().union(*sets.values()) == set(source.ids.tolist())

    place = ids.index(split.ids_of("train")[3].as_py())
    payloads[place] = bytes(len(payloads[place]) - 1) + b"?"
    other = blob_source(
        payloads, ids, source.labels, dataset="animals", class_names=source.facts.class_names, extension="bin"
    )
    with pytest.raises(
        CourseError, match=f"Sample {ids[place]} of animals is not the one of the split manifest"
    ):
        pack(restricted(other, split, "train"), tmp_path / "other")


def test_another_label_than_the_splits_is_found(tmp_path: Path) -> None:
    from dataclasses import replace

    source = made_source(40)
    ids = [sample_id.decode() for sample_id in source.ids.tolist()]
    names = [source.facts.class_names[label] for label in source.labels]
    split = _manifest(tmp_path / "split", ids, names, [source.payload(at) for at in range(40)])
    labels = source.labels.copy()
    place = ids.index(split.ids_of("train")[3].as_py())
    labels[place] = (labels[place] + 1) % 3
    with pytest.raises(CourseError, match=f"Sample {ids[place]} of animals is not the one of the split"):
        pack(restricted(replace(source, labels=labels), split, "train"), tmp_path / "set")


def test_a_split_with_samples_that_are_not_there_is_refused(tmp_path: Path) -> None:
    source = made_source(40)
    ids = [sample_id.decode() for sample_id in source.ids.tolist()]
    split = _manifest(tmp_path / "split", ids, ["cat"] * 40, [b""] * 40)
    with pytest.raises(CourseError, match="have no payload: expected 20 samples, found 20 missing"):
        restricted(source.take(np.arange(20, 40)), split, "train")
    with pytest.raises(CourseError):
        restricted(source, split, "holdout")


@pytest.mark.parametrize(
    ("name", "split", "extension"),
    [("bank_marketing", "validation", "json"), ("ag_news", "test", "txt"), ("cifar10", "test", "jpg")],
)
def test_each_task_packs_the_payloads_that_its_split_manifest_knows(
    tmp_path: Path, name: str, split: str, extension: str
) -> None:
    import hashlib

    source = source_for(name, split, source="generated")
    manifest = pack(source, tmp_path / "set")
    assert manifest.extension == extension
    assert manifest.samples == len(source) > 100
    assert "generated" in manifest.origin
    assert read_manifest(tmp_path / "set").split == split
    samples, _ = load_samples(name, source="generated")
    assert samples.content is not None
    digests = dict(zip(samples.ids.to_pylist(), samples.content, strict=True))
    content = (tmp_path / "set" / manifest.shards[0].name).read_bytes()
    for row in open_index(tmp_path / "set", manifest)[:50]:
        payload = content[int(row["start"]) : int(row["start"] + row["length"])]
        assert hashlib.sha256(payload).digest() == digests[row["id"].decode()].tobytes()


def test_an_unknown_task_or_split_is_refused() -> None:
    with pytest.raises(CourseError, match="no data set of this name"):
        source_for("mnist")
    with pytest.raises(CourseError, match="holdout"):
        source_for("bank_marketing", "holdout", source="generated")


@pytest.mark.mirror
def test_the_real_training_images_are_packed_with_the_bytes_of_their_files(
    tmp_path: Path, mirror: Path
) -> None:
    source = source_for("cifar10", "validation", source="mirror")
    manifest = pack(source, tmp_path / "set", target_bytes=5_000_000)
    assert manifest.samples == 5_000
    assert "mirror" in manifest.origin
    assert verify_shards(tmp_path / "set").ok
