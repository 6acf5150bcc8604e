"""The one exception that the workbook raises for input it cannot work with."""

from __future__ import annotations


class CourseError(Exception):
    """One sentence for the person in front of the screen: what is wrong, and what to do.

    Parameters
    ----------
    what : str
        The thing that is wrong, by name, without a full stop.
    expected, found : object, optional
        What the workbook needed, and what it got instead.
    next_step : str, optional
        What the reader can do about it, starting with a verb.

    Examples
    --------
    >>> str(CourseError("a.csv is not text", expected="UTF-8", found="0xFF", next_step="save it as UTF-8"))
    'a.csv is not text: expected UTF-8, found 0xFF; save it as UTF-8.'
    """

    def __init__(
        self, what: str, *, expected: object = None, found: object = None, next_step: str | None = None
    ) -> None:
        self.what = what
        self.expected = expected
        self.found = found
        self.next_step = next_step
        details = []
        if expected is not None:
            details.append(f"expected {expected}")
        if found is not None:
            details.append(f"found {found}")
        sentence = what + (": " + ", ".join(details) if details else "")
        if next_step:
            sentence += "; " + next_step
        super().__init__(sentence.rstrip(".") + ".")
