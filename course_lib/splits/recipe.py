"""A recipe: how a split is made, in a few words that say all of it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import Literal, get_args

from course_lib.errors import CourseError
from course_lib.splits.given import need_list, shown

Kind = Literal["ordered", "stratified", "grouped", "grouped-stratified", "official", "random"]
KINDS: tuple[Kind, ...] = get_args(Kind)
DEFAULT_SEED = 2026
LARGEST_SEED = 2**63 - 1
LARGEST_NUMBER_OF_SPLITS = 100
_EXAMPLE = "ordered-70-15-15, stratified-70-15-15 or official-90-10"
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,30}")
_TEXT = re.compile(
    r"(?P<kind>grouped-stratified|[a-z]+)-(?P<shares>[0-9][0-9a-z.]*(?:-[0-9][0-9a-z.]*)*)(?:-seed(?P<seed>[0-9]{1,40}))?"
)
# Digits are bounded: numbers of thousands of digits cannot be read, and those of hundreds not shown.
_SHARE = re.compile(
    r"(?P<percent>[0-9]{1,18}(?:\.[0-9]{1,40})?)|(?P<part>[0-9]{1,60})of(?P<whole>[0-9]{1,60})"
)
_LONGEST_TEXT = 12_000  # of a hundred shares of the finest kind
_FINEST_SHARE = 10**50
# Written as text: an exponent of many digits would take hours to work out.
_LONGEST_RATIO = 130
_LARGE_EXPONENT = re.compile(r"[eE][-+]?[\d_]{4,}")


@dataclass(frozen=True)
class Recipe:
    """How a split is made. Make one with `parse_recipe` or `Recipe.of`, which check it.

    Attributes
    ----------
    kind : {"ordered", "stratified", "grouped", "grouped-stratified", "official", "random"}
        By time; each class in the same shares; groups whole; groups whole and classes as alike as can be; the
        publisher's training set stratified and the publisher's test set kept apart; or at random.
    ratios : tuple of Fraction
        Share of each split; for "official" of the publisher's training set, so one fewer than names.
    names : tuple of str
        Name of each split.
    seed : int
        Changes the order that the digests of the ids give. Ordered splits do not depend on it.
    counts : tuple of int
        Exact sizes in place of shares, for "official" only; empty otherwise.
    """

    kind: Kind
    ratios: tuple[Fraction, ...]
    names: tuple[str, ...]
    seed: int = DEFAULT_SEED
    counts: tuple[int, ...] = ()

    @classmethod
    def of(
        cls,
        kind: str,
        ratios: Sequence[float | Fraction | str],
        names: Sequence[str] | None = None,
        seed: int = DEFAULT_SEED,
    ) -> Recipe:
        """Check the parts of a recipe and put them together.

        Parameters
        ----------
        kind : str
            One of `KINDS`.
        ratios : sequence of float, Fraction or str
            Positive, in shares of 1 / 10**50 at the finest; as decimals they sum to one exactly, in whatever
            order: 0.1, 0.2, 0.7.
        names : sequence of str, optional
            Where left out: train and test, or train, validation and test, or fold-1, fold-2, ...
        seed : int, optional
            A whole number that is not negative.

        Raises
        ------
        CourseError
            When one of these does not hold.

        Examples
        --------
        >>> str(Recipe.of("stratified", [0.7, 0.15, 0.15]))
        'stratified-70-15-15'
        """
        checked_kind = _checked_kind(kind)
        need_list(ratios, "The ratios of a split")
        if len(ratios) > LARGEST_NUMBER_OF_SPLITS:
            raise _wrong_number_of_ratios(checked_kind, 2, len(ratios))
        exact = tuple(_exact(ratio) for ratio in ratios)
        if sum(exact) != 1:
            raise CourseError(
                "The ratios of a split must sum to one",
                expected="a sum of exactly 1",
                found=f"{' + '.join(map(str, ratios))} = {float(sum(exact)):.12g}",
                next_step="correct the ratios; for thirds pass fractions.Fraction(1, 3)",
            )
        return cls._checked(checked_kind, exact, names, seed, ())

    @classmethod
    def _checked(
        cls,
        kind: Kind,
        ratios: tuple[Fraction, ...],
        names: Sequence[str] | None,
        seed: int,
        counts: tuple[int, ...],
    ) -> Recipe:
        needed = 1 if kind == "official" else 2
        if not needed <= len(ratios) <= LARGEST_NUMBER_OF_SPLITS:
            raise _wrong_number_of_ratios(kind, needed, len(ratios))
        chosen = _checked_names(names, kind, len(ratios))
        return cls(kind, ratios, chosen, DEFAULT_SEED if kind == "ordered" else _checked_seed(seed), counts)

    @property
    def shares_text(self) -> str:
        """Return the recipe without its seed, such as ``stratified-70-15-15``."""
        shares = [str(count) for count in self.counts] or [_share_text(ratio) for ratio in self.ratios]
        return "-".join([self.kind, *shares])

    def __str__(self) -> str:
        return self.shares_text + (f"-seed{self.seed}" if self.seed != DEFAULT_SEED else "")


def parse_recipe(text: str, seed: int | None = None, names: Sequence[str] | None = None) -> Recipe:
    """Read a recipe such as ``ordered-70-15-15``.

    Parameters
    ----------
    text : str
        A kind and the shares in percent, which sum to 100: ``stratified-70-15-15``, ``grouped-80-20``,
        ``official-90-10``; with other fractions ``stratified-1of3-2of3``; with exact sizes
        ``official-45000-5000``; with a seed of its own ``stratified-70-30-seed7``.
    seed : int, optional
        The seed where the text has none; 2026 where left out.
    names : sequence of str, optional
        Names of the splits; see `Recipe.of`.

    Returns
    -------
    Recipe
        ``str()`` of it is the canonical text.

    Raises
    ------
    CourseError
        When the text is no recipe, the shares do not sum to 100, or two seeds contradict each other.

    Examples
    --------
    >>> parse_recipe("official-90-10").names
    ('train', 'validation', 'test')
    """
    readable = isinstance(text, str) and len(text) <= _LONGEST_TEXT
    match = _TEXT.fullmatch(text.strip()) if readable else None
    if match is None:
        raise CourseError(
            f"{shown(text)} is not a recipe for a split",
            expected=f"a kind and shares in percent, such as {_EXAMPLE}",
            next_step="correct it; the kinds are " + ", ".join(KINDS),
        )
    kind = _checked_kind(match["kind"])
    written = int(match["seed"]) if match["seed"] else None
    if written is not None and seed is not None and written != seed:
        raise CourseError(
            f"The recipe {_brief(text)} and the seed beside it contradict each other",
            found=f"seed {written} and seed {shown(seed)}",
            next_step="leave one of them out",
        )
    chosen_seed = next((value for value in (written, seed) if value is not None), DEFAULT_SEED)
    shares = match["shares"].split("-")
    percents = [_percent_of(share, text) for share in shares]
    total = sum(percents)
    if kind == "official" and total > 100 and all(share.isdigit() for share in shares):
        counts = tuple(int(share) for share in shares)
        if min(counts) < 1:
            raise _not_positive(min(counts))
        ratios = tuple(Fraction(count, sum(counts)) for count in counts)
        return Recipe._checked(kind, ratios, names, chosen_seed, counts)
    if total != 100:
        raise CourseError(
            f"The shares of the recipe {_brief(text)} do not sum to 100 percent",
            expected="100",
            found=f"{float(total):g}",
            next_step=f"correct them, as in {_EXAMPLE}",
        )
    for share, percent in zip(shares, percents, strict=True):
        if percent <= 0:
            raise _not_positive(share)
    return Recipe._checked(kind, tuple(percent / 100 for percent in percents), names, chosen_seed, ())


def _brief(text: str) -> str:
    """Return a recipe, or a share of it, as errors name it: without quotes, and not thousands of digits."""
    return shown(text)[1:-1] if len(text) < 50 else f"{text[:40]}..."


def _checked_kind(kind: str) -> Kind:
    if not isinstance(kind, str) or kind not in KINDS:
        raise CourseError(
            f"There is no split of the kind {shown(kind)}",
            expected="one of " + ", ".join(KINDS),
            next_step=f"write it like {_EXAMPLE}",
        )
    return kind


def _wrong_number_of_ratios(kind: Kind, needed: int, found: int) -> CourseError:
    return CourseError(
        f"A split of the kind {kind!r} cannot have {found:,} ratios",
        expected=f"{needed} to {LARGEST_NUMBER_OF_SPLITS}",
        next_step=f"write it like {_EXAMPLE}",
    )


def _need_few_digits(ratio: Fraction) -> None:
    if ratio.denominator > _FINEST_SHARE:
        raise CourseError(
            "A share of a split has too many digits",
            expected="parts of 10**50 at the finest",
            next_step="round the shares so that they still sum to one",
        )


def _exact(ratio: float | Fraction | str) -> Fraction:
    """Return the decimal that a person wrote as 0.1, not the binary number nearest to it."""
    usable = isinstance(ratio, (str, Real)) and not isinstance(ratio, bool)
    if isinstance(ratio, str):
        usable = len(ratio) <= _LONGEST_RATIO and not _LARGE_EXPONENT.search(ratio)
    try:
        if not usable or (isinstance(ratio, float) and not math.isfinite(ratio)):
            raise ValueError
        exact = ratio if isinstance(ratio, Fraction) else Fraction(str(ratio))
    except (ValueError, ZeroDivisionError) as error:
        raise CourseError(
            "A ratio of a split must be a number",
            expected="one above 0 and at most 1",
            found=shown(ratio),
            next_step="correct the ratios",
        ) from error
    if exact <= 0:
        raise _not_positive(ratio)
    if exact > 1:
        raise CourseError(
            "A ratio of a split is at most one, and all of them sum to one",
            expected="shares such as 0.7, 0.15 and 0.15",
            found=shown(ratio),
            next_step="divide percentages by 100",
        )
    _need_few_digits(exact)
    return exact


def _not_positive(ratio: object) -> CourseError:
    return CourseError(
        "The ratios of a split must be positive",
        expected="numbers above zero",
        found=shown(ratio).strip("'"),
        next_step="leave out the split that is to be empty",
    )


def _percent_of(share: str, text: str) -> Fraction:
    match = _SHARE.fullmatch(share)
    if match is None or (match["whole"] is not None and int(match["whole"]) == 0):
        raise CourseError(
            f"The recipe {_brief(text)} has a share that is no number, or one of too many digits",
            expected="a percentage such as 70 or 12.5, or a fraction such as 1of3",
            found=_brief(share),
            next_step="correct it",
        )
    if match["percent"]:
        return Fraction(match["percent"])
    ratio = Fraction(int(match["part"]), int(match["whole"]))
    _need_few_digits(ratio)
    return ratio * 100


def _share_text(ratio: Fraction) -> str:
    """Return the share in percent where that ends after a few decimals, else as a fraction."""
    percent = ratio * 100
    for digits in range(13):
        scaled = percent * 10**digits
        if scaled.denominator == 1:
            whole, rest = divmod(scaled.numerator, 10**digits)
            return f"{whole}.{rest:0{digits}d}" if digits else str(whole)
    return f"{ratio.numerator}of{ratio.denominator}"


def _checked_names(names: Sequence[str] | None, kind: Kind, ratio_count: int) -> tuple[str, ...]:
    count = ratio_count + (kind == "official")
    if names is None:
        usual = {2: ("train", "test"), 3: ("train", "validation", "test")}
        return usual.get(count) or tuple(f"fold-{number}" for number in range(1, count + 1))
    need_list(names, "The names of the splits")
    chosen = tuple(names)
    all_text = all(isinstance(name, str) for name in chosen)
    if len(chosen) != count or (all_text and len(set(chosen)) != count):
        raise CourseError(
            "The names of the splits do not fit the ratios",
            expected=f"{count} names, each once",
            found=", ".join(map(shown, chosen[:LARGEST_NUMBER_OF_SPLITS])) or "none",
            next_step="name every split" + (", the official test set last" if kind == "official" else ""),
        )
    for name in chosen:
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise CourseError(
                f"{shown(name)} cannot be the name of a split",
                expected="small letters, digits, - and _, starting with a letter",
                next_step="choose a name such as train",
            )
    return chosen


def _checked_seed(seed: int) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        raise CourseError(
            "A seed must be a whole number",
            expected=f"0 to {LARGEST_SEED}",
            found=shown(seed),
            next_step="choose another seed",
        )
    return seed
