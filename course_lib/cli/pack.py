"""``course pack``: the samples of one split, packed into shards that any WebDataset reader opens."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from course_lib.cli.output import bar_wanted, print_json, print_table
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.shards import ShardSetManifest
    from course_lib.shards.payloads import ArraySource
    from course_lib.stores import Store

_MOST_JOBS = 64
_TIMES_FROM = 10

JOBS = click.option("--jobs", default=1, show_default=True, help="Processes that share the work.")


def source_options(
    default_split: str | None, split_help: str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return what gives a command the options that say which samples a shard set is made of."""
    options = (
        click.option("--split", "split_name", default=default_split, show_default=True, help=split_help),
        click.option(
            "--recipe", help="How it was split, such as official-90-10; the workbook's own if left out."
        ),
        click.option(
            "--manifest",
            "manifest_folder",
            type=click.Path(path_type=Path),
            help="A folder that `course split make` wrote, in place of a recipe.",
        ),
        click.option("--variant", default="", help="Which of the data set's tables; the first if left out."),
        click.option(
            "--source",
            "source_kind",
            default="auto",
            show_default=True,
            help="auto, official, mirror or generated.",
        ),
    )

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return with_options


@click.command()
@click.argument("name")
@source_options("train", "Which split.")
@click.option("--out", required=True, help="A new folder, or s3://bucket/prefix.")
@click.option("--target-bytes", help='Most bytes of a shard, with a unit; "256 MB" if left out.')
@click.option("--samples-per-shard", type=int, help="Samples in a shard, in place of bytes.")
@click.option("--seed", default=2026, show_default=True, help="Decides the order in the shards.")
@JOBS
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
def pack(
    name: str,
    out: str,
    split_name: str,
    recipe: str | None,
    manifest_folder: Path | None,
    variant: str,
    source_kind: str,
    target_bytes: str | None,
    samples_per_shard: int | None,
    seed: int,
    jobs: int,
    as_json: bool,
) -> None:
    """Pack the samples of one split into tar shards with an index, checksums and a manifest.

    An interrupted pack is no readable set; the same command goes on where it stopped. In Python the set is
    read with `ShardedLoader(ShardedBatches("my_shards", 64, decoder="auto"))` of course_lib.shards.

    \b
    Example:
      course pack cifar10 --out my_shards
      course pack ag_news --out my_shards --split validation --target-bytes "4 MB" --jobs 2
    """
    from course_lib.shards import pack as pack_shards
    from course_lib.shards.claiming import check_before_pack

    size = None if target_bytes is None else _bytes_of(target_bytes)
    place = _place(out)
    load = source_loader(name, split_name, recipe, manifest_folder, variant, source_kind)
    is_finished = check_before_pack(place, target_bytes=size, target_samples=samples_per_shard, seed=seed)
    with executor_of(jobs) as executor:
        manifest = pack_shards(
            load(),
            place,
            target_bytes=size,
            target_samples=samples_per_shard,
            seed=seed,
            executor=executor,
            progress=bar_wanted(as_json=as_json),
        )
    if as_json:
        print_json({**described(manifest, out), "was_finished_already": is_finished})
        return
    print_set(manifest, out)
    if is_finished:
        click.echo("This set was finished already; nothing was written.")


def source_loader(
    name: str,
    split_name: str,
    recipe: str | None,
    manifest_folder: Path | None,
    variant: str,
    source_kind: str,
) -> Callable[[], ArraySource]:
    """Check the options of `source_options`, and return what loads the samples that they name."""
    from course_lib.datasets.settings import SOURCES
    from course_lib.shards import source_for
    from course_lib.shards.sources import need_split
    from course_lib.splits import read_split

    if source_kind not in SOURCES:
        raise CourseError(
            "--source is not one of its choices", expected=", ".join(SOURCES), found=source_kind
        )
    if manifest_folder is not None and recipe is not None:
        raise CourseError(
            "--manifest and --recipe both say how the data were split", next_step="leave one of them out"
        )
    if manifest_folder is None:
        need_split(name, split_name, recipe)
        return partial(source_for, name, split_name, recipe=recipe, variant=variant, source=source_kind)
    split = read_split(manifest_folder)
    return partial(source_for, name, split, part=split_name, variant=variant, source=source_kind)


@contextlib.contextmanager
def executor_of(jobs: int) -> Iterator[Executor | None]:
    """Yield a pool of so many processes, or None where this process does the work itself."""
    if not 1 <= jobs <= _MOST_JOBS:
        raise CourseError("--jobs is out of range", expected=f"1 to {_MOST_JOBS}", found=f"{jobs:,}")
    if jobs == 1:
        yield None
        return
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_start_worker) as pool:
        try:
            _start_all(pool, jobs)
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _start_all(pool: Executor, jobs: int) -> None:
    """Start all workers with Ctrl-C held back, which they inherit; the parent gets it right afterwards."""
    if not hasattr(signal, "pthread_sigmask"):
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        for _ in range(jobs):
            pool.submit(os.getpid)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_worker() -> None:
    """Leave Ctrl-C to the parent, and end as soon as the parent is gone, however it went."""
    # A terminal sends it to every process: a worker would answer with a traceback of its own.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A pool's worker waits for work on a pipe whose other end it holds itself: it would wait for ever.
    threading.Thread(target=_end_after_parent, name="end with parent", daemon=True).start()


def _end_after_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def described(manifest: ShardSetManifest, place: object) -> dict[str, object]:
    """Return a shard set's manifest as plain values."""
    from dataclasses import asdict

    return {"place": str(place), **asdict(manifest)}


def print_set(manifest: ShardSetManifest, place: object) -> None:
    """Print what a shard set holds."""
    from course_lib.units import format_bytes

    stored = sum(shard.bytes for shard in manifest.shards)
    recipe = ", ".join(f"{key} {value}" for key, value in manifest.recipe.items())
    print_table(
        ("What", "Value"),
        [
            ("Samples", f"{manifest.title}: {manifest.samples:,}"),
            ("Shards", f"{len(manifest.shards):,}, {format_bytes(stored)}"),
            (
                "Payload",
                f"{format_bytes(manifest.payload_bytes)} of .{manifest.extension}; "
                f"{_container(stored, manifest.payload_bytes)}",
            ),
            ("Index", f"{manifest.index.rows:,} rows, {format_bytes(manifest.index.bytes)}"),
            ("Recipe", recipe),
            ("Split digest", manifest.split_digest or "none"),
            ("Digest", manifest.digest),
            ("Place", str(place)),
        ],
    )
    if manifest.origin:
        click.echo(manifest.origin)


def _container(stored: int, payload: int) -> str:
    """Return in words how the bytes of the shards compare to those of the payloads."""
    times = stored / max(payload, 1)
    return (
        f"the container adds {times - 1:.1%}"
        if times < _TIMES_FROM
        else f"the shards take {times:,.0f} times that"
    )


def _place(out: str) -> Path | Store:
    from course_lib.stores import open_store

    if not out.strip():
        raise CourseError(
            "--out names no place", expected="a new folder, or s3://bucket/prefix", found=repr(out)
        )
    return open_store(out) if "://" in out else Path(out)


def _bytes_of(text: str) -> int:
    from course_lib.units import parse_quantity

    size = parse_quantity(text)
    if size.dimension != "bytes" or not 1 <= size.base == int(size.base):
        raise CourseError(
            "--target-bytes is no number of whole bytes",
            expected='a number with a unit, such as "256 MB"',
            found=text,
            next_step="name the unit, such as B, KB or MB",
        )
    return int(size.base)
