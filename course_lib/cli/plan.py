"""``course plan``: what a training needs of storage, calculated from quantities with units."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from course_lib.cli.output import print_json, visible
from course_lib.cli.plan_benchmark import mlperf, score, utilisation
from course_lib.cli.plan_checkpoint import checkpoint, interval
from course_lib.cli.plan_choice import cheapest
from course_lib.cli.plan_options import number, ratio, seconds, size, speed, words
from course_lib.cli.plan_output import Inputs, as_json_option, calculator, print_plan, write_page
from course_lib.errors import CourseError


@click.group()
def plan() -> None:
    """Calculate bandwidth, space, waiting and cost from quantities with units.

    Sizes, rates and times need their unit ("100 KB", "1.5 GiB", "400 MB/s", "2 ms"); a ratio is 0.75 or 75%.
    GB are 10^9 bytes, GiB 2^30; sizes are shown in both. Every figure is calculated; nothing is measured.

    \b
    Example:
      course plan bandwidth --batches-per-second 4 --batch-size 128 --bytes-per-sample "100 KB"
    """


@calculator(
    plan,
    number("--batches-per-second", "batches_per_second", "Of each consumer.", "1/s", required=True),
    number("--batch-size", "batch_size", "Samples in a batch.", "samples", required=True),
    size("--bytes-per-sample", "bytes_per_sample", "Mean size of a sample as it is read.", required=True),
    number("--consumers", "consumers", "Training processes; DataLoader workers are none."),
    ratio("--hit-rate", "hit_rate", "Share of the bytes that a cache answers."),
    speed("--available", "available_bytes_per_second", "What the storage delivers, to compare with."),
    words("--representation", "representation", "Which bytes are counted."),
)
def bandwidth(given: dict[str, Any]) -> Inputs:
    """Read bandwidth from the rate at which training consumes batches.

    \b
    Example:
      course plan bandwidth --batches-per-second 4 --batch-size 128 --bytes-per-sample "100 KB" --consumers 4
      course plan bandwidth --batches-per-second 4 --batch-size 128 --bytes-per-sample "100 KB" \\
        --hit-rate 75% --available "100 MB/s" --page proposal.md
    """
    return given, ()


@calculator(
    plan,
    size("--data", "data_bytes", "What an epoch reads.", required=True),
    size("--cache", "cache_bytes", "What a cache holds.", required=True),
    speed("--remote", "remote_bytes_per_second", "Rate of the storage, for all jobs.", required=True),
    speed("--local", "local_bytes_per_second", "Rate of the cache, for one job.", required=True),
    number("--jobs", "jobs", "Jobs that start together."),
    click.option("--shared", is_flag=True, help="One cache for all jobs."),
    seconds("--prepare", "prepare_seconds", "Work before a cache can be used."),
    number("--epochs", "epochs", "Epochs to compare with reading without a cache."),
)
def cache(given: dict[str, Any]) -> Inputs:
    """A cache in front of the storage: hit rate, cold start, time to fill, when it pays.

    \b
    Example:
      course plan cache --data "100 GB" --cache "75 GB" --remote "1 GB/s" --local "2 GB/s" --epochs 10
    """
    return given, ()


@calculator(
    plan,
    size("--raw", "raw_bytes", "Raw data."),
    size("--processed", "processed_bytes", "Processed data."),
    size("--manifests", "manifests_bytes", "Manifests and indexes."),
    size("--cache", "cache_bytes", "One cache."),
    number("--jobs", "jobs", "Training jobs at the same time."),
    click.option("--shared-cache", is_flag=True, help="One cache for all jobs, instead of one each."),
    size("--checkpoint", "checkpoint_bytes", "One checkpoint."),
    number("--checkpoints-kept", "checkpoints_kept", "Complete checkpoints that are kept."),
    number("--failed-attempts", "failed_attempts", "What failed saves left behind, each a whole checkpoint."),
    size("--download", "download_bytes", "Archives and half-done downloads beside the raw data."),
    size("--scratch", "scratch_bytes", "Work files while the data are converted."),
    ratio("--reserve", "reserve_ratio", "Head room on top of the peak."),
    size("--disk", "disk_bytes", "The space there is."),
    size("--local-disk", "local_disk_bytes", "Space on local disks; --disk is persistent storage then."),
)
def capacity(given: dict[str, Any]) -> Inputs:
    """Space over the life cycle: what stays, the peak, and the stage at which it comes.

    \b
    Example:
      course plan capacity --raw "200 GB" --processed "300 GB" --cache "100 GB" --jobs 4 \\
        --checkpoint "8 GB" --checkpoints-kept 3 --disk "1 TB"
    """
    return given, ()


@calculator(
    plan,
    number("--files", "files", "Samples, each in a file of its own.", "files", required=True),
    seconds("--operation-time", "seconds_per_operation", "What one open takes.", required=True),
    number("--concurrency", "concurrency", "Operations that wait side by side."),
    size("--bytes-per-sample", "bytes_per_sample", "Mean size of a sample; 40 KB if left out."),
    size("--shard", "shard_bytes", "Most bytes of a shard; 256 MB if left out."),
    number("--server-limit", "server_operations_per_second", "Operations that the server answers.", "op/s"),
)
def metadata(given: dict[str, Any]) -> Inputs:
    """Opens and look-ups: a file for each sample against shards.

    \b
    Example:
      course plan metadata --files 1000000 --operation-time "2 ms" --bytes-per-sample "40 KB" --shard "256 MB"
    """
    return given, ()


@calculator(
    plan,
    seconds("--start-before", "start_seconds_before", "Until the first batch, before.", required=True),
    seconds("--start-after", "start_seconds_after", "Until the first batch, after.", required=True),
    number("--rate-before", "samples_per_second_before", "Steady, before.", "samples/s", required=True),
    number("--rate-after", "samples_per_second_after", "Steady, after.", "samples/s", required=True),
    number("--synthetic", "synthetic_samples_per_second", "Without storage.", "samples/s", required=True),
    size("--bytes-per-sample", "bytes_per_sample", "Mean size of a stored sample.", required=True),
)
def layout(given: dict[str, Any]) -> Inputs:
    """What another layout of the same samples gained.

    \b
    Example:
      course plan layout --start-before "18 min" --start-after "2 min" --rate-before 260 --rate-after 1450 \\
        --synthetic 1800 --bytes-per-sample "40 KB"
    """
    return given, ()


@calculator(
    plan,
    seconds("--round-trip", "round_trip_seconds", "From a request to its answer.", required=True),
    size("--object", "object_bytes", "Mean size of an object.", required=True),
    number("--concurrency", "concurrency", "Requests in flight."),
    speed("--bandwidth", "bandwidth_bytes_per_second", "What the network carries."),
    number("--request-limit", "requests_per_second_per_prefix", "Requests/s of one prefix.", "requests/s"),
    number("--prefixes", "prefixes", "Prefixes over which the objects are spread."),
    size("--memory", "memory_limit_bytes", "What requests in flight may hold."),
    size("--range", "range_bytes", "One ranged read; whole objects if left out."),
)
def objects(given: dict[str, Any]) -> Inputs:
    """Requests to an object store: rate, payload, and which limit is met first.

    \b
    Example:
      course plan objects --round-trip "20 ms" --object "10 KB"
      course plan objects --round-trip "20 ms" --object "8 MB" --concurrency 64 --bandwidth "10 Gbit/s"
    """
    return given, ()


@calculator(
    plan,
    size("--stored", "stored_bytes", "What is paid for all through the cycle.", required=True),
    seconds("--cycle", "cycle_seconds", "Length of the experiment cycle.", required=True),
    number("--devices", "devices", "Devices that are paid for while they wait."),
    seconds("--waiting", "waiting_seconds", "Time that the devices wait for data."),
    seconds("--rebuild", "rebuild_seconds", "Time in which caches are built or rebuilt."),
    number("--requests", "requests", "Requests to an object store.", "requests"),
    number("--price-gb-month", "per_gb_month", "Your price of 1 GB (10^9 B) for 30 days."),
    number("--price-device-hour", "per_device_hour", "Your price of one device for an hour."),
    number("--price-thousand-requests", "per_thousand_requests", "Your price of 1,000 requests."),
)
def cost(given: dict[str, Any]) -> Inputs:
    """What one experiment cycle costs at your own prices; none is assumed.

    \b
    Example:
      course plan cost --stored "1 TB" --cycle "720 h" --price-gb-month 0.02 --devices 4 --waiting "10 h" \\
        --price-device-hour 3
    """
    prices = {name: given.pop(name) for name in tuple(given) if name.startswith("per_")}
    return {**given, "prices": prices}, ()


@plan.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--page", type=click.Path(path_type=Path), help="Write one page of them to this new file.")
@click.option("--title", default="Storage plan", show_default=True, help="The heading of the page.")
@as_json_option
def show(files: tuple[Path, ...], page: Path | None, title: str, as_json: bool) -> None:
    """Show saved plans, each calculated again from its inputs; --page puts them into one proposal.

    A file that is not here is looked for among the plans that panels saved, in plans/ of COURSE_HOME.

    \b
    Example:
      course plan show bandwidth.json capacity.json --page proposal.md --title "Storage for two jobs"
    """
    from course_lib.experiments.plan_kinds import described
    from course_lib.experiments.plans import load_plan

    found = [_plan_file(file) for file in files]
    loaded = [load_plan(file) for file in found]
    if as_json:
        print_json({"schema_version": 1, "plans": [described(one) for one in loaded]})
    else:
        for number, (file, one) in enumerate(zip(found, loaded, strict=True)):
            if number:
                click.echo()
            if len(loaded) > 1:
                click.echo(f"===== {visible(str(file))} =====")
            print_plan(one)
    write_page(loaded, page, title=title, quiet=as_json)


def _plan_file(file: Path) -> Path:
    """Return a file that is there: as named, or among the plans that panels saved.

    Raises
    ------
    CourseError
        When a relative name is in neither place.
    """
    from course_lib.widgets.plan_files import PLAN_SUFFIX, plans_folder

    if file.is_absolute() or file.exists():
        return file
    for saved in (plans_folder() / file, plans_folder() / f"{file}{PLAN_SUFFIX}"):
        if saved.is_file():
            return saved
    raise CourseError(
        f"There is no saved plan {file}",
        expected=f"a file here, or one that a panel saved in {plans_folder()}",
        next_step="check the name of the file, or name its whole path",
    )


for command in (checkpoint, interval, cheapest, mlperf, score, utilisation):
    plan.add_command(command)
