"""Whole batches: fetched in one pass, decoded into one buffer, cheap to hand from worker to consumer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data._utils.collate import default_collate_fn_map

from course_lib.errors import CourseError
from course_lib.shards.decoding import UndecodableError, choose_decoder
from course_lib.shards.reading import Records, ShardSet

if TYPE_CHECKING:
    from course_lib.stores import Store

_SMALL_BYTES = 2_000_000
Transform = Callable[[torch.Tensor, Sequence["Drawn"]], torch.Tensor]


class Drawn(NamedTuple):
    """One sample of one epoch, which its augmentation may depend on."""

    epoch: int
    position: int


class Batch(dict[str, Any]):
    """One batch of samples.

    Keys: "image" (a uint8 Tensor of shape (samples, 3, height, width), or what the transform made of it) or
    "payload" (a list of bytes); "label" and "position" (int64 Tensors of shape (samples,)); "step" (the
    number of the batch in its rank's epoch); "failed" (a list of the positions that were lost, in tolerant
    mode) and "losses" (sentences about the first of them).
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel without a piece of shared memory for each small Tensor: it would cost more than copying."""
        tensors = {key: value for key, value in self.items() if _is_small(value)}
        rest = {key: value for key, value in self.items() if key not in tensors}
        return _arrived, (rest, {key: _as_array(value) for key, value in tensors.items()})

    def __missing__(self, key: object) -> Any:
        """Say what a DataLoader lacks that takes this batch for a list of samples.

        Raises
        ------
        CourseError
            For a number.
        KeyError
            For any other key that is not there.
        """
        if isinstance(key, int):
            raise CourseError(
                "The samples of a shard set arrive as one batch already",
                expected="one of the keys " + ", ".join(self),
                found=f"a request for sample {key} of the batch, as a DataLoader's own collate_fn makes it",
                next_step="give the DataLoader collate_fn=keep_batch (from course_lib.shards)",
            )
        raise KeyError(key)


def _refuse_batches_of_batches(batch: Sequence[Batch], *, collate_fn_map: object = None) -> Any:
    raise CourseError(
        "ShardedBatches hands out whole batches, and the DataLoader puts these together once more",
        expected="a DataLoader with batch_size=None",
        found=f"a list of {len(batch):,} batches to collate",
        next_step="use ShardedLoader, or give the DataLoader batch_size=None and collate_fn=keep_batch",
    )


# PyTorch's documented way to say how its default collate_fn treats a type.
default_collate_fn_map[Batch] = _refuse_batches_of_batches


def _is_small(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.nbytes <= _SMALL_BYTES and value.device.type == "cpu"


def _as_array(tensor: torch.Tensor) -> tuple[NDArray[Any], bool]:
    """Return a Tensor's values as they lie in memory, and whether channels come last there."""
    channels_last = tensor.dim() == 4 and tensor.is_contiguous(memory_format=torch.channels_last)
    return (tensor.permute(0, 2, 3, 1) if channels_last else tensor).numpy(), channels_last


def _arrived(rest: dict[str, Any], arrays: dict[str, tuple[NDArray[Any], bool]]) -> Batch:
    batch = Batch(rest)
    for key, (array, channels_last) in arrays.items():
        tensor = torch.from_numpy(array)
        batch[key] = tensor.permute(0, 3, 1, 2) if channels_last else tensor
    return batch


class BatchReader:
    """Makes batches of one set.

    Parameters
    ----------
    place : ShardSet, Path, str or Store
        An opened set, or where it is.
    decoder : str or None
        As :func:`course_lib.shards.choose_decoder` takes it; None hands out encoded payloads.
    transform : callable or None
        Applied to each decoded batch: gets the images and the :class:`Drawn` of each, returns a Tensor.
    strict : bool
        As :meth:`ShardSet.open` takes it, where the set is not opened yet.
    """

    def __init__(
        self,
        place: ShardSet | Path | str | Store,
        *,
        decoder: str | None,
        transform: Transform | None,
        strict: bool,
    ) -> None:
        self.set = place if isinstance(place, ShardSet) else ShardSet.open(place, strict=strict)
        self.decoder = None if decoder is None else choose_decoder(decoder)
        if transform is not None and decoder is None:
            raise CourseError(
                "A transform needs decoded images", expected="a decoder such as 'auto'", found="decoder=None"
            )
        self._transform = transform

    def batch(self, positions: NDArray[np.int64], epochs: Sequence[int], step: int) -> Batch:
        """Return one batch; a CourseError names the first sample that is damaged or cannot be decoded."""
        found, lost, losses = self.set.read_found(positions, copy=self.decoder is None)
        failed = positions[lost]
        kept = np.arange(len(positions))
        if len(lost):
            kept = np.delete(kept, lost)
        batch = Batch(step=step)
        if self.decoder is None:
            batch["payload"] = found.payloads
        else:
            pixels, found, kept, undecoded = self._decoded(found, kept, positions, losses)
            failed = np.concatenate([failed, positions[undecoded]])
            images = torch.from_numpy(pixels).permute(0, 3, 1, 2)
            if self._transform is not None:
                drawn = [Drawn(epochs[at], int(positions[at])) for at in kept.tolist()]
                images = self._transform(images, drawn)
            batch["image"] = images
        batch["label"] = torch.from_numpy(np.array(found.labels, dtype=np.int64))
        batch["position"] = torch.from_numpy(positions[kept])
        batch["failed"], batch["losses"] = failed.tolist(), losses
        return batch

    def _decoded(
        self, found: Records, kept: NDArray[np.int64], positions: NDArray[np.int64], losses: list[str]
    ) -> tuple[NDArray[np.uint8], Records, NDArray[np.int64], list[int]]:
        assert self.decoder is not None
        undecoded: list[int] = []
        while True:
            try:
                return self.decoder.batch(found.payloads), found, kept, undecoded
            except UndecodableError as error:
                at = error.place
                told = CourseError(
                    f"Sample {found.ids[at]} of {self.set.manifest.title} {error.trouble}",
                    expected=error.expected,
                    found=error.found,
                    next_step=_undecoded_step(self.set.manifest.extension),
                )
                if self.set.strict:
                    raise told from error
                undecoded.append(int(kept[at]))
                losses.append(str(told))
                found = Records(*([*column[:at], *column[at + 1 :]] for column in found))
                kept = np.delete(kept, at)


def _undecoded_step(extension: str) -> str:
    from PIL import Image

    if f".{extension}" in Image.registered_extensions():
        return "look at the file it was packed from: its bytes are those that were packed"
    return f"the payloads of this set are .{extension}: where these are no images, use decoder=None"


def keep_batch(batch: Any) -> Any:
    """Return a batch as it is: the ``collate_fn`` for data sets that fetch whole batches."""
    return batch
