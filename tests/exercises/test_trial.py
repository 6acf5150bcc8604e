"""A learner's function can do nothing to the notebook."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from course_lib.exercises import open_exercises
from course_lib.exercises.answers import InvalidAnswerError, UntouchedError
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

LIMIT = 0.3


def _run(function: Callable[..., Any], *arguments: Any) -> Any:
    on_trial = FunctionOnTrial(function, "mine", LIMIT)
    on_trial.calls = 1
    return on_trial(*arguments, on="a drawn input")


def test_returns_what_the_function_returns() -> None:
    assert _run(lambda values: values[::-1], [1, 2]) == [2, 1]


def test_an_exception_is_reported_with_its_input_and_line() -> None:
    def mine(field: dict[str, str]) -> str:
        name = "known_at"
        return field[name]

    with pytest.raises(PropertyFailedError) as caught:
        _run(mine, {"name": "age"})
    assert (
        caught.value.message
        == "`mine` raised KeyError: 'known_at' (line 3 of the function) on a drawn input."
    )


def _leave() -> None:
    sys.exit(3)


def _interrupt() -> None:
    raise KeyboardInterrupt


def _too_deep(depth: int = 0) -> int:
    return _too_deep(depth + 1)


@pytest.mark.parametrize(
    ("function", "name"),
    [(_leave, "SystemExit"), (_interrupt, "KeyboardInterrupt"), (_too_deep, "RecursionError")],
)
def test_nothing_escapes(function: Callable[..., Any], name: str) -> None:
    with pytest.raises(PropertyFailedError, match=name):
        _run(function)


def _endless() -> None:
    while True:
        pass


_TURNS = [0]


def _stubborn() -> None:
    while True:
        try:
            _TURNS[0] += 1
            sum(range(100))
        except:  # noqa: E722
            pass


def test_an_endless_loop_is_ended() -> None:
    before = set(threading.enumerate())
    with pytest.raises(PropertyFailedError, match=r"did not return within 0.3 s \(the limit set"):
        _run(_endless)
    assert set(threading.enumerate()) <= before


def test_a_loop_that_swallows_every_exception_is_ended_or_parked() -> None:
    with pytest.raises(PropertyFailedError) as caught:
        _run(_stubborn)
    assert "busy" not in caught.value.message
    turns = _TURNS[0]
    assert _run(lambda: sum(range(1_000_000))) > 0
    assert _TURNS[0] == turns


def test_a_blocking_call_is_left_behind_and_the_kernel_goes_on() -> None:
    release = threading.Event()
    with pytest.raises(PropertyFailedError, match="still busy in the background"):
        _run(release.wait)
    release.set()
    assert _run(lambda: 5) == 5


def test_what_is_printed_is_captured_and_bounded(capsys: pytest.CaptureFixture[str]) -> None:
    def mine() -> int:
        print("x" * 5000)
        print("trouble", file=sys.stderr)
        return 1

    on_trial = FunctionOnTrial(mine, "mine", LIMIT)
    assert on_trial(on="nothing") == 1
    assert on_trial.printed == "x" * 1000
    assert capsys.readouterr() == ("", "")


def test_changed_inputs_are_noticed_and_the_original_stays() -> None:
    values = [3, 1, 2]

    def mine(given: list[int]) -> list[int]:
        given.sort()
        return given

    with pytest.raises(PropertyFailedError, match="changed the inputs"):
        _run(mine, values)
    assert values == [3, 1, 2]


def _stub() -> None:
    raise NotImplementedError


@pytest.mark.parametrize("function", [_stub, lambda: None, lambda: ...])
def test_a_stub_is_untouched_at_the_first_call_only(function: Callable[..., Any]) -> None:
    on_trial = FunctionOnTrial(function, "mine", LIMIT)
    with pytest.raises(UntouchedError):
        on_trial(on="the first input")
    with pytest.raises(PropertyFailedError):
        on_trial(on="the second input")


def test_parameters_are_checked_before_the_run() -> None:
    with pytest.raises(InvalidAnswerError, match=r"called as `mine\(fields, at\)`; yours takes `\(x\)`"):
        FunctionOnTrial(lambda x: x, "mine", LIMIT).require_parameters(("fields", "at"))
    FunctionOnTrial(lambda *all_of_them: 1, "mine", LIMIT).require_parameters(("fields", "at"))


def test_submitting_code_reports_the_print_and_never_raises() -> None:
    exercises = open_exercises("01")

    def usable_fields(fields: Any, moments: Any, at: Any) -> list[str]:
        print("looking at", at)
        return [field["nom"] for field in fields]

    feedback = exercises.submit("usable_fields", usable_fields)
    assert feedback.status == "wrong"
    assert "raised KeyError: 'nom' (line 3 of the function)" in feedback.message
    assert "looking at before_call" in feedback.message
    assert "def usable_fields" in exercises.state("usable_fields").answer


@pytest.mark.parametrize("answer", ["usable_fields", ["age"], lambda fields, at: []])
def test_what_is_no_such_function_is_invalid(answer: object) -> None:
    assert open_exercises("01").submit("usable_fields", answer).status == "invalid"


def _generator(fields: Any, moments: Any, at: Any) -> Any:
    yield from ()


def test_a_generator_is_no_list() -> None:
    feedback = open_exercises("01").submit("usable_fields", _generator)
    assert feedback.status == "wrong" and "a list of names is asked for" in feedback.message


def test_prints_reach_the_notebook_after_a_late_end(capsys: pytest.CaptureFixture[str]) -> None:
    taken: list[Any] = []

    def mine(value: int) -> int:
        taken.append(sys.stdout)
        print("during the trial")
        return value

    assert _run(mine, 1) == 1
    print("late", file=taken[0], flush=True)
    assert capsys.readouterr().out == "late\n"
