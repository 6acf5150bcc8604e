"""The peers of shard sets, each as it comes, with shards of about the same size where it has shards.

They are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from shard_candidates import (
    BATCH,
    BATCHES,
    MISSING,
    RANDOM,
    RANDOM_BATCHES,
    SEQUENTIAL,
    Candidate,
    DecodedBatch,
    Files,
    Ours,
    Part,
    Sample,
    TarFloor,
    always,
    in_batches,
    plain_loader,
)


class WebDataset(Candidate):
    name, package, modules = "webdataset", "webdataset", ("webdataset",)

    def pack(self, samples: list[Sample]) -> None:
        import webdataset

        self.out.mkdir()
        ending = Path(samples[0].path).suffix[1:]
        pattern = str(self.out / "train-%06d.tar")
        with webdataset.ShardWriter(pattern, maxsize=self.shard_bytes, verbose=0) as writer:
            for sample in samples:
                record = {"__key__": sample.id, ending: sample.payload(), "cls": sample.label}
                if sample.label == MISSING:
                    del record["cls"]
                writer.write(record)

    def _opened(self, shuffled: bool = False) -> Any:
        import webdataset

        ending = Path(self.samples[0].path).suffix[1:]
        # As with the usual pattern train-{000000..000006}.tar, a missing shard is asked for all the same.
        last = max(int(path.stem.rpartition("-")[2]) for path in self.out.glob("train-*.tar"))
        urls = [str(self.out / f"train-{number:06d}.tar") for number in range(last + 1)]
        opened = webdataset.WebDataset(urls, shardshuffle=len(urls) if shuffled else False, empty_check=False)
        return (opened.shuffle(200) if shuffled else opened).to_tuple(ending, "cls")

    def readers(self) -> dict[str, dict[str, Part]]:
        def batches() -> Iterable[Any]:
            return iter(self._opened().batched(BATCH, collation_fn=list))

        return {self.name: {SEQUENTIAL: always(lambda: iter(self._opened())), BATCHES: always(batches)}}

    def pair(self, record: Any) -> tuple[bytes, int]:
        return record[0], int(record[1])

    def loader(self, workers: int, decoder: str) -> Iterable[Any]:
        import webdataset

        batches = self._opened().batched(BATCH, collation_fn=DecodedBatch(self, decoder))
        return webdataset.WebLoader(batches, batch_size=None, num_workers=workers)

    def resumable(self, workers: int) -> Any:
        return stateful(self._opened(shuffled=True), self, workers)


class Mds(Candidate):
    name, package, modules = "MDS", "mosaicml-streaming", ("streaming",)

    def pack(self, samples: list[Sample]) -> None:
        from streaming import MDSWriter

        columns = {"id": "str", "payload": "bytes", "label": "int"}
        with MDSWriter(out=str(self.out), columns=columns, size_limit=self.shard_bytes) as writer:
            for sample in samples:
                record = {"id": sample.id, "payload": sample.payload(), "label": sample.label}
                if sample.label == MISSING:
                    del record["label"]
                writer.write(record)

    def opened(self, batch: int, shuffled: bool = False) -> Any:
        from streaming import StreamingDataset
        from streaming.base.util import clean_stale_shared_memory

        clean_stale_shared_memory()
        return StreamingDataset(local=str(self.out), batch_size=batch, shuffle=shuffled)

    def readers(self) -> dict[str, dict[str, Part]]:
        opened = self.opened(BATCH)

        def at_random(order: list[int]) -> Callable[[], Iterable[Any]]:
            return lambda: map(opened.__getitem__, order)

        return {self.name: {SEQUENTIAL: always(lambda: iter(opened)), RANDOM: at_random}}

    def first(self) -> Any:
        return self.opened(1)[0]

    def loader(self, workers: int, decoder: str) -> Iterable[Any]:
        from streaming import StreamingDataLoader

        collate = DecodedBatch(self, decoder)
        return StreamingDataLoader(
            self.opened(BATCH), batch_size=BATCH, num_workers=workers, collate_fn=collate
        )

    def resumable(self, workers: int) -> Any:
        from streaming import StreamingDataLoader

        opened, collate = self.opened(20, shuffled=True), partial(payloads_of, self)
        return StreamingDataLoader(opened, batch_size=20, num_workers=workers, collate_fn=collate)


class LitData(Candidate):
    name, package, modules = "litdata", "litdata", ("litdata",)

    def pack(self, samples: list[Sample]) -> None:
        import litdata

        litdata.optimize(
            _as_litdata,
            [tuple(sample) for sample in samples],
            str(self.out),
            chunk_bytes=self.shard_bytes,
            num_workers=1,
            verbose=False,
        )

    def opened(self, shuffled: bool = False) -> Any:
        from litdata import StreamingDataset

        return StreamingDataset(str(self.out), shuffle=shuffled)

    def readers(self) -> dict[str, dict[str, Part]]:
        opened = self.opened()

        def at_random(order: list[int]) -> Callable[[], Iterable[Any]]:
            return lambda: map(opened.__getitem__, order)

        return {self.name: {SEQUENTIAL: always(lambda: iter(self.opened())), RANDOM: at_random}}

    def loader(self, workers: int, decoder: str) -> Iterable[Any]:
        from litdata import StreamingDataLoader

        collate = DecodedBatch(self, decoder)
        return StreamingDataLoader(self.opened(), batch_size=BATCH, num_workers=workers, collate_fn=collate)

    def resumable(self, workers: int) -> Any:
        from litdata import StreamingDataLoader

        opened, collate = self.opened(shuffled=True), partial(payloads_of, self)
        return StreamingDataLoader(opened, batch_size=20, num_workers=workers, collate_fn=collate)


def _as_litdata(sample: tuple[str, str, int]) -> dict[str, Any]:
    identifier, path, label = sample
    record = {"id": identifier, "payload": Path(path).read_bytes()}
    return record if label == MISSING else {**record, "label": label}


class Arrow(Candidate):
    name, package, modules = "HF Arrow", "datasets", ("datasets",)

    def pack(self, samples: list[Sample]) -> None:
        from datasets import Dataset, Features, Value

        def rows(samples: list[Sample]) -> Iterator[dict[str, Any]]:
            for sample in samples:
                label = None if sample.label == MISSING else sample.label
                yield {"id": sample.id, "payload": sample.payload(), "label": label}

        kinds = {"id": Value("string"), "payload": Value("binary"), "label": Value("int32")}
        cache = self.out.parent / f"{self.out.name}-cache"
        rows_written = Dataset.from_generator(
            rows, Features(kinds), cache_dir=str(cache), gen_kwargs={"samples": samples}
        )
        rows_written.save_to_disk(str(self.out), max_shard_size=self.shard_bytes)

    def opened(self) -> Any:
        import datasets

        datasets.disable_progress_bars()
        return datasets.load_from_disk(str(self.out))

    def readers(self) -> dict[str, dict[str, Part]]:
        opened = self.opened()

        def at_random(order: list[int]) -> Callable[[], Iterable[Any]]:
            return lambda: map(opened.__getitem__, order)

        def random_batches(order: list[int]) -> Callable[[], Iterable[Any]]:
            return lambda: (opened[each]["payload"] for each in in_batches(order))

        parts = {
            SEQUENTIAL: always(lambda: iter(opened)),
            BATCHES: always(lambda: (each["payload"] for each in opened.iter(BATCH))),
            RANDOM: at_random,
            RANDOM_BATCHES: random_batches,
        }
        return {self.name: parts}

    def loader(self, workers: int, decoder: str) -> Iterable[Any]:
        return plain_loader(self.opened(), workers, DecodedBatch(self, decoder))

    def resumable(self, workers: int) -> Any:
        shuffled = self.opened().to_iterable_dataset(num_shards=4).shuffle(seed=1, buffer_size=200)
        return stateful(shuffled, self, workers)


class Lmdb(Candidate):
    """The payload is the value; the label stands at the end of the key, so that nothing has to be cut out."""

    name, package, modules = "LMDB", "lmdb", ("lmdb",)

    @staticmethod
    def key(sample: Sample) -> bytes:
        return f"{sample.id}/{'' if sample.label == MISSING else sample.label}".encode()

    def pack(self, samples: list[Sample]) -> None:
        import lmdb

        with (
            lmdb.open(str(self.out), map_size=1 << 32) as environment,
            environment.begin(write=True) as writing,
        ):
            for sample in samples:
                writing.put(self.key(sample), sample.payload())

    def opened(self) -> Any:
        import lmdb

        return lmdb.open(str(self.out), readonly=True, lock=False)

    def readers(self) -> dict[str, dict[str, Part]]:
        # LMDB cannot be opened twice in one process.
        self._environment = getattr(self, "_environment", None) or self.opened()
        variants = {"LMDB": False, "LMDB buffers=True": True}
        return {name: self._parts(buffers) for name, buffers in variants.items()}

    def _parts(self, buffers: bool) -> dict[str, Part]:
        def reading() -> Any:
            return self._environment.begin(buffers=buffers)

        def at_random(order: list[int]) -> Callable[[], Iterable[Any]]:
            keys = [self.key(self.samples[at]) for at in order]
            return lambda: map(reading().get, keys)

        def several(keys: list[bytes]) -> Callable[[], Iterable[Any]]:
            groups = in_batches(keys)
            return lambda: map(reading().cursor().getmulti, groups)

        parts = {
            SEQUENTIAL: always(lambda: iter(reading().cursor())),
            BATCHES: lambda order: several(sorted(map(self.key, self.samples))),
            RANDOM_BATCHES: lambda order: several([self.key(self.samples[at]) for at in order]),
        }
        # Ours has no views one at a time that these could stand beside.
        return parts if buffers else {**parts, RANDOM: at_random}

    def close(self) -> None:
        self._environment.close()
        self._environment = None

    def first(self) -> Any:
        with self.opened() as environment, environment.begin() as reading:
            return next(iter(reading.cursor()))

    def pair(self, record: Any) -> tuple[bytes, int]:
        label = bytes(record[0]).rpartition(b"/")[2]
        return bytes(record[1]), int(label) if label else MISSING


def payloads_of(candidate: Candidate, records: Sequence[Any]) -> dict[str, list[bytes]]:
    # MDS counts the samples of a batch by the length of what stands in it.
    return {"payload": [candidate.pair(record)[0] for record in records]}


def stateful(samples: Any, candidate: Candidate, workers: int) -> Any:
    """Return a loader that can be resumed, for peers that leave it to torchdata; None without torchdata."""
    if find_spec("torchdata") is None:
        return None
    from torchdata.stateful_dataloader import StatefulDataLoader

    return StatefulDataLoader(
        samples, batch_size=20, num_workers=workers, collate_fn=partial(payloads_of, candidate)
    )


CANDIDATES: dict[str, type[Candidate]] = {
    kind.name: kind for kind in (Ours, WebDataset, Mds, LitData, Arrow, Lmdb, Files, TarFloor)
}
