"""No answer, however odd, raises in submit, poisons the progress file or is lost without a word."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.exercises import Progress, open_exercises, verify_export
from course_lib.exercises.progress import Event


class _OddError(Exception):
    pass


class _BadText(str):
    def strip(self, *arguments: Any) -> str:
        raise KeyboardInterrupt

    __str__ = __repr__ = casefold = strip  # type: ignore[assignment]


class _BadList(list):  # type: ignore[type-arg]
    def __iter__(self) -> Any:
        raise SystemExit

    __len__ = __repr__ = __iter__


class _BadClass:
    @property
    def __class__(self) -> Any:
        raise _OddError

    def __repr__(self) -> str:
        raise SystemExit


class _BadFraction(Fraction):
    def __float__(self) -> float:
        raise _OddError


def _nested(depth: int) -> Any:
    value: Any = "A"
    for _ in range(depth):
        value = [value]
    return value


def _self_containing() -> Any:
    value: list[Any] = []
    value.append(value)
    return value


_ODD: dict[str, Callable[[], Any]] = {
    "self-containing": lambda: _self_containing(),
    "deep": lambda: _nested(5000),
    "long text": lambda: "A " * 200_000,
    "long list": lambda: ["A"] * 30_000,
    "long unit": lambda: "5 " + "x" * 1_000_000,
    "list": lambda: _BadList(["A"]),
    "class": lambda: _BadClass(),
    "fraction": lambda: _BadFraction(1, 2),
    "surrogate": lambda: "\ud800",
    "huge": lambda: 10**5000,
}


@pytest.mark.parametrize("qid", ["campaign", "honest_share", "both_leaks", "without_duration"])
@pytest.mark.parametrize("name", _ODD)
def test_an_odd_answer_is_invalid_in_few_words(course_home: Path, qid: str, name: str) -> None:
    feedback = open_exercises("01").submit(qid, _ODD[name]())
    assert feedback.status in ("invalid", "wrong", "recorded")
    assert len(feedback.message) < 1000
    feedback.message.encode("utf-8")


def test_a_str_subclass_counts_as_its_text(course_home: Path) -> None:
    assert open_exercises("01").submit("campaign", _BadText("B")).status == "correct"


@pytest.mark.parametrize("name", ["surrogate", "deep", "self-containing", "class", "huge"])
def test_one_odd_event_does_not_poison_the_rest(course_home: Path, tmp_path: Path, name: str) -> None:
    progress = Progress()
    assert progress.add(Event("attempt", "01_x/odd", "\ud800", _ODD[name]())) == (True, "")
    assert progress.add(Event("attempt", "01_x/next", "choice", "A")) == (True, "")
    exported = verify_export(progress.export(tmp_path / "mine.json", learner="\ud800"))
    assert set(exported.questions) == {"01_x/odd", "01_x/next"}
    assert set(Progress().records()) == {"01_x/odd", "01_x/next"}


def test_a_file_that_cannot_be_written_again_is_damaged(course_home: Path) -> None:
    path = Progress().path
    path.parent.mkdir(parents=True)
    path.write_text('{"version": 1, "questions": {}, "odd": "\\ud800"}', encoding="utf-8")
    with pytest.warns(UserWarning, match="damaged"):
        progress = Progress()
    assert progress.add(Event("attempt", "01_x/q", "choice", "A"))[0]
    assert len(list(path.parent.glob("*.damaged-*"))) == 1


def test_a_removed_file_is_written_again_and_said_once(course_home: Path) -> None:
    progress = Progress()
    progress.add(Event("attempt", "01_x/first", "choice", "A"))
    progress.path.unlink()
    saved, said = progress.add(Event("attempt", "01_x/second", "choice", "A"))
    assert saved and "no longer" in said
    assert progress.add(Event("attempt", "01_x/third", "choice", "A")) == (True, "")
    kept = json.loads(progress.path.read_text(encoding="utf-8"))["questions"]
    assert set(kept) == {"01_x/first", "01_x/second", "01_x/third"}


def test_an_export_never_replaces_what_it_lacks(course_home: Path, tmp_path: Path) -> None:
    target = tmp_path / "hand_in.json"
    other = Progress(tmp_path / "other" / "progress.json")
    other.add(Event("attempt", "01_x/q", "choice", "A"))
    other.export(target, learner="Ada")
    before = target.read_bytes()
    for learner in ("Bob", "Ada", ""):
        with pytest.raises(CourseError, match="choose another name"):
            Progress().export(target, learner=learner)
    assert target.read_bytes() == before
    other.add(Event("attempt", "01_x/q", "choice", "B"))
    assert verify_export(other.export(target, learner="Ada")).questions["01_x/q"].attempts == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_read(course_home: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    with pytest.raises(CourseError, match="regular file"):
        verify_export(pipe)
    with pytest.raises(CourseError, match="choose another name"):
        Progress().export(pipe)
