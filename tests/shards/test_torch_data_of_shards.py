"""PyTorch data sets over a shard set: exactly once, whole batches, epochs that reach workers that live on."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from handmade_sets import Sample, flip_byte, samples_of, write_set
from torch.utils.data import DataLoader

from course_lib.errors import CourseError
from course_lib.shards import Drawn, ShardedBatches, ShardedLoader, ShardedSamples, ShardSet, keep_batch

SIZES = (13, 4, 1, 19, 6)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "set"


@pytest.fixture
def samples(folder: Path) -> list[Sample]:
    return write_set(folder, samples_of(sum(SIZES)), SIZES)


def positions(batches: Any) -> list[int]:
    return [at for batch in batches for at in batch["position"].tolist()]


@pytest.mark.parametrize("workers", [0, 2])
def test_map_style_batches_hold_the_samples_that_were_asked_for(
    folder: Path, samples: list[Sample], workers: int
) -> None:
    data = ShardedSamples(folder)
    order = np.random.default_rng(3).permutation(len(data)).tolist()
    loader = DataLoader(data, batch_size=8, sampler=order, num_workers=workers, collate_fn=keep_batch)
    at = 0
    for batch in loader:
        wanted = [samples[position] for position in order[at : at + 8]]
        assert batch["payload"] == [sample.payload for sample in wanted]
        assert batch["label"].tolist() == [sample.label for sample in wanted]
        assert data.sample_ids(batch["position"].tolist()) == [sample.id for sample in wanted]
        at += 8
    assert data[7] == {"payload": samples[7].payload, "label": samples[7].label, "position": 7}
    assert data[(3, 7)] == data[7]
    assert data.sample_id(7) == samples[7].id


def test_a_whole_batch_is_read_in_one_go(
    folder: Path, samples: list[Sample], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    read = ShardSet.read_found
    monkeypatch.setattr(
        ShardSet, "read_found", lambda self, at, **copy: calls.append(len(at)) or read(self, at, **copy)
    )
    list(DataLoader(ShardedSamples(folder), batch_size=16, collate_fn=keep_batch))
    assert calls == [16, 16, 11]


@pytest.mark.parametrize(("workers", "start_method"), [(1, None), (2, "spawn"), (5, None)])
@pytest.mark.parametrize("ranks", [1, 3])
def test_real_workers_deliver_every_sample_once(
    folder: Path, samples: list[Sample], workers: int, start_method: str | None, ranks: int
) -> None:
    delivered = []
    for rank in range(ranks):
        batches = ShardedBatches(folder, 8, rank=rank, ranks=ranks)
        loader = ShardedLoader(batches, workers=workers, start_method=start_method)
        found = list(loader)
        assert len(found) == len(loader)
        delivered += positions(found)
        assert all(
            batch["payload"] == [samples[at].payload for at in batch["position"].tolist()] for batch in found
        )
    assert sorted(delivered) == list(range(43))


def test_a_plain_data_loader_repeats_nothing_either(folder: Path, samples: list[Sample]) -> None:
    loader = DataLoader(ShardedBatches(folder, 8), batch_size=None, num_workers=3, collate_fn=keep_batch)
    assert sorted(positions(loader)) == list(range(43))


@pytest.mark.parametrize("workers", [0, 2])
def test_each_epoch_has_its_own_order_though_workers_live_on(
    folder: Path, samples: list[Sample], workers: int
) -> None:
    loader = ShardedLoader(ShardedBatches(folder, 8, shuffle="full"), workers=workers, persistent=True)
    epochs = [positions(loader) for _ in range(3)]
    assert epochs == [
        loader.batches.recipe.positions(loader.batches.set.shard_sizes, epoch).tolist() for epoch in range(3)
    ]
    loader.set_epoch(0)
    assert positions(loader) == epochs[0]


def test_more_workers_than_batches_and_shards_end_without_waiting(
    folder: Path, samples: list[Sample]
) -> None:
    loader = ShardedLoader(ShardedBatches(folder, 30), workers=5, timeout_seconds=60)
    assert len(loader) == 2
    assert sorted(positions(loader)) == list(range(43))


def test_too_many_ranks_are_refused_before_any_worker_starts(folder: Path, samples: list[Sample]) -> None:
    with pytest.raises(CourseError, match="A rank would be left without a batch"):
        ShardedBatches(folder, 8, ranks=44)
    with pytest.raises(CourseError, match="no such rank: expected 0 to 1 of 2, found 2"):
        ShardedBatches(folder, 8, rank=2, ranks=2)


def test_odd_choices_of_the_loader_are_refused(folder: Path, samples: list[Sample]) -> None:
    batches = ShardedBatches(folder, 8)
    for options in ({"workers": -1}, {"workers": 1.5}, {"prefetch": 0}, {"workers": 1, "start_method": "x"}):
        with pytest.raises(CourseError):
            ShardedLoader(batches, **options)  # type: ignore[arg-type]
    with pytest.raises(CourseError, match="A transform needs decoded images"):
        ShardedBatches(folder, 8, transform=lambda images, drawn: images)


def test_a_batch_arrives_from_a_worker_as_it_left(folder: Path, samples: list[Sample]) -> None:
    batch = next(iter(ShardedBatches(folder, 8)))
    arrived = pickle.loads(pickle.dumps(batch))
    assert type(arrived) is type(batch) and arrived.keys() == batch.keys()
    for key in ("label", "position"):
        assert torch.equal(arrived[key], batch[key]) and arrived[key].dtype == torch.int64
    assert [arrived[key] for key in ("payload", "step", "failed", "losses")] == [
        batch[key] for key in ("payload", "step", "failed", "losses")
    ]


@pytest.mark.parametrize("limit", [0, 10_000_000])
def test_decoded_batches_arrive_from_a_worker_as_they_left(
    tmp_path: Path, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from test_decoding_of_batches import write_images

    monkeypatch.setattr("course_lib.shards.torch_batches._SMALL_BYTES", limit)
    write_images(tmp_path / "set", 6)
    batches = ShardedBatches(tmp_path / "set", 3, decoder="pillow")
    arrived = list(ShardedLoader(ShardedBatches(tmp_path / "set", 3, decoder="pillow"), workers=1))
    for one, other in zip(batches, arrived, strict=True):
        assert torch.equal(one["image"], other["image"])
        other["image"] += 1


def test_a_batch_that_lost_every_sample_is_empty_and_says_so(folder: Path, samples: list[Sample]) -> None:
    for name in folder.glob("*.tar"):
        name.unlink()
    batch = next(iter(ShardedBatches(folder, 8, shuffle="none", strict=False)))
    arrived = pickle.loads(pickle.dumps(batch))
    assert arrived["payload"] == [] and arrived["label"].shape == (0,)
    assert arrived["failed"] == list(range(8)) and len(arrived["losses"]) == 8


def test_a_tolerant_map_style_batch_says_what_failed(folder: Path, samples: list[Sample]) -> None:
    row = np.load(folder / "index.npy")[5]
    flip_byte(folder / "train-000000.tar", int(row["start"]))
    data = ShardedSamples(folder, strict=False)
    batch = data.__getitems__([4, 5, 6])
    assert (batch["position"].tolist(), batch["failed"]) == ([4, 6], [5])
    with pytest.raises(CourseError, match="Sample s-0005 in shard"):
        data[5]


def test_a_transform_gets_the_epoch_and_position_of_each_image(tmp_path: Path) -> None:
    from test_decoding_of_batches import write_images

    write_images(tmp_path / "set", 6)
    seen: list[list[Drawn]] = []

    def transform(images: torch.Tensor, drawn: Any) -> torch.Tensor:
        seen.append(list(drawn))
        return images.float()

    loader = ShardedLoader(
        ShardedBatches(tmp_path / "set", 3, shuffle="none", decoder="pillow", transform=transform)
    )
    for _ in range(2):
        assert all(batch["image"].dtype == torch.float32 for batch in loader)
    assert list(itertools.chain(*seen)) == [Drawn(epoch, at) for epoch in range(2) for at in range(6)]


@pytest.mark.parametrize("workers", [0, 1])
def test_a_dataloader_without_keep_batch_is_told_to_take_it(
    folder: Path, samples: list[Sample], workers: int
) -> None:
    with pytest.raises(CourseError, match="give the DataLoader collate_fn=keep_batch"):
        next(iter(DataLoader(ShardedSamples(folder), batch_size=8, num_workers=workers)))
    with pytest.raises(KeyError, match="image"):
        ShardedSamples(folder).__getitems__([0])["image"]


def test_a_dataloader_that_collates_whole_batches_is_told_to_leave_them(
    folder: Path, samples: list[Sample]
) -> None:
    with pytest.raises(CourseError, match="use ShardedLoader, or give the DataLoader batch_size=None"):
        next(iter(DataLoader(ShardedBatches(folder, 8), batch_size=2)))
    first = next(iter(DataLoader(ShardedBatches(folder, 8), batch_size=None)))
    assert len(first["position"]) == 8


def test_payloads_that_are_no_images_are_told_to_go_without_a_decoder(
    folder: Path, samples: list[Sample]
) -> None:
    extension = ShardSet.open(folder).manifest.extension
    with pytest.raises(CourseError, match=rf"payloads of this set are \.{extension}:.*use decoder=None"):
        ShardedSamples(folder, decoder="auto")[0]
