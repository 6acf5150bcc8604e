"""``course measure``: time a loader, training steps or metadata operations, and leave a record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from course_lib.cli.output import bar_wanted, print_json, print_table
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.loading import LoaderComparison, LoaderConditions, TrainingComparison
    from course_lib.loading.verdicts import Summary
    from course_lib.stores import MetadataResult

_Result = TypeVar("_Result", "LoaderComparison", "TrainingComparison", "MetadataResult")

_MANY = "One value, or several with commas between them to compare."
_JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")


def _whole(what: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise CourseError(f"{what} is no whole number", expected="such as 64", found=repr(text)) from None


def _decimal(what: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CourseError(f"{what} is no number", expected="such as 2 or 0.5", found=repr(text)) from None


def _word(what: str, text: str) -> str:
    return text


_FACTORS: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "workers": ("--workers", _whole),
    "batch_size": ("--batch-size", _whole),
    "prefetch": ("--prefetch", _whole),
    "layout": ("--layout", _word),
    "transforms": ("--transforms", _word),
    "decode_repeats": ("--decode-repeats", _whole),
    "open_ms": ("--open-ms", _decimal),
    "cache": ("--cache", _word),
    "start_method": ("--start-method", _word),
}


def _named_path(context: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    if value is not None and not value.strip():
        raise CourseError("--path is empty", next_step="name a folder, or leave --path out where it may be")
    return value


def _loading_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say what is loaded, and how."""
    options = [
        click.option("--data", default="cifar10", show_default=True, help="The data set."),
        click.option(
            "--path",
            callback=_named_path,
            help="A folder of JPEG or PNG files instead, on any mounted path.",
        ),
        click.option(
            "--source", default="auto", show_default=True, help="auto, official, mirror or generated."
        ),
        click.option(
            "--samples", type=int, help="How many samples; as many as the run needs where left out."
        ),
        click.option("--workers", default="0", show_default=True, help=f"Worker processes. {_MANY}"),
        click.option("--batch-size", default="64", show_default=True, help=f"Samples in a batch. {_MANY}"),
        click.option("--prefetch", default="2", show_default=True, help="Batches ahead, for each worker."),
        click.option(
            "--layout", default="files", show_default=True, help="files, shards, or memory (no reading)."
        ),
        click.option("--transforms", default="decode", show_default=True, help="bytes, decode or augment."),
        click.option("--decode-repeats", default="1", show_default=True, help="Decode each image so often."),
        click.option("--open-ms", default="0", show_default=True, help="Set: time that each open takes."),
        click.option("--cache", default="as found", show_default=True, help="as found, or evict."),
        click.option("--start-method", default="", help="fork, forkserver or spawn; else this system's."),
        click.option("--seed", default=2026, show_default=True, help="Decides the order."),
        click.option("--repeats", default=3, show_default=True, help="Runs of each candidate."),
        _JSON,
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def measure() -> None:
    """Measure loading on this machine: repeats in turn, cache state observed, a record of every run.

    \b
    Example:
      course measure loader --data cifar10 --workers 0,2,4
      course measure files --path /mnt/training
      course measure train
    """


@measure.command()
@_loading_options
@click.option("--warmup", default=10, show_default=True, help="Batches that are not measured.")
@click.option("--batches", default=100, show_default=True, help="Measured batches.")
def loader(as_json: bool, repeats: int, warmup: int, batches: int, **chosen: Any) -> None:
    """Time a DataLoader: construction, first batch and steady state, each apart.

    One of the options that take a list may have several values; they run in turn.

    \b
    Example:
      course measure loader --data cifar10 --workers 0,2 --repeats 3
      course measure loader --workers 0,4 --open-ms 2
      course measure loader --path /mnt/training/images --samples 5000 --cache evict
    """
    from course_lib.experiments.measurements import record_loading
    from course_lib.experiments.records import check_place_for_records
    from course_lib.loading import measure_loader

    conditions, varied = _conditions(chosen, needed_batches=warmup + batches)
    check_place_for_records()
    comparison = measure_loader(
        conditions,
        vary=varied,
        repeats=repeats,
        warmup_batches=warmup,
        measured_batches=batches,
        progress=_begin(as_json=as_json),
    )
    _report(comparison, record_loading, _print_loading, as_json=as_json)


@measure.command()
@_loading_options
@click.option("--steps", default=30, show_default=True, help="Measured training steps of each run.")
@click.option("--warmup-steps", default=5, show_default=True, help="Steps before them that are left out.")
@click.option("--device", default="auto", show_default=True, help="auto, cpu, cuda or mps.")
@click.option("--compute-repeats", default=1, show_default=True, help="Compute each step so often.")
def train(
    as_json: bool,
    repeats: int,
    steps: int,
    warmup_steps: int,
    device: str,
    compute_repeats: int,
    **chosen: Any,
) -> None:
    """Time training on real input against synthetic input, with the controls that tell causes apart.

    The same small model, batch size, steps and seed. No accuracy is reported: this measures loading.

    \b
    Example:
      course measure train --workers 2
      course measure train --open-ms 4
    """
    from course_lib.experiments.measurements import record_training
    from course_lib.experiments.records import check_place_for_records
    from course_lib.loading import TrainingConditions, measure_training

    conditions, varied = _conditions(chosen, needed_batches=steps + warmup_steps)
    if varied:
        raise CourseError(
            "Several values of one option are for `course measure loader`",
            expected="one value each",
            found=f"{len(next(iter(varied.values())))} of {_FACTORS[next(iter(varied))][0]}",
            next_step="run `course measure train` once for each",
        )
    check_place_for_records()
    comparison = measure_training(
        TrainingConditions(
            loader=conditions,
            steps=steps,
            warmup_steps=warmup_steps,
            device=device,
            compute_repeats=compute_repeats,
        ),
        repeats=repeats,
        progress=_begin(as_json=as_json),
    )
    _report(comparison, record_training, _print_training, as_json=as_json)


@measure.command()
@click.option(
    "--path",
    required=True,
    callback=_named_path,
    help="An empty folder on the storage to measure; only what is made there is removed.",
)
@click.option("--files", default=1000, show_default=True, help="Files of each repeat.")
@click.option("--bytes-per-file", default="4 KB", show_default=True, help="Their size, with a unit.")
@click.option("--directories", default=1, show_default=True, help="Directories they are dealt out over.")
@click.option("--processes", default=1, show_default=True, help="Processes that share the work.")
@click.option("--repeats", default=3, show_default=True, help="How often everything is done.")
@_JSON
def files(
    path: str, files: int, bytes_per_file: str, directories: int, processes: int, repeats: int, as_json: bool
) -> None:
    """Measure create, scan, stat, open, read and remove of small files on any path.

    \b
    Example:
      course measure files --path /mnt/training/scratch --files 2000 --bytes-per-file "4 KB"
    """
    from course_lib.experiments.measurements import record_metadata
    from course_lib.experiments.records import check_place_for_records
    from course_lib.stores import measure_metadata_watched
    from course_lib.units import parse_quantity

    size = parse_quantity(bytes_per_file)
    if size.dimension not in ("bytes", "number") or size.base != int(size.base):
        raise CourseError(
            "--bytes-per-file is no number of whole bytes", expected='such as "4 KB"', found=bytes_per_file
        )
    check_place_for_records()
    result = measure_metadata_watched(
        Path(path),
        files=files,
        bytes_per_file=int(size.base),
        directories=directories,
        processes=processes,
        repeats=repeats,
    )
    _report(result, record_metadata, _print_metadata, as_json=as_json)


def _begin(*, as_json: bool) -> bool:
    """Return whether a bar is wanted; where none is, say on stderr that the run takes its time."""
    wanted = bar_wanted(as_json=as_json)
    if not wanted:
        click.echo("Measuring; this takes a minute or two, or longer with many candidates.", err=True)
    return wanted


def _report(
    result: _Result, record: Callable[[_Result], Path], show: Callable[[_Result], None], *, as_json: bool
) -> None:
    """Write the record and print the result, which counts where the record cannot be written too."""
    problem = path = None
    try:
        path = record(result)
    except CourseError as error:
        problem = error
    if as_json:
        where = None if path is None else str(path)
        print_json({"schema_version": 1, "record": where, **result.as_dict()})
    else:
        show(result)
    if problem is not None:
        raise problem
    if not as_json:
        click.echo(f"Record {path}")


def _conditions(
    chosen: dict[str, Any], *, needed_batches: int
) -> tuple[LoaderConditions, dict[str, list[Any]] | None]:
    """Return the conditions that the options name, and the one with several values, if any."""
    from course_lib.loading import LoaderConditions

    lists = {
        name: [read(option, part.strip()) for part in str(chosen[name]).split(",")]
        for name, (option, read) in _FACTORS.items()
    }
    several = {name: values for name, values in lists.items() if len(values) > 1}
    single: dict[str, Any] = {name: values[0] for name, values in lists.items()}
    largest = max(lists["batch_size"]) if all(size > 0 for size in lists["batch_size"]) else 1
    samples = chosen["samples"]
    usual = LoaderConditions().sample_count or 0
    conditions = LoaderConditions(
        data=chosen["data"],
        path=chosen["path"] or "",
        source=chosen["source"],
        sample_count=max(usual, needed_batches * largest) if samples is None else samples,
        seed=chosen["seed"],
        **single,
    )
    if len(several) > 1:
        raise CourseError(
            "More than one condition is varied, so no difference could be explained",
            expected="several values of one option",
            found=" and ".join(_FACTORS[name][0] for name in several),
            next_step="measure one factor at a time",
        )
    return conditions, several or None


def _print_loading(comparison: LoaderComparison) -> None:
    from course_lib.loading import plateau

    print_table(
        (
            "Candidate",
            "Construction",
            "First batch",
            "Wait p50",
            "Wait p95",
            "Wait max",
            "Samples/s",
            "Cache",
        ),
        [
            (
                name,
                *(
                    _seconds(comparison.summary(name, figure))
                    for figure in (
                        "construction_seconds",
                        "first_batch_seconds",
                        "batch_wait_p50_seconds",
                        "batch_wait_p95_seconds",
                        "batch_wait_max_seconds",
                    )
                ),
                _ranged(comparison.summary(name)),
                ", ".join(dict.fromkeys(run.cache_before.kind for run in comparison.runs_of(name))),
            )
            for name in comparison.candidates()
        ],
    )
    first = comparison.runs[0]
    repeats = comparison.plan["repeats"]
    click.echo(f"Measured on this machine: median (lowest to highest) of {repeats} repeats, in turn.")
    click.echo(
        f"{first.timing.measured_batches:,} batches of {first.conditions.batch_size:,} measured; "
        f"payload: {first.timing.representation}."
    )
    if first.conditions.open_ms:
        click.echo(f"Set, not measured: {first.conditions.open_ms:g} ms per open.")
    click.echo(comparison.verdict.sentence)
    if comparison.plan["factor"] == "workers":
        found = plateau(comparison)
        click.echo(" ".join(part for part in (found.sentence, found.control) if part))
    for note in comparison.plan["notes"]:
        click.echo(note)
    if comparison.same_samples:
        click.echo(f"All runs delivered the same ids in the same order: digest {first.delivered_digest}")
    if comparison.origin:
        click.echo(comparison.origin.label())


def _print_training(comparison: TrainingComparison) -> None:
    from course_lib.loading import diagnose

    print_table(
        ("Candidate", "Step", "Waiting", "Transfer", "Compute", "Samples/s"),
        [
            (
                name,
                *(
                    _seconds(comparison.summary(name, part))
                    for part in ("step", "waiting", "transfer", "compute")
                ),
                _ranged(comparison.samples_per_second(name)),
            )
            for name in comparison.candidates()
        ],
    )
    click.echo(
        f"Measured on this machine: median (lowest to highest) of {comparison.plan['repeats']} repeats, "
        f"in turn; {comparison.device}."
    )
    click.echo(f"Accelerator utilisation: {comparison.utilisation('measured')}")
    click.echo(f"Accelerator utilisation: {comparison.utilisation('rules')}")
    found = diagnose(comparison)
    click.echo(found.sentence)
    click.echo(found.refuted_by)
    for note in comparison.plan["notes"]:
        click.echo(note)
    if comparison.origin:
        click.echo(comparison.origin.label())


def _print_metadata(result: MetadataResult) -> None:
    print_table(
        ("Operation", "Per second (median)", "Lowest", "Highest", "All work over all time"),
        [
            (
                rates.operation,
                *(f"{value:,.0f}" for value in (rates.median, rates.low, rates.high, rates.per_second)),
            )
            for rates in result.operations
        ],
    )
    places = f"{result.directories:,} director{'y' if result.directories == 1 else 'ies'}"
    crowd = f"{result.processes:,} process{'' if result.processes == 1 else 'es'}"
    click.echo(
        f"Measured on this machine, {result.repeats} repeats: {result.files:,} files of "
        f"{result.bytes_per_file:,} B in {places}, {crowd}"
        + (f", on {result.file_system}." if result.file_system else ".")
    )
    click.echo(f"Cache before the reads: {result.read_state}. {result.order}")


def _seconds(summary: Summary) -> str:
    from course_lib.units import format_seconds

    return (
        f"{format_seconds(summary.median)} ({format_seconds(summary.low)} to {format_seconds(summary.high)})"
    )


def _ranged(summary: Summary) -> str:
    return f"{summary.median:,.0f} ({summary.low:,.0f} to {summary.high:,.0f})"
