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
