"""A pass that stops after any batch goes on exactly: delivered and remaining make the epoch, in order."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handmade_sets import samples_of, write_set

from course_lib.errors import CourseError
from course_lib.shards import ShardedBatches, ShardedLoader

SIZES = (13, 4, 1, 19, 6)
BATCH = 4
STEPS = 11


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_set(tmp_path / "set", samples_of(sum(SIZES)), SIZES)
    return tmp_path / "set"


class _Worker:
    """Stands for torch's worker_info, so that many workers are tried without starting processes."""

    def __init__(self, id: int, num_workers: int) -> None:
        self.id, self.num_workers = id, num_workers


def as_workers(batches: ShardedBatches, workers: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield the batches as a DataLoader with so many workers would: from each in turn."""
    if not workers:
        yield from batches
        return
    parts = []
    for worker in range(workers):
        info = _Worker(worker, workers)
        monkeypatch.setattr("course_lib.shards.torch_data.get_worker_info", lambda info=info: info)
        parts.append(iter(batches))
    monkeypatch.setattr("course_lib.shards.torch_data.get_worker_info", lambda: None)
    for batch in itertools.chain.from_iterable(itertools.zip_longest(*parts)):
        if batch is not None:
            yield batch


def positions(batches: Any) -> list[list[int]]:
    return [batch["position"].tolist() for batch in batches]


def pretend_workers(loader: ShardedLoader, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class _InProcess:
        def __iter__(self) -> Iterator[Any]:
            return as_workers(loader.batches, workers, monkeypatch)

    loader._loader = _InProcess()  # type: ignore[assignment]


@pytest.mark.parametrize("shuffle", ["none", "shards+buffer", "full"])
@pytest.mark.parametrize("workers", [0, 1, 2, 3, 5, 14])
@pytest.mark.parametrize(("rank", "ranks"), [(0, 1), (1, 2)])
def test_delivered_and_remaining_make_the_epoch_for_every_stopping_point(
    folder: Path, shuffle: Any, workers: int, rank: int, ranks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def loader() -> ShardedLoader:
        made = ShardedLoader(ShardedBatches(folder, BATCH, shuffle=shuffle, buffer=9, rank=rank, ranks=ranks))
        pretend_workers(made, workers, monkeypatch)
        return made

    never_stopped = loader()
    epochs = [positions(never_stopped) for _ in range(4)]
    steps = len(never_stopped)
    for stop in range(steps + 1):
        first = loader()
        first.set_epoch(1)
        delivered = positions(itertools.islice(first, stop)) if stop else []
        state = json.loads(json.dumps(first.state_dict()))
        second = loader()
        second.load_state_dict(state)
        remaining = positions(second) if stop < steps else []
        assert delivered + remaining == epochs[1]
        assert second.epoch == 2
        assert positions(second) == epochs[2]
        assert positions(second) == epochs[3]


@pytest.mark.parametrize("taken", ["inside the loop", "after the loop"])
def test_a_state_of_the_last_batch_begins_the_next_epoch_whole(folder: Path, taken: str) -> None:
    loader = ShardedLoader(ShardedBatches(folder, BATCH, shuffle="full"))
    states = [loader.state_dict() for _ in loader]
    state = states[-1] if taken == "inside the loop" else loader.state_dict()
    assert (state["epoch"], state["delivered"]) == (1, 0)
    after = ShardedLoader(ShardedBatches(folder, BATCH, shuffle="full"))
    after.load_state_dict(state)
    assert positions(after) == positions(loader)
    assert len(positions(after)) == STEPS


def test_the_usual_training_loop_resumes_at_any_step(folder: Path) -> None:
    def train(loader: ShardedLoader, stop_after: int | None = None) -> tuple[list[list[int]], dict[str, Any]]:
        seen: list[list[int]] = []
        for epoch in range(loader.epoch, 3):
            loader.set_epoch(epoch)
            for batch in loader:
                seen.append(batch["position"].tolist())
                if len(seen) == stop_after:
                    return seen, loader.state_dict()
        return seen, loader.state_dict()

    whole, _ = train(ShardedLoader(ShardedBatches(folder, BATCH)))
    assert len(whole) == 3 * STEPS
    for stop in (1, STEPS - 1, STEPS, STEPS + 1, 2 * STEPS, 3 * STEPS):
        before, state = train(ShardedLoader(ShardedBatches(folder, BATCH)), stop)
        resumed = ShardedLoader(ShardedBatches(folder, BATCH))
        resumed.load_state_dict(state)
        after, _ = train(resumed)
        assert before + after == whole


@pytest.mark.parametrize(("workers", "start_method"), [(1, None), (2, None), (2, "spawn"), (3, None)])
def test_real_workers_resume_exactly_and_never_shorten_later_epochs(
    folder: Path, workers: int, start_method: str | None
) -> None:
    def loader(count: int) -> ShardedLoader:
        return ShardedLoader(
            ShardedBatches(folder, BATCH, buffer=9),
            workers=count,
            start_method=start_method if count else None,
        )

    single = loader(0)
    epochs = [positions(single) for _ in range(3)]
    for stop in (1, 5, STEPS) if start_method is None else (5,):
        first = loader(workers)
        delivered = positions(itertools.islice(first, stop))
        second = loader(workers)
        second.load_state_dict(first.state_dict())
        remaining = positions(second) if stop < STEPS else []
        assert delivered + remaining == epochs[0]
        assert [positions(second), positions(second)] == epochs[1:]


def test_another_number_of_workers_goes_on_as_exactly(folder: Path) -> None:
    whole = positions(ShardedLoader(ShardedBatches(folder, BATCH)))
    first = ShardedLoader(ShardedBatches(folder, BATCH), workers=2)
    delivered = positions(itertools.islice(first, 5))
    second = ShardedLoader(ShardedBatches(folder, BATCH))
    second.load_state_dict(first.state_dict())
    assert delivered + positions(second) == whole


def test_batches_prepared_ahead_do_not_count_as_delivered(folder: Path) -> None:
    loader = ShardedLoader(ShardedBatches(folder, BATCH), workers=2, prefetch=4)
    reading = iter(loader)
    next(reading)
    assert loader.state_dict()["delivered"] == 1


def test_a_pass_that_is_broken_off_is_read_anew_and_whole(folder: Path) -> None:
    loader = ShardedLoader(ShardedBatches(folder, BATCH), workers=2)
    begun = positions(itertools.islice(loader, 3))
    whole = positions(loader)
    assert len(whole) == STEPS and whole[:3] == begun


def test_coverage_after_resuming_counts_what_remained(folder: Path) -> None:
    loader = ShardedLoader(ShardedBatches(folder, BATCH))
    loader.load_state_dict({**loader.state_dict(), "delivered": 5})
    list(loader)
    assert sum(loader.coverage().planned) == sum(loader.coverage().delivered) == 43 - 5 * BATCH


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"batch_size": 5}, "another batch size: expected 5, found 4"),
        ({"seed": 1}, "another seed"),
        ({"shuffle": "full"}, "another shuffle"),
        ({"buffer": 7}, "another buffer"),
        ({"ranks": 2}, "another ranks: expected 2, found 1"),
        ({"uneven": "drop"}, "another uneven"),
    ],
)
def test_a_state_of_another_order_is_refused(folder: Path, changes: dict[str, Any], told: str) -> None:
    state = ShardedLoader(ShardedBatches(folder, BATCH)).state_dict()
    other = ShardedLoader(ShardedBatches(folder, **({"batch_size": BATCH} | changes)))
    with pytest.raises(CourseError, match=told):
        other.load_state_dict(state)


def test_a_state_of_another_set_or_no_state_is_refused(folder: Path, tmp_path: Path) -> None:
    write_set(tmp_path / "other", samples_of(43, seed=5), SIZES)
    loader = ShardedLoader(ShardedBatches(folder, BATCH))
    state = loader.state_dict()
    with pytest.raises(CourseError, match="another set digest"):
        ShardedLoader(ShardedBatches(tmp_path / "other", BATCH)).load_state_dict(state)
    for odd in ({}, [], {**state, "version": 2}, {**state, "delivered": STEPS}, {**state, "epoch": -1}):
        with pytest.raises(CourseError):
            loader.load_state_dict(odd)  # type: ignore[arg-type]
    with pytest.raises(CourseError, match="cannot be drawn again"):
        loader.load_state_dict({**state, "order_digest": "0" * 16})


def test_stateful_data_loader_of_torchdata_resumes_as_well(folder: Path) -> None:
    stateful = pytest.importorskip("torchdata.stateful_dataloader")
    from course_lib.shards import keep_batch

    def loader(workers: int) -> Any:
        return stateful.StatefulDataLoader(
            ShardedBatches(folder, BATCH, shuffle="full"),
            batch_size=None,
            collate_fn=keep_batch,
            num_workers=workers,
        )

    for workers in (0, 2):
        whole = positions(loader(workers))
        for stop in (1, 4, STEPS - 1):
            first = loader(workers)
            delivered = positions(itertools.islice(first, stop))
            second = loader(workers)
            second.load_state_dict(first.state_dict())
            assert delivered + positions(second) == whole
