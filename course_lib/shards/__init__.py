"""Shard sets: packed, indexed, read, checked and repaired.

Whole batches, with workers, each sample once an epoch, shuffled anew each time::

    loader = ShardedLoader(ShardedBatches("my_shards", 64, decoder="auto"), workers=2)

Samples by position, for a sampler of your own::

    DataLoader(ShardedSamples("my_shards", decoder="auto"), batch_size=32, collate_fn=keep_batch)

A batch is a dict: "image", or "payload" where ``decoder=None`` (texts, tables), "label" and "position".

Every name is loaded when it is first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.shards.coverage import Coverage
    from course_lib.shards.decoding import Decoder, choose_decoder
    from course_lib.shards.foreign import index_foreign
    from course_lib.shards.format import IndexFile, ShardFile, ShardSetManifest, read_manifest, record_bytes
    from course_lib.shards.mixing import Mixing, PackOrder, measure_mixing, pack_order
    from course_lib.shards.order import BatchPlan, OrderRecipe
    from course_lib.shards.packing import pack
    from course_lib.shards.payloads import PayloadSource
    from course_lib.shards.plain_sources import (
        blob_source,
        folder_source,
        store_source,
        table_source,
        zip_source,
    )
    from course_lib.shards.reading import Record, Records, ShardSet
    from course_lib.shards.repair import Repair, repair_shards
    from course_lib.shards.sources import restricted, source_for
    from course_lib.shards.torch_batches import Batch, Drawn, keep_batch
    from course_lib.shards.torch_data import ShardedBatches, ShardedSamples
    from course_lib.shards.torch_loader import ShardedLoader
    from course_lib.shards.unpack import unpack_shards
    from course_lib.shards.verify import Finding, ShardVerification, verify_shards

_HOME_OF = {
    "Batch": "torch_batches",
    "BatchPlan": "order",
    "Coverage": "coverage",
    "Decoder": "decoding",
    "Drawn": "torch_batches",
    "Finding": "verify",
    "IndexFile": "format",
    "Mixing": "mixing",
    "OrderRecipe": "order",
    "PackOrder": "mixing",
    "PayloadSource": "payloads",
    "Record": "reading",
    "Records": "reading",
    "Repair": "repair",
    "ShardFile": "format",
    "ShardSet": "reading",
    "ShardSetManifest": "format",
    "ShardVerification": "verify",
    "ShardedBatches": "torch_data",
    "ShardedLoader": "torch_loader",
    "ShardedSamples": "torch_data",
    "blob_source": "plain_sources",
    "choose_decoder": "decoding",
    "folder_source": "plain_sources",
    "index_foreign": "foreign",
    "keep_batch": "torch_batches",
    "measure_mixing": "mixing",
    "pack": "packing",
    "pack_order": "mixing",
    "read_manifest": "format",
    "record_bytes": "format",
    "repair_shards": "repair",
    "restricted": "sources",
    "source_for": "sources",
    "store_source": "plain_sources",
    "table_source": "plain_sources",
    "unpack_shards": "unpack",
    "verify_shards": "verify",
    "zip_source": "plain_sources",
}

__all__ = [
    "Batch",
    "BatchPlan",
    "Coverage",
    "Decoder",
    "Drawn",
    "Finding",
    "IndexFile",
    "Mixing",
    "OrderRecipe",
    "PackOrder",
    "PayloadSource",
    "Record",
    "Records",
    "Repair",
    "ShardFile",
    "ShardSet",
    "ShardSetManifest",
    "ShardVerification",
    "ShardedBatches",
    "ShardedLoader",
    "ShardedSamples",
    "blob_source",
    "choose_decoder",
    "folder_source",
    "index_foreign",
    "keep_batch",
    "measure_mixing",
    "pack",
    "pack_order",
    "read_manifest",
    "record_bytes",
    "repair_shards",
    "restricted",
    "source_for",
    "store_source",
    "table_source",
    "unpack_shards",
    "verify_shards",
    "zip_source",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
