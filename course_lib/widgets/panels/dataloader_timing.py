"""Lesson 05: what a loader's time is made of, and what repeated runs allow to say about it."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.units import format_bytes, format_rate
from course_lib.widgets.svg import line_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance

if TYPE_CHECKING:
    from course_lib.experiments.machine import Machine
    from course_lib.loading.conditions import LoaderConditions
    from course_lib.loading.probe import LoaderTiming
    from course_lib.loading.staged import RowDraws
    from course_lib.stores import CacheState


def conditions_view(
    conditions: LoaderConditions, cache: CacheState, machine: Machine, origin: Origin | None
) -> View:
    """Return the conditions of a loading measurement, as they are to be written down before it."""
    c = conditions
    entries: dict[str, object] = {
        "samples": text("conditions.all") if c.sample_count is None else f"{c.sample_count:,}",
        "order": text("conditions.shuffled", seed=c.seed) if c.shuffle else text("conditions.by_name"),
        "layout": text(f"conditions.stored_{c.layout}", size=format_bytes(cache.byte_count)),
        "batch": f"{c.batch_size:,}",
        "workers": str(c.workers),
        "transforms": transforms_text(c),
        "cache": _cache_words(cache),
        "machine": text(
            "conditions.of_machine",
            system=machine.system,
            cores=machine.usable_cores,
            memory=format_bytes(machine.memory_bytes),
        ),
    }
    rows = tuple(
        (text(f"conditions.name_{name}"), value, text(f"conditions.why_{name}"))
        for name, value in entries.items()
    )
    return View(
        text("conditions.title"),
        text("conditions.summary"),
        (text("conditions.condition"), text("conditions.value"), text("conditions.why")),
        rows,
        origin=origin,
        source_note=text("conditions.source"),
        result=entries,
    )


def clock_view(timing: LoaderTiming, origin: Origin | None) -> View:
    """Return the phases and waits of one run, each with what it holds and what it leaves out."""
    shown = {
        "construction": seconds_text(timing.construction_seconds),
        "first": seconds_text(timing.first_batch_seconds),
        "warm_up": text("clock.batches", batches=timing.warmup_batches),
        "steady": seconds_text(timing.elapsed_seconds),
        "p50": seconds_text(timing.batch_wait_p50_seconds),
        "p95": seconds_text(timing.batch_wait_p95_seconds),
        "longest": seconds_text(timing.batch_wait_max_seconds),
        "rate": text("timing.rate", rate=timing.samples_per_second),
        "bytes": format_rate(timing.bytes_per_second),
        "outside": text("clock.not_clocked"),
    }
    what = {"bytes": timing.representation, "steady": f"{timing.measured_batches:,}"}
    rows = tuple(
        (text(f"clock.name_{name}"), value, text(f"clock.what_{name}", **_given(name, what)))
        for name, value in shown.items()
    )
    return View(
        text(
            "clock.title", batches=timing.measured_batches, wait=seconds_text(timing.batch_wait_p50_seconds)
        ),
        text("clock.summary"),
        (text("clock.phase"), text("clock.time"), text("clock.what")),
        rows,
        origin=origin,
        source_note=text("clock.source"),
        result=timing,
    )


def waits_view(timing: LoaderTiming, origin: Origin | None) -> View:
    """Return each batch wait as a line, with the p95 and the place it has in the sorted list."""
    waits = [1e3 * float(wait) for wait in timing.waits_seconds]
    count, p95 = len(waits), 1e3 * timing.batch_wait_p95_seconds
    index = int(0.95 * (count - 1))
    lines: dict[str, list[tuple[float, float]]] = {
        text("waits.each"): [(float(place), wait) for place, wait in enumerate(waits, start=1)],
        text("waits.p95"): [(1.0, p95), (float(count), p95)],
    }
    title = text("waits.title", above=sum(wait > p95 for wait in waits), batches=count, p95=f"{p95:.2f}")
    note = text("clock.source")
    chart = line_chart(
        lines,
        title=title,
        x_axis=text("waits.batch"),
        y_axis=text("waits.axis"),
        corner=provenance(origin, note),
    )
    figures = {
        "least": min(waits),
        "median": statistics.median(waits),
        "mean": statistics.fmean(waits),
        "at_p95": p95,
        "most": max(waits),
    }
    places = {"least": "0", "at_p95": str(index), "most": str(count - 1)}
    rows = tuple(
        (text(f"waits.of_{name}"), f"{value:.3f} ms", places.get(name, text("waits.no_place")))
        for name, value in figures.items()
    )
    return View(
        title,
        text("waits.summary", index=index, batches=count),
        (text("waits.figure"), text("waits.value"), text("waits.place")),
        rows,
        chart,
        origin,
        note,
        figures,
    )


def refusal_view(error: CourseError) -> View:
    """Return an error of the workbook as a finding: what is wrong, the numbers, and what to do."""
    entries = {"expected": error.expected, "found": error.found, "next": error.next_step}
    rows = tuple(
        (text(f"refusal.part_{name}"), str(said)) for name, said in entries.items() if said is not None
    )
    return View(
        f"{error.what}.",
        text("refusal.summary"),
        (text("refusal.what"), text("refusal.said")) if rows else (),
        rows,
        source_note=text("refusal.source"),
        result=str(error),
    )


def draws_view(draws: Sequence[RowDraws]) -> View:
    """Return which random angles the workers drew, from a kept generator and from each row's own seed."""
    kept, own = ({getattr(one, way) for one in draws} for way in ("kept_degrees", "own_degrees"))
    rows = tuple(
        (text("draws.row", row=one.row), one.worker, f"{one.kept_degrees}°", f"{one.own_degrees}°")
        for one in draws
    )
    return View(
        text("draws.title", rows=len(draws), kept=len(kept), own=len(own)),
        text("draws.summary"),
        tuple(text(f"draws.head_{head}") for head in ("which", "worker", "kept", "own")),
        rows,
        source_note=text("draws.source", workers=len({one.worker for one in draws})),
        result=(len(kept), len(own)),
    )


def delivered_view(ids: Sequence[str], labels: Mapping[str, str], origin: Origin | None) -> View:
    """Return how many samples of each class were delivered, of how many there are."""
    there, came = Counter(labels.values()), Counter(labels[one] for one in ids)
    rows = tuple(
        (name, came[name], count, f"{came[name] / len(ids):.1%}") for name, count in sorted(there.items())
    )
    return View(
        text("delivered.title", delivered=len(ids), distinct=len(set(ids)), there=len(labels)),
        text("delivered.summary"),
        tuple(text(f"delivered.head_{head}") for head in ("class", "delivered", "there", "share")),
        rows,
        origin=origin,
        source_note=text("delivered.source"),
        result=came,
    )


def seconds_text(seconds: float) -> str:
    """Return a time in milliseconds below a second, else in seconds."""
    return f"{1e3 * seconds:,.3g} ms" if seconds < 0.9995 else f"{seconds:,.2f} s"


def transforms_text(conditions: LoaderConditions) -> str:
    """Return what is done to each sample, with the repeats that stand for a slow decoder."""
    words = text(f"transforms.as_{conditions.transforms}")
    if conditions.decode_repeats > 1:
        return text("transforms.repeated", words=words, times=conditions.decode_repeats)
    return words


def _cache_words(cache: CacheState) -> str:
    if cache.resident_share is None:
        return text("conditions.cache_unknown", reason=cache.reason)
    return text("conditions.cache_seen", kind=cache.kind, share=cache.resident_share)


def _given(name: str, values: Mapping[str, str]) -> dict[str, str]:
    """Return the value that one line's text has a place for."""
    return {"value": values[name]} if name in values else {}
