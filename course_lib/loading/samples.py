"""Samples read from a store one by one, as a map-style and as an iterable data set of PyTorch."""

from __future__ import annotations

import io
import math
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.utils.data import Dataset, IterableDataset, get_worker_info

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions, Transforms
from course_lib.loading.sampling import Draw, epoch_order

if TYPE_CHECKING:
    from course_lib.stores import Store

_CROP_MARGIN = 4


class LoadedSamples(Dataset[dict[str, Any]]):
    """Image samples of a store: item ``draw`` is a dict of "image", "label" and "position".

    Names, ids, labels and checksums sit in NumPy arrays: a worker process pays a few bytes for each
    sample, and reading them copies no memory page. The augmentation of a sample is drawn from seed,
    epoch and position alone, so that workers never share or repeat one.

    Parameters
    ----------
    store : Store
        Where the encoded images are.
    names : ndarray of bytes, shape (samples,)
        Their names in the store.
    ids : ndarray of bytes, shape (samples,)
        Stable sample ids.
    labels : ndarray of int64, shape (samples,)
        Labels.
    checksums : ndarray of uint32, shape (samples,), or None
        CRC-32 of each encoded image, where it is known.
    shape : tuple of int
        Channels, height and width that every decoded image must have.
    origin : Origin or None
        Where the data came from; None for a folder of the reader's own.
    folder : Path or None
        The folder behind the store, for looking at the page cache.
    conditions : LoaderConditions
        Transforms, repeats of decoding, layout and seed are taken from here.

    Raises
    ------
    CourseError
        From reading a sample that is missing, unreadable, damaged or of another shape, with its id.
    """

    def __init__(
        self,
        store: Store,
        names: NDArray[np.bytes_],
        ids: NDArray[np.bytes_],
        labels: NDArray[np.int64],
        checksums: NDArray[np.uint32] | None,
        shape: tuple[int, ...],
        origin: Origin | None,
        folder: Path | None,
        conditions: LoaderConditions,
    ) -> None:
        self.origin = origin
        self.folder = folder
        self.labels = labels
        self.shape = shape
        self.store = store
        self.names = names
        self.ids = ids
        self.checksums = checksums
        self._transforms: Transforms = conditions.transforms
        self._decode_repeats = conditions.decode_repeats
        self._seed = conditions.seed
        self._held: tuple[NDArray[np.uint8], NDArray[np.int64]] | None = None
        if conditions.layout == "memory":
            self._held = self._read_all()

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, draw: Draw | int) -> dict[str, Any]:
        """Return one sample; a bare position is taken as drawn in epoch 0."""
        epoch, position = draw if isinstance(draw, tuple) else (0, draw)
        return self._sample(self.payload(position), epoch, position)

    def _sample(self, payload: bytes, epoch: int, position: int) -> dict[str, Any]:
        image = payload if self._transforms == "bytes" else self._decoded(payload, epoch, position)
        return {"image": image, "label": int(self.labels[position]), "position": position}

    def sample_id(self, position: int) -> str:
        """Return the stable id of a sample: no dot, no slash, and no other sample has it."""
        identifier: bytes = self.ids[position]
        return identifier.decode()

    def sample_ids(self, positions: Sequence[int]) -> list[str]:
        """Return the ids of several samples, in the order given."""
        return [self.sample_id(position) for position in positions]

    def paths(self) -> list[Path]:
        """Return the files behind the samples; empty where there are none."""
        if self.folder is None:
            return []
        return [self.folder / name.decode() for name in self.names.tolist()]

    def versions(self) -> NDArray[np.generic]:
        """Return what changes when a file does: its checksum where that is known, else size and time."""
        if self.checksums is not None:
            return self.checksums
        found = [path.stat() for path in self.paths()]
        return np.array([(status.st_size, status.st_mtime_ns) for status in found], dtype=np.int64)

    def batch_bytes(self, batch_size: int) -> int:
        """Return how many bytes of shared memory one batch of tensors takes."""
        if self._transforms == "bytes":
            return 0
        return batch_size * math.prod(self.shape) * (4 if self._transforms == "augment" else 1)

    def payload(self, position: int) -> bytes:
        """Return the encoded bytes of one sample, checked against its checksum where that is known."""
        if self._held is not None:
            content, ends = self._held
            return content[ends[position] : ends[position + 1]].tobytes()
        try:
            name: bytes = self.names[position]
            payload = self.store.read(name.decode())
        except (OSError, CourseError) as error:
            reason = error.strerror if isinstance(error, OSError) else error.found or error.what
            raise self._bad(position, "cannot be read", reason) from error
        if self.checksums is not None and zlib.crc32(payload) != self.checksums[position]:
            raise self._bad(position, "is damaged", "other bytes than were written")
        return payload

    def _decoded(self, payload: bytes, epoch: int, position: int) -> torch.Tensor:
        try:
            for _ in range(self._decode_repeats):
                pixels = np.array(Image.open(io.BytesIO(payload)).convert("RGB"))
        except Exception as error:
            # Damaged bytes make decoders raise nearly anything.
            raise self._bad(position, "cannot be decoded", "no whole image") from error
        image = torch.from_numpy(pixels).permute(2, 0, 1).contiguous()
        if tuple(image.shape) != self.shape:
            raise CourseError(
                f"Sample {self.sample_id(position)} has another shape than the first",
                expected=" x ".join(map(str, self.shape)),
                found=" x ".join(map(str, image.shape)),
                next_step="bring all images to one size, or take transforms='bytes' (--transforms bytes)",
            )
        if self._transforms == "decode":
            return image
        return augmented(image, self._seed, epoch, position)

    def _read_all(self) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        payloads = [self.payload(position) for position in range(len(self))]
        ends = np.zeros(len(payloads) + 1, dtype=np.int64)
        np.cumsum([len(payload) for payload in payloads], out=ends[1:])
        return np.frombuffer(b"".join(payloads), dtype=np.uint8), ends

    def _bad(self, position: int, trouble: str, found: object) -> CourseError:
        place = f" in {self.folder}" if self.folder is not None else ""
        return CourseError(
            f"Sample {self.sample_id(position)}{place} {trouble}",
            found=found,
            next_step="delete that folder, it is made again at the next load"
            if self.origin is not None
            else "look at that file and its permissions",
        )


def augmented(image: torch.Tensor, seed: int, epoch: int, position: int) -> torch.Tensor:
    """Return an image cropped at random, flipped half of the time, as float32 from -1 to 1.

    Parameters
    ----------
    image : Tensor of uint8, shape (channels, height, width)
        The decoded image; it is padded by 4 black pixels on each side and cropped to its size.
    seed, epoch, position : int
        Decide crop and flip, together and alone.
    """
    margin = _CROP_MARGIN
    top, left, flip = np.random.default_rng((seed, epoch, position)).integers(
        0, [2 * margin + 1, 2 * margin + 1, 2]
    )
    height, width = image.shape[1:]
    padded = torch.nn.functional.pad(image, [margin] * 4)
    cropped = padded[:, top : top + height, left : left + width]
    return (cropped.flip(-1) if flip else cropped).to(torch.float32).div_(127.5).sub_(1.0)


class IterableSamples(IterableDataset[dict[str, Any]]):
    """The same samples as an iterable data set, each exactly once for any number of ranks and workers.

    Parameters
    ----------
    samples : LoadedSamples
        What is handed out.
    conditions : LoaderConditions
        Order and seed.
    rank, ranks : int
        Which of several training processes this is.

    Raises
    ------
    CourseError
        When there is no such rank, or there are more ranks than samples: one of them would get none,
        and the others would wait for it.
    """

    def __init__(
        self, samples: LoadedSamples, conditions: LoaderConditions, *, rank: int = 0, ranks: int = 1
    ) -> None:
        if not 0 <= rank < ranks:
            raise CourseError(
                "There is no such rank", expected=f"0 to {ranks - 1} of {ranks}", found=repr(rank)
            )
        if ranks > len(samples):
            raise CourseError(
                "There are more ranks than samples, and a rank without samples makes all others wait",
                expected=f"at most {len(samples):,} ranks",
                found=f"{ranks:,}",
                next_step="start fewer ranks or take more samples",
            )
        self._samples = samples
        self._shuffle = conditions.shuffle
        self._seed = conditions.seed
        self._rank = rank
        self._ranks = ranks
        # In shared memory, so that a new epoch reaches workers that live on.
        self._epoch = torch.tensor([conditions.epoch], dtype=torch.int64).share_memory_()

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch that is read next, in the workers too."""
        self._epoch[0] = epoch

    def __iter__(self) -> Iterator[dict[str, Any]]:
        worker = get_worker_info()
        place, readers = (worker.id, worker.num_workers) if worker is not None else (0, 1)
        epoch = int(self._epoch[0])
        order = epoch_order(len(self._samples), shuffle=self._shuffle, seed=self._seed, epoch=epoch)
        mine = order[self._rank :: self._ranks][place::readers]
        return (self._samples[Draw(epoch, position)] for position in mine.tolist())
