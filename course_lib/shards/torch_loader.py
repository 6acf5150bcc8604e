"""A DataLoader over a shard set whose place in an epoch can be saved, and gone on from exactly."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from torch.utils.data import DataLoader, IterableDataset

from course_lib.errors import CourseError
from course_lib.shards.coverage import Coverage, CoverageCount
from course_lib.shards.order import need_whole
from course_lib.shards.torch_batches import Batch, keep_batch
from course_lib.shards.torch_data import ShardedBatches

_STATE_VERSION = 1


class ShardedLoader:
    """Hands out the batches of one rank; each pass is one epoch, the next pass the next one.

    A pass that was broken off is read anew from its beginning, unless a state is loaded: what counts as
    delivered is what the loop has received, however many batches the workers have prepared.

    Parameters
    ----------
    batches : ShardedBatches
    workers : int, optional
        Processes that prepare batches.
    prefetch : int, optional
        Batches that each worker prepares ahead.
    start_method : str, optional
        "spawn", "fork" or "forkserver"; the system's own by default.
    persistent : bool, optional
        Keep the workers from one epoch to the next.
    pin_memory : bool, optional
        As in a DataLoader.
    timeout_seconds : float, optional
        Longest wait for a batch before a worker counts as hanging; 0 waits for ever.

    Raises
    ------
    CourseError
        For numbers out of range, and a start method that this system does not have.
    """

    def __init__(
        self,
        batches: ShardedBatches,
        *,
        workers: int = 0,
        prefetch: int = 2,
        start_method: str | None = None,
        persistent: bool = True,
        pin_memory: bool = False,
        timeout_seconds: float = 0.0,
    ) -> None:
        need_whole("The number of workers", workers, 0)
        need_whole("The number of batches prepared ahead", prefetch, 1)
        methods = multiprocessing.get_all_start_methods()
        if start_method is not None and start_method not in methods:
            raise CourseError(
                "Workers cannot be started in this way here",
                expected=", ".join(methods),
                found=repr(start_method),
            )
        options: dict[str, Any] = {}
        if workers:
            options = {
                "prefetch_factor": prefetch,
                "persistent_workers": persistent,
                "multiprocessing_context": start_method,
                "timeout": timeout_seconds,
            }
        self.batches = batches
        self._loader: DataLoader[Any] = DataLoader(
            _TellingErrors(batches),
            batch_size=None,
            collate_fn=keep_batch,
            num_workers=workers,
            pin_memory=pin_memory,
            **options,
        )
        self._epoch = batches.epoch
        self._resume_at = 0
        self._delivered = 0
        self._pass: tuple[int, int] | None = None
        self._count = CoverageCount(batches.set.manifest.class_names)

    @property
    def epoch(self) -> int:
        """The epoch that is being read, or is read next."""
        return self._epoch

    def __len__(self) -> int:
        """Return the batches of a whole epoch."""
        return len(self.batches)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch that is read next; the one of a loaded state goes on where it was saved."""
        need_whole("The epoch", epoch, 0)
        if epoch != self._epoch:
            self._epoch, self._resume_at, self._delivered = epoch, 0, 0

    def __iter__(self) -> Iterator[Batch]:
        start, self._resume_at = self._resume_at, 0
        self._delivered = start
        self.batches.set_epoch(self._epoch, start)
        self._count.clear()
        self._pass = (self._epoch, start)
        return self._deliver(iter(self._loader), self._epoch)

    def _deliver(self, arriving: Iterator[Any], epoch: int) -> Iterator[Batch]:
        for batch in arriving:
            if isinstance(batch, CourseError):
                raise batch
            if self._epoch == epoch:
                self._delivered = batch["step"] + 1
                self._count_batch(batch)
            yield batch
        if self._epoch == epoch:
            self._epoch, self._delivered = epoch + 1, 0

    def coverage(self) -> Coverage:
        """Return what the last pass planned, delivered and lost, by class."""
        counted = self._count.result()
        planned = CoverageCount(counted.class_names)
        if self._pass is not None:
            planned.planned(self.batches.set.index["label"][self.batches.planned(*self._pass)])
        return replace(counted, planned=planned.result().planned)

    def state_dict(self) -> dict[str, Any]:
        """Return where the loop is, in plain values that go into a checkpoint.

        The state is the same for all ranks and any number of workers. Taken after the last batch of an epoch,
        it stands for the beginning of the next.
        """
        epoch, delivered = self._epoch, self._delivered
        if delivered == len(self):
            epoch, delivered = epoch + 1, 0
        return {
            "version": _STATE_VERSION,
            "epoch": epoch,
            "delivered": delivered,
            **self._identity(),
            "order_digest": self.batches.order_digest(epoch),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on at a saved state with the next pass.

        Raises
        ------
        CourseError
            When it was saved for another set, order, batch size or number of ranks, or is no such state.
        """
        if not isinstance(state, dict) or state.get("version") != _STATE_VERSION:
            raise CourseError(
                "This is no state of a shard loader that the workbook knows",
                expected=f"version {_STATE_VERSION}",
                found=repr(state.get("version")) if isinstance(state, dict) else type(state).__name__,
            )
        identity = self._identity()
        for name, value in identity.items():
            if state.get(name) != value:
                raise CourseError(
                    f"The state was saved with another {name.replace('_', ' ')}",
                    expected=value,
                    found=state.get(name),
                    next_step="open the same set in the same way, or begin a new run",
                )
        epoch, delivered = state.get("epoch"), state.get("delivered")
        need_whole("The epoch of the state", epoch, 0)
        need_whole("The number of delivered batches in the state", delivered, 0)
        assert isinstance(epoch, int) and isinstance(delivered, int)
        if delivered >= len(self):
            raise CourseError(
                "The state is beyond its epoch", expected=f"fewer than {len(self):,} batches", found=delivered
            )
        if state.get("order_digest") != (digest := self.batches.order_digest(epoch)):
            raise CourseError(
                "The order of the epoch cannot be drawn again",
                expected=f"the order digest {state.get('order_digest')}",
                found=digest,
                next_step="install the version of NumPy that the state was saved with",
            )
        self._epoch, self._resume_at, self._delivered = epoch, delivered, delivered

    def _identity(self) -> dict[str, Any]:
        recipe, plan = self.batches.recipe, self.batches.plan
        return {
            "set_digest": self.batches.set.manifest.digest,
            "shuffle": recipe.shuffle,
            "seed": recipe.seed,
            "buffer": recipe.buffer,
            "batch_size": plan.batch_size,
            "ranks": plan.ranks,
            "uneven": plan.uneven,
        }

    def _count_batch(self, batch: Batch) -> None:
        self._count.delivered(batch["label"].tolist())
        if batch["failed"]:
            failed = np.asarray(batch["failed"], dtype=np.int64)
            self._count.failed(self.batches.set.index["label"][failed], batch["losses"])


class _TellingErrors(IterableDataset[Any]):
    """The same batches; a CourseError comes as a value, since PyTorch buries it under a traceback."""

    def __init__(self, batches: ShardedBatches) -> None:
        self._batches = batches

    def __iter__(self) -> Iterator[Any]:
        return self._told(iter(self._batches))

    @staticmethod
    def _told(batches: Iterator[Batch]) -> Iterator[Any]:
        try:
            yield from batches
        except CourseError as error:
            yield CourseError(str(error))
