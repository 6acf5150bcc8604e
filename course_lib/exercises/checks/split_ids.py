"""Checks ``split_ids(ids, labels, seed)``: a split that depends on ids, labels and seed alone."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from course_lib.exercises.answers import described
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

PARAMETERS = ("ids", "labels", "seed")

_SEED = 2026
_OTHER_SEED = 7


class _SaltedId(str):
    """An id that hashes as it would in another process, where Python's text hash has another salt."""

    def __hash__(self) -> int:
        return hash("another process" + str(self))


def _salted_hash(value: object) -> int:
    return hash(("another process", value))


@dataclass(frozen=True)
class _Case:
    about: str
    ids: list[str]
    labels: list[str]

    def reordered(self, order: Sequence[int]) -> tuple[list[str], list[str]]:
        return [self.ids[place] for place in order], [self.labels[place] for place in order]

    def per_class(self, ids: set[str]) -> Counter[str]:
        label_of = dict(zip(self.ids, self.labels, strict=True))
        return Counter(label_of[name] for name in ids)


def _case(about: str, names: Sequence[str], sizes: dict[str, int], seed: int) -> _Case:
    """Return samples in a drawn order, with as many of each class as ``sizes`` says."""
    labels = [label for label, count in sizes.items() for _ in range(count)]
    samples = list(zip(names, labels, strict=True))
    random.Random(seed).shuffle(samples)
    return _Case(about, [name for name, _ in samples], [label for _, label in samples])


def _cases() -> list[_Case]:
    calls = [f"row-{number:05d}" for number in range(400)]
    news = [f"train-{number * 37 % 100_003:06d}" for number in range(200)]
    topics = {"World": 60, "Sports": 60, "Business": 45, "Sci/Tech": 35}
    return [
        _case("400 calls, 45 of them yes", calls, {"no": 355, "yes": 45}, 1),
        _case("200 news items of four topics", news, topics, 2),
        _case("ten samples of two classes", list("abcdefghij"), {"left": 5, "right": 5}, 3),
    ]


def check(split_ids: FunctionOnTrial) -> None:
    """Raise at the first property that ``split_ids`` does not have.

    Raises
    ------
    PropertyFailedError
        With the symptom of the mistake where it is a known one.
    UntouchedError
        When the function is still a stub.
    """
    for case in _cases():
        first = _test_ids(split_ids, case, case.ids, case.labels, _SEED, case.about)
        _require_repeatable(split_ids, case, first)
        _require_every_class(case, first)
        _require_seed_counts(split_ids, case, first)


def _test_ids(
    split_ids: FunctionOnTrial, case: _Case, ids: Sequence[str], labels: list[str], seed: int, on: str
) -> set[str]:
    """Return the test part, once it is clear that both parts hold every id exactly once."""
    got = split_ids(ids, labels, seed, on=on)
    if not isinstance(got, tuple | list) or len(got) != 2 or any(_is_no_list(part) for part in got):
        raise PropertyFailedError(
            f"On {on} it returned {described(got)}; two lists of ids are asked for, train and test.",
            "no_two_lists",
        )
    train, test = ([str(name) for name in part] for part in got)
    known = set(map(str, case.ids))
    if strange := [name for name in train + test if name not in known]:
        raise PropertyFailedError(
            f"On {on} it returned {described(strange[0])!r}, which is not one of the ids.", "no_two_lists"
        )
    if both := sorted(set(train) & set(test)):
        raise PropertyFailedError(
            f"On {on} {len(both)} ids stand in both parts, `{both[0]}` among them.", "overlaps"
        )
    if lost := sorted(known - set(train) - set(test)):
        raise PropertyFailedError(
            f"On {on} {len(lost)} ids stand in neither part, `{lost[0]}` among them.", "loses"
        )
    if len(train) + len(test) != len(known):
        raise PropertyFailedError(f"On {on} an id stands twice in one part.", "overlaps")
    return set(test)


def _is_no_list(part: object) -> bool:
    return isinstance(part, str) or not hasattr(part, "__iter__")


def _require_repeatable(split_ids: FunctionOnTrial, case: _Case, first: set[str]) -> None:
    """Call again in ways that must not matter: as it is, in other orders, and as in another process."""
    again = _test_ids(split_ids, case, case.ids, case.labels, _SEED, case.about)
    if again != first:
        raise PropertyFailedError(
            f"On {case.about} a second call with the same inputs put {len(again - first)} other ids into "
            f"the test.",
            "unrepeatable",
        )
    count = len(case.ids)
    orders = {
        "in reverse": list(range(count))[::-1],
        "in another order": random.Random(4).sample(range(count), k=count),
        "sorted by id": sorted(range(count), key=case.ids.__getitem__),
    }
    for words, order in orders.items():
        moved = _test_ids(split_ids, case, *case.reordered(order), _SEED, f"{case.about}, {words}")
        if moved != first:
            raise PropertyFailedError(
                f"On {case.about}, given {words}, {len(moved - first)} of {len(moved)} test ids are others.",
                "follows_order",
            )
    elsewhere = split_ids.with_names({"hash": _salted_hash})
    salted = [_SaltedId(name) for name in case.ids]
    moved = _test_ids(elsewhere, case, salted, case.labels, _SEED, f"{case.about}, in another process")
    if moved != first:
        raise PropertyFailedError(
            f"On {case.about}, as another Python process would see it, {len(moved - first)} of {len(moved)} "
            "test ids are others.",
            "salted_hash",
        )


def _require_every_class(case: _Case, test: set[str]) -> None:
    sizes, got = Counter(case.labels), case.per_class(test)
    for label, size in sorted(sizes.items()):
        if got[label] != size // 5:
            in_part = sum(0 < got[other] < count for other, count in sizes.items())
            symptom = "sorted_by_label" if in_part <= 1 else "not_stratified"
            raise PropertyFailedError(
                f"On {case.about} the test holds {got[label]} of the {size} samples of class {label!r}, "
                f"which is not one in five.",
                symptom,
            )


def _require_seed_counts(split_ids: FunctionOnTrial, case: _Case, first: set[str]) -> None:
    about = f"{case.about}, with another seed"
    if _test_ids(split_ids, case, case.ids, case.labels, _OTHER_SEED, about) == first:
        raise PropertyFailedError(
            f"On {case.about} another seed gives the same test ids as before.", "ignores_seed"
        )
