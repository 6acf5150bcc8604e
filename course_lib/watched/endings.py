"""How a watched task can end, in plain words."""

from __future__ import annotations

import signal
from typing import Literal

from course_lib.errors import CourseError

Ending = Literal["signal", "exception", "silent", "too long", "stopped", "no result"]
"""Why a task has no result: killed by a signal, raised, hung, over its time, stopped, or just gone."""

_LIKELY_REASONS = {
    "SIGBUS": (
        "it most often ran out of shared memory",
        "use 0 workers or smaller batches, or give the container more shared memory (--shm-size=1g)",
    ),
    "SIGKILL": (
        "the system often does that when memory runs out",
        "use fewer workers or smaller batches, and close other programs",
    ),
    "SIGSEGV": ("compiled code crashed", "run it again; if it happens again, use 0 workers"),
    "SIGABRT": ("compiled code gave up", "read what it printed last, and run it again"),
    "SIGTERM": ("another program asked it to end", "run it again"),
}

_RAISED_FROM_OUTSIDE = {
    "KeyboardInterrupt": ("was interrupted by a signal that something sent to its process", "run it again"),
    "MemoryError": ("ran out of memory", "use fewer workers or smaller batches, and close other programs"),
}


class WatchedTaskError(CourseError):
    """A watched task ended without a result.

    Attributes
    ----------
    ending : Ending
        Why.
    signal_name : str
        The signal that killed it, for example ``"SIGBUS"``; "" where there was none.
    exception_type, exception_message : str
        What the task raised; "" where it raised nothing.
    printed : str
        The last 2,000 characters that the task and its workers printed, tracebacks included.
    """

    def __init__(
        self,
        what: str,
        *,
        ending: Ending,
        expected: object = None,
        found: object = None,
        next_step: str | None = None,
        signal_name: str = "",
        exception: tuple[str, str] = ("", ""),
        printed: str = "",
    ) -> None:
        super().__init__(what, expected=expected, found=found, next_step=next_step)
        self.ending = ending
        self.signal_name = signal_name
        self.exception_type, self.exception_message = exception
        self.printed = printed


def was_stopped(task: str, printed: str) -> WatchedTaskError:
    """Return the end of a task that somebody stopped."""
    return WatchedTaskError(
        f"{_at_the_start(_name(task))} was stopped before it was done",
        ending="stopped",
        next_step="start it again when you want the result",
        printed=printed,
    )


def was_silent(task: str, seconds: float, printed: str) -> WatchedTaskError:
    """Return the end of a task that said nothing for ``seconds`` and was ended for it."""
    return WatchedTaskError(
        f"{_at_the_start(_name(task))} said nothing for {seconds:g} s and was ended",
        ending="silent",
        found="no sign of life, which is what a stalled network mount or a worker that hangs looks like",
        next_step="check that the folder answers, or use fewer workers, and run it again",
        printed=printed,
    )


def took_too_long(task: str, seconds: float, printed: str) -> WatchedTaskError:
    """Return the end of a task that was not done within its limit."""
    return WatchedTaskError(
        f"{_at_the_start(_name(task))} was not done within its limit of {seconds:g} s and was ended",
        ending="too long",
        next_step="give it less to do, or more time",
        printed=printed,
    )


def raised(task: str, exception_type: str, message: str, printed: str) -> WatchedTaskError:
    """Return the end of a task that raised something other than a `CourseError`."""
    happened, next_step = _RAISED_FROM_OUTSIDE.get(exception_type, ("failed", None))
    return WatchedTaskError(
        f"{_at_the_start(_name(task))} {happened}",
        ending="exception",
        found=f"{exception_type}: {message}".rstrip(": .") if happened == "failed" else None,
        next_step=next_step,
        exception=(exception_type, message),
        printed=printed,
    )


def ended_alone(task: str, exit_status: int, printed: str) -> WatchedTaskError:
    """Return the end of a task whose process died without a last word.

    Parameters
    ----------
    task : str
        Its name, ``package.module:function``.
    exit_status : int
        What the system reports; minus the signal's number for a process that was killed.
    printed : str
        What it printed last.
    """
    last_words = printed.strip().splitlines()[-1:] or [""]
    if exit_status >= 0:
        return WatchedTaskError(
            f"The process of {_name(task)} ended without a result",
            ending="no result",
            found=f"exit status {exit_status}" + (f' after "{last_words[0][:200]}"' * bool(last_words[0])),
            next_step="run it again",
            printed=printed,
        )
    try:
        name = signal.Signals(-exit_status).name
    except ValueError:
        name = f"signal {-exit_status}"
    reason, next_step = _LIKELY_REASONS.get(name, ("something else on this machine ended it", "run it again"))
    return WatchedTaskError(
        f"The process of {_name(task)} was killed by {name}",
        ending="signal",
        found=reason,
        next_step=next_step,
        signal_name=name,
        printed=printed,
    )


def cannot_be_ended(task: str, pid: int, printed: str) -> WatchedTaskError:
    """Return the end of a task whose process the system does not let go."""
    return WatchedTaskError(
        f"Process {pid} of {_name(task)} was told to end",
        ending="stopped",
        found="that the system does not let it go, mostly since it waits for a disk or a network mount",
        next_step="go on without it: it ends when that answers",
        printed=printed,
    )


def _name(task: str) -> str:
    function = task.rpartition(":")[2].strip("_").replace("_", " ")
    if not function:
        return "the waiting process"
    return f"the {function}" if function.endswith(" task") else f"the task {function}"


def _at_the_start(text: str) -> str:
    return text[:1].upper() + text[1:]
