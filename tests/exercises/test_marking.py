"""Marking: what is said about answers that no question file foresaw."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course_lib.exercises.answers import InvalidAnswerError, as_kept, is_untouched
from course_lib.exercises.marking import mark
from course_lib.exercises.questions import (
    ChoiceQuestion,
    MatchingQuestion,
    NumberQuestion,
    OrderingQuestion,
)
from course_lib.units import Quantity

_COMMON: dict[str, Any] = {"id": "q", "title": "T", "prompt": "P", "hints": ("1", "2"), "solution": "S"}


def _number(answer: str, placeholder: str, wrong: tuple[str, str], **more: Any) -> NumberQuestion:
    recognised = [{"answer": value, "explanation": f"because {value}"} for value in wrong]
    data = {
        "kind": "number",
        "answer": answer,
        "placeholder": placeholder,
        "tolerance": "1%",
        "wrong": recognised,
    }
    return NumberQuestion.model_validate({**_COMMON, **data, **more})


RATE = _number("51.2 MB/s", "12.5 MB/s", ("1 MB/s", "2 MB/s"))
SHARE = _number("75%", "12.5%", ("1%", "2%"))
OPENS = _number("500 /s", "20 /s", ("1 /s", "2 /s"))
TIME = _number("18 min", "5 min", ("1 min", "2 min"))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (RATE, "51.2 MB/s"),
        (RATE, "51,200 KB/s"),
        (RATE, "409.6 Mbit/s"),
        (RATE, "51.5 MB/s"),
        (RATE, Quantity(51.2, "MB/s")),
        (SHARE, "75%"),
        (SHARE, "0.75"),
        (SHARE, 0.75),
        (SHARE, np.float32(0.75)),
        (OPENS, "500 /s"),
        (OPENS, "500 files/s"),
        (OPENS, "500 op/s"),
        (TIME, "1080 s"),
        (TIME, "0.3 h"),
    ],
)
def test_right_numbers_in_any_fitting_unit(question: NumberQuestion, answer: object) -> None:
    assert mark(question, answer).correct


@pytest.mark.parametrize(
    ("question", "answer", "says"),
    [
        (RATE, "51.2 MiB/s", "binary"),
        (RATE, "48.83 MB/s", "binary"),
        (RATE, "51.2 Mbit/s", "eight bits"),
        (RATE, "51.2 GB/s", "prefix does not"),
        (RATE, "51.2 KB/s", "prefix does not"),
        (RATE, "51.2 MB", "an amount of data; the question asks for an amount of data per second"),
        (RATE, "51.2 s", "a duration"),
        (RATE, "500 /s", "a number per second"),
        (RATE, "80 MB/s", "too large"),
        (RATE, "20 MB/s", "too small"),
        (RATE, "1 MB/s", "because 1 MB/s"),
        (SHARE, "0.75%", "percentage and a ratio"),
        (SHARE, 75, "percentage and a ratio"),
        (SHARE, -0.75, "sign"),
        (TIME, "18 s", "Seconds, minutes and hours"),
        (TIME, "18 h", "Seconds, minutes and hours"),
        (OPENS, "500 MB/s", "an amount of data per second"),
        (OPENS, "500", None),
    ],
)
def test_typical_number_mistakes_are_recognised(
    question: NumberQuestion, answer: object, says: str | None
) -> None:
    if says is None:
        with pytest.raises(InvalidAnswerError, match="no unit"):
            mark(question, answer)
        return
    verdict = mark(question, answer)
    assert not verdict.correct
    assert says in verdict.message
    assert f"You answered {answer}" in verdict.message


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ([51.2], "this is a list"),
        (True, "this is a bool"),
        (float("nan"), "finite"),
        (10**400, "too large"),
        ("51.2 mb/s", "bits or bytes"),
        ("quick", "No number"),
    ],
)
def test_unreadable_numbers_are_no_attempts(answer: object, says: str) -> None:
    with pytest.raises(InvalidAnswerError, match=says):
        mark(RATE, answer)


def test_a_conversion_wants_its_unit() -> None:
    question = _number("17.18 GB", "1 GB", ("16 GB", "14.9 GB"), unit="GB")
    assert mark(question, "17.18 GB").correct
    with pytest.raises(InvalidAnswerError, match="is not in GB"):
        mark(question, "16 GiB")


def _options(*ids: str) -> list[dict[str, str]]:
    return [{"id": name, "text": f"Text of {name}."} for name in ids]


ONE = ChoiceQuestion.model_validate(
    {
        **_COMMON,
        "kind": "choice",
        "options": _options("A", "B", "C"),
        "answer": "B",
        "wrong": [{"chosen": "A", "explanation": "not A"}, {"chosen": "C", "explanation": "not C"}],
    }
)
SEVERAL = ChoiceQuestion.model_validate(
    {
        **_COMMON,
        "kind": "choice",
        "several": True,
        "options": _options("A", "B", "C"),
        "answer": ["A", "B"],
        "wrong": [{"chosen": "C", "explanation": "not C"}, {"missing": "A", "explanation": "why not A"}],
    }
)
ORDER = OrderingQuestion.model_validate(
    {
        **_COMMON,
        "kind": "ordering",
        "items": _options("A", "B", "C", "D"),
        "answer": ["B", "A", "D", "C"],
        "wrong": [
            {"ahead": ["C", "D"], "explanation": "C needs D"},
            {"ahead": ["A", "B"], "explanation": "A needs B"},
        ],
    }
)
MATCH = MatchingQuestion.model_validate(
    {
        **_COMMON,
        "kind": "matching",
        "items": _options("age", "duration", "job"),
        "targets": _options("before_call", "after_call"),
        "answer": {"age": "before_call", "duration": "after_call", "job": "before_call"},
        "wrong": [
            {"item": "duration", "target": "before_call", "explanation": "it has not ended"},
            {"item": "age", "target": "after_call", "explanation": "age is on file"},
        ],
    }
)


@pytest.mark.parametrize("answer", ["B", "b", " b ", "Text of B.", ["B"]])
def test_one_option_by_id_or_text(answer: object) -> None:
    assert mark(ONE, answer).correct


@pytest.mark.parametrize("answer", ["E", "A, B", ["A", "B"], 2, {"B": 1}, [["B"]]])
def test_what_names_no_option_is_no_attempt(answer: object) -> None:
    with pytest.raises(InvalidAnswerError, match="one o"):
        mark(ONE, answer)


@pytest.mark.parametrize("answer", ["A, B", "a b", "BA", ["B", "A"], {"A", "B"}, ("A", "Text of B.")])
def test_several_options_in_any_order(answer: object) -> None:
    assert mark(SEVERAL, answer).correct


def test_several_options_say_what_does_not_belong_or_that_something_is_missing() -> None:
    assert mark(SEVERAL, "A C").message == "You answered A and C. C does not belong: not C"
    assert mark(SEVERAL, "B").message.endswith("not complete. why not A")
    assert mark(SEVERAL, "A").message.endswith("not complete.")
    with pytest.raises(InvalidAnswerError, match="more than once"):
        mark(SEVERAL, "A A")


@pytest.mark.parametrize(
    "answer", ["B A D C", "badc", "B > A > D > C", ["B", "A", "D", "C"], ("b", "a", "d", "c")]
)
def test_an_order_as_list_or_text(answer: object) -> None:
    assert mark(ORDER, answer).correct


def test_an_order_says_how_many_fit_and_where_the_first_does_not() -> None:
    message = mark(ORDER, "B A C D").message
    assert "2 of 4 stand where they belong" in message
    assert "number 3 (C)" in message
    assert message.endswith("C needs D")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ("B A", "C, D has no place yet"),
        ("B A D D", "more than once"),
        ("B A D X", "'X' is none of them"),
        ({"A", "B", "C", "D"}, "no order"),
        (1234, "this is a int"),
    ],
)
def test_an_incomplete_order_is_no_attempt(answer: object, says: str) -> None:
    with pytest.raises(InvalidAnswerError, match=says):
        mark(ORDER, answer)


def test_pairs_say_how_many_are_right_and_name_a_wrong_one() -> None:
    right = {"age": "before_call", "duration": "After call", "JOB": "Text of before_call."}
    assert mark(MATCH, right).correct
    message = mark(MATCH, {**right, "duration": "before_call"}).message
    assert message.startswith("You sorted 2 of 3")
    assert "“Text of duration.” does not belong to “Text of before_call.”" in message
    assert message.endswith("it has not ended")
    assert mark(MATCH, {**right, "JOB": "after_call"}).message.startswith("You sorted 2 of 3")


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"age": "before_call"}, "“Text of duration.”, “Text of job.” have no target yet"),
        (
            {"age": "before_call", "duration": ..., "job": "after_call"},
            "“Text of duration.” has no target yet",
        ),
        ({"age": "soon", "duration": "after_call", "job": "after_call"}, "'soon' is none of them"),
        ({"agee": "before_call"}, "'agee' is none of them"),
        ({"age": "before_call", "AGE": "after_call"}, "more than once"),
        (["before_call"], "this is a list"),
    ],
)
def test_incomplete_pairs_are_no_attempt(answer: object, says: str) -> None:
    with pytest.raises(InvalidAnswerError, match=says):
        mark(MATCH, answer)


@pytest.mark.parametrize(
    "answer", [None, ..., "", " ", "...", "…", [], {}, (), [None, ...], {"a": ...}, {"a": {}}]
)
def test_untouched(answer: object) -> None:
    assert is_untouched(answer)


@pytest.mark.parametrize("answer", [0, 0.0, False, "0", ["A", ...], {"a": 0}])
def test_zero_and_half_an_answer_are_touched(answer: object) -> None:
    assert not is_untouched(answer)


class _BadRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_answers_are_kept_as_json_bounded_in_length() -> None:
    assert as_kept({"a": [1, 2.5, None, "x", True]}) == {"a": [1, 2.5, None, "x", True]}
    assert as_kept(float("inf")) == "inf"
    assert as_kept(_BadRepr()) == "a _BadRepr"
    assert len(as_kept("x" * 10_000)) == 4000
    assert "def test_answers_are_kept" in as_kept(test_answers_are_kept_as_json_bounded_in_length)
    assert as_kept(len) == "the function len"
