"""Accelerator utilisation (AU) as MLPerf Storage defines it, in both of its variants.

Rules (v2.0): AU = total compute time / total running time x 100, with the first step's input left out, and
total compute time = records per file x files / accelerators / batch size x compute time per step x epochs.
Its tool sums the measured compute time instead. Ratios here are between 0 and 1; the x 100 is in
:attr:`Utilisation.percent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from course_lib.errors import CourseError

Variant = Literal["rules", "measured"]

_NAMES: dict[Variant, str] = {
    "rules": "AU by the formula of the MLPerf Storage rules (stated compute time per step x steps)",
    "measured": "AU as the MLPerf Storage tool sums it (measured compute time)",
}


@dataclass(frozen=True)
class Utilisation:
    """Share of the running time in which the accelerator computes.

    Attributes
    ----------
    ratio : float
        Between 0 and 1.
    variant : {"rules", "measured"}
        Which compute time stands above the line.
    compute_seconds, running_seconds : float
        The two times that were divided; the first step's input is in neither.
    """

    ratio: float
    variant: Variant
    compute_seconds: float
    running_seconds: float

    @property
    def percent(self) -> float:
        """The same times 100, as MLPerf Storage prints it."""
        return 100 * self.ratio

    @property
    def name(self) -> str:
        """Which of the two definitions this is."""
        return _NAMES[self.variant]

    def __str__(self) -> str:
        """Say it with its definition."""
        return f"{self.percent:.1f}%, {self.name}"


@dataclass(frozen=True)
class TrainingWorkload:
    """A training workload of MLPerf Storage v2.0, with the step time of an H100.

    Attributes
    ----------
    bytes_per_sample, batch_size : int
        Size of a sample as stored, and samples of a step.
    compute_seconds_per_step : float
        The step time that the benchmark takes for the accelerator.
    needed_ratio : float
        Smallest utilisation that passes, between 0 and 1.
    """

    bytes_per_sample: int
    batch_size: int
    compute_seconds_per_step: float
    needed_ratio: float

    @property
    def bytes_per_second(self) -> float:
        """What one accelerator reads at full utilisation."""
        return self.bytes_per_sample * self.batch_size / self.compute_seconds_per_step


H100_WORKLOADS = {
    "unet3d": TrainingWorkload(146_600_628, 7, 0.323, 0.90),
    "resnet50": TrainingWorkload(114_660, 400, 0.224, 0.90),
    "cosmoflow": TrainingWorkload(2_828_486, 1, 0.0035, 0.70),
}


def rules_compute_seconds(
    *,
    records_per_file: int,
    files: int,
    accelerators: int,
    batch_size: int,
    compute_seconds_per_step: float,
    epochs: int = 1,
) -> float:
    """Return the total compute time of the rules' formula, in seconds."""
    steps_per_epoch = records_per_file * files / accelerators / batch_size
    return steps_per_epoch * compute_seconds_per_step * epochs


def accelerator_utilisation(
    compute_seconds: ArrayLike,
    total_seconds: ArrayLike,
    *,
    variant: Variant = "measured",
    compute_seconds_per_step: float | None = None,
) -> Utilisation:
    """Return the utilisation of one accelerator over the steps of a run.

    Parameters
    ----------
    compute_seconds, total_seconds : array-like of shape (steps,)
        Measured compute time and whole time of each step, in order.
    variant : {"measured", "rules"}
        ``"measured"`` sums ``compute_seconds``; ``"rules"`` takes steps x ``compute_seconds_per_step``, a
        time stated beforehand, such as that of the same model on synthetic input.
    compute_seconds_per_step : float, optional
        Needed by ``"rules"``.

    Raises
    ------
    CourseError
        When the two do not belong together, or the stated time is missing.

    Notes
    -----
    Everything of the first step but its computing is left out of the running time, as the definition says.
    A stated compute time longer than the measured steps gives a ratio above 1: the statement is wrong then.
    """
    compute = np.asarray(compute_seconds, dtype=np.float64)
    total = np.asarray(total_seconds, dtype=np.float64)
    if compute.ndim != 1 or compute.shape != total.shape or not len(compute):
        raise CourseError(
            "The utilisation needs a compute time and a total time for each step",
            expected="two rows of equal length",
            found=f"shapes {compute.shape} and {total.shape}",
        )
    if (compute < 0).any() or (compute > total).any():
        raise CourseError(
            "A step cannot compute longer than it lasts",
            found=f"{int((compute > total).sum() + (compute < 0).sum())} such steps",
            next_step="give compute times first and total times second",
        )
    running = float(total.sum() - (total[0] - compute[0]))
    computing = float(compute.sum())
    if variant == "rules":
        if compute_seconds_per_step is None:
            raise CourseError(
                "The rules' formula needs a compute time per step that was stated beforehand",
                next_step="give compute_seconds_per_step",
            )
        computing = len(compute) * compute_seconds_per_step
    if running <= 0:
        raise CourseError("The utilisation of steps that took no time is undefined", found=f"{running} s")
    return Utilisation(computing / running, variant, computing, running)
