"""Words that the detectors' sentences share."""

from __future__ import annotations

from collections.abc import Sequence


def counted(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun, such as ``"1 sample"`` or ``"1,200 samples"``."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def listed(names: Sequence[str], *, at_most: int = 5) -> str:
    """Return names in a row, the first few of many."""
    shown = ", ".join(names[:at_most])
    return shown + (f" and {len(names) - at_most:,} more" if len(names) > at_most else "")
