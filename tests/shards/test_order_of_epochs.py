"""The order of an epoch and its dealing out: each sample exactly once for any ranks, workers and shards."""

from __future__ import annotations

import itertools
import random
from collections import deque

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.shards import BatchPlan, OrderRecipe
from course_lib.shards.order import _through_a_buffer

SHUFFLES = ["none", "shards+buffer", "full"]


def uneven_shards(count: int) -> np.ndarray:
    return np.array([11, 1, 23, 5, 2, 17, 8][:count])


@pytest.mark.parametrize("shuffle", SHUFFLES)
@pytest.mark.parametrize("shards", range(1, 8))
@pytest.mark.parametrize("buffer", [1, 2, 10, 1_000])
def test_an_order_holds_every_position_once(shuffle: str, shards: int, buffer: int) -> None:
    sizes = uneven_shards(shards)
    recipe = OrderRecipe(shuffle, seed=7, buffer=buffer)  # type: ignore[arg-type]
    for epoch in range(3):
        order = recipe.positions(sizes, epoch)
        assert sorted(order.tolist()) == list(range(sizes.sum()))
        assert np.array_equal(order, recipe.positions(sizes, epoch))


@pytest.mark.parametrize("shuffle", ["shards+buffer", "full"])
def test_epochs_and_seeds_have_orders_of_their_own(shuffle: str) -> None:
    sizes = np.full(20, 50)
    orders = {
        OrderRecipe(shuffle, seed, 100).positions(sizes, epoch).tobytes()  # type: ignore[arg-type]
        for seed in (1, 2)
        for epoch in range(3)
    }
    assert len(orders) == 6


def test_a_buffer_of_one_keeps_shards_whole_and_only_changes_their_order() -> None:
    sizes = np.array([3, 4, 2, 5, 6])
    order = OrderRecipe("shards+buffer", seed=3, buffer=1).positions(sizes, 0)
    starts = np.cumsum(sizes) - sizes
    firsts = [at for at in order.tolist() if at in starts]
    assert firsts != sorted(firsts)
    shards = np.searchsorted(np.cumsum(sizes), order, side="right")
    whole = [
        list(group)
        for _, group in itertools.groupby(order.tolist(), key=lambda at: shards[order.tolist().index(at)])
    ]
    assert len(whole) == len(sizes)
    assert all(group == list(range(group[0], group[0] + len(group))) for group in whole)


@pytest.mark.parametrize(
    ("count", "buffer"), [(1, 1), (10, 3), (10, 10), (10, 40), (500, 37), (70_000, 66_000)]
)
def test_the_buffer_gives_what_a_buffer_of_samples_gives_step_by_step(count: int, buffer: int) -> None:
    """The same draws through a list of samples: what leaves is what lies in the slot that is drawn."""
    draw = np.random.default_rng(5)
    held = min(buffer, count)
    slots = draw.integers(0, held, size=count - held, dtype=np.uint16 if held <= 1 << 16 else np.uint32)
    waiting, inside, left = deque(range(held, count)), list(range(held)), []
    for slot in slots.tolist():
        left.append(inside[slot])
        inside[slot] = waiting.popleft()
    left += draw.permutation(np.array(inside)).tolist()
    assert _through_a_buffer(count, buffer, np.random.default_rng(5)).tolist() == left


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("workers", range(1, 6))
@pytest.mark.parametrize("shards", range(1, 8))
def test_every_sample_comes_once_over_all_ranks_and_workers(ranks: int, workers: int, shards: int) -> None:
    sizes = uneven_shards(shards)
    total = int(sizes.sum())
    for shuffle, batch_size in itertools.product(SHUFFLES, (2, 3, 4)):
        plan = BatchPlan(total, batch_size, ranks)
        order = OrderRecipe(shuffle, seed=1, buffer=6).positions(sizes, 0)  # type: ignore[arg-type]
        delivered = []
        for rank in range(ranks):
            of_workers = [range(worker, plan.steps, workers) for worker in range(workers)]
            assert sorted(step for steps in of_workers for step in steps) == list(range(plan.steps))
            for steps in of_workers:
                delivered += [plan.batch(order, rank, step) for step in steps]
        assert all(0 < len(batch) <= batch_size for batch in delivered)
        assert sorted(np.concatenate(delivered).tolist()) == list(range(total))


def test_ranks_have_equally_many_batches_of_nearly_equal_size() -> None:
    for samples, batch_size, ranks in itertools.product(range(1, 80), range(2, 6), range(1, 6)):
        if samples < ranks:
            continue
        plan = BatchPlan(samples, batch_size, ranks)
        sizes = np.array(
            [[np.diff(plan.places(rank, step))[0] for rank in range(ranks)] for step in range(plan.steps)]
        )
        assert sizes.sum() == samples
        assert sizes.min() >= 1 and sizes.max() <= batch_size
        assert (sizes.max(axis=1) - sizes.min(axis=1)).max() <= 1
        flat = [plan.places(rank, step) for step in range(plan.steps) for rank in range(ranks)]
        assert flat[0][0] == 0 and all(a[1] == b[0] for a, b in itertools.pairwise(flat))


@pytest.mark.parametrize(("samples", "batch_size", "ranks"), [(2, 4, 3), (1, 1, 2), (7, 1, 3)])
def test_a_rank_that_would_get_nothing_is_refused_in_words(samples: int, batch_size: int, ranks: int) -> None:
    with pytest.raises(CourseError, match="the others would wait for it for ever"):
        BatchPlan(samples, batch_size, ranks)


def test_padding_and_dropping_are_told_and_counted() -> None:
    order = np.arange(22)
    padded = BatchPlan(22, 4, 3, "pad")
    batches = [padded.batch(order, rank, step) for step in range(padded.steps) for rank in range(3)]
    assert [len(batch) for batch in batches] == [4] * 6
    assert np.concatenate(batches).tolist() == [*range(22), 0, 1]
    assert padded.note == "2 of 22 samples come again in each epoch: all batches are full."
    dropped = BatchPlan(22, 4, 3, "drop")
    batches = [dropped.batch(order, rank, step) for step in range(dropped.steps) for rank in range(3)]
    assert np.concatenate(batches).tolist() == list(range(12))
    assert dropped.note == "10 of 22 samples are left out of each epoch: all batches are full."
    assert "The last 3 batches, over 3 ranks, are smaller" in BatchPlan(22, 4, 3).note
    assert BatchPlan(24, 4, 3).note == ""
    assert BatchPlan(2, 8, 3, "pad").steps == 1
    with pytest.raises(CourseError, match=r"at least 12 samples \(3 ranks x 4\), found 11"):
        BatchPlan(11, 4, 3, "drop")


def test_odd_choices_are_refused_in_words() -> None:
    for make in (
        lambda: OrderRecipe("shuffled"),  # type: ignore[arg-type]
        lambda: OrderRecipe(seed=-1),
        lambda: OrderRecipe(buffer=0),
        lambda: OrderRecipe().positions(np.array([3]), -1),
        lambda: BatchPlan(0, 4),
        lambda: BatchPlan(4, 0),
        lambda: BatchPlan(4, 1, 0),
        lambda: BatchPlan(4, 1, 1, "equal"),  # type: ignore[arg-type]
        lambda: BatchPlan(4, True),
    ):
        with pytest.raises(CourseError):
            make()


def test_a_full_order_is_that_of_the_other_loaders() -> None:
    """So files and shards are compared in one and the same order."""
    from course_lib.loading.sampling import epoch_order

    assert np.array_equal(
        OrderRecipe("full", 11).positions(np.array([40, 60]), 3),
        epoch_order(100, shuffle=True, seed=11, epoch=3),
    )


def test_any_sizes_and_ranks_drawn_at_random_keep_every_sample() -> None:
    draw = random.Random(8)
    for _ in range(200):
        sizes = np.array([draw.randint(1, 30) for _ in range(draw.randint(1, 12))])
        ranks, batch_size = draw.randint(1, 6), draw.randint(2, 9)
        if sizes.sum() < ranks:
            continue
        plan = BatchPlan(int(sizes.sum()), batch_size, ranks)
        order = OrderRecipe("shards+buffer", buffer=draw.randint(1, 50)).positions(sizes, 1)
        got = [plan.batch(order, rank, step) for rank in range(ranks) for step in range(plan.steps)]
        assert sorted(np.concatenate(got).tolist()) == list(range(sizes.sum()))
