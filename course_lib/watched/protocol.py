"""What a notebook and its watched process say to each other: one JSON object a line.

The request goes to the process on its standard input, which stays open as long as somebody wants the work.
Events and the result come back on a private duplicate of the standard output, out of reach of ``print``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

# A recursive alias would have every reader of a result cast it before the first index.
JsonValue: TypeAlias = Any
"""None, a bool, a number, a text, or a list or dict (with text keys) of these."""

Emit: TypeAlias = Callable[[dict[str, Any]], None]
"""What a task calls to send an event to whoever started it."""

FINAL_KINDS = frozenset({"result", "course error", "exception"})
"""Messages after which the task has nothing more to say."""


def packed(message: Mapping[str, JsonValue]) -> bytes:
    """Return a message as one line of ASCII.

    Raises
    ------
    TypeError
        When it holds something that JSON does not know, such as a NumPy number.
    """
    return json.dumps(message, separators=(",", ":")).encode("ascii") + b"\n"


def unpacked(line: bytes) -> dict[str, JsonValue]:
    """Return the message of a line; a line that was cut short by a sudden end is an empty message."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
