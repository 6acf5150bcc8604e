"""A candidate in a process of its own, asked for one figure after another; and the conditions of all."""

from __future__ import annotations

import importlib.metadata
import multiprocessing
import os
import platform
import shutil
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import shard_candidates as candidates
from shard_peers import CANDIDATES

KEPT_SECONDS = 600.0
SHARD_BYTES = 32_000_000


class Kept:
    """A candidate's own process, which waits while others are measured."""

    def __init__(self, name: str, data: Path, folder: Path) -> None:
        self._name = name
        self._connection, theirs = multiprocessing.Pipe()
        arguments = (theirs, name, data, folder / name.replace(" ", "-"))
        self._process = multiprocessing.get_context("spawn").Process(target=serve, args=arguments)
        self._process.start()
        theirs.close()
        self._is_lost = False

    def ask(self, method: str, *arguments: Any) -> Any:
        """Return the answer; None, with a line that says why, when there is none."""
        if self._is_lost:
            return None
        try:
            self._connection.send((method, arguments))
            if not self._connection.poll(KEPT_SECONDS):
                raise TimeoutError(f"no answer in {KEPT_SECONDS:.0f} s")
            worked, answer = self._connection.recv()
        except (EOFError, OSError) as error:
            self._is_lost = True
            worked, answer = False, f"its process is lost, {type(error).__name__}: {error}"
        if not worked:
            print(f"{self._name}, {method} {' '.join(map(str, arguments[:2]))}: {answer}", flush=True)
        return answer if worked else None

    def asked(self, method: str, *arguments: Any) -> Callable[[], Any]:
        return lambda: self.ask(method, *arguments)

    def end(self) -> None:
        self._connection.close()
        self._process.join(10)
        if self._process.is_alive():
            self._process.kill()


def serve(connection: Any, name: str, data: Path, folder: Path) -> None:
    temporary = folder / "tmp"
    temporary.mkdir(parents=True)
    for variable in ("TMPDIR", "TEMP", "TMP"):
        os.environ[variable] = str(temporary)
    tempfile.tempdir = str(temporary)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    log = os.open(folder / "printed.txt", os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(log, stream)
    # Workers start as they do in a process that was not spawned.
    multiprocessing.set_start_method(None, force=True)
    server = Server(name, data, folder)
    while True:
        try:
            method, arguments = connection.recv()
        except EOFError:
            # Not through the libraries' own endings, some of which wait for threads.
            os._exit(0)
        try:
            answer = (True, getattr(server, method)(*arguments))
        except Exception as error:
            answer = (False, f"{type(error).__name__}: {str(error).strip().splitlines()[0:1]}")
        connection.send(answer)


class Server:
    """Does what is asked in the candidate's own process."""

    def __init__(self, name: str, data: Path, folder: Path) -> None:
        samples = candidates.listed(data)
        self._candidate = CANDIDATES[name](folder / "set", samples, SHARD_BYTES)
        self._order = candidates.shuffled_positions(len(samples))
        for module in self._candidate.modules:
            __import__(module)

        self._has_packed = False

    def pack(self) -> float:
        if not self._has_packed:
            self._pack(self._candidate.samples[:: max(1, len(self._candidate.samples) // 20)])
            self._has_packed = True
        return self._pack(self._candidate.samples)

    def _pack(self, samples: list[candidates.Sample]) -> float:
        for path in self._candidate.out.parent.glob("set*"):
            shutil.rmtree(path)
        if hasattr(os, "sync"):
            os.sync()
        started = time.perf_counter()
        self._candidate.pack(samples)
        return time.perf_counter() - started

    def bytes_on_disk(self) -> int:
        return sum(path.stat().st_size for path in self._candidate.out.rglob("*") if path.is_file())

    def open(self) -> dict[str, list[str]]:
        self._readers = self._candidate.readers()
        for variant, parts in self._readers.items():
            for part, prepare in parts.items():
                rate_of(prepare(self._order[: 10 * candidates.BATCH]), "batches" in part, 0.2)
            if "floor" not in variant and candidates.SEQUENTIAL in parts:
                self._check(variant)
        return {variant: list(parts) for variant, parts in self._readers.items()}

    def _check(self, variant: str) -> None:
        """Raise unless what is delivered first is what was packed."""
        packed = {(sample.payload(), sample.label) for sample in self._candidate.samples[:500]}
        last = len(self._candidate.samples)
        records = islice(self._readers[variant][candidates.SEQUENTIAL]([])(), last)
        found = {self._candidate.pair(record) for record in within(records, 0.5)}
        if not found & packed or (len(found) == last and not packed <= found):
            raise AssertionError(f"{variant} delivers other samples than were packed")

    def read(self, variant: str, part: str, seconds: float) -> float:
        return rate_of(self._readers[variant][part](self._order), "batches" in part, seconds)

    def first(self) -> float:
        if self._candidate.name == "LMDB":
            self._readers = {}
            self._candidate.close()  # type: ignore[attr-defined]
        started = time.perf_counter()
        self._candidate.first()
        seconds = time.perf_counter() - started
        if self._candidate.name == "LMDB":
            self._readers = self._candidate.readers()
        return seconds

    def load(self, workers: int, decoder: str, seconds: float) -> float:
        loader = self._candidate.loader(workers, decoder)
        assert loader is not None
        batches = (labels for _, labels in loader)
        # Starting workers is not delivering.
        next(batches)
        return rate_of(lambda: batches, True, seconds)


def within(records: Iterator[Any], seconds: float) -> Iterator[Any]:
    until = time.perf_counter() + seconds
    for record in records:
        yield record
        if time.perf_counter() > until:
            return


def rate_of(make: Callable[[], Iterable[Any]], is_batched: bool, seconds: float) -> float:
    """Return samples a second from the call that opens a pass to its end, or until the time is over."""
    count, last = 0, deque[Any](maxlen=1)
    started = now = time.perf_counter()
    records = iter(make())
    while now - started < seconds:
        if is_batched:
            batch = next(records, None)
            got = 0 if batch is None else len(batch)
        else:
            got = 0
            for record in islice(records, 500):  # noqa: B007
                got += 1
            if got:
                last.append(record)
        now = time.perf_counter()
        if not got:
            break
        count += got
    return count / (now - started)


def load() -> str:
    return "unknown" if not hasattr(os, "getloadavg") else f"{os.getloadavg()[0]:.1f}"


def print_versions(names: Iterable[str]) -> None:
    packages = ["numpy", "torch", "xxhash", "simplejpeg", "torchdata"]
    packages += [package for name in names if (package := CANDIDATES[name].package)]
    found = []
    for package in packages:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{package} not installed")
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    print(f"Python {platform.python_version()}, {machine}; load at the beginning {load()}")
    print(", ".join(found), flush=True)
