"""Leakage: which fields a model may see at the moment of its decision, and what it costs to forget that."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "AvailabilityAudit": "availability",
    "FieldVerdict": "availability",
    "audit": "availability",
    "AucComparison": "comparison",
    "AucFigure": "comparison",
    "audited_field_sets": "comparison",
    "compare_auc": "comparison",
    "compare_training_times": "comparison",
    "EXACT_KINDS": "detectors.finding",
    "Finding": "detectors.finding",
    "KINDS": "detectors.finding",
    "MEANINGS": "detectors.finding",
    "Parts": "detectors.parts",
    "check_manifest": "detectors.checking",
    "contact_sheet": "detectors.contact_sheets",
    "find_changed_labels": "detectors.label_maps",
    "find_drifting_rate": "detectors.rates",
    "find_edited_manifest": "detectors.edits",
    "find_exact_duplicates": "detectors.exact",
    "find_field_too_good": "detectors.fields",
    "find_future_in_training": "detectors.future",
    "find_label_map_change": "detectors.label_maps",
    "find_missing_classes": "detectors.classes",
    "find_near_duplicate_images": "detectors.near_images",
    "find_near_duplicate_rows": "detectors.near_rows",
    "find_near_duplicate_texts": "detectors.near_texts",
    "find_spread_groups": "detectors.groups",
    "find_statistic_fitted_on_everything": "detectors.statistics",
    "Bench": "custody.bench",
    "CustodyCase": "custody.case",
    "case_kinds": "custody.case",
    "class_set": "custody.class_sets",
    "judge": "custody.judging",
    "judge_verdicts": "custody.class_sets",
    "make_case": "custody.case",
    "try_detectors": "custody.trial",
    "yes_share_by_block": "drift",
    "yes_share_around_cut": "drift",
    "MODELS": "models",
    "build_pipeline": "models",
    "SPLITS": "holdout",
    "split_positions": "holdout",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
