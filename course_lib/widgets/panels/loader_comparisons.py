"""Lesson 05: what repeated runs of loaders took, side by side, and what they allow to say."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping

from course_lib.loading.results import LoaderComparison
from course_lib.loading.verdicts import Summary, Verdict, compare, plateau
from course_lib.units import format_bytes, format_rate
from course_lib.widgets.panels.dataloader_timing import seconds_text, transforms_text
from course_lib.widgets.svg import Bar, bar_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, bar_view, provenance

_PHASES = ("construction_seconds", "first_batch_seconds", "elapsed_seconds")
_WAITS = ("p50", "p95", "max")
_EPOCHS = (1, 10, 100)


def phases_view(comparison: LoaderComparison) -> View:
    """Return construction, first batch and steady loading of each candidate, apart, with their ranges."""
    found = {
        name: {phase: comparison.summary(name, phase) for phase in _PHASES}
        for name in comparison.candidates()
    }
    measured = comparison.runs[0].timing.measured_batches
    heads = {
        "construction_seconds": text("phases.construction"),
        "first_batch_seconds": text("phases.first"),
        "elapsed_seconds": text("phases.steady", batches=measured),
    }
    bars = [
        Bar(
            name,
            summary.median,
            heads[phase],
            low=summary.low,
            high=summary.high,
            shown=seconds_text(summary.median),
        )
        for name, phases in found.items()
        for phase, summary in phases.items()
    ]
    starts = {
        name: (phases["construction_seconds"].median + phases["first_batch_seconds"].median)
        / sum(summary.median for summary in phases.values())
        for name, phases in found.items()
    }
    title = text("phases.title", shares=", ".join(f"{name} {share:.0%}" for name, share in starts.items()))
    figure = bar_chart(
        bars,
        title=title,
        axis=text("phases.axis"),
        corner=provenance(comparison.origin, measured_note(comparison)),
    )
    rows = tuple(
        (
            name,
            *(_range(summary, seconds_text) for summary in phases.values()),
            *(
                _range(comparison.summary(name, f"batch_wait_{wait}_seconds"), seconds_text)
                for wait in _WAITS
            ),
        )
        for name, phases in found.items()
    )
    return View(
        title,
        text("phases.summary"),
        (text("phases.candidate"), *heads.values(), *(text(f"phases.wait_{wait}") for wait in _WAITS)),
        rows,
        figure,
        comparison.origin,
        measured_note(comparison),
        found,
    )


def sweep_view(comparison: LoaderComparison) -> View:
    """Return samples per second of each candidate, whether one is ahead, and where workers stop helping."""
    verdict = comparison.verdict
    said = [text("sweep.same") if comparison.same_samples else text("sweep.other")]
    if comparison.plan["factor"] == "workers":
        level = plateau(comparison)
        said.append(level.sentence)
        if level.control:
            said.append(text("sweep.control", control=level.control))
    said += comparison.plan["notes"]
    return bar_view(
        verdict.sentence,
        [_rate_bar(comparison, name) for name in comparison.candidates()],
        summary=" ".join(said),
        axis=text("timing.axis"),
        label_head=text("phases.candidate"),
        value_head=text("timing.axis"),
        origin=comparison.origin,
        source_note=measured_note(comparison),
        result=verdict,
    )


def costs_view(comparison: LoaderComparison) -> View:
    """Return what each candidate took from the machine: memory of its workers, open files, processor time."""
    rows = []
    memory: dict[str, float] = {}
    for name in comparison.candidates():
        runs = comparison.runs_of(name)
        memory[name] = statistics.median(sum(w.uss_bytes for w in run.worker_memory_bytes) for run in runs)
        processor = statistics.median(1e3 * run.cpu_seconds / run.timing.sample_count for run in runs)
        files = max(run.open_files for run in runs)
        rows.append((name, format_bytes(memory[name]), files, f"{processor:.3f} s"))
    return View(
        text(
            "costs.title", memory=format_bytes(max(memory.values())), most=max(memory, key=memory.__getitem__)
        ),
        text("costs.summary"),
        (text("phases.candidate"), text("costs.memory"), text("costs.files"), text("costs.processor")),
        tuple(rows),
        origin=comparison.origin,
        source_note=measured_note(comparison),
        result=memory,
    )


def horizon_view(comparison: LoaderComparison) -> View:
    """Return what a job of several epochs takes, worked out from the medians of the measured phases."""
    found: dict[int, dict[str, float]] = {}
    for epochs in _EPOCHS:
        for name in comparison.candidates():
            start, first, steady = (comparison.summary(name, phase).median for phase in _PHASES)
            found.setdefault(epochs, {})[name] = start + first + epochs * steady
    rows = tuple(
        (
            name,
            *(seconds_text(found[epochs][name]) for epochs in _EPOCHS),
            *(
                f"{1 - epochs * comparison.summary(name, _PHASES[2]).median / found[epochs][name]:.0%}"
                for epochs in (_EPOCHS[0], _EPOCHS[-1])
            ),
        )
        for name in comparison.candidates()
    )
    shares = [float(row[-2].rstrip("%")) for row in rows], [float(row[-1].rstrip("%")) for row in rows]
    return View(
        text("horizon.title", once=max(shares[0]) / 100, often=max(shares[1]) / 100, epochs=_EPOCHS[-1]),
        text("horizon.summary"),
        (
            text("phases.candidate"),
            *(text("horizon.epochs", epochs=epochs) for epochs in _EPOCHS),
            *(text("horizon.start", epochs=epochs) for epochs in (_EPOCHS[0], _EPOCHS[-1])),
        ),
        rows,
        origin=comparison.origin,
        source_note=text("horizon.source", batches=comparison.runs[0].timing.measured_batches),
        result=found,
    )


def cache_view(comparison: LoaderComparison) -> View:
    """Return runs by the cache state they were found in; where it is unknown, the title says only that."""
    states = {name: _states(comparison, name) for name in comparison.candidates()}
    kinds = [set(kind for kind, _ in of_name) for of_name in states.values()]
    if any("unknown" in found for found in kinds):
        title = text("cache.unknown")
    elif any(found & other for at, found in enumerate(kinds) for other in kinds[:at]):
        title = text("cache.alike")
    else:
        title = compare({_read(name): comparison.summary(name).values for name in states}).sentence
    rows = tuple(
        (
            _read(name),
            ", ".join(sorted({text("cache.state", kind=kind, share=share) for kind, share in of_name})),
            _range(comparison.summary(name), _plain),
            _range(comparison.summary(name, _PHASES[1]), seconds_text),
            ", ".join(sorted({run.cache_after.kind for run in comparison.runs_of(name)})),
        )
        for name, of_name in states.items()
    )
    reasons = {run.cache_before.reason for run in comparison.runs if run.cache_before.reason}
    return View(
        title,
        " ".join(
            [text("cache.summary"), *(f"{reason[0].upper()}{reason[1:]}." for reason in sorted(reasons))]
        ),
        tuple(text(f"cache.head_{head}") for head in ("candidate", "before", "rate", "first", "after")),
        rows,
        bar_chart(
            [_rate_bar(comparison, name, label=_read(name)) for name in states],
            title=title,
            axis=text("timing.axis"),
            corner=provenance(comparison.origin, measured_note(comparison)),
        ),
        comparison.origin,
        measured_note(comparison),
        states,
    )


def side_by_side_view(comparisons: Mapping[str, LoaderComparison]) -> View:
    """Return several worker sweeps in one figure, with what the step to the most workers brought."""
    said, bars = [], []
    verdicts: dict[str, Verdict] = {}
    for name, comparison in comparisons.items():
        candidates = comparison.candidates()
        first, last = candidates[-2:][0], candidates[-1]
        verdicts[name] = compare({one: comparison.summary(one).values for one in (first, last)})
        gain = comparison.summary(last).median / comparison.summary(first).median
        words = {"name": name, "first": first, "last": last}
        outside = verdicts[name].winner is not None
        said.append(text("side.outside", **words, gain=gain) if outside else text("side.within", **words))
        bars += [_rate_bar(comparison, one, series=name) for one in candidates]
    labels = list(dict.fromkeys(bar.label for bar in bars))
    bars.sort(key=lambda bar: labels.index(bar.label))
    levels = [f"{name}: {plateau(comparison).sentence}" for name, comparison in comparisons.items()]
    some = next(iter(comparisons.values()))
    return bar_view(
        "; ".join(said) + ".",
        bars,
        summary=" ".join(levels),
        axis=text("timing.axis"),
        label_head=text("phases.candidate"),
        series_head=text("side.what"),
        value_head=text("timing.axis"),
        origin=some.origin,
        source_note="; ".join(f"{name}: {measured_note(one)}" for name, one in comparisons.items()),
        result=verdicts,
    )


def control_view(name: str, measured: LoaderComparison, control_name: str, control: LoaderComparison) -> View:
    """Return a sweep beside its control, and whether leaving that part out changes the rate at all."""
    last = measured.candidates()[-1]
    rates = {name: measured.summary(last), control_name: control.summary(control.candidates()[-1])}
    verdict = compare({one: rate.values for one, rate in rates.items()})
    words = {"name": name, "control": control_name, "last": last}
    gain = rates[control_name].median / rates[name].median
    title = (
        text("control.same", **words) if verdict.winner is None else text("control.other", **words, gain=gain)
    )
    rows = tuple(
        (one, candidate, _range(comparison.summary(candidate), _plain))
        for one, comparison in ((name, measured), (control_name, control))
        for candidate in comparison.candidates()
    )
    return View(
        title,
        text("control.summary"),
        (text("side.what"), text("phases.candidate"), text("timing.axis")),
        rows,
        origin=measured.origin,
        source_note=f"{name}: {measured_note(measured)}; {control_name}: {measured_note(control)}",
        result=verdict,
    )


def measured_note(comparison: LoaderComparison) -> str:
    """Return how the figures of a comparison came about: repeats, conditions, cache states, what was set."""
    factor, runs = comparison.plan["factor"], comparison.runs
    conditions = runs[0].conditions
    shared = {
        "batch_size": text("timing.of_batch", size=conditions.batch_size),
        "transforms": transforms_text(conditions),
        "workers": text("timing.of_workers", workers=conditions.workers),
    }
    words = [said for name, said in shared.items() if name != factor]
    if conditions.layout == "memory":
        words.append(text("timing.from_memory"))
    else:
        kinds = ", ".join(sorted({run.cache_before.kind for run in runs}))
        words.append(text("timing.of_cache", kinds=kinds))
    if conditions.open_ms:
        words.append(text("timing.of_open", ms=conditions.open_ms))
    if conditions.bandwidth_bytes_per_second is not None:
        words.append(text("timing.of_bandwidth", rate=format_rate(conditions.bandwidth_bytes_per_second)))
    return text("timing.note", repeats=comparison.plan["repeats"], conditions=", ".join(words))


def _rate_bar(comparison: LoaderComparison, name: str, *, series: str = "", label: str = "") -> Bar:
    rate = comparison.summary(name)
    return Bar(label or name, rate.median, series, low=rate.low, high=rate.high, shown=f"{rate.median:,.0f}")


def _read(candidate: str) -> str:
    """Return what a candidate's runs are in a comparison of cache states."""
    names = {"cache evict": text("cache.first_read"), "cache as found": text("cache.second_read")}
    return names.get(candidate, candidate)


def _states(comparison: LoaderComparison, name: str) -> set[tuple[str, str]]:
    """Return kind and share, in words, of the cache states that a candidate's runs began with."""
    return {
        (
            run.cache_before.kind,
            text("cache.no_share")
            if run.cache_before.resident_share is None
            else f"{run.cache_before.resident_share:.0%}",
        )
        for run in comparison.runs_of(name)
    }


def _range(summary: Summary, shown: Callable[[float], str]) -> str:
    """Return a median with its range, as one table value."""
    return text(
        "timing.range", median=shown(summary.median), low=shown(summary.low), high=shown(summary.high)
    )


def _plain(value: float) -> str:
    return f"{value:,.0f}"
