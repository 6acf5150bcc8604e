"""Reading what a learner handed in: untouched, unreadable, or an answer."""

from __future__ import annotations

import inspect
import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

from course_lib.exercises.questions import Option
from course_lib.units import Quantity

_LONGEST_KEPT = 4000
_MOST_PARTS = 1000
_DEEPEST = 6
_MOST_BITS = 1024


class InvalidAnswerError(Exception):
    """The answer cannot be read as one; it does not count as an attempt. Says why in one sentence."""


class UntouchedError(Exception):
    """Nothing was answered yet. Says what an answer looks like."""


def is_untouched(answer: object) -> bool:
    """Tell whether an answer is still what stood there: None, ``...``, blank, or a collection of those."""
    waiting, looked_at = [answer], 0
    while waiting:
        part = waiting.pop()
        looked_at += 1
        if looked_at > _MOST_PARTS:
            return False
        if part is None or part is Ellipsis:
            continue
        if isinstance(part, str):
            if part.strip() not in ("", "...", "…"):
                return False
        elif isinstance(part, (Mapping, list, tuple, set, frozenset)):
            if len(part) > _MOST_PARTS:
                return False
            waiting.extend(part.values() if isinstance(part, Mapping) else part)
        else:
            return False
    return True


def plain(answer: object) -> Any:
    """Return an answer made of Python's own plain values, so that nothing in it can surprise the marking.

    Functions, quantities and whatever else has no plain value stay what they are.

    Raises
    ------
    InvalidAnswerError
        When it is longer or deeper than an answer can be, contains itself, or cannot be read.
    """
    try:
        return _plain(answer, _DEEPEST, [_MOST_PARTS])
    except InvalidAnswerError:
        raise
    except BaseException as error:  # reading takes no time: an interrupt in here comes from the answer
        raise InvalidAnswerError(f"The answer, a {type(answer).__name__}, could not be read.") from error


def _plain(answer: Any, depth: int, parts_left: list[int]) -> Any:
    parts_left[0] -= 1
    if depth < 0:
        raise InvalidAnswerError("The answer has too many lists or dicts inside one another.")
    if parts_left[0] < 0:
        raise InvalidAnswerError(f"The answer is too long: more than {_MOST_PARTS:,} values.")
    kind = type(answer)
    if answer is None or answer is Ellipsis or issubclass(kind, (bool, Quantity)):
        return answer
    if issubclass(kind, str):
        if str.__len__(answer) > _LONGEST_KEPT:
            raise InvalidAnswerError(f"The answer is too long: more than {_LONGEST_KEPT:,} characters.")
        return str.__str__(answer)
    if issubclass(kind, (list, tuple, set, frozenset)):
        base = next(base for base in (list, tuple, set, frozenset) if issubclass(kind, base))
        inner = (_plain(part, depth - 1, parts_left) for part in base.__iter__(answer))
        return base(inner)
    if issubclass(kind, Mapping):
        items = dict.items(answer) if issubclass(kind, dict) else answer.items()
        return {
            _plain(key, depth - 1, parts_left): _plain(value, depth - 1, parts_left) for key, value in items
        }
    if issubclass(kind, float):
        return float.__float__(answer)
    if issubclass(kind, Integral):
        return int.__int__(answer) if issubclass(kind, int) else int(answer)
    return float(answer) if issubclass(kind, Real) else answer


def shortened(text: str, longest: int = 80) -> str:
    """Return the text on one line, no longer than ``longest`` characters and fit to be shown anywhere."""
    line = " ".join(_writable(text[: 10 * longest]).split())
    cut = len(line) > longest or len(text) > 10 * longest
    return line[: longest - 3] + "..." if cut else line


def described(answer: object) -> str:
    """Return a short text for any value, even for one whose ``repr`` fails."""
    try:
        return shortened(str.__str__(answer) if isinstance(answer, str) else repr(answer))
    except BaseException:
        return f"a {type(answer).__name__}"


def as_kept(answer: object) -> Any:
    """Return the answer as JSON can hold it: as typed, functions by their source, bounded in size."""
    try:
        return _kept(answer, _DEEPEST, [_MOST_PARTS])
    except BaseException:
        return described(answer)


def _kept(answer: Any, depth: int, parts_left: list[int]) -> Any:
    parts_left[0] -= 1
    if answer is None or isinstance(answer, bool):
        return answer
    if isinstance(answer, int):
        whole = int.__int__(answer)
        return whole if whole.bit_length() <= _MOST_BITS else f"an integer of {whole.bit_length()} bits"
    if isinstance(answer, float):
        number = float.__float__(answer)
        return number if math.isfinite(number) else str(number)
    if isinstance(answer, (str, Quantity)):
        text = str.__str__(answer) if isinstance(answer, str) else str(answer)
        return _writable(text[:_LONGEST_KEPT])
    if isinstance(answer, (Mapping, list, tuple, set, frozenset)):
        if depth == 0 or parts_left[0] < 0:
            return described(answer)
        if isinstance(answer, Mapping):
            pairs = itertools.islice(answer.items(), 100)
            return {described(key): _kept(value, depth - 1, parts_left) for key, value in pairs}
        return [_kept(value, depth - 1, parts_left) for value in itertools.islice(answer, 100)]
    if callable(answer):
        try:
            return _writable(inspect.getsource(answer)[:_LONGEST_KEPT])
        except (OSError, TypeError):
            return f"the function {described(getattr(answer, '__name__', type(answer).__name__))}"
    return described(answer)


def _writable(text: str) -> str:
    """Return the text with lone surrogates, which no file can hold, replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _spelling(text: str) -> str:
    return re.sub(r"[\s_-]+", " ", text).strip().strip("`'\"").casefold()


def find_option(answer: object, options: Iterable[Option], what: str) -> Option:
    """Return the option that is named by its id or by its whole text, whatever the case.

    Raises
    ------
    InvalidAnswerError
        When none is.
    """
    known = tuple(options)
    if isinstance(answer, str):
        given = _spelling(answer[:_LONGEST_KEPT])
        for option in known:
            if given in (_spelling(option.id), _spelling(option.text)):
                return option
    names = ", ".join(option.id for option in known)
    raise InvalidAnswerError(f"{what} is one of {names}; {described(answer)!r} is none of them.")


def read_list(answer: object, options: tuple[Option, ...], what: str) -> list[Option]:
    """Return the options that a list, or a text such as "A, C", names.

    Raises
    ------
    InvalidAnswerError
        When it is no list, or something in it is no option, or stands in it twice.
    """
    parts: list[object]
    if isinstance(answer, str):
        parts = _split(answer, options)
    elif isinstance(answer, (list, tuple, set, frozenset)):
        parts = list(answer)
    else:
        example = ", ".join(f'"{option.id}"' for option in options[:2])
        raise InvalidAnswerError(
            f"The answer is a list such as [{example}]; this is a {type(answer).__name__}."
        )
    chosen = [find_option(part, options, what) for part in parts]
    ids = [option.id for option in chosen]
    if repeated := sorted(name for name, times in Counter(ids).items() if times > 1):
        raise InvalidAnswerError(f"{', '.join(repeated)} stands in the answer more than once.")
    return chosen


def _split(answer: str, options: tuple[Option, ...]) -> list[object]:
    known = {_spelling(option.text) for option in options} | {_spelling(option.id) for option in options}
    if _spelling(answer) in known:
        return [answer]
    parts: list[object] = [part for part in re.split(r"[\s,;>]+", answer) if part]
    letters = all(len(option.id) == 1 for option in options)
    if letters and len(parts) == 1 and answer.strip().isalpha() and len(answer.strip()) <= len(options):
        return list(answer.strip())
    return parts
