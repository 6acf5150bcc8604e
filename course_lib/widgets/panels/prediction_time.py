"""Lesson 01: which fields a decision may use, what forgetting it costs, and how the world drifts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from course_lib.datasets.origin import Origin
from course_lib.leakage.availability import AvailabilityAudit, audit
from course_lib.leakage.comparison import AucComparison, AucFigure, compare_auc
from course_lib.leakage.drift import yes_share_around_cut, yes_share_by_block
from course_lib.leakage.holdout import SPLITS, SplitKind
from course_lib.leakage.models import MODELS
from course_lib.manifests import DataManifest
from course_lib.widgets.controls import ChoiceControl, NumberControl
from course_lib.widgets.panel import Panel
from course_lib.widgets.svg import Bar, line_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, bar_view, provenance

if TYPE_CHECKING:
    from course_lib.datasets.bank_marketing import Table

_BLOCKS = 20


def moment_view(found: AvailabilityAudit) -> View:
    """Return an audit as a count of fields by verdict and a table with each field's reason."""
    counts = {
        text("moment.usable"): len(found.usable),
        text("moment.doubtful"): len(found.doubtful),
        text("moment.not_usable"): len(found.not_usable + found.undescribed),
    }
    view = bar_view(
        text("moment.title", at=found.at_title, usable=len(found.usable), refused=len(found.not_usable)),
        [Bar(label, count) for label, count in counts.items()],
        summary=found.note or text("moment.summary"),
        axis=text("moment.axis"),
        label_head=text("moment.verdict"),
        value_head=text("moment.axis"),
        limits=(0, len(found.rows)),
        source_note=text("moment.source", dataset=found.dataset),
        result=found,
    )
    columns = (text("moment.field"), text("moment.verdict"), text("moment.known_at"), text("moment.reason"))
    rows = tuple((row.field, row.verdict, row.known_at, row.reason) for row in found.rows)
    return View(
        view.title, view.summary, columns, rows, view.figure_svg, None, view.source_note, result=found
    )


def moment_panel(manifest: DataManifest) -> Panel:
    """Return a panel that audits ``manifest`` for the decision moment that is chosen."""
    return Panel(
        text("moment.panel"), {"at": _moment_control(manifest)}, lambda at: moment_view(audit(manifest, at))
    )


def _moment_control(manifest: DataManifest) -> ChoiceControl:
    return ChoiceControl(
        text("moment.control"), {moment.title: moment.id for moment in manifest.moments}, "before_call"
    )


def auc_view(comparison: AucComparison, origin: Origin) -> View:
    """Return a comparison of field sets and splits, with the finding that its own figures support."""
    drops = {
        "field": comparison.drop(("all fields", "random"), ("known in time", "random")),
        "split": comparison.drop(("all fields", "random"), ("all fields", "ordered")),
        "both": comparison.drop(("all fields", "random"), ("known in time", "ordered")),
    }
    return bar_view(
        text("auc.title", **drops),
        [_auc_bar(figure, figure.fields, SPLITS[figure.split]) for figure in comparison.figures],
        summary=text("auc.summary", honest=comparison.figure("known in time", "ordered").auc),
        axis=text("auc.axis"),
        label_head=text("auc.fields"),
        series_head=text("auc.split"),
        value_head=text("auc.value"),
        range_name=text("auc.interval"),
        limits=(0.5, 1.0),
        origin=origin,
        source_note=text("auc.source", model=MODELS[comparison.model], seed=comparison.seed),
        result=comparison,
    )


def auc_table(comparisons: Mapping[str, AucComparison], title: str, origin: Origin) -> View:
    """Return several comparisons as one table, each under its name, with the shares of yes behind them."""
    columns = (
        text("auc.what"),
        text("auc.fields"),
        text("auc.split"),
        text("auc.value"),
        text("auc.interval"),
        text("auc.test_rows"),
        text("auc.train_yes"),
        text("auc.test_yes"),
    )
    rows = tuple(
        (
            name,
            figure.fields,
            SPLITS[figure.split],
            f"{figure.auc:.3f}",
            text("auc.between", low=figure.interval[0], high=figure.interval[1]),
            figure.test_rows,
            f"{figure.train_yes_share:.1%}",
            f"{figure.test_yes_share:.1%}",
        )
        for name, comparison in comparisons.items()
        for figure in comparison.figures
    )
    models = " / ".join(dict.fromkeys(MODELS[comparison.model] for comparison in comparisons.values()))
    note = text("auc.table_source", model=models)
    return View(title, text("auc.table_summary"), columns, rows, "", origin, note, result=dict(comparisons))


def _auc_bar(figure: AucFigure, label: str, series: str = "") -> Bar:
    low, high = figure.interval
    return Bar(label, figure.auc, series, low=low, high=high, shown=f"{figure.auc:.3f}")


def auc_panel(table: Table) -> Panel:
    """Return a panel that measures one AUC for a decision moment, a split and a model.

    Beside the chosen figure stands the careless one: every field, random split, same model.
    """
    label = table.manifest.label_field.name
    everything = tuple(name for name in table.manifest.field_names if name != label)

    @lru_cache(maxsize=64)
    def measured(fields: tuple[str, ...], split: SplitKind, model: str) -> AucFigure:
        return compare_auc(table.frame, label, {"chosen": fields}, splits=[split], model=model).figures[0]

    def compute(at: str, split: SplitKind, model: str) -> View:
        found = audit(table.manifest, at)
        chosen = measured(found.named("usable", "doubtful"), split, model)
        careless = measured(everything, "random", model)
        return bar_view(
            text("auc.panel_title", auc=chosen.auc, at=found.at_title, split=SPLITS[split]),
            [
                _auc_bar(chosen, text("auc.chosen", at=found.at_title)),
                _auc_bar(careless, text("auc.careless")),
            ],
            summary=found.note or text("auc.panel_summary", gap=careless.auc - chosen.auc),
            axis=text("auc.axis"),
            label_head=text("auc.what"),
            value_head=text("auc.value"),
            range_name=text("auc.interval"),
            limits=(min(0.5, chosen.interval[0]), 1.0),
            origin=table.origin,
            source_note=text("auc.source", model=MODELS[model], seed=0),
            result=chosen,
        )

    controls = {
        "at": _moment_control(table.manifest),
        "split": ChoiceControl(text("auc.split"), {title: kind for kind, title in SPLITS.items()}),
        "model": ChoiceControl(text("auc.model"), {title: model for model, title in MODELS.items()}),
    }
    return Panel(text("auc.panel"), controls, compute, manual=True)


def drift_view(labels: tuple[str, ...], cut_percent: float, origin: Origin) -> View:
    """Return the share of yes through time and on both sides of a cut at ``cut_percent`` of the rows."""
    shares = yes_share_by_block(labels, blocks=_BLOCKS)
    before, after = yes_share_around_cut(labels, cut_percent / 100)
    cut = round(len(labels) * cut_percent / 100)
    title = text("drift.title", before=before, after=after)
    source = text("drift.source", blocks=_BLOCKS)
    points = [((block + 0.5) * 100 / _BLOCKS, 100 * share) for block, share in enumerate(shares)]
    figure = line_chart(
        {text("drift.line"): points},
        title=title,
        x_axis=text("drift.x_axis"),
        y_axis=text("drift.y_axis"),
        x_limits=(0, 100),
        marks={text("drift.mark", percent=cut_percent): cut_percent},
        corner=provenance(origin, source),
    )
    rows = (
        (text("drift.before"), cut, f"{before:.1%}"),
        (text("drift.after"), len(labels) - cut, f"{after:.1%}"),
    )
    columns = (text("drift.side"), text("drift.rows"), text("drift.share"))
    return View(title, text("drift.summary"), columns, rows, figure, origin, source, result=(before, after))


def drift_panel(table: Table) -> Panel:
    """Return a panel with one slider: where the rows, in the order of time, are cut in two."""
    labels = tuple(table.frame[table.manifest.label_field.name])
    cut = NumberControl(text("drift.control"), 50, 95, 80, unit="%")
    return Panel(
        text("drift.panel"),
        {"cut_percent": cut},
        lambda cut_percent: drift_view(labels, cut_percent, table.origin),
    )
