"""The custody bench: seeded faults in copies of a small data set, clean sets among them, and a judge.

The names below load what they need when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOMES = {
    "CLEAN": "faults",
    "Accusation": "judging",
    "Bench": "bench",
    "ClassReport": "class_sets",
    "ClassSet": "class_sets",
    "CustodyCase": "case",
    "LOOKS": "tools",
    "Look": "tools",
    "Score": "judging",
    "Trial": "trial",
    "Verdict": "judging",
    "accuse": "judging",
    "case_kinds": "case",
    "class_set": "class_sets",
    "judge": "judging",
    "judge_all": "class_sets",
    "judge_verdicts": "class_sets",
    "make_case": "case",
    "open_case": "case",
    "try_detectors": "trial",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
