"""Places that hold samples by name, with a set latency where wanted; their cache state and metadata rates.

Every name is loaded when it is first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.stores.block_reads import BlockReads, time_block_reads
    from course_lib.stores.cache_state import CacheState, evict, observe_cache
    from course_lib.stores.folder import FolderStore
    from course_lib.stores.latency import SetLatencyStore
    from course_lib.stores.layouts import measure_layouts
    from course_lib.stores.metadata import measure_metadata, measure_metadata_watched
    from course_lib.stores.metadata_result import MetadataResult, OperationRates
    from course_lib.stores.opening import open_store
    from course_lib.stores.s3 import S3Store
    from course_lib.stores.set_opens import OpenCase, TimedOpens, time_opens
    from course_lib.stores.start_up_cases import StartUpComparison, StartUpCurve, compare_start_up
    from course_lib.stores.store import Store, StoreStat

_HOME_OF = {
    "BlockReads": "block_reads",
    "CacheState": "cache_state",
    "FolderStore": "folder",
    "MetadataResult": "metadata_result",
    "OpenCase": "set_opens",
    "OperationRates": "metadata_result",
    "S3Store": "s3",
    "SetLatencyStore": "latency",
    "StartUpComparison": "start_up_cases",
    "StartUpCurve": "start_up_cases",
    "Store": "store",
    "StoreStat": "store",
    "TimedOpens": "set_opens",
    "compare_start_up": "start_up_cases",
    "evict": "cache_state",
    "measure_layouts": "layouts",
    "measure_metadata": "metadata",
    "measure_metadata_watched": "metadata",
    "observe_cache": "cache_state",
    "open_store": "opening",
    "time_block_reads": "block_reads",
    "time_opens": "set_opens",
}

__all__ = [
    "BlockReads",
    "CacheState",
    "FolderStore",
    "MetadataResult",
    "OpenCase",
    "OperationRates",
    "S3Store",
    "SetLatencyStore",
    "StartUpComparison",
    "StartUpCurve",
    "Store",
    "StoreStat",
    "TimedOpens",
    "compare_start_up",
    "evict",
    "measure_layouts",
    "measure_metadata",
    "measure_metadata_watched",
    "observe_cache",
    "open_store",
    "time_block_reads",
    "time_opens",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
