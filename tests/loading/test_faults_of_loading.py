"""Faults that people in this field really hit, by number; each must stay away."""

from __future__ import annotations

import multiprocessing
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from course_lib.errors import CourseError
from course_lib.loading import (
    IterableSamples,
    LoadedSamples,
    LoaderConditions,
    LoaderTiming,
    build_loader,
    check_readiness,
    open_samples,
    readiness,
    time_batches,
    total_rate,
)
from course_lib.loading.one_run import prepare
from course_lib.loading.runs import measure_task
from course_lib.stores import FolderStore

Small = Callable[..., LoaderConditions]


def epoch_of(loader: Any, epoch: int) -> tuple[list[int], torch.Tensor]:
    """Read one epoch; return positions in the order delivered, and the images by position."""
    loader.sampler.set_epoch(epoch)
    batches = list(loader)
    positions = torch.cat([batch["position"] for batch in batches])
    images = torch.cat([batch["image"] for batch in batches])
    return positions.tolist(), images[positions.argsort()]


def test_1_workers_never_share_an_augmentation(small: Small, image_folder: Path) -> None:
    paths = sorted(image_folder.rglob("[!.]*/[!.]*.png"))
    for path in paths[1:]:
        path.write_bytes(paths[0].read_bytes())
    images = {}
    for workers in (0, 4):
        conditions = small(sample_count=8, batch_size=2, workers=workers, transforms="augment", shuffle=False)
        loader = build_loader(open_samples(conditions), conditions)
        images[workers] = [epoch_of(loader, epoch)[1] for epoch in (0, 1)]
    for epoch in (0, 1):
        assert torch.equal(images[0][epoch], images[4][epoch])
        # Eight rows of the same image: with 162 crops and flips, a generator shared by workers shows.
        assert len({row.numpy().tobytes() for row in images[4][epoch]}) >= 7
    assert not torch.equal(images[4][0], images[4][1])


def test_2_metadata_of_many_samples_are_no_python_objects() -> None:
    count = 100_000
    names = np.array([f"train/airplane/{at:06d}.jpg".encode() for at in range(count)])
    samples = LoadedSamples(
        FolderStore(Path("nowhere")),
        names,
        names,
        np.zeros(count, dtype=np.int64),
        np.zeros(count, dtype=np.uint32),
        (3, 32, 32),
        None,
        None,
        LoaderConditions(),
    )
    handed_over = pickle.dumps(samples)
    assert len(handed_over) < 80 * count
    before = sys.getallocatedblocks()
    received = pickle.loads(handed_over)
    assert sys.getallocatedblocks() - before < 1_000
    assert len(received) == count


def test_3_samples_are_found_by_spawned_workers_and_none_are_needed(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert pickle.loads(pickle.dumps(open_samples(small())))[3]["position"] == 3
    monkeypatch.setattr(readiness, "why_workers_cannot_start", lambda: "no semaphores here")
    request = {
        "candidates": {f"workers {count}": small(workers=count).as_dict() for count in (0, 2, 4)},
        "repeats": 1,
        "warmup_batches": 1,
        "measured_batches": 2,
    }
    result = measure_task(request, lambda event: None)
    assert [run["candidate"] for run in result["runs"]] == ["workers 0"]
    assert "no semaphores here" in result["notes"][0] and "0 workers" in result["notes"][0]
    only = prepare({"workers 2": small(workers=2)}, lambda event: None)
    assert [(name, each.workers) for name, each in only.candidates.items()] == [("workers 0", 0)]


def test_4_too_little_shared_memory_is_told_before_the_run(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    conditions = small(workers=2, prefetch=3)
    batch_bytes = open_samples(conditions).batch_bytes(4)
    assert batch_bytes == 4 * 3 * 12 * 12
    needed = (2 * 4 + 1) * batch_bytes
    monkeypatch.setattr(readiness, "shared_memory", lambda: readiness.SharedMemory(needed - 1, needed))
    with pytest.raises(CourseError, match=r"too little shared memory.*9 batches"):
        check_readiness(conditions, batch_bytes)
    with pytest.raises(CourseError, match="too little shared memory"):
        prepare({"workers 2": conditions}, lambda event: None)
    monkeypatch.setattr(readiness, "shared_memory", lambda: readiness.SharedMemory(needed, needed))
    assert check_readiness(conditions, batch_bytes, start_a_worker=False).workers == 2
    assert check_readiness(small(), batch_bytes).workers == 0


def test_more_workers_than_open_files_allow_are_refused(
    small: Small, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readiness, "open_files_limit", lambda: 64)
    with pytest.raises(CourseError, match="more open files"):
        check_readiness(small(workers=8), 0)
    monkeypatch.setattr(readiness, "open_files_limit", lambda: None)
    assert check_readiness(small(workers=8), 0, start_a_worker=False).workers == 8


@pytest.mark.parametrize("workers", [0, 1, 3, 6])
@pytest.mark.parametrize("ranks", [1, 2])
def test_5_an_iterable_set_delivers_each_id_once(small: Small, workers: int, ranks: int) -> None:
    conditions = small(sample_count=5, batch_size=2)
    samples = open_samples(conditions)
    delivered: list[int] = []
    for rank in range(ranks):
        share = IterableSamples(samples, conditions, rank=rank, ranks=ranks)
        for batch in DataLoader(share, batch_size=2, num_workers=workers):
            delivered += batch["position"].tolist()
    assert sorted(delivered) == list(range(5))


@pytest.mark.parametrize("workers", [0, 2])
def test_6_the_epoch_reaches_workers_that_live_on(small: Small, workers: int) -> None:
    conditions = small(workers=workers, transforms="augment", persistent_workers=True)
    samples = open_samples(conditions)
    loader = build_loader(samples, conditions)
    first, first_images = epoch_of(loader, 0)
    children = {child.pid for child in multiprocessing.active_children()}
    second, second_images = epoch_of(loader, 1)
    assert {child.pid for child in multiprocessing.active_children()} >= children
    again, again_images = epoch_of(loader, 0)
    assert sorted(first) == sorted(second) == list(range(48))
    assert first != second and first == again
    assert not torch.equal(first_images, second_images) and torch.equal(first_images, again_images)


def test_6_the_epoch_reaches_workers_of_an_iterable_set(small: Small) -> None:
    conditions = small(transforms="augment")
    share = IterableSamples(open_samples(conditions), conditions)
    loader = DataLoader(share, batch_size=4, num_workers=2, persistent_workers=True)
    orders = []
    for epoch in (0, 1, 0):
        share.set_epoch(epoch)
        orders.append(torch.cat([batch["position"] for batch in loader]).tolist())
    assert orders[0] != orders[1] and orders[0] == orders[2]


def test_7_hidden_folders_are_no_class_and_no_samples(small: Small) -> None:
    samples = open_samples(small(sample_count=None))
    assert len(samples) == 48
    assert set(samples.labels.tolist()) == {0}


def test_8_a_rank_without_samples_is_refused_before_the_start(small: Small) -> None:
    conditions = small(sample_count=5, batch_size=2)
    samples = open_samples(conditions)
    with pytest.raises(CourseError, match="more ranks than samples"):
        IterableSamples(samples, conditions, rank=0, ranks=6)
    for rank in (-1, 2):
        with pytest.raises(CourseError, match="no such rank"):
            IterableSamples(samples, conditions, rank=rank, ranks=2)


def test_9_a_total_rate_is_total_work_over_total_time() -> None:
    runs = [LoaderTiming(0.0, 0.0, 0, np.ones(1), 1_000, 1, "", seconds) for seconds in (1.0, 9.0)]
    work, time = [run.sample_count for run in runs], [run.elapsed_seconds for run in runs]
    assert total_rate(amounts=work, seconds=time) == 200.0
    assert np.mean([run.samples_per_second for run in runs]) == pytest.approx(555.6, abs=0.1)


def test_11_every_run_tells_the_cache_state(small: Small) -> None:
    request = {
        "candidates": {"as chosen": small(cache="evict").as_dict()},
        "repeats": 2,
        "warmup_batches": 1,
        "measured_batches": None,
    }
    result = measure_task(request, lambda event: None)
    for run in result["runs"]:
        for moment in ("cache_before", "cache_after"):
            state = run[moment]
            assert state["kind"] in ("warm", "cold", "partly warm", "unknown")
            assert state["kind"] != "unknown" or state["reason"]
            if sys.platform == "linux" and state["kind"] != "unknown":
                assert state["file_count"] == 48
        if run["cache_after"]["kind"] != "unknown":
            assert run["cache_after"]["resident_share"] >= run["cache_before"]["resident_share"]


def test_12_data_that_run_out_are_an_error_and_no_second_pass() -> None:
    class Once:
        passes = 0

        def __iter__(self) -> Any:
            Once.passes += 1
            return iter([torch.zeros(4, 1)] * 30)

    with pytest.raises(CourseError, match=r"run out.*expected 110 batches.*found 30.*lower") as caught:
        time_batches(Once)
    assert Once.passes == 1
    assert "10 to warm up" in str(caught.value) and "100 to measure" in str(caught.value)
    with pytest.raises(CourseError, match=r"found 30"):
        time_batches(lambda: [torch.zeros(4, 1)] * 30)
    with pytest.raises(CourseError, match=r"found 0"):
        time_batches(lambda: iter([]))
    with pytest.raises(CourseError, match=r"run out"):
        time_batches(lambda: [torch.zeros(4, 1)] * 30, warmup_batches=40, measured_batches=None)
