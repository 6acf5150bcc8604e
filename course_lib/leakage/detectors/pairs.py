"""The answer of a detector that compares samples two by two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from course_lib.leakage.detectors.finding import Figure, Finding
from course_lib.leakage.detectors.parts import Parts
from course_lib.leakage.detectors.wording import counted


def finding_of_pairs(
    kind: str,
    parts: Parts,
    found: Sequence[tuple[float, int, int]],
    things: str,
    alike: str,
    figures: Mapping[str, Figure],
    labels: Sequence[Any] | NDArray[Any] | None = None,
) -> Finding:
    """Put pairs into words.

    Parameters
    ----------
    kind : str
        Of the finding.
    parts : Parts
        The split.
    found : sequence of (float, int, int)
        Similarity and the two positions of each pair.
    things : str
        What the samples are, such as "texts".
    alike : str
        What the two of a pair have in common, as the end of a sentence.
    figures : mapping
        Further figures.
    labels : sequence, optional
        Each sample's class.
    """
    ranked = sorted((-likeness, _pair(parts, left, right), left, right) for likeness, left, right in found)
    together = tuple(pair for _, pair, _, _ in ranked)
    ids = tuple(sorted({sample_id for pair in together for sample_id in pair}))
    all_figures: dict[str, Figure] = {"pairs": len(together), "samples_in_pairs": len(ids), **figures}
    if not together:
        return Finding(kind, "clear", f"No two {things} in different parts {alike}.", (), all_figures)
    all_figures["lowest_similarity"] = -ranked[-1][0]
    if labels is not None:
        parts.aligned(labels, "labels")
        all_figures["other_label_pairs"] = sum(
            bool(labels[left] != labels[right]) for *_, left, right in ranked
        )
    sentence = f"{counted(len(together), 'pair')} of {things} in different parts {alike}."
    return Finding(kind, "found", sentence, ids, all_figures, together)


def _pair(parts: Parts, left: int, right: int) -> tuple[str, ...]:
    return tuple(sorted(parts.ids_at((left, right))))
