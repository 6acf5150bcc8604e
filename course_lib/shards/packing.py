"""Packing: from any source to a shard set, one shard a unit of work, safe to kill at any moment."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import xxhash
from numpy.typing import NDArray

from course_lib import __version__
from course_lib.errors import CourseError
from course_lib.shards.claiming import RECIPE_NOTE, claim, finished_set, need_own_plan, target_for
from course_lib.shards.format import (
    INDEX_FILE,
    MANIFEST_FILE,
    IndexFile,
    ShardFile,
    ShardSetManifest,
    index_bytes,
    index_dtype,
    shard_name,
)
from course_lib.shards.payloads import PayloadSource
from course_lib.shards.plan import ShardPlan, make_plan
from course_lib.shards.records import record_buffers
from course_lib.shards.tar import archive_end
from course_lib.shards.targets import PLAN_NOTE, Target
from course_lib.stores.store import Store

_MOST_IN_FLIGHT = 64


@dataclass(frozen=True, eq=False)
class ShardTask:
    """Everything that a worker process needs to write one shard."""

    source: PayloadSource
    sizes: NDArray[np.int64]
    number: int
    name: str
    id_bytes: int
    plan_digest: str
    target: Target


class PackedShard(NamedTuple):
    """A shard that is in its place, and the index rows of its records."""

    file: ShardFile
    rows: NDArray[Any]


def pack(
    source: PayloadSource,
    out: Path | str | Store,
    *,
    split: str | None = None,
    target_bytes: int | None = None,
    target_samples: int | None = None,
    seed: int = 2026,
    executor: Executor | None = None,
    progress: bool = False,
    strict_target: bool = False,
    prefix: str = "",
    code_version: str = __version__,
) -> ShardSetManifest:
    """Pack the samples of one split into a shard set.

    Every shard is written aside, flushed and moved into place; the manifest is published last. A pack that
    was interrupted is no readable set; the same call goes on where it stopped, and checks what it finds.
    The same samples and recipe give the same bytes, whoever does the work.

    Parameters
    ----------
    source : PayloadSource
        The samples of one split, as `source_for` gives them.
    out : Path or Store
        A new or an empty folder, one with an interrupted pack of the same plan, or a store.
    split : str, optional
        Name of the split, where the source does not tell it.
    target_bytes : int, optional
        Most bytes of a shard's file; 256 MB where neither target is given.
    target_samples : int, optional
        Samples in a shard, instead.
    seed : int, optional
        Of the pack order.
    executor : concurrent.futures.Executor, optional
        Who packs the shards: a process pool, or ``client.get_executor()`` of a Dask cluster whose workers see
        the same folder; this process where left out.
    progress : bool, optional
        Show a bar.
    strict_target : bool, optional
        Refuse a sample that is larger than the target; else it gets a shard of its own and a note.
    prefix : str, optional
        Of the names in a store.
    code_version : str, optional
        Kept in the manifest.

    Returns
    -------
    ShardSetManifest

    Raises
    ------
    CourseError
        For samples that cannot be packed (see `make_plan`), a payload that is missing or another than the
        split manifest's, a full disk, another packer at work, and a folder that holds something else. What is
        finished stays.
    """
    source = _of_split(source, split)
    plan = make_plan(
        source,
        target_bytes=target_bytes,
        target_samples=target_samples,
        seed=seed,
        strict_target=strict_target,
    )
    target = target_for(out, prefix)
    with target.alone():
        finished = finished_set(target, plan)
        if finished is not None:
            target.clear_notes(_note_names(finished.split, plan))
            return finished
        claim(target, plan, f"{source.facts.title}, split {source.facts.split}")
        packed = _packed(source, plan, target, executor, progress)
        manifest = _published(source, plan, target, packed, code_version)
        target.clear_notes(_note_names(manifest.split, plan))
    return manifest


def pack_shard(task: ShardTask) -> PackedShard:
    """Write one shard and a note that it is finished; a shard that a note and its bytes prove is kept."""
    kept = _kept(task)
    if kept is not None:
        return kept
    # A worker may outlive the packer that sent it.
    need_own_plan(task.target, task.plan_digest)
    rows: list[NDArray[Any]] = []
    digests = task.target.put(task.name, shard_buffers(task, rows))
    file = ShardFile(task.name, digests.bytes, len(task.source), digests.sha256, digests.xxh3)
    packed = PackedShard(file, np.concatenate(rows))
    task.target.note(f"{task.name}.done", _as_note(packed))
    return packed


def shard_tasks(
    source: PayloadSource, plan: ShardPlan, target: Target, numbers: Iterable[int] | None = None
) -> Iterator[ShardTask]:
    """Yield the work of a plan, shard by shard, or of some shards; each carries its own samples alone."""
    id_bytes = int(np.char.str_len(source.ids).max())
    for number in range(plan.shard_count) if numbers is None else numbers:
        yield ShardTask(
            source=source.take(plan.positions(number)),
            sizes=plan.sizes_of(number),
            number=number,
            name=shard_name(source.facts.split, number),
            id_bytes=id_bytes,
            plan_digest=plan.digest,
            target=target,
        )


def _of_split(source: PayloadSource, split: str | None) -> PayloadSource:
    named = source.facts.split
    if split is None or split == named:
        return source
    if named:
        raise CourseError(
            "One shard set holds one split",
            expected=f"split {split}",
            found=f"a source of split {named}",
            next_step="ask `source_for` for the split that you want",
        )
    return replace(source, facts=replace(source.facts, split=split))  # type: ignore[type-var]


def _packed(
    source: PayloadSource, plan: ShardPlan, target: Target, executor: Executor | None, progress: bool
) -> list[PackedShard]:
    tasks = shard_tasks(source, plan, target)
    done = map(pack_shard, tasks) if executor is None else _by_executor(executor, tasks)
    if progress:
        # A bar that shows nothing takes tqdm's lock too, and a killed fork of this process may hold it.
        from tqdm import tqdm

        done = iter(
            tqdm(
                done,
                desc=f"Packing {source.facts.title}, split {source.facts.split}",
                total=plan.shard_count,
                unit="shard",
                leave=False,
                file=sys.stdout,
            )
        )
    return sorted(done, key=lambda packed: packed.file.name)


def _by_executor(executor: Executor, tasks: Iterator[ShardTask]) -> Iterator[PackedShard]:
    """Yield packed shards as they are finished; after a failure, what has begun is waited for."""
    in_flight: set[Future[PackedShard]] = set()
    try:
        for task in tasks:
            in_flight.add(executor.submit(pack_shard, task))
            if len(in_flight) >= _MOST_IN_FLIGHT:
                finished, in_flight = wait(in_flight, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in finished)
        while in_flight:
            finished, in_flight = wait(in_flight, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in finished)
    except (BrokenProcessPool, CancelledError) as error:
        raise CourseError(
            "A worker process ended while it was packing",
            found=str(error) or type(error).__name__,
            next_step="run it again, with fewer jobs if memory ran short; what is finished stays",
        ) from error
    finally:
        # A worker must not write any more once the folder's lock is free. What can be cancelled never began,
        # and where the pool has broken nobody would ever tell `wait` so.
        wait([future for future in in_flight if not future.cancel()])


def shard_buffers(task: ShardTask, rows: list[NDArray[Any]]) -> Iterator[memoryview | bytes]:
    """Yield the bytes of a shard, and gather the index rows of its records in ``rows``."""
    length = 0
    for buffer in record_buffers(task.source, task.sizes, task.number, task.id_bytes):
        rows.append(buffer.rows)
        length += len(buffer.content)
        yield buffer.content
    yield archive_end(length)


def _kept(task: ShardTask) -> PackedShard | None:
    note = task.target.noted(f"{task.name}.done")
    packed = None if note is None else _from_note(note, task.id_bytes)
    if packed is None or len(packed.rows) != len(task.source):
        return None
    found = task.target.digests(task.name)
    return packed if found is not None and found.sha256 == packed.file.sha256 else None


def _as_note(packed: PackedShard) -> bytes:
    rows = packed.rows.tobytes()
    entries = {"file": asdict(packed.file), "rows": xxhash.xxh3_64_hexdigest(rows)}
    return json.dumps(entries).encode("utf-8") + b"\n" + rows


def _from_note(note: bytes, id_bytes: int) -> PackedShard | None:
    head, _, rows = note.partition(b"\n")
    try:
        entries = json.loads(head)
        if entries["rows"] != xxhash.xxh3_64_hexdigest(rows):
            return None
        return PackedShard(ShardFile(**entries["file"]), np.frombuffer(rows, dtype=index_dtype(id_bytes)))
    except (ValueError, KeyError, TypeError):
        return None


def _published(
    source: PayloadSource, plan: ShardPlan, target: Target, packed: list[PackedShard], code_version: str
) -> ShardSetManifest:
    counted = sum(len(shard.rows) for shard in packed)
    expected = {shard_name(source.facts.split, number) for number in range(plan.shard_count)}
    if counted != plan.samples or {shard.file.name for shard in packed} != expected:
        raise CourseError(
            f"The pack into {target.title} is not complete",
            expected=f"{plan.samples:,} samples in {plan.shard_count:,} shards",
            found=f"{counted:,} in {len(packed):,}",
            next_step="run the same command again",
        )
    content = index_bytes([shard.rows for shard in packed])
    need_own_plan(target, plan.digest)
    digests = target.put(INDEX_FILE, [content])
    facts = source.facts
    manifest = ShardSetManifest(
        dataset=facts.dataset,
        variant=facts.variant,
        split=facts.split,
        split_digest=facts.split_digest,
        data_digest=facts.data_digest,
        origin=facts.origin,
        id_kind=facts.id_kind,
        class_names=facts.class_names,
        extension=facts.extension,
        recipe=plan.recipe,
        plan_digest=plan.digest,
        code_version=code_version,
        shards=tuple(shard.file for shard in packed),
        index=IndexFile(INDEX_FILE, digests.bytes, digests.sha256, digests.xxh3, counted),
        samples=counted,
        payload_bytes=int(plan.sizes.sum()),
        notes=plan.notes,
    ).sealed()
    target.put(MANIFEST_FILE, [manifest.as_json()])
    return manifest


def _note_names(split: str, plan: ShardPlan) -> list[str]:
    done = (f"{shard_name(split, number)}.done" for number in range(plan.shard_count))
    return [PLAN_NOTE, RECIPE_NOTE, *done]
