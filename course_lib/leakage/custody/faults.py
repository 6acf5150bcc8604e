"""The faults: each is put into a clean data set in the way in which it happens, and leaves evidence."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from course_lib.datasets.news_words import SHARED, WEEKDAYS
from course_lib.errors import CourseError
from course_lib.leakage.custody.material import CHANGING_FIELDS, FORMS, Material, fitted
from course_lib.leakage.detectors import KINDS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CLEAN = "clean"

_FEWEST_SAMPLES, _MOST_SAMPLES = 4, 7
_STRAY_FOLDER = ".ipynb_checkpoints"


@dataclass(frozen=True)
class Truth:
    """What is wrong with a case, and what counts as evidence for it.

    Attributes
    ----------
    kind : str
        A key of `KINDS`, or "clean".
    evidence : tuple of frozenset of str
        One set for each thing that is wrong; any name in a set names that thing.
    beside : frozenset of str
        Names that go with the evidence without being it, such as the part in which a class is missing.
    explanation : str
        What was done, in one sentence.
    """

    kind: str
    evidence: tuple[frozenset[str], ...] = ()
    beside: frozenset[str] = frozenset()
    explanation: str = ""


@dataclass(frozen=True)
class ManifestEdit:
    """What to change in a written manifest: lines to drop, splits and digests to write instead, by id."""

    dropped: frozenset[str] = frozenset()
    moved: tuple[tuple[str, str], ...] = ()
    relabelled: tuple[str, ...] = ()


NO_EDIT = ManifestEdit()
_Planted = tuple[Truth, ManifestEdit]


def plant(kind: str, material: Material, seed: int) -> _Planted:
    """Put one fault into a clean data set, in place.

    Parameters
    ----------
    kind : str
        A key of `KINDS`, or "clean", which changes nothing.
    material : Material
        Without any fault so far.
    seed : int
        Decides which samples, fields or classes it strikes.

    Returns
    -------
    Truth, ManifestEdit
        What is wrong now, and what remains to be done to the manifest once it is written.

    Raises
    ------
    CourseError
        For an unknown kind.
    """
    if kind != CLEAN and kind not in _PLANTERS:
        raise CourseError("Unknown kind of fault", expected=", ".join((CLEAN, *KINDS)), found=repr(kind))
    if kind == CLEAN:
        return Truth(CLEAN, explanation="Nothing was done to this set."), NO_EDIT
    return _PLANTERS[kind](material, random.Random(f"custody-fault-{kind}-{seed}"))


def _exact_duplicate(material: Material, draw: random.Random) -> _Planted:
    pairs = _pairs_across(material, draw)
    for original, copy in pairs:
        _copy_content(material, original, copy)
    material.refit()
    explanation = (
        f"The content of {len(pairs)} training samples was copied into held-out samples under other ids."
    )
    return _pairs_truth("exact_duplicate", material, pairs, explanation), NO_EDIT


def _near_duplicate(material: Material, draw: random.Random) -> _Planted:
    pairs = _pairs_across(material, draw)
    for original, copy in pairs:
        _copy_content(material, original, copy)
        _retouch(material, copy, draw)
    material.refit()
    explanation = (
        f"{len(pairs)} training samples were copied into the held-out parts and touched up a little."
    )
    return _pairs_truth("near_duplicate", material, pairs, explanation), NO_EDIT


def _group_spread(material: Material, draw: random.Random) -> _Planted:
    strangers = draw.sample(_clients(material, draw.choice(("validation", "test"))), 3)
    known = draw.sample(_clients(material, "train"), 3)
    for old, new in zip(strangers, known, strict=True):
        material.clients = [new if client == old else client for client in material.clients]
    evidence = tuple(
        frozenset({client, *(i for i, c in zip(material.ids, material.clients, strict=True) if c == client)})
        for client in known
    )
    explanation = f"{len(known)} clients of the training part turn up in a held-out part as well."
    return Truth("group_spread", evidence, explanation=explanation), NO_EDIT


def _future_in_training(material: Material, draw: random.Random) -> _Planted:
    last_day = max(material.days)
    latest = sorted({c for c, day in zip(material.clients, material.days, strict=True) if day == last_day})
    chosen = set(draw.sample(latest, 2))
    moved = [position for position, client in enumerate(material.clients) if client in chosen]
    for position in moved:
        material.codes[position] = 0
    material.refit()
    explanation = f"{len(moved)} samples of the last day were moved into the training part."
    return Truth("future_in_training", _each(material, moved), explanation=explanation), NO_EDIT


def _fitted_on_everything(material: Material, draw: random.Random) -> _Planted:
    names = sorted(draw.sample(sorted(material.fields), draw.choice((1, 2))))
    everything = list(range(len(material)))
    for name in names:
        material.statistics[name] = fitted(material.fields[name], everything)
    evidence = tuple(frozenset({name, f"{name} mean", f"{name} std"}) for name in names)
    explanation = f"Mean and spread of {' and '.join(names)} were fitted on all parts."
    return Truth("fitted_on_everything", evidence, explanation=explanation), NO_EDIT


def _label_map_changed(material: Material, draw: random.Random) -> _Planted:
    published = material.published_map
    if draw.random() < 0.5:
        first, second = draw.sample(sorted(published), 2)
        material.loader_map[first], material.loader_map[second] = published[second], published[first]
        explanation = f"The loader has {published[first]} and {published[second]} the wrong way round."
    else:
        names = [_STRAY_FOLDER, *published.values()]
        material.loader_map = {str(code): name for code, name in enumerate(names)}
        explanation = f"The loader counted {_STRAY_FOLDER} as class 0, which shifts every code."
    evidence = tuple(
        frozenset({code, name, material.loader_map[code]})
        for code, name in published.items()
        if material.loader_map[code] != name
    )
    beside = frozenset({*material.loader_map, *material.loader_map.values()})
    return Truth("label_map_changed", evidence, beside, explanation), NO_EDIT


def _class_missing(material: Material, draw: random.Random) -> _Planted:
    part = draw.choice(("validation", "test"))
    rare = len(material.classes) - 1
    leaving = [position for position in material.in_split(part) if material.labels[position] == rare]
    others = [position for position in material.in_split("train") if material.labels[position] != rare]
    for position, other in zip(leaving, draw.sample(others, len(leaving)), strict=True):
        _exchange(material, position, other)
    material.refit()
    name = material.classes[rare]
    explanation = f"No sample of the class {name} is left in the {part} part."
    return Truth("class_missing", (frozenset({name, str(rare)}),), frozenset({part}), explanation), NO_EDIT


def _manifest_edited(material: Material, draw: random.Random) -> _Planted:
    way = draw.choice(("dropped", "moved", "relabelled"))
    if way == "moved":
        clients = set(draw.sample(_clients(material, "test"), 2))
        chosen = [position for position, client in enumerate(material.clients) if client in clients]
        edit = ManifestEdit(moved=tuple((material.ids[position], "validation") for position in chosen))
        done = "moved from test to validation"
    else:
        chosen = draw.sample(material.in_split("test"), draw.randint(_FEWEST_SAMPLES, _MOST_SAMPLES))
        ids = tuple(material.ids[position] for position in chosen)
        if way == "dropped":
            edit, done = ManifestEdit(dropped=frozenset(ids)), "taken out of the test part"
        else:
            edit, done = ManifestEdit(relabelled=ids), "given the digest of another content"
    explanation = f"After the digest was made, {len(chosen)} samples were {done} in samples.csv."
    return Truth("manifest_edited", _each(material, chosen), explanation=explanation), edit


def _field_too_good(material: Material, draw: random.Random) -> _Planted:
    kind = draw.choice(FORMS[material.form].fields)
    apart = 6 * kind.spread
    material.fields[kind.name] = [
        round(kind.middle + apart * (label - 1) + kind.spread * draw.gauss(0, 1), 3)
        for label in material.labels
    ]
    material.refit()
    explanation = f"The values of {kind.name} were made from the class: a field written down after the fact."
    return Truth("field_too_good", (frozenset({kind.name}),), explanation=explanation), NO_EDIT


def _drifting_rate(material: Material, draw: random.Random) -> _Planted:
    rising, falling = draw.sample((0, 1, 2), 2)
    half = len(material) // 2
    early = [p for p in range(half) if material.labels[p] == rising]
    late = [p for p in range(half, len(material)) if material.labels[p] == falling]
    count = round(0.75 * min(len(early), len(late)))
    for position, other in zip(draw.sample(early, count), draw.sample(late, count), strict=True):
        _exchange(material, position, other)
    material.refit()
    names = material.classes[rising], material.classes[falling]
    explanation = f"The share of {names[0]} rises through time at the cost of {names[1]}."
    evidence = frozenset({*names, str(rising), str(falling)})
    return Truth("drifting_rate", (evidence,), explanation=explanation), NO_EDIT


_PLANTERS: dict[str, Callable[[Material, random.Random], _Planted]] = {
    "exact_duplicate": _exact_duplicate,
    "near_duplicate": _near_duplicate,
    "group_spread": _group_spread,
    "future_in_training": _future_in_training,
    "fitted_on_everything": _fitted_on_everything,
    "label_map_changed": _label_map_changed,
    "class_missing": _class_missing,
    "manifest_edited": _manifest_edited,
    "field_too_good": _field_too_good,
    "drifting_rate": _drifting_rate,
}


def _clients(material: Material, part: str) -> list[str]:
    return sorted({material.clients[position] for position in material.in_split(part)})


def _each(material: Material, positions: list[int]) -> tuple[frozenset[str], ...]:
    """Return evidence of which each sample is a thing of its own."""
    return tuple(frozenset({material.ids[position]}) for position in positions)


def _pairs_across(material: Material, draw: random.Random) -> list[tuple[int, int]]:
    """Return pairs of a training sample and a held-out sample of the same class, no sample twice."""
    part = draw.choice(("validation", "test"))
    copies = draw.sample(material.in_split(part), draw.randint(_FEWEST_SAMPLES, _MOST_SAMPLES))
    originals = material.in_split("train")
    draw.shuffle(originals)
    pairs = []
    for copy in copies:
        original = next(p for p in originals if material.labels[p] == material.labels[copy])
        originals.remove(original)
        pairs.append((original, copy))
    return pairs


def _pairs_truth(kind: str, material: Material, pairs: list[tuple[int, int]], explanation: str) -> Truth:
    evidence = tuple(frozenset({material.ids[original], material.ids[copy]}) for original, copy in pairs)
    return Truth(kind, evidence, explanation=explanation)


def _copy_content(material: Material, original: int, copy: int) -> None:
    """Give one sample the content of another; id, client and day stay its own."""
    if material.form == "calls":
        for values in material.fields.values():
            values[copy] = values[original]
    elif material.form == "news":
        material.texts[copy] = material.texts[original]
    elif material.pictures is not None:
        material.pictures[copy] = material.pictures[original]


def _retouch(material: Material, position: int, draw: random.Random) -> None:
    """Change a sample's content so little that a person would call it the same."""
    if material.form == "calls":
        name = draw.choice(CHANGING_FIELDS)
        material.fields[name][position] = round(material.fields[name][position] * 1.07 + 1, 3)
    elif material.form == "news":
        material.texts[position] = _reworded(material.texts[position], draw)
    elif material.pictures is not None:
        material.pictures[position] = _brightened(material.pictures[position], draw)


def _reworded(text: str, draw: random.Random) -> str:
    """Return a text with one word in it replaced and a day added at its end."""
    words = text.split(" ")
    place = draw.randrange(len(words) // 2, len(words) - 1)
    words[place] = draw.choice([noun for noun in SHARED.nouns if noun != words[place]])
    return f"{' '.join(words)} ({draw.choice(WEEKDAYS)})"


def _brightened(picture: NDArray[np.uint8], draw: random.Random) -> NDArray[np.uint8]:
    """Return a picture a little lighter or darker, as after another export."""
    import numpy as np

    change = draw.choice((-9, -6, 6, 9))
    return np.clip(picture.astype(np.int16) + change, 0, 255).astype(np.uint8)


def _exchange(material: Material, first: int, second: int) -> None:
    """Let two samples change places in time, and so in the split; clients, days and parts stay."""
    columns = [material.ids, material.labels, *material.fields.values()]
    if material.texts:
        columns.append(material.texts)
    for column in columns:
        column[first], column[second] = column[second], column[first]  # type: ignore[index]
    if material.pictures is not None:
        material.pictures[[first, second]] = material.pictures[[second, first]]
