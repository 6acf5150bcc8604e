"""Plans as pure functions: numbers in, numbers out, the binding constraint and every assumption named.

Every name is loaded when it is first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.planning.bandwidth import BandwidthPlan, read_bandwidth, samples_from_bandwidth
    from course_lib.planning.cache import CachePlan, cache_plan, hit_rate_by_bytes
    from course_lib.planning.capacity import KINDS, CapacityPlan, CapacityStage, capacity_plan
    from course_lib.planning.checkpoints import (
        BYTES_PER_PARAMETER,
        CheckpointPlan,
        bytes_per_parameter,
        checkpoint_bytes,
        checkpoint_plan,
        daly,
        exact_interval,
        interval_for_loss,
        young,
    )
    from course_lib.planning.choice import ChoicePlan, StorageOffer, choice_plan
    from course_lib.planning.core import ONLY_BYTES, Plan
    from course_lib.planning.cost import (
        MONTH_SECONDS,
        Choice,
        Constraints,
        CostPlan,
        Offer,
        Prices,
        cheapest,
        cycle_cost,
    )
    from course_lib.planning.intervals import IntervalPlan, interval_plan
    from course_lib.planning.metadata import LayoutGain, MetadataPlan, layout_gain, metadata_plan
    from course_lib.planning.mlperf import (
        BenchmarkPlan,
        benchmark_plan,
        dlio_configuration,
        passes,
        rules_utilisation,
        total_utilisation,
    )
    from course_lib.planning.objects import ObjectPlan, object_plan

_HOME_OF = {
    "BYTES_PER_PARAMETER": "checkpoints",
    "BandwidthPlan": "bandwidth",
    "BenchmarkPlan": "mlperf",
    "CachePlan": "cache",
    "CapacityPlan": "capacity",
    "CapacityStage": "capacity",
    "CheckpointPlan": "checkpoints",
    "Choice": "cost",
    "ChoicePlan": "choice",
    "Constraints": "cost",
    "CostPlan": "cost",
    "IntervalPlan": "intervals",
    "KINDS": "capacity",
    "LayoutGain": "metadata",
    "MONTH_SECONDS": "cost",
    "MetadataPlan": "metadata",
    "ONLY_BYTES": "core",
    "ObjectPlan": "objects",
    "Offer": "cost",
    "Plan": "core",
    "Prices": "cost",
    "StorageOffer": "choice",
    "benchmark_plan": "mlperf",
    "bytes_per_parameter": "checkpoints",
    "cache_plan": "cache",
    "capacity_plan": "capacity",
    "cheapest": "cost",
    "checkpoint_bytes": "checkpoints",
    "checkpoint_plan": "checkpoints",
    "choice_plan": "choice",
    "cycle_cost": "cost",
    "daly": "checkpoints",
    "dlio_configuration": "mlperf",
    "exact_interval": "checkpoints",
    "hit_rate_by_bytes": "cache",
    "interval_for_loss": "checkpoints",
    "interval_plan": "intervals",
    "layout_gain": "metadata",
    "metadata_plan": "metadata",
    "object_plan": "objects",
    "passes": "mlperf",
    "read_bandwidth": "bandwidth",
    "rules_utilisation": "mlperf",
    "total_utilisation": "mlperf",
    "samples_from_bandwidth": "bandwidth",
    "young": "checkpoints",
}

__all__ = [
    "BYTES_PER_PARAMETER",
    "KINDS",
    "MONTH_SECONDS",
    "ONLY_BYTES",
    "BandwidthPlan",
    "BenchmarkPlan",
    "CachePlan",
    "CapacityPlan",
    "CapacityStage",
    "CheckpointPlan",
    "Choice",
    "ChoicePlan",
    "Constraints",
    "CostPlan",
    "IntervalPlan",
    "LayoutGain",
    "MetadataPlan",
    "ObjectPlan",
    "Offer",
    "Plan",
    "Prices",
    "StorageOffer",
    "benchmark_plan",
    "bytes_per_parameter",
    "cache_plan",
    "capacity_plan",
    "cheapest",
    "checkpoint_bytes",
    "checkpoint_plan",
    "choice_plan",
    "cycle_cost",
    "daly",
    "dlio_configuration",
    "exact_interval",
    "hit_rate_by_bytes",
    "interval_for_loss",
    "interval_plan",
    "layout_gain",
    "metadata_plan",
    "object_plan",
    "passes",
    "read_bandwidth",
    "rules_utilisation",
    "samples_from_bandwidth",
    "total_utilisation",
    "young",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
