"""The inputs of ``course plan checkpoint`` that follow from others: its size, and how often to save."""

from __future__ import annotations

from typing import Any

from course_lib.errors import CourseError
from course_lib.units import format_bytes, format_seconds


def checkpoint_inputs(given: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the calculator's inputs, and a sentence about each that was worked out from others.

    Parameters
    ----------
    given : dict
        Values in SI base units by name: those of `checkpoint_plan`, with ``parameters`` and
        ``bytes_per_parameter``, ``mean_seconds_between_failures`` and ``bearable_loss_seconds``.

    Raises
    ------
    CourseError
        When the size, the time of a save or the interval is missing, or is given twice.
    """
    inputs = dict(given)
    notes: list[str] = []
    inputs["bytes"] = _size(inputs, notes)
    if "save_seconds" not in inputs:
        raise CourseError("The time of a save is missing", next_step='give --save-time, such as "20 s"')
    intervals = _intervals(inputs, notes)
    if "interval_seconds" not in inputs:
        if not intervals:
            raise CourseError(
                "The interval is missing",
                next_step="give --interval, or let it follow from --bearable-loss or --between-failures",
            )
        shortest = min(intervals, key=lambda reason: intervals[reason])
        inputs["interval_seconds"] = intervals[shortest]
        notes.append(f"The interval above is {shortest}, counted from the start of one save to the next.")
    return inputs, tuple(notes)


def _size(inputs: dict[str, Any], notes: list[str]) -> float:
    from course_lib.planning import checkpoint_bytes

    size, parameters = inputs.pop("bytes", None), inputs.pop("parameters", None)
    each = inputs.pop("bytes_per_parameter", None)
    if (size is None) == (parameters is None):
        raise CourseError(
            "The size of a checkpoint is missing"
            if size is None
            else "The size of a checkpoint is given twice",
            next_step="give either --bytes or --parameters",
        )
    if size is not None:
        if each is not None:
            raise CourseError(
                "--bytes-per-parameter needs --parameters", next_step="leave it out or give both"
            )
        return float(size)
    rule = 14.0 if each is None else each
    total = float(checkpoint_bytes(parameters=parameters, bytes_per_parameter=rule))
    of_whom = " (MLPerf Storage's rule: 2 B weights + 12 B optimiser)" if each is None else ""
    notes.append(f"Size: {parameters:,.0f} parameters x {rule:g} B{of_whom} = {format_bytes(total)}.")
    return total


def _intervals(inputs: dict[str, Any], notes: list[str]) -> dict[str, float]:
    """Return intervals that follow from what else is given, by the reason for them."""
    from course_lib.planning import daly, exact_interval, interval_for_loss, young

    save, found = inputs["save_seconds"], {}
    between = inputs.pop("mean_seconds_between_failures", None)
    if between is not None:
        timing = {"save_seconds": save, "mean_seconds_between_failures": between}
        best = float(exact_interval(**timing))
        notes.append(
            f"Best time of computing between saves: {_in_seconds(young(**timing))} by Young (1974), "
            f"{_in_seconds(daly(**timing))} by Daly (2006), {_in_seconds(best)} exactly, at random failures."
        )
        found["the best one for these failures (computing and save)"] = best + save
    loss = inputs.pop("bearable_loss_seconds", None)
    if loss is not None:
        longest = float(
            interval_for_loss(
                bearable_loss_seconds=loss, save_seconds=save, failed_saves=inputs.get("failed_saves", 0.0)
            )
        )
        notes.append(
            f"Longest interval that loses at most {format_seconds(loss)}: {format_seconds(longest)} "
            "from the start of one save to the next."
        )
        found["the longest that the bearable loss allows"] = longest
    return found


def _in_seconds(value: Any) -> str:
    return f"{float(value):,.1f} s"
