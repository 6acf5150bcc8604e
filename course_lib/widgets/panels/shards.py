"""Lesson 06: what a shard set holds, what its containers cost, and the case of a million files."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING

from course_lib.datasets.origin import Origin
from course_lib.shards.case import ShardCase, operation_seconds
from course_lib.units import format_bytes, format_seconds
from course_lib.widgets.controls import Control, NumberControl
from course_lib.widgets.panel import Panel
from course_lib.widgets.svg import Bar, bar_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance

if TYPE_CHECKING:
    from course_lib.shards import ShardSet, ShardVerification
    from course_lib.shards.staged import ScanAgainstIndex

SECONDS_PER_LOOK_UP, SECONDS_PER_OPEN = 0.001, 0.002
"""Set for the case; look-ups of a scan, and opens of an epoch."""

_MOST_SHARDS_SHOWN, _ROWS_SHOWN = 8, 4
_RECORD_SIZES = (500, 1_000, 4_000, 40_000, 400_000)


def case_view(samples: float, kilobytes: float, megabytes: float) -> View:
    """Return files and shards of the case side by side: how many, how large, and what set times make of it.

    Parameters
    ----------
    samples : float
        Files, one for each sample.
    kilobytes, megabytes : float
        Payload of a sample, and target of a shard.
    """
    case = ShardCase(int(samples), round(1_000 * kilobytes), round(1_000_000 * megabytes))
    counts = (
        (text("shards.case_files"), case.samples, case.payload_bytes, 0.0),
        (text("shards.case_shards"), case.shards_packed, case.packed_bytes, case.overhead),
    )
    rows = tuple(
        (
            name,
            f"{count:,}",
            format_bytes(size),
            f"{overhead:.1%}",
            format_seconds(operation_seconds(count, SECONDS_PER_LOOK_UP)),
            format_seconds(operation_seconds(count, SECONDS_PER_OPEN)),
        )
        for name, count, size, overhead in counts
    )
    return View(
        text("shards.case_title", shards=case.shards_by_payload, packed=case.shards_packed),
        text("shards.case_summary", each=case.samples_per_shard, record=case.record_bytes),
        tuple(
            text(f"shards.case_head_{head}")
            for head in ("layout", "count", "bytes", "overhead", "scan", "opens")
        ),
        rows,
        source_note=text(
            "shards.case_source",
            look_up=format_seconds(SECONDS_PER_LOOK_UP),
            opens=format_seconds(SECONDS_PER_OPEN),
        ),
        result=case,
    )


def case_panel() -> Panel:
    """Return the calculator of the case: samples, KB of a sample, MB of a shard."""
    controls: dict[str, Control] = {
        "samples": NumberControl(text("shards.samples"), 1_000, 10_000_000, 1_000_000, step=1_000),
        "kilobytes": NumberControl(text("shards.kilobytes"), 0.1, 4_000.0, 40.0, step=0.1, unit="KB"),
        "megabytes": NumberControl(text("shards.megabytes"), 1, 4_000, 256, unit="MB"),
    }
    return Panel(text("shards.case_panel"), controls, case_view)


def overhead_view(sizes: Sequence[int] = _RECORD_SIZES) -> View:
    """Return what the tar container adds to payloads of several sizes."""
    cases = [ShardCase(1_000_000, size) for size in sizes]
    title = text(
        "shards.overhead_title",
        small=format_bytes(cases[0].sample_bytes),
        most=cases[0].overhead + 1,
        large=format_bytes(cases[-1].sample_bytes),
        least=cases[-1].overhead,
    )
    note = text("shards.overhead_source")
    figure = bar_chart(
        [
            Bar(
                format_bytes(case.sample_bytes),
                100 * case.overhead,
                shown=text("shards.percent", share=case.overhead),
            )
            for case in cases
        ],
        title=title,
        axis=text("shards.overhead_axis"),
        corner=provenance(None, note),
    )
    rows = tuple(
        (
            format_bytes(case.sample_bytes),
            f"{case.record_bytes:,} B",
            f"{case.overhead:.1%}",
            f"{case.shards_packed:,}",
        )
        for case in cases
    )
    return View(
        title,
        text("shards.overhead_summary"),
        tuple(text(f"shards.overhead_head_{head}") for head in ("payload", "record", "adds", "shards")),
        rows,
        figure,
        source_note=note,
        result=cases,
    )


def scale_view(found: ScanAgainstIndex) -> View:
    """Return what it took to look up the files that were made, and to open an index of many more rows."""
    scan, index = statistics.median(found.scan_seconds), statistics.median(found.index_seconds)
    rows = tuple(
        (
            text(f"shards.way_{kind}"),
            f"{count:,}",
            format_seconds(median),
            text("shards.between", low=format_seconds(min(values)), high=format_seconds(max(values))),
            format_seconds(1e6 * median / count),
        )
        for kind, count, median, values in (
            ("scan", found.files, scan, found.scan_seconds),
            ("index", found.entries, index, found.index_seconds),
        )
    )
    return View(
        text(
            "shards.scale_title",
            files=found.files,
            scan=format_seconds(scan),
            entries=found.entries,
            index=format_seconds(index),
        ),
        text("shards.scale_summary", size=format_bytes(found.index_file_bytes)),
        tuple(text(f"shards.scale_head_{head}") for head in ("way", "count", "time", "range", "million")),
        rows,
        source_note=text("shards.scale_source", files=found.files, repeats=len(found.scan_seconds)),
        result=found,
    )


def shard_set_view(shards: ShardSet, origin: Origin) -> View:
    """Return what the shard manifest says: the shards with bytes, samples and digest, and the set's data."""
    manifest = shards.manifest
    rows = [
        (shard.name, f"{shard.samples:,}", format_bytes(shard.bytes), f"{shard.sha256[:12]}...")
        for shard in manifest.shards[:_MOST_SHARDS_SHOWN]
    ]
    more = manifest.shards[_MOST_SHARDS_SHOWN:]
    if more:
        size = format_bytes(sum(shard.bytes for shard in more))
        rows.append((text("shards.more", count=len(more)), f"{sum(s.samples for s in more):,}", size, ""))
    return View(
        text(
            "shards.set_title",
            samples=manifest.samples,
            shards=len(manifest.shards),
            split=manifest.split,
            ratio=manifest.shard_bytes / manifest.payload_bytes,
        ),
        text(
            "shards.set_summary",
            split=manifest.split_digest[:12],
            data=manifest.data_digest[:12],
            order=manifest.recipe["order"],
            seed=manifest.recipe.get("seed", text("table.none")),
            code=manifest.code_version,
        ),
        tuple(text(f"shards.set_head_{head}") for head in ("shard", "samples", "bytes", "digest")),
        tuple(rows),
        origin=origin,
        source_note=text("shards.set_source"),
        result=manifest,
    )


def index_view(shards: ShardSet, origin: Origin) -> View:
    """Return the first rows of the index: id, label, and where the record and its payload begin and end."""
    manifest = shards.manifest
    rows = tuple(
        (
            row["id"].decode(),
            f"{row['label']} ({manifest.class_names[row['label']]})",
            manifest.shards[row["shard"]].name,
            f"{row['offset']:,}",
            f"{row['start']:,}",
            f"{row['length']:,} B",
            f"{row['extent']:,} B",
            f"{row['check']:016x}"[:8] + "...",
        )
        for row in shards.index[:_ROWS_SHOWN]
    )
    return View(
        text("shards.index_title", rows=len(shards), size=format_bytes(manifest.index.bytes)),
        text("shards.index_summary"),
        tuple(
            text(f"shards.index_head_{head}")
            for head in ("id", "label", "shard", "offset", "start", "length", "extent", "check")
        ),
        rows,
        origin=origin,
        source_note=text("shards.index_source", shown=len(rows)),
        result=shards.index[:_ROWS_SHOWN],
    )


def verified_view(found: dict[str, ShardVerification], origin: Origin) -> View:
    """Return what a verification of several sets says, each under its name."""
    rows = tuple(
        (
            name,
            f"{one.samples:,}",
            format_bytes(one.bytes_read),
            text("shards.nothing_wrong") if one.ok else f"{len(one.findings)}",
            _first_sentence(one),
        )
        for name, one in found.items()
    )
    wrong = sum(not one.ok for one in found.values())
    return View(
        text("shards.verified_title", sets=len(rows), wrong=wrong),
        text("shards.verified_summary"),
        tuple(
            text(f"shards.verified_head_{head}") for head in ("set", "samples", "bytes", "found", "sentence")
        ),
        rows,
        origin=origin,
        source_note=text("shards.verified_source"),
        result=dict(found),
    )


def _first_sentence(verification: ShardVerification) -> str:
    return verification.sentences[0] if verification.sentences else ""
