"""Repairing a shard set from its source: damaged files are written anew, to the very same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.format import ORDER, ShardSetManifest, index_bytes
from course_lib.shards.packing import ShardTask, shard_buffers, shard_tasks
from course_lib.shards.payloads import PayloadSource
from course_lib.shards.plan import make_plan
from course_lib.shards.targets import FolderTarget
from course_lib.shards.verify import ShardVerification, verify_shards


@dataclass(frozen=True)
class Repair:
    """What a repair did.

    Attributes
    ----------
    before, after : ShardVerification
        Of the set, before and after.
    rewritten : tuple of str
        Names of the files that were written anew.
    """

    before: ShardVerification
    after: ShardVerification
    rewritten: tuple[str, ...]


def repair_shards(
    folder: Path | str,
    source: PayloadSource | Callable[[], PayloadSource],
    *,
    executor: Executor | None = None,
    progress: bool = False,
) -> Repair:
    """Write damaged and missing files of a shard set anew from the samples that it was packed from.

    A file is replaced only by one whose SHA-256 is the manifest's. Shards that do not belong to the set are
    named, and left where they are.

    Parameters
    ----------
    folder : Path
        With its ``shards.json`` whole.
    source : PayloadSource, or a function that returns it
        The same samples as for `pack`; a function is called only where a file has to be written.
    executor : concurrent.futures.Executor, optional
        Who reads the shards for the verification.
    progress : bool, optional
        Show bars.

    Returns
    -------
    Repair

    Raises
    ------
    CourseError
        When ``shards.json`` itself is damaged or the set was packed by another tool, the source is not the
        one that was packed, gives other bytes now, or the disk does not take the files.
    """
    target = FolderTarget(Path(folder))
    before = verify_shards(folder, executor=executor, progress=progress)
    manifest = _repairable(before)
    if not is_repairable(before):
        return Repair(before, before, ())
    if callable(source):
        source = source()
    recipe = {key: value for key, value in manifest.recipe.items() if key != "order"}
    plan = make_plan(source, **recipe)
    if plan.digest != manifest.plan_digest:
        raise CourseError(
            f"The shard set in {folder} was packed from other samples",
            expected=f"plan {manifest.plan_digest[:12]}...",
            found=f"{plan.digest[:12]}...",
            next_step=f"repair it from {manifest.title}, as it was then, by the options that packed it: "
            f"{manifest.origin or 'of any source'}",
        )
    damaged = _own_damaged(before)
    with target.working():
        if before.of_kind("index"):
            rewritten = _with_index(shard_tasks(source, plan, target), manifest, target, damaged)
        else:
            numbers = [place for place, shard in enumerate(manifest.shards) if shard.name in damaged]
            tasks = shard_tasks(source, plan, target, numbers)
            rewritten = [_rewritten(task, manifest, target, []) for task in tasks]
    after = verify_shards(folder, executor=executor, progress=progress)
    return Repair(before, after, tuple(rewritten))


def is_repairable(found: ShardVerification) -> bool:
    """Return whether a repair would write a file anew."""
    packed = found.manifest is not None and found.manifest.recipe.get("order") == ORDER
    return packed and bool(_own_damaged(found) or found.of_kind("index"))


def _own_damaged(found: ShardVerification) -> set[str]:
    own = set() if found.manifest is None else {shard.name for shard in found.manifest.shards}
    return own & set(found.damaged_shards())


def _repairable(before: ShardVerification) -> ShardSetManifest:
    if before.manifest is None:
        raise CourseError(
            f"The shard set in {before.folder} cannot be repaired",
            expected="a shards.json that is as it was written",
            found=before.sentences[0].rstrip(".") if before.findings else "none",
            next_step="restore that file, or pack the set anew in a fresh folder",
        )
    if before.manifest.recipe.get("order") != ORDER:
        raise CourseError(
            f"The shards in {before.folder} were written by another tool",
            expected="a set that `course pack` wrote",
            found="shards that were indexed afterwards",
            next_step="get the damaged shards anew from where they came",
        )
    return before.manifest


def _rewritten(
    task: ShardTask, manifest: ShardSetManifest, target: FolderTarget, rows: list[NDArray[Any]]
) -> str:
    sha256 = manifest.shards[task.number].sha256
    target.put(task.name, shard_buffers(task, rows), sha256=sha256)
    return task.name


def _with_index(
    tasks: Iterator[ShardTask], manifest: ShardSetManifest, target: FolderTarget, damaged: set[str]
) -> list[str]:
    """Read the whole source again for the index rows, and write damaged shards on the way."""
    rows: list[NDArray[Any]] = []
    rewritten = []
    for task in tasks:
        if task.name in damaged:
            rewritten.append(_rewritten(task, manifest, target, rows))
        else:
            for _ in shard_buffers(task, rows):
                pass
    target.put(manifest.index.name, [index_bytes(rows)], sha256=manifest.index.sha256)
    return [*rewritten, manifest.index.name]
