"""One live run: a task in a watched process, its windows as they come, and how it ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from course_lib.errors import CourseError
from course_lib.watched import WatchedProcess
from course_lib.widgets.live_figures import LiveFigures, LivePoint, figures_of
from course_lib.widgets.texts import text

_JOIN_SECONDS = 1.0
_SLOW_START_SECONDS = 3.0


class LiveRun:
    """A task that reports windows until it is stopped; read by a thread of its own.

    Parameters
    ----------
    task : str
        "module:function" of the task, as `WatchedProcess` takes it.
    request : mapping
        Everything that the task needs to know; also what the run is compared by.
    words : str
        The conditions in words.
    on_news : callable
        Called by the reading thread after every event, and once after the end.
    limit_seconds : float
        A run that nobody stops ends by itself after this time.

    Attributes
    ----------
    points : list of LivePoint
        What has come so far.
    about : dict of str to str
        What the task said of its run: "origin" of the data, "device", "cache" (kind of the page cache's state
        at the start).
    note : str
        What is being prepared before the first point.
    since : float
        When Start was pressed, by `time.monotonic`.
    problem : CourseError or None
        Why the run ended, where nobody stopped it.
    """

    def __init__(
        self,
        task: str,
        request: Mapping[str, Any],
        words: str,
        on_news: Callable[[LiveRun], None],
        *,
        limit_seconds: float,
    ) -> None:
        self.task = task
        self.request = dict(request)
        self.words = words
        self.points: list[LivePoint] = []
        self.about: dict[str, str] = {}
        self.note = ""
        self.since = time.monotonic()
        self.problem: CourseError | None = None
        self.ended = threading.Event()
        self.stopped = False
        self.ran_out = False
        self._limit_seconds = limit_seconds
        self._on_news = on_news
        self._process: WatchedProcess | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._read, name="course-live-run", daemon=True)

    @property
    def running(self) -> bool:
        """Tell whether the run goes on."""
        return not self.ended.is_set() and not self.stopped

    @property
    def figures(self) -> LiveFigures | None:
        """The figures so far; None before any window counts."""
        return figures_of(tuple(self.points))

    @property
    def state(self) -> str:
        """What the run does at the moment, or how it ended, in words."""
        if self.running:
            if self.points:
                return text("live.running", words=self.words)
            if self.note:
                return self.note
            if time.monotonic() - self.since > _SLOW_START_SECONDS:
                return text("live.starting_slowly", words=self.words)
            return text("live.starting", words=self.words)
        if self.ran_out:
            return text("live.ran_out", minutes=self._limit_seconds / 60)
        return text("live.stopped", seconds=self.points[-1].seconds if self.points else 0.0)

    def start(self, take_process: Callable[[], WatchedProcess]) -> None:
        """Begin to read; the process is taken by the reading thread, so that nobody waits for it."""
        self._take_process = take_process
        self._thread.start()

    def stop(self) -> None:
        """End the task's processes and the reading thread; from any thread, as often as one likes."""
        with self._lock:
            self.stopped = True
            process = self._process
        if process is not None:
            process.stop()
        if threading.current_thread() is not self._thread:
            self._thread.join(_JOIN_SECONDS)

    def _read(self) -> None:
        try:
            with self._lock:
                if self.stopped:
                    return
                self._process = self._take_process()
            self._process.begin(self.task, self.request)
            for event in self._process.events():
                if self.stopped:
                    break
                self._take(event)
                if self.points and self.points[-1].seconds > self._limit_seconds:
                    self.ran_out = True
                    break
            else:
                # A task that ends by itself may have an error to tell.
                _ = self._process.result
        except CourseError as error:
            self.problem = None if self.stopped else error
        except Exception as error:
            kind = type(error).__name__
            self.problem = (
                None if self.stopped else CourseError(text("live.failed", kind=kind, message=error))
            )
        finally:
            if self._process is not None:
                self._process.stop()
            self.ended.set()
            self._on_news(self)

    def _take(self, event: Mapping[str, Any]) -> None:
        point = LivePoint.from_event(event)
        if point is not None:
            self.points.append(point)
            self.note = ""
        else:
            self.note = str(event.get("note", self.note))
            cache = event.get("cache") or {}
            known = {"origin": event.get("origin"), "device": event.get("device"), "cache": cache.get("kind")}
            self.about |= {name: str(value) for name, value in known.items() if value}
        self._on_news(self)
