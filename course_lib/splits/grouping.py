"""Placing whole groups into splits so that sizes, or the shares of every class, come close to the ratios."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from course_lib.splits.ordering import keyed_digests

_SCALE_BITS = 60
_SHARE_BITS = 40


def place_groups(
    group_names: pa.Array,
    group_codes: NDArray[np.int32],
    labels: NDArray[np.int32],
    class_count: int,
    ratios: Sequence[Fraction],
    key: str,
) -> NDArray[np.int8]:
    """Return the split of each group, shape (groups,).

    The group that holds the largest part of any class is placed first; between equal ones the keyed digest
    of the name decides. Each goes where it lowers the chi-squared distance between the classes' counts and
    their targets most, ties to the split named first; when no more groups are left than empty splits, these
    are filled. All of it in whole numbers, as floating point could round differently on another machine.

    Parameters
    ----------
    group_names : pyarrow.Array of string, length groups
    group_codes : ndarray of int32, shape (n,)
        Place of each sample's group in ``group_names``.
    labels : ndarray of int32, shape (n,)
        Class codes; all zero to balance sizes alone.
    class_count : int
    ratios : sequence of Fraction
    key : str
        Changes the digests.
    """
    members = _class_counts_of_groups(group_codes, labels, class_count, len(group_names))
    class_sizes = np.bincount(labels, minlength=class_count).tolist()
    weights = [(1 << _SCALE_BITS) // size**2 if size else 0 for size in class_sizes]
    whole = math.lcm(*(ratio.denominator for ratio in ratios))
    parts = [int(ratio * whole) for ratio in ratios]
    common = math.lcm(*parts)
    factors = [common // part for part in parts]

    filled = [[0] * class_count for _ in ratios]
    empty = set(range(len(ratios)))
    placed = np.empty(len(group_names), dtype=np.int8)
    for number, group in enumerate(_placing_order(group_names, members, class_sizes, key)):
        must_fill = len(group_names) - number <= len(empty)
        best, best_change = -1, 0
        for split in sorted(empty) if must_fill else range(len(ratios)):
            counts, part = filled[split], parts[split]
            change = factors[split] * sum(
                weights[code] * size * (2 * (counts[code] * whole - part * class_sizes[code]) + size * whole)
                for code, size in members[group]
            )
            if best < 0 or change < best_change:
                best, best_change = split, change
        for code, size in members[group]:
            filled[best][code] += size
        empty.discard(best)
        placed[group] = best
    return placed


def _class_counts_of_groups(
    group_codes: NDArray[np.int32], labels: NDArray[np.int32], class_count: int, group_count: int
) -> list[list[tuple[int, int]]]:
    """Return for each group its classes with their numbers of samples."""
    pairs, sizes = np.unique(group_codes.astype(np.int64) * class_count + labels, return_counts=True)
    members: list[list[tuple[int, int]]] = [[] for _ in range(group_count)]
    for pair, size in zip(pairs.tolist(), sizes.tolist(), strict=True):
        group, code = divmod(pair, class_count)
        members[group].append((code, size))
    return members


def _placing_order(
    group_names: pa.Array, members: list[list[tuple[int, int]]], class_sizes: list[int], key: str
) -> list[int]:
    digests = keyed_digests(group_names, key).tolist()
    names = group_names.to_pylist()
    largest_part = [
        max((size << _SHARE_BITS) // class_sizes[code] for code, size in group) for group in members
    ]
    return sorted(
        range(len(names)),
        key=lambda group: (-largest_part[group], digests[group], names[group].encode("utf-8")),
    )
