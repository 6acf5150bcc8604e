"""The runs of a training measurement: what happens in the watched process."""

from __future__ import annotations

import gc
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch

from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions
from course_lib.loading.device import chosen_device, describe_device, synchronise
from course_lib.loading.loaders import build_loader
from course_lib.loading.model import Batch, build_model, training_step
from course_lib.loading.one_run import digest_of_ids, prepare
from course_lib.loading.opening import open_samples
from course_lib.loading.samples import LoadedSamples
from course_lib.loading.steps import StepTimes, time_steps
from course_lib.loading.synthetic import InputDescription, describe_input, synthetic_batches
from course_lib.loading.training import TrainingRun, turns
from course_lib.loading.training_conditions import TrainingConditions, check_steps
from course_lib.stores import CacheState, evict, observe_cache

FED = ("image", "label")
"""What the model is fed of a batch; only this is moved to the device."""

_FILES_FOR_A_LOOK = 200
"""Of a live run's files so many are looked up in the page cache: its start is waited for."""

_LOADED = ("real", "input only", "read only", "decode only")


def measure_task(request: Mapping[str, Any], emit: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Do all runs of a plan, in turn, and return what a comparison is made of; see ``measure_training``."""
    conditions = TrainingConditions.from_dict(request["conditions"])
    plan = request["plan"]
    prepared = prepare({"training": conditions.loader}, emit)
    (loader,) = prepared.candidates.values()
    bench = Bench(conditions.with_changes(loader=loader.as_dict()), tell=_seldom(emit))
    runs = []
    for repeat, place, candidate in turns(plan["candidates"], plan["repeats"]):
        run = bench.run(candidate, repeat, place)
        runs.append(run.as_dict())
        emit(
            {"kind": "run", "candidate": candidate, "repeat": repeat, "step_seconds": run.times.step_seconds}
        )
    return {
        "conditions": bench.conditions.as_dict(),
        "runs": runs,
        "origin": prepared.origin.as_dict() if prepared.origin else None,
        "device": describe_device(bench.device),
        "threads": torch.get_num_threads(),
        "notes": prepared.notes,
    }


def mover(device: torch.device, *, pinned: bool = False) -> Callable[[Batch], Batch]:
    """Return the function that moves a batch to ``device``.

    Parameters
    ----------
    device : torch.device
        On the CPU nothing has to be moved, and the same tensors come back.
    pinned : bool
        Copy to pinned memory first and move from there by a non-blocking transfer; both count as transfer.

    Raises
    ------
    CourseError
        When pinned memory is asked for without CUDA.
    """
    if pinned and device.type != "cuda":
        raise CourseError(
            "Pinned memory helps transfers to CUDA devices only",
            found=f"device {device.type}",
            next_step="leave pinned out",
        )

    def move(batch: Batch) -> Batch:
        if pinned:
            return {name: batch[name].pin_memory().to(device, non_blocking=True) for name in FED}
        return {name: batch[name].to(device) for name in FED}

    return move


@dataclass
class Bench:
    """Everything that the runs of one measurement share.

    Attributes
    ----------
    conditions : TrainingConditions
        Of all runs.
    tell : callable
        Called with each candidate's name, whenever a step has ended.
    device : torch.device
        What computes.
    """

    conditions: TrainingConditions
    tell: Callable[[str], None] = lambda candidate: None
    device: torch.device = field(init=False)
    _opened: dict[LoaderConditions, LoadedSamples] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.device = chosen_device(self.conditions.device)
        if self.conditions.threads:
            torch.set_num_threads(self.conditions.threads)

    def run(self, candidate: str, repeat: int, place: int) -> TrainingRun:
        """Do one run of one candidate, with a loader and a model of its own."""
        if candidate in _LOADED:
            return self._loaded_run(candidate, repeat, place)
        batches = self._repeated(candidate)
        first = next(batches)
        compute = self._training() if candidate == "synthetic" else _nothing
        times = self._time(candidate, batches, mover(self.device, pinned=self.conditions.pinned), compute)
        fed = self._fed(first) if candidate == "synthetic" else None
        return TrainingRun(candidate, repeat, place, times, fed=fed)

    def live_input(self) -> tuple[Callable[[int], Iterable[Batch]], dict[str, Any]]:
        """Return what gives the batches of each epoch of a live run, and what there is to say about them."""
        loader_conditions = self.conditions.loader
        samples = self._samples(loader_conditions)
        paths = samples.paths() if loader_conditions.layout != "memory" else []
        about = {
            "origin": samples.origin.label() if samples.origin else "Data: a folder of one's own",
            "device": describe_device(self.device),
            "cache": _cache(loader_conditions, paths, _FILES_FOR_A_LOOK).as_dict() if paths else None,
        }
        if self.conditions.input == "synthetic":
            batches = self._repeated("synthetic")
            return lambda epoch: batches, about
        loader = build_loader(samples, loader_conditions)

        def of_epoch(epoch: int) -> Iterable[Batch]:
            loader.sampler.set_epoch(loader_conditions.epoch + epoch)
            return loader

        return of_epoch, about

    def live_work(self, *, trains: bool) -> tuple[Callable[[Any], Any], Callable[[Any], None]]:
        """Return what moves a batch and what computes on it; loading alone does neither."""
        if not trains:
            return _as_it_is, _nothing
        return mover(self.device, pinned=self.conditions.pinned), self._training()

    def _loaded_run(self, candidate: str, repeat: int, place: int) -> TrainingRun:
        loader_conditions = loader_of(candidate, self.conditions.loader)
        samples = self._samples(loader_conditions)
        check_steps(self.conditions, len(samples))
        paths = samples.paths() if loader_conditions.layout != "memory" else []
        before = _cache(loader_conditions, paths) if paths else None
        delivered = Delivered(build_loader(samples, loader_conditions))
        trains = candidate == "real"
        transfer = mover(self.device, pinned=self.conditions.pinned) if trains else _as_it_is
        times = self._time(candidate, delivered, transfer, self._training() if trains else _nothing)
        return TrainingRun(
            candidate,
            repeat,
            place,
            times,
            fed=self._fed(delivered.first) if trains else None,
            delivered_digest=delivered.digest(samples),
            cache_before=before,
            cache_after=observe_cache(paths) if paths else None,
        )

    def _repeated(self, candidate: str) -> Iterator[Batch]:
        real = self._one_real_batch()
        if candidate == "transfer only":
            return itertools.repeat(real)
        on_device = self.device if self.conditions.synthetic_placement == "device" else None
        return synthetic_batches(real, self.conditions.seed, device=on_device)

    def _one_real_batch(self) -> Batch:
        alone = self.conditions.loader.with_changes(workers=0)
        batch: Batch = next(iter(build_loader(self._samples(self.conditions.loader), alone)))
        return batch

    def _samples(self, conditions: LoaderConditions) -> LoadedSamples:
        if conditions not in self._opened:
            self._opened[conditions] = open_samples(conditions)
        return self._opened[conditions]

    def _training(self) -> Callable[[Batch], None]:
        model = build_model(self.conditions.seed).to(self.device)
        return training_step(model, repeats=self.conditions.compute_repeats)

    def _fed(self, batch: Batch) -> InputDescription:
        return describe_input(batch, computed_on=self.device, steps=self.conditions.steps)

    def _time(
        self,
        candidate: str,
        batches: Iterable[Any],
        transfer: Callable[[Any], Any],
        compute: Callable[[Any], None],
    ) -> StepTimes:
        gc.collect()
        return time_steps(
            batches,
            transfer,
            compute,
            synchronise=partial(synchronise, self.device),
            steps=self.conditions.steps,
            warmup_steps=self.conditions.warmup_steps,
            on_step=lambda step: self.tell(candidate),
        )


class Delivered:
    """Batches of a loader, with their samples' positions noted down as they pass.

    Parameters
    ----------
    loader : iterable of dict
        Each batch has "position".
    """

    def __init__(self, loader: Iterable[Batch]) -> None:
        self.first: Batch = {}
        self._loader = loader
        self._positions: list[int] = []

    def __iter__(self) -> Iterator[Batch]:
        for batch in self._loader:
            self.first = self.first or batch
            # As numbers: a tensor that a worker handed over keeps a file open as long as it lives.
            self._positions += batch["position"].tolist()
            yield batch

    def digest(self, samples: LoadedSamples) -> str:
        """Return the sha256 over the ids of all delivered samples, in order."""
        return digest_of_ids(samples.sample_ids(self._positions))


def loader_of(candidate: str, loader: LoaderConditions) -> LoaderConditions:
    """Return the loader's conditions for one candidate: a control leaves one part of the input path out."""
    if candidate == "read only":
        return loader.with_changes(transforms="bytes", decode_repeats=1)
    if candidate == "decode only":
        return loader.with_changes(
            layout="memory", open_ms=0.0, bandwidth_bytes_per_second=None, cache="as found"
        )
    return loader


def _seldom(emit: Callable[[dict[str, Any]], None]) -> Callable[[str], None]:
    """Return what says about once a second that steps still end, so that a watchdog keeps still."""
    last = 0.0

    def tell(candidate: str) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 1.0:
            last = now
            emit({"kind": "at work", "candidate": candidate})

    return tell


def _cache(conditions: LoaderConditions, paths: Sequence[Path], most_files: int = 2_000) -> CacheState:
    look = evict if conditions.cache == "evict" else observe_cache
    return look(paths, most_files=most_files)


def _as_it_is(batch: Any) -> Any:
    return batch


def _nothing(batch: Any) -> None:
    return None
