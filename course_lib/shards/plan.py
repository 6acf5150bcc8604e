"""What goes into which shard: a function of ids, sizes and the recipe, and of nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.shards.format import ORDER, SCHEMA_VERSION, record_extents
from course_lib.shards.payloads import PayloadSource
from course_lib.shards.tar import archive_end
from course_lib.splits.ids import checked_ids
from course_lib.splits.ordering import keyed_digests, order_by_digest
from course_lib.units import format_bytes

DEFAULT_TARGET_BYTES = 256_000_000
MOST_SHARDS = 1_000_000
_MOST_NAMED = 3


@dataclass(frozen=True, eq=False)
class ShardPlan:
    """Which samples go into which shard.

    Attributes
    ----------
    order : ndarray of int64, shape (n,)
        Positions in the source, in pack order.
    sizes : ndarray of int64, shape (n,)
        Payload bytes, in pack order.
    bounds : ndarray of int64, shape (shards + 1,)
        Shard ``k`` holds the places ``bounds[k]`` up to ``bounds[k + 1]`` of the pack order.
    recipe : dict
        ``seed``, ``target_bytes`` or ``target_samples``, and ``order``.
    shard_bytes : ndarray of int64, shape (shards,)
        Length of each shard's file.
    digest : str
        SHA-256 over all of it: the same plan gives the same bytes.
    notes : tuple of str
        What somebody should know, in sentences.
    """

    order: NDArray[np.int64]
    sizes: NDArray[np.int64]
    bounds: NDArray[np.int64]
    recipe: dict[str, Any]
    shard_bytes: NDArray[np.int64]
    digest: str
    notes: tuple[str, ...]

    @property
    def samples(self) -> int:
        """Return the number of samples."""
        return len(self.order)

    @property
    def shard_count(self) -> int:
        """Return the number of shards."""
        return len(self.bounds) - 1

    def positions(self, shard: int) -> NDArray[np.int64]:
        """Return the positions in the source of a shard's samples, in pack order."""
        return self.order[self.bounds[shard] : self.bounds[shard + 1]]

    def sizes_of(self, shard: int) -> NDArray[np.int64]:
        """Return the payload bytes of a shard's samples."""
        return self.sizes[self.bounds[shard] : self.bounds[shard + 1]]


def pack_recipe(
    *, target_bytes: int | None = None, target_samples: int | None = None, seed: int = 2026
) -> dict[str, Any]:
    """Return the recipe of a pack: ``seed``, ``target_bytes`` or ``target_samples``, and ``order``.

    Raises
    ------
    CourseError
        For both targets at once, and a number that is not whole or too small.
    """
    seed = _whole("The seed of a pack", seed, least=0)
    if target_bytes is not None and target_samples is not None:
        raise CourseError("A shard has one target", expected="bytes or samples", found="both")
    if target_samples is not None:
        target_samples = _whole("The samples of a shard", target_samples, least=1)
        return {"seed": seed, "target_samples": target_samples, "order": ORDER}
    wanted = DEFAULT_TARGET_BYTES if target_bytes is None else target_bytes
    return {"seed": seed, "target_bytes": _whole("The bytes of a shard", wanted, least=1), "order": ORDER}


def make_plan(
    source: PayloadSource,
    *,
    target_bytes: int | None = None,
    target_samples: int | None = None,
    seed: int = 2026,
    strict_target: bool = False,
) -> ShardPlan:
    """Check the samples and deal them out to shards in a seeded order.

    The order is that of a keyed digest of each id (BLAKE2b, the seed in its key), so that neither the order
    of the source nor the version of a library changes it. A shard is filled until the next record, with its
    tar headers, its label and the end of the archive, would take the file beyond ``target_bytes``.

    Parameters
    ----------
    source : PayloadSource
    target_bytes : int, optional
        Most bytes of a shard's file; 256 MB where neither target is given.
    target_samples : int, optional
        Samples in a shard, instead.
    seed : int, optional
        Of the order.
    strict_target : bool, optional
        Refuse a sample that is larger than ``target_bytes``; else it gets a shard of its own and a note.

    Raises
    ------
    CourseError
        For no samples, bad ids, labels outside the label map, both targets at once or one that is not
        positive, and a payload that is too large for a strict target.
    """
    recipe = pack_recipe(target_bytes=target_bytes, target_samples=target_samples, seed=seed)
    ids = _checked(source)
    key = f"shard order of seed {recipe['seed']}"
    order = order_by_digest(np.arange(len(ids), dtype=np.int64), keyed_digests(ids, key), ids)
    sizes = source.sizes()[order]
    id_lengths = np.char.str_len(source.ids).astype(np.int64)[order]
    extents = record_extents(sizes, id_lengths, len(source.facts.extension.encode()))
    notes: tuple[str, ...] = ()
    if "target_samples" in recipe:
        bounds = np.append(np.arange(0, len(order), recipe["target_samples"], dtype=np.int64), len(order))
    else:
        bounds = _filled_up(extents, recipe["target_bytes"])
        notes = _oversized(source, order, extents, recipe["target_bytes"], strict_target)
    if len(bounds) - 1 > MOST_SHARDS:
        raise CourseError(
            "The shards would be too many",
            expected=f"at most {MOST_SHARDS:,}",
            found=f"{len(bounds) - 1:,}",
            next_step="choose a larger target",
        )
    content = np.add.reduceat(extents, bounds[:-1])
    shard_bytes = np.array([length + len(archive_end(length)) for length in content.tolist()], dtype=np.int64)
    digest = _digest(source, order, sizes, recipe)
    return ShardPlan(order, sizes, bounds, recipe, shard_bytes, digest, notes)


def _checked(source: PayloadSource) -> pa.Array:
    facts = source.facts
    if len(source) == 0:
        raise CourseError(
            f"There is nothing to pack in split {facts.split} of {facts.title}",
            expected="at least one sample",
            found="none",
            next_step="look at the split with `course split show`",
        )
    if not facts.split or not facts.split.replace("-", "").replace("_", "").isalnum():
        raise CourseError(
            "The split of a shard set has no usable name",
            expected="letters, digits, - and _, such as train",
            found=repr(facts.split),
        )
    if not facts.extension.isascii() or not facts.extension.isalnum() or facts.extension == "cls":
        raise CourseError(
            f"The payloads of {facts.title} have no usable kind of file",
            expected="letters and digits, such as jpg, and not cls, which is the label's",
            found=repr(facts.extension),
        )
    try:
        texts = pa.array(source.ids, type=pa.binary()).cast(pa.string())
    except pa.ArrowInvalid as error:
        raise CourseError(f"A sample id of {facts.title} is no valid text", expected="UTF-8") from error
    # Arrow ends an id at its first zero byte, which checked_ids would then not see.
    shortened = np.flatnonzero(pc.binary_length(texts).to_numpy() != np.char.str_len(source.ids))
    if len(shortened):
        raise CourseError(
            f"A sample id of {facts.title} holds a zero byte",
            found=ascii(source.ids[shortened[0]]),
            next_step="make ids of letters, digits, - and _, such as train-00042",
        )
    ids = checked_ids(texts, facts.title)
    outside = (source.labels < 0) | (source.labels >= len(facts.class_names))
    if outside.any():
        position = int(outside.argmax())
        raise CourseError(
            f"The label of sample {ids[position].as_py()} of {facts.title} is outside the label map",
            expected=f"0 to {len(facts.class_names) - 1}",
            found=int(source.labels[position]),
            next_step="correct the label, or name all classes",
        )
    return ids


def _filled_up(extents: NDArray[np.int64], target: int) -> NDArray[np.int64]:
    ends = np.cumsum(extents)
    bounds = [0]
    while bounds[-1] < len(extents):
        start = bounds[-1]
        before = int(ends[start - 1]) if start else 0
        # The end of an archive depends on its length: the largest one that fits is found by what is left out.
        stop = int(np.searchsorted(ends, before + target, side="right"))
        while stop > start + 1 and _file_bytes(int(ends[stop - 1]) - before) > target:
            stop -= 1
        bounds.append(max(stop, start + 1))
    return np.array(bounds, dtype=np.int64)


def _file_bytes(content: int) -> int:
    return content + len(archive_end(content))


def _oversized(
    source: PayloadSource, order: NDArray[np.int64], extents: NDArray[np.int64], target: int, strict: bool
) -> tuple[str, ...]:
    # No archive is shorter than its end, whatever the target: only the record itself counts as too large.
    large = np.flatnonzero(extents > target)
    if not len(large):
        return ()
    names = [source.ids[order[place]].decode("utf-8") for place in large[:_MOST_NAMED].tolist()]
    if strict:
        place = int(large[0])
        raise CourseError(
            f"Sample {names[0]} of {source.facts.title} is larger than a shard may be",
            expected=f"a record of at most {format_bytes(target)}",
            found=format_bytes(int(extents[place])),
            next_step="choose a larger target",
        )
    more = "" if len(large) <= _MOST_NAMED else ", ..."
    said = "sample is" if len(large) == 1 else "samples are"
    return (
        f"{len(large):,} {said} larger than the target of {format_bytes(target)} and got a shard each: "
        f"{', '.join(names)}{more}.",
    )


def _digest(
    source: PayloadSource, order: NDArray[np.int64], sizes: NDArray[np.int64], recipe: dict[str, Any]
) -> str:
    facts = asdict(source.facts) | {"recipe": recipe, "schema_version": SCHEMA_VERSION}
    del facts["origin"]
    digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode("utf-8"))
    digest.update(b"\n".join([b"", *source.ids[order].tolist(), b""]))
    digest.update(source.labels[order].astype("<i4").tobytes())
    digest.update(sizes.astype("<i8").tobytes())
    return digest.hexdigest()


def _whole(what: str, value: int, *, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise CourseError(f"{what} cannot be used", expected=f"a whole number, at least {least}", found=value)
    return int(value)
