"""Work in a process of its own that can be stopped at once, never hangs its caller and leaves nothing behind.

Every name is loaded when it is first used, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from course_lib.watched.endings import Ending, WatchedTaskError
    from course_lib.watched.process import WatchedProcess
    from course_lib.watched.protocol import Emit, JsonValue
    from course_lib.watched.running import run_watched

_HOME_OF = {
    "Emit": "protocol",
    "Ending": "endings",
    "JsonValue": "protocol",
    "WatchedProcess": "process",
    "WatchedTaskError": "endings",
    "run_watched": "running",
}

__all__ = ["Emit", "Ending", "JsonValue", "WatchedProcess", "WatchedTaskError", "run_watched"]


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
