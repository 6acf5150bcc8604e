"""The parent's side of a watched process: starting it, hearing it, ending it, clearing up after it."""

from __future__ import annotations

import contextlib
import os
import queue
import shutil
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import Any

import psutil

from course_lib.errors import CourseError
from course_lib.watched import endings
from course_lib.watched.protocol import FINAL_KINDS, JsonValue, packed, unpacked
from course_lib.watched.starting import start_python
from course_lib.watched.tree import end_tree

_LONGEST_PRINTED = 2000
_SECONDS_TO_END_BY_ITSELF = 3.0
_SECONDS_FOR_THE_TREE = 0.6
_SECONDS_FOR_LAST_WORDS = 0.5
_LONGEST_WAIT_SECONDS = 1.0


class KeptProcess:
    """A running Python process that waits for one task, with the threads that look after it.

    Parameters
    ----------
    imports : tuple of str
        Modules that it imports while it waits.
    idle_seconds, silence_seconds, limit_seconds
        As for `WatchedProcess`.

    Attributes
    ----------
    events : queue of dict or None
        What the task emits; None when it is over.
    is_over : threading.Event
        Set when the process is gone and cleared up after, or was given up.
    was_stopped : bool
        Whether somebody asked for its end.
    outcome : str
        How it ended, in words.
    """

    def __init__(
        self,
        imports: tuple[str, ...],
        idle_seconds: float,
        silence_seconds: float | None,
        limit_seconds: float | None,
    ) -> None:
        self.events: queue.Queue[dict[str, Any] | None] = queue.Queue()
        self.is_over = threading.Event()
        self.was_stopped = False
        self.outcome = ""
        self._idle_seconds = idle_seconds
        self._silence_seconds = silence_seconds
        self._limit_seconds = limit_seconds
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._task = ""
        self._answer: dict[str, JsonValue] = {}
        self._cause = ""
        self._error: CourseError | None = None
        self._tail = b""
        self._since = time.time()
        self._started = self._last_sign = time.monotonic()
        self._process, self._folder = start_python(imports)
        self.pid = self._process.pid
        self._helpers = [
            threading.Thread(target=work, name=f"watched process {self.pid}", daemon=True)
            for work in (self._hear, self._keep_printed, self._keep)
        ]
        for thread in self._helpers:
            thread.start()

    @property
    def printed(self) -> str:
        """The end of what the task and its workers printed."""
        return self._tail.decode("utf-8", "replace")[-_LONGEST_PRINTED:]

    def begin(self, task: str, request: Mapping[str, JsonValue]) -> bool:
        """Send the task; return False where the process has ended or is about to.

        Raises
        ------
        CourseError
            When the request holds something that JSON does not know.
        """
        try:
            line = packed({"task": task, "request": dict(request)})
        except (TypeError, ValueError) as error:
            raise CourseError(
                "The request cannot be sent to the process of the task",
                expected="numbers, texts, lists and dicts of them",
                found=str(error).rstrip("."),
                next_step="change NumPy numbers to int or float, and sets to lists",
            ) from error
        with self._lock:
            if self.was_stopped or self._cause or self._answer or self._process.poll() is not None:
                return False
            self._task = task
            self._started = self._last_sign = time.monotonic()
        try:
            assert self._process.stdin is not None
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except (OSError, ValueError):
            return False
        return True

    def stop(self, seconds: float) -> None:
        """End the tree; return when it is gone and cleared up after, or after ``seconds``."""
        if os.getpid() != self._owner or self.is_over.is_set():
            # In a forked copy of its owner this object is cleared up too, but the process is not the copy's.
            return
        deadline = time.monotonic() + seconds
        with self._lock:
            self.was_stopped = True
        self._end_tree(min(seconds, _SECONDS_FOR_THE_TREE))
        if not self.is_over.wait(max(0.0, deadline - time.monotonic())):
            self._give_up()

    def result(self) -> JsonValue:
        """Return what the task returned, or raise how it ended."""
        if self._error is not None:
            raise self._error
        return self._answer["result"]

    def _hear(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                message = unpacked(line)
                self._last_sign = time.monotonic()
                kind = message.get("kind")
                if kind == "event":
                    self.events.put(message["event"])
                elif kind == "ready" and not self._task:
                    self._started = self._last_sign
                elif kind in FINAL_KINDS:
                    self._answer = message
                    break

    def _keep_printed(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as stream:
            while chunk := os.read(stream.fileno(), 1 << 16):
                # A character takes up to four bytes.
                self._tail = (self._tail + chunk)[-4 * _LONGEST_PRINTED :]

    def _keep(self) -> None:
        """Wait for the process's end, bring it about where that is due, and clear up."""
        while True:
            try:
                exit_status = self._process.wait(timeout=self._seconds_to_wait())
                break
            except subprocess.TimeoutExpired:
                if self._must_end() and self._end_tree(_SECONDS_FOR_THE_TREE):
                    self._give_up()
        self._end_tree(_SECONDS_FOR_THE_TREE)
        deadline = time.monotonic() + _SECONDS_FOR_LAST_WORDS
        for thread in self._helpers[:2]:
            thread.join(max(0.0, deadline - time.monotonic()))
        shutil.rmtree(self._folder, ignore_errors=True)
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._finish(self._how_it_ended(exit_status))

    def _end_tree(self, seconds: float) -> list[psutil.Process]:
        return end_tree(self.pid, self._since, seconds)

    def _seconds_to_wait(self) -> float:
        limits = [_LONGEST_WAIT_SECONDS]
        if not self.is_over.is_set():
            limits += [seconds for seconds, _ in self._times_left()]
        return max(0.01, min(limits))

    def _must_end(self) -> bool:
        with self._lock:
            due = [cause for seconds, cause in self._times_left() if seconds <= 0]
            self._cause = self._cause or (due[0] if due else "")
            return bool(self._cause) and not self.is_over.is_set()

    def _times_left(self) -> list[tuple[float, str]]:
        """Return the seconds until each cause to end the process, with its name."""
        now = time.monotonic()
        if self.was_stopped:
            # Whoever stopped it may have been interrupted before the tree had ended.
            return [(0.0, "stopped")]
        if self._answer:
            return [(self._last_sign + _SECONDS_TO_END_BY_ITSELF - now, "answered")]
        if not self._task:
            return [(self._started + self._idle_seconds - now, "idle")]
        times = []
        if self._silence_seconds is not None:
            times.append((self._last_sign + self._silence_seconds - now, "silent"))
        if self._limit_seconds is not None:
            times.append((self._started + self._limit_seconds - now, "too long"))
        return times

    def _how_it_ended(self, exit_status: int) -> CourseError | None:
        answer, printed = self._answer, self.printed
        if answer.get("kind") == "result":
            return None
        if answer.get("kind") == "course error":
            return CourseError(
                answer["what"],
                expected=answer["expected"],
                found=answer["found"],
                next_step=answer["next_step"],
            )
        if answer:
            return endings.raised(self._task, answer["type"], answer["message"], printed)
        if self._cause == "silent":
            return endings.was_silent(self._task, self._silence_seconds or 0.0, printed)
        if self._cause == "too long":
            return endings.took_too_long(self._task, self._limit_seconds or 0.0, printed)
        if self.was_stopped or self._cause:
            return endings.was_stopped(self._task, printed)
        return endings.ended_alone(self._task, exit_status, printed)

    def _give_up(self) -> None:
        self._finish(endings.cannot_be_ended(self._task, self.pid, self.printed))

    def _finish(self, error: CourseError | None) -> None:
        with self._lock:
            if self.is_over.is_set():
                return
            self._error = error
            self.outcome = "The task is done." if error is None else str(error)
            self.is_over.set()
        self.events.put(None)
