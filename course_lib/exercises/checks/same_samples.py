"""Checks ``same_samples(files, shards)``: two layouts hold the same ids, bytes, classes and labels."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from course_lib.exercises.answers import described
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

PARAMETERS = ("files", "shards")

_CLASSES = ["cat", "dog", "owl"]

Layout = dict[str, Any]


def check(same_samples: FunctionOnTrial) -> None:
    """Raise at the first property that ``same_samples`` does not have.

    Raises
    ------
    PropertyFailedError
        With the symptom of the mistake where it is a known one.
    UntouchedError
        When the function is still a stub.
    """
    for count in (30, 7):
        files = _layout(count)
        for about, change, expected, symptom in _CASES:
            shards = _layout(count)
            change(shards)
            on = f"{count} samples, {about}"
            got = same_samples(files, shards, on=on)
            if not isinstance(got, bool):
                raise PropertyFailedError(
                    f"On {on} it returned {described(got)}; True or False is asked for.", "no_bool"
                )
            if got is not expected:
                said = "the same" if got else "different"
                raise PropertyFailedError(f"On {on} it says that the two are {said}.", symptom)


def _layout(count: int) -> Layout:
    draw = random.Random(count)
    samples = [
        (f"img-{number:04d}", number % len(_CLASSES), f"{draw.getrandbits(256):064x}")
        for number in range(count)
    ]
    return {"label_map": list(_CLASSES), "samples": samples}


def _nothing(layout: Layout) -> None:
    """Leave everything as it is."""


def _other_order(layout: Layout) -> None:
    random.Random(4).shuffle(layout["samples"])


def _without_one(layout: Layout) -> None:
    del layout["samples"][3]


def _other_id(layout: Layout) -> None:
    _, label, digest = layout["samples"][2]
    layout["samples"][2] = ("img-9999", label, digest)


def _twice_for_another(layout: Layout) -> None:
    """One sample of a class comes twice in the place of another of that class: counts stay as they were."""
    layout["samples"][4] = layout["samples"][1]


def _one_too_many(layout: Layout) -> None:
    layout["samples"].append(layout["samples"][0])


def _swapped_labels(layout: Layout) -> None:
    first, second = layout["samples"][:2]
    layout["samples"][:2] = [(first[0], second[1], first[2]), (second[0], first[1], second[2])]


def _swapped_payloads(layout: Layout) -> None:
    """Two samples of one class change their bytes: ids, labels and the set of digests stay as they were."""
    first, second = layout["samples"][0], layout["samples"][3]
    layout["samples"][0] = (*first[:2], second[2])
    layout["samples"][3] = (*second[:2], first[2])


def _other_payload(layout: Layout) -> None:
    identifier, label, digest = layout["samples"][5]
    layout["samples"][5] = (identifier, label, digest[::-1])


def _other_label_map(layout: Layout) -> None:
    layout["label_map"] = ["dog", "cat", "owl"]


_CASES: tuple[tuple[str, Callable[[Layout], None], bool, str], ...] = (
    ("both alike", _nothing, True, "always_different"),
    ("in another order", _other_order, True, "compares_order"),
    ("one of them missing from the shards", _without_one, False, "misses_a_loss"),
    ("one of them under another id", _other_id, False, "ignores_ids"),
    ("one of them twice in the place of another", _twice_for_another, False, "misses_a_loss"),
    ("one of them in the shards twice", _one_too_many, False, "misses_a_repeat"),
    ("two of them with each other's labels", _swapped_labels, False, "counts_classes"),
    ("one of them with other bytes", _other_payload, False, "ignores_payloads"),
    ("two of one class with each other's bytes", _swapped_payloads, False, "digests_apart"),
    ("with two names changed round in the label map", _other_label_map, False, "ignores_label_map"),
)
