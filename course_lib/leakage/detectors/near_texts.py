"""Texts that are nearly the same, on both sides of a split: MinHash proposes pairs, shingles decide."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.leakage.detectors.exact import pairs_across, sets_of_equal
from course_lib.leakage.detectors.finding import Finding
from course_lib.leakage.detectors.pairs import finding_of_pairs
from course_lib.leakage.detectors.parts import parts_of
from course_lib.leakage.detectors.wording import counted

_KIND = "near_duplicate"
# Scripts that write without blanks count by the character.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_BLOCK = 4096
_MOST_PROPOSALS = 20_000_000
# The standard deviation of an estimate from 128 hash values is 0.044 at most: 0.2 is far beyond it.
_SLACK = 0.2


def find_near_duplicate_texts(
    split: Any,
    texts: Sequence[str],
    *,
    threshold: float = 0.7,
    words: int = 3,
    permutations: int = 128,
    bands: int = 32,
    labels: Sequence[Any] | NDArray[Any] | None = None,
) -> Finding:
    """Find texts in two parts that share most of their runs of words.

    A text is taken as the set of its runs of three words (shingles), whatever their case and punctuation.
    Two texts are as alike as the share of shingles that they have in common (Jaccard). MinHash and bands
    propose pairs; every pair proposed is then compared in full, so that the only error left is to overlook
    one: a pair of similarity s is proposed with probability 1 - (1 - s^r)^b for b bands of r hash values,
    which is 0.9998 at the usual threshold (b = 32, r = 4), and more above it.

    Parameters
    ----------
    split : Split, SplitManifest or Parts
        Which sample lies in which part.
    texts : sequence of str
        In the order of the split's ids.
    threshold : float, optional
        Similarity from which a pair is listed. In a text of 40 words, one replaced word leaves 0.85, two
        0.73 to 0.76.
    words : int, optional
        Words in a shingle. Shorter texts are one shingle.
    permutations, bands : int, optional
        Hash values for each text, and in how many bands they are compared.
    labels : sequence, optional
        Each text's class; pairs under different labels are counted then.

    Returns
    -------
    Finding
        ``together`` holds the pairs, the most alike first. Texts that are equal to the letter are exact
        duplicates, and left to `find_exact_duplicates`.

    Raises
    ------
    CourseError
        For texts that do not match the split, or settings that cannot work.

    Notes
    -----
    MinHash: A. Broder, Compression and Complexity of Sequences (1997), 21-29.
    """
    parts = parts_of(split)
    parts.aligned(texts, "texts")
    if not 0 < threshold <= 1 or words < 1 or bands < 1 or permutations % bands:
        raise CourseError(
            "These settings of the search for near duplicates cannot work",
            expected="a threshold in (0, 1], and as many bands as divide the permutations",
            found=f"threshold {threshold}, {words} words, {permutations} permutations, {bands} bands",
        )
    # A text that stands many times in one part is compared once, and stands for all its copies then.
    copies = _copies(texts, parts.codes)
    firsts = np.array([positions[0] for positions in copies], dtype=np.intp)
    signatures = _signatures([texts[at] for at in firsts], words, permutations)
    pairs = _proposed(signatures, parts.codes[firsts], bands)
    pairs = pairs[_estimates(signatures, pairs) >= threshold - _SLACK]
    found: list[tuple[float, int, int]] = []
    identical = 0
    for left, right in pairs.tolist():
        one, other = texts[firsts[left]], texts[firsts[right]]
        if one == other:
            identical += len(copies[left]) * len(copies[right])
            continue
        likeness = likeness_of_texts(one, other, words=words)
        if likeness >= threshold:
            found += [(likeness, here, there) for here in copies[left] for there in copies[right]]
    rows = permutations // bands
    figures = {
        "samples": len(parts),
        "candidates": len(pairs),
        "identical_pairs": identical,
        "threshold": threshold,
        "chance_of_missing": (1 - threshold**rows) ** bands,
    }
    sentence = f"share {threshold:.0%} or more of their runs of {counted(words, 'word')}"
    return finding_of_pairs(_KIND, parts, found, "texts", sentence, figures, labels)


def _copies(texts: Sequence[str], codes: NDArray[np.int8]) -> list[list[int]]:
    """Return the positions of each different text of each part."""
    positions: dict[tuple[int, str], list[int]] = {}
    for at, key in enumerate(zip(codes.tolist(), texts, strict=True)):
        positions.setdefault(key, []).append(at)
    return list(positions.values())


def _shingles(text: str, words: int) -> set[str]:
    tokens = _WORD.findall(text.casefold())
    if len(tokens) <= words:
        return {" ".join(tokens)}
    return {" ".join(tokens[at : at + words]) for at in range(len(tokens) - words + 1)}


def likeness_of_texts(one: str, other: str, *, words: int = 3) -> float:
    """Return the share of shingles that two texts have in common: 1 for the same words, 0 for none."""
    left, right = _shingles(one, words), _shingles(other, words)
    return len(left & right) / len(left | right)


def _signatures(texts: Sequence[str], words: int, permutations: int) -> NDArray[np.uint32]:
    """Return the MinHash values, shape (texts, permutations)."""
    from datasketch import MinHash

    signatures = np.empty((len(texts), permutations), dtype=np.uint32)
    for start in range(0, len(texts), _BLOCK):
        block = [[s.encode() for s in _shingles(text, words)] for text in texts[start : start + _BLOCK]]
        for row, made in enumerate(MinHash.generator(block, num_perm=permutations), start):
            signatures[row] = made.hashvalues
    return signatures


def _proposed(signatures: NDArray[np.uint32], codes: NDArray[np.int8], bands: int) -> NDArray[np.intp]:
    """Return pairs of rows of different parts that agree in a whole band, shape (pairs, 2)."""
    count, permutations = signatures.shape
    rows = permutations // bands
    keys: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    proposals = 0
    for band in range(bands):
        slab = np.ascontiguousarray(signatures[:, band * rows : (band + 1) * rows])
        for at in sets_of_equal(slab.view(f"V{4 * rows}").ravel()):
            of_part = codes[at]
            if (of_part == of_part[0]).all():
                continue
            proposals += pairs_across(of_part)
            if proposals > _MOST_PROPOSALS:
                raise CourseError(
                    "Too many of the texts are alike to compare them all",
                    expected=f"{_MOST_PROPOSALS:,} proposed pairs at most",
                    next_step="take out what every text repeats, such as a greeting, or compare fewer texts",
                )
            left, right = np.nonzero(np.triu(of_part[:, None] != of_part[None, :]))
            keys.append(at[left].astype(np.int64) * count + at[right])
    proposed = np.unique(np.concatenate(keys))
    return np.stack([proposed // count, proposed % count], axis=1).astype(np.intp)


def _estimates(signatures: NDArray[np.uint32], pairs: NDArray[np.intp]) -> NDArray[np.float64]:
    """Estimate the pairs' similarity by the share of equal hash values."""
    shares = np.empty(len(pairs))
    for start in range(0, len(pairs), _BLOCK):
        block = pairs[start : start + _BLOCK]
        shares[start : start + _BLOCK] = (signatures[block[:, 0]] == signatures[block[:, 1]]).mean(axis=1)
    return shares
