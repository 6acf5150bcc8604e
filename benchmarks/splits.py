"""A stratified split with its digests and its samples.csv, beside scikit-learn and pandas doing the same.

All get the same arrays and write the same columns; they take turns in processes of their own, so that a busy
machine slows all alike, and each turn has its ratio. One peer computes the digest of each sample with its
label as the workbook does, the other is handed that column and only splits and writes. The workbook also
checks the ids and the result, sorts the file, and verifies it after writing; the peers do none of this.

With --large the memory for ten million ids is measured too, which takes minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc

CLASSES = 10
LARGE_COUNT = 10_000_000
BYTES_PER_ID_ALLOWED = 200


def columns_for(count: int) -> tuple[pa.Array, np.ndarray, np.ndarray]:
    """Return shuffled ids, labels and contents' digests, made without a Python object for each."""
    rng = np.random.default_rng(2026)
    numbers = pa.array(rng.permutation(count).astype(np.int64)).cast(pa.string())
    ids = pc.binary_join_element_wise("sample", pc.utf8_lpad(numbers, 8, "0"), "-")
    labels = rng.integers(0, CLASSES, count, dtype=np.int32)
    return ids, labels, rng.integers(0, 256, (count, 32), dtype=np.uint8)


def ours(count: int, folder: Path) -> float:
    from course_lib.splits import make_split, parse_recipe, sample_table, write_split

    ids, labels, content = columns_for(count)
    started = time.perf_counter()
    samples = sample_table(ids, labels, dataset="benchmark", content=content)
    write_split(make_split(samples, parse_recipe("stratified-80-20")), folder / "split")
    return time.perf_counter() - started


def peers(count: int, folder: Path, *, handed_digests: bool = False) -> float:
    import pandas as pd
    from sklearn.model_selection import train_test_split

    ids, labels, content = columns_for(count)
    texts = np.array(ids.to_pylist(), dtype=object)
    contents = np.frombuffer(content.tobytes().hex().encode(), dtype="S64").tolist()
    digests = sample_digests(contents, labels) if handed_digests else []
    started = time.perf_counter()
    train, test = train_test_split(np.arange(count), test_size=0.2, stratify=labels, random_state=2026)
    names = np.empty(count, dtype=object)
    names[train], names[test] = "train", "test"
    digests = digests or sample_digests(contents, labels)
    frame = pd.DataFrame({"sample_id": texts, "split": names, "sha256": digests})
    frame.to_csv(folder / "samples.csv", index=False)
    return time.perf_counter() - started


def sample_digests(contents: list[bytes], labels: np.ndarray) -> list[str]:
    endings = [f"\n{code}".encode() for code in range(CLASSES)]
    return [
        hashlib.sha256(content + endings[code]).hexdigest()
        for content, code in zip(contents, labels.tolist(), strict=True)
    ]


PARTS: dict[str, Callable[[int, Path], float]] = {
    "course_lib.splits": ours,
    "scikit-learn + pandas": peers,
    "the same, digests handed in": partial(peers, handed_digests=True),
}


def peak_bytes() -> int:
    """Return the most memory that this process held so far."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def run_part(name: str, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        seconds = PARTS[name](count, Path(folder))
    print(json.dumps({"seconds": seconds, "peak": peak_bytes()}))


def measured(name: str, count: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--part", name, "--count", str(count)], check=True, stdout=subprocess.PIPE
    )
    result: dict[str, float] = json.loads(done.stdout)
    return result


def compare(count: int, repeats: int) -> None:
    seconds: dict[str, list[float]] = {name: [] for name in PARTS}
    for _ in range(repeats):
        for name, values in seconds.items():
            values.append(measured(name, count)["seconds"])
    ours_in_turn = seconds["course_lib.splits"]
    print(f"{count:,} ids, {repeats} repeats in turn, medians and ranges")
    for name, values in seconds.items():
        ratios = [mine / theirs for mine, theirs in zip(ours_in_turn, values, strict=True)]
        beside = f"   the workbook takes {spread(ratios)} of it" if values is not ours_in_turn else ""
        print(f"{name:28} {spread(values)} s{beside}")


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def report_memory(count: int) -> None:
    result = measured("course_lib.splits", count)
    print(
        f"{count:,} ids: peak {result['peak'] / 1e6:,.0f} MB of the whole process, "
        f"{result['peak'] / count:.0f} B an id (at most {BYTES_PER_ID_ALLOWED} are wanted), "
        f"{result['seconds']:.0f} s"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--large", action="store_true", help="measure the memory for ten million ids too")
    parser.add_argument("--part", choices=list(PARTS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part:
        run_part(options.part, options.count)
        return
    compare(options.count, options.repeats)
    if options.large:
        report_memory(LARGE_COUNT)


if __name__ == "__main__":
    main()
