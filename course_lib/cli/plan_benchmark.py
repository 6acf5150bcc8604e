"""``course plan mlperf``, ``score`` and ``utilisation``: a benchmark planned, and its results read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from course_lib.cli.output import print_json, print_table
from course_lib.cli.plan_options import base_values, number, seconds, size, words, work_and_time
from course_lib.cli.plan_output import NEW_FILE, as_json_option, check_new_files, report, with_options
from course_lib.errors import CourseError
from course_lib.units import Quantity, format_rate, format_seconds

_WORKLOAD = ("--workload", "workload", "unet3d, resnet50 or cosmoflow.")
_ACCELERATORS = ("--accelerators", "accelerators", "Emulated accelerators in all.")


@click.command()
@with_options(
    words(*_WORKLOAD, required=True),
    number(*_ACCELERATORS, required=True),
    size("--host-memory", "host_memory_bytes", "Memory of each host.", required=True),
    number("--hosts", "hosts", "Hosts that run them."),
    click.option("--dlio", type=NEW_FILE, help="Write a DLIO-style configuration (YAML) to this new file."),
    click.option("--data-folder", help="Where --dlio has the benchmark's files; data/WORKLOAD if left out."),
    number("--epochs", "epochs", "Passes over the data, for --dlio; 5 if left out."),
)
def mlperf(dlio: Path | None, data_folder: str | None, epochs: Quantity | None, **given: Any) -> None:
    """Smallest data set and read rates of an MLPerf Storage training workload (rules v2.0, H100).

    \b
    Example:
      course plan mlperf --workload unet3d --accelerators 8 --host-memory "256 GiB"
      course plan mlperf --workload unet3d --accelerators 8 --host-memory "256 GiB" --dlio unet3d.yaml
    """
    from course_lib.planning import BenchmarkPlan, dlio_configuration

    if dlio is None and (data_folder is not None or epochs is not None):
        raise CourseError(
            "--data-folder and --epochs are for --dlio", next_step="name its file, or leave them out"
        )
    check_new_files({"--dlio": dlio, "--save": given["save"], "--page": given["page"]})
    plan = report("mlperf", given, (base_values(given), ()))
    if dlio is None:
        return
    assert isinstance(plan, BenchmarkPlan)
    folder = f"data/{plan.workload}" if data_folder is None else data_folder
    _write_yaml(dlio, dlio_configuration(plan, data_folder=folder, epochs=epochs.base if epochs else 5))
    if not given["as_json"]:
        click.echo(f"Configuration: {dlio}")


def _write_yaml(path: Path, content: dict[str, Any]) -> None:
    import yaml

    from course_lib.files import write_atomically

    write_atomically(path, yaml.safe_dump(content, sort_keys=False, allow_unicode=True))


@click.command()
@work_and_time("--run", "runs", "Work and time of one run; again for each.")
@as_json_option
def score(runs: tuple[tuple[Quantity, Quantity], ...], as_json: bool) -> None:
    """The score over several runs: total work over total time, never the mean of the rates.

    \b
    Example:
      course plan score --run "1 GB" "1 s" --run "1 GB" "9 s"
      course plan score --run "5000 samples" "10 s" --run "5000 samples" "12 s"
    """
    from course_lib.loading import total_rate

    kinds = sorted({work.dimension for work, _ in runs})
    if len(kinds) > 1:
        raise CourseError(
            "The work of the runs is not of one kind",
            expected="bytes or samples for all of them",
            found=" and ".join(kinds),
        )
    amounts, times = [work.base for work, _ in runs], [time.base for _, time in runs]
    rate = total_rate(amounts=amounts, seconds=times)
    rates = [amount / time for amount, time in zip(amounts, times, strict=True)]
    mean = sum(rates) / len(rates)
    unit = "bytes" if kinds == ["bytes"] else kinds[0]
    if as_json:
        figures = {f"{unit}_per_second": rate, f"mean_of_{unit}_per_second": mean}
        print_json({"schema_version": 1, "runs": len(runs), **figures})
        return

    def shown(value: float) -> str:
        return format_rate(value) if unit == "bytes" else str(Quantity(value, f"{unit}/s"))

    rows = [(str(work), str(time), shown(each)) for (work, time), each in zip(runs, rates, strict=True)]
    print_table(("Work, given", "Time, given", "Rate, calculated"), rows)
    click.echo(f"Score: {shown(rate)}, total work over total time, calculated.")
    if len(runs) > 1:
        click.echo(f"The mean of the rates is {shown(mean)}; it is no score.")


@click.command()
@words(*_WORKLOAD, required=True)
@number(*_ACCELERATORS, required=True)
@number("--files", "files", "Files of the data set.", "files", required=True)
@number("--records-per-file", "records_per_file", "Samples in a file; the published number if left out.")
@number("--epochs", "epochs", "Passes over the data in each run; 1 if left out.")
@seconds(
    "--running-time",
    "running_seconds",
    "Of one run, the first step's input left out; again for each.",
    required=True,
    multiple=True,
)
@as_json_option
def utilisation(running_seconds: tuple[Quantity, ...], as_json: bool, **given: Any) -> None:
    """Accelerator utilisation (AU) by the rules' formula, over one run or several, and whether it passes.

    Over several runs it is total compute time over total running time.

    \b
    Example:
      course plan utilisation --workload unet3d --accelerators 1 --files 3500 --running-time "170 s"
      course plan utilisation --workload unet3d --accelerators 1 --files 3500 \\
        --running-time "165 s" --running-time "180 s"
    """
    from course_lib.planning import total_utilisation

    times = [time.base for time in running_seconds]
    found = total_utilisation(running_seconds=times, **base_values(given))
    if as_json:
        print_json({"schema_version": 1, **vars(found)})
        return
    rows = [
        (format_seconds(time), format_seconds(found.compute_seconds), f"{share:.2%}")
        for time, share in zip(times, found.ratios, strict=True)
    ]
    print_table(("Running time, given", "Compute time, calculated", "AU, calculated"), rows)
    says = "passes" if found.passes else "does not pass"
    click.echo(
        f"AU: {found.ratio:.2%} by the rules' formula (stated compute time per step), {found.workload} needs "
        f"{found.needed_ratio:.0%}: it {says}. Calculated from the times you give."
    )
