"""How, whether and on how many cores this machine starts the workers of a DataLoader."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

_SECONDS_TO_START = 60


def default_start_method() -> str:
    """Return how this Python starts worker processes here: fork, forkserver or spawn."""
    return multiprocessing.get_all_start_methods()[0]


def usable_cores() -> int:
    """Return on how many cores this process and its workers may run."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def why_workers_cannot_start() -> str:
    """Start one worker the strict way and have it answer; return "" or the reason it could not.

    The worker is started by spawn, which works everywhere, and uses the locks that a DataLoader needs.
    """
    worker = None
    try:
        context = multiprocessing.get_context("spawn")
        answered: Any = context.Event()
        worker = context.Process(target=_answer, args=(answered,), daemon=True)
        worker.start()
        worker.join(_SECONDS_TO_START)
        if worker.exitcode is None:
            return f"it did not answer within {_SECONDS_TO_START} seconds"
        return "" if answered.is_set() else f"it ended with exit status {worker.exitcode}"
    except (OSError, ImportError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    finally:
        if worker is not None and worker.is_alive():
            worker.kill()
            worker.join()


def _answer(answered: Any) -> None:
    answered.set()
