import dataclasses
import hashlib
import io
import json
import pickle
import shutil
import sys
import tarfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from course_lib.datasets import ImageSet, load_cifar10
from course_lib.datasets import cifar10 as loader
from course_lib.datasets.cifar10 import JpegImageSet, OfficialImageSet, prepare_for_croissant
from course_lib.datasets.downloads import data_folder, official_path
from course_lib.datasets.image_folders import published_image_folder, zip_images
from course_lib.errors import CourseError
from course_lib.manifests import croissant_records, load_manifest, validate_with_mlcroissant
from course_lib.paths import manifests_folder

CLASSES = list(load_manifest("cifar10").label_map)


def load(part="train", count=20, **more):
    return load_cifar10(part, sample_count=count, progress=False, **more)


def never_read(*_):
    yield pytest.fail("the images are made again")


def folder_of(images):
    return Path(images.root)


def test_images_are_drawn_with_a_bar_on_a_terminal_only(course_home, capsys, monkeypatch):
    load_cifar10("train", source="generated", sample_count=20)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    load_cifar10("test", source="generated", sample_count=20)
    assert "Drawing cifar10 (test)" in capsys.readouterr().out


@pytest.fixture
def small_mirror(tmp_path, monkeypatch):
    """A mirror whose archive has 60 images, described by a manifest of its own."""
    archive = tmp_path / "mirror/cifar10/cifar10_jpeg.zip"
    archive.parent.mkdir(parents=True)
    with zipfile.ZipFile(archive, "w") as opened:
        for part, count in (("test", 2), ("train", 4)):
            for code, name in enumerate(CLASSES):
                for number in range(count):
                    buffer = io.BytesIO()
                    Image.new("RGB", (32, 32), (code * 20, number * 40, 200)).save(buffer, "JPEG")
                    opened.writestr(f"{part}/{name}/{number:04d}.jpg", buffer.getvalue())
    describe(monkeypatch, "cifar10_jpeg.zip", archive)
    monkeypatch.setattr(loader, "_MIRROR_IMAGES", 60)
    monkeypatch.setenv("COURSE_DATA", str(archive.parent.parent))
    return archive


@pytest.fixture
def small_official(tmp_path, monkeypatch):
    """An official download with 30 images, in the publisher's format."""
    path = tmp_path / "cifar-10-python.tar.gz"
    digests = {}
    with tarfile.open(path, "w:gz") as archive:

        def add(name, content):
            payload = pickle.dumps(content)
            digests[name] = hashlib.md5(payload, usedforsecurity=False).hexdigest()
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(payload)
            archive.addfile(member, io.BytesIO(payload))

        add("batches.meta", {"label_names": CLASSES})
        for name, count in (("data_batch_1", 20), ("test_batch", 10)):
            pixels = np.random.default_rng(count).integers(0, 256, (count, 3072), dtype=np.uint8)
            add(name, {"data": pixels, "labels": [number % 10 for number in range(count)]})
        archive.addfile(tarfile.TarInfo("../outside.txt"), io.BytesIO())
    monkeypatch.setattr(OfficialImageSet, "train_list", [["data_batch_1", digests["data_batch_1"]]])
    monkeypatch.setattr(OfficialImageSet, "test_list", [["test_batch", digests["test_batch"]]])
    monkeypatch.setattr(
        OfficialImageSet,
        "meta",
        {"filename": "batches.meta", "key": "label_names", "md5": digests["batches.meta"]},
    )
    manifest = describe(monkeypatch, "cifar-10-python.tar.gz", path)
    target = official_path("cifar10", manifest.published_file("cifar-10-python.tar.gz"))
    target.parent.mkdir(parents=True)
    shutil.copy(path, target)
    return target


def describe(monkeypatch, name, path):
    payload = path.read_bytes()
    manifest = load_manifest("cifar10")
    files = tuple(
        dataclasses.replace(file, sha256=hashlib.sha256(payload).hexdigest(), bytes=len(payload))
        if file.name == name
        else file
        for file in manifest.files
    )
    changed = dataclasses.replace(manifest, files=files)
    monkeypatch.setattr(loader, "load_manifest", lambda _: changed)
    return changed


def test_generated_images_have_the_interface_of_the_real_ones():
    images = load()
    image, label = images[0]
    assert isinstance(images, ImageSet)
    assert (image.size, image.mode, label, type(label)) == ((32, 32), "RGB", 0, int)
    assert images.classes == CLASSES
    assert len(images) == 20
    assert np.bincount(images.labels).tolist() == [2] * 10
    assert (images.origin.kind, images.origin.sample_count, images.origin.seed) == ("generated", 20, 2026)
    assert [images.sample_id(at) for at in (0, 19)] == ["train-airplane-0000", "train-truck-0001"]
    assert [label for _, label in images] == images.labels.tolist()


def test_sample_ids_are_unique_over_the_parts_and_have_no_dot_or_slash():
    ids = [images.sample_id(at) for images in (load("train"), load("test")) for at in range(20)]
    assert len(set(ids)) == 40
    assert not any(set("./\\") & set(sample_id) for sample_id in ids)


def test_a_second_load_reads_what_the_first_one_made(monkeypatch):
    first = load()
    monkeypatch.setattr(loader, "generate_jpeg_files", never_read)
    again = load()
    assert again.origin == first.origin
    assert np.array_equal(np.asarray(again[7][0]), np.asarray(first[7][0]))


def test_seed_part_and_count_each_give_other_images():
    digests = {
        load(part, count, seed=seed).origin.sha256
        for part, count, seed in (("train", 20, 1), ("train", 20, 2), ("test", 20, 1), ("train", 30, 1))
    }
    assert len(digests) == 4


def test_hidden_folders_and_strange_files_do_not_shift_the_labels():
    images = load()
    folder = folder_of(images)
    (folder / "train" / ".ipynb_checkpoints").mkdir()
    (folder / "train" / "aardvark").mkdir()
    (folder / "train" / "airplane" / "0000-checkpoint.jpg").write_bytes(b"")
    again = load()
    assert again.classes == CLASSES
    assert again.labels.tolist() == images.labels.tolist()
    assert again.class_to_idx == {name: code for code, name in enumerate(CLASSES)}


def test_a_lost_image_is_named_at_the_load():
    path = folder_of(load()) / "train/cat/0001.jpg"
    path.unlink()
    with pytest.raises(
        CourseError, match=r"1 of 20 images missing, the first is train/cat/0001\.jpg; delete that folder"
    ):
        load()


def test_one_flipped_bit_is_named_when_the_image_is_read():
    images = load()
    path = folder_of(images) / "train/cat/0001.jpg"
    payload = bytearray(path.read_bytes())
    payload[-20] ^= 1
    path.write_bytes(payload)
    position = next(at for at in range(20) if images.sample_id(at) == "train-cat-0001")
    with pytest.raises(CourseError, match="sample train-cat-0001 has other bytes"):
        images[position]
    path.unlink()
    with pytest.raises(CourseError, match="sample train-cat-0001 cannot be read"):
        images[position]


def flipped(content, at):
    return content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"PK",
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: flipped(content, content.index(b"train/")),
    ],
)
def test_a_damaged_index_is_said(damage):
    path = folder_of(load()) / "index.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(CourseError, match=r"is damaged: found its index\.npz cannot be read"):
        load()


def test_no_flipped_byte_of_the_index_escapes():
    images = load()
    ids = [images.sample_id(index) for index in range(len(images))]
    path = folder_of(images) / "index.npz"
    whole = path.read_bytes()
    refused = 0
    for at in range(0, len(whole), 3):
        path.write_bytes(flipped(whole, at))
        try:
            damaged = load()
        except CourseError:
            refused += 1
        else:
            assert [damaged.sample_id(index) for index in range(len(damaged))] == ids, f"byte {at}"
    assert refused


@pytest.mark.parametrize(
    "changes",
    [
        {"names": np.arange(20)},
        {"names": np.array([b"train/nothing/0000.jpg"] * 20)},
        {"names": np.array([b"x"] * 20)},
        {"checksums": np.zeros(3, np.uint32)},
        {"sha256": np.arange(3)},
    ],
)
def test_an_index_of_another_kind_is_said(changes):
    path = folder_of(load()) / "index.npz"
    with np.load(path) as content:
        whole = dict(content)
    np.savez(path, **(whole | changes))
    with pytest.raises(CourseError, match=r"is damaged: found its index\.npz"):
        load()


def test_an_interrupted_generation_leaves_nothing_that_looks_whole(monkeypatch):
    def interrupted(*_):
        yield "train/airplane/0000.jpg", b"x"
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(loader, "generate_jpeg_files", interrupted)
        with pytest.raises(KeyboardInterrupt):
            load()
    assert [path.name for path in data_folder("cifar10").iterdir() if path.is_dir()] == []
    leftover = data_folder("cifar10") / f".generated-2026-train-20-v{loader.GENERATOR_VERSION}.abc.part"
    leftover.mkdir()
    assert len(load()) == 20
    assert not leftover.exists()


def test_worker_processes_started_afresh_read_each_sample_once():
    from torch.utils.data import DataLoader
    from torchvision.transforms import PILToTensor

    images = load(transform=PILToTensor())
    batches = DataLoader(images, batch_size=8, num_workers=1, multiprocessing_context="spawn")
    labels = [int(label) for _, batch in batches for label in batch]
    assert labels == images.labels.tolist()


def test_a_pickled_set_stays_small():
    images = load(count=1000)
    assert len(pickle.dumps(images)) < 60 * 1000


def test_the_samples_of_image_folder_are_there():
    images = load()
    assert len(images.samples) == 20
    path, label = images.samples[-1]
    assert Path(path).is_file()
    assert label == 9
    assert images.samples[:2] == [images.samples[0], images.samples[1]]


@pytest.mark.parametrize("count", [0, 2.5, 100_001])
def test_counts_that_cannot_be_generated_are_refused(count):
    with pytest.raises(CourseError, match="at most 100,000"):
        load(count=count)


def test_an_unknown_part_is_refused():
    with pytest.raises(CourseError, match="train or test"):
        load("validation")


def test_the_mirror_is_unpacked_once_and_ordered_by_path(small_mirror, monkeypatch):
    images = load_cifar10("train", progress=False)
    assert isinstance(images, JpegImageSet)
    assert (images.origin.kind, images.origin.sample_count) == ("mirror", 40)
    assert images.origin.sha256 == hashlib.sha256(small_mirror.read_bytes()).hexdigest()
    ids = [images.sample_id(at) for at in range(40)]
    assert ids == sorted(ids)
    assert images.labels.tolist() == np.repeat(range(10), 4).tolist()
    monkeypatch.setattr(loader, "zip_images", never_read)
    assert len(load_cifar10("test", progress=False)) == 20


def test_some_of_the_mirror_s_images_are_picked_evenly(small_mirror):
    images = load_cifar10("train", sample_count=20, progress=False)
    assert np.bincount(images.labels).tolist() == [2] * 10
    with pytest.raises(CourseError, match="at most 40, found 41"):
        load_cifar10("train", sample_count=41, progress=False)


def test_an_archive_with_too_few_images_is_refused(small_mirror, monkeypatch):
    monkeypatch.setattr(loader, "_MIRROR_IMAGES", 61)
    with pytest.raises(CourseError, match="expected 61, found 60"):
        load_cifar10(progress=False)
    assert not [path for path in data_folder("cifar10").iterdir() if path.is_dir()]


@pytest.mark.parametrize(
    "name", ["../evil.jpg", "train/cat/../../0001.jpg", "train/lion/0001.jpg", "/train/cat/0001.jpg"]
)
def test_a_member_outside_its_place_is_refused(tmp_path, name):
    archive = tmp_path / "odd.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr(name, b"x")
    with pytest.raises(CourseError, match="a member that does not belong there"):
        published_image_folder(
            tmp_path / "out",
            zip_images(archive, CLASSES),
            class_names=CLASSES,
            file_count=1,
            doing="unpacking",
            progress=False,
        )
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "evil.jpg").exists()


@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_a_damaged_zip_is_refused_while_unpacking(tmp_path, damage):
    archive = tmp_path / "odd.zip"
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr("train/cat/0001.jpg", b"some bytes" * 50)
    payload = bytearray(archive.read_bytes())
    payload[100] ^= 1
    archive.write_bytes(payload if damage == "flipped" else payload[: len(payload) // 2])
    with pytest.raises(CourseError, match=r"odd\.zip is damaged or cut short"):
        list(zip_images(archive, CLASSES))


def test_a_full_disk_is_noticed_before_unpacking(small_mirror, monkeypatch):
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("usage", (), {"free": 5000}))
    with pytest.raises(CourseError, match="The disk is too full"):
        load_cifar10(progress=False)


def test_a_home_that_cannot_be_written_is_said(tmp_path, monkeypatch):
    (tmp_path / "home").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "home/below"))
    with pytest.warns(UserWarning), pytest.raises(CourseError, match="could not be written"):
        load()


def test_the_official_files_are_read_by_torchvision(small_official):
    images = load_cifar10("train", source="official", progress=False)
    image, label = images[13]
    assert isinstance(images, OfficialImageSet)
    assert (image.size, label, type(label)) == ((32, 32), 3, int)
    assert images.classes == CLASSES
    assert images.sample_id(13) == "train-00013"
    assert images.origin.kind == "official"
    assert images.origin.sha256 == hashlib.sha256(small_official.read_bytes()).hexdigest()
    assert load_cifar10("test", progress=False).sample_id(9) == "test-00009"
    assert not list(small_official.parents[1].rglob("outside.txt"))


def test_picked_official_images_keep_their_published_positions(small_official):
    whole = load_cifar10("train", progress=False)
    some = load_cifar10("train", sample_count=10, progress=False)
    assert np.bincount(some.labels).tolist() == [1] * 10
    for at in range(10):
        position = int(some.sample_id(at).split("-")[1])
        assert np.array_equal(np.asarray(some[at][0]), np.asarray(whole[position][0]))


def test_a_damaged_official_batch_is_said(small_official):
    load_cifar10("train", progress=False)
    (batch,) = small_official.parents[1].rglob("data_batch_1")
    batch.write_bytes(b"damaged")
    with pytest.raises(CourseError, match="is damaged"):
        load_cifar10("train", progress=False)


def test_the_manifest_is_valid_and_says_when_values_are_known():
    assert validate_with_mlcroissant("cifar10") == []
    manifest = load_manifest("cifar10")
    assert manifest.field("image").known_at == "capture"
    assert manifest.label_field.known_at == "annotation"
    assert [moment.id for moment in manifest.moments] == ["capture", "annotation"]
    assert all(len(file.sha256) == 64 for file in manifest.files)


def test_other_croissant_readers_get_image_and_label(small_mirror, tmp_path):
    import mlcroissant

    published = manifests_folder() / "cifar10/croissant.json"
    description = json.loads(published.read_text(encoding="utf-8"))
    archive = description["distribution"][1]
    archive["sha256"] = hashlib.sha256(small_mirror.read_bytes()).hexdigest()
    archive["contentUrl"] = "small.zip"
    changed = tmp_path / "croissant.json"
    changed.write_text(json.dumps(description), encoding="utf-8")
    dataset = mlcroissant.Dataset(str(changed), mapping={"cifar10_jpeg.zip": str(small_mirror)})
    records = list(dataset.records("images-with-labels"))
    assert len(records) == 60
    labels = {record["images-with-labels/label"].decode() for record in records}
    assert labels == set(CLASSES)
    assert sum(record["images-with-labels/part"] == b"test" for record in records) == 20
    assert records[0]["images-with-labels/image"].size == (32, 32)


@pytest.fixture
def unpacked_mirror(mirror, course_home):
    yield mirror
    shutil.rmtree(course_home / "data", ignore_errors=True)


@pytest.mark.mirror
def test_the_real_images_of_the_mirror(unpacked_mirror):
    train, test = (load_cifar10(part, progress=False) for part in ("train", "test"))
    assert (len(train), len(test)) == (50_000, 10_000)
    assert np.bincount(train.labels).tolist() == [5000] * 10
    assert np.bincount(test.labels).tolist() == [1000] * 10
    assert train.origin.kind == "mirror"
    assert len({train.sample_id(at) for at in range(0, 50_000, 7)}) == len(range(0, 50_000, 7))
    image, label = train[49_999]
    assert (image.size, train.classes[label]) == ((32, 32), "truck")


@pytest.mark.mirror
def test_the_real_records_through_mlcroissant(mirror):
    """The test part stands for all: a reader takes several minutes for 60,000 files on a busy machine."""
    from mlcroissant._src.core.constants import EXTRACT_PATH

    try:
        records = list(croissant_records("cifar10", "test-images-with-labels", prepare_for_croissant()))
    finally:
        shutil.rmtree(EXTRACT_PATH, ignore_errors=True)
    assert Counter(record["label"] for record in records) == dict.fromkeys(CLASSES, 1000)
    assert records[0]["image"].size == (32, 32)


def test_croissant_readers_need_the_mirror():
    with pytest.raises(CourseError, match="set COURSE_DATA"):
        prepare_for_croissant()
