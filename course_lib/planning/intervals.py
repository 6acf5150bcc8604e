"""How often to save: the interval that loses least time in all, and the one whose loss is bearable."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course_lib.planning.checkpoints import daly, exact_interval, interval_for_loss, young
from course_lib.planning.core import (
    Number,
    Plan,
    broadcasting,
    choose,
    count,
    lowest_of,
    positive,
    refuse_where,
)

_SHORTEST_BESIDE_A_SAVE = 1e-9
_SOURCE = (
    "Young 1974: sqrt(2 C M); Daly 2006, higher order; exactly, for random failures: "
    "M (1 + W(-exp(-C/M - 1))), W the principal Lambert function; with C the time of a save and M the mean "
    "time between failures; by loss: (bearable loss - C) / (failed saves + 1) - C"
)


@dataclass(frozen=True)
class IntervalPlan(Plan):
    """Intervals between saves, in seconds of computing from the end of a save to the start of the next.

    Attributes
    ----------
    young_seconds, daly_seconds, exact_seconds : float or ndarray
        Those that lose least time in all, by two approximations and exactly.
    loss_limit_seconds : float or ndarray
        The longest whose loss is bearable; infinity where no bearable loss was given.
    computing_seconds : float or ndarray
        The one to take: the shorter of the exact one and of the one that the loss allows.
    interval_seconds : float or ndarray
        The same from the start of one save to the start of the next, as `checkpoint_plan` takes it.
    worst_loss_seconds : float or ndarray
        Most training time that a failure then takes.
    """

    save_seconds: Number
    mean_seconds_between_failures: Number
    bearable_loss_seconds: Number | None
    failed_saves: Number
    young_seconds: Number
    daly_seconds: Number
    exact_seconds: Number
    loss_limit_seconds: Number
    computing_seconds: Number
    interval_seconds: Number
    worst_loss_seconds: Number


@broadcasting
def interval_plan(
    *,
    save_seconds: Any,
    mean_seconds_between_failures: Any,
    bearable_loss_seconds: Any = None,
    failed_saves: Any = 0,
) -> IntervalPlan:
    """Plan how often to save, from failures and from the loss that is bearable.

    Parameters
    ----------
    save_seconds : float or ndarray
        s that a save takes.
    mean_seconds_between_failures : float or ndarray
        s between failures on average; they come at random.
    bearable_loss_seconds : float or ndarray, optional
        s of training that a failure may take at most.
    failed_saves : float or ndarray
        Saves in a row that may fail before the training does.

    Returns
    -------
    IntervalPlan
        ``binding`` is "bearable loss" where that asks for more frequent saves than least lost time does,
        else "time of saves".

    Raises
    ------
    CourseError
        For inputs out of range, and where the loss leaves no time for computing.

    Examples
    --------
    >>> plan = interval_plan(save_seconds=120, mean_seconds_between_failures=492_750,
    ...                      bearable_loss_seconds=720)
    >>> round(plan.exact_seconds, 1), plan.computing_seconds, plan.binding
    (10794.9, 480.0, 'bearable loss')
    """
    save = positive("The time of a save", save_seconds)
    between = positive("The mean time between failures", mean_seconds_between_failures)
    failed = count("The number of failed saves", failed_saves, least=0)
    loss = None if bearable_loss_seconds is None else positive("The bearable loss", bearable_loss_seconds)
    limit: Number = float("inf")
    if loss is not None:
        limit = interval_for_loss(bearable_loss_seconds=loss, save_seconds=save, failed_saves=failed) - save
        refuse_where(
            limit <= _SHORTEST_BESIDE_A_SAVE * save,
            "With a loss so small there would be nothing but saving",
            found=lambda lost, saving: f"{lost:g} s of loss for saves of {saving:g} s",
            of=(loss, save),
            next_step="write faster, or bear a larger loss",
        )
    timing = {"save_seconds": save, "mean_seconds_between_failures": between}
    exact = exact_interval(**timing)
    computing = lowest_of(exact, limit)
    return IntervalPlan(
        binding=choose(limit < exact, "bearable loss", "time of saves"),
        assumptions=(
            "Failures come at random, at the same rate all the time.",
            "Every save takes equally long, and training stands still meanwhile.",
            "A restart finds the last complete checkpoint.",
        ),
        source=_SOURCE,
        save_seconds=save,
        mean_seconds_between_failures=between,
        bearable_loss_seconds=loss,
        failed_saves=failed,
        young_seconds=young(**timing),
        daly_seconds=daly(**timing),
        exact_seconds=exact,
        loss_limit_seconds=limit,
        computing_seconds=computing,
        interval_seconds=computing + save,
        worst_loss_seconds=(failed + 1) * (computing + save) + save,
    )
