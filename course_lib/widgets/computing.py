"""When a panel computes: for the newest values only, one computation after another."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

from course_lib.errors import CourseError
from course_lib.widgets.texts import text
from course_lib.widgets.view import View


class Computing:
    """The view of the newest values, or the sentence on why there is none.

    Parameters
    ----------
    compute : callable
        Takes the values by name and returns a `View`; no side effects.
    values : callable
        Returns the newest values by name.
    show : callable
        Called when a view or a sentence is there.

    Attributes
    ----------
    view : View or None
        None before the first computation, and where the values have no result.
    problem : CourseError or None
        Why there is no view.
    values_shown : dict or None
        The values that view or problem belong to; None where they are to be computed anew.
    """

    def __init__(
        self,
        compute: Callable[..., View],
        values: Callable[[], dict[str, Any]],
        show: Callable[[], None],
    ) -> None:
        self.view: View | None = None
        self.problem: CourseError | None = None
        self.values_shown: dict[str, Any] | None = None
        self._compute = compute
        self._values = values
        self._show = show
        self._lock = threading.RLock()
        self._busy = False
        self._wanted = True
        self._waiting: set[int] = set()

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
                        self.values_shown = values
                        self.view, self.problem = self._result(values)
                    self._show()
            finally:
                self._busy = False

    def again(self) -> None:
        """Compute now, also for values that have been computed before."""
        self._wanted = True
        self.values_shown = None
        self.now()

    def _from_loop(self, loop_id: int) -> None:
        self._waiting.discard(loop_id)
        self.now()

    def _result(self, values: dict[str, Any]) -> tuple[View | None, CourseError | None]:
        """Return the view for ``values``, or the sentence on why there is none."""
        try:
            return self._compute(**values), None
        except CourseError as error:
            return None, error
        except KeyboardInterrupt:
            self.values_shown = None
            return None, CourseError(text("panel.stopped"))
        except Exception as error:
            self.values_shown = None
            kind = type(error).__name__
            return None, CourseError(text("panel.failed", kind=kind, message=error))
