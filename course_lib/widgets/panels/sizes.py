"""Lesson 02: one data set in many representations, and what batches of each of them ask for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from course_lib.datasets.origin import Origin
from course_lib.datasets.sizes import FileLayout, TaskSizes, image_batch
from course_lib.datasets.text_sizes import PADDINGS, PaddingCost, TextLengths, padding_cost
from course_lib.units import bandwidth, format_bytes, format_rate, format_seconds
from course_lib.widgets.controls import NumberControl
from course_lib.widgets.panel import Panel
from course_lib.widgets.svg import Bar, bar_chart, line_chart
from course_lib.widgets.texts import text
from course_lib.widgets.view import View, bar_view, provenance

_PERCENTILES = (50, 90, 95, 99, 100)
_CURVE_POINTS = 101


def sizes_view(task: TaskSizes) -> View:
    """Return one task's sizes: bars of bytes per sample, and a table with totals, samples and files."""
    first, last = task.sizes[0], task.sizes[-1]
    title = text(
        "sizes.title",
        task=task.task,
        first=_mean(first.bytes_per_sample),
        first_name=first.title,
        last=_mean(last.bytes_per_sample),
        last_name=last.title,
    )
    source = text("sizes.source")
    figure = bar_chart(
        [Bar(size.title, size.bytes_per_sample, shown=_mean(size.bytes_per_sample)) for size in task.sizes],
        title=title,
        axis=text("sizes.axis"),
        corner=provenance(task.origin, source),
    )
    columns = (
        text("sizes.representation"),
        text("sizes.total"),
        text("sizes.samples"),
        text("sizes.files"),
        text("sizes.mean"),
        text("sizes.how"),
    )
    rows = tuple(
        (
            size.title,
            format_bytes(size.total_bytes),
            size.samples,
            text("sizes.in_no_file") if size.files is None else size.files,
            _mean(size.bytes_per_sample),
            size.how,
        )
        for size in task.sizes
    )
    return View(title, text("sizes.summary"), columns, rows, figure, task.origin, source, result=task)


def tasks_view(tasks: Sequence[TaskSizes]) -> View:
    """Return the three quantities that are not one another, for each task: bytes, samples, files."""
    columns = (
        text("sizes.task"),
        text("sizes.representation"),
        text("sizes.total"),
        text("sizes.samples"),
        text("sizes.files"),
        text("sizes.per_file"),
    )
    rows = []
    for task in tasks:
        size = next(size for size in task.sizes if size.files and size.representation != "download")
        files = size.files or 1
        rows.append(
            (
                task.task,
                size.title,
                format_bytes(size.total_bytes),
                size.samples,
                files,
                format_bytes(size.total_bytes / files),
            )
        )
    source = text("sizes.tasks_source", origins="; ".join(task.origin.label() for task in tasks))
    return View(
        text("sizes.tasks_title"),
        text("sizes.tasks_summary"),
        columns,
        tuple(rows),
        source_note=source,
        result=tuple(tasks),
    )


def demand_view(batch_size: int, batches_per_second: float, bytes_per_sample: Mapping[str, float]) -> View:
    """Return the bandwidth that one sample rate asks for in several representations, all assumed.

    Parameters
    ----------
    batch_size : int
        Samples in a batch.
    batches_per_second : float
        Batches that the consumer takes.
    bytes_per_sample : mapping of str to float
        Assumed mean size of a sample by the name of its representation.
    """
    rate = batch_size * batches_per_second
    demands = {name: bandwidth(rate, size) for name, size in bytes_per_sample.items()}
    low, high = min(demands.values()), max(demands.values())
    return bar_view(
        text("demand.title", rate=rate, low=format_rate(low), high=format_rate(high)),
        [Bar(name, demand / 1e6, shown=format_rate(demand)) for name, demand in demands.items()],
        summary=text("demand.summary"),
        axis=text("demand.axis"),
        label_head=text("sizes.representation"),
        value_head=text("demand.value"),
        source_note=text("demand.source", batch=batch_size, batches=batches_per_second),
        result=demands,
    )


def image_batch_panel(task: TaskSizes, stored_side: int = 32) -> Panel:
    """Return a panel on batches of square images: batch size, side and batches per second.

    Only at ``stored_side``, the side of the stored images, is the size of a stored file known: how far
    a picture can be compressed follows from what is on it, and not from its shape.
    """
    stored = task.size("files").bytes_per_sample

    def compute(batch_size: int, side: int, batches_per_second: float) -> View:
        batch = image_batch(batch_size, side)
        per_batch = {
            task.size("files").title: batch_size * stored if side == stored_side else None,
            task.size("decoded").title: float(batch.uint8_bytes),
            task.size("float32").title: float(batch.float32_bytes),
        }
        title = text(
            "batch.title",
            images=batch_size,
            side=side,
            decoded=format_bytes(batch.uint8_bytes),
            tensors=format_bytes(batch.float32_bytes),
        )
        return _batch_view(title, per_batch, batches_per_second, task.origin, batch)

    controls = {
        "batch_size": NumberControl(text("batch.batch_size"), 1, 1024, 128),
        "side": NumberControl(text("batch.side"), 8, 512, stored_side, unit=text("batch.pixels")),
        "batches_per_second": NumberControl(text("batch.rate"), 0.5, 50.0, 4.0, step=0.5, unit="/s"),
    }
    return Panel(text("batch.panel"), controls, compute)


def _batch_view(
    title: str, per_batch: Mapping[str, float | None], rate: float, origin: Origin, result: object
) -> View:
    source = text("batch.source")
    figure = bar_chart(
        [
            Bar(name, None if size is None else size / 1e6, shown="" if size is None else format_bytes(size))
            for name, size in per_batch.items()
        ],
        title=title,
        axis=text("batch.axis"),
        corner=provenance(origin, source),
    )
    columns = (text("sizes.representation"), text("batch.bytes"), text("batch.demand"))
    rows = tuple(
        (
            name,
            None if size is None else format_bytes(size),
            None if size is None else format_rate(bandwidth(rate, size)),
        )
        for name, size in per_batch.items()
    )
    return View(title, text("batch.summary"), columns, rows, figure, origin, source, result=result)


def lengths_view(lengths: TextLengths) -> View:
    """Return how long texts are in tokens: the share that fits into each length, and percentiles."""
    longest = lengths.percentile(100)
    cuts = {percent: lengths.percentile(percent) for percent in _PERCENTILES}
    title = text("lengths.title", half=cuts[50], most=cuts[99], longest=longest)
    source = text("lengths.source", vocabulary=lengths.vocabulary)
    steps = [round(longest * place / (_CURVE_POINTS - 1)) for place in range(_CURVE_POINTS)]
    curve = [(float(step), 100 * float((lengths.tokens <= step).mean())) for step in steps]
    figure = line_chart(
        {text("lengths.line"): curve},
        title=title,
        x_axis=text("lengths.x_axis"),
        y_axis=text("lengths.y_axis"),
        y_limits=(0, 100),
        marks={text("lengths.mark", percent=percent): float(cuts[percent]) for percent in (50, 99)},
        corner=provenance(lengths.origin, source),
    )
    columns = (text("lengths.share"), text("lengths.tokens"))
    rows = tuple((f"{percent}%", length) for percent, length in cuts.items())
    return View(title, text("lengths.summary"), columns, rows, figure, lengths.origin, source, result=lengths)


def padding_view(costs: Mapping[str, PaddingCost], origin: Origin, *vocabularies: int) -> View:
    """Return several ways of padding side by side: the share that is padding, and what is cut off.

    ``vocabularies`` are the sizes of those tokenisers that counted the tokens.
    """
    most = max(cost.waste_share for cost in costs.values())
    least = min(cost.waste_share for cost in costs.values())
    title = text("padding.title", most=most, least=least)
    source = text("padding.source", vocabularies=" / ".join(f"{size:,}" for size in vocabularies))
    figure = bar_chart(
        [Bar(name, 100 * cost.waste_share, shown=f"{cost.waste_share:.1%}") for name, cost in costs.items()],
        title=title,
        axis=text("padding.axis"),
        limits=(0, 100),
        corner=provenance(origin, source),
    )
    columns = (
        text("padding.way"),
        text("padding.length"),
        text("padding.waste"),
        text("padding.bytes"),
        text("padding.cut"),
        text("padding.lost"),
    )
    rows = tuple(
        (
            name,
            cost.max_length,
            f"{cost.waste_share:.1%}",
            format_bytes(cost.bytes_per_batch),
            f"{cost.truncated_share:.1%}",
            f"{cost.lost_share:.1%}",
        )
        for name, cost in costs.items()
    )
    summary = text("padding.summary")
    return View(title, summary, columns, rows, figure, origin, source, result=dict(costs))


def padding_panel(lengths: TextLengths) -> Panel:
    """Return a panel that pads the same texts in three ways: maximum length and batch size."""

    def compute(max_length: int, batch_size: int) -> View:
        costs = {
            title: padding_cost(lengths.tokens, max_length=max_length, batch_size=batch_size, padding=padding)
            for padding, title in PADDINGS.items()
        }
        return padding_view(costs, lengths.origin, lengths.vocabulary)

    controls = {
        "max_length": NumberControl(text("padding.max_length"), 8, 512, 128, unit=text("padding.tokens")),
        "batch_size": NumberControl(text("batch.batch_size"), 1, 512, 32),
    }
    return Panel(text("padding.panel"), controls, compute)


def encodings_view(mean_bytes: Mapping[str, float], decoded_bytes: int, images: int, origin: Origin) -> View:
    """Return the same pictures stored in several ways: mean size, and how far each grows when decoded."""
    growths = {name: decoded_bytes / size for name, size in mean_bytes.items()}
    title = text("encodings.title", low=min(growths.values()), high=max(growths.values()))
    source = text("encodings.source", images=images)
    figure = bar_chart(
        [Bar(name, size, shown=_mean(size)) for name, size in mean_bytes.items()],
        title=title,
        axis=text("encodings.axis"),
        corner=provenance(origin, source),
    )
    columns = (text("encodings.how"), text("encodings.mean"), text("encodings.growth"))
    rows = tuple(
        (name, _mean(size), text("encodings.times", growth=growths[name]))
        for name, size in mean_bytes.items()
    )
    summary = text("encodings.summary", decoded=_mean(decoded_bytes))
    return View(title, summary, columns, rows, figure, origin, source, result=growths)


def layouts_view(layouts: Sequence[FileLayout], seconds_per_open: float) -> View:
    """Return one amount of data in files of several sizes, with the time to open them one by one."""
    total = format_bytes(layouts[0].total_bytes)
    columns = (text("layouts.per_file"), text("sizes.files"), text("layouts.opening"))
    rows = tuple(
        (format_bytes(layout.bytes_per_file), layout.files, format_seconds(layout.opening_seconds))
        for layout in layouts
    )
    return View(
        text("layouts.title", total=total, few=layouts[0].files, many=layouts[-1].files),
        text("layouts.summary"),
        columns,
        rows,
        source_note=text("layouts.source", per_open=format_seconds(seconds_per_open)),
        result=tuple(layouts),
    )


def _mean(size: float) -> str:
    return f"{size:,.0f} B"
