"""Loading samples with PyTorch's DataLoader, and timing it honestly.

Every name is loaded when it is first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.loading.conditions import LoaderConditions, differing_factors
    from course_lib.loading.device import chosen_device
    from course_lib.loading.diagnosis import Diagnosis, diagnose
    from course_lib.loading.live import PRESETS, with_preset
    from course_lib.loading.loaders import ExplainedLoader, build_loader
    from course_lib.loading.opening import open_samples
    from course_lib.loading.probe import LoaderTiming, time_batches
    from course_lib.loading.readiness import Readiness, check_readiness
    from course_lib.loading.results import LoaderComparison, LoaderRun
    from course_lib.loading.runs import delivered_ids, measure_loader
    from course_lib.loading.samples import IterableSamples, LoadedSamples
    from course_lib.loading.sampling import Draw, EpochSampler
    from course_lib.loading.steps import StepTimes, time_steps
    from course_lib.loading.training import TrainingComparison, TrainingRun, measure_training
    from course_lib.loading.training_conditions import TrainingConditions
    from course_lib.loading.utilisation import Utilisation, accelerator_utilisation
    from course_lib.loading.verdicts import Plateau, Summary, Verdict, compare, plateau, total_rate

_HOME_OF = {
    "Diagnosis": "diagnosis",
    "Draw": "sampling",
    "EpochSampler": "sampling",
    "ExplainedLoader": "loaders",
    "IterableSamples": "samples",
    "LoadedSamples": "samples",
    "LoaderComparison": "results",
    "LoaderConditions": "conditions",
    "LoaderRun": "results",
    "LoaderTiming": "probe",
    "PRESETS": "live",
    "Plateau": "verdicts",
    "Readiness": "readiness",
    "StepTimes": "steps",
    "Summary": "verdicts",
    "TrainingComparison": "training",
    "TrainingConditions": "training_conditions",
    "TrainingRun": "training",
    "Utilisation": "utilisation",
    "Verdict": "verdicts",
    "accelerator_utilisation": "utilisation",
    "build_loader": "loaders",
    "check_readiness": "readiness",
    "chosen_device": "device",
    "compare": "verdicts",
    "delivered_ids": "runs",
    "diagnose": "diagnosis",
    "differing_factors": "conditions",
    "measure_loader": "runs",
    "measure_training": "training",
    "open_samples": "opening",
    "plateau": "verdicts",
    "time_batches": "probe",
    "time_steps": "steps",
    "total_rate": "verdicts",
    "with_preset": "live",
}

__all__ = [
    "PRESETS",
    "Diagnosis",
    "Draw",
    "EpochSampler",
    "ExplainedLoader",
    "IterableSamples",
    "LoadedSamples",
    "LoaderComparison",
    "LoaderConditions",
    "LoaderRun",
    "LoaderTiming",
    "Plateau",
    "Readiness",
    "StepTimes",
    "Summary",
    "TrainingComparison",
    "TrainingConditions",
    "TrainingRun",
    "Utilisation",
    "Verdict",
    "accelerator_utilisation",
    "build_loader",
    "check_readiness",
    "chosen_device",
    "compare",
    "delivered_ids",
    "diagnose",
    "differing_factors",
    "measure_loader",
    "measure_training",
    "open_samples",
    "plateau",
    "time_batches",
    "time_steps",
    "total_rate",
    "with_preset",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
