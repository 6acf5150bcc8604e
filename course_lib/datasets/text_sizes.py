"""How big text is: as characters, as tokens, and as tensors padded to a common length.

Lengths are counted once by a tokeniser; everything else is arithmetic on an array of lengths.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from course_lib.datasets.origin import Origin
from course_lib.datasets.samples import both_parts
from course_lib.datasets.sizes import Size, TaskSizes, checked_whole, download_of
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from course_lib.datasets.ag_news import TextSet

Padding = Literal["fixed", "batch", "bucketed"]

PADDINGS: dict[Padding, str] = {
    "fixed": "all to the maximum length",
    "batch": "to the longest of the batch, order shuffled",
    "bucketed": "to the longest of the batch, similar lengths together",
}
DEFAULT_VOCABULARY = 8_000
BYTES_OF_TOKEN = 8
BATCHES_IN_A_POOL = 50
PAD = "[PAD]"
_SMALLEST_VOCABULARY = 300
_CHUNK = 1_000


@dataclass(frozen=True)
class TextLengths:
    """Token counts of one set of texts.

    Attributes
    ----------
    tokens : ndarray of int32, shape (texts,)
        Tokens of each text, before anything is cut off or padded.
    text_bytes : int
        Bytes of all texts as UTF-8.
    vocabulary : int
        Size of the tokeniser's vocabulary.
    origin : Origin
        Which texts these are.
    """

    tokens: NDArray[np.int32]
    text_bytes: int
    vocabulary: int
    origin: Origin

    def percentile(self, percent: float) -> int:
        """Return the smallest length that this share of the texts does not exceed."""
        return int(np.percentile(self.tokens, percent, method="inverted_cdf"))


@dataclass(frozen=True)
class PaddingCost:
    """What one way of padding does to a set of texts.

    Attributes
    ----------
    padding : {"fixed", "batch", "bucketed"}
        Key of :data:`PADDINGS`.
    max_length, batch_size : int
        Longer texts are cut off at ``max_length`` tokens; the last batch may be smaller.
    texts, truncated_texts : int
        All of them, and those that lose their end.
    tokens, kept_tokens : int
        Before and after cutting.
    slots : int
        Places in all tensors together: kept tokens and padding.
    """

    padding: Padding
    max_length: int
    batch_size: int
    texts: int
    truncated_texts: int
    tokens: int
    kept_tokens: int
    slots: int

    @property
    def truncated_share(self) -> float:
        """Share of the texts that lose their end."""
        return self.truncated_texts / self.texts

    @property
    def lost_share(self) -> float:
        """Share of the tokens that are cut off."""
        return 1 - self.kept_tokens / self.tokens

    @property
    def waste_share(self) -> float:
        """Share of the places in the tensors that hold padding."""
        return 1 - self.kept_tokens / self.slots

    @property
    def bytes_per_batch(self) -> float:
        """Mean bytes of a batch: ids and attention mask, 64 bits each."""
        return 2 * BYTES_OF_TOKEN * self.slots * self.batch_size / self.texts


def train_tokeniser(texts: Iterable[str], *, vocabulary: int = DEFAULT_VOCABULARY) -> Tokenizer:
    """Train a byte-level BPE tokeniser with Hugging Face ``tokenizers``; nothing is downloaded.

    It starts from the 256 byte values and joins the most frequent pair of neighbours again and again,
    so no text is unknown to it and every text can be had back. Ties go to the pair of the older tokens:
    the same texts give the same tokeniser, in any order and on any number of cores. Train it on training
    texts alone.

    Parameters
    ----------
    texts : iterable of str
        Training texts, read once.
    vocabulary : int, optional
        Tokens wanted, the 256 bytes and ``[PAD]`` (number 0) among them; few texts may give fewer.

    Returns
    -------
    tokenizers.Tokenizer

    Raises
    ------
    CourseError
        For a vocabulary of less than 300, and when there are no texts.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    if checked_whole("vocabulary", vocabulary) < _SMALLEST_VOCABULARY:
        raise CourseError(
            "The vocabulary is too small",
            expected=f"at least {_SMALLEST_VOCABULARY}: 256 bytes and some words",
            found=vocabulary,
        )
    first, rest = _first_and_all(texts)
    if first is None:
        raise CourseError("There are no texts to train a tokeniser on", expected="at least one")
    tokeniser = Tokenizer(models.BPE())
    tokeniser.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokeniser.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        special_tokens=[PAD],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokeniser.train_from_iterator(rest, trainer)
    return tokeniser


def count_tokens(tokeniser: Tokenizer, *parts: TextSet) -> TextLengths:
    """Count the tokens of each text in one or both parts of AG News; only the counts are kept.

    Raises
    ------
    CourseError
        Without any part.
    """
    if not parts:
        raise CourseError("There are no texts to count tokens in", expected="at least one part")
    lengths: list[NDArray[np.int32]] = []
    text_bytes = 0
    for chunk in (chunk for part in parts for chunk in _chunks(part)):
        encoded = tokeniser.encode_batch_fast(chunk)
        lengths.append(np.fromiter((len(one) for one in encoded), dtype=np.int32, count=len(encoded)))
        text_bytes += sum(len(text.encode("utf-8")) for text in chunk)
    origin = parts[0].origin
    for part in parts[1:]:
        origin = both_parts(origin, part.origin)
    return TextLengths(np.concatenate(lengths), text_bytes, tokeniser.get_vocab_size(), origin)


def padding_cost(
    tokens: NDArray[np.int32],
    *,
    max_length: int,
    batch_size: int,
    padding: Padding = "fixed",
    seed: int = 2026,
) -> PaddingCost:
    """Return what cutting off and padding do to texts of these lengths.

    "bucketed" shuffles all texts, sorts each pool of 50 batches by length, and cuts the pool into
    batches: the texts of a batch are of similar length, and which ones meet still changes with the seed.

    Parameters
    ----------
    tokens : ndarray of int, shape (texts,)
        Tokens of each text.
    max_length : int
        Where texts are cut off.
    batch_size : int
        Texts in a batch.
    padding : {"fixed", "batch", "bucketed"}, optional
        To which length a batch is filled up, and which texts share one.
    seed : int, optional
        Of the shuffled order.

    Returns
    -------
    PaddingCost

    Raises
    ------
    CourseError
        Without texts or tokens, for another way of padding, and for numbers below 1.
    """
    checked_whole("max_length", max_length)
    checked_whole("batch_size", batch_size)
    lengths = np.asarray(tokens)
    if not len(lengths) or not lengths.sum():
        raise CourseError("There are no tokens to pad", expected="at least one text with at least one token")
    if padding not in PADDINGS:
        raise CourseError("There is no such way of padding", expected=", ".join(PADDINGS), found=padding)
    kept = np.minimum(lengths, max_length).astype(np.int64)
    if padding == "fixed":
        slots = len(kept) * max_length
    else:
        order = _order(kept, batch_size, seed, sort_pools=padding == "bucketed")
        starts = np.arange(0, len(kept), batch_size)
        longest = np.maximum.reduceat(kept[order], starts)
        slots = int((longest * np.diff(np.append(starts, len(kept)))).sum())
    return PaddingCost(
        padding,
        int(max_length),
        int(batch_size),
        len(kept),
        int((lengths > max_length).sum()),
        int(lengths.sum()),
        int(kept.sum()),
        slots,
    )


def text_sizes(train: TextSet, test: TextSet, lengths: TextLengths, cost: PaddingCost) -> TaskSizes:
    """Return the sizes of AG News from the download to padded tensors.

    The files of generated texts are what these would be as CSV.

    Parameters
    ----------
    train, test : TextSet
        Both parts.
    lengths : TextLengths
        Token counts of both parts together.
    cost : PaddingCost
        The way of padding that is used.

    Raises
    ------
    CourseError
        When the lengths or the padding are those of other texts.
    """
    origin = both_parts(train.origin, test.origin)
    count = origin.sample_count
    for counted in (len(lengths.tokens), cost.texts):
        if counted != count:
            raise CourseError(
                "These token counts belong to other texts", expected=f"{count:,} texts", found=f"{counted:,}"
            )
    download = download_of(train.manifest, origin)
    return TaskSizes(
        "text",
        origin,
        (
            *([] if download is None else [download]),
            _stored(train, test, download),
            Size("text", lengths.text_bytes, count, None, "counted"),
            Size("tokens", int(lengths.tokens.sum()) * BYTES_OF_TOKEN, count, None, "computed"),
            Size("padded", 2 * cost.slots * BYTES_OF_TOKEN, count, None, "computed"),
        ),
    )


def _order(kept: NDArray[np.int64], batch_size: int, seed: int, *, sort_pools: bool) -> NDArray[np.int64]:
    order = np.random.default_rng(seed).permutation(len(kept))
    if not sort_pools:
        return order
    pool = batch_size * BATCHES_IN_A_POOL
    pools = [order[start : start + pool] for start in range(0, len(order), pool)]
    return np.concatenate([one[np.argsort(kept[one], kind="stable")] for one in pools])


def _stored(train: TextSet, test: TextSet, download: Size | None) -> Size:
    """Return the CSV files: the published ones, or what generated texts would be as CSV."""
    if download is not None:
        return replace(download, representation="files")
    written = _CountedBytes()
    writer = csv.writer(written, quoting=csv.QUOTE_ALL, lineterminator="\n")
    for part in (train, test):
        labels = iter(part.dataset["label"])
        for chunk in _chunks(part):
            writer.writerows([next(labels) + 1, text] for text in chunk)
    return Size("files", written.total, len(train.dataset) + len(test.dataset), 2, "computed")


class _CountedBytes:
    """Something to write to that keeps nothing but the number of bytes in UTF-8."""

    total = 0

    def write(self, text: str) -> None:
        self.total += len(text.encode("utf-8"))


def _chunks(part: TextSet) -> Iterator[list[str]]:
    for batch in part.dataset.with_format("arrow").iter(batch_size=_CHUNK):
        yield batch.column("text").to_pylist()


def _first_and_all(texts: Iterable[str]) -> tuple[str | None, Iterator[str]]:
    rest = iter(texts)
    first = next(rest, None)

    def both() -> Iterator[str]:
        if first is not None:
            yield first
        yield from rest

    return first, both()
