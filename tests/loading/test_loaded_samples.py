from __future__ import annotations

import io
import os
import pickle
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from course_lib.datasets import load_cifar10
from course_lib.datasets.downloads import official_path
from course_lib.errors import CourseError
from course_lib.loading import LoaderConditions, build_loader, open_samples
from course_lib.manifests import load_manifest
from course_lib.stores import SetLatencyStore

Small = Callable[..., LoaderConditions]


def whole(conditions: LoaderConditions) -> dict[str, Any]:
    """Load one epoch and join its batches."""
    batches = list(build_loader(open_samples(conditions), conditions))
    return {name: torch.cat([batch[name] for batch in batches]) for name in ("image", "label", "position")}


def test_a_folder_has_its_images_and_nothing_else(small: Small, image_folder: Path) -> None:
    conditions = small(shuffle=False)
    samples = open_samples(conditions)
    assert len(samples) == 48 and samples.origin is None
    assert samples.sample_ids([0, 47]) == ["image-000000", "image-000047"]
    assert [path.name for path in samples.paths()[:2]] == ["001.png", "003.png"]
    loaded = whole(conditions)
    first = np.array(Image.open(image_folder / "a" / "001.png"))
    assert loaded["image"].dtype == torch.uint8 and loaded["image"].shape == (48, 3, 12, 12)
    assert torch.equal(loaded["image"][0], torch.from_numpy(first).permute(2, 0, 1))
    assert loaded["position"].tolist() == list(range(48))


def test_bytes_are_those_of_the_files(small: Small) -> None:
    conditions = small(transforms="bytes", shuffle=False)
    samples = open_samples(conditions)
    batch = next(iter(build_loader(samples, conditions)))
    assert batch["image"] == [path.read_bytes() for path in samples.paths()[:4]]


def test_the_layout_in_memory_reads_no_file_during_the_run(small: Small) -> None:
    from_files = whole(small())
    samples = open_samples(small(layout="memory", open_ms=1_000.0))
    for path in samples.paths():
        path.unlink()
    conditions = small(layout="memory")
    batches = list(build_loader(samples, conditions))
    assert torch.equal(torch.cat([batch["image"] for batch in batches]), from_files["image"])


def test_set_latency_is_the_stores(small: Small) -> None:
    samples = open_samples(small(open_ms=2.0, bandwidth_bytes_per_second=1e6))
    assert isinstance(samples.store, SetLatencyStore)
    assert samples.store.set_seconds["open"] == 0.002
    assert samples.store.bytes_per_second == 1e6
    assert not isinstance(open_samples(small()).store, SetLatencyStore)


def test_augmented_images_are_normalised_crops(small: Small) -> None:
    loaded = whole(small(transforms="augment"))
    assert loaded["image"].dtype == torch.float32 and loaded["image"].shape == (48, 3, 12, 12)
    assert -1.0 <= loaded["image"].min() < -0.9 and 0.9 < loaded["image"].max() <= 1.0
    assert not torch.equal(whole(small(transforms="augment", epoch=1))["image"], loaded["image"])


def test_decoding_again_changes_nothing_but_the_time(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = 0
    decode = Image.open

    def counted(*arguments: Any, **options: Any) -> Image.Image:
        nonlocal calls
        calls += 1
        return decode(*arguments, **options)

    samples = open_samples(small())
    monkeypatch.setattr(Image, "open", counted)
    once = samples[4]["image"]
    assert calls == 1
    monkeypatch.undo()
    samples = open_samples(small(decode_repeats=3))
    monkeypatch.setattr(Image, "open", counted)
    assert torch.equal(samples[4]["image"], once)
    assert calls == 1 + 3


def test_generated_images_are_those_of_the_data_set() -> None:
    conditions = LoaderConditions(source="generated", sample_count=40, batch_size=8)
    samples = open_samples(conditions)
    images = load_cifar10(source="generated", sample_count=40, progress=False)
    assert samples.sample_ids(range(40)) == [images.sample_id(at) for at in range(40)]
    assert samples.labels.tolist() == images.labels.tolist()
    assert samples.origin == images.origin
    loaded = whole(conditions.with_changes(shuffle=False))
    pixels = torch.from_numpy(np.stack([np.asarray(image) for image, _ in images])).permute(0, 3, 1, 2)
    assert torch.equal(loaded["image"], pixels)
    assert loaded["label"].tolist() == images.labels.tolist()


def test_the_publishers_pixels_become_lossless_files_once(official_images: np.ndarray) -> None:
    conditions = LoaderConditions(source="official", sample_count=None, batch_size=5, shuffle=False)
    loaded = whole(conditions)
    assert torch.equal(loaded["image"], torch.from_numpy(official_images))
    samples = open_samples(conditions)
    images = load_cifar10(source="official", progress=False)
    assert samples.sample_ids(range(25)) == [images.sample_id(at) for at in range(25)]
    assert loaded["label"].tolist() == images.labels.tolist()
    written = {path: path.stat().st_mtime_ns for path in samples.paths()}

    some = conditions.with_changes(sample_count=10)
    picked = load_cifar10(source="official", sample_count=10, progress=False)
    samples = open_samples(some)
    assert samples.sample_ids(range(10)) == [picked.sample_id(at) for at in range(10)]
    positions = [int(identifier.removeprefix("train-")) for identifier in samples.sample_ids(range(10))]
    assert torch.equal(whole(some)["image"], torch.from_numpy(official_images[positions]))
    assert {path: path.stat().st_mtime_ns for path in written} == written


@pytest.fixture
def official_images(monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """Put a small official archive there; return the pixels of its training part."""
    from course_lib.datasets import cifar10

    pixels = np.random.default_rng(3).integers(0, 256, (30, 3, 32, 32), dtype=np.uint8)
    manifest = load_manifest("cifar10")
    target = official_path("cifar10", manifest.published_file("cifar-10-python.tar.gz"))
    target.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(target, "w:gz") as archive:

        def add(name: str, content: Any) -> None:
            payload = pickle.dumps(content)
            member = tarfile.TarInfo(f"cifar-10-batches-py/{name}")
            member.size = len(payload)
            archive.addfile(member, io.BytesIO(payload))

        names = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]
        for at, name in enumerate(names):
            part = pixels[5 * at : 5 * at + 5]
            add(name, {"data": part.reshape(5, -1), "labels": [(2 * at + row) % 10 for row in range(5)]})
        add("batches.meta", {"label_names": list(manifest.label_map)})
    monkeypatch.setattr(cifar10.OfficialImageSet, "_check_integrity", lambda self: True)
    monkeypatch.setattr(cifar10.OfficialImageSet, "_load_meta", _load_meta)
    _accept(monkeypatch, target)
    return pixels[:25]


def _load_meta(self: Any) -> None:
    self.classes = list(load_manifest("cifar10").label_map)
    self.class_to_idx = {name: code for code, name in enumerate(self.classes)}


def _accept(monkeypatch: pytest.MonkeyPatch, target: Path) -> None:
    import hashlib

    from course_lib.datasets import cifar10
    from course_lib.datasets.sources import FoundFile

    found = FoundFile(target, "official", hashlib.sha256(target.read_bytes()).hexdigest())
    monkeypatch.setattr(cifar10, "find_data_set", lambda manifest, source: {"file": found})


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (lambda path: path.unlink(), "cannot be read"),
        (lambda path: (path.unlink(), path.mkdir()), "cannot be read"),
        (lambda path: path.write_bytes(b"no image"), "cannot be decoded"),
        (lambda path: path.write_bytes(b""), "cannot be decoded"),
        (lambda path: path.write_bytes(path.read_bytes()[:-40]), "cannot be decoded"),
        (lambda path: Image.new("RGB", (10, 12)).save(path), "has another shape"),
    ],
)
def test_a_sample_that_fails_is_named(
    small: Small, trouble: Callable[[Path], Any], words: str, workers: int
) -> None:
    conditions = small(workers=workers, shuffle=False)
    samples = open_samples(conditions)
    batches = iter(build_loader(samples, conditions))
    next(batches)
    trouble(samples.paths()[40])
    with pytest.raises(CourseError, match=words) as caught:
        list(batches)
    assert "image-000040" in str(caught.value)
    assert "\n" not in str(caught.value) and "Traceback" not in str(caught.value)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="this user may read everything")
def test_a_file_that_became_unreadable_is_named(small: Small) -> None:
    conditions = small(shuffle=False)
    samples = open_samples(conditions)
    samples.paths()[7].chmod(0)
    with pytest.raises(CourseError, match="image-000007"):
        list(build_loader(samples, conditions))


def test_changed_bytes_of_a_data_set_are_found_without_decoding() -> None:
    conditions = LoaderConditions(source="generated", sample_count=20, batch_size=5, transforms="bytes")
    samples = open_samples(conditions)
    path = samples.paths()[3]
    path.write_bytes(path.read_bytes()[:-1] + b"\x00")
    with pytest.raises(CourseError, match=f"{samples.sample_id(3)}.* is damaged"):
        list(build_loader(samples, conditions))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"path": "no/such/folder"}, "is not a folder"),
        ({"sample_count": 49}, "fewer images than were asked for"),
        ({"sample_count": None, "batch_size": 49}, "fewer samples than one batch"),
        ({"sample_count": None, "workers": 13}, "more workers than batches"),
    ],
)
def test_samples_that_are_not_there_are_said(small: Small, changes: dict[str, Any], words: str) -> None:
    with pytest.raises(CourseError, match=words):
        open_samples(small(**changes))


def test_an_empty_folder_is_said(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no images"):
        open_samples(LoaderConditions(path=str(tmp_path)))


def test_a_first_file_that_is_no_image_is_said(small: Small) -> None:
    open_samples(small()).paths()[0].write_bytes(b"no image")
    with pytest.raises(CourseError, match="first image"):
        open_samples(small())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no such pipes")
@pytest.mark.parametrize("name", ["000.png", "999.png"])
def test_a_pipe_among_the_images_is_left_out_and_keeps_nobody_waiting(
    small: Small, image_folder: Path, name: str
) -> None:
    os.mkfifo(image_folder / name)
    (image_folder / f"9{name}").symlink_to("/dev/zero")
    samples = open_samples(small(sample_count=None))
    assert len(samples) == 48
    assert name not in [path.name for path in samples.paths()[:1]] + [samples.paths()[-1].name]


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("target", ["nowhere.png", "zzz.png"])
def test_an_image_that_is_a_link_to_nowhere_is_told_and_not_passed_over(
    small: Small, image_folder: Path, target: str
) -> None:
    (image_folder / "zzz.png").symlink_to(target)
    samples = open_samples(small(sample_count=49))
    with pytest.raises(CourseError, match=r"image-000048 in .* cannot be read"):
        samples[48]


@pytest.mark.skipif(sys.platform != "linux", reason="only here a name may be any bytes")
def test_an_image_whose_name_is_no_text_is_refused(small: Small, image_folder: Path) -> None:
    (image_folder / os.fsdecode(b"\xff.png")).write_bytes(b"")
    with pytest.raises(CourseError, match="cannot be read as text: expected names in UTF-8"):
        open_samples(small())


def test_a_home_folder_of_nobody_is_one_sentence() -> None:
    with pytest.raises(CourseError, match="names no home folder"):
        open_samples(LoaderConditions(path="~nobody-of-this-name/images"))
