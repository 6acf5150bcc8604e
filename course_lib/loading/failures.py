"""What a DataLoader says when a worker fails, in plain words."""

from __future__ import annotations

import errno
import pickle
import re

from course_lib.errors import CourseError

_KILLED = re.compile(r"DataLoader worker \(pid (\d+)\) is killed by signal: (.+?)\.\s")
_EXITED = re.compile(r"DataLoader worker \(pid\(?s?\)? ([\d, ]+)\) exited unexpectedly")
_TIMED_OUT = re.compile(r"DataLoader timed out after ([\d.]+) seconds")
_CAUGHT = re.compile(r"Caught (\S+) in DataLoader worker process (\d+)\.")
_COURSE_ERROR = f"{CourseError.__module__}.{CourseError.__qualname__}: "

_USUAL_REASONS = "killed from outside, out of memory or out of shared memory are the usual reasons"
_FEWER_WORKERS = "lower workers or batch_size; the next run starts new workers"


def explained(error: Exception, *, has_workers: bool = True) -> Exception:
    """Return a CourseError for a failure of a worker, or ``error`` itself where it is something else.

    Parameters
    ----------
    error : Exception
        What the loader raised.
    has_workers : bool, optional
        Whether it has workers whose connection may have broken.
    """
    text = str(error)
    if isinstance(error, CourseError):
        return _restored(error) if _CAUGHT.search(text) else error
    # PyTorch says first that a worker is gone; by which signal is in the error behind that one.
    behind = error.__cause__ or error.__context__
    for pattern, explain in ((_KILLED, _killed), (_EXITED, _exited), (_TIMED_OUT, _hung), (_CAUGHT, _caught)):
        if found := pattern.search(f"{behind} ") or pattern.search(f"{text} "):
            return explain(found, text)
    broken = isinstance(error, (ConnectionError, EOFError, pickle.UnpicklingError)) or "/listener-" in text
    if has_workers and broken:
        # It died while it handed a batch over, before PyTorch saw that it is gone.
        return CourseError(
            "A worker ended while it handed over a batch", found=_USUAL_REASONS, next_step=_FEWER_WORKERS
        )
    return _without_a_worker(error, text)


def _killed(found: re.Match[str], text: str) -> CourseError:
    pid, signal_name = found.groups()
    if "Bus error" in signal_name:
        return CourseError(
            f"Worker {pid} ended by a bus error",
            expected="room in shared memory for the batches that the workers prepare",
            next_step="lower workers, prefetch or batch_size, or start the container with more `--shm-size`",
        )
    if signal_name.startswith("Killed"):
        return CourseError(
            f"Worker {pid} was killed during the run",
            found="the signal that the system sends when memory runs out, or that somebody sent",
            next_step=_FEWER_WORKERS,
        )
    return CourseError(
        f"Worker {pid} ended by a signal during the run", found=signal_name, next_step=_FEWER_WORKERS
    )


def _exited(found: re.Match[str], text: str) -> CourseError:
    return CourseError(
        f"Worker {found[1].strip()} ended during the run without a word",
        found=_USUAL_REASONS,
        next_step=_FEWER_WORKERS,
    )


def _hung(found: re.Match[str], text: str) -> CourseError:
    return CourseError(
        "A worker hangs",
        expected="a batch at least every so many seconds",
        found=f"none for {float(found[1]):,.0f} seconds",
        next_step="look whether the files lie on a network mount that stalls, or lower batch_size",
    )


def _caught(found: re.Match[str], text: str) -> CourseError:
    """Explain an exception of another kind that a sample or the collate function raised in a worker."""
    return CourseError(
        f"Worker {found[2]} stopped at a sample that could not be prepared",
        found=text.strip().splitlines()[-1].rstrip("."),
        next_step="run with 0 workers to see the place in the code",
    )


def _restored(error: CourseError) -> CourseError:
    """Take the sentence out of the traceback that PyTorch wraps around what a worker raised."""
    last = error.what.rpartition(_COURSE_ERROR)[2].strip()
    return CourseError(last.rstrip("."))


def _without_a_worker(error: Exception, text: str) -> Exception:
    number = error.errno if isinstance(error, OSError) else None
    if number == errno.EMFILE or "Too many open files" in text or "ancdata" in text:
        return CourseError(
            "The run needs more open files than this process may have",
            next_step="lower workers or prefetch, or raise the limit (`ulimit -n` on Linux and macOS)",
        )
    if number in (errno.EAGAIN, errno.ENOMEM) or isinstance(error, MemoryError):
        return CourseError(
            "A worker could not be started or fed",
            found=text.rstrip(".") or "no memory left",
            next_step="lower workers or batch_size, or close other programs",
        )
    if number == errno.ENOSPC or "shared memory" in text or "/torch_" in text:
        return CourseError(
            "There is too little shared memory for the batches",
            next_step="lower workers, prefetch or batch_size, or start the container with more `--shm-size`",
        )
    if isinstance(error, (pickle.PicklingError, AttributeError)) and "pickle" in text:
        return CourseError(
            "The data set cannot be handed to workers",
            expected="a class that can be imported, as those of course_lib.loading",
            found=text.rstrip("."),
            next_step="move the class from the notebook to a file, or use 0 workers",
        )
    return error
