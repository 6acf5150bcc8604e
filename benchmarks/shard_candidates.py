"""One face for all that keep samples: pack, read in several ways, load in batches; ours, files and a floor.

A candidate is used in a process of its own, and stores the id, payload and label of every sample.
"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

BATCH = 256
SEQUENTIAL, BATCHES, RANDOM, RANDOM_BATCHES = "sequential", "batches", "random", "random batches"
PARTS = (SEQUENTIAL, BATCHES, RANDOM, RANDOM_BATCHES)
MISSING = -1

# Given an order of positions, a part prepares itself and returns what is timed: one pass over the samples.
Part = Callable[[list[int]], Callable[[], Iterable[Any]]]


class Sample(NamedTuple):
    id: str
    path: str
    label: int

    def payload(self) -> bytes:
        return Path(self.path).read_bytes()


def listed(folder: Path) -> list[Sample]:
    """Return the samples of a folder with one subfolder for each class, sorted."""
    classes = sorted(path.name for path in folder.iterdir() if path.is_dir())
    return [
        Sample(f"{name}-{path.stem}", str(path), label)
        for label, name in enumerate(classes)
        for path in sorted((folder / name).iterdir())
    ]


def in_batches(values: Sequence[Any]) -> list[Any]:
    return [values[start : start + BATCH] for start in range(0, len(values), BATCH)]


def always(thunk: Callable[[], Iterable[Any]]) -> Part:
    return lambda order: thunk


class DecodedBatch:
    """Makes one uint8 batch of records; the same decoder for whoever read them."""

    def __init__(self, candidate: Candidate, decoder: str) -> None:
        from course_lib.shards import choose_decoder

        self._candidate, self._decoder = candidate, choose_decoder(decoder)

    def __call__(self, records: Sequence[Any]) -> tuple[Any, Any]:
        import torch

        pairs = [self._candidate.pair(record) for record in records]
        pixels = self._decoder.batch([payload for payload, _ in pairs])
        return torch.from_numpy(pixels).permute(0, 3, 1, 2), torch.tensor([label for _, label in pairs])


@dataclass
class Candidate:
    """What all have in common; `out` is the folder of the packed set."""

    out: Path
    samples: list[Sample]
    shard_bytes: int

    name = ""
    package = ""
    modules: tuple[str, ...] = ()

    @classmethod
    def missing(cls) -> list[str]:
        return [module for module in cls.modules if find_spec(module) is None]

    def pack(self, samples: list[Sample]) -> None:
        """Write the samples into ``out``, which is not there yet."""

    def readers(self) -> dict[str, dict[str, Part]]:
        """Return the ways to read, by name of the variant and part."""
        return {}

    def first(self) -> Any:
        """Open the set anew and return its first record."""
        return next(iter(next(iter(self.readers().values()))[SEQUENTIAL]([])()))

    def pair(self, record: Any) -> tuple[bytes, int]:
        label = record.get("label")
        return bytes(record["payload"]), MISSING if label is None else int(label)

    def records(self) -> Iterable[Any]:
        return next(iter(self.readers().values()))[SEQUENTIAL]([])()

    def loader(self, workers: int, decoder: str) -> Iterable[Any] | None:
        """Return an iterable over uint8 batches, or None where it has no way of its own."""
        return None

    def resumable(self, workers: int) -> Any:
        """Return a shuffled loader with ``state_dict``, or None; its batches have lists under "payload"."""
        return None


class Ours(Candidate):
    name, package, modules = "ours", "ai-storage-workbook", ("course_lib",)

    def pack(self, samples: list[Sample]) -> None:
        from course_lib.shards import pack
        from course_lib.shards.payloads import FileSource, SetFacts, as_bytes

        root = str(Path(samples[0].path).parent.parent)
        classes = tuple(f"class {label}" for label in range(1 + max(sample.label for sample in samples)))
        facts = SetFacts("benchmark", "train", classes, Path(samples[0].path).suffix[1:], id_kind="file name")
        source = FileSource(
            facts,
            as_bytes([sample.id for sample in samples]),
            np.array([sample.label for sample in samples], dtype=np.int32),
            root,
            as_bytes([sample.path[len(root) + 1 :] for sample in samples]),
        )
        pack(source, self.out, target_bytes=self.shard_bytes)

    def readers(self) -> dict[str, dict[str, Part]]:
        from course_lib.shards import ShardSet

        again = ShardSet.open(self.out)
        for _ in again.iterate():
            pass

        def afresh() -> Any:
            return ShardSet.open(self.out)

        def kept() -> Any:
            return again

        times = (("first pass", afresh), ("later passes", kept))
        parts = {
            f"ours{kind}, {when}": self._parts(opened, copy)
            for kind, copy in (("", True), (" views", False))
            for when, opened in times
        }
        for way in ("read", "payload"):
            for when, opened in times:
                parts[f"ours {way}(at), {when}"] = {RANDOM: self._one_call_each(opened, way)}
        return parts

    @staticmethod
    def _one_call_each(opened: Callable[[], Any], way: str) -> Part:
        return lambda order: lambda: map(getattr(opened(), way), order)

    @staticmethod
    def _parts(opened: Callable[[], Any], copy: bool) -> dict[str, Part]:
        def at_random(order: list[int]) -> Callable[[], Iterable[Any]]:
            return lambda: opened().read_each(order, copy=copy)

        def random_batches(order: list[int]) -> Callable[[], Iterable[Any]]:
            groups = in_batches(np.array(order))
            return lambda: (each.payloads for each in map(partial(opened().read_many, copy=copy), groups))

        parts = {
            SEQUENTIAL: always(lambda: opened().iterate(copy=copy)),
            BATCHES: always(lambda: (each.payloads for each in opened().iterate_batches(BATCH, copy=copy))),
            RANDOM_BATCHES: random_batches,
        }
        return {**parts, RANDOM: at_random} if copy else parts

    def first(self) -> Any:
        from course_lib.shards import ShardSet

        return ShardSet.open(self.out).read(0)

    def records(self) -> Iterable[Any]:
        from course_lib.shards import ShardSet

        return ShardSet.open(self.out).iterate()

    def pair(self, record: Any) -> tuple[bytes, int]:
        return record[1], record[2]

    def loader(self, workers: int, decoder: str) -> Iterable[Any]:
        from course_lib.shards import ShardedBatches, ShardedLoader

        batches = ShardedBatches(self.out, BATCH, shuffle="none", decoder=decoder)
        return map(lambda batch: (batch["image"], batch["label"]), ShardedLoader(batches, workers=workers))

    def resumable(self, workers: int) -> Any:
        from course_lib.shards import ShardedBatches, ShardedLoader

        return ShardedLoader(ShardedBatches(self.out, 20, buffer=200), workers=workers)


class Files(Candidate):
    name, package = "files", ""

    def readers(self) -> dict[str, dict[str, Part]]:
        def at_random(order: list[int]) -> Callable[[], Iterable[Any]]:
            return lambda: map(self.__getitem__, order)

        return {
            self.name: {
                SEQUENTIAL: always(lambda: map(self.__getitem__, range(len(self)))),
                RANDOM: at_random,
            }
        }

    def first(self) -> Any:
        self.samples = listed(Path(self.samples[0].path).parent.parent)
        return self[0]

    def pair(self, record: Any) -> tuple[bytes, int]:
        return record

    def __len__(self) -> int:
        return len(self.samples)

    def __getitem__(self, at: int) -> tuple[bytes, int]:
        return self.samples[at].payload(), self.samples[at].label

    def loader(self, workers: int, decoder: str) -> Iterable[Any]:
        return plain_loader(self, workers, DecodedBatch(self, decoder))


class TarFloor(Candidate):
    """`tar cf`, and its file read whole in pieces of a shard's length: what nothing can be faster than."""

    name, package = "floor", ""

    def pack(self, samples: list[Sample]) -> None:
        self.out.mkdir()
        folder = Path(samples[0].path).parent.parent
        subprocess.run(["tar", "cf", str(self.out / "all.tar"), "-C", str(folder), "."], check=True)

    def readers(self) -> dict[str, dict[str, Part]]:
        import xxhash

        def whole(look: Callable[[bytes], Any]) -> Iterator[Any]:
            path = self.out / "all.tar"
            pieces = -(-path.stat().st_size // self.shard_bytes)
            with path.open("rb", buffering=0) as file:
                for numbers in np.array_split(range(len(self.samples)), pieces):
                    look(file.read(self.shard_bytes))
                    yield numbers

        looks = {"floor: whole tar": len, "floor: whole tar and xxh3": xxhash.xxh3_64_intdigest}
        return {
            name: {
                SEQUENTIAL: always(lambda look=look: chain.from_iterable(whole(look))),
                BATCHES: always(lambda look=look: whole(look)),
            }
            for name, look in looks.items()
        }


def plain_loader(samples: Any, workers: int, collate: Callable[[Any], Any]) -> Iterable[Any]:
    from torch.utils.data import DataLoader

    return DataLoader(samples, batch_size=BATCH, num_workers=workers, collate_fn=collate)


def shuffled_positions(count: int) -> list[int]:
    return random.Random(2026).sample(range(count), count)
