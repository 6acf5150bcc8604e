"""Running a learner's function so that nothing it does reaches the notebook.

It runs in a thread of its own while the caller waits for a set time. A thread cannot be killed, but an
exception can be raised inside it, which ends loops written in Python. One that swallows every exception is
parked: the exception raised into it next waits in its constructor for ever, so that it uses no processor.
A call that sits in compiled code is left behind in its daemon thread, and the caller goes on. That needs code
which lets go of the interpreter lock, as sleeping, reading and most of NumPy do. Compiled code that keeps the
lock, such as a regular expression that backtracks without end, ``sum(itertools.repeat(1))`` or ``9**9**9``,
stops every thread: the caller cannot notice that the time is over, and only a restart of the kernel ends it.
A trace function in the caller's own thread was the other choice: it cannot leave a blocking call such as
``time.sleep``, is switched off by the first bare ``except:`` it raises into, and fights with debuggers.
"""

from __future__ import annotations

import contextlib
import copy
import ctypes
import inspect
import io
import sys
import threading
import time
import types
from collections.abc import Callable, Mapping
from typing import Any, TextIO

from course_lib.exercises.answers import InvalidAnswerError, UntouchedError, described, shortened

_LONGEST_PRINTED = 1000
_SECONDS_TO_STOP = 0.5
_SECONDS_TO_PARK = 2.0


class PropertyFailedError(Exception):
    """A property does not hold: what was got, and the symptom by which the mistake is recognised."""

    def __init__(self, message: str, symptom: str = "") -> None:
        self.message = message
        self.symptom = symptom
        super().__init__(message)


class _StoppedError(BaseException):
    """Raised inside the learner's thread when its time is over."""


class _Printed(io.TextIOBase):
    """Takes what is printed during a trial and keeps the beginning of it."""

    def __init__(self, beyond: TextIO | None, kept: list[str]) -> None:
        self._beyond = beyond._beyond if isinstance(beyond, _Printed) else beyond
        self._kept = kept
        self._room = _LONGEST_PRINTED
        self._over = False

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if self._over:
            return self._beyond.write(text) if self._beyond is not None else len(text)
        self._kept.append(text[: self._room])
        self._room = max(0, self._room - len(text))
        return len(text)

    def flush(self) -> None:
        if self._over and self._beyond is not None:
            self._beyond.flush()

    def end(self) -> None:
        """Pass on what is written from now on.

        A function that was left behind and had redirected its output puts this back as ``sys.stdout`` when
        it ends, however late; the notebook's own prints then come through here.
        """
        self._over = True


class _Run(threading.Thread):
    """One call of the learner's function in a thread that may be left behind."""

    def __init__(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        super().__init__(name="learner's function", daemon=True)
        self._function = function
        self._arguments = arguments
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        # _StoppedError can arrive anywhere in here, even while another one is being handled.
        with contextlib.suppress(_StoppedError):
            try:
                self.value = self._function(*self._arguments)
            except BaseException as error:
                self.error = error

    def stop(self) -> bool:
        """End the thread or park it; return False when it sits in compiled code and can only be left."""
        deadline = time.monotonic() + _SECONDS_TO_STOP
        while self.is_alive() and time.monotonic() < deadline:
            self._raise(_StoppedError)
            self.join(0.01)
        parked = threading.Event()
        if self.is_alive():
            self._raise(_parking(parked))
            deadline = time.monotonic() + _SECONDS_TO_PARK
            while self.is_alive() and not parked.is_set() and time.monotonic() < deadline:
                self.join(0.01)
        if self.is_alive() and not parked.is_set():
            self._raise(_StoppedError)
            return False
        return True

    def _raise(self, error: type[BaseException]) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident or 0), ctypes.py_object(error))


def _parking(parked: threading.Event) -> type[BaseException]:
    """Return an exception whose instance, made in the thread it is raised in, waits there for ever."""

    class _ParkedError(BaseException):
        def __init__(self) -> None:
            parked.set()
            threading.Event().wait()

    return _ParkedError


class FunctionOnTrial:
    """A learner's function with its calls bounded, its errors caught and its inputs guarded.

    Parameters
    ----------
    function : callable
        What the learner handed in.
    name : str
        What the question calls it.
    limit_seconds : float
        How long one call may take.

    Attributes
    ----------
    calls : int
        How often it was called.
    printed : str
        The beginning of what it printed in the latest call.
    """

    def __init__(self, function: Callable[..., Any], name: str, limit_seconds: float = 3.0) -> None:
        self._function = function
        self._name = name
        self._limit_seconds = limit_seconds
        self.calls = 0
        self.printed = ""

    def require_parameters(self, parameters: tuple[str, ...]) -> None:
        """Check that the function can be called with so many arguments.

        Raises
        ------
        InvalidAnswerError
            When it cannot.
        """
        try:
            signature = inspect.signature(self._function)
            taken = shortened(str(signature), 160)
        except (Exception, SystemExit):
            return
        try:
            signature.bind(*parameters)
        except TypeError as error:
            wanted = f"{self._name}({', '.join(parameters)})"
            raise InvalidAnswerError(
                f"The function is called as `{wanted}`; yours takes `{taken}`."
            ) from error

    def with_names(self, names: Mapping[str, Any]) -> FunctionOnTrial:
        """Return the same function with other meanings for some global or built-in names.

        Helper functions that it calls keep theirs, and so does a callable that is no plain function.
        """
        function = self._function
        if isinstance(function, types.FunctionType):
            changed = types.FunctionType(
                function.__code__,
                {**function.__globals__, **names},
                function.__name__,
                function.__defaults__,
                function.__closure__,
            )
            changed.__kwdefaults__ = function.__kwdefaults__
            function = changed
        return FunctionOnTrial(function, self._name, self._limit_seconds)

    def __call__(self, *arguments: Any, on: str) -> Any:
        """Return what the function returns for copies of ``arguments``.

        Parameters
        ----------
        *arguments
            The inputs; the function gets deep copies.
        on : str
            What the inputs are, to be read after "on", for example "a manifest without fields".

        Raises
        ------
        UntouchedError
            When the first call shows that the function is still a stub.
        PropertyFailedError
            When it raises, takes too long, returns nothing, or changes its inputs.
        """
        first = self.calls == 0
        self.calls += 1
        handed_in = copy.deepcopy(arguments)
        run = _Run(self._function, handed_in)
        kept: list[str] = []
        output, errors = _Printed(sys.stdout, kept), _Printed(sys.stderr, kept)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            try:
                run.start()
                run.join(self._limit_seconds)
            finally:
                still_running = run.is_alive()
                stopped = run.stop()
                output.end()
                errors.end()
        self.printed = "".join(kept)[:_LONGEST_PRINTED]
        if still_running:
            left = " It is still busy in the background: restart the kernel if that goes on." * (not stopped)
            raise PropertyFailedError(
                f"`{self._name}` did not return within {self._limit_seconds:g} s "
                f"(the limit set for one call) on {on}.{left}",
                "endless",
            )
        if first and isinstance(run.error, NotImplementedError):
            raise UntouchedError(f"`{self._name}` still raises NotImplementedError.")
        if run.error is not None:
            raise PropertyFailedError(f"`{self._name}` raised {self._error(run.error)} on {on}.", "raises")
        if run.value is None or run.value is Ellipsis:
            if first:
                raise UntouchedError(f"`{self._name}` returns nothing yet: does it end with `return`?")
            raise PropertyFailedError(f"`{self._name}` returned nothing on {on}.", "returns_nothing")
        if not _same(handed_in, arguments):
            raise PropertyFailedError(
                f"`{self._name}` changed the inputs it was given, on {on}; "
                "whoever called it goes on to use them.",
                "changes_inputs",
            )
        return run.value

    def _error(self, error: BaseException) -> str:
        try:
            said = str(error)
        except BaseException:
            said = ""
        text = f"{type(error).__name__}: {described(said)}" if said else type(error).__name__
        code = getattr(self._function, "__code__", None)
        line = None
        step = error.__traceback__
        while step is not None and code is not None:
            if step.tb_frame.f_code.co_filename == code.co_filename:
                line = step.tb_lineno - code.co_firstlineno + 1
            step = step.tb_next
        where = f" (line {line} of the function)" if line is not None and line > 0 else ""
        return shortened(text, 160) + where


def _same(one: Any, other: Any) -> bool:
    try:
        return bool(one == other)
    except Exception:
        return False
