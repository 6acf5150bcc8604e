"""Reading what a learner handed in: untouched, unreadable, or an answer."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from course_lib.exercises.questions import Option
from course_lib.units import Quantity

_LONGEST_KEPT = 4000


class InvalidAnswerError(Exception):
    """The answer cannot be read as one; it does not count as an attempt. Says why in one sentence."""


class UntouchedError(Exception):
    """Nothing was answered yet. Says what an answer looks like."""


def is_untouched(answer: object) -> bool:
    """Tell whether an answer is still what stood there: None, ``...``, blank, or a collection of those."""
    if answer is None or answer is Ellipsis:
        return True
    if isinstance(answer, str):
        return answer.strip() in ("", "...", "…")
    if isinstance(answer, Mapping):
        return all(is_untouched(value) for value in answer.values())
    if isinstance(answer, (list, tuple, set, frozenset)):
        return all(is_untouched(value) for value in answer)
    return False


def shortened(text: str, longest: int = 80) -> str:
    """Return the text on one line and no longer than ``longest`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else line[: longest - 3] + "..."


def described(answer: object) -> str:
    """Return a short text for any value, even for one whose ``repr`` fails."""
    try:
        return shortened(answer if isinstance(answer, str) else repr(answer))
    except Exception:
        return f"a {type(answer).__name__}"


def as_kept(answer: object) -> Any:
    """Return the answer as JSON can hold it: as typed, functions by their source, bounded in length."""
    if answer is None or isinstance(answer, (bool, int)):
        return answer
    if isinstance(answer, float):
        return answer if math.isfinite(answer) else str(answer)
    if isinstance(answer, (str, Quantity)):
        return str(answer)[:_LONGEST_KEPT]
    if isinstance(answer, Mapping):
        return {described(key): as_kept(value) for key, value in list(answer.items())[:100]}
    if isinstance(answer, (list, tuple, set, frozenset)):
        return [as_kept(value) for value in list(answer)[:100]]
    if callable(answer):
        try:
            return inspect.getsource(answer)[:_LONGEST_KEPT]
        except (OSError, TypeError):
            return f"the function {getattr(answer, '__name__', type(answer).__name__)}"
    return described(answer)


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
        for option in known:
            if _spelling(answer) in (_spelling(option.id), _spelling(option.text)):
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
    if repeated := sorted({name for name in ids if ids.count(name) > 1}):
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
