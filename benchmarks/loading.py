"""What the probe costs: samples a second with it against a bare loop over the same loader, in turn.

The worst case is measured: a data set in memory, batches of 8 small samples, no workers. Turns are short and
come in pairs, and time is the processor's. Other programs can only slow a turn down, so on a busy machine the
fastest tenth of the turns tells what the probe costs; the pairs show the noise.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable

import torch
from torch.utils.data import DataLoader, TensorDataset

from course_lib.loading import time_batches

BATCH_SIZE = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--batches", type=int, default=2000)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    count = chosen.batches * BATCH_SIZE
    samples = TensorDataset(torch.zeros(count, 3, 8, 8, dtype=torch.uint8), torch.zeros(count))
    loader = DataLoader(samples, batch_size=BATCH_SIZE)
    candidates: dict[str, Callable[[], object]] = {
        "bare loop": lambda: exhaust(loader),
        "with the probe": lambda: time_batches(lambda: loader, warmup_batches=1, measured_batches=None),
    }
    rates: dict[str, list[float]] = {name: [] for name in candidates}
    # Libraries leave many objects behind, and looking through them would be no cost of either candidate.
    gc.collect()
    gc.freeze()
    for pair in range(chosen.pairs):
        names = list(candidates)
        for name in names if pair % 2 else reversed(names):
            started = time.process_time()
            candidates[name]()
            rates[name].append(count / (time.process_time() - started))
    fastest = {name: statistics.quantiles(values, n=10)[-1] for name, values in rates.items()}
    for name, values in rates.items():
        median = statistics.median(values)
        print(f"{name:<16} median {median:9,.0f}, fastest tenth {fastest[name]:9,.0f} samples/s")
    ratios = [probe / bare for bare, probe in zip(*rates.values(), strict=True)]
    low, median, high = statistics.quantiles(ratios, n=4)
    bare, probe = fastest.values()
    print(
        f"ratio of the fastest tenths {probe / bare:.3f}; of the pairs {median:.3f} ({low:.3f} to {high:.3f})"
    )


def exhaust(loader: DataLoader) -> None:
    for _ in loader:
        pass


if __name__ == "__main__":
    main()
