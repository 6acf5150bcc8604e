"""What the same seed draws when the rows come in another order, or another library draws them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.splits import SampleTable

LIBRARIES: dict[str, str] = {
    "scikit-learn": "scikit-learn, stratified",
    "numpy": "numpy permutation",
    "torch": "torch randperm",
}
ORDERS: dict[str, str] = {
    "same": "the same order again",
    "reversed": "reverse order",
    "shuffled": "shuffled",
    "by class": "sorted by class",
}
_ORDER_SEED = 1


@dataclass(frozen=True)
class DrawnAgain:
    """How much of one draw comes back.

    Attributes
    ----------
    way, order : str
        What drew, and the order the rows came in, both in words.
    drawn, again : int
        Samples in the test part, and how many of them the first draw had too.
    """

    way: str
    order: str
    drawn: int
    again: int

    @property
    def share(self) -> float:
        """The share that comes back, between 0 and 1."""
        return self.again / self.drawn


def drawn_positions(
    labels: NDArray[np.int32], library: str, *, seed: int, share: float = 0.1
) -> NDArray[np.int64]:
    """Return which positions a library's own seeded draw puts into the test.

    Parameters
    ----------
    labels : ndarray, shape (samples,)
        Class codes in the order in which the rows come; only scikit-learn's draw looks at them.
    library : {"scikit-learn", "numpy", "torch"}
    seed : int
        The library's own seed.
    share : float, optional
        Of the test part.

    Raises
    ------
    CourseError
        For an unknown library.
    """
    count, wanted = len(labels), round(len(labels) * share)
    if library == "scikit-learn":
        from sklearn.model_selection import train_test_split

        _, test = train_test_split(np.arange(count), test_size=wanted, stratify=labels, random_state=seed)
        return np.asarray(test)
    if library == "numpy":
        return np.random.default_rng(seed).permutation(count)[:wanted]
    if library == "torch":
        import torch

        return torch.randperm(count, generator=torch.Generator().manual_seed(seed))[:wanted].numpy()
    raise CourseError("Unknown library", expected=" or ".join(LIBRARIES), found=repr(library))


def input_order(labels: NDArray[np.int32], order: str) -> NDArray[np.int64]:
    """Return the positions in one of `ORDERS`.

    Raises
    ------
    CourseError
        For an unknown order.
    """
    if order == "same":
        return np.arange(len(labels))
    if order == "reversed":
        return np.arange(len(labels))[::-1]
    if order == "shuffled":
        return np.random.default_rng(_ORDER_SEED).permutation(len(labels))
    if order == "by class":
        return np.argsort(labels, kind="stable")
    raise CourseError("Unknown order", expected=" or ".join(ORDERS), found=repr(order))


def drawn_again(
    samples: SampleTable,
    *,
    seed: int,
    libraries: Sequence[str] = tuple(LIBRARIES),
    orders: Sequence[str] = ("same", "reversed", "shuffled"),
    share: float = 0.1,
) -> tuple[DrawnAgain, ...]:
    """Draw a test part by each library from each order, and by the course's recipe, all with one seed.

    Each way is compared with its own first draw from the order of the file.

    Raises
    ------
    CourseError
        For an unknown library or order, or when the split can't be made.
    """
    found = []
    for library in libraries:
        first = set(drawn_positions(samples.labels, library, seed=seed, share=share).tolist())
        for order in orders:
            places = input_order(samples.labels, order)
            drawn = drawn_positions(samples.labels[places], library, seed=seed, share=share)
            again = len(first.intersection(places[drawn].tolist()))
            found.append(DrawnAgain(LIBRARIES[library], ORDERS[order], len(drawn), again))
    return (*found, *_by_recipe(samples, seed, orders, share))


def _by_recipe(samples: SampleTable, seed: int, orders: Sequence[str], share: float) -> list[DrawnAgain]:
    from fractions import Fraction

    from course_lib.splits import Recipe, make_split

    part = Fraction(share).limit_denominator(1000)
    recipe = Recipe.of("stratified", ratios=[1 - part, part], seed=seed)

    def test_ids(table: SampleTable) -> set[str]:
        return set(table.ids.take(make_split(table, recipe).positions("test")).to_pylist())

    first = test_ids(samples)
    found = []
    for order in orders:
        drawn = test_ids(samples.take(input_order(samples.labels, order)))
        found.append(DrawnAgain(f"recipe {recipe}", ORDERS[order], len(drawn), len(first & drawn)))
    return found


def shared_between_libraries(labels: NDArray[np.int32], *, seed: int, share: float = 0.1) -> float:
    """Return which share of scikit-learn's test part numpy draws too, from the same order and seed."""
    one, other = (
        set(drawn_positions(labels, library, seed=seed, share=share).tolist())
        for library in ("scikit-learn", "numpy")
    )
    return len(one & other) / len(one)
