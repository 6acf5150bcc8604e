"""Splits: which sample belongs to which part, by a recipe, and the manifests that prove it.

Every name is loaded when it is first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "KINDS": "recipe",
    "Recipe": "recipe",
    "SampleTable": "samples",
    "Split": "making",
    "SplitDiff": "comparing",
    "SplitManifest": "files",
    "Verification": "comparing",
    "check_split": "checking",
    "checked_ids": "ids",
    "committed_folder": "locking",
    "diff_splits": "comparing",
    "export_croissant": "croissant",
    "locked_split": "locking",
    "make_split": "making",
    "parse_recipe": "recipe",
    "read_split": "files",
    "sample_table": "samples",
    "split_folder": "locking",
    "verify_split": "comparing",
    "write_split": "files",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
