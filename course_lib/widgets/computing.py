"""When a panel computes: for the newest values only, one computation after another."""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

from course_lib.errors import CourseError
from course_lib.widgets.texts import text
from course_lib.widgets.view import View

_RECENT = 8


@dataclass(frozen=True)
class Outcome:
    """What a computation led to.

    Attributes
    ----------
    view : View or None
        None before the first computation, and where the values have no result.
    problem : CourseError or None
        Why there is no view.
    values : dict or None
        The values that it belongs to; None before the first computation.
    final : bool
        Whether the same values would lead to the same again; not after a stop or an unforeseen error.
    """

    view: View | None = None
    problem: CourseError | None = None
    values: dict[str, Any] | None = None
    final: bool = True

    @property
    def missing(self) -> bool:
        """Whether nothing has been computed."""
        return self.view is None and self.problem is None

    def html(self) -> str:
        """Return the view, the sentence, or what to do to get one, as HTML."""
        if self.problem is not None:
            return f'<p class="course-problem" role="alert">{escape(str(self.problem))}</p>'
        if self.view is None:
            return f'<p class="course-note">{escape(text("panel.press_run"))}</p>'
        return self.view.html()

    def text(self) -> str:
        """Return the same as plain text."""
        if self.problem is not None:
            return str(self.problem)
        return self.view.text() if self.view is not None else text("panel.press_run")


class Computing:
    """The outcome for the newest values.

    Parameters
    ----------
    compute : callable
        Takes the values by name and returns a `View`; no side effects.
    values : callable
        Returns the newest values by name.
    show : callable
        Called when an outcome is there.

    Attributes
    ----------
    outcome : Outcome
    """

    def __init__(
        self,
        compute: Callable[..., View],
        values: Callable[[], dict[str, Any]],
        show: Callable[[], None],
    ) -> None:
        self.outcome = Outcome()
        self._anew = True
        self._first_seconds = math.inf
        self._seconds: deque[float] = deque(maxlen=_RECENT)
        self._compute = compute
        self._values = values
        self._show = show
        self._lock = threading.RLock()
        self._busy = False
        self._wanted = True
        self._waiting: set[int] = set()

    @property
    def values_shown(self) -> dict[str, Any] | None:
        """The values that the outcome belongs to; None where they are to be computed anew."""
        return None if self._anew else self.outcome.values

    @property
    def usual_seconds(self) -> float:
        """What a computation takes, as a mean of the last ones; the first one may have loaded modules."""
        return sum(self._seconds) / len(self._seconds) if self._seconds else self._first_seconds

    def want(self) -> None:
        """Note that there are newer values."""
        self._wanted = True

    def soon(self) -> None:
        """Compute once what runs now gives way to the event loop; at once where no loop runs."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self.now()
            return
        if id(loop) not in self._waiting:
            self._waiting.add(id(loop))
            loop.call_soon(self._from_loop, id(loop))

    def now(self) -> None:
        """Compute until the result is that of the newest values, and show it."""
        with self._lock:
            if self._busy:
                return
            self._busy = True
            try:
                while self._wanted:
                    self._wanted = False
                    values = self._values()
                    if values != self.values_shown:
                        self.outcome = self.tried(values)
                        self._anew = not self.outcome.final
                    self._show()
            finally:
                self._busy = False

    def again(self) -> None:
        """Compute now, also for values that have been computed before."""
        self._wanted = True
        self._anew = True
        self.now()

    def tried(self, values: dict[str, Any]) -> Outcome:
        """Return the outcome for any values; what is shown stays."""
        began = time.perf_counter()
        try:
            return Outcome(self._compute(**values), values=values)
        except CourseError as error:
            return Outcome(problem=error, values=values)
        except KeyboardInterrupt:
            return Outcome(problem=CourseError(text("panel.stopped")), values=values, final=False)
        except Exception as error:
            words = text("panel.failed", kind=type(error).__name__, message=error)
            return Outcome(problem=CourseError(words), values=values, final=False)
        finally:
            seconds = time.perf_counter() - began
            if self._first_seconds == math.inf:
                self._first_seconds = seconds
            else:
                self._seconds.append(seconds)

    def _from_loop(self, loop_id: int) -> None:
        self._waiting.discard(loop_id)
        self.now()
