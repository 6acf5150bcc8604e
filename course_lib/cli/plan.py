"""``course plan``: what a training needs of storage, calculated from quantities with units."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from course_lib.cli.output import print_json, print_table
from course_lib.cli.plan_options import base_values, number, ratio, seconds, size, sizes_read, speed, words
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.planning import Plan

_CALCULATED = "Every figure is calculated from what you give; nothing is measured."


def _shared(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that say where its plan goes."""
    file = click.Path(path_type=Path)
    options = (
        click.option("--save", type=file, help="Write the plan to this new file, as JSON."),
        click.option("--page", type=file, help="Write a Markdown page for a proposal to this new file."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.group()
def plan() -> None:
    """Calculate bandwidth, space, waiting and cost from quantities with units.

    Sizes, rates and times need their unit ("100 KB", "1.5 GiB", "400 MB/s", "2 ms"); a ratio is 0.75 or 75%.
    GB are 10^9 bytes, GiB 2^30; sizes are shown in both. Every figure is calculated; nothing is measured.

    \b
    Example:
      course plan bandwidth --batches-per-second 4 --batch-size 128 --bytes-per-sample "100 KB"
    """


@plan.command()
@number("--batches-per-second", "batches_per_second", "Of each consumer.", "1/s", required=True)
@number("--batch-size", "batch_size", "Samples in a batch.", "samples", required=True)
@size("--bytes-per-sample", "bytes_per_sample", "Mean size of a sample as it is read.", required=True)
@number("--consumers", "consumers", "Training processes; DataLoader workers are none.")
@ratio("--hit-rate", "hit_rate", "Share of the bytes that a cache answers.")
@speed("--available", "available_bytes_per_second", "What the storage delivers, to compare with.")
@words("--representation", "representation", "Which bytes are counted.")
@_shared
def bandwidth(**given: Any) -> None:
    """Read bandwidth from the rate at which training consumes batches.

    \b
    Example:
      course plan bandwidth --batches-per-second 4 --batch-size 128 --bytes-per-sample "100 KB" --consumers 4
      course plan bandwidth --batches-per-second 4 --batch-size 128 --bytes-per-sample "100 KB" \\
        --hit-rate 75% --available "100 MB/s" --page proposal.md
    """
    _report("bandwidth", given)


@plan.command()
@size("--data", "data_bytes", "What an epoch reads.", required=True)
@size("--cache", "cache_bytes", "What a cache holds.", required=True)
@speed("--remote", "remote_bytes_per_second", "Rate of the storage, for all jobs.", required=True)
@speed("--local", "local_bytes_per_second", "Rate of the cache, for one job.", required=True)
@number("--jobs", "jobs", "Jobs that start together.")
@click.option("--shared", is_flag=True, help="One cache for all jobs.")
@seconds("--prepare", "prepare_seconds", "Work before a cache can be used.")
@number("--epochs", "epochs", "Epochs to compare with reading without a cache.")
@_shared
def cache(**given: Any) -> None:
    """A cache in front of the storage: hit rate, cold start, time to fill, when it pays.

    \b
    Example:
      course plan cache --data "100 GB" --cache "75 GB" --remote "1 GB/s" --local "2 GB/s" --epochs 10
    """
    _report("cache", given)


@plan.command()
@size("--raw", "raw_bytes", "Raw data.")
@size("--processed", "processed_bytes", "Processed data.")
@size("--manifests", "manifests_bytes", "Manifests and indexes.")
@size("--cache", "cache_bytes", "One cache.")
@number("--jobs", "jobs", "Training jobs at the same time.")
@click.option("--shared-cache", is_flag=True, help="One cache for all jobs, instead of one each.")
@size("--checkpoint", "checkpoint_bytes", "One checkpoint.")
@number("--checkpoints-kept", "checkpoints_kept", "Complete checkpoints that are kept.")
@number("--failed-attempts", "failed_attempts", "What failed saves left behind, each a whole checkpoint.")
@size("--download", "download_bytes", "Archives and half-done downloads beside the raw data.")
@size("--scratch", "scratch_bytes", "Work files while the data are converted.")
@ratio("--reserve", "reserve_ratio", "Head room on top of the peak.")
@size("--disk", "disk_bytes", "The space there is.")
@size("--local-disk", "local_disk_bytes", "Space on local disks; --disk is persistent storage then.")
@_shared
def capacity(**given: Any) -> None:
    """Space over the life cycle: what stays, the peak, and the stage at which it comes.

    \b
    Example:
      course plan capacity --raw "200 GB" --processed "300 GB" --cache "100 GB" --jobs 4 \\
        --checkpoint "8 GB" --checkpoints-kept 3 --disk "1 TB"
    """
    _report("capacity", given)


@plan.command()
@number("--files", "files", "Samples, each in a file of its own.", "files", required=True)
@seconds("--operation-time", "seconds_per_operation", "What one open takes.", required=True)
@number("--concurrency", "concurrency", "Operations that wait side by side.")
@size("--bytes-per-sample", "bytes_per_sample", "Mean size of a sample; 40 KB if left out.")
@size("--shard", "shard_bytes", "Most bytes of a shard; 256 MB if left out.")
@number("--server-limit", "server_operations_per_second", "Operations that the server answers.", "op/s")
@_shared
def metadata(**given: Any) -> None:
    """Opens and look-ups: a file for each sample against shards.

    \b
    Example:
      course plan metadata --files 1000000 --operation-time "2 ms" --bytes-per-sample "40 KB" --shard "256 MB"
    """
    _report("metadata", given)


@plan.command()
@seconds("--start-before", "start_seconds_before", "Until the first batch, before.", required=True)
@seconds("--start-after", "start_seconds_after", "Until the first batch, after.", required=True)
@number("--rate-before", "samples_per_second_before", "Steady, before.", "samples/s", required=True)
@number("--rate-after", "samples_per_second_after", "Steady, after.", "samples/s", required=True)
@number("--synthetic", "synthetic_samples_per_second", "Without storage.", "samples/s", required=True)
@size("--bytes-per-sample", "bytes_per_sample", "Mean size of a stored sample.", required=True)
@_shared
def layout(**given: Any) -> None:
    """What another layout of the same samples gained.

    \b
    Example:
      course plan layout --start-before "18 min" --start-after "2 min" --rate-before 260 --rate-after 1450 \\
        --synthetic 1800 --bytes-per-sample "40 KB"
    """
    _report("layout", given)


@plan.command()
@seconds("--round-trip", "round_trip_seconds", "From a request to its answer.", required=True)
@size("--object", "object_bytes", "Mean size of an object.", required=True)
@number("--concurrency", "concurrency", "Requests in flight.")
@speed("--bandwidth", "bandwidth_bytes_per_second", "What the network carries.")
@number("--request-limit", "requests_per_second_per_prefix", "Requests/s of one prefix.", "requests/s")
@number("--prefixes", "prefixes", "Prefixes over which the objects are spread.")
@size("--memory", "memory_limit_bytes", "What requests in flight may hold.")
@size("--range", "range_bytes", "One ranged read; whole objects if left out.")
@_shared
def objects(**given: Any) -> None:
    """Requests to an object store: rate, payload, and which limit is met first.

    \b
    Example:
      course plan objects --round-trip "20 ms" --object "10 KB"
      course plan objects --round-trip "20 ms" --object "8 MB" --concurrency 64 --bandwidth "10 Gbit/s"
    """
    _report("objects", given)


@plan.command()
@size("--bytes", "bytes", "One checkpoint.")
@number("--parameters", "parameters", "Of the model, instead of --bytes.")
@size("--bytes-per-parameter", "bytes_per_parameter", "Weights and optimiser; 14 B if left out.")
@seconds("--interval", "interval_seconds", "From the start of one save to the next.")
@seconds("--save-time", "save_seconds", "What a save takes.")
@number("--failed-saves", "failed_saves", "Saves in a row that fail before the training does.")
@seconds("--between-failures", "mean_seconds_between_failures", "Mean time; gives the best interval.")
@seconds("--bearable-loss", "bearable_loss_seconds", "Most training time that may be lost.")
@speed("--reading", "reading_bytes_per_second", "What training reads from the same storage.")
@speed("--bandwidth", "bandwidth_bytes_per_second", "What the storage gives to both.")
@_shared
def checkpoint(**given: Any) -> None:
    """Size, write rates and worst-case loss of checkpoints, and how often to save.

    Without --interval it follows from --bearable-loss, or is the best one for --between-failures.

    \b
    Example:
      course plan checkpoint --bytes "8 GB" --interval "10 min" --save-time "20 s"
      course plan checkpoint --parameters 8030261248 --save-time "60 s" --between-failures "11135 s"
    """
    from course_lib.cli.plan_checkpoint import checkpoint_inputs

    inputs, notes = checkpoint_inputs(base_values(given))
    _report("checkpoint", given, inputs, notes)


@plan.command()
@size("--stored", "stored_bytes", "What is paid for all through the cycle.", required=True)
@seconds("--cycle", "cycle_seconds", "Length of the experiment cycle.", required=True)
@number("--devices", "devices", "Devices that are paid for while they wait.")
@seconds("--waiting", "waiting_seconds", "Time that the devices wait for data.")
@seconds("--rebuild", "rebuild_seconds", "Time in which caches are built or rebuilt.")
@number("--requests", "requests", "Requests to an object store.", "requests")
@number("--price-gb-month", "per_gb_month", "Your price of 1 GB (10^9 B) for 30 days.")
@number("--price-device-hour", "per_device_hour", "Your price of one device for an hour.")
@number("--price-thousand-requests", "per_thousand_requests", "Your price of 1,000 requests.")
@_shared
def cost(**given: Any) -> None:
    """What one experiment cycle costs at your own prices; none is assumed.

    \b
    Example:
      course plan cost --stored "1 TB" --cycle "720 h" --price-gb-month 0.02 --devices 4 --waiting "10 h" \\
        --price-device-hour 3
    """
    inputs = base_values(given)
    prices = {name: inputs.pop(name) for name in tuple(inputs) if name.startswith("per_")}
    _report("cost", given, {**inputs, "prices": prices})


@plan.command()
@words("--workload", "workload", "unet3d, resnet50 or cosmoflow.", required=True)
@number("--accelerators", "accelerators", "Emulated accelerators in all.", required=True)
@size("--host-memory", "host_memory_bytes", "Memory of each host.", required=True)
@number("--hosts", "hosts", "Hosts that run them.")
@_shared
def mlperf(**given: Any) -> None:
    """Smallest data set and read rates of an MLPerf Storage training workload (rules v2.0, H100).

    \b
    Example:
      course plan mlperf --workload unet3d --accelerators 8 --host-memory "256 GiB"
    """
    _report("mlperf", given)


@plan.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--page", type=click.Path(path_type=Path), help="Write one page of them to this new file.")
@click.option("--title", default="Storage plan", show_default=True, help="The heading of the page.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
def show(files: tuple[Path, ...], page: Path | None, title: str, as_json: bool) -> None:
    """Show saved plans, each calculated again from its inputs; --page puts them into one proposal.

    \b
    Example:
      course plan show bandwidth.json capacity.json --page proposal.md --title "Storage for two jobs"
    """
    from course_lib.experiments.plan_kinds import described
    from course_lib.experiments.plans import load_plan

    loaded = [load_plan(file) for file in files]
    if as_json:
        print_json({"schema_version": 1, "plans": [described(one) for one in loaded]})
    else:
        for one in loaded:
            _print_plan(one)
    _write_page(loaded, page, title=title, quiet=as_json)


def _report(
    kind: str, given: dict[str, Any], inputs: dict[str, Any] | None = None, notes: tuple[str, ...] = ()
) -> None:
    """Calculate a plan, print it, and write what was asked for."""
    from course_lib.experiments.plan_kinds import KINDS, described, planned
    from course_lib.experiments.plans import check_new_file, save_plan

    save, page, as_json = (given[name] for name in ("save", "page", "as_json"))
    for file in (save, page):
        if file is not None:
            check_new_file(file)
    if save is not None and save == page:
        raise CourseError("--save and --page name the same file", found=str(save), next_step="name two files")
    made = planned(KINDS[kind], base_values(given) if inputs is None else inputs)
    readings = sizes_read(given)
    if as_json:
        print_json({**described(made), "sizes_as_typed": list(readings), "notes": list(notes)})
    else:
        _print_plan(made, readings, notes)
    if save is not None:
        save_plan(made, save)
        if not as_json:
            click.echo(f"Saved: {save}")
    _write_page([made], page, notes=notes, quiet=as_json)


def _print_plan(made: Plan, readings: tuple[str, ...] = (), notes: tuple[str, ...] = ()) -> None:
    from course_lib.experiments.plan_kinds import kind_of
    from course_lib.experiments.plan_pages import input_rows, result_rows, timeline_rows
    from course_lib.experiments.plan_words import assumptions_of, binding_sentences, unsaid_of
    from course_lib.planning import CapacityPlan

    click.echo(f"{kind_of(made).title}. {_CALCULATED}")
    print_table(("Input", "Value", "Origin"), input_rows(made))
    for reading in readings:
        click.echo(f"Size as typed: {reading}")
    print_table(("Result", "Value, calculated"), result_rows(made))
    if isinstance(made, CapacityPlan):
        print_table(*timeline_rows(made))
    for sentence in binding_sentences(made):
        click.echo(f"Binding constraint: {sentence}")
    for note in notes:
        click.echo(note)
    for heading, sentences in (
        ("Assumptions", assumptions_of(made)),
        ("What this does not say", unsaid_of(made)),
        ("Source of the formula", (made.source,)),
    ):
        click.echo(f"\n{heading}:")
        for sentence in sentences:
            click.echo(f"- {sentence}")


def _write_page(
    plans: list[Plan],
    page: Path | None,
    *,
    title: str = "Storage plan",
    notes: tuple[str, ...] = (),
    quiet: bool,
) -> None:
    from course_lib.experiments.plans import check_new_file, plan_page
    from course_lib.files import write_atomically

    if page is None:
        return
    check_new_file(page)
    write_atomically(page, plan_page(plans, title=title, notes=notes))
    if not quiet:
        click.echo(f"Page: {page}")
