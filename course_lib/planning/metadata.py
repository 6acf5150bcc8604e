"""Metadata operations: what opening a file costs before its first byte, for files and for shards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from course_lib.planning.core import (
    Number,
    Plan,
    binding_of,
    broadcasting,
    choose,
    count,
    highest_of,
    lowest_of,
    positive,
    refuse_where,
    rounded_down,
    rounded_up,
)
from course_lib.shards.format import record_bytes
from course_lib.shards.tar import ARCHIVE_BLOCK, BLOCK
from course_lib.units import format_bytes

_SOURCE = (
    "waiting in parallel: rate = operations at once / seconds per operation, up to the server's limit; "
    "shards = payload / target, rounded up"
)

_AROUND_A_PAYLOAD = record_bytes(0)

_ASSUMPTIONS = (
    "One file holds one sample; each is looked up once in the scan at the start and opened once an epoch.",
    "Nothing is cached by the client; the time per operation does not grow with the load.",
    "The scan looks at one entry after another; opens wait side by side.",
    "A shard's records are tar members with a label each; packed shards hold whole records only.",
)


@dataclass(frozen=True)
class MetadataPlan(Plan):
    """The same samples as files and as shards, as far as looking up and opening them goes.

    Attributes
    ----------
    files, bytes_per_sample, seconds_per_operation, concurrency, shard_bytes : float or ndarray
        Inputs of `metadata_plan`.
    server_operations_per_second : float, ndarray or None
        Most operations that the other side answers; None when it was not given.
    serial_operations_per_second, operations_per_second : float or ndarray
        One after another, and side by side.
    scan_seconds, open_seconds : float or ndarray
        A look at every file at the start, one after another; opening every file once, side by side.
    payload_bytes, packed_bytes : float or ndarray
        All samples as they are, and as records in tar shards (ends of archives left out).
    record_bytes, container_overhead : float or ndarray
        Bytes of one sample in a shard, its label included; what that adds to the payload, as a ratio.
    shards, shards_packed : float or ndarray
        The number of shards by payload alone, and with containers and whole records.
    shard_scan_seconds, shard_open_seconds : float or ndarray
        The same times for the packed shards.
    operations_saved : float or ndarray
        Operations an epoch that shards spare.
    """

    files: Number
    bytes_per_sample: Number
    seconds_per_operation: Number
    concurrency: Number
    server_operations_per_second: Number | None
    shard_bytes: Number
    serial_operations_per_second: Number
    operations_per_second: Number
    scan_seconds: Number
    open_seconds: Number
    payload_bytes: Number
    packed_bytes: Number
    record_bytes: Number
    container_overhead: Number
    shards: Number
    shards_packed: Number
    shard_scan_seconds: Number
    shard_open_seconds: Number
    operations_saved: Number


@broadcasting
def metadata_plan(
    *,
    files: Any,
    seconds_per_operation: Any,
    concurrency: Any = 1,
    bytes_per_sample: Any = 40e3,
    shard_bytes: Any = 256e6,
    server_operations_per_second: Any = None,
) -> MetadataPlan:
    """Plan what metadata operations cost, with a file for each sample and with shards.

    Parameters
    ----------
    files : float or ndarray
        Samples, each in a file of its own before packing.
    seconds_per_operation : float or ndarray
        s that one open, or one look at a file's entry, takes.
    concurrency : float or ndarray
        Operations that wait side by side.
    bytes_per_sample, shard_bytes : float or ndarray
        Mean payload B of a sample; most B of a shard.
    server_operations_per_second : float or ndarray, optional
        Most operations a second that the other side answers.

    Returns
    -------
    MetadataPlan
        ``binding`` is "round trips" or "metadata server".

    Raises
    ------
    CourseError
        For inputs out of range, and for a shard larger than all the data or smaller than one record.

    Examples
    --------
    >>> plan = metadata_plan(files=1e6, seconds_per_operation=0.002)
    >>> plan.serial_operations_per_second, plan.shards, plan.shards_packed
    (500.0, 157.0, 165.0)
    """
    number = count("The number of files", files)
    seconds = positive("The time per operation", seconds_per_operation)
    at_once = count("The number of operations at once", concurrency)
    sample = positive("The bytes per sample", bytes_per_sample)
    target = positive("The bytes of a shard", shard_bytes)
    given = server_operations_per_second is not None
    server = positive("The rate of the metadata server", server_operations_per_second) if given else math.inf
    payload = number * sample
    record = rounded_up(sample / BLOCK) * BLOCK + _AROUND_A_PAYLOAD
    # A shard file is filled up to whole archive blocks, the last of which holds two empty blocks at its end.
    room = rounded_down(target / ARCHIVE_BLOCK) * ARCHIVE_BLOCK - 2 * BLOCK
    _refuse_unfit_shards(target, room, payload, record)
    per_shard = lowest_of(number, rounded_down(room / record))
    packed = rounded_up(number / per_shard)
    # Where both are the same, more operations at once would not help: the server comes first.
    binding, rate = binding_of(("metadata server", "round trips"), (server, at_once / seconds))
    serial = lowest_of(1 / seconds, server)
    return MetadataPlan(
        binding=binding,
        assumptions=_ASSUMPTIONS,
        source=_SOURCE,
        files=number,
        bytes_per_sample=sample,
        seconds_per_operation=seconds,
        concurrency=at_once,
        server_operations_per_second=server if given else None,
        shard_bytes=target,
        serial_operations_per_second=serial,
        operations_per_second=rate,
        scan_seconds=number / serial,
        open_seconds=_side_by_side(number, rate, seconds),
        payload_bytes=payload,
        packed_bytes=number * record,
        record_bytes=record,
        container_overhead=record / sample - 1,
        shards=rounded_up(payload / target),
        shards_packed=packed,
        shard_scan_seconds=packed / serial,
        shard_open_seconds=_side_by_side(packed, rate, seconds),
        operations_saved=number - packed,
    )


@dataclass(frozen=True)
class LayoutGain(Plan):
    """What another layout of the same samples gained, and how far it is from input that costs nothing.

    Attributes
    ----------
    start_seconds_before, start_seconds_after : float or ndarray
        From the start of a run to its first batch.
    samples_per_second_before, samples_per_second_after : float or ndarray
        In the steady state.
    synthetic_samples_per_second : float or ndarray
        The same training on input that needs no storage.
    start_gain, rate_gain : float or ndarray
        How many times sooner the run starts, and how many times more samples it gets.
    synthetic_share : float or ndarray
        The rate after, as a share of the synthetic one.
    before_bytes_per_second, after_bytes_per_second : float or ndarray
        Both rates in bytes of the stored samples.
    """

    start_seconds_before: Number
    start_seconds_after: Number
    samples_per_second_before: Number
    samples_per_second_after: Number
    synthetic_samples_per_second: Number
    bytes_per_sample: Number
    start_gain: Number
    rate_gain: Number
    synthetic_share: Number
    before_bytes_per_second: Number
    after_bytes_per_second: Number


@broadcasting
def layout_gain(
    *,
    start_seconds_before: Any,
    start_seconds_after: Any,
    samples_per_second_before: Any,
    samples_per_second_after: Any,
    synthetic_samples_per_second: Any,
    bytes_per_sample: Any,
) -> LayoutGain:
    """Compare a layout with the one before it, and with synthetic input.

    Parameters
    ----------
    start_seconds_before, start_seconds_after : float or ndarray
        s until the first batch.
    samples_per_second_before, samples_per_second_after, synthetic_samples_per_second : float or ndarray
        samples/s in the steady state of either layout, and on synthetic input.
    bytes_per_sample : float or ndarray
        Mean B of a stored sample.

    Returns
    -------
    LayoutGain
        ``binding`` is "input" while synthetic input is faster, else "training step".

    Raises
    ------
    CourseError
        For an input that is zero, negative or not finite.

    Examples
    --------
    >>> gain = layout_gain(start_seconds_before=18 * 60, start_seconds_after=2 * 60,
    ...     samples_per_second_before=260, samples_per_second_after=1450,
    ...     synthetic_samples_per_second=1800, bytes_per_sample=40e3)
    >>> gain.start_gain, round(gain.rate_gain, 2), round(gain.synthetic_share, 3)
    (9.0, 5.58, 0.806)
    """
    start_before = positive("The start-up time before", start_seconds_before)
    start_after = positive("The start-up time after", start_seconds_after)
    before = positive("The sample rate before", samples_per_second_before)
    after = positive("The sample rate after", samples_per_second_after)
    synthetic = positive("The sample rate on synthetic input", synthetic_samples_per_second)
    sample = positive("The bytes per sample", bytes_per_sample)
    return LayoutGain(
        binding=choose(after < synthetic, "input", "training step"),
        assumptions=(
            "The same samples, machine, model and batch size before and after.",
            "Synthetic input costs no storage and no decoding: its rate is the most that training takes.",
        ),
        source="ratios of times and rates of one comparison; bytes/s = samples/s x bytes per stored sample",
        start_seconds_before=start_before,
        start_seconds_after=start_after,
        samples_per_second_before=before,
        samples_per_second_after=after,
        synthetic_samples_per_second=synthetic,
        bytes_per_sample=sample,
        start_gain=start_before / start_after,
        rate_gain=after / before,
        synthetic_share=after / synthetic,
        before_bytes_per_second=before * sample,
        after_bytes_per_second=after * sample,
    )


def _side_by_side(operations: Number, rate: Number, seconds: Number) -> Number:
    """Return how long they take: never less than one of them, however many places there are."""
    return highest_of(operations / rate, seconds)


def _refuse_unfit_shards(target: Number, room: Number, payload: Number, record: Number) -> None:
    refuse_where(
        target > payload,
        "A shard would be larger than the data",
        found=_both,
        of=(target, payload),
        next_step="lower the target, or keep all samples in one file",
    )
    refuse_where(
        room < record,
        "A shard would be too small for one sample with its container",
        found=_both,
        of=(target, record),
        next_step="raise the target",
    )


def _both(target: float, needed: float) -> str:
    return f"a target of {format_bytes(target)} for {format_bytes(needed)}"
