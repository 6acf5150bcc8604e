"""A store with a set latency per operation: slow metadata and a slow link that work on every machine.

Whatever is measured over it carries the word "set": the latency was chosen, not found.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from course_lib.errors import CourseError
from course_lib.stores.store import Store, StoreStat

_T = TypeVar("_T")

# Windows may sleep for up to 16 ms too long: a smaller debt could not be paid back in full there.
_LARGEST_DEBT_SECONDS = 0.02
_LONGEST_SLEEP_SECONDS = 0.05


class SetLatencyStore:
    """Another store whose operations last at least a set time.

    The real operation counts towards the set time. Systems sleep a little longer than they are asked to:
    what an operation slept too long, the next ones of the same thread sleep less, so that the mean is the
    set one. A real operation that is slower than the set one stays as slow as it is.

    Parameters
    ----------
    store : Store
        Where the objects really are.
    open_seconds, stat_seconds, list_seconds : float
        Set time of an open (each read, range read, write and publish makes one), of a stat and of a list.
    bytes_per_second : float, optional
        Set bandwidth of one stream, that is of one thread or worker: an operation on ``n`` bytes lasts
        ``n / bytes_per_second`` longer.
    interrupted : callable, optional
        Asked during long sleeps; when it returns True the operation ends in a `CourseError`.
    clock, sleep : callable
        Seconds, and waiting for so many of them.

    Attributes
    ----------
    counts : dict
        Operations of this process so far: ``{"open": n, "stat": n, "list": n}``.
    """

    def __init__(
        self,
        store: Store,
        *,
        open_seconds: float = 0.0,
        stat_seconds: float = 0.0,
        list_seconds: float = 0.0,
        bytes_per_second: float | None = None,
        interrupted: Callable[[], bool] | None = None,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        set_times = {"open": open_seconds, "stat": stat_seconds, "list": list_seconds}
        for operation, seconds in set_times.items():
            if not _is_number(seconds) or not 0 <= seconds < 3600:
                raise CourseError(
                    f"The set time of {operation} is out of range",
                    expected="0 s to less than 3,600 s",
                    found=f"{seconds} s",
                )
        if bytes_per_second is not None and not (_is_number(bytes_per_second) and bytes_per_second > 0):
            raise CourseError(
                "The set bandwidth is out of range",
                expected="more than 0 B/s, or None for no limit",
                found=f"{bytes_per_second} B/s",
            )
        self.store = store
        self.set_seconds = set_times
        self.bytes_per_second = bytes_per_second
        self._interrupted = interrupted
        self._clock = clock
        self._sleep = sleep
        self._prepare()

    def _prepare(self) -> None:
        self.counts = {"open": 0, "stat": 0, "list": 0}
        self._count_lock = threading.Lock()
        self._of_this_thread = threading.local()

    def __getstate__(self) -> dict[str, Any]:
        """Return what another process needs: it counts its own operations."""
        own = {"counts", "_count_lock", "_of_this_thread"}
        return {name: value for name, value in self.__dict__.items() if name not in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._prepare()

    def list(self, prefix: str = "") -> list[str]:
        """Return the names that begin with ``prefix``, after the set time of a list."""
        return self._timed("list", lambda: self.store.list(prefix))

    def stat(self, name: str) -> StoreStat:
        """Return what is known of an object, after the set time of a stat."""
        return self._timed("stat", lambda: self.store.stat(name))

    def read(self, name: str) -> bytes:
        """Return all bytes of an object, after the set times of an open and of their transfer."""
        return self._timed("open", lambda: self.store.read(name), size_of=len)

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """Return some bytes of an object, after the set times of an open and of their transfer."""
        return self._timed("open", lambda: self.store.read_range(name, start, length), size_of=len)

    def write(self, name: str, payload: bytes) -> None:
        """Write an object in the set times of an open and of its transfer."""
        self._timed("open", lambda: self.store.write(name, payload), size_of=lambda _: len(payload))

    def publish(self, name: str, payload: bytes) -> None:
        """Publish an object in the set times of an open and of its transfer."""
        self._timed("open", lambda: self.store.publish(name, payload), size_of=lambda _: len(payload))

    def _timed(self, operation: str, act: Callable[[], _T], size_of: Callable[[_T], int] | None = None) -> _T:
        begin = self._clock()
        with self._count_lock:
            self.counts[operation] += 1
        value = act()
        set_seconds = self.set_seconds[operation]
        if size_of is not None and self.bytes_per_second is not None:
            set_seconds += size_of(value) / self.bytes_per_second
        really = self._clock() - begin
        if really < set_seconds:
            debt = getattr(self._of_this_thread, "debt_seconds", 0.0)
            self._wait_until(begin + set_seconds - debt)
            debt += self._clock() - begin - set_seconds
            self._of_this_thread.debt_seconds = min(max(debt, 0.0), _LARGEST_DEBT_SECONDS)
        return value

    def _wait_until(self, end: float) -> None:
        while (seconds := end - self._clock()) > 0:
            if self._interrupted is None:
                self._sleep(seconds)
                return
            if self._interrupted():
                raise CourseError("The operation was interrupted while it waited for its set time")
            self._sleep(min(seconds, _LONGEST_SLEEP_SECONDS))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
