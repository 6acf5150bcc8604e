"""One field that predicts the label far too well to be an honest input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.leakage.detectors.finding import Figure, Finding, cannot_tell
from course_lib.leakage.detectors.wording import listed

if TYPE_CHECKING:
    import pandas

_KIND = "field_too_good"
_FOLDS = 5
_BINS = 20
_FEWEST_OF_A_CLASS = 10


def find_field_too_good(
    frame: pandas.DataFrame,
    label: str,
    *,
    positive: Any = None,
    rows: Sequence[int] | NDArray[np.intp] | None = None,
    threshold: float = 0.8,
) -> Finding:
    """Find fields that predict the label by themselves better than ``threshold``.

    Parameters
    ----------
    frame : pandas.DataFrame
        Inputs and label.
    label : str
        The label's column.
    positive : optional
        The label's value that counts as positive; each value in turn where left out, and the best counts.
    rows : sequence of int, optional
        Positions of the training rows; all rows where left out. A held-out row has no say.
    threshold : float, optional
        AUC of one field from which it is listed. 0.8 is what whole models of behaviour reach with all their
        inputs together; a single field that gets there is more often an echo of the answer than a cause.
        It is a reason to ask when the field is known, not a proof.

    Returns
    -------
    Finding
        The figures name the best field; the sentence names all that are listed.

    Raises
    ------
    CourseError
        For a missing column or a positive value that does not occur.
    """
    scores = field_scores(frame, label, positive=positive, rows=rows)
    if not scores:
        return cannot_tell(
            _KIND,
            "The training rows have too few samples of some class, or no field, to judge one by itself.",
        )
    ranked = sorted(scores, key=lambda name: (-scores[name], name))
    too_good = [name for name in ranked if scores[name] >= threshold]
    honest = [name for name in ranked if scores[name] < threshold]
    figures: dict[str, Figure] = {
        "fields": len(scores),
        "field": ranked[0],
        "auc": scores[ranked[0]],
        "threshold": threshold,
    }
    if honest:
        figures |= {"runner_up": honest[0], "runner_up_auc": scores[honest[0]]}
    if not too_good:
        sentence = (
            f"No field alone reaches an AUC of {threshold:.2f}; the best, {ranked[0]}, has "
            f"{scores[ranked[0]]:.3f}."
        )
        return Finding(_KIND, "clear", sentence, (), figures)
    told = [f"{name} {scores[name]:.3f}" for name in too_good]
    sentence = (
        f"An AUC of {threshold:.2f} or more by one field alone: {listed(told)}. "
        "Ask when the value is known before a model may see it."
    )
    return Finding(_KIND, "found", sentence, (), figures)


def field_scores(
    frame: pandas.DataFrame,
    label: str,
    *,
    positive: Any = None,
    rows: Sequence[int] | NDArray[np.intp] | None = None,
) -> dict[str, float]:
    """Return the AUC of each field by itself, 0.5 for guessing and 1.0 for perfect ranking.

    A number ranks the rows as it is, in either direction; it is also cut into up to 20 bins, so that
    "very small or very large" shows as well. Bins and categories rank by the share of positive rows that
    the *other* four fifths of the rows give them: a field with a value for each row gains nothing by
    learning its own label by heart. The better of the two counts.

    Returns
    -------
    dict of str to float
        In the order of the columns; empty where some class has fewer than ten training rows.

    Raises
    ------
    CourseError
        For a missing column or a positive value that does not occur.
    """
    from pandas.api.types import is_numeric_dtype

    if label not in frame.columns:
        raise CourseError("The table has no such label", expected=label, found=listed(list(frame.columns)))
    training = frame if rows is None else frame.iloc[np.asarray(rows)]
    values = training[label].to_numpy()
    classes = list(dict.fromkeys(sorted(values.tolist(), key=str)))
    if positive is not None and positive not in classes:
        raise CourseError(
            "The positive class does not occur",
            expected=listed(list(map(str, classes))),
            found=repr(positive),
        )
    targets = [values == name for name in ([positive] if positive is not None else classes)]
    if len(classes) < 2 or any(min(t.sum(), (~t).sum()) < _FEWEST_OF_A_CLASS for t in targets):
        return {}
    scores = {}
    for name in frame.columns:
        if name == label:
            continue
        column = training[name]
        number = is_numeric_dtype(column) and column.nunique() > 2
        places = _bins(column) if number else _categories(column)
        best = max(_out_of_fold_auc(places, target) for target in targets)
        if number:
            best = max(best, *(_auc_of_number(column, target) for target in targets))
        scores[str(name)] = best
    return scores


def _auc_of_number(column: pandas.Series, target: NDArray[np.bool_]) -> float:
    from sklearn.metrics import roc_auc_score

    present = column.notna().to_numpy()
    if len(np.unique(target[present])) < 2:
        return 0.5
    auc = float(roc_auc_score(target[present], column.to_numpy(dtype=float)[present]))
    return max(auc, 1 - auc)


def _out_of_fold_auc(places: NDArray[np.intp], target: NDArray[np.bool_]) -> float:
    """Rank rows by their place's share of positives among the other folds' rows."""
    from sklearn.metrics import roc_auc_score

    # Neighbouring rows go to different folds, for every class alike: no chance, so the same figure each time.
    folds = np.empty(len(target), dtype=int)
    for side in (target, ~target):
        folds[side] = np.arange(side.sum()) % _FOLDS
    ranks = np.empty(len(target))
    count = int(places.max()) + 1
    prior = target.mean()
    for fold in range(_FOLDS):
        learn = folds != fold
        seen = np.bincount(places[learn], minlength=count)
        positive = np.bincount(places[learn & target], minlength=count)
        share = (positive + prior) / (seen + 1)
        ranks[~learn] = share[places[~learn]]
    return float(roc_auc_score(target, ranks))


def _categories(column: pandas.Series) -> NDArray[np.intp]:
    import pandas as pd

    return pd.factorize(column, use_na_sentinel=False)[0]


def _bins(column: pandas.Series) -> NDArray[np.intp]:
    """Number the quantile bins of a column; missing values have a bin of their own."""
    values = column.to_numpy(dtype=float, na_value=np.nan)
    edges = np.unique(np.nanquantile(values, np.linspace(0, 1, _BINS + 1)[1:-1]))
    places = np.searchsorted(edges, values, side="right")
    return np.where(np.isnan(values), len(edges) + 1, places)
