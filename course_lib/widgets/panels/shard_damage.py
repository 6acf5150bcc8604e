"""Lesson 06: damaged shards as readers and checks meet them, and shuffling as it mixes."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.widgets.controls import ChoiceControl, Control, NumberControl
from course_lib.widgets.panel import Panel
from course_lib.widgets.svg import Bar, bar_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, provenance

if TYPE_CHECKING:
    from course_lib.shards import Coverage, Mixing, Repair, ShardSet
    from course_lib.shards.staged import BitFlips

_SCALE = 7
_GAP = 12


def strict_view(
    errors: Mapping[str, CourseError | None], folders: Mapping[str, Path], origin: Origin
) -> View:
    """Return what a strict reader says of each damaged set, without the long names of the sets' folders."""
    named = sum(error is not None for error in errors.values())
    rows = tuple(
        (damage, error.what.replace(f" of {folders[damage]}", ""), str(error.found or ""))
        if error
        else (damage, text("damage.read_through"), "")
        for damage, error in errors.items()
    )
    return View(
        text("damage.strict_title", named=named, tried=len(rows)),
        text("damage.strict_summary"),
        tuple(text(f"damage.head_{head}") for head in ("damage", "said", "found")),
        rows,
        origin=origin,
        source_note=text("damage.source"),
        result=dict(errors),
    )


def coverage_view(found: Mapping[str, Coverage], origin: Origin) -> View:
    """Return what a tolerant reader delivered of each damaged set, and which classes lost most."""
    rows = []
    for damage, coverage in found.items():
        counts = zip(coverage.class_names, coverage.failed, coverage.planned, strict=True)
        worst, failed, planned = max((each for each in counts if each[2]), key=lambda each: each[1] / each[2])
        rows.append(
            (
                damage,
                f"{sum(coverage.planned):,}",
                f"{sum(coverage.delivered):,}",
                f"{sum(coverage.failed):,}",
                _share_text(coverage),
                text("damage.worst", name=worst, failed=failed, planned=planned),
            )
        )
    least = min(found, key=lambda damage: found[damage].share)
    return View(
        text("damage.coverage_title", share=_share_text(found[least]), damage=least),
        text("damage.coverage_summary"),
        tuple(
            text(f"damage.head_{head}")
            for head in ("damage", "planned", "delivered", "failed", "coverage", "class")
        ),
        tuple(rows),
        origin=origin,
        source_note=text("damage.source"),
        result=dict(found),
    )


def repairs_view(repairs: Mapping[str, Repair], origin: Origin) -> View:
    """Return what was written anew in each damaged set, and whether all bytes are the manifest's again."""
    rows = tuple(
        (
            damage,
            ", ".join(repair.rewritten),
            len(repair.before.findings),
            len(repair.after.findings),
        )
        for damage, repair in repairs.items()
    )
    whole = sum(repair.after.ok for repair in repairs.values())
    return View(
        text("damage.repair_title", whole=whole, sets=len(rows)),
        text("damage.repair_summary"),
        tuple(text(f"damage.head_{head}") for head in ("damage", "rewritten", "before", "after")),
        rows,
        origin=origin,
        source_note=text("damage.repair_source"),
        result=dict(repairs),
    )


def flips_view(flips: BitFlips, identifier: str, origin: Origin) -> View:
    """Return what became of single flipped bits, with the image before and after one that went unnoticed."""
    at, bit = flips.place
    counted = (
        (text("damage.flip_other"), flips.other_pixels),
        (text("damage.flip_unchanged"), flips.unchanged),
        (text("damage.flip_refused"), flips.refused),
    )
    words = text("damage.flip_pictures", id=identifier, byte=at, bit=bit)
    figure = _side_by_side(flips.before, flips.after, words) if flips.other_pixels else ""
    return View(
        text("damage.flip_title", other=flips.other_pixels, tried=flips.tried),
        text("damage.flip_summary", id=identifier, byte=at, of=flips.payload_bytes),
        (text("damage.flip_head"), text("damage.flip_count"), text("damage.flip_share")),
        tuple((name, f"{count:,}", f"{count / flips.tried:.0%}") for name, count in counted),
        figure,
        origin=origin,
        source_note=text("damage.flip_source", tried=flips.tried),
        result=flips,
    )


def mixing_view(found: Mapping[str, Mixing], origin: Origin) -> View:
    """Return how several orders mix, each beside a full permutation of the same samples."""
    bars = [
        Bar(name, gap, series, shown=f"{gap:.3f}")
        for name, mixing in found.items()
        for series, gap in (
            (text("mixing.this"), mixing.class_gap),
            (text("mixing.permuted"), mixing.class_gap_permuted),
        )
    ]
    worse = [name for name, mixing in found.items() if not mixing.like_a_permutation]
    title = text("mixing.worse", names=", ".join(worse)) if worse else text("mixing.alike")
    some = next(iter(found.values()))
    note = text("mixing.source", samples=some.samples, batch=some.batch_size)
    rows = tuple(
        (
            name,
            f"{mixing.class_gap:.3f}",
            f"{mixing.class_gap_permuted:.3f}",
            f"{mixing.distance_moved:.1%}",
            f"{mixing.repeats:.1%}",
            f"{mixing.repeats_permuted:.1%}",
            text("mixing.like") if mixing.like_a_permutation else text("mixing.not_like"),
        )
        for name, mixing in found.items()
    )
    return View(
        title,
        text("mixing.summary"),
        tuple(
            text(f"mixing.head_{head}")
            for head in ("order", "gap", "gap_permuted", "moved", "repeats", "repeats_permuted", "verdict")
        ),
        rows,
        bar_chart(
            bars,
            title=title,
            axis=text("mixing.axis"),
            corner=provenance(origin, note),
        ),
        origin,
        note,
        dict(found),
    )


def mixing_panel(sets: Mapping[str, ShardSet], origin: Origin) -> Panel:
    """Return a panel that shuffles one of several sets through a buffer and measures how it mixes."""
    from course_lib.shards import OrderRecipe, measure_mixing

    def compute(packed: str, buffer: float, batch: float) -> View:
        chosen = sets[packed]
        recipes = {
            text("mixing.none"): OrderRecipe("none"),
            text("mixing.buffer", buffer=int(buffer)): OrderRecipe("shards+buffer", buffer=int(buffer)),
            text("mixing.full"): OrderRecipe("full"),
        }
        return mixing_view(
            {name: measure_mixing(chosen, recipe, int(batch)) for name, recipe in recipes.items()}, origin
        )

    names = list(sets)
    most = min(len(shards) for shards in sets.values())
    controls: dict[str, Control] = {
        "packed": ChoiceControl(text("mixing.packed"), {name: name for name in names}, names[-1]),
        "buffer": NumberControl(text("mixing.samples"), 1, most, min(100, most)),
        "batch": NumberControl(text("mixing.batch"), 8, 256, 64, step=8),
    }
    return Panel(text("mixing.panel"), controls, compute)


def _share_text(coverage: Coverage) -> str:
    """Return the delivered share with as many digits as it takes to see that it is no 100%."""
    lost = 1 - coverage.share
    digits = max(2, math.ceil(-math.log10(lost)) - 1) if 0 < lost < 1 else 2
    return f"{coverage.share:.{digits}%}"


def _side_by_side(before: NDArray[Any], after: NDArray[Any], words: str) -> str:
    height, width = before.shape[:2]
    each = f'width="{width * _SCALE}" height="{height * _SCALE}" style="image-rendering:pixelated"'
    pictures = [_picture(pixels) for pixels in (before, after)]
    labels = (text("damage.flip_before"), text("damage.flip_after"))
    step = width * _SCALE + _GAP
    total, tall = 2 * width * _SCALE + _GAP, height * _SCALE + 24
    parts = [
        f'<image x="{place * step}" y="24" {each} href="data:image/png;base64,{data}"/>'
        f'<text x="{place * step}" y="16" font-size="14" fill="currentColor">{escape(label)}</text>'
        for place, (data, label) in enumerate(zip(pictures, labels, strict=True))
    ]
    return (
        f'<svg viewBox="0 0 {total} {tall}" width="{total}" role="img" style="max-width:min(100%,{total}px)" '
        f'font-family="system-ui, sans-serif" aria-label="{escape(words)}">{"".join(parts)}</svg>'
    )


def _picture(pixels: NDArray[Any]) -> str:
    from PIL import Image

    content = io.BytesIO()
    Image.fromarray(pixels).save(content, format="PNG")
    return base64.b64encode(content.getvalue()).decode("ascii")
