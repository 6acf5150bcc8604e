"""Detectors: each looks for one kind of leak and answers in plain words, with the samples by id only."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "EXACT_KINDS": "finding",
    "Finding": "finding",
    "KINDS": "finding",
    "MEANINGS": "finding",
    "Parts": "parts",
    "check_manifest": "checking",
    "contact_sheet": "contact_sheets",
    "find_changed_labels": "label_maps",
    "find_drifting_rate": "rates",
    "find_edited_manifest": "edits",
    "find_exact_duplicates": "exact",
    "find_field_too_good": "fields",
    "find_future_in_training": "future",
    "find_label_map_change": "label_maps",
    "find_missing_classes": "classes",
    "find_near_duplicate_images": "near_images",
    "find_near_duplicate_rows": "near_rows",
    "find_near_duplicate_texts": "near_texts",
    "find_spread_groups": "groups",
    "find_statistic_fitted_on_everything": "statistics",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
