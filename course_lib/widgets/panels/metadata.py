"""Lesson 04: what small files cost on the learner's own disk, operation by operation."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from course_lib.loading.verdicts import compare
from course_lib.stores import BlockReads, MetadataResult, OperationRates
from course_lib.units import format_bytes, format_rate, format_seconds
from course_lib.widgets.svg import Bar, ChartWords, bar_chart, format_number
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, bar_view, provenance

WITHIN_NOISE = "none"
"""Stands for an operation where no single one is the slowest outside the noise."""

_BY_PHASE = {"start": ("scan", "stat"), "pass": ("read",), "update": ("remove", "create")}


def slowest_operation(result: MetadataResult) -> str:
    """Return the operation that takes longest, or "none" where its range overlaps with another's."""
    slowest = min(result.operations, key=lambda rates: rates.median)
    others = [rates for rates in result.operations if rates is not slowest]
    apart = all(slowest.high < rates.low for rates in others)
    return slowest.operation if apart and result.repeats > 1 else WITHIN_NOISE


def rates_view(result: MetadataResult) -> View:
    """Return the rates of all six operations with their ranges, and as a figure the time of each."""
    microseconds = {rates.operation: tuple(1e6 / rate for rate in rates.rates) for rates in result.operations}
    bars = [
        Bar(
            name,
            statistics.median(times),
            low=min(times),
            high=max(times),
            shown=format_seconds(statistics.median(times) / 1e6),
        )
        for name, times in microseconds.items()
    ]
    slowest = slowest_operation(result)
    by_time = sorted(result.operations, key=lambda rates: rates.median)
    title = (
        text("metadata.rates_overlap", first=by_time[0].operation, second=by_time[1].operation)
        if slowest == WITHIN_NOISE
        else text("metadata.rates_title", slowest=slowest, each=_each(result[slowest]))
    )
    note = measured_note(result)
    figure = bar_chart(
        bars,
        title=title,
        axis=text("metadata.time_axis"),
        corner=provenance(None, note),
        words=ChartWords(range=text("chart.range")),
    )
    rows = tuple(
        (
            rates.operation,
            f"{rates.median:,.0f}",
            _between(rates.low, rates.high),
            _each(rates),
        )
        for rates in result.operations
    )
    columns = ("operation", "per_second", "range", "each")
    return View(
        title,
        text("metadata.rates_summary"),
        tuple(text(f"metadata.column_{name}") for name in columns),
        rows,
        figure,
        source_note=note,
        result=result,
    )


def layouts_view(found: Mapping[str, MetadataResult]) -> View:
    """Return the rates of two or more layouts side by side, each operation with a verdict of its own."""
    results = list(found.values())
    names = [rates.operation for rates in results[0].operations]
    verdicts = {
        name: compare(
            {layout: result[name].rates for layout, result in found.items()}, unit=text("metadata.unit")
        )
        for name in names
    }
    apart = [name for name, verdict in verdicts.items() if verdict.winner]
    rows = tuple(
        (
            name,
            *(_with_range(result[name]) for result in results),
            text("metadata.faster", layout=verdicts[name].winner)
            if verdicts[name].winner
            else text("metadata.noise"),
        )
        for name in names
    )
    return View(
        text("metadata.layouts_title", names=", ".join(apart))
        if apart
        else text("metadata.layouts_alike", repeats=results[0].repeats),
        text("metadata.layouts_summary"),
        (text("metadata.column_operation"), *found, text("metadata.column_verdict")),
        rows,
        source_note=_several_note(found),
        result=dict(found),
    )


def same_bytes_view(found: Mapping[str, MetadataResult]) -> View:
    """Return for the same bytes in several layouts what reading them gives, in MB/s and in files/s."""
    rates = {name: byte_rates(result) for name, result in found.items()}
    verdict = compare({name: [rate / 1e6 for rate in values] for name, values in rates.items()}, unit="MB/s")
    rows = tuple(
        (
            name,
            f"{result.files:,}",
            format_bytes(result.files * result.bytes_per_file),
            _with_range(result["read"]),
            format_rate(statistics.median(rates[name])),
            text("metadata.between", low=format_rate(min(rates[name])), high=format_rate(max(rates[name]))),
        )
        for name, result in found.items()
    )
    bars = [
        Bar(
            name,
            statistics.median(values) / 1e6,
            low=min(values) / 1e6,
            high=max(values) / 1e6,
            shown=format_rate(statistics.median(values)),
        )
        for name, values in rates.items()
    ]
    note = _several_note(found)
    figure = bar_chart(
        bars,
        title=verdict.sentence,
        axis=text("metadata.bytes_axis"),
        corner=provenance(None, note),
        words=ChartWords(range=text("chart.range")),
    )
    columns = ("layout", "files", "total", "files_per_second", "bytes_per_second", "range")
    return View(
        verdict.sentence,
        text("metadata.same_bytes_summary"),
        tuple(text(f"metadata.column_{name}") for name in columns),
        rows,
        figure,
        source_note=note,
        result=rates,
    )


def block_reads_view(result: MetadataResult, blocks: BlockReads) -> View:
    """Return the rate of block reads in one open file beside the operations that small files need."""
    slowest = min(result.operations, key=lambda rates: rates.median)
    fastest = max(result.operations, key=lambda rates: rates.median)
    block_row = (
        text("metadata.blocks", size=format_bytes(blocks.block_bytes)),
        f"{blocks.median:,.0f}",
        _between(min(blocks.rates), max(blocks.rates)),
        format_number(1),
    )
    rows = tuple(
        (
            rates.operation,
            f"{rates.median:,.0f}",
            _between(rates.low, rates.high),
            format_number(rates.median / blocks.median),
        )
        for rates in result.operations
    )
    columns = ("operation", "per_second", "range", "to_blocks")
    return View(
        text(
            "metadata.blocks_title",
            low=format_number(slowest.median / blocks.median),
            slowest=slowest.operation,
            high=format_number(fastest.median / blocks.median),
            fastest=fastest.operation,
        ),
        text("metadata.blocks_summary"),
        tuple(text(f"metadata.column_{name}") for name in columns),
        (block_row, *rows),
        source_note=text("metadata.blocks_source", measured=measured_note(result), cache=blocks.read_state),
        result=blocks,
    )


def phases_view(result: MetadataResult, *, files: int = 1_000_000, changed_share: float = 0.1) -> View:
    """Return how long the phases of a data set's life would take for many files at the measured rates.

    Parameters
    ----------
    result : MetadataResult
        Whose median rates are taken as they are.
    files : int
        How many files the data set is said to have.
    changed_share : float
        Share of them that an update replaces.
    """
    counts = {"start": files, "pass": files, "update": round(files * changed_share)}
    seconds = {
        phase: sum(counts[phase] / result[name].median for name in names)
        for phase, names in _BY_PHASE.items()
    }
    longest = max(seconds, key=lambda phase: seconds[phase])
    return bar_view(
        text(
            "metadata.phases_title",
            files=f"{files:,}",
            phase=text(f"metadata.phase_{longest}"),
            time=format_seconds(seconds[longest]),
        ),
        [
            Bar(text(f"metadata.phase_{phase}"), seconds[phase], shown=format_seconds(seconds[phase]))
            for phase in _BY_PHASE
        ],
        summary=text("metadata.phases_summary", share=changed_share),
        axis=text("metadata.seconds_axis"),
        label_head=text("metadata.phase"),
        value_head=text("metadata.phase_time"),
        source_note=text("metadata.phases_source", files=f"{files:,}", measured=result.files),
        result=seconds,
    )


def byte_rates(result: MetadataResult) -> tuple[float, ...]:
    """Return the bytes per second of each repeat's reads."""
    return tuple(rate * result.bytes_per_file for rate in result["read"].rates)


def measured_note(result: MetadataResult) -> str:
    """Return under which conditions a result was measured, in one line."""
    return text(
        "metadata.source",
        files=f"{result.files:,}",
        size=format_bytes(result.bytes_per_file),
        directories=_directories([result.directories]),
        repeats=result.repeats,
        cache=result.read_state,
        system=result.file_system or text("metadata.unknown"),
    )


def _several_note(found: Mapping[str, MetadataResult]) -> str:
    results = list(found.values())
    states = dict.fromkeys(state for result in results for state in result.read_state.split(", "))
    return text(
        "metadata.source_several",
        repeats=results[0].repeats,
        directories=_directories([result.directories for result in results]),
        cache=", ".join(states),
        system=results[0].file_system or text("metadata.unknown"),
    )


def _directories(counts: Sequence[int]) -> str:
    words = " / ".join(f"{count:,}" for count in dict.fromkeys(counts))
    return text("metadata.one_directory") if words == "1" else text("metadata.directories", counts=words)


def _each(rates: OperationRates) -> str:
    return format_seconds(1 / rates.median)


def _with_range(rates: OperationRates) -> str:
    return f"{rates.median:,.0f} ({_between(rates.low, rates.high)})"


def _between(low: float, high: float) -> str:
    return text("metadata.between", low=f"{low:,.0f}", high=f"{high:,.0f}")
