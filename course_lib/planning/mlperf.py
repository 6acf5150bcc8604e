"""MLPerf Storage (rules v2.0): utilisation, smallest data set, rates, a DLIO configuration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.errors import CourseError
from course_lib.loading.utilisation import H100_WORKLOADS, TrainingWorkload, rules_compute_seconds
from course_lib.loading.verdicts import total_rate
from course_lib.planning.core import (
    Number,
    Plan,
    binding_of,
    broadcasting,
    count,
    highest_of,
    positive,
    ratio,
    rounded_up,
)

_STEPS = 500
_TIMES_MEMORY = 5
_SOURCE = (
    "MLPerf Storage rules v2.0: samples = max(500 steps x batch x accelerators, "
    "5 x hosts x memory / bytes per sample)"
)

_FILES = {"unet3d": ("npz", 1), "resnet50": ("tfrecord", 1251), "cosmoflow": ("tfrecord", 1)}


@dataclass(frozen=True)
class BenchmarkPlan(Plan):
    """A storage benchmark's data set and the rate that it asks for.

    Attributes
    ----------
    smallest_samples : float or ndarray
        Fewest samples that the rules allow, rounded up to whole ones.
    by_steps_samples, by_memory_samples : float or ndarray
        What either rule asks for by itself.
    smallest_bytes : float or ndarray
        The bytes of that many samples.
    bytes_per_second_per_accelerator, bytes_per_second : float or ndarray
        Reading at 100% accelerator utilisation, of one and of all.
    needed_bytes_per_second : float or ndarray
        Reading of all at the utilisation that just passes.
    """

    workload: str
    accelerators: Number
    hosts: Number
    host_memory_bytes: Number
    bytes_per_sample: Number
    batch_size: Number
    step_seconds: Number
    needed_ratio: Number
    by_steps_samples: Number
    by_memory_samples: Number
    smallest_samples: Number
    smallest_bytes: Number
    bytes_per_second_per_accelerator: Number
    bytes_per_second: Number
    needed_bytes_per_second: Number

    @property
    def deciding_memory_bytes(self) -> Number:
        """B of memory of a host above which the rule of memory asks for more samples than that of steps."""
        return self.by_steps_samples * self.bytes_per_sample / (_TIMES_MEMORY * self.hosts)


@broadcasting
def benchmark_plan(
    *,
    workload: str,
    accelerators: Any,
    host_memory_bytes: Any,
    hosts: Any = 1,
) -> BenchmarkPlan:
    """Plan a run of a published training workload with H100 step times.

    Parameters
    ----------
    workload : {"unet3d", "resnet50", "cosmoflow"}
        Its bytes per sample, batch size, step time and needed utilisation are the published ones.
    accelerators, hosts : float or ndarray
        Emulated accelerators in all, and hosts that run them.
    host_memory_bytes : float or ndarray
        B of memory of each host; the data set has to be five times as large, so that no cache holds it.

    Returns
    -------
    BenchmarkPlan
        ``binding`` names the rule that sets the data set: "500 steps" or "5 x memory".

    Raises
    ------
    CourseError
        For an unknown workload, and for inputs out of range.

    Examples
    --------
    >>> benchmark_plan(workload="cosmoflow", accelerators=8, host_memory_bytes=256 * 2**30).smallest_samples
    485910.0
    """
    published = _published(workload)
    devices = count("The number of accelerators", accelerators)
    machines = count("The number of hosts", hosts)
    memory = positive("The memory of a host", host_memory_bytes)
    by_steps = _STEPS * published.batch_size * devices
    by_memory = rounded_up(_TIMES_MEMORY * machines * memory / published.bytes_per_sample)
    # The rule that asks for more binds: the lower one with its sign turned.
    binding, _ = binding_of(("500 steps", "5 x memory"), (-by_steps, -by_memory))
    samples = highest_of(by_steps, by_memory)
    each = published.bytes_per_second
    return BenchmarkPlan(
        binding=binding,
        assumptions=(
            "The step times are those that the benchmark states for an H100; nothing is computed.",
            "MB/s are payload at 100% accelerator utilisation (AU).",
            "AU by the rules' formula; the tool sums measured compute time instead.",
        ),
        source=_SOURCE,
        workload=workload,
        accelerators=devices,
        hosts=machines,
        host_memory_bytes=memory,
        bytes_per_sample=float(published.bytes_per_sample),
        batch_size=float(published.batch_size),
        step_seconds=published.compute_seconds_per_step,
        needed_ratio=published.needed_ratio,
        by_steps_samples=by_steps,
        by_memory_samples=by_memory,
        smallest_samples=samples,
        smallest_bytes=samples * published.bytes_per_sample,
        bytes_per_second_per_accelerator=each,
        bytes_per_second=each * devices,
        needed_bytes_per_second=each * devices * published.needed_ratio,
    )


def rules_utilisation(
    *,
    records_per_file: int,
    files: int,
    accelerators: int,
    batch_size: int,
    step_seconds: float,
    running_seconds: float,
    epochs: int = 1,
) -> float:
    """Return accelerator utilisation by the rules' formula, as a ratio.

    Stated compute time over the running time, the first step's input left out of ``running_seconds``.

    Raises
    ------
    CourseError
        For inputs out of range, and where the run was shorter than its own compute time.

    Examples
    --------
    >>> rules_utilisation(records_per_file=1, files=3500, accelerators=1, batch_size=7, step_seconds=0.323,
    ...                   running_seconds=170.0)
    0.95
    """
    whole = {
        "records_per_file": count("The records per file", records_per_file),
        "files": count("The number of files", files),
        "accelerators": count("The number of accelerators", accelerators),
        "batch_size": count("The batch size", batch_size),
        "epochs": count("The number of epochs", epochs),
    }
    running = positive("The running time", running_seconds)
    computing = rules_compute_seconds(
        **whole,  # type: ignore[arg-type]
        compute_seconds_per_step=float(positive("The time of a step", step_seconds)),
    )
    if computing > float(running) * (1 + 1e-9):
        raise CourseError(
            "The run was shorter than its compute time",
            expected=f"{computing:g} s or more",
            found=f"{float(running):g} s",
            next_step="count the same epochs and accelerators in both",
        )
    return float(computing / running)


@dataclass(frozen=True)
class TotalUtilisation:
    """Accelerator utilisation over several runs of one kind.

    Attributes
    ----------
    workload : str
    ratio : float
        Total compute time over total running time.
    ratios : tuple of float
        Of each run.
    needed_ratio : float
        The least that passes.
    passes : bool
        Whether ``ratio`` does.
    compute_seconds : float
        Stated compute time of one run, on each accelerator.
    """

    workload: str
    ratio: float
    ratios: tuple[float, ...]
    needed_ratio: float
    passes: bool
    compute_seconds: float


def total_utilisation(
    *,
    workload: str,
    accelerators: int,
    files: int,
    running_seconds: Sequence[float],
    records_per_file: int | None = None,
    epochs: int = 1,
) -> TotalUtilisation:
    """Return the utilisation over several runs by the rules' formula: total compute over total running time.

    Parameters
    ----------
    workload : {"unet3d", "resnet50", "cosmoflow"}
        Its batch size, step time and needed utilisation are the published ones.
    accelerators, files, epochs : int
        Of each run.
    running_seconds : sequence of float
        s that each run took, the first step's input left out.
    records_per_file : int, optional
        Samples in a file; the published number without it.

    Raises
    ------
    CourseError
        For an unknown workload, inputs out of range, and a run that was shorter than its compute time.

    Examples
    --------
    >>> found = total_utilisation(workload="unet3d", accelerators=1, files=3500, running_seconds=[165, 190])
    >>> round(found.ratio, 4), found.passes
    (0.9099, True)
    """
    published = _published(workload)
    ratios = tuple(
        rules_utilisation(
            records_per_file=_FILES[workload][1] if records_per_file is None else records_per_file,
            files=files,
            accelerators=accelerators,
            batch_size=published.batch_size,
            step_seconds=published.compute_seconds_per_step,
            running_seconds=seconds,
            epochs=epochs,
        )
        for seconds in running_seconds
    )
    computing = [share * seconds for share, seconds in zip(ratios, running_seconds, strict=True)]
    total = total_rate(amounts=computing, seconds=running_seconds)
    return TotalUtilisation(
        workload, total, ratios, published.needed_ratio, passes(total, workload=workload), computing[0]
    )


def dlio_configuration(plan: BenchmarkPlan, *, data_folder: str, epochs: float = 5) -> dict[str, Any]:
    """Return a configuration in the manner of DLIO's workload files, for one plan.

    Parameters
    ----------
    plan : BenchmarkPlan
        Of plain numbers, no arrays.
    data_folder : str
        Where the benchmark generates and reads its files.
    epochs : float
        Passes over the data, a whole number.

    Returns
    -------
    dict
        Nested plain values, to be written as YAML.

    Raises
    ------
    CourseError
        For a plan over arrays, and for epochs that are no whole number of 1 or more.
    """
    if not isinstance(plan.smallest_samples, float):
        raise CourseError("A configuration is written from one plan", found="a plan over arrays")
    kind, in_a_file = _FILES[plan.workload]
    passes_over = int(count("The number of epochs", epochs))
    return {
        "model": {"name": plan.workload, "type": "cnn"},
        "framework": "pytorch" if kind == "npz" else "tensorflow",
        "workflow": {"generate_data": False, "train": True, "checkpoint": False},
        "dataset": {
            "data_folder": data_folder,
            "format": kind,
            "num_files_train": math.ceil(plan.smallest_samples / in_a_file),
            "num_samples_per_file": in_a_file,
            "record_length_bytes": int(float(plan.bytes_per_sample)),
        },
        "reader": {
            "data_loader": "pytorch" if kind == "npz" else "tensorflow",
            "batch_size": int(float(plan.batch_size)),
            "file_shuffle": "seed",
            "sample_shuffle": "seed",
        },
        "train": {"epochs": passes_over, "computation_time": plan.step_seconds},
        "metric": {"au": plan.needed_ratio},
    }


def passes(utilisation: Any, *, workload: str) -> Any:
    """Tell whether an accelerator utilisation (a ratio) reaches what the workload needs.

    Examples
    --------
    >>> passes(0.89, workload="unet3d"), passes(0.71, workload="cosmoflow")
    (False, True)
    """
    return ratio("The accelerator utilisation", utilisation) >= _published(workload).needed_ratio


def _published(workload: str) -> TrainingWorkload:
    if workload not in H100_WORKLOADS:
        raise CourseError(
            "This workload is not known", expected=" or ".join(H100_WORKLOADS), found=repr(workload)
        )
    return H100_WORKLOADS[workload]
