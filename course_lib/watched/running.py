"""Running a task in a watched process and waiting for its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from course_lib.watched.process import WatchedProcess
from course_lib.watched.protocol import JsonValue


def run_watched(
    task: str,
    request: Mapping[str, JsonValue] | None = None,
    *,
    on_event: Callable[[dict[str, Any]], None] | None = None,
    silence_seconds: float | None = 60.0,
    limit_seconds: float | None = None,
    imports: Sequence[str] = (),
) -> JsonValue:
    """Run a task in a process of its own and return its result; whatever happens, nothing of it is left.

    Parameters
    ----------
    task : str
        ``"package.module:function"``; the function takes the request and a function ``emit(event)``.
    request : mapping, optional
        What it is to do, in values that JSON knows.
    on_event : callable, optional
        Called here with each event; an exception that it raises ends the task.
    silence_seconds, limit_seconds : float or None
        How long the task may go without an event, and how long it may take; None for no limit.
    imports : sequence of str
        Modules that the process imports before it starts.

    Raises
    ------
    CourseError
        The one that the task raised; `WatchedTaskError` when it was killed, raised something else or hung.
    KeyboardInterrupt
        When it is interrupted here; the task has ended then.
    """
    with WatchedProcess(imports, silence_seconds=silence_seconds, limit_seconds=limit_seconds) as process:
        process.begin(task, request)
        for event in process.events():
            if on_event is not None:
                on_event(event)
        return process.result
