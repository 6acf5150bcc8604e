"""``course plan checkpoint`` and ``interval``: how large a checkpoint is, and how often to save one."""

from __future__ import annotations

from typing import Any

import click

from course_lib.cli.output import print_json
from course_lib.cli.plan_options import base_values, number, seconds, size, sizes_read, speed
from course_lib.cli.plan_output import report, with_options
from course_lib.errors import CourseError
from course_lib.units import format_both_readings, format_bytes, format_seconds

_SAVE_TIME = ("--save-time", "save_seconds", "What a save takes.")
_FAILURES = ("--between-failures", "mean_seconds_between_failures", "Mean time; gives the best interval.")
_LOSS = seconds("--bearable-loss", "bearable_loss_seconds", "Most training time that may be lost.")
_FAILED = number("--failed-saves", "failed_saves", "Saves in a row that fail before the training does.")


@click.command()
@with_options(
    size("--bytes", "bytes", "One checkpoint."),
    number("--parameters", "parameters", "Of the model, instead of --bytes."),
    size("--bytes-per-parameter", "bytes_per_parameter", "Weights and optimiser; 14 B if left out."),
    seconds("--interval", "interval_seconds", "From the start of one save to the next."),
    seconds(*_SAVE_TIME),
    _FAILED,
    seconds(*_FAILURES),
    _LOSS,
    speed("--reading", "reading_bytes_per_second", "What training reads from the same storage."),
    speed("--bandwidth", "bandwidth_bytes_per_second", "What the storage gives to both."),
)
def checkpoint(**given: Any) -> None:
    """Size, write rates and worst-case loss of checkpoints, and how often to save.

    With the size alone (--bytes, or --parameters), it says that and nothing else. Without --interval it
    follows from --bearable-loss, or is the best one for --between-failures.

    \b
    Example:
      course plan checkpoint --bytes "8 GB" --interval "10 min" --save-time "20 s"
      course plan checkpoint --parameters 8030261248 --save-time "60 s" --between-failures "11135 s"
      course plan checkpoint --parameters 8030261248
    """
    values = base_values(given)
    if set(values) <= {"bytes", "parameters", "bytes_per_parameter"}:
        _report_size(given, values)
    else:
        report("checkpoint", given, checkpoint_inputs(values))


@click.command()
@with_options(seconds(*_SAVE_TIME, required=True), seconds(*_FAILURES, required=True), _LOSS, _FAILED)
def interval(**given: Any) -> None:
    """How often to save: least lost time by Young, by Daly and exactly, and what a bearable loss allows.

    \b
    Example:
      course plan interval --save-time "60 s" --between-failures "11135 s"
      course plan interval --save-time "2 min" --between-failures "24 h" --bearable-loss "12 min"
    """
    report("interval", given, (base_values(given), ()))


def _report_size(given: dict[str, Any], values: dict[str, Any]) -> None:
    """Print the size of a checkpoint, which is no plan yet."""
    if given["save"] is not None or given["page"] is not None:
        raise CourseError(
            "The size of a checkpoint alone is no plan that can be saved",
            next_step='give --save-time and --interval as well, such as "20 s" and "10 min"',
        )
    notes: list[str] = []
    total = _size(values, notes)
    if given["as_json"]:
        readings = list(sizes_read(given))
        print_json({"schema_version": 1, "bytes": total, "sizes_as_typed": readings, "notes": notes})
        return
    for note in notes:
        click.echo(note)
    click.echo(f"A checkpoint takes {format_both_readings(total)}, calculated from what you give.")


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
