"""Shard sets beside their peers: packing, reading, bytes on disk, and batches ready for training.

Candidates take turns; each lives in a process of its own with a temporary folder of its own. The page cache
is warm. A pass ends with the last sample or after a few seconds, so that slow candidates do not hold up the
rest; a rate counts what was delivered. Ours verifies every record: "first pass" is the pass that does so.
Payloads that are bytes of their own and views into a mapped file stand in tables of their own.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import shard_candidates as candidates
from shard_peers import CANDIDATES
from shard_process import SHARD_BYTES, Kept, load, print_versions

ONE_PACK_SECONDS = 8.0
LOADING_SECONDS = 1.0
LARGE_RECORD_BYTES = 40_000
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
    seconds = chosen.seconds or (0.5 if chosen.quick else 1.5)
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
        compare(images, f"CIFAR-10 training images ({origin})", names, repeats, seconds, loading=True)
        large = large_records(Path(folder) / "large-records", 200 if chosen.quick else 2_000)
        compare(large, "Records of 40 KB, generated from seed 2026", names, repeats, seconds, loading=False)
    print(f"\n{time.perf_counter() - STARTED:.0f} s in all; load at the end {load()}")


def small_images(scratch: Path, count: int | None) -> tuple[Path, str]:
    """Return a folder of class folders with the training images, all or the first of each class."""
    from course_lib.datasets import load_cifar10

    images = load_cifar10("train")
    folder = images.files().folder / "train"
    if count is None or count >= len(images.labels):
        return folder, images.origin.kind
    part = scratch / "images" / "train"
    for class_folder in sorted(path for path in folder.iterdir() if path.is_dir()):
        (part / class_folder.name).mkdir(parents=True)
        for path in sorted(class_folder.iterdir())[: count // 10]:
            shutil.copyfile(path, part / class_folder.name / path.name)
    return part, images.origin.kind


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
        limit = min(LOADING_SECONDS, seconds)
        tasks = {name: each.asked("load", workers, decoder, limit) for name, each in loaders.items()}
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


def print_conditions(names: list[str], repeats: int, seconds: float) -> None:
    print_versions(names)
    print(f"Median and range of {repeats} turns, passes of at most {seconds:g} s; ratios as medians.")
    print(f"Shards of at most {SHARD_BYTES / 1e6:.0f} MB. Ours takes SHA-256 and writes through to the disk.")
    print(f"A packer that takes more than {ONE_PACK_SECONDS:.0f} s gets one turn.")
    print(f"Passes through loaders last {LOADING_SECONDS:g} s at most, from the second batch on.", flush=True)


STARTED = time.perf_counter()
if __name__ == "__main__":
    sys.exit(main())
