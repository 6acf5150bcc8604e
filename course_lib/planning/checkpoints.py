"""Checkpoints: how large they are, how they are written, and how often they pay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.errors import CourseError
from course_lib.planning.core import (
    Number,
    Plan,
    broadcasting,
    choose,
    count,
    highest_of,
    not_negative,
    positive,
    refuse_where,
)

BYTES_PER_PARAMETER = {
    "mixed precision, Adam (2 B weights + 12 B optimiser)": 14.0,
    "32-bit, Adam (4 B weights + 8 B moments)": 12.0,
    "32-bit, SGD with momentum (4 B + 4 B)": 8.0,
    "32-bit weights alone": 4.0,
    "16-bit weights alone": 2.0,
}
"""Bytes of training state that each parameter takes, by what is saved; the first is MLPerf Storage's rule."""

_SERIES_BELOW = 1e-6
_SOURCE = (
    "average = bytes / interval, burst = bytes / save time; worst-case loss = (failed saves + 1) x interval "
    "+ save time; counted from the start of a save to the start of the next"
)


@broadcasting
def checkpoint_bytes(*, parameters: Any, bytes_per_parameter: Any = 14.0) -> Number:
    """Return the size of a checkpoint from the number of parameters.

    Parameters
    ----------
    parameters : float or ndarray
        How many the model has.
    bytes_per_parameter : float or ndarray
        B of weights and optimiser state; 14 by the rule of MLPerf Storage, others in `BYTES_PER_PARAMETER`.

    Returns
    -------
    float or ndarray
        B; epoch counters, random states and the loader's position add little and are left out.

    Examples
    --------
    >>> checkpoint_bytes(parameters=8_030_261_248)
    112423657472.0
    """
    return count("The number of parameters", parameters) * positive(
        "The bytes per parameter", bytes_per_parameter
    )


@dataclass(frozen=True)
class CheckpointPlan(Plan):
    """Saving a checkpoint at a fixed interval.

    Attributes
    ----------
    average_bytes_per_second, burst_bytes_per_second : float or ndarray
        Write rate over the whole interval, and while a save runs.
    save_share : float or ndarray
        Share of the time in which a save runs.
    worst_loss_seconds : float or ndarray
        Most training time that a failure takes, with so many failed saves in a row.
    reading_left_bytes_per_second : float or ndarray
        Bandwidth left for training reads while a save runs; infinity when no bandwidth was given.
    reading_slowed : bool or ndarray
        Whether that is less than the training reads.
    """

    bytes: Number
    interval_seconds: Number
    save_seconds: Number
    failed_saves: Number
    reading_bytes_per_second: Number
    bandwidth_bytes_per_second: Number
    average_bytes_per_second: Number
    burst_bytes_per_second: Number
    save_share: Number
    worst_loss_seconds: Number
    reading_left_bytes_per_second: Number
    reading_slowed: Any


@broadcasting
def checkpoint_plan(
    *,
    bytes: Any,
    interval_seconds: Any,
    save_seconds: Any,
    failed_saves: Any = 0,
    reading_bytes_per_second: Any = 0.0,
    bandwidth_bytes_per_second: Any = None,
) -> CheckpointPlan:
    """Plan writing a checkpoint each interval, and what a failure costs at the worst.

    Parameters
    ----------
    bytes : float or ndarray
        B of one checkpoint.
    interval_seconds : float or ndarray
        s from the start of one save to the start of the next.
    save_seconds : float or ndarray
        s that a save takes.
    failed_saves : float or ndarray
        Saves in a row that fail before the training does.
    reading_bytes_per_second : float or ndarray
        B/s that training reads from the same storage.
    bandwidth_bytes_per_second : float or ndarray, optional
        B/s that the storage gives to both.

    Returns
    -------
    CheckpointPlan
        ``binding`` is "training reads" where a save leaves too little for them, "save burst" where the
        bandwidth can't carry the burst itself, else "loss on failure".

    Raises
    ------
    CourseError
        For inputs out of range, and for an interval that is shorter than the save.

    Examples
    --------
    >>> plan = checkpoint_plan(bytes=8e9, interval_seconds=600, save_seconds=20)
    >>> round(plan.average_bytes_per_second / 1e6, 1), plan.burst_bytes_per_second / 1e6
    (13.3, 400.0)
    """
    size = positive("The bytes of a checkpoint", bytes)
    interval = positive("The interval", interval_seconds)
    save = positive("The time of a save", save_seconds)
    failed = count("The number of failed saves", failed_saves, least=0)
    reading = not_negative("The training reads", reading_bytes_per_second)
    link = (
        float("inf")
        if bandwidth_bytes_per_second is None
        else positive("The bandwidth", bandwidth_bytes_per_second)
    )
    refuse_where(
        interval < save,
        "The interval is shorter than the save, so saves would pile up",
        found=lambda every, saving: f"{every:g} s for saves of {saving:g} s",
        of=(interval, save),
        next_step="save less often, or write faster",
    )
    burst = size / save
    left = highest_of(link - burst, 0.0)
    slowed = left < reading
    return CheckpointPlan(
        binding=choose(burst > link, "save burst", choose(slowed, "training reads", "loss on failure")),
        assumptions=(
            "A save counts when it is complete; until then the one before it is what a restart finds.",
            "The state of a checkpoint is that of the moment at which its save started.",
            "A save writes at an even rate; an average over the interval says nothing about that burst.",
        ),
        source=_SOURCE,
        bytes=size,
        interval_seconds=interval,
        save_seconds=save,
        failed_saves=failed,
        reading_bytes_per_second=reading,
        bandwidth_bytes_per_second=link,
        average_bytes_per_second=size / interval,
        burst_bytes_per_second=burst,
        save_share=save / interval,
        worst_loss_seconds=(failed + 1) * interval + save,
        reading_left_bytes_per_second=left,
        reading_slowed=slowed,
    )


@broadcasting
def interval_for_loss(*, bearable_loss_seconds: Any, save_seconds: Any, failed_saves: Any = 0) -> Number:
    """Return the longest interval at which a failure costs no more than is bearable.

    Parameters
    ----------
    bearable_loss_seconds, save_seconds : float or ndarray
        s of training that may be lost, and s that a save takes.
    failed_saves : float or ndarray
        Saves in a row that may fail before the training does.

    Returns
    -------
    float or ndarray
        s from the start of one save to the start of the next: (loss - save) / (failed saves + 1).

    Raises
    ------
    CourseError
        Where that is shorter than a save: no interval keeps the loss so small.

    Examples
    --------
    >>> interval_for_loss(bearable_loss_seconds=720, save_seconds=120)
    600.0
    """
    loss = positive("The bearable loss", bearable_loss_seconds)
    save = positive("The time of a save", save_seconds)
    failed = count("The number of failed saves", failed_saves, least=0)
    interval = (loss - save) / (failed + 1)
    refuse_where(
        interval < save,
        "No interval keeps the loss so small with saves that slow",
        found=lambda lost, saving: f"{lost:g} s of loss for saves of {saving:g} s",
        of=(loss, save),
        next_step="write faster, or bear a larger loss",
    )
    return interval


@broadcasting
def young(*, save_seconds: Any, mean_seconds_between_failures: Any) -> Number:
    """Return Young's interval (1974): sqrt(2 C M) seconds of computing between saves.

    Examples
    --------
    >>> round(young(save_seconds=120, mean_seconds_between_failures=492_750), 1)
    10874.7
    """
    cost, between = _both(save_seconds, mean_seconds_between_failures)
    return _plain(np.sqrt(2 * cost * between))


@broadcasting
def daly(*, save_seconds: Any, mean_seconds_between_failures: Any) -> Number:
    """Return Daly's interval of higher order (2006), seconds of computing between saves.

    sqrt(2 C M) [1 + (1/3) sqrt(C / 2M) + (1/9)(C / 2M)] - C where C < 2 M, else M.

    Examples
    --------
    >>> round(daly(save_seconds=600, mean_seconds_between_failures=1800), 1)
    1096.9
    """
    cost, between = _both(save_seconds, mean_seconds_between_failures)
    half = cost / (2 * between)
    series = np.sqrt(2 * cost * between) * (1 + np.sqrt(half) / 3 + half / 9) - cost
    return _plain(np.where(cost < 2 * between, series, between))


@broadcasting
def exact_interval(*, save_seconds: Any, mean_seconds_between_failures: Any) -> Number:
    """Return the best interval for failures with exponentially distributed times between them.

    M (1 + W(-exp(-C/M - 1))) seconds of computing between saves, W the principal Lambert function.

    Examples
    --------
    >>> round(exact_interval(save_seconds=3600, mean_seconds_between_failures=1800), 1)
    1705.6
    """
    from scipy.special import lambertw

    cost, between = _both(save_seconds, mean_seconds_between_failures)
    exactly = between * (1 + lambertw(-np.exp(-cost / between - 1)).real)
    # Near the branch point of W nothing is left of its digits, and the series agrees to 11 of them.
    series = daly(save_seconds=cost, mean_seconds_between_failures=between)
    return _plain(np.where(cost < _SERIES_BELOW * between, series, exactly))


def _both(save_seconds: Any, mean_seconds_between_failures: Any) -> tuple[Number, Number]:
    return (
        positive("The time of a save", save_seconds),
        positive("The mean time between failures", mean_seconds_between_failures),
    )


def _plain(value: Any) -> Number:
    return float(value) if np.ndim(value) == 0 else value


def bytes_per_parameter(rule: str) -> float:
    """Return the bytes per parameter of a named rule.

    Raises
    ------
    CourseError
        For a name that is not in `BYTES_PER_PARAMETER`.
    """
    if rule not in BYTES_PER_PARAMETER:
        raise CourseError("This rule is not known", expected="; ".join(BYTES_PER_PARAMETER), found=repr(rule))
    return BYTES_PER_PARAMETER[rule]
