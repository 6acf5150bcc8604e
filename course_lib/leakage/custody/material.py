"""A small data set without faults: clients who are met on one day each, in three forms of content.

Made so that every promise of a case can be kept at once: the days follow each other, all samples of a client
fall on one day, every class is there every day in nearly the same share, no field decides the class, and
no content resembles another.
"""

from __future__ import annotations

import datetime
import random
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from course_lib.datasets.generated_images import draw_image
from course_lib.datasets.generated_text import generate_news
from course_lib.errors import CourseError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Form = Literal["calls", "news", "pictures"]
DAYS = 20
SAMPLES_A_DAY = 24
SAMPLE_COUNT = DAYS * SAMPLES_A_DAY
RECIPE = "ordered-70-15-15"
SPLIT_NAMES = ("train", "validation", "test")

# Samples of each class on one day, the commonest class first; one sample may stray to another class.
_OF_EACH_CLASS = (10, 7, 5, 2)
_STRAYING_SHARE = 0.2
_CLIENT_SIZES = (2, 3, 4)
_FIRST_DAY = datetime.date(2031, 3, 3)
# Texts and pictures are drawn from a few pools: making them takes longer than everything else.
_POOLS = 4
_POOL_OF_A_CLASS = (230, 170, 130, 48)
_FEWEST_WORDS = 20


@dataclass(frozen=True)
class FieldKind:
    """A numeric field: where its values lie, and how far they lean with the class."""

    name: str
    middle: float
    spread: float
    lean: float


@dataclass(frozen=True)
class FormWords:
    """The classes (the commonest first) and fields of a form."""

    classes: tuple[str, ...]
    fields: tuple[FieldKind, ...]


FORMS: dict[Form, FormWords] = {
    "calls": FormWords(
        ("declined", "call again", "subscribed", "complained"),
        (
            FieldKind("age_years", 46, 11, 0.125),
            FieldKind("balance_eur", 2400, 900, 0.15),
            FieldKind("months_a_client", 70, 30, 0.1),
            FieldKind("days_since_contact", 120, 45, -0.125),
            FieldKind("card_payments_eur", 640, 210, 0.075),
            FieldKind("minutes_online", 210, 80, -0.05),
        ),
    ),
    "news": FormWords(
        ("World", "Sports", "Business", "Sci/Tech"),
        (
            FieldKind("editing_minutes", 55, 18, 0.1),
            FieldKind("desk_queue_minutes", 34, 12, -0.075),
            FieldKind("reads_first_hour", 5200, 1700, 0.125),
            FieldKind("scroll_depth_percent", 58, 12, 0.075),
        ),
    ),
    "pictures": FormWords(
        ("cat", "ship", "horse", "truck"),
        (
            FieldKind("exposure_ms", 21, 6, 0.075),
            FieldKind("distance_m", 34, 11, 0.125),
            FieldKind("battery_percent", 61, 14, 0.05),
            FieldKind("sensor_temperature_c", 24, 5, -0.1),
        ),
    ),
}


# What a new call changes in a client's row; near duplicates of rows differ there only.
CHANGING_FIELDS = ("days_since_contact", "minutes_online")


@dataclass
class Material:
    """One data set in memory, open to changes until it is written.

    Attributes
    ----------
    form : {"calls", "news", "pictures"}
        What a sample consists of beside its fields: nothing, a text, or a picture.
    ids, clients : list of str
        One for each sample.
    days : list of str
        ISO dates.
    labels : list of int
        Places in ``classes``.
    classes : tuple of str
    fields : dict of str to list of float
    codes : list of int
        Which split a sample is in, as a place in `SPLIT_NAMES`.
    texts : list of str
        Empty unless the form is "news".
    pictures : ndarray of uint8, shape (samples, 32, 32, 3), or None
        None unless the form is "pictures".
    statistics : dict of str to dict of str to float
        Mean and standard deviation of each field, as a scaler keeps them.
    published_map, loader_map : dict of str to str
        Code to class name: as published with the data, and as the loading code used it.
    """

    form: Form
    ids: list[str]
    clients: list[str]
    days: list[str]
    labels: list[int]
    classes: tuple[str, ...]
    fields: dict[str, list[float]]
    codes: list[int]
    texts: list[str]
    pictures: NDArray[np.uint8] | None
    statistics: dict[str, dict[str, float]]
    published_map: dict[str, str]
    loader_map: dict[str, str]

    def __len__(self) -> int:
        return len(self.ids)

    def in_split(self, *names: str) -> list[int]:
        """Return the positions of the samples in the named splits."""
        wanted = {SPLIT_NAMES.index(name) for name in names}
        return [position for position, code in enumerate(self.codes) if code in wanted]

    def refit(self) -> None:
        """Fit every statistic on the training samples, as it should be."""
        train = self.in_split("train")
        self.statistics = {name: fitted(values, train) for name, values in self.fields.items()}


def fitted(values: list[float], positions: list[int]) -> dict[str, float]:
    """Return mean and standard deviation (of a sample, as pandas computes it) at some positions."""
    chosen = [values[position] for position in positions]
    return {"mean": statistics.fmean(chosen), "std": statistics.stdev(chosen)}


def clean_material(form: Form, seed: int) -> Material:
    """Make a data set without faults.

    Parameters
    ----------
    form : {"calls", "news", "pictures"}
    seed : int
        The same seed gives the same data set.

    Raises
    ------
    CourseError
        For an unknown form.
    """
    if form not in FORMS:
        raise CourseError("Unknown form of a case", expected=" or ".join(FORMS), found=repr(form))
    draw = random.Random(f"custody-material-{form}-{seed}")
    words = FORMS[form]
    labels, clients, days = [], [], []
    names = iter(draw.sample(range(1000, 9999), SAMPLE_COUNT))
    for day in range(DAYS):
        labels += _labels_of_a_day(draw)
        clients += _clients_of_a_day(draw, names)
        days += [(_FIRST_DAY + datetime.timedelta(days=day)).isoformat()] * SAMPLES_A_DAY
    fields = {kind.name: [_value(draw, kind, label) for label in labels] for kind in words.fields}
    published = {str(code): name for code, name in enumerate(words.classes)}
    material = Material(
        form=form,
        ids=[f"s-{number:07x}" for number in draw.sample(range(16**7), SAMPLE_COUNT)],
        clients=clients,
        days=days,
        labels=labels,
        classes=words.classes,
        fields=fields,
        codes=_codes_in_order_of_time(),
        texts=_texts(draw, labels, words.classes) if form == "news" else [],
        pictures=_pictures(draw, labels, words.classes) if form == "pictures" else None,
        statistics={},
        published_map=published,
        loader_map=dict(published),
    )
    material.refit()
    return material


def _labels_of_a_day(draw: random.Random) -> list[int]:
    """Return a day's labels, every class among them, shuffled."""
    labels = [label for label, count in enumerate(_OF_EACH_CLASS) for _ in range(count)]
    if draw.random() < _STRAYING_SHARE:
        labels[draw.randrange(_OF_EACH_CLASS[0])] = draw.choice((1, 2))
    draw.shuffle(labels)
    return labels


def _clients_of_a_day(draw: random.Random, numbers: Iterator[int]) -> list[str]:
    """Return clients with a few samples each, none of whom comes again on another day."""
    clients: list[str] = []
    while len(clients) < SAMPLES_A_DAY:
        clients += [f"client-{next(numbers)}"] * draw.choice(_CLIENT_SIZES)
    return clients[:SAMPLES_A_DAY]


def _codes_in_order_of_time() -> list[int]:
    """Return the splits of the recipe: 14 days, 3 days and 3 days."""
    ends = (SAMPLE_COUNT * 70 // 100, SAMPLE_COUNT * 85 // 100)
    return [sum(position >= end for end in ends) for position in range(SAMPLE_COUNT)]


def _value(draw: random.Random, kind: FieldKind, label: int) -> float:
    """Return a value that leans a little with the class, with decimals enough that values rarely meet."""
    leaning = kind.lean * (label - 1)
    return round(kind.middle + kind.spread * (draw.gauss(0, 1) + leaning), 3)


def _texts(draw: random.Random, labels: Sequence[int], classes: tuple[str, ...]) -> list[str]:
    """Return an article for each label; none is a copy, or a near copy, of another."""
    articles = [list(texts) for texts in _articles(classes, draw.randrange(_POOLS))]
    for texts in articles:
        draw.shuffle(texts)
    return [articles[label].pop() for label in labels]


@cache
def _articles(classes: tuple[str, ...], pool: int) -> tuple[tuple[str, ...], ...]:
    """Return articles by topic without the copies that the generator plants, and without very short ones."""
    news = generate_news("train", classes, len(classes) * _POOL_OF_A_CLASS[0], pool)
    copied = {*news.exact_copies, *news.near_copies}
    articles: list[list[str]] = [[] for _ in classes]
    for row, (article, label) in enumerate(zip(news.texts, news.labels, strict=True)):
        if row not in copied and len(article.split()) >= _FEWEST_WORDS:
            articles[label].append(article)
    return tuple(map(tuple, articles))


def _pictures(draw: random.Random, labels: Sequence[int], classes: tuple[str, ...]) -> NDArray[np.uint8]:
    """Return a picture for each label, shape (samples, 32, 32, 3)."""
    import numpy as np

    pool = draw.randrange(_POOLS)
    numbers = [draw.sample(range(count), count) for count in _POOL_OF_A_CLASS]
    return np.stack([_picture(classes[label], numbers[label].pop(), pool) for label in labels])


@lru_cache(maxsize=_POOLS * sum(_POOL_OF_A_CLASS))
def _picture(class_name: str, number: int, pool: int) -> NDArray[np.uint8]:
    return draw_image(class_name, "train", number, pool)
