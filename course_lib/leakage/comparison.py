"""The same model judged on two splits and with several sets of fields, side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from course_lib.errors import CourseError
from course_lib.leakage.holdout import SplitKind, split_positions
from course_lib.leakage.models import build_pipeline

if TYPE_CHECKING:
    import numpy as np
    import pandas
    from numpy.typing import NDArray

    from course_lib.leakage.availability import AvailabilityAudit


@dataclass(frozen=True)
class AucFigure:
    """One measured area under the ROC curve.

    Attributes
    ----------
    fields, split, model : str
        Name of the set of fields, kind of split, and model.
    auc : float
        0.5 is guessing, 1.0 is perfect ranking.
    standard_error : float
        Of the AUC, from the finite number of test rows.
    train_rows, test_rows : int
    train_yes_share, test_yes_share : float
        Share of positive rows, between 0 and 1.
    """

    fields: str
    split: SplitKind
    model: str
    auc: float
    standard_error: float
    train_rows: int
    test_rows: int
    train_yes_share: float
    test_yes_share: float

    @property
    def interval(self) -> tuple[float, float]:
        """About 95% interval of the AUC, from test sampling alone."""
        half = 1.96 * self.standard_error
        return max(0.0, self.auc - half), min(1.0, self.auc + half)


@dataclass(frozen=True)
class AucComparison:
    """All figures of one comparison, found by the fields' and the split's name.

    Attributes
    ----------
    figures : tuple of AucFigure
        One for each split and set of fields.
    model, test_share, seed
        What all of them have in common.
    """

    figures: tuple[AucFigure, ...]
    model: str
    test_share: float
    seed: int

    def figure(self, fields: str, split: str) -> AucFigure:
        """Return the figure of one cell.

        Raises
        ------
        CourseError
            When this comparison did not measure it.
        """
        for figure in self.figures:
            if (figure.fields, figure.split) == (fields, split):
                return figure
        measured = ", ".join(f"{figure.fields} / {figure.split}" for figure in self.figures)
        raise CourseError(f"No AUC was measured for {fields} / {split}", expected=measured)

    def drop(self, start: tuple[str, str], end: tuple[str, str]) -> float:
        """Return how far the AUC falls from one cell to another, each named (fields, split)."""
        return self.figure(*start).auc - self.figure(*end).auc

    def as_figures(self) -> dict[str, float]:
        """Return the AUCs by one name each, such as ``auc_random_all_fields``, for a record."""
        return {
            f"auc_{figure.split}_{figure.fields.replace(' ', '_')}": round(figure.auc, 4)
            for figure in self.figures
        }

    def conditions(self) -> dict[str, str | float | int]:
        """Return what the figures were measured under, for a record."""
        return {"model": self.model, "test_share": self.test_share, "seed": self.seed}


def auc_standard_error(auc: float, positives: int, negatives: int) -> float:
    """Return the standard error of an AUC measured on a finite number of test rows.

    Source: J. A. Hanley and B. J. McNeil, Radiology 143 (1982), 29-36.
    """
    q1, q2 = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc) + (positives - 1) * (q1 - auc**2) + (negatives - 1) * (q2 - auc**2)
    return math.sqrt(max(variance, 0.0) / (positives * negatives))


def audited_field_sets(audit: AvailabilityAudit) -> dict[str, list[str]]:
    """Return the sets of fields that lesson 01 compares, by name.

    ``"all fields"`` is what a careless reader of the file would use, ``"known in time"`` leaves out what the
    audit refuses, and ``"beyond doubt"`` leaves out the doubtful fields as well.
    """
    return {
        "all fields": list(audit.named("usable", "doubtful", "not usable")),
        "known in time": list(audit.named("usable", "doubtful")),
        "beyond doubt": list(audit.usable),
    }


def compare_auc(
    frame: pandas.DataFrame,
    label: str,
    field_sets: Mapping[str, Sequence[str]],
    *,
    positive: str = "yes",
    splits: Sequence[SplitKind] = ("random", "ordered"),
    model: str = "logistic_regression",
    test_share: float = 0.15,
    seed: int = 0,
) -> AucComparison:
    """Fit one model for each split and set of fields, and measure its AUC on the rows held out.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows in the order of time, with the label among the columns.
    label : str
        The label's column.
    field_sets : mapping of str to sequence of str
        Sets of input fields by name; none may hold the label.
    positive : str
        The label's value that counts as positive.
    splits, model, test_share, seed
        See `split_positions` and `build_pipeline`.

    Raises
    ------
    CourseError
        For a missing or forbidden field, and for rows that cannot be split.
    """
    labels = _checked_labels(frame, label, field_sets, positive)
    figures = []
    for split in splits:
        train, test = split_positions(labels, split, test_share=test_share, seed=seed)
        for name, fields in field_sets.items():
            features = frame[list(fields)]
            pipeline = build_pipeline(model, features).fit(features.iloc[train], labels[train])
            scores = pipeline.predict_proba(features.iloc[test])[:, 1]
            figures.append(_figure(name, split, model, labels[train], labels[test], scores))
    return AucComparison(tuple(figures), model, test_share, seed)


def compare_training_times(
    frame: pandas.DataFrame,
    label: str,
    fields: Sequence[str],
    *,
    positive: str = "yes",
    model: str = "logistic_regression",
    test_share: float = 0.15,
    folds: int = 3,
    seed: int = 0,
) -> AucComparison:
    """Score the same late rows twice: by models that saw other late rows, and by one that saw the past only.

    An ordered split changes two things at once: which rows are scored, and what the model has learnt from.
    Here the scored rows stay the same, so the difference is the worth of having learnt from later rows.

    Parameters
    ----------
    frame, label, positive, model, test_share, seed
        As for `compare_auc`.
    fields : sequence of str
        The inputs.
    folds : int
        The models with mixed times are trained on random folds of all rows, stratified by label; each row
        is scored by the one model that has not learnt from it.

    Returns
    -------
    AucComparison
        Two figures on the last rows: ``"past and later rows"`` and ``"past rows only"``.

    Raises
    ------
    CourseError
        For a missing or forbidden field, and for rows that cannot be split.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    labels = _checked_labels(frame, label, {"inputs": fields}, positive)
    train, late = split_positions(labels, "ordered", test_share=test_share)
    features = frame[list(fields)]
    shuffled = StratifiedKFold(folds, shuffle=True, random_state=seed)
    mixed = cross_val_predict(
        build_pipeline(model, features), features, labels, cv=shuffled, method="predict_proba"
    )
    past_only = build_pipeline(model, features).fit(features.iloc[train], labels[train])
    scores = {
        "past and later rows": (labels, mixed[late, 1]),
        "past rows only": (labels[train], past_only.predict_proba(features.iloc[late])[:, 1]),
    }
    figures = [
        _figure(name, "ordered", model, learnt_from, labels[late], late_scores)
        for name, (learnt_from, late_scores) in scores.items()
    ]
    return AucComparison(tuple(figures), model, test_share, seed)


def _checked_labels(
    frame: pandas.DataFrame, label: str, field_sets: Mapping[str, Sequence[str]], positive: str
) -> NDArray[np.int_]:
    """Return the labels as 0 and 1, after a look at whether the sets of fields can be used."""
    for name, fields in field_sets.items():
        missing = [field for field in [*fields, label] if field not in frame.columns]
        if missing:
            raise CourseError(f"The table lacks fields of {name!r}", found=f"no column {', '.join(missing)}")
        if label in fields:
            raise CourseError(
                f"{name!r} holds the label {label!r}", next_step="leave the label out of the inputs"
            )
    return (frame[label] == positive).to_numpy(dtype=int)


def _figure(
    fields: str,
    split: SplitKind,
    model: str,
    train_labels: NDArray[np.int_],
    test_labels: NDArray[np.int_],
    scores: NDArray[np.float64],
) -> AucFigure:
    from sklearn.metrics import roc_auc_score

    auc = float(roc_auc_score(test_labels, scores))
    positives = int(test_labels.sum())
    return AucFigure(
        fields=fields,
        split=split,
        model=model,
        auc=auc,
        standard_error=auc_standard_error(auc, positives, len(test_labels) - positives),
        train_rows=len(train_labels),
        test_rows=len(test_labels),
        train_yes_share=float(train_labels.mean()),
        test_yes_share=positives / len(test_labels),
    )
