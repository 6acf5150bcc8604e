"""A stand-in for AG News, written from a seed: four topics whose vocabularies overlap.

Planted on purpose, at the rates that the constants give: articles that lean on a second topic, markup left
over from web pages, agency marks, very short and very long texts, exact copies, and near copies in which
only the agency and the spacing differ.
"""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Literal

from course_lib.datasets.news_words import (
    AGENCIES,
    OPENINGS,
    PREPOSITIONS,
    SHARED,
    TOPICS,
    WEEKDAYS,
    TopicWords,
)

Part = Literal["train", "test"]
JOIN = " . "
EXACT_COPY_SHARE = 0.006
NEAR_COPY_SHARE = 0.010
TWO_TOPIC_SHARE = 0.30
SHORT_SHARE = 0.015
LONG_SHARE = 0.008

_AGENCY_SHARE = 0.30
_APOSTROPHE_SHARE = 0.24
_QUOTE_SHARE = 0.04
_TAG_SHARE = 0.04
_DOLLAR_SHARE = 0.07
_LINE_END_SHARE = 0.05
_SHARED_WORD_SHARE = 0.58


@dataclass(frozen=True)
class GeneratedNews:
    """Generated articles with what was planted in them.

    Attributes
    ----------
    texts : list of str
        Title and description, joined as in the real training sample.
    labels : list of int
        Place of the topic in the label map; equal shares.
    exact_copies, near_copies : dict of int to int
        Row of a copy to the row that it copies.
    sha256 : str
        Digest over all labels and texts.
    """

    texts: list[str]
    labels: list[int]
    exact_copies: dict[int, int]
    near_copies: dict[int, int]
    sha256: str


def generate_news(part: Part, topics: Sequence[str], row_count: int, seed: int) -> GeneratedNews:
    """Write articles.

    Parameters
    ----------
    part : {"train", "test"}
        The parts are written independently of each other.
    topics : sequence of str
        The topics of the manifest, in the order of their codes.
    row_count : int
        How many; a row is the same however many follow it.
    seed : int
        The same seed gives the same articles.

    Returns
    -------
    GeneratedNews
    """
    writer = _Writer(part, topics, seed)
    texts, labels = [], []
    exact_copies: dict[int, int] = {}
    near_copies: dict[int, int] = {}
    digest = hashlib.sha256()
    for row in range(row_count):
        label = writer.label(row)
        original = writer.row_that_is_copied(row)
        if original is None:
            text = writer.article(row)
        elif original[1] == "exact":
            text = writer.article(original[0])
            exact_copies[row] = original[0]
        else:
            text = writer.near_copy(original[0], row)
            near_copies[row] = original[0]
        texts.append(text)
        labels.append(label)
        digest.update(f"{label} {text}\n".encode())
    return GeneratedNews(texts, labels, exact_copies, near_copies, digest.hexdigest())


class _Writer:
    def __init__(self, part: Part, topics: Sequence[str], seed: int) -> None:
        self._key = f"{seed}-{part}"
        self._topics = tuple(topics)
        self._labels_of_block = lru_cache(maxsize=8)(self._shuffled_labels)

    def label(self, row: int) -> int:
        """Return the label of a row: each run of four rows holds every topic once."""
        block, place = divmod(row, len(self._topics))
        return self._labels_of_block(block)[place]

    def row_that_is_copied(self, row: int) -> tuple[int, Literal["exact", "near"]] | None:
        """Return the earlier row, itself no copy and of the same topic, that a row copies."""
        draw = random.Random(f"{self._key}-copy-{row}")
        chance = draw.random()
        if chance >= EXACT_COPY_SHARE + NEAR_COPY_SHARE or row < len(self._topics):
            return None
        original = None
        while original is None or self.row_that_is_copied(original) is not None:
            block = draw.randrange(row // len(self._topics))
            original = block * len(self._topics) + self._shuffled_labels(block).index(self.label(row))
        return original, "exact" if chance < EXACT_COPY_SHARE else "near"

    def article(self, row: int, *, agency: str | None = None) -> str:
        """Return the article that belongs to a row when it is no copy."""
        draw = random.Random(f"{self._key}-{row}")
        topic = self._topics[self.label(row)]
        second = draw.choice([other for other in self._topics if other != topic])
        lean = draw.uniform(0.35, 0.60) if draw.random() < TWO_TOPIC_SHARE else draw.uniform(0.0, 0.15)
        length = _word_count(draw)
        sentence = _Sentence(draw, topic, second, lean)
        title_words = max(3, min(length // 4, draw.randint(5, 9)))
        title = " ".join(word[:1].upper() + word[1:] for word in sentence.words(title_words))
        body = sentence.sentences(max(4, length - title_words))
        drawn_agency = draw.choice(AGENCIES) if draw.random() < _AGENCY_SHARE else ""
        return _with_markup(draw, title, body, drawn_agency if agency is None else agency)

    def near_copy(self, original: int, row: int) -> str:
        """Return an article again, with another agency and other spacing."""
        draw = random.Random(f"{self._key}-near-{row}")
        text = self.article(original, agency=draw.choice(AGENCIES))
        copied = text.replace(", ", ",  ", 1) if draw.random() < 0.5 else text.replace(" the ", "  the ", 1)
        return copied if copied != self.article(original) else copied + " "

    def _shuffled_labels(self, block: int) -> list[int]:
        labels = list(range(len(self._topics)))
        random.Random(f"{self._key}-block-{block}").shuffle(labels)
        return labels


class _Sentence:
    """Draws words from a topic, from the topic it leans on, and from what all topics share."""

    def __init__(self, draw: random.Random, topic: str, second: str, lean: float) -> None:
        self._draw = draw
        self._topic = TOPICS[topic]
        self._second = TOPICS[second]
        self._lean = lean

    def sentences(self, word_count: int) -> str:
        parts = []
        while word_count > 0:
            length = min(word_count, self._draw.randint(11, 22))
            if word_count - length < 4:
                length = word_count
            opening = self._draw.choice(OPENINGS).split()[: length - 1]
            words = [*opening, *self.words(length - len(opening))]
            if self._draw.random() < 0.4:
                words[-1:] = ["on", self._draw.choice(WEEKDAYS)]
            if len(words) > 9 and self._draw.random() < 0.6:
                words[len(words) // 2] += ","
            parts.append(" ".join(words) + ".")
            word_count -= length
        return " ".join(parts)

    def words(self, count: int) -> list[str]:
        words: list[str] = []
        while len(words) < count:
            words += self._clause()
        words = words[:count]
        while words[-1] == "the" or words[-1] in PREPOSITIONS:
            words[-1] = self._one("nouns")
        return words

    def _clause(self) -> list[str]:
        noun, verb, adjective = self._one("nouns"), self._one("verbs"), self._one("adjectives")
        clause = [adjective, noun, verb] if self._draw.random() < 0.5 else [noun, verb]
        clause += ["the", self._one("nouns"), self._draw.choice(PREPOSITIONS)]
        clause.append(self._one("names") if self._draw.random() < 0.4 else "the " + self._one("nouns"))
        return " ".join(clause).split()

    def _one(self, kind: Literal["nouns", "verbs", "adjectives", "names"]) -> str:
        if self._draw.random() < _SHARED_WORD_SHARE:
            source = SHARED
        else:
            source = self._second if self._draw.random() < self._lean else self._topic
        words, weights = _weighted(source, kind)
        return self._draw.choices(words, cum_weights=weights)[0]


@cache
def _weighted(source: TopicWords, kind: str) -> tuple[tuple[str, ...], list[float]]:
    words: tuple[str, ...] = getattr(source, kind)
    return words, list(itertools.accumulate(1 / (rank + 4) for rank in range(len(words))))


def _word_count(draw: random.Random) -> int:
    chance = draw.random()
    if chance < SHORT_SHARE:
        return draw.randint(10, 17)
    if chance < SHORT_SHARE + LONG_SHARE:
        return draw.randint(65, 160)
    return round(min(max(draw.gauss(36, 8.5), 16), 64))


def _with_markup(draw: random.Random, title: str, body: str, agency: str) -> str:
    if draw.random() < _APOSTROPHE_SHARE:
        body = body.replace(" the ", " the city #39;s ", 1)
    if draw.random() < _QUOTE_SHARE:
        opening, _, rest = body.rpartition(", ")
        body = f"{opening},  quot;{rest} quot;" if opening else f" quot;{rest} quot;"
    if draw.random() < _DOLLAR_SHARE:
        body = body[:-1] + rf", worth \${draw.randint(2, 900)} million."
    if draw.random() < _LINE_END_SHARE:
        body = body.replace(" ", "\\", 3).replace("\\", " ", 2)
    if draw.random() < _TAG_SHARE:
        title += " &lt;b&gt;...&lt;/b&gt;"
    if agency and draw.random() < 0.5:
        title += f" ({agency})"
        body = f"{agency} - {body}"
    elif agency:
        body = f" {draw.choice(SHARED.names).upper()} ({agency}) - {body}"
    return title + JOIN + body
