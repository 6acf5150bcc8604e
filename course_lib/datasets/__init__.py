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
    from course_lib.datasets.generated_clients import client_samples, load_client_calls
    from course_lib.datasets.origin import Origin
    from course_lib.datasets.samples import load_samples, row_digests
    from course_lib.datasets.settings import Source, choose_source, chosen_source
    from course_lib.datasets.sizes import (
        TaskSizes,
        encoded_bytes,
        file_layout,
        image_batch,
        image_sizes,
        table_sizes,
    )
    from course_lib.datasets.sources import FoundFile, find_data_set, find_file
    from course_lib.datasets.status import DatasetStatus, data_status
    from course_lib.datasets.text_sizes import count_tokens, padding_cost, train_tokeniser

_HOME_OF = {
    "DatasetStatus": "status",
    "FoundFile": "sources",
    "ImageSet": "cifar10",
    "Origin": "origin",
    "Source": "settings",
    "Table": "bank_marketing",
    "TaskSizes": "sizes",
    "TextSet": "ag_news",
    "choose_source": "settings",
    "chosen_source": "settings",
    "client_samples": "generated_clients",
    "count_tokens": "text_sizes",
    "data_status": "status",
    "encoded_bytes": "sizes",
    "fetch": "downloads",
    "fetch_file": "downloads",
    "file_layout": "sizes",
    "find_data_set": "sources",
    "find_file": "sources",
    "image_batch": "sizes",
    "image_sizes": "sizes",
    "load_ag_news": "ag_news",
    "load_bank_marketing": "bank_marketing",
    "load_cifar10": "cifar10",
    "load_client_calls": "generated_clients",
    "load_samples": "samples",
    "padding_cost": "text_sizes",
    "row_digests": "samples",
    "table_sizes": "sizes",
    "train_tokeniser": "text_sizes",
}

__all__ = [
    "DatasetStatus",
    "FoundFile",
    "ImageSet",
    "Origin",
    "Source",
    "Table",
    "TaskSizes",
    "TextSet",
    "choose_source",
    "chosen_source",
    "client_samples",
    "count_tokens",
    "data_status",
    "encoded_bytes",
    "fetch",
    "fetch_file",
    "file_layout",
    "find_data_set",
    "find_file",
    "image_batch",
    "image_sizes",
    "load_ag_news",
    "load_bank_marketing",
    "load_cifar10",
    "load_client_calls",
    "load_samples",
    "padding_cost",
    "row_digests",
    "table_sizes",
    "train_tokeniser",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
