from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from course_lib.errors import CourseError
from course_lib.loading import LoaderConditions, build_loader, measure_loader, open_samples
from course_lib.loading.packing import label_map_of, set_folder
from course_lib.loading.sharded import WHAT_OPENS, ShardSamples
from course_lib.stores import SetLatencyStore

Small = Callable[..., LoaderConditions]


def whole(conditions: LoaderConditions) -> dict[str, Any]:
    """Load one epoch and join its batches."""
    batches = list(build_loader(open_samples(conditions), conditions))
    return {name: torch.cat([batch[name] for batch in batches]) for name in ("image", "label", "position")}


def in_shards(conditions: LoaderConditions) -> ShardSamples:
    samples = open_samples(conditions.with_changes(layout="shards"))
    assert isinstance(samples, ShardSamples)
    return samples


def sets_of(home: Path) -> list[Path]:
    return [path for path in (home / "shards").iterdir() if path.is_dir()]


@pytest.mark.parametrize("transforms", ["decode", "augment"])
@pytest.mark.parametrize("workers", [0, 2])
def test_shards_deliver_the_same_batches_as_files(small: Small, transforms: str, workers: int) -> None:
    files = small(transforms=transforms, workers=workers, epoch=3, shard_target_bytes=20_000)
    shards = files.with_changes(layout="shards")
    expected, found = whole(files), whole(shards)
    assert len(in_shards(files).shard_set.manifest.shards) > 1
    for name in expected:
        assert torch.equal(expected[name], found[name])


def test_ids_labels_and_payloads_come_from_the_set() -> None:
    conditions = LoaderConditions(sample_count=40, batch_size=8)
    files, shards = open_samples(conditions), in_shards(conditions)
    everything = range(40)
    payloads = [files.payload(at) for at in everything]
    for path in files.paths():
        path.unlink()
    assert shards.sample_ids(everything) == files.sample_ids(everything)
    assert shards.labels.tolist() == files.labels.tolist() and len(set(shards.labels.tolist())) == 10
    assert label_map_of(shards) == label_map_of(files) and len(label_map_of(shards)) == 10
    assert [shards.payload(at) for at in everything] == payloads


def test_a_set_is_packed_once_and_found_again(small: Small, course_home: Path) -> None:
    first = in_shards(small())
    (folder,) = sets_of(course_home)
    made = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = in_shards(small(batch_size=2, epoch=1, transforms="bytes", open_ms=1.0))
    assert first.folder == again.folder == folder
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == made
    assert sorted(path.name for path in first.paths()) == sorted(path.name for path in folder.glob("*.tar"))


def test_other_samples_or_another_target_make_another_set(small: Small, course_home: Path) -> None:
    for changes in ({}, {"sample_count": 40}, {"seed": 1}, {"shard_target_bytes": 20_000}):
        in_shards(small(**changes))
    assert len(sets_of(course_home)) == 4


def test_a_changed_file_makes_another_set(small: Small, image_folder: Path) -> None:
    before = in_shards(small())
    first, second = (image_folder / "a" / name for name in ("001.png", "003.png"))
    first.write_bytes(second.read_bytes())
    os.utime(first, ns=(1, 1))
    after = in_shards(small())
    assert before.folder != after.folder
    assert after.payload(0) == second.read_bytes() != before.payload(0)


def test_a_damaged_file_is_never_packed(course_home: Path) -> None:
    conditions = LoaderConditions(sample_count=40, batch_size=8)
    path = open_samples(conditions).paths()[5]
    payload = bytearray(path.read_bytes())
    payload[-3] ^= 1
    path.write_bytes(payload)
    with pytest.raises(CourseError, match=r"train-automobile-0001 .*other bytes than were written"):
        in_shards(conditions)
    assert sets_of(course_home) == []


def test_a_damaged_record_is_named_and_never_handed_out(small: Small) -> None:
    conditions = small(layout="shards", transforms="bytes")
    samples = in_shards(conditions)
    row = samples.shard_set.index[samples._at[7]]
    shard = samples.paths()[int(row["shard"])]
    content = bytearray(shard.read_bytes())
    content[int(row["start"]) + 5] ^= 1
    shard.write_bytes(content)
    with pytest.raises(CourseError, match="image-000007"):
        list(build_loader(in_shards(conditions), conditions))


def test_a_set_that_lost_a_shard_is_refused_with_what_to_do(small: Small) -> None:
    samples = in_shards(small())
    samples.paths()[0].unlink()
    with pytest.raises(CourseError, match=r"train-000000\.tar.*delete that folder"):
        in_shards(small())


def test_the_set_time_is_spent_once_for_each_shard(small: Small) -> None:
    samples = in_shards(small(open_ms=0.1, shard_target_bytes=20_000, transforms="bytes"))
    shards = len(samples.shard_set.manifest.shards)
    assert shards > 2
    for _ in range(2):
        samples.__getitems__(list(range(48)))
    assert samples._opens.counts["open"] == shards
    assert pickle.loads(pickle.dumps(samples)).payload(0) == samples.payload(0)


def test_a_forked_worker_opens_the_shards_for_itself(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = in_shards(small(open_ms=0.1, transforms="bytes"))
    samples.payload(0)
    monkeypatch.setattr(os, "getpid", lambda: -2)
    samples.payload(0)
    assert samples._opens.counts["open"] == 2


def test_nothing_is_opened_by_set_time_where_none_is_set(small: Small) -> None:
    samples = in_shards(small(transforms="bytes"))
    samples.payload(0)
    assert samples._opens.counts["open"] == 0


def test_the_set_bandwidth_counts_the_bytes_of_each_sample(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(SetLatencyStore, "_wait_until", lambda self, end: slept.append(end - self._clock()))
    samples = in_shards(small(transforms="bytes", bandwidth_bytes_per_second=1_000.0))
    payloads = samples.payloads([3, 4])
    assert payloads == [open_samples(small()).payload(at) for at in (3, 4)]
    # Each one's own bytes, less what reading it took and the debt of the one before.
    assert len(slept) == 2 and sum(slept) > 0.5 * sum(map(len, payloads)) / 1_000


def test_layouts_are_compared_by_the_measuring_rules(small: Small) -> None:
    comparison = measure_loader(
        small(open_ms=0.2), vary={"layout": ["files", "shards", "memory"]}, warmup_batches=1, progress=False
    )
    assert comparison.candidates() == ("layout files", "layout shards", "layout memory")
    assert comparison.same_samples and comparison.plan["notes"] == (WHAT_OPENS,)
    files, shards = (comparison.runs_of(f"layout {name}")[0] for name in ("files", "shards"))
    assert files.cache_before.file_count in (0, 48) and shards.cache_before.file_count in (0, 1)


def test_eviction_drops_the_shards(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    from course_lib.loading import one_run

    dropped: list[Path] = []
    real = one_run.evict
    monkeypatch.setattr(one_run, "evict", lambda paths, **more: dropped.extend(paths) or real(paths, **more))
    conditions = small(layout="shards", cache="evict")
    one_run.run_once(
        "layout shards",
        conditions,
        repeat=0,
        turn=0,
        warmup_batches=1,
        measured_batches=None,
        tell=lambda now: None,
    )
    assert dropped == in_shards(conditions).paths() and dropped[0].suffix == ".tar"


def test_files_of_several_kinds_are_packed(small: Small, image_folder: Path) -> None:
    from PIL import Image

    Image.open(image_folder / "a" / "001.png").save(image_folder / "a" / "001.jpg")
    (image_folder / "a" / "003.png").unlink()
    conditions = small()
    assert torch.equal(whole(conditions)["image"], whole(conditions.with_changes(layout="shards"))["image"])


def test_the_folder_of_a_set_names_its_data_and_no_path(small: Small, image_folder: Path) -> None:
    conditions = LoaderConditions(sample_count=40, batch_size=8, shard_target_bytes=50_000)
    assert set_folder(open_samples(conditions), conditions).name.startswith("cifar10-train-40-2026-50000-")
    own = set_folder(open_samples(small()), small())
    assert own.name.startswith("folder-48-2026-16000000-")


@pytest.mark.parametrize("target", [0, -1, 1.5, True])
def test_a_target_that_is_no_size_is_refused(target: Any) -> None:
    with pytest.raises(CourseError, match="shard_target_bytes is out of range"):
        LoaderConditions(shard_target_bytes=target)


@pytest.mark.mirror
def test_real_images_are_the_same_from_shards(mirror: Path) -> None:
    files = LoaderConditions(sample_count=600, source="mirror", shard_target_bytes=500_000)
    expected, found = whole(files), whole(files.with_changes(layout="shards"))
    for name in expected:
        assert torch.equal(expected[name], found[name])
