"""Statistics fitted on everything: whose rows does a fitted scaler, imputer or vocabulary know?"""

from __future__ import annotations

import math
from typing import Any, Literal

from course_lib.leakage.detectors.finding import Figure, Finding
from course_lib.leakage.detectors.learnt import learnt_statistics, refitted
from course_lib.leakage.detectors.wording import counted, listed

_KIND = "fitted_on_everything"
_TOLERANCE = 1e-6

Source = Literal["train", "everything", "neither", "both"]


def find_statistic_fitted_on_everything(fitted: Any, train: Any, everything: Any) -> Finding:
    """Fit the same thing again on the training rows and on all rows, and say which of the two it equals.

    Parameters
    ----------
    fitted : object
        A fitted scikit-learn scaler, imputer, encoder or vectoriser, a pipeline or column transformer of
        these, a trained ``tokenizers.Tokenizer``, or a mapping of field to its mean, or of field to a
        mapping of "mean", "median", "min", "max" or "std" to the number.
    train, everything : array, DataFrame or sequence of str
        Rows or texts of the training part, and of all parts.

    Returns
    -------
    Finding
        ``figures["equals"]`` is "train", "everything", "neither" or "both". Only statistics that differ
        between the two can tell. One that equals everything's and not the training part's is found, be the
        others as they may.

    Raises
    ------
    CourseError
        For something that is not fitted, or of a kind that cannot be fitted again.
    """
    known = learnt_statistics(fitted)
    from_train = refitted(fitted, train)
    from_everything = refitted(fitted, everything)
    names = sorted(known.keys() | from_train.keys() | from_everything.keys())
    telling = [n for n in names if not _same(from_train.get(n), from_everything.get(n))]
    like_train = [n for n in telling if _same(known.get(n), from_train.get(n))]
    like_all = [n for n in telling if _same(known.get(n), from_everything.get(n))]
    agreeing = all(_same(known.get(n), from_train.get(n)) for n in names if n not in set(telling))
    equals = _source(agreeing, len(telling), len(like_train), len(like_all))
    figures: dict[str, Figure] = {
        "statistics": len(names),
        "differing": len(telling),
        "like_train": len(like_train),
        "like_everything": len(like_all),
        "equals": equals,
    }
    if like_all:
        sentence = (
            f"{counted(len(like_all), 'statistic equals', 'statistics equal')} the one fitted on everything "
            f"and not the training part's ({listed(like_all)}): it has seen the rows held out."
        )
        return Finding(_KIND, "found", sentence, (), figures)
    if equals == "train":
        sentence = "Every statistic equals the one fitted on the training part alone."
        return Finding(_KIND, "clear", sentence, (), figures)
    if equals == "both":
        sentence = (
            "The training part and everything give the same statistics, so nobody can tell which it was."
        )
    else:
        sentence = (
            "It equals neither the training part's statistics nor everything's; ask what it was fitted on."
        )
    return Finding(_KIND, "cannot tell", sentence, (), figures)


def _source(agreeing: bool, telling: int, like_train: int, like_all: int) -> Source:
    if not agreeing:
        return "neither"
    if not telling:
        return "both"
    if like_train == telling:
        return "train"
    return "everything" if like_all == telling else "neither"


def _same(one: Any, other: Any) -> bool:
    """Compare two statistics: numbers within rounding, everything else exactly; absent equals absent."""
    numbers = isinstance(one, (int, float)) and isinstance(other, (int, float))
    if not numbers:
        return type(one) is type(other) and bool(one == other)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isclose(one, other, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE * 1e-3)
