"""The inside of a watched process: waits for a task, works on it, and never outlives its parent."""

from __future__ import annotations

import _thread
import contextlib
import faulthandler
import importlib
import io
import os
import queue
import select
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from course_lib.errors import CourseError
from course_lib.watched.protocol import packed, unpacked

_SECONDS_BETWEEN_LOOKS_AT_THE_PARENT = 1.0
_SECONDS_BETWEEN_LOOKS_AT_THE_TASK = 0.01
_SECONDS_TO_CLEAR_UP = 5.0
_SECONDS_FOR_THE_TREE = 0.6


def main(imports: Sequence[str], temporary_folder: str) -> None:
    """Import the modules named, wait for one request, answer it and return.

    Parameters
    ----------
    imports : sequence of str
        Modules that the task will need.
    temporary_folder : str
        Removed when the parent is gone; else the parent does it.
    """
    faulthandler.enable()
    channel = _Channel()
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    guard = _Guard(_private_input(), requests, temporary_folder)
    guard.start()
    try:
        _work(imports, requests, channel, guard)
    finally:
        guard.at_work.clear()
        if guard.parent_is_gone.is_set():
            guard.join()


def _work(
    imports: Sequence[str],
    requests: queue.SimpleQueue[dict[str, Any]],
    channel: _Channel,
    guard: _Guard,
) -> None:
    try:
        for module in imports:
            importlib.import_module(module)
        channel.say({"kind": "ready"})
        request = requests.get()
        guard.at_work.set()
        answer = _answer(request, channel)
    except CourseError as error:
        traceback.print_exc()
        answer = {"kind": "course error", "what": error.what, "next_step": error.next_step}
        for name in ("expected", "found"):
            value = getattr(error, name)
            answer[name] = None if value is None else str(value)
    except BaseException as error:
        traceback.print_exc()
        answer = {"kind": "exception", "type": type(error).__name__, "message": _message_of(error)}
    channel.say(answer)


def _message_of(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return ""


def _answer(request: dict[str, Any], channel: _Channel) -> dict[str, Any]:
    module, _, name = request["task"].partition(":")
    task: Callable[..., Any] = getattr(importlib.import_module(module), name)
    result = task(request["request"], lambda event: channel.say({"kind": "event", "event": event}))
    answer = {"kind": "result", "result": result}
    packed(answer)
    return answer


class _Channel:
    """The private way back; what the task prints goes to the standard error output instead."""

    def __init__(self) -> None:
        self._descriptor = os.dup(1)
        os.dup2(2, 1)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
        self._one_at_a_time = threading.Lock()

    def say(self, message: dict[str, Any]) -> None:
        line = memoryview(packed(message))
        with self._one_at_a_time:
            while line:
                line = line[os.write(self._descriptor, line) :]


def _private_input() -> int:
    """Take the standard input away from the task: reading it would swallow the parent's words."""
    descriptor = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return descriptor


class _Guard(threading.Thread):
    """Hands the request over and then watches: when the parent is gone, this process ends with its tree.

    A task that is at work is interrupted first, as by Ctrl-C, and has a moment to clear up after itself.

    Attributes
    ----------
    at_work : threading.Event
        Set as long as the task runs.
    parent_is_gone : threading.Event
        Set when nobody wants the work any more.
    """

    def __init__(
        self, descriptor: int, requests: queue.SimpleQueue[dict[str, Any]], temporary_folder: str
    ) -> None:
        super().__init__(name="parent watch", daemon=True)
        self._descriptor = descriptor
        self._requests = requests
        self._temporary_folder = temporary_folder
        self.at_work = threading.Event()
        self.parent_is_gone = threading.Event()
        self._parent = os.getppid()
        self._since = time.time()

    def run(self) -> None:
        heard = b""
        while chunk := self._heard():
            heard += chunk
            while b"\n" in heard:
                line, _, heard = heard.partition(b"\n")
                self._requests.put(unpacked(line))
        self.parent_is_gone.set()
        self._interrupt()
        self._end()

    def _heard(self) -> bytes:
        """Return the next bytes from the parent, or nothing when it is gone.

        A process that the parent forked may hold the other end open, so its number is looked at too.
        """
        if os.name == "posix":
            while not select.select([self._descriptor], [], [], _SECONDS_BETWEEN_LOOKS_AT_THE_PARENT)[0]:
                if os.getppid() != self._parent:
                    return b""
        return os.read(self._descriptor, 1 << 16)

    def _interrupt(self) -> None:
        main_thread = threading.main_thread().ident
        if not self.at_work.is_set() or main_thread is None:
            return
        if hasattr(signal, "pthread_kill"):
            # Unlike a flag, a signal also wakes a task that waits for something.
            signal.pthread_kill(main_thread, signal.SIGINT)
        else:
            _thread.interrupt_main()
        deadline = time.monotonic() + _SECONDS_TO_CLEAR_UP
        while self.at_work.is_set() and time.monotonic() < deadline:
            time.sleep(_SECONDS_BETWEEN_LOOKS_AT_THE_TASK)

    def _end(self) -> None:
        from course_lib.watched.tree import end_tree

        with contextlib.suppress(Exception):
            end_tree(os.getpid(), self._since, _SECONDS_FOR_THE_TREE, spare=os.getpid())
        shutil.rmtree(self._temporary_folder, ignore_errors=True)
        os._exit(1)
