"""What a detector hands back: a verdict in plain words, the samples by id, and the figures behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from course_lib.errors import CourseError

Status = Literal["found", "clear", "cannot tell"]

KINDS: dict[str, str] = {
    "exact_duplicate": "the same sample in two parts",
    "near_duplicate": "nearly the same sample in two parts",
    "group_spread": "one group in two parts",
    "future_in_training": "the future in the training part",
    "fitted_on_everything": "a statistic fitted on everything",
    "label_map_changed": "another label map",
    "class_missing": "a class missing from a part",
    "manifest_edited": "a manifest edited after its digest",
    "field_too_good": "one field that predicts the label far too well",
    "drifting_rate": "shares of the classes that drift through time",
}
"""Every kind of fault, by its id, with a plain title."""

EXACT_KINDS: tuple[str, ...] = (
    "exact_duplicate",
    "group_spread",
    "future_in_training",
    "label_map_changed",
    "class_missing",
    "manifest_edited",
)
"""The kinds that are a matter of fact: their detectors have no threshold and are never wrong."""

MEANINGS: dict[str, str] = {
    "samples": "samples looked at",
    "pairs": "pairs found, one sample in one part and one in another",
    "samples_in_pairs": "samples that occur in at least one of these pairs",
    "sets": "sets of equal samples that reach over two or more parts",
    "repeats": "samples that repeat an earlier one, in whatever part",
    "identical_pairs": "pairs across parts that are equal throughout, which are exact duplicates",
    "other_label_pairs": "pairs found whose two samples carry different labels",
    "candidates": "pairs that the hash proposed and that were then compared in full",
    "threshold": "how alike a pair has to be, or how well a field has to predict, to be listed",
    "chance_of_missing": "probability of overlooking a pair that is exactly as alike as the threshold",
    "lowest_similarity": "similarity of the least alike pair found; 1 is equal",
    "groups": "groups looked at",
    "spread_groups": "groups with samples in two or more parts",
    "misplaced": "smallest number of samples that would have to move for the order of time to hold",
    "training_after": "training samples later than the earliest sample held out",
    "same_time": "training samples of exactly the time at which the samples held out begin",
    "statistics": "fitted numbers or words that were compared",
    "differing": "statistics that differ between the training part and everything, and so can tell",
    "like_train": "of the differing statistics, those that equal the training part's",
    "like_everything": "of the differing statistics, those that equal everything's",
    "classes": "classes looked at",
    "changed_classes": "classes whose code or name is another one than described",
    "changed_samples": "samples recorded under another label than the data give",
    "missing": "pairs of a part and a class without a sample, or samples that are no longer there",
    "recorded_digest": "digest written in split.json",
    "actual_digest": "digest of the files as they are now",
    "moved": "samples that the recipe, applied to the data anew, puts into another part",
    "added": "samples in the manifest that the data do not have",
    "removed": "samples of the data that the manifest does not have",
    "field": "the field that predicts best",
    "auc": "area under the ROC curve of that field alone on the training rows; 0.5 is guessing",
    "fields": "fields looked at",
    "runner_up": "the best field below the threshold",
    "runner_up_auc": "area under the ROC curve of that field",
    "blocks": "equal stretches of time that were compared",
    "lowest_share": "smallest share among the stretches, of the class that moves most",
    "highest_share": "largest share among the stretches, of the class that moves most",
    "share_before": "share of that class before the cut",
    "share_after": "share of that class after the cut",
    "drifting_class": "the class that moves most",
    "p_value": "probability of differences as large as these by chance alone",
    "equals": "whose statistics they are: train, everything, neither or both",
    "effect": "Cramér's V, the size of the drift: 0 is none, 1 is as much as there can be",
}
"""What each figure of a finding means."""

Figure: TypeAlias = float | int | str


@dataclass(frozen=True)
class Finding:
    """One detector's answer.

    Attributes
    ----------
    kind : str
        A key of `KINDS`.
    status : {"found", "clear", "cannot tell"}
        "cannot tell" where what the detector needs is missing; the sentence says what.
    sentence : str
        The answer in plain words.
    sample_ids : tuple of str
        The samples concerned, sorted, by id only: a finding never holds a row, a text or an image.
    figures : mapping of str to float, int or str
        The numbers behind the answer; `MEANINGS` says what each one means.
    together : tuple of tuple of str
        Which of the samples belong to one another: pairs, sets of equal samples, or groups.
    """

    kind: str
    status: Status
    sentence: str
    sample_ids: tuple[str, ...] = ()
    figures: Mapping[str, Figure] = field(default_factory=dict)
    together: tuple[tuple[str, ...], ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise CourseError("Unknown kind of fault", expected=" or ".join(KINDS), found=repr(self.kind))

    @property
    def title(self) -> str:
        """The kind in plain words."""
        return KINDS[self.kind]

    def explained(self) -> tuple[tuple[str, Figure, str], ...]:
        """Return each figure as (name, value, what it means)."""
        return tuple((name, value, MEANINGS[name]) for name, value in self.figures.items())

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as plain values, for JSON."""
        return {
            "kind": self.kind,
            "title": self.title,
            "status": self.status,
            "sentence": self.sentence,
            "sample_ids": list(self.sample_ids),
            "together": [list(ids) for ids in self.together],
            "figures": dict(self.figures),
        }


def cannot_tell(kind: str, why: str) -> Finding:
    """Return the answer of a detector that lacks what it needs."""
    return Finding(kind, "cannot tell", why)
