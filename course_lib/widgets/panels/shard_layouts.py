"""Lesson 06: files against shards in time, and the proof that both are the same to a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from course_lib.experiments.layout_timing import LAYOUTS, LayoutSetting
from course_lib.units import format_bytes
from course_lib.widgets.panels.dataloader_timing import seconds_text
from course_lib.widgets.svg import Bar, bar_chart, line_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, bar_view, provenance

if TYPE_CHECKING:
    from course_lib.experiments.layout_equality import LayoutEquality
    from course_lib.experiments.layout_timing import EpochShares, LayoutTiming


_PARTS = ("saved", "decoding", "remaining")


def epochs_view(timing: LayoutTiming, transforms: str) -> View:
    """Return a whole epoch from either layout under each store and number of workers.

    Parameters
    ----------
    timing : LayoutTiming
    transforms : {"bytes", "decode"}
        Which of the measured settings.
    """
    settings = [setting for setting in timing.settings() if setting.transforms == transforms]
    verdicts = {setting: timing.epoch_verdict(setting) for setting in settings}
    winners = [(verdict.winner or "").removeprefix("layout ") for verdict in verdicts.values()]
    title = text(
        "two_layouts.title",
        what=text(f"two_layouts.as_{transforms}"),
        shards=winners.count("shards"),
        files=winners.count("files"),
        noise=winners.count(""),
        settings=len(settings),
    )
    times = {
        (setting, layout): timing.epoch_seconds(setting, layout) for setting in settings for layout in LAYOUTS
    }
    bars = [
        Bar(
            _named(setting),
            found.median,
            text(f"two_layouts.from_{layout}"),
            low=found.low,
            high=found.high,
            shown=seconds_text(found.median),
        )
        for (setting, layout), found in times.items()
    ]
    note = layout_note(timing)
    rows = tuple(
        (
            setting.store,
            setting.workers,
            *(_range(times[setting, layout]) for layout in LAYOUTS),
            f"{times[setting, 'files'].median / times[setting, 'shards'].median:.2f}",
            winner or text("two_layouts.noise"),
        )
        for setting, winner in zip(settings, winners, strict=True)
    )
    return View(
        title,
        " ".join([text("two_layouts.summary"), *timing.notes]),
        tuple(
            text(f"two_layouts.head_{head}")
            for head in ("store", "workers", "files", "shards", "ratio", "ahead")
        ),
        rows,
        bar_chart(
            bars,
            title=title,
            axis=text("two_layouts.axis"),
            corner=provenance(timing.origin, note),
        ),
        timing.origin,
        note,
        verdicts,
    )


def shares_view(timing: LayoutTiming) -> View:
    """Return how much of an epoch goes with the files, how much is decoding, and what remains."""
    shares = timing.all_shares()
    bars = [
        Bar(
            _named(LayoutSetting("decode", each.open_ms, each.workers)),
            getattr(each, f"{part}_seconds"),
            text(f"two_layouts.share_{part}"),
            shown=seconds_text(getattr(each, f"{part}_seconds")),
        )
        for each in shares
        for part in _PARTS
    ]
    said = "; ".join(
        text(
            "two_layouts.largest",
            setting=_named(LayoutSetting("decode", each.open_ms, each.workers)),
            part=_largest_part(each),
        )
        for each in shares
        if each.workers == min(one.workers for one in shares)
    )
    rows = tuple(
        (
            LayoutSetting("decode", each.open_ms, each.workers).store,
            each.workers,
            seconds_text(each.files_seconds),
            *(
                text(
                    "two_layouts.part_of",
                    seconds=seconds_text(getattr(each, f"{part}_seconds")),
                    share=getattr(each, f"{part}_seconds") / each.files_seconds,
                )
                for part in _PARTS
            ),
            text("table.yes") if each.verdict.winner else text("table.no"),
        )
        for each in shares
    )
    note = layout_note(timing)
    title = text("two_layouts.shares_title", said=said)
    return View(
        title,
        text("two_layouts.shares_summary"),
        (
            text("two_layouts.head_store"),
            text("two_layouts.head_workers"),
            text("two_layouts.head_epoch"),
            *(text(f"two_layouts.share_{part}") for part in _PARTS),
            text("two_layouts.head_outside"),
        ),
        rows,
        bar_chart(
            bars, title=title, axis=text("two_layouts.part_axis"), corner=provenance(timing.origin, note)
        ),
        timing.origin,
        note,
        shares,
    )


def break_even_view(timing: LayoutTiming) -> View:
    """Return packing time and the epochs after which it has paid for itself, with decoding."""
    evens = [timing.break_even(setting) for setting in timing.settings() if setting.transforms == "decode"]
    paid = [one.epochs for one in evens if one.epochs is not None]
    title = (
        text("two_layouts.paid", epochs=_span(min(paid), max(paid)), count=len(paid), settings=len(evens))
        if paid
        else text("two_layouts.never", settings=len(evens))
    )
    rows = tuple(
        (
            one.setting.store,
            one.setting.workers,
            _range(one.packing),
            seconds_text(one.saved_seconds),
            text("two_layouts.never_here") if one.epochs is None else f"{one.epochs:,.1f}",
        )
        for one in evens
    )
    return View(
        title,
        text("two_layouts.even_summary"),
        tuple(
            text(f"two_layouts.head_{head}") for head in ("store", "workers", "packing", "saved", "epochs")
        ),
        rows,
        origin=timing.origin,
        source_note=layout_note(timing),
        result=evens,
    )


def held_view(equality: LayoutEquality) -> View:
    """Return what files and shards hold, compared by digests that were taken from each layout alone."""
    table = equality.proof_table()
    equal = int((table["equal"] == "yes").sum())
    return View(
        text("two_layouts.held_title", equal=equal, compared=len(table)),
        text("two_layouts.held_summary"),
        tuple(
            text(f"two_layouts.head_{head}") for head in ("part", "what", "in_files", "in_shards", "equal")
        ),
        tuple(tuple(row) for row in table.itertuples(index=False)),
        origin=equality.origin,
        source_note=text("two_layouts.held_source"),
        result=equality.same_samples,
    )


def trained_view(equality: LayoutEquality) -> View:
    """Return macro-F1 of the same model from both layouts, seed by seed, against the spread over seeds."""
    table = equality.score_table().rename(
        columns={"macro-F1 from files": "files", "macro-F1 from shards": "shards"}
    )
    bars = [
        Bar(
            text("two_layouts.seed", seed=row.seed),
            getattr(row, layout),
            text(f"two_layouts.from_{layout}"),
            shown=f"{getattr(row, layout):.4f}",
        )
        for row in table.itertuples(index=False)
        for layout in LAYOUTS
    ]
    largest = max(map(abs, equality.differences))
    words = {"largest": largest, "spread": equality.spread}
    title = (
        text("two_layouts.inside", **words)
        if equality.inside_spread
        else text("two_layouts.outside", **words)
    )
    same = text("two_layouts.same_weights") if equality.same_weights else text("two_layouts.other_weights")
    note = training_note(equality)
    rows = tuple(
        (
            str(row["seed"]),
            f"{row['files']:.4f}",
            f"{row['shards']:.4f}",
            f"{row['difference']:+.4f}",
            row["same order"],
            row["same weights"],
        )
        for row in table.to_dict("records")
    )
    return View(
        title,
        f"{same} {text('two_layouts.trained_summary')}",
        tuple(
            text(f"two_layouts.head_{head}")
            for head in ("seed", "f1_files", "f1_shards", "difference", "order", "weights")
        ),
        rows,
        bar_chart(
            bars, title=title, axis=text("two_layouts.f1_axis"), corner=provenance(equality.origin, note)
        ),
        equality.origin,
        note,
        equality.differences,
    )


def recall_view(equality: LayoutEquality) -> View:
    """Return the recall of each class from either layout, as a mean over the seeds."""
    table = equality.recall_table()
    found = {
        row["class"]: (row["recall from files"], row["recall from shards"]) for _, row in table.iterrows()
    }
    gap = max(abs(files - shards) for files, shards in found.values())
    return bar_view(
        text("two_layouts.recall_title", gap=gap),
        [
            Bar(name, value, text(f"two_layouts.from_{layout}"), shown=f"{value:.3f}")
            for name, values in found.items()
            for layout, value in zip(LAYOUTS, values, strict=True)
        ],
        summary=text("two_layouts.recall_summary"),
        axis=text("two_layouts.recall_axis"),
        label_head=text("two_layouts.head_class"),
        series_head=text("two_layouts.head_layout"),
        value_head=text("two_layouts.recall_axis"),
        limits=(0, 1),
        origin=equality.origin,
        source_note=training_note(equality),
        result=found,
    )


def curves_view(equality: LayoutEquality) -> View:
    """Return the loss on the test part after each epoch, from either layout, for each seed."""
    models = sorted(equality.models, key=lambda model: (model.seed, model.layout))
    lines = {
        text("two_layouts.curve", seed=model.seed, layout=text(f"two_layouts.from_{model.layout}")): [
            (epoch, loss) for epoch, loss in enumerate(model.loss, 1)
        ]
        for model in models
        if model.seed == equality.seeds[0]
    }
    of = {(model.layout, model.seed): model.loss for model in models}
    gap = max(
        abs(files - shards)
        for seed in equality.seeds
        for files, shards in zip(of["files", seed], of["shards", seed], strict=True)
    )
    note = training_note(equality)
    title = text("two_layouts.curve_title", gap=gap)
    epochs = range(1, len(models[0].loss) + 1)
    rows = tuple(
        (str(model.seed), text(f"two_layouts.from_{model.layout}"), *(f"{loss:.4f}" for loss in model.loss))
        for model in models
    )
    return View(
        title,
        text("two_layouts.curve_summary", seed=equality.seeds[0]),
        (
            text("two_layouts.head_seed"),
            text("two_layouts.head_layout"),
            *(text("two_layouts.epoch_number", epoch=epoch) for epoch in epochs),
        ),
        rows,
        line_chart(
            lines,
            title=title,
            x_axis=text("two_layouts.epoch_axis"),
            y_axis=text("two_layouts.loss_axis"),
            corner=provenance(equality.origin, note),
        ),
        equality.origin,
        note,
        gap,
    )


def epoch_ratio(timing: LayoutTiming, transforms: str, open_ms: float, workers: int) -> float:
    """Return how many times as long an epoch from files takes as one from shards, by the medians."""
    setting = LayoutSetting(transforms, open_ms, workers)
    files, shards = (timing.epoch_seconds(setting, layout).median for layout in LAYOUTS)
    return files / shards


def layout_note(timing: LayoutTiming) -> str:
    """Return how the times came about: repeats, samples, cache states, shards, what was set."""
    runs = [run for comparison in timing.comparisons for run in comparison.runs]
    return text(
        "two_layouts.note",
        repeats=timing.comparisons[0].plan["repeats"],
        samples=timing.shard_set["samples"],
        batch=runs[0].conditions.batch_size,
        shards=timing.shard_set["shards"],
        target=format_bytes(timing.shard_set["target_bytes"]),
        cache=", ".join(sorted({run.cache_before.kind for run in runs})),
    )


def training_note(equality: LayoutEquality) -> str:
    """Return the budget that all trainings had."""
    conditions: Mapping[str, Any] = equality.conditions
    return text(
        "two_layouts.training_note",
        samples=next(fact.samples for fact in equality.facts if fact.part == "train"),
        test=next(fact.samples for fact in equality.facts if fact.part == "test"),
        epochs=conditions["epochs"],
        batch=conditions["batch_size"],
        seeds=", ".join(map(str, equality.seeds)),
    )


def _span(least: float, most: float) -> str:
    low, high = f"{least:,.1f}", f"{most:,.1f}"
    return low if low == high else text("two_layouts.span", low=low, high=high)


def _largest_part(shares: EpochShares) -> str:
    part = max(_PARTS, key=lambda part: getattr(shares, f"{part}_seconds"))
    return text(f"two_layouts.share_{part}").lower()


def _named(setting: LayoutSetting) -> str:
    return text("two_layouts.setting", store=setting.store, workers=setting.workers)


def _range(summary: Any) -> str:
    return text(
        "timing.range",
        median=seconds_text(summary.median),
        low=seconds_text(summary.low),
        high=seconds_text(summary.high),
    )
