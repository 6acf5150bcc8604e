"""Shard sets beside their peers: packing, reading, bytes on disk, and batches ready for training.

Candidates take turns; each lives in a process of its own with a temporary folder of its own. The page cache
is warm. A pass ends with the last sample or after a few seconds, so that slow candidates do not hold up the
rest; a rate counts what was delivered. Ours verifies every record: "first pass" is the pass that does so.
Payloads that are bytes of their own and views into a mapped file stand in tables of their own.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import multiprocessing
import os
import platform
import shutil
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import shard_candidates as candidates
from shard_peers import CANDIDATES

KEPT_SECONDS = 600.0
ONE_PACK_SECONDS = 8.0
LARGE_RECORD_BYTES = 40_000
SHARD_BYTES = 32_000_000
OURS_FIRST, OURS_LATER = "ours, first pass", "ours, later passes"
VIEWS_FIRST, VIEWS_LATER = "ours views, first pass", "ours views, later passes"
VIEWS = (VIEWS_FIRST, VIEWS_LATER, "LMDB buffers=True")
NOTHING_TO_LOAD = ("MDS", "LMDB", "floor")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few samples, one turn: a trial, no measurement")
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--seconds", type=float, help="longest pass")
    parser.add_argument("--only", nargs="*", default=list(CANDIDATES), choices=list(CANDIDATES))
    chosen = parser.parse_args()
    repeats = chosen.repeats or (1 if chosen.quick else 3)
    seconds = chosen.seconds or (0.5 if chosen.quick else 2.0)
    names = [name for name in CANDIDATES if name in chosen.only]
    if shutil.which("tar") is None and "floor" in names:
        names.remove("floor")
        print("Left out: floor, since there is no tar here")
    for name in list(names):
        if CANDIDATES[name].missing():
            names.remove(name)
            print(f"Left out: {name}, since {CANDIDATES[name].package} is not installed")
    print_conditions(names, repeats, seconds)
    # What peers leave behind in shared memory is theirs.
    os.environ["PYTHONWARNINGS"] = "ignore:resource_tracker"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        images, origin = small_images(Path(folder), 2_000 if chosen.quick else None)
        compare(images, f"CIFAR-10 training images, {origin}", names, repeats, seconds, loading=True)
        large = large_records(Path(folder) / "large-records", 200 if chosen.quick else 3_000)
        compare(large, "Records of 40 KB, generated from seed 2026", names, repeats, seconds, loading=False)
    print(f"\n{time.perf_counter() - STARTED:.0f} s in all; load at the end {load()}")


def small_images(scratch: Path, count: int | None) -> tuple[Path, str]:
    """Return a folder of class folders with the training images, all or the first of each class."""
    from course_lib.datasets import load_cifar10

    images = load_cifar10("train")
    folder = images.files().folder / "train"
    if count is None or count >= len(images.labels):
        return folder, images.origin.label()
    part = scratch / "images" / "train"
    for class_folder in sorted(path for path in folder.iterdir() if path.is_dir()):
        (part / class_folder.name).mkdir(parents=True)
        for path in sorted(class_folder.iterdir())[: count // 10]:
            shutil.copyfile(path, part / class_folder.name / path.name)
    return part, images.origin.label()


def large_records(folder: Path, count: int) -> Path:
    draw = np.random.default_rng(2026)
    for number in range(10):
        (folder / f"class{number}").mkdir(parents=True)
    for number in range(count):
        path = folder / f"class{number % 10}" / f"{number:06d}.bin"
        path.write_bytes(draw.bytes(LARGE_RECORD_BYTES))
    return folder


def compare(data: Path, title: str, names: list[str], repeats: int, seconds: float, *, loading: bool) -> None:
    samples = candidates.listed(data)
    payload = sum(len(sample.payload()) for sample in samples)
    print(f"\n## {title}: {len(samples):,} samples, {payload / 1e6:.1f} MB of payload")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        kept = {name: Kept(name, data, Path(folder)) for name in names}
        try:
            compare_packing(kept, repeats)
            compare_reading(kept, len(samples), repeats, seconds)
            if loading:
                compare_loading(kept, repeats, seconds)
        finally:
            for each in kept.values():
                each.end()


def compare_packing(kept: dict[str, Kept], repeats: int) -> None:
    packers = {name: each for name, each in kept.items() if name != "files"}
    taken = taking_turns(
        {name: each.asked("pack") for name, each in packers.items()}, repeats, ONE_PACK_SECONDS
    )
    ours = taken.get("ours", [])
    print(f"\n{'packing':26} {'seconds':>9} {'range':>16} {'ours takes':>11} {'MB on disk':>11}")
    for name, values in taken.items():
        if values:
            share = f"{median_ratio(ours, values):.2f} of it" if ours else ""
            spread = f"{min(values):.2f} to {max(values):.2f}" if len(values) > 1 else "one turn"
            size = kept[name].ask("bytes_on_disk") / 1e6
            print(f"{name:26} {statistics.median(values):9.2f} {spread:>16} {share:>11} {size:11.1f}")


def compare_reading(kept: dict[str, Kept], count: int, repeats: int, seconds: float) -> None:
    ways = {name: each.ask("open") or {} for name, each in kept.items()}
    ready = taking_turns(
        {name: each.asked("first") for name, each in kept.items() if name != "floor"}, repeats
    )
    print(f"\n{'ready for the first':26} {'ms':>9} {'range':>16}   of {count:,}, imports done")
    for name, values in ready.items():
        if values:
            spread = f"{1e3 * min(values):.1f} to {1e3 * max(values):.1f}"
            print(f"{name:26} {1e3 * statistics.median(values):9.1f} {spread:>16}")
    for part in candidates.PARTS:
        tasks = {
            variant: kept[name].asked("read", variant, part, seconds)
            for name, variants in ways.items()
            for variant, parts in variants.items()
            if part in parts
        }
        title = {
            candidates.BATCHES: f"{candidates.BATCH} at a time",
            candidates.RANDOM_BATCHES: f"random, {candidates.BATCH} at a time",
        }
        rates = taking_turns(tasks, repeats)
        views = {name: values for name, values in rates.items() if name in VIEWS}
        copies = {name: values for name, values in rates.items() if name not in VIEWS}
        print_rates(f"{title.get(part, part)}: bytes", copies, OURS_FIRST, OURS_LATER)
        if views:
            print_rates(f"{title.get(part, part)}: views", views, VIEWS_FIRST, VIEWS_LATER)


def compare_loading(kept: dict[str, Kept], repeats: int, seconds: float) -> None:
    from course_lib.shards import choose_decoder

    decoder = choose_decoder("auto").name
    loaders = {name: each for name, each in kept.items() if name not in NOTHING_TO_LOAD}
    for workers in (0, 1, 2):
        tasks = {name: each.asked("load", workers, decoder, seconds) for name, each in loaders.items()}
        title = f"uint8, {decoder}, {workers} workers"
        print_rates(title, taking_turns(tasks, repeats), "ours", "ours")


def taking_turns(
    tasks: dict[str, Callable[[], float | None]], repeats: int, once_above: float = float("inf")
) -> dict[str, list[float]]:
    """Return the figures of each task; one whose first figure is above `once_above` gets no other turn."""
    figures: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats):
        for name, task in tasks.items():
            if turn and (not figures[name] or figures[name][0] > once_above):
                continue
            figure = task()
            if figure is not None:
                figures[name].append(figure)
    return figures


def median_ratio(ours: list[float], theirs: list[float]) -> float:
    return statistics.median([mine / other for mine, other in zip(ours, theirs, strict=False)])


def print_rates(title: str, rates: dict[str, list[float]], first: str, later: str) -> None:
    head = f"{'ours/it, first':>15} {'ours/it, later':>15}" if first != later else f"{'ours/it':>15}"
    print(f"\n{title:36} {'samples/s':>10} {'range':>22} {head}")
    for name, values in rates.items():
        if not values:
            continue
        ratios = [rates.get(baseline, []) for baseline in dict.fromkeys((first, later))]
        shown = " ".join(f"{median_ratio(ours, values) if ours else float('nan'):15.2f}" for ours in ratios)
        spread = f"{min(values):,.0f} to {max(values):,.0f}"
        print(f"{name:36} {statistics.median(values):10,.0f} {spread:>22} {shown}", flush=True)


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
                rate_of(prepare(self._order[: 10 * candidates.BATCH]), "batches" in part, 0.5)
            if "floor" not in variant:
                self._check(variant)
        return {variant: list(parts) for variant, parts in self._readers.items()}

    def _check(self, variant: str) -> None:
        """Raise unless what is delivered first is what was packed."""
        packed = {(sample.payload(), sample.label) for sample in self._candidate.samples[:500]}
        last = len(self._candidate.samples)
        records = islice(self._readers[variant][candidates.SEQUENTIAL]([])(), last)
        found = {self._candidate.pair(record) for record in within(records, 1.0)}
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


def print_conditions(names: list[str], repeats: int, seconds: float) -> None:
    packages = ["numpy", "torch", "xxhash", "simplejpeg"]
    packages += [package for name in names if (package := CANDIDATES[name].package)]
    found = []
    for package in packages:
        try:
            found.append(f"{package} {importlib.metadata.version(package)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{package} not installed")
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    print(f"Python {platform.python_version()}, {machine}; load at the beginning {load()}")
    print(", ".join(found))
    print(
        f"Median and range of {repeats} turns, passes of at most {seconds:g} s; ratios: medians over turns."
    )
    print(f"Shards of at most {SHARD_BYTES / 1e6:.0f} MB. Ours takes SHA-256 and writes through to the disk.")
    print(f"A packer that takes more than {ONE_PACK_SECONDS:.0f} s gets one turn.", flush=True)


STARTED = time.perf_counter()
if __name__ == "__main__":
    sys.exit(main())
