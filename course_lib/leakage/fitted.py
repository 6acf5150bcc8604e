"""Statistics that are learnt from rows: from which rows, and what it does to a score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError
from course_lib.files import write_atomically

if TYPE_CHECKING:
    import pandas

    Positions = NDArray[np.int64]


def fitted_means(frame: pandas.DataFrame, rows: Positions) -> dict[str, float]:
    """Return the mean of each number column over the rows at some positions."""
    numbers = frame.select_dtypes("number")
    return {str(name): float(mean) for name, mean in numbers.iloc[rows].mean().items()}


def write_means(means: dict[str, float], path: Path) -> Path:
    """Keep means in a JSON file, as pipelines do that want to be quick next time."""
    return write_atomically(path, json.dumps({"means": means}, indent=1) + "\n")


def read_means(path: Path) -> dict[str, float]:
    """Return the means of such a file; it doesn't say what they were fitted on.

    Raises
    ------
    CourseError
        When the file is not there or holds something else.
    """
    try:
        means = json.loads(path.read_text(encoding="utf-8"))["means"]
        return {str(name): float(value) for name, value in means.items()}
    except OSError as error:
        raise CourseError(f"{path} cannot be read", found=error.strerror or str(error)) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CourseError(
            f"{path} is no file of means", expected='{"means": {name: number}}', found=str(error)
        ) from error


@dataclass(frozen=True)
class FittedOn:
    """The AUC of one ranking by shares of yes, and what the shares were taken from.

    Attributes
    ----------
    rows : str
        "training rows" or "all rows".
    auc : float
        On the test rows.
    test_rows, profiles : int
        Rows scored, and profiles that a share was kept for.
    """

    rows: str
    auc: float
    test_rows: int
    profiles: int


def compare_fitted(
    frame: pandas.DataFrame,
    label: str,
    profile: Sequence[str],
    train: Positions,
    test: Positions,
    *,
    positive: str = "yes",
) -> tuple[FittedOn, FittedOn]:
    """Rank the test rows by the share of positive rows with the same profile, fitted in two ways.

    Parameters
    ----------
    frame : pandas.DataFrame
    label : str
        Its column.
    profile : sequence of str
        Columns that together make a profile. A profile that wasn't fitted gets the overall share.
    train, test : ndarray of int64
        Positions of the two parts.
    positive : str, optional
        The label's value that counts.

    Returns
    -------
    tuple of FittedOn
        On the training rows, and on training and test rows together.
    """
    from sklearn.metrics import roc_auc_score

    said_yes = (frame[label] == positive).to_numpy(dtype=float)
    keys = frame.groupby(list(profile), sort=False).ngroup().to_numpy()
    found = []
    for words, rows in (("training rows", train), ("all rows", np.concatenate([train, test]))):
        yes = np.bincount(keys[rows], weights=said_yes[rows], minlength=keys.max() + 1)
        seen = np.bincount(keys[rows], minlength=keys.max() + 1)
        shares = np.where(seen > 0, yes / np.maximum(seen, 1), said_yes[rows].mean())
        auc = float(roc_auc_score(said_yes[test], shares[keys[test]]))
        found.append(FittedOn(words, auc, len(test), int((seen > 0).sum())))
    return found[0], found[1]
