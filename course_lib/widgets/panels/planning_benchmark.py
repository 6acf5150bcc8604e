"""Lesson 09: how large a storage benchmark's data set has to be, and what it reads."""

from __future__ import annotations

from course_lib.loading.utilisation import H100_WORKLOADS
from course_lib.planning import BenchmarkPlan
from course_lib.units import format_both_readings
from course_lib.widgets.amounts import shown_amount
from course_lib.widgets.controls import ChoiceControl, Control
from course_lib.widgets.panels.planning_views import Figure, From, plan_view, size_bar
from course_lib.widgets.plan_panel import PlanPanel
from course_lib.widgets.quantity import QuantityControl
from course_lib.widgets.texts import text
from course_lib.widgets.view import View


def benchmark_view(plan: BenchmarkPlan) -> View:
    """Return what either rule asks of the data set, and which of them binds."""
    sample = float(plan.bytes_per_sample)
    rules = [
        (text("planning.rule_steps"), float(plan.by_steps_samples)),
        (text("planning.rule_memory"), float(plan.by_memory_samples)),
    ]
    rate, memory = float(plan.bytes_per_second), float(plan.host_memory_bytes)
    title = text(
        "planning.benchmark_title",
        samples=float(plan.smallest_samples),
        size=shown_amount(float(plan.smallest_bytes), "bytes"),
        rate=shown_amount(rate, "bytes/s"),
    )
    figures = [
        Figure(text("planning.workload"), 0.0, "number", From.SET, shown=plan.workload),
        Figure(text("planning.accelerators"), float(plan.accelerators), "number", From.SET),
        Figure(text("planning.memory"), memory, "bytes", From.SET, shown=format_both_readings(memory)),
        Figure(text("planning.hosts"), float(plan.hosts), "number", From.ASSUMED),
        Figure(text("planning.sample_bytes"), sample, "bytes", From.ASSUMED),
        *(Figure(name, samples, "number") for name, samples in rules),
        *(
            Figure(text("planning.rule_bytes", rule=name), samples * sample, "bytes", key=True)
            for name, samples in rules
        ),
        Figure(text("planning.all_rate"), rate, "bytes/s", key=True),
        Figure(text("planning.needed_rate"), float(plan.needed_bytes_per_second), "bytes/s", key=True),
    ]
    return plan_view(
        plan,
        title,
        figures,
        [size_bar(name, samples * sample) for name, samples in rules],
        axis=text("planning.gb_axis"),
        summary=text("planning.benchmark_summary"),
    )


def benchmark_panel() -> PlanPanel:
    """Return a panel on MLPerf Storage: workload, emulated accelerators, memory of the one host."""

    controls: dict[str, Control] = {
        "workload": ChoiceControl(text("planning.workload"), tuple(H100_WORKLOADS), "unet3d"),
        "accelerators": QuantityControl(
            text("planning.accelerators"), 1, 64, 1, dimension="number", whole=True
        ),
        "host_memory_bytes": QuantityControl(text("planning.memory"), "4 GiB", "2 TiB", "16 GiB"),
    }
    presets = {
        text("planning.preset_laptop"): {
            "workload": "unet3d",
            "accelerators": 1,
            "host_memory_bytes": "16 GiB",
        },
        text("planning.preset_eight"): {
            "workload": "unet3d",
            "accelerators": 8,
            "host_memory_bytes": "256 GiB",
        },
        text("planning.preset_small_samples"): {
            "workload": "cosmoflow",
            "accelerators": 8,
            "host_memory_bytes": "256 GiB",
        },
    }
    title = text("planning.benchmark_panel")
    return PlanPanel(title, "mlperf", controls, benchmark_view, presets=presets)
