"""What a split lets a model get away with: acquaintances in the test, the future in training, and the AUC."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from course_lib.leakage.comparison import auc_standard_error

if TYPE_CHECKING:
    import pandas
    from sklearn.pipeline import Pipeline

    from course_lib.splits import Split


@dataclass(frozen=True)
class JudgedSplit:
    """One split of a table and the figure that it leads to.

    Attributes
    ----------
    recipe : str
        How it was made.
    auc, standard_error : float
        Of the model on the test part, 0.5 is guessing.
    train_rows, test_rows : int
    acquainted : int
        Test rows whose group has rows in training too.
    overtaken : int
        Test rows that are earlier than the newest training row.
    """

    recipe: str
    auc: float
    standard_error: float
    train_rows: int
    test_rows: int
    acquainted: int
    overtaken: int

    @property
    def interval(self) -> tuple[float, float]:
        """About 95% interval of the AUC, from test sampling alone."""
        half = 1.96 * self.standard_error
        return max(0.0, self.auc - half), min(1.0, self.auc + half)


def judge_split(frame: pandas.DataFrame, split: Split, fields: Sequence[str]) -> JudgedSplit:
    """Fit a random forest on the training part of a split and score it on the test part.

    A forest can keep single rows in mind, which is what a split has to be safe from.

    Parameters
    ----------
    frame : pandas.DataFrame
        Rows in the order of the split's samples.
    split : Split
        With the parts "train" and "test"; class 1 counts as positive. Samples without groups or times have
        no acquainted or overtaken rows.
    fields : sequence of str
        Inputs of the model.
    """
    from sklearn.metrics import roc_auc_score

    samples = split.samples
    train, test = split.positions("train"), split.positions("test")
    features, positive = frame[list(fields)], samples.labels == 1
    pipeline = _forest(features).fit(features.iloc[train], positive[train])
    auc = float(roc_auc_score(positive[test], pipeline.predict_proba(features.iloc[test])[:, 1]))
    positives = int(positive[test].sum())
    acquainted = overtaken = 0
    if samples.groups is not None:
        groups = np.asarray(samples.groups.to_numpy(zero_copy_only=False))
        acquainted = int(np.isin(groups[test], groups[train]).sum())
    if samples.times is not None:
        overtaken = int((samples.times[test] < samples.times[train].max()).sum())
    return JudgedSplit(
        recipe=str(split.recipe),
        auc=auc,
        standard_error=auc_standard_error(auc, positives, len(test) - positives),
        train_rows=len(train),
        test_rows=len(test),
        acquainted=acquainted,
        overtaken=overtaken,
    )


def _forest(features: pandas.DataFrame) -> Pipeline:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    texts = make_column_selector(dtype_exclude="number")
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(
        make_column_transformer((encoder, texts), remainder="passthrough"),
        RandomForestClassifier(n_estimators=50, min_samples_leaf=2, random_state=0),
    )
