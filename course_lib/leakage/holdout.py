"""Which rows a model learns from and which it is judged on: at random, or in the order of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from course_lib.errors import CourseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SplitKind = Literal["random", "ordered"]
SPLITS: dict[str, str] = {
    "random": "random split (stratified)",
    "ordered": "ordered split (later rows for the test)",
}


def split_positions(
    labels: NDArray[np.int_], kind: SplitKind, *, test_share: float = 0.15, seed: int = 0
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions of the training rows and of the test rows.

    Parameters
    ----------
    labels : array of int, shape (rows,)
        0 or 1 for each row, rows in the order of time.
    kind : {"random", "ordered"}
        Stratified by label at random, or the last rows for the test.
    test_share : float
        Share of the rows in the test part, between 0 and 1 (both excluded).
    seed : int
        Decides the random split; has no effect on the ordered one.

    Raises
    ------
    CourseError
        For an unknown kind, a share outside (0, 1), or a part in which one of the classes is missing.
    """
    import numpy as np

    if kind not in SPLITS:
        raise CourseError("Unknown kind of split", expected=" or ".join(SPLITS), found=repr(kind))
    if not 0 < test_share < 1:
        raise CourseError(
            "The test share must leave rows on both sides",
            expected="a number between 0 and 1",
            found=test_share,
        )
    if kind == "random":
        from sklearn.model_selection import train_test_split

        try:
            train, test = train_test_split(
                np.arange(len(labels)), test_size=test_share, stratify=labels, random_state=seed
            )
        except ValueError as error:
            raise CourseError(
                "The rows cannot be split with both classes on both sides",
                found=f"{int(np.sum(labels))} positive rows of {len(labels)}",
                next_step="use more rows or another share",
            ) from error
    else:
        cut = round(len(labels) * (1 - test_share))
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
