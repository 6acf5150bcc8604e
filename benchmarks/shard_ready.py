"""Ready for the first of 1,000,000 samples: seconds and memory from opening a set to its first sample.

Every turn is a fresh process, in which PyTorch and the reader's library are imported before the clock starts.
Memory is what the process has in RAM then, beyond what it had before. The samples have 100 random bytes each.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from shard_candidates import Sample
from shard_peers import CANDIDATES, Arrow, Lmdb
from shard_process import print_versions

from course_lib.watched import Emit, run_watched

PAYLOAD_BYTES = 100
NAMES = ("ours", "LMDB", "HF Arrow")
SHARD_BYTES = 256_000_000


class Drawn(Sample):
    """A sample whose payload is drawn from its path, which is a number."""

    def payload(self) -> bytes:
        return np.random.default_rng(int(self.path)).bytes(PAYLOAD_BYTES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    chosen = parser.parse_args()
    names = [name for name in NAMES if not CANDIDATES[name].missing()]
    print_versions(names)
    print(f"{chosen.samples:,} samples; median and range of {chosen.repeats} fresh processes each")
    print(f"\n{'':12} {'packed in s':>12} {'ready in ms':>12} {'range':>16} {'MB of RAM':>10} {'range':>14}")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        turns: dict[str, list[Any]] = {name: [] for name in names}
        packed = {}
        for name in names:
            request = {"name": name, "out": f"{folder}/{name}", "samples": chosen.samples}
            packed[name] = run_watched("shard_ready:pack_task", request, silence_seconds=None)
        for _ in range(chosen.repeats):
            for name in names:
                request = {"name": name, "out": f"{folder}/{name}"}
                turns[name].append(run_watched("shard_ready:ready_task", request))
        for name, figures in turns.items():
            times, sizes = zip(*figures, strict=True)
            print(
                f"{name:12} {packed[name]:12.1f} {statistics.median(times):12.1f}"
                f" {f'{min(times):.1f} to {max(times):.1f}':>16} {statistics.median(sizes):10.1f}"
                f" {f'{min(sizes):.1f} to {max(sizes):.1f}':>14}"
            )


def pack_task(request: dict[str, Any], emit: Emit) -> float:
    count, out = request["samples"], Path(request["out"])
    samples = [Drawn(f"sample-{number:07d}", str(number), number % 10) for number in range(count)]
    started = time.perf_counter()
    if request["name"] == "ours":
        from course_lib.shards import blob_source, pack

        classes = [f"class {label}" for label in range(10)]
        payloads: Iterator[bytes] = (sample.payload() for sample in samples)
        ids, labels = [sample.id for sample in samples], [sample.label for sample in samples]
        source = blob_source(
            payloads, ids, labels, dataset="drawn", class_names=classes, extension="bin", split="train"
        )
        pack(source, out, target_bytes=SHARD_BYTES)
    else:
        CANDIDATES[request["name"]](out, [], SHARD_BYTES).pack(samples)
    return time.perf_counter() - started


def ready_task(request: dict[str, Any], emit: Emit) -> list[float]:
    import psutil
    import torch  # noqa: F401

    name, out = request["name"], Path(request["out"])
    if name == "ours":
        from course_lib.shards import ShardSet
    else:
        for module in CANDIDATES[name].modules:
            __import__(module)
    candidate = CANDIDATES[name](out, [], SHARD_BYTES)
    memory = psutil.Process().memory_info
    before, started = memory().rss, time.perf_counter()
    if name == "ours":
        first: Any = ShardSet.open(out).read(0)
    elif isinstance(candidate, Lmdb):
        first = candidate.first()
    else:
        assert isinstance(candidate, Arrow)
        first = candidate.opened()[0]
    seconds = time.perf_counter() - started
    assert first
    return [1e3 * seconds, (memory().rss - before) / 1e6]


if __name__ == "__main__":
    sys.exit(main())
