"""A process with everything that it started: finding it, and ending it within a set time."""

from __future__ import annotations

import contextlib
import os
import time

import psutil

_SECONDS_BETWEEN_LOOKS = 0.005


def tree_of(pid: int, since: float) -> list[psutil.Process]:
    """Return the living processes that descend from ``pid``, and ``pid`` itself first where it lives.

    Descendants whose parents have died are found as well: by the process group that ``pid`` leads, or on
    Windows by the number of the parent.

    Parameters
    ----------
    pid : int
        A process that was started as the leader of a group of its own.
    since : float
        When it was started (Unix seconds): nothing older belongs to it, whatever its numbers say.
    """
    found: dict[int, psutil.Process] = {}
    with contextlib.suppress(psutil.Error):
        root = psutil.Process(pid)
        found[pid] = root
        found.update((child.pid, child) for child in root.children(recursive=True))
    for other in psutil.pids():
        if other in found:
            continue
        with contextlib.suppress(psutil.Error, OSError):
            if _was_left_by(other, pid, since):
                found[other] = psutil.Process(other)
    return [process for process in found.values() if _lives(process)]


def end_tree(pid: int, since: float, seconds: float, *, spare: int | None = None) -> list[psutil.Process]:
    """End a process and all it started; return those that still live after ``seconds``.

    Python's resource trackers are not told to end but waited for: each ends by itself when the processes
    that it serves are gone, and first removes the semaphores that those had no time to remove.

    Parameters
    ----------
    pid, since
        As for `tree_of`.
    seconds : float
        Longest time that this takes.
    spare : int, optional
        A process that is left alone: the caller itself. Trackers are not waited for then.
    """
    begin = time.monotonic()
    remaining: dict[int, psutil.Process] = {}
    trackers: dict[int, psutil.Process] = {}
    for end, deadline in ((psutil.Process.terminate, seconds / 2), (psutil.Process.kill, seconds)):
        for process in tree_of(pid, since):
            if process.pid != spare:
                (trackers if _is_resource_tracker(process) else remaining)[process.pid] = process
        for process in remaining.values():
            with contextlib.suppress(psutil.Error):
                end(process)
        _wait_for_the_end(remaining, begin + deadline)
        if not remaining:
            break
    if spare is None:
        _wait_for_the_end(trackers, begin + seconds)
    return list(remaining.values())


def _was_left_by(pid: int, leader: int, since: float) -> bool:
    if os.name == "posix":
        return os.getpgid(pid) == leader
    process = psutil.Process(pid)
    return process.ppid() == leader and process.create_time() >= since


def _is_resource_tracker(process: psutil.Process) -> bool:
    try:
        return any("resource_tracker" in word for word in process.cmdline())
    except psutil.Error:
        return False


def _wait_for_the_end(processes: dict[int, psutil.Process], deadline: float) -> None:
    """Take those that have ended out of ``processes`` until none is left or the time is over."""
    # psutil's own waiting would take the exit status away from the Popen object that waits for it.
    while True:
        for number in [number for number, process in processes.items() if not _lives(process)]:
            del processes[number]
        if not processes or time.monotonic() >= deadline:
            return
        time.sleep(_SECONDS_BETWEEN_LOOKS)


def _lives(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
    except psutil.Error:
        return True
