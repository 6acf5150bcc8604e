"""Proof that two layouts hold the same samples, and that a model cannot tell from which it was trained."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.experiments.layout_timing import LAYOUTS

if TYPE_CHECKING:
    import pandas

_FIGURES = ("loss", "macro_f1", "recall")


@dataclass(frozen=True)
class LayoutFacts:
    """What one layout holds of one part of the data, read from that layout alone.

    Attributes
    ----------
    layout : {"files", "shards"}
    part : {"train", "test"}
    samples : int
    ids, payloads, labels : str
        SHA-256 over the sorted ids; over id and SHA-256 of the payload of each; over id and label of each.
    class_counts : dict of str to int
    label_map : tuple of str
        Class names in the order of their labels: from the data manifest for files, from the shard manifest
        for shards.
    """

    layout: str
    part: str
    samples: int
    ids: str
    payloads: str
    labels: str
    class_counts: Mapping[str, int]
    label_map: tuple[str, ...]


@dataclass(frozen=True)
class TrainedModel:
    """One training from one layout.

    Attributes
    ----------
    layout : {"files", "shards"}
    seed : int
        Of the weights; the order of the samples depends on its place among the seeds.
    loss, macro_f1 : tuple of float
        On the test part after each epoch: the curve; the last value is the result.
    recall : tuple of float
        Of each class, after the last epoch.
    delivered : str
        SHA-256 over the ids of all samples that it was trained on, in order.
    weights : str
        SHA-256 over the weights after the last epoch.
    """

    layout: str
    seed: int
    loss: tuple[float, ...]
    macro_f1: tuple[float, ...]
    recall: tuple[float, ...]
    delivered: str
    weights: str

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a record."""
        return asdict(self) | {name: list(getattr(self, name)) for name in _FIGURES}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainedModel:
        """Return the training that a record holds."""
        return cls(**{**values, **{name: tuple(values[name]) for name in _FIGURES}})


@dataclass(frozen=True, eq=False)
class LayoutEquality:
    """Two layouts side by side: what they hold, and the same model trained from both with equal budget.

    Attributes
    ----------
    facts : tuple of LayoutFacts
        Of each part and layout.
    models : tuple of TrainedModel
        Of each seed and layout.
    conditions : dict
        The loader's conditions, "seeds" (named before the training), "epochs" and "test_samples".
    origin : Origin or None
    started : str
        UTC time, ISO 8601.

    Raises
    ------
    CourseError
        When a layout lacks a seed or a part.
    """

    facts: tuple[LayoutFacts, ...]
    models: tuple[TrainedModel, ...]
    conditions: Mapping[str, Any]
    origin: Origin | None
    started: str

    def __post_init__(self) -> None:
        trained = {(model.layout, model.seed) for model in self.models}
        wanted = {(layout, seed) for layout in LAYOUTS for seed in self.seeds}
        if trained != wanted or {fact.layout for fact in self.facts} != set(LAYOUTS):
            raise CourseError(
                "The two layouts were not trained alike",
                expected=f"each of {len(self.seeds)} seeds on both",
                found=f"{len(trained)} trainings",
            )

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds, as they were named beforehand."""
        return tuple(self.conditions["seeds"])

    @property
    def class_names(self) -> tuple[str, ...]:
        """The classes in the order of their labels."""
        return self.facts[0].label_map

    @property
    def same_samples(self) -> bool:
        """Whether ids, payloads, labels, class counts and label map are the same in both layouts."""
        return all(row["equal"] == "yes" for row in self._proofs())

    @property
    def differences(self) -> tuple[float, ...]:
        """Macro-F1 from shards minus macro-F1 from files, for each seed."""
        of = {(model.layout, model.seed): model.macro_f1[-1] for model in self.models}
        return tuple(of["shards", seed] - of["files", seed] for seed in self.seeds)

    @property
    def spread(self) -> float:
        """Largest minus smallest macro-F1 over the seeds, trained from files; NaN for a single seed."""
        scores = [model.macro_f1[-1] for model in self.models if model.layout == "files"]
        return max(scores) - min(scores) if len(scores) > 1 else math.nan

    @property
    def inside_spread(self) -> bool:
        """Whether no seed's difference between the layouts is larger than the spread over the seeds."""
        return max(map(abs, self.differences)) <= self.spread

    @property
    def same_weights(self) -> bool:
        """Whether for each seed both layouts led to the same weights, bit by bit."""
        weights = {(model.layout, model.seed): model.weights for model in self.models}
        return all(weights["files", seed] == weights["shards", seed] for seed in self.seeds)

    @property
    def sentence(self) -> str:
        """Return in words what the layouts differ in."""
        held = (
            "Both layouts hold the same samples: ids, payloads, labels, class counts and label map are equal."
            if self.same_samples
            else "The layouts do not hold the same samples: " + ", ".join(self._unequal()) + " differ."
        )
        if self.same_weights:
            trained = "For each seed the trained weights are the same, bit by bit, and so is macro-F1"
            if len(self.seeds) > 1:
                trained += f", which spreads by {self.spread:.4f} over the seeds"
            trained += "."
        elif len(self.seeds) < 2:
            trained = "One seed shows no spread, so that nothing can be said of the difference in macro-F1."
        else:
            largest = max(map(abs, self.differences))
            where = "lies inside" if self.inside_spread else "is larger than"
            trained = (
                f"The largest difference in macro-F1 is {largest:.4f} and {where} the spread over "
                f"{len(self.seeds)} seeds, {self.spread:.4f}."
            )
        return f"{held} {trained}"

    def proof_table(self) -> pandas.DataFrame:
        """Return what was compared, its digest in either layout, and whether they are equal."""
        return _table(self._proofs())

    def score_table(self) -> pandas.DataFrame:
        """Return macro-F1 of each seed from either layout, the difference, and whether weights are equal."""
        of = {(model.layout, model.seed): model for model in self.models}
        return _table(
            [
                {
                    "seed": seed,
                    "macro-F1 from files": of["files", seed].macro_f1[-1],
                    "macro-F1 from shards": of["shards", seed].macro_f1[-1],
                    "difference": difference,
                    "same order": _yes(of["files", seed].delivered == of["shards", seed].delivered),
                    "same weights": _yes(of["files", seed].weights == of["shards", seed].weights),
                }
                for seed, difference in zip(self.seeds, self.differences, strict=True)
            ]
        )

    def recall_table(self) -> pandas.DataFrame:
        """Return the recall of each class, as the mean over the seeds, from either layout."""
        rows = []
        for place, name in enumerate(self.class_names):
            means = {
                layout: math.fsum(model.recall[place] for model in self.models if model.layout == layout)
                / len(self.seeds)
                for layout in LAYOUTS
            }
            rows.append({"class": name, **{f"recall from {layout}": mean for layout, mean in means.items()}})
        return _table(rows)

    def curve_table(self) -> pandas.DataFrame:
        """Return loss and macro-F1 on the test part after each epoch, one row for each training and epoch."""
        return _table(
            [
                {"layout": model.layout, "seed": model.seed, "epoch": epoch, "loss": loss, "macro-F1": score}
                for model in self.models
                for epoch, (loss, score) in enumerate(zip(model.loss, model.macro_f1, strict=True), 1)
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the proof as values that JSON can hold."""
        return {
            "facts": [{**asdict(fact), "label_map": list(fact.label_map)} for fact in self.facts],
            "models": [model.as_dict() for model in self.models],
            "conditions": dict(self.conditions),
            "origin": self.origin.as_dict() if self.origin else None,
            "started": self.started,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LayoutEquality:
        """Return the proof that :meth:`as_dict` gave."""
        return cls(
            facts=tuple(
                LayoutFacts(**{**fact, "label_map": tuple(fact["label_map"])}) for fact in values["facts"]
            ),
            models=tuple(TrainedModel.from_dict(model) for model in values["models"]),
            conditions=values["conditions"],
            origin=Origin(**values["origin"]) if values["origin"] else None,
            started=values["started"],
        )

    def _proofs(self) -> list[dict[str, Any]]:
        rows = []
        for part in dict.fromkeys(fact.part for fact in self.facts):
            files, shards = (
                next(fact for fact in self.facts if (fact.part, fact.layout) == (part, layout))
                for layout in LAYOUTS
            )
            for name in ("ids", "payloads", "labels", "class_counts", "label_map"):
                first, second = getattr(files, name), getattr(shards, name)
                rows.append(
                    {
                        "part": part,
                        "what": name.replace("_", " "),
                        "in files": _shown(first),
                        "in shards": _shown(second),
                        "equal": _yes(first == second),
                    }
                )
        return rows

    def _unequal(self) -> list[str]:
        return [f"{row['what']} of {row['part']}" for row in self._proofs() if row["equal"] == "no"]


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return f"{value[:12]}..."
    if isinstance(value, Mapping):
        counts = sorted(set(value.values()))
        of_each = f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,} to {counts[-1]:,}"
        return f"{len(value)} classes of {of_each}"
    return ", ".join(value)


def _table(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
