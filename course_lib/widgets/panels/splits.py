"""Lesson 03: which samples a split holds, what a seed fixes, and what statistics have seen."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from course_lib.datasets.origin import Origin
from course_lib.leakage.fitted import FittedOn
from course_lib.leakage.judged_split import JudgedSplit, judge_split
from course_lib.leakage.same_seed import LIBRARIES, ORDERS, DrawnAgain, drawn_again
from course_lib.widgets.controls import ChoiceControl, Control, NumberControl
from course_lib.widgets.panel import Panel
from course_lib.widgets.svg import Bar, ChartWords, bar_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, bar_view, provenance

if TYPE_CHECKING:
    import pandas

    from course_lib.leakage.detectors import Finding, Parts
    from course_lib.splits import SampleTable, Split, SplitDiff, SplitManifest

_KINDS = ("random", "stratified", "grouped", "ordered")
_RATIOS = ("70-15-15", "80-10-10", "60-20-20")


def drawn_again_view(found: Sequence[DrawnAgain], seed: int, origin: Origin) -> View:
    """Return how much of each way's first test part comes back from other orders of the same rows."""
    moved = [one for one in found if one.order != ORDERS["same"]]
    by_seed = [one.share for one in moved or found if one.way in LIBRARIES.values()]
    by_recipe = min(one.share for one in moved or found if one.way not in LIBRARIES.values())
    shares = {"least": min(by_seed), "most": max(by_seed), "recipe": by_recipe}
    return bar_view(
        text("same_seed.title", **shares) if moved else text("same_seed.title_unmoved", **shares),
        [
            Bar(one.way, 100 * one.share, one.order, shown=text("same_seed.shown", share=one.share))
            for one in found
        ],
        summary=text("same_seed.summary"),
        axis=text("same_seed.axis"),
        label_head=text("same_seed.way"),
        series_head=text("same_seed.order"),
        value_head=text("same_seed.axis"),
        limits=(0, 100),
        origin=origin,
        source_note=text("same_seed.source", seed=seed),
        result=tuple(found),
    )


def same_seed_panel(samples: SampleTable, origin: Origin) -> Panel:
    """Return a panel that draws with one seed from the file's order and from another one."""

    def compute(seed: float, share: float, order: str) -> View:
        found = drawn_again(samples, seed=int(seed), orders=[order], share=share / 100)
        return drawn_again_view(found, int(seed), origin)

    controls: dict[str, Control] = {
        "seed": NumberControl(text("split.seed"), 0, 9999, 2026),
        "share": NumberControl(text("same_seed.share"), 5, 50, 10, step=5, unit="%"),
        "order": ChoiceControl(
            text("same_seed.control"), {words: order for order, words in ORDERS.items()}, "reversed"
        ),
    }
    return Panel(text("same_seed.panel"), controls, compute)


def parts_view(split: Split | SplitManifest, origin: Origin) -> View:
    """Return the parts of a split with their sizes and the share of each class."""
    counts = split.counts() if callable(split.counts) else split.counts
    classes = tuple(dict.fromkeys(name for part in counts.values() for name in part))
    sizes = {part: sum(of_class.values()) for part, of_class in counts.items()}
    rows = tuple(
        (part, f"{sizes[part]:,}", *(f"{of_class.get(name, 0) / sizes[part]:.1%}" for name in classes))
        for part, of_class in counts.items()
    )
    listed = ", ".join(f"{size:,} {part}" for part, size in sizes.items())
    return View(
        text("parts.title", recipe=split.recipe, parts=listed),
        text("parts.summary", classes=len(classes)),
        (text("parts.part"), text("parts.samples"), *classes),
        rows,
        origin=origin,
        source_note=text("parts.source"),
        result=counts,
    )


def judged_view(
    found: Mapping[str, JudgedSplit], origin: Origin, *, pairs: Mapping[str, tuple[str, str]] | None = None
) -> View:
    """Return the AUC of several splits by name, each with what it lets the model get away with.

    The title compares the first with the last; with named ``pairs``, the two of each pair.
    """
    if pairs:
        drops = [
            text("judged.drop", drop=found[first].auc - found[second].auc, pair=name)
            for name, (first, second) in pairs.items()
        ]
        return _judged(text("judged.drops", drops=", ".join(drops)), found, origin)
    first, *_, last = found
    high, low = found[first].auc, found[last].auc
    title = text("judged.title", high=high, first=first, low=low, last=last, drop=high - low)
    return _judged(title, found, origin)


def split_panel(
    frame: pandas.DataFrame, samples: SampleTable, fields: Sequence[str], origin: Origin
) -> Panel:
    """Return a panel that splits a table by kind, ratio and seed, and scores a model on the result.

    Beside the chosen split stands the random one of the same ratio and seed.
    """
    from course_lib.splits import make_split, parse_recipe

    @lru_cache(maxsize=64)
    def judged(recipe: str, seed: int) -> JudgedSplit:
        return judge_split(frame, make_split(samples, parse_recipe(recipe, seed=seed)), fields)

    def compute(kind: str, ratio: str, seed: float) -> View:
        chosen = judged(f"{kind}-{ratio}", int(seed))
        careless = judged(f"random-{ratio}", int(seed))
        words = text(f"split.{kind}")
        title = text("judged.panel_title", auc=chosen.auc, kind=words, gap=careless.auc - chosen.auc)
        found = {text("judged.chosen", kind=words): chosen, text("judged.careless"): careless}
        return _judged(title, found, origin)

    controls: dict[str, Control] = {
        "kind": ChoiceControl(
            text("split.kind"), {text(f"split.{kind}"): kind for kind in _KINDS}, "grouped"
        ),
        "ratio": ChoiceControl(text("split.ratio"), {ratio.replace("-", " / "): ratio for ratio in _RATIOS}),
        "seed": NumberControl(text("split.seed"), 0, 9999, 2026),
    }
    return Panel(text("judged.panel"), controls, compute)


def means_view(cached: Mapping[str, float], train: Mapping[str, float], origin: Origin) -> View:
    """Return cached means beside those of the training rows."""
    rows = tuple((name, f"{mean:,.3f}", f"{train[name]:,.3f}") for name, mean in cached.items())
    other = sum(not np.isclose(mean, train[name], rtol=1e-9) for name, mean in cached.items())
    return View(
        text("means.title", other=other, fields=len(rows)),
        text("means.summary"),
        (text("moment.field"), text("means.cached"), text("means.train")),
        rows,
        origin=origin,
        source_note=text("means.source"),
        result=other,
    )


def fitted_view(found: Sequence[FittedOn], origin: Origin) -> View:
    """Return the AUC of shares of yes by profile, fitted on the training rows and on all."""
    honest, leaking = found
    return bar_view(
        text("fitted.title", rise=leaking.auc - honest.auc),
        [Bar(text("fitted.on", rows=one.rows), one.auc, shown=f"{one.auc:.3f}") for one in found],
        summary=text("fitted.summary", rows=f"{honest.test_rows:,}", profiles=f"{leaking.profiles:,}"),
        axis=text("auc.axis"),
        label_head=text("fitted.rows"),
        value_head=text("auc.value"),
        limits=(min(0.4, honest.auc), 1.0),
        origin=origin,
        source_note=text("fitted.source"),
        result=tuple(found),
    )


def diff_view(diff: SplitDiff, origin: Origin) -> View:
    """Return what differs between two manifests: how many samples, and the first of their ids."""
    rows = [
        (text("diff.moved", start=start, end=end), f"{len(ids):,}", _first_ids(ids))
        for (start, end), ids in diff.moved.items()
    ]
    for words, ids in (("added", diff.added), ("removed", diff.removed), ("changed", diff.changed)):
        rows.append((text(f"differs.{words}"), f"{len(ids):,}", _first_ids(ids)))
    moved = sum(len(ids) for ids in diff.moved.values())
    return View(
        text("diff.title", moved=f"{moved:,}"),
        text("diff.summary"),
        (text("diff.what"), text("parts.samples"), text("diff.ids")),
        tuple(rows),
        origin=origin,
        source_note=text("diff.source"),
        result=diff,
    )


def repeats_view(findings: Mapping[str, Finding], origin: Origin) -> View:
    """Return how many rows repeat an earlier one, by the fields that were left out of the comparison."""
    rows = tuple(
        (left_out, f"{finding.figures['repeats']:,}", f"{_pairs_across(finding):,}")
        for left_out, finding in findings.items()
    )
    return View(
        text("repeats.title", repeats=" / ".join(row[1] for row in rows)),
        text("repeats.summary"),
        (text("repeats.left_out"), text("repeats.repeats"), text("repeats.pairs")),
        rows,
        origin=origin,
        source_note=text("repeats.source"),
        result=dict(findings),
    )


def similar_images_view(
    finding: Finding, parts: Parts, pixels: NDArray[np.uint8], origin: Origin, *, most: int = 8
) -> View:
    """Return pairs of similar images as a contact sheet, and their ids as a table.

    Parameters
    ----------
    finding : Finding
        Of near duplicates among ``pixels``.
    parts : Parts
        The ids of ``pixels``.
    pixels : ndarray of uint8, shape (samples, height, width, 3)
    origin : Origin
        Of the images.
    most : int, optional
        Pairs to show.
    """
    pairs = finding.together[:most]
    figure = _contact_sheet_svg(pairs, parts, pixels, origin) if pairs else ""
    return View(
        text("similar.title", pairs=len(finding.together), images=f"{len(parts):,}"),
        finding.sentence,
        (text("similar.one"), text("similar.other")) if pairs else (),
        tuple(pair[:2] for pair in pairs),
        figure,
        origin=origin,
        source_note=text("finding.source"),
        result=finding,
    )


def _contact_sheet_svg(
    pairs: Sequence[Sequence[str]], parts: Parts, pixels: NDArray[np.uint8], origin: Origin
) -> str:
    from course_lib.leakage.detectors import contact_sheet

    place = {sample_id: at for at, sample_id in enumerate(parts.ids)}
    sheet = contact_sheet(pairs, lambda sample_id: pixels[place[sample_id]], caption=origin.label())
    png = io.BytesIO()
    sheet.save(png, format="PNG")
    data = base64.b64encode(png.getvalue()).decode("ascii")
    width, height = sheet.size
    words = escape(text("similar.sheet", pairs=len(pairs)))
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" style="max-width:100%" '
        f'aria-label="{words}">'
        f'<image href="data:image/png;base64,{data}" width="{width}" height="{height}"/></svg>'
    )


def findings_view(findings: Mapping[str, Finding], origin: Origin) -> View:
    """Return what detectors said, each under the name of what was looked at, with ids and no rows."""
    rows = tuple(
        (name, finding.title, text(f"result.{finding.status.replace(' ', '_')}"), finding.sentence)
        for name, finding in findings.items()
    )
    found = sum(finding.status == "found" for finding in findings.values())
    return View(
        text("finding.title", found=found, looked=len(rows)),
        text("finding.summary"),
        (text("finding.where"), text("finding.kind"), text("finding.status"), text("finding.sentence")),
        rows,
        origin=origin,
        source_note=text("finding.source"),
        result=dict(findings),
    )


def _judged(title: str, found: Mapping[str, JudgedSplit], origin: Origin) -> View:
    bars = [
        Bar(name, one.auc, low=one.interval[0], high=one.interval[1], shown=f"{one.auc:.3f}")
        for name, one in found.items()
    ]
    note = text("judged.source", recipes=", ".join(dict.fromkeys(one.recipe for one in found.values())))
    figure = bar_chart(
        bars,
        title=title,
        axis=text("auc.axis"),
        limits=(min(0.5, *(one.interval[0] for one in found.values())), 1.0),
        corner=provenance(origin, note),
        words=ChartWords(text("chart.prediction"), text("chart.no_value"), text("auc.interval")),
    )
    rows = tuple(
        (
            name,
            f"{one.auc:.3f}",
            text("auc.between", low=one.interval[0], high=one.interval[1]),
            f"{one.test_rows:,}",
            f"{one.acquainted / one.test_rows:.0%}",
            f"{one.overtaken / one.test_rows:.0%}",
        )
        for name, one in found.items()
    )
    columns = (
        text("split.split"),
        text("auc.value"),
        text("auc.interval"),
        text("auc.test_rows"),
        text("judged.acquainted"),
        text("judged.overtaken"),
    )
    return View(
        title, text("judged.summary"), columns, rows, figure, origin, note, result=tuple(found.values())
    )


def _pairs_across(finding: Finding) -> int:
    return int(finding.figures["pairs"]) + int(finding.figures.get("identical_pairs", 0))


def _first_ids(ids: Sequence[str]) -> str:
    shown = [str(name) for name in ids[:3]]
    return ", ".join(shown) + (" ..." if len(ids) > len(shown) else "") if shown else text("diff.none")
