"""Which rows a model learns from and which it is judged on: at random, or in the order of time."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Literal

from course_lib.errors import CourseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

SplitKind = Literal["random", "ordered"]
SPLITS: dict[str, str] = {
    "random": "random split (stratified)",
    "ordered": "ordered split (later rows for the test)",
}

LARGEST_SEED = 2**32 - 1


def split_positions(
    labels: ArrayLike, kind: SplitKind, *, test_share: float = 0.15, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions of the training rows and of the test rows.

    Parameters
    ----------
    labels : array, list or Series of int, shape (rows,)
        0 or 1 for each row, rows in the order of time.
    kind : {"random", "ordered"}
        Stratified by label at random, or the last rows for the test.
    test_share : float
        Share of the rows in the test part, between 0 and 1 (both excluded).
    seed : int
        Decides the random split, 0 to 4,294,967,295; has no effect on the ordered one.

    Raises
    ------
    CourseError
        For an unknown kind, labels other than 0 and 1, a share outside (0, 1), a seed outside its range,
        or a part in which one of the classes is missing.
    """
    import numpy as np

    labels = _checked_labels(labels)
    if kind not in SPLITS:
        raise CourseError("Unknown kind of split", expected=" or ".join(SPLITS), found=repr(kind))
    if isinstance(test_share, bool) or not isinstance(test_share, Real) or not 0 < test_share < 1:
        raise CourseError(
            "The test share must leave rows on both sides",
            expected="a number between 0 and 1",
            found=repr(test_share),
        )
    if isinstance(seed, bool) or not isinstance(seed, Integral) or not 0 <= seed <= LARGEST_SEED:
        raise CourseError(
            "The seed is no seed", expected=f"a whole number from 0 to {LARGEST_SEED:,}", found=repr(seed)
        )
    if kind == "random":
        from sklearn.model_selection import train_test_split

        try:
            train, test = train_test_split(
                np.arange(len(labels)), test_size=float(test_share), stratify=labels, random_state=int(seed)
            )
        except ValueError as error:
            raise CourseError(
                "The rows cannot be split with both classes on both sides",
                found=f"{int(np.sum(labels))} positive rows of {len(labels)}",
                next_step="use more rows or another share",
            ) from error
    else:
        cut = round(len(labels) * (1 - float(test_share)))
        train, test = np.arange(cut), np.arange(cut, len(labels))
    for part, positions in (("training", train), ("test", test)):
        if len(np.unique(labels[positions])) < 2:
            raise CourseError(
                f"The {part} part has rows of one class only",
                expected="rows of both classes",
                found=f"{len(positions)} rows, {int(np.sum(labels[positions]))} positive",
                next_step="use more rows or another share",
            )
    return train, test


def _checked_labels(labels: ArrayLike) -> NDArray[np.int_]:
    import numpy as np

    try:
        plain = np.asarray(labels)
        fits = plain.ndim == 1 and plain.dtype.kind in "biuf" and bool(np.isin(plain, (0, 1)).all())
    except (ValueError, TypeError):
        fits = False
    if not fits:
        raise CourseError(
            "The labels cannot be split",
            expected="0 or 1 for each row, in one column",
            next_step="leave out or fill in rows without a label, and code the classes as 0 and 1",
        )
    return plain.astype(np.int_)
