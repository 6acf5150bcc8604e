"""A shard set as PyTorch data sets: map-style, and iterable over whole batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
import xxhash
from numpy.typing import NDArray
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from course_lib.errors import CourseError
from course_lib.shards.order import DEFAULT_BUFFER, BatchPlan, OrderRecipe, Shuffle, Uneven, need_whole
from course_lib.shards.reading import ShardSet
from course_lib.shards.torch_batches import Batch, BatchReader, Transform

if TYPE_CHECKING:
    from course_lib.stores import Store

_EPOCH, _START = range(2)


class ShardedSamples(Dataset[Any]):
    """The samples of a shard set by position, in pack order.

    A DataLoader asks for a whole batch at once and gets one :class:`Batch`; give it
    ``collate_fn=keep_batch``. A sampler may hand out positions, or pairs of epoch and position for
    augmentation that differs by epoch.

    Parameters
    ----------
    place : ShardSet, Path, str or Store
        An opened set, or where it is; each process opens it for itself.
    decoder : {None, "auto", "pillow", "torchvision", "simplejpeg"}, optional
        None hands out encoded payloads.
    transform : callable, optional
        Gets the images of a batch (uint8, shape (samples, 3, height, width)) and the epoch and position of
        each, returns a Tensor.
    strict : bool, optional
        False leaves out what is damaged; the batch says under "failed" what that is.

    Raises
    ------
    CourseError
        As :meth:`ShardSet.open`.
    """

    def __init__(
        self,
        place: ShardSet | Path | str | Store,
        *,
        decoder: str | None = None,
        transform: Transform | None = None,
        strict: bool = True,
    ) -> None:
        self._reader = BatchReader(place, decoder=decoder, transform=transform, strict=strict)

    @property
    def set(self) -> ShardSet:
        """The shard set behind the samples."""
        return self._reader.set

    @property
    def decoder_note(self) -> str:
        """Why another decoder is used than the one asked for; "" where it is that one."""
        return self._reader.decoder.note if self._reader.decoder is not None else ""

    def __len__(self) -> int:
        return len(self.set)

    def __getitem__(self, drawn: int | tuple[int, int]) -> dict[str, Any]:
        """Return one sample as a dict of "image" or "payload", "label" and "position".

        Raises
        ------
        CourseError
            When it is damaged, in either mode.
        """
        batch = self.__getitems__([drawn])
        if batch["failed"]:
            raise CourseError(batch["losses"][0])
        content = "payload" if "payload" in batch else "image"
        return {
            content: batch[content][0],
            "label": int(batch["label"][0]),
            "position": int(batch["position"][0]),
        }

    def __getitems__(self, drawn: Sequence[int | tuple[int, int]]) -> Batch:
        """Return several samples as one batch, read in one pass."""
        pairs = [(0, each) if not isinstance(each, tuple) else (each[0], each[1]) for each in drawn]
        positions = np.array([position for _, position in pairs], dtype=np.int64)
        return self._reader.batch(positions, [epoch for epoch, _ in pairs], step=-1)

    def sample_id(self, position: int) -> str:
        """Return the stable id of a sample."""
        return self.set.id(position)

    def sample_ids(self, positions: Sequence[int]) -> list[str]:
        """Return the ids of several samples, in the order given."""
        return self.set.ids(np.asarray(positions, dtype=np.int64))


class ShardedBatches(IterableDataset[Batch]):
    """The batches of one rank, epoch after epoch, each sample exactly once over all ranks and workers.

    Give it to :class:`course_lib.shards.ShardedLoader`, or to a DataLoader with ``batch_size=None`` and
    ``collate_fn=keep_batch``. Worker ``w`` of ``W`` takes the batches ``w``, ``w + W`` and so on, so that
    they arrive in one order for any number of workers.

    Parameters
    ----------
    place : ShardSet, Path, str or Store
        An opened set, or where it is; each process opens it for itself.
    batch_size : int
        Samples of a full batch of this rank.
    shuffle, seed, buffer
        As :class:`OrderRecipe` takes them.
    rank, ranks : int, optional
        Which of several training processes this is.
    uneven : {"level", "drop", "pad"}, optional
        As :class:`BatchPlan` takes it.
    decoder, transform, strict
        As :class:`ShardedSamples` takes them.

    Raises
    ------
    CourseError
        As :meth:`ShardSet.open`, and when a rank would get no batch.
    """

    def __init__(
        self,
        place: ShardSet | Path | str | Store,
        batch_size: int,
        *,
        shuffle: Shuffle = "shards+buffer",
        seed: int = 2026,
        buffer: int = DEFAULT_BUFFER,
        rank: int = 0,
        ranks: int = 1,
        uneven: Uneven = "level",
        decoder: str | None = None,
        transform: Transform | None = None,
        strict: bool = True,
    ) -> None:
        self._reader = BatchReader(place, decoder=decoder, transform=transform, strict=strict)
        self.recipe = OrderRecipe(shuffle, seed, buffer)
        self.plan = BatchPlan(len(self.set), batch_size, ranks, uneven)
        need_whole("The rank", rank, 0)
        if rank >= ranks:
            raise CourseError(
                "There is no such rank", expected=f"0 to {ranks - 1} of {ranks}", found=repr(rank)
            )
        self._rank = rank
        self._order: tuple[int, NDArray[np.integer]] | None = None
        self._done = 0
        self._restored: tuple[int, int, int] | None = None
        # In shared memory, so that a new epoch reaches workers that live on.
        self._control = torch.zeros(2, dtype=torch.int64).share_memory_()

    @property
    def set(self) -> ShardSet:
        """The shard set behind the batches."""
        return self._reader.set

    @property
    def decoder_note(self) -> str:
        """Why another decoder is used than the one asked for; "" where it is that one."""
        return self._reader.decoder.note if self._reader.decoder is not None else ""

    @property
    def epoch(self) -> int:
        """The epoch that is read next."""
        return int(self._control[_EPOCH])

    def __len__(self) -> int:
        """Return the batches of this rank in a whole epoch."""
        return self.plan.steps

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the order, which every process makes anew."""
        return {**self.__dict__, "_order": None}

    def set_epoch(self, epoch: int, start: int = 0) -> None:
        """Choose the epoch that is read next, in the workers too, and the batch that it begins with."""
        need_whole("The epoch", epoch, 0)
        need_whole("The first batch", start, 0)
        self._control[_EPOCH], self._control[_START] = epoch, start

    def order(self, epoch: int) -> NDArray[np.integer]:
        """Return the positions of all samples in the order of one epoch, shape (samples,).

        It stays in memory through the epoch, in every worker: in 32 bits where the positions fit into them.
        """
        if self._order is None or self._order[0] != epoch:
            self._order = None
            kind = np.int32 if len(self.set) <= np.iinfo(np.int32).max else np.int64
            self._order = (epoch, self.recipe.positions(self.set.shard_sizes, epoch).astype(kind, copy=False))
        return self._order[1]

    def planned(self, epoch: int, start: int = 0) -> NDArray[np.integer]:
        """Return the positions that this rank delivers in an epoch from a batch on, in order."""
        order = self.order(epoch)
        steps = range(start, len(self))
        parts = [self.plan.batch(order, self._rank, step) for step in steps]
        return np.concatenate(parts) if parts else order[:0]

    def order_digest(self, epoch: int) -> str:
        """Return a digest of an epoch's order: another version of NumPy may draw another one."""
        return xxhash.xxh3_64_hexdigest(np.ascontiguousarray(self.order(epoch), dtype="<i8").data)

    def __iter__(self) -> Iterator[Batch]:
        worker = get_worker_info()
        place, workers = (worker.id, worker.num_workers) if worker is not None else (0, 1)
        epoch, start, self._done = int(self._control[_EPOCH]), int(self._control[_START]), 0
        if self._restored is not None:
            epoch, start, self._done = self._restored
            self._restored = None
        self._at = (epoch, start)
        return self._batches(epoch, range(start + place + self._done * workers, len(self), workers))

    def _batches(self, epoch: int, steps: range) -> Iterator[Batch]:
        for step in steps:
            positions = self.plan.batch(self.order(epoch), self._rank, step).astype(np.int64)
            batch = self._reader.batch(positions, [epoch] * len(positions), step)
            self._done += 1
            yield batch

    def state_dict(self) -> dict[str, int]:
        """Return where this process is, for torchdata's StatefulDataLoader, which asks each worker."""
        epoch, start = getattr(self, "_at", (self.epoch, int(self._control[_START])))
        return {"epoch": epoch, "start": start, "done": self._done}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on where a state of :meth:`state_dict` was taken, with the same number of workers."""
        self._restored = (state["epoch"], state["start"], state["done"])
