"""What one plan costs, and what a million cost at once: the calculators of `course_lib.planning`.

A slider evaluates one plan at a move, a map of plans a million. The calculators take turns, and CPU
time is counted, so that other work on the machine weighs less.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from course_lib.planning.bandwidth import read_bandwidth
from course_lib.planning.cache import cache_plan
from course_lib.planning.capacity import capacity_plan
from course_lib.planning.checkpoints import checkpoint_plan, daly, exact_interval, young
from course_lib.planning.cost import Prices, cycle_cost
from course_lib.planning.metadata import layout_gain, metadata_plan
from course_lib.planning.mlperf import benchmark_plan
from course_lib.planning.objects import object_plan

FAILURES = {"save_seconds": 120.0, "mean_seconds_between_failures": 492_750.0}
CALCULATORS: dict[str, tuple[Callable[..., Any], dict[str, float]]] = {
    "read_bandwidth": (
        read_bandwidth,
        {
            **{"batches_per_second": 4.0, "batch_size": 128, "bytes_per_sample": 100e3, "consumers": 4},
            **{"hit_rate": 0.75, "available_bytes_per_second": 100e6},
        },
    ),
    "cache_plan": (
        cache_plan,
        {
            **{"data_bytes": 100e9, "cache_bytes": 75e9, "remote_bytes_per_second": 200e6},
            **{"local_bytes_per_second": 2e9, "jobs": 4, "prepare_seconds": 60.0, "epochs": 10},
        },
    ),
    "capacity_plan": (
        capacity_plan,
        {
            **{"raw_bytes": 200e9, "processed_bytes": 300e9, "cache_bytes": 100e9, "jobs": 4},
            **{"checkpoint_bytes": 8e9, "checkpoints_kept": 3, "failed_attempts": 1, "disk_bytes": 900e9},
        },
    ),
    "metadata_plan": (
        metadata_plan,
        {
            **{"files": 1_000_000, "seconds_per_operation": 0.002, "concurrency": 16},
            **{"bytes_per_sample": 40e3, "shard_bytes": 256e6, "server_operations_per_second": 6000.0},
        },
    ),
    "layout_gain": (
        layout_gain,
        {
            **{"start_seconds_before": 1080.0, "start_seconds_after": 120.0},
            **{"samples_per_second_before": 260.0, "samples_per_second_after": 1450.0},
            **{"synthetic_samples_per_second": 1800.0, "bytes_per_sample": 40e3},
        },
    ),
    "object_plan": (
        object_plan,
        {
            **{"round_trip_seconds": 0.02, "object_bytes": 10e3, "concurrency": 16},
            **{"bandwidth_bytes_per_second": 1e9, "requests_per_second_per_prefix": 5500.0, "prefixes": 2},
        },
    ),
    "checkpoint_plan": (
        checkpoint_plan,
        {
            **{"bytes": 8e9, "interval_seconds": 600.0, "save_seconds": 20.0, "failed_saves": 1},
            **{"reading_bytes_per_second": 51.2e6, "bandwidth_bytes_per_second": 1e9},
        },
    ),
    "cycle_cost": (
        partial(cycle_cost, prices=Prices(0.02, 3.0, 0.4)),
        {
            **{"stored_bytes": 1e12, "cycle_seconds": 1e6, "devices": 4, "waiting_seconds": 1e4},
            **{"rebuild_seconds": 1e3, "requests": 1_000_000},
        },
    ),
    "benchmark_plan": (
        partial(benchmark_plan, workload="unet3d"),
        {"accelerators": 8, "host_memory_bytes": 256.0 * 2**30},
    ),
    "young": (young, FAILURES),
    "daly": (daly, FAILURES),
    "exact_interval": (exact_interval, FAILURES),
}


def seconds_of(call: Callable[[], Any], times: int) -> float:
    started = time.process_time()
    for _ in range(times):
        call()
    return (time.process_time() - started) / times


def arrays(inputs: dict[str, float], plans: int) -> dict[str, Any]:
    """Return every input as ``plans`` values; those that may have decimals spread by up to a tenth."""
    spread = np.random.default_rng(0).uniform(0.9, 1.0, plans)
    return {
        name: value * spread if isinstance(value, float) else np.full(plans, float(value))
        for name, value in inputs.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--plans", type=int, default=1_000_000)
    chosen = parser.parse_args()
    single: dict[str, list[float]] = {name: [] for name in CALCULATORS}
    many: dict[str, list[float]] = {name: [] for name in CALCULATORS}
    for _ in range(chosen.repeats):
        for name, (planner, inputs) in CALCULATORS.items():
            single[name].append(seconds_of(partial(planner, **inputs), 2000))
            many[name].append(seconds_of(partial(planner, **arrays(inputs, chosen.plans)), 1))
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {platform.system()}")
    print(f"CPU time, medians and ranges of {chosen.repeats} turns; the {chosen.plans:,} plans are arrays.\n")
    print(f"{'calculator':16} {'one plan':>9} {'range':>18}   {f'{chosen.plans:,}':>9} {'range':>18}")
    for name in CALCULATORS:
        one = f"{statistics.median(single[name]) * 1e6:.1f} us"
        ones = f"{min(single[name]) * 1e6:.1f} to {max(single[name]) * 1e6:.1f} us"
        all_of_them = f"{statistics.median(many[name]):.2f} s"
        spread = f"{min(many[name]):.2f} to {max(many[name]):.2f} s"
        print(f"{name:16} {one:>9} {ones:>18}   {all_of_them:>9} {spread:>18}")


if __name__ == "__main__":
    main()
