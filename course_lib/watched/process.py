"""A task of the workbook in a process of its own, which can be stopped at any moment."""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from course_lib.errors import CourseError
from course_lib.watched.keeping import KeptProcess
from course_lib.watched.protocol import JsonValue

_SECONDS_TO_STOP = 0.8
# Waiting in slices lets Ctrl-C through on Windows too.
_SECONDS_OF_A_SLICE = 0.2


class WatchedProcess:
    """One task in a Python process of its own, prepared ahead of time and stopped at once.

    The process starts now, imports what the task needs and waits. It has a temporary folder of its own,
    which is removed with it. It ends when it is stopped, when its task is done, when this object goes, when
    nobody gives it a task for a while, and when this process ends, even by SIGKILL.

    Parameters
    ----------
    imports : sequence of str
        Modules that it imports while it waits.
    idle_seconds : float
        How long it waits for a task before it ends; `begin` then starts another one.
    silence_seconds : float or None
        How long a task may go without an event before it counts as hung and is ended; None for ever.
    limit_seconds : float or None
        How long a task may take altogether.

    Examples
    --------
    >>> with WatchedProcess(imports=["torch"]) as process:
    ...     process.begin("course_lib.stores.metadata:metadata_task", {"path": "scratch"})
    ...     for event in process.events():
    ...         print(event)
    ...     process.result
    """

    def __init__(
        self,
        imports: Sequence[str] = (),
        *,
        idle_seconds: float = 60.0,
        silence_seconds: float | None = 60.0,
        limit_seconds: float | None = None,
    ) -> None:
        self._imports = tuple(imports)
        self._idle_seconds = idle_seconds
        self._silence_seconds = silence_seconds
        self._limit_seconds = limit_seconds
        self._lock = threading.Lock()
        self._has_begun = False
        self._start()

    def _start(self) -> None:
        self._kept = KeptProcess(
            self._imports, self._idle_seconds, self._silence_seconds, self._limit_seconds
        )
        # The threads hold the kept process, not this object: so it can be collected, which ends them.
        self._at_the_end = weakref.finalize(self, self._kept.stop, _SECONDS_TO_STOP)

    def begin(self, task: str, request: Mapping[str, JsonValue] | None = None) -> None:
        """Have the process work on a task, once; where it has ended meanwhile, another one starts.

        Parameters
        ----------
        task : str
            ``"package.module:function"``; the function takes the request and a function ``emit(event)``,
            and returns a value that JSON knows.
        request : mapping, optional
            What the task is to do, in values that JSON knows.

        Raises
        ------
        CourseError
            When this object had a task before, or was stopped, and for a request that JSON does not know.
        """
        with self._lock:
            if self._has_begun or self._kept.was_stopped:
                raise CourseError(
                    "This process has had its task or was stopped", next_step="make another WatchedProcess"
                )
            if not self._kept.begin(task, request or {}):
                self._at_the_end()
                self._start()
                self._kept.begin(task, request or {})
            self._has_begun = True

    def events(self) -> Iterator[dict[str, Any]]:
        """Yield what the task emits, as it comes, until the task has ended, however it ended.

        By then its processes and its temporary folder are gone; `result` says how it ended. Raises nothing.
        """
        kept = self._kept
        while True:
            try:
                event = kept.events.get(timeout=_SECONDS_OF_A_SLICE)
            except queue.Empty:
                if kept.is_over.is_set() and kept.events.empty():
                    return
                continue
            if event is None:
                # For others who iterate, and for whoever asks again.
                kept.events.put(None)
                return
            yield event

    def stop(self) -> None:
        """End the process with everything it started, within 0.8 s; harmless where it has ended.

        May be called from any thread. A process that the system does not let go, such as one that waits for
        a broken disk, is left to its fate then, and `outcome` says so.
        """
        self._kept.stop(_SECONDS_TO_STOP)

    @property
    def alive(self) -> bool:
        """Whether the process is there, at work or waiting."""
        return not self._kept.is_over.is_set()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._kept.pid

    @property
    def printed(self) -> str:
        """The last 2,000 characters that the task and its workers printed."""
        return self._kept.printed

    @property
    def outcome(self) -> str:
        """How it ended, in words; "" as long as it has not."""
        return self._kept.outcome

    @property
    def result(self) -> JsonValue:
        """What the task returned.

        Raises
        ------
        CourseError
            The one that the task raised; `WatchedTaskError` for a task that was killed, stopped, raised
            something else or hung; and where there is no result yet.
        """
        if self.alive:
            raise CourseError("The task has no result yet", next_step="wait until `alive` is False")
        return self._kept.result()

    def __enter__(self) -> WatchedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
