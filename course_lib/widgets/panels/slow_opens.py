"""Lesson 04: files per second and bytes per second where each open is set to take a while."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from course_lib.loading.verdicts import compare
from course_lib.stores import OpenCase, StartUpComparison, TimedOpens, time_opens
from course_lib.units import format_bytes, format_rate, format_seconds
from course_lib.widgets.controls import Control, NumberControl
from course_lib.widgets.panel import Panel
from course_lib.widgets.svg import Bar, ChartWords, bar_chart, line_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance

_CASE = "case"


@dataclass(frozen=True)
class StartUpFigures:
    """The figures of one way to find samples, over several runs.

    Attributes
    ----------
    first_sample_seconds, steady_samples_per_second, mean_samples_per_second : tuple of float
        One value for each run; the mean is over the whole epoch, the start included.
    """

    first_sample_seconds: tuple[float, ...]
    steady_samples_per_second: tuple[float, ...]
    mean_samples_per_second: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The median run's mean over the epoch."""
        return statistics.median(self.mean_samples_per_second)


def set_opens_view(timed: TimedOpens) -> View:
    """Return files and bytes per second of one run with a set time per open."""
    case = timed.case
    size = case.byte_count / len(case.sizes)
    set_seconds = case.open_seconds
    rows = (
        (
            text("slow_opens.files_row"),
            f"{timed.files_per_second:,.0f} /s",
            _between(timed.file_rates, lambda rate: f"{rate:,.0f} /s"),
        ),
        (
            text("slow_opens.bytes_row"),
            format_rate(timed.bytes_per_second),
            _between(timed.byte_rates, format_rate),
        ),
        (
            text("slow_opens.each_row"),
            format_seconds(timed.median_seconds / len(case.sizes)),
            _between([seconds / len(case.sizes) for seconds in timed.seconds], format_seconds),
        ),
    )
    return View(
        text(
            "slow_opens.title",
            files=timed.files_per_second,
            bytes=format_rate(timed.bytes_per_second),
            size=format_bytes(size),
        ),
        text("slow_opens.summary"),
        (text("slow_opens.column_figure"), text("slow_opens.column_median"), text("slow_opens.column_range")),
        rows,
        source_note=text(
            "slow_opens.source",
            files=f"{len(case.sizes):,}",
            size=format_bytes(size),
            open=format_seconds(set_seconds),
            repeats=len(timed.seconds),
            cache=timed.cache.kind,
        ),
        result=timed,
    )


def set_opens_panel() -> Panel:
    """Return a panel that really reads files whose opens take a set time, when Run is pressed."""

    def compute(files: float, kilobytes: float, milliseconds: float) -> View:
        sizes = (round(kilobytes * 1000),) * int(files)
        return set_opens_view(time_opens({_CASE: OpenCase(sizes, milliseconds / 1000)})[_CASE])

    controls: dict[str, Control] = {
        "files": NumberControl(text("slow_opens.files"), 10, 500, 100, step=10),
        "kilobytes": NumberControl(text("slow_opens.kilobytes"), 1, 1000, 80, unit="KB"),
        "milliseconds": NumberControl(text("slow_opens.milliseconds"), 0.0, 20.0, 2.0, step=0.5, unit="ms"),
    }
    return Panel(text("slow_opens.panel"), controls, compute, manual=True)


def file_sizes_view(found: Mapping[str, TimedOpens]) -> View:
    """Return bytes and files per second for files of several sizes, all with the same set times."""
    bars = [
        Bar(
            name,
            timed.bytes_per_second / 1e6,
            low=min(timed.byte_rates) / 1e6,
            high=max(timed.byte_rates) / 1e6,
            shown=format_rate(timed.bytes_per_second),
        )
        for name, timed in found.items()
    ]
    rows = tuple(
        (
            name,
            _with_range(timed.file_rates),
            format_rate(timed.bytes_per_second),
            _share(timed.bytes_per_second, timed.case.bytes_per_second),
            f"{len(timed.case.sizes) * timed.case.open_seconds / timed.median_seconds:.0%}",
        )
        for name, timed in found.items()
    )
    least, most = (choose(found.values(), key=lambda timed: timed.bytes_per_second) for choose in (min, max))
    title = text(
        "slow_opens.sizes_title",
        low=format_rate(least.bytes_per_second),
        high=format_rate(most.bytes_per_second),
    )
    note = _set_note(found)
    figure = bar_chart(
        bars,
        title=title,
        axis=text("metadata.bytes_axis"),
        corner=provenance(None, note),
        words=ChartWords(range=text("chart.range")),
    )
    columns = ("size", "files_per_second", "bytes_per_second", "of_stream", "in_opens")
    return View(
        title,
        text("slow_opens.sizes_summary"),
        tuple(text(f"slow_opens.column_{name}") for name in columns),
        rows,
        figure,
        source_note=note,
        result=dict(found),
    )


def changes_view(found: Mapping[str, TimedOpens]) -> View:
    """Return what single changes did to the rate; the first run is the one that nothing was changed in."""
    base_name, *changed = found
    base = found[base_name]
    moved = []
    rows: list[tuple[object, ...]] = [
        (base_name, _with_range(base.file_rates), format_rate(base.bytes_per_second), "")
    ]
    for name in changed:
        timed = found[name]
        verdict = compare({base_name: base.file_rates, name: timed.file_rates})
        times = timed.files_per_second / base.files_per_second
        said = text("slow_opens.times", times=times) if verdict.winner else text("metadata.noise")
        if verdict.winner:
            moved.append(text("slow_opens.moved", name=name, times=times))
        rows.append((name, _with_range(timed.file_rates), format_rate(timed.bytes_per_second), said))
    columns = ("change", "files_per_second", "bytes_per_second", "against")
    return View(
        text("slow_opens.changes_title", moved="; ".join(moved))
        if moved
        else text("slow_opens.changes_none"),
        text("slow_opens.changes_summary", base=base_name),
        tuple(text(f"slow_opens.column_{name}") for name in columns),
        tuple(rows),
        source_note=text("slow_opens.changes_source", repeats=len(base.seconds)),
        result=dict(found),
    )


def grown_view(found: Mapping[str, TimedOpens]) -> View:
    """Return an epoch before and after the data grew: bytes, files and time, and how often each."""
    before, after = found.values()
    rows = tuple(
        (
            name,
            format_bytes(timed.case.byte_count),
            f"{len(timed.case.sizes):,}",
            format_seconds(timed.median_seconds),
            _between(timed.seconds, format_seconds),
            format_seconds(timed.median_seconds / len(timed.case.sizes)),
        )
        for name, timed in found.items()
    )
    times = after.median_seconds / before.median_seconds
    title = text(
        "slow_opens.grown_title",
        bytes=after.case.byte_count / before.case.byte_count - 1,
        files=len(after.case.sizes) / len(before.case.sizes),
        times=times,
    )
    columns = ("data", "bytes", "files", "epoch", "range", "each_file")
    return View(
        title,
        text("slow_opens.grown_summary"),
        tuple(text(f"slow_opens.column_{name}") for name in columns),
        rows,
        source_note=_set_note(found),
        result=times,
    )


def start_up_figures(runs: Sequence[StartUpComparison]) -> dict[str, StartUpFigures]:
    """Return first sample, steady rate and mean over the epoch of each case, over all runs."""
    return {
        curve.case: StartUpFigures(
            tuple(run[curve.case].first_sample_seconds for run in runs),
            tuple(run[curve.case].steady_samples_per_second for run in runs),
            tuple(run[curve.case].delivered[-1] / run[curve.case].seconds[-1] for run in runs),
        )
        for curve in runs[0].curves
    }


def start_up_view(runs: Sequence[StartUpComparison]) -> View:
    """Return the delivered samples over time in each case, with the start and the steady rate apart."""
    first = runs[0]
    figures = start_up_figures(runs)
    rows = tuple(
        (
            case,
            text(
                "start_up.with_range",
                median=format_seconds(statistics.median(found.first_sample_seconds)),
                range=_between(found.first_sample_seconds, format_seconds),
            ),
            _with_range(found.steady_samples_per_second),
            _with_range(found.mean_samples_per_second),
            text("start_up.counts", **first[case].counts),
        )
        for case, found in figures.items()
    )
    latest = _alone({case: found.first_sample_seconds for case, found in figures.items()})
    slowest = _alone(
        {case: [-rate for rate in found.steady_samples_per_second] for case, found in figures.items()}
    )
    title = text("start_up.title", latest=latest, slowest=slowest)
    note = _start_up_note(runs)
    figure = line_chart(
        {curve.case: tuple(zip(curve.seconds, curve.delivered, strict=True)) for curve in first.curves},
        title=title,
        x_axis=text("start_up.seconds_axis"),
        y_axis=text("start_up.samples_axis"),
        corner=provenance(None, note),
    )
    columns = ("case", "first_sample", "steady", "mean", "operations")
    return View(
        title,
        text("start_up.summary"),
        tuple(text(f"start_up.column_{name}") for name in columns),
        rows,
        figure,
        source_note=note,
        result=figures,
    )


def means_view(runs: Sequence[StartUpComparison], counts: Sequence[int]) -> View:
    """Return the mean samples per second over the first so many samples, for several such counts."""
    cases = [curve.case for curve in runs[0].curves]
    means = {
        case: [
            statistics.median(
                count / run[case].seconds[min(count, len(run[case].seconds) - 1)] for run in runs
            )
            for count in counts
        ]
        for case in cases
    }
    spread = {case: max(values) / min(values) for case, values in means.items()}
    most, least = (choose(spread, key=lambda case: spread[case]) for choose in (max, min))
    title = text(
        "start_up.means_title", most=most, times=spread[most], least=least, least_times=spread[least]
    )
    note = _start_up_note(runs)
    heads = tuple(text("start_up.over", count=f"{count:,}") for count in counts)
    figure = bar_chart(
        [
            Bar(head, means[case][place], case, shown=f"{means[case][place]:,.0f}")
            for place, head in enumerate(heads)
            for case in cases
        ],
        title=title,
        axis=text("start_up.mean_axis"),
        corner=provenance(None, note),
    )
    return View(
        title,
        text("start_up.means_summary"),
        (text("start_up.column_case"), *heads),
        tuple((case, *(f"{mean:,.0f}" for mean in means[case])) for case in cases),
        figure,
        source_note=note,
        result=means,
    )


def _start_up_note(runs: Sequence[StartUpComparison]) -> str:
    first = runs[0]
    return text(
        "start_up.source",
        samples=f"{first.sample_count:,}",
        folders=first.folder_count,
        repeats=len(runs),
        **{name: format_seconds(seconds) for name, seconds in first.set_seconds.items()},
    )


def _alone(values: Mapping[str, Sequence[float]]) -> str:
    """Return the name whose values are the highest, where they lie apart from all others'."""
    first = max(values, key=lambda name: statistics.median(values[name]))
    apart = all(max(values[name]) < min(values[first]) for name in values if name != first)
    return first if apart else text("start_up.no_single_one")


def _set_note(found: Mapping[str, TimedOpens]) -> str:
    first = next(iter(found.values()))
    link = first.case.bytes_per_second
    return text(
        "slow_opens.set_source",
        open=format_seconds(first.case.open_seconds),
        link=format_rate(link) if link else text("slow_opens.as_it_is"),
        repeats=len(first.seconds),
        cache=", ".join(dict.fromkeys(timed.cache.kind for timed in found.values())),
    )


def _share(rate: float, of_rate: float | None) -> str | None:
    return f"{rate / of_rate:.2%}" if of_rate else None


def _with_range(rates: Sequence[float]) -> str:
    return text(
        "start_up.with_range",
        median=f"{statistics.median(rates):,.0f}",
        range=_between(rates, lambda rate: f"{rate:,.0f}"),
    )


def _between(values: Sequence[float], shown: Callable[[float], str]) -> str:
    return text("metadata.between", low=shown(min(values)), high=shown(max(values)))
