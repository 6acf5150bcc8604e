"""The three tasks' data, by their real loading code, from the publisher, a mirror folder or a seed.

Every name is loaded when it is first used, so that importing this package costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.datasets.ag_news import TextSet, load_ag_news
    from course_lib.datasets.bank_marketing import Table, load_bank_marketing
    from course_lib.datasets.cifar10 import ImageSet, load_cifar10
    from course_lib.datasets.downloads import fetch, fetch_file
    from course_lib.datasets.origin import Origin
    from course_lib.datasets.settings import Source, choose_source, chosen_source
    from course_lib.datasets.sources import FoundFile, find_data_set, find_file
    from course_lib.datasets.status import DatasetStatus, data_status

_HOME_OF = {
    "DatasetStatus": "status",
    "FoundFile": "sources",
    "ImageSet": "cifar10",
    "Origin": "origin",
    "Source": "settings",
    "Table": "bank_marketing",
    "TextSet": "ag_news",
    "choose_source": "settings",
    "chosen_source": "settings",
    "data_status": "status",
    "fetch": "downloads",
    "fetch_file": "downloads",
    "find_data_set": "sources",
    "find_file": "sources",
    "load_ag_news": "ag_news",
    "load_bank_marketing": "bank_marketing",
    "load_cifar10": "cifar10",
}

__all__ = [
    "DatasetStatus",
    "FoundFile",
    "ImageSet",
    "Origin",
    "Source",
    "Table",
    "TextSet",
    "choose_source",
    "chosen_source",
    "data_status",
    "fetch",
    "fetch_file",
    "find_data_set",
    "find_file",
    "load_ag_news",
    "load_bank_marketing",
    "load_cifar10",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
