from __future__ import annotations

import _thread
import gc
import multiprocessing
import multiprocessing.util
import os
import re
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import Dataset

from course_lib.errors import CourseError
from course_lib.loading import ExplainedLoader, LoaderConditions, build_loader, open_samples
from course_lib.loading.failures import explained

Small = Callable[..., LoaderConditions]


class Awkward(Dataset[torch.Tensor]):
    """Does something bad at one sample."""

    def __init__(self, act: Callable[[], Any], at: int = 5) -> None:
        self._act = act
        self._at = at

    def __len__(self) -> int:
        return 12

    def __getitem__(self, position: int) -> torch.Tensor:
        return self._act() if position == self._at else torch.zeros(2)


def raise_value_error() -> None:
    raise ValueError("no such colour")


def hang() -> None:
    time.sleep(60)


def other_shape() -> torch.Tensor:
    return torch.zeros(3)


def end_by(number: int) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


def no_workers_left() -> bool:
    until = time.monotonic() + 10
    while multiprocessing.active_children() and time.monotonic() < until:
        time.sleep(0.05)
    return not multiprocessing.active_children()


@pytest.fixture(autouse=True)
def only_own_workers() -> Iterator[None]:
    yield
    # Persistent workers live as long as their loader, which a traceback may hold in a cycle.
    gc.collect()
    assert no_workers_left()


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (raise_value_error, "no such colour"),
        (other_shape, "equal size"),
        (lambda: "text beside tensors", "TypeError|could not be prepared"),
    ],
)
def test_an_exception_in_a_worker_is_one_sentence(act: Callable[[], Any], words: str) -> None:
    with pytest.raises(CourseError, match=words) as caught:
        list(ExplainedLoader(Awkward(act), batch_size=3, num_workers=1))
    assert "could not be prepared" in str(caught.value) and "\n" not in str(caught.value)
    assert no_workers_left()


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    ("number", "words"),
    [("SIGKILL", "was killed.*memory"), ("SIGBUS", "bus error.*shared memory"), ("SIGSEGV", "by a signal")],
)
def test_a_worker_that_ends_by_a_signal_is_explained(number: str, words: str) -> None:
    with pytest.raises(CourseError, match=words):
        list(ExplainedLoader(Awkward(end_by(getattr(signal, number))), batch_size=3, num_workers=1))
    assert no_workers_left()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_worker_leaves_a_loader_that_can_be_read_again(small: Small) -> None:
    conditions = small(workers=2, open_ms=20.0, prefetch=1)
    loader = build_loader(open_samples(conditions), conditions)
    batches = iter(loader)
    next(batches)
    multiprocessing.active_children()[0].kill()
    with pytest.raises(CourseError, match=r"was killed|ended (during the run|while it handed)"):
        list(batches)
    assert sum(len(batch["position"]) for batch in loader) == 48


def test_a_worker_that_hangs_is_explained() -> None:
    with pytest.raises(CourseError, match=r"hangs.*none for 1 seconds"):
        list(ExplainedLoader(Awkward(hang), batch_size=3, num_workers=1, timeout=1))
    assert no_workers_left()


def test_every_loader_with_workers_waits_for_a_limited_time(small: Small) -> None:
    conditions = small(workers=1)
    loader = build_loader(open_samples(conditions), conditions)
    assert loader.timeout == conditions.batch_seconds_at_most > 0


def test_an_interrupt_ends_the_workers(small: Small) -> None:
    conditions = small(workers=2, open_ms=300.0)
    batches = iter(build_loader(open_samples(conditions), conditions))
    threading.Timer(0.5, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        list(batches)
    assert no_workers_left()


def test_a_start_method_that_this_system_lacks_is_said(small: Small, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    conditions = small(workers=1, start_method="fork")
    with pytest.raises(CourseError, match="cannot be started in this way"):
        build_loader(open_samples(conditions), conditions)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(24, "Too many open files"), "more open files"),
        (RuntimeError("received 0 items of ancdata"), "more open files"),
        (OSError(12, "Cannot allocate memory"), "could not be started"),
        (OSError(11, "Resource temporarily unavailable"), "could not be started"),
        (RuntimeError("unable to write to file </torch_12_34_5>"), "too little shared memory"),
        (OSError(28, "No space left on device"), "too little shared memory"),
        (AttributeError("Can't pickle local object 'x.<locals>.Images'"), "cannot be handed to workers"),
        (RuntimeError("DataLoader worker (pid(s) 12, 13) exited unexpectedly"), "12, 13 ended"),
    ],
)
def test_known_troubles_are_told_in_plain_words(error: Exception, words: str) -> None:
    told = explained(error)
    assert isinstance(told, CourseError)
    assert re.search(words, str(told))


def test_other_errors_stay_what_they_are() -> None:
    error = ZeroDivisionError("division by zero")
    assert explained(error) is error


@pytest.mark.parametrize(
    "error",
    [
        ConnectionResetError(104, "Connection reset by peer"),
        EOFError(),
        FileNotFoundError(2, "No such file or directory", "/tmp/cw-x/pymp-y/listener-z"),
    ],
)
def test_a_connection_that_a_dead_worker_broke_is_told_as_its_end(error: Exception) -> None:
    told = explained(error)
    assert isinstance(told, CourseError) and "A worker ended while it handed over a batch" in str(told)
    assert explained(error, has_workers=False) is error


@pytest.mark.skipif(os.name != "posix", reason="Windows hands batches over without sockets")
def test_a_folder_without_room_for_sockets_is_said_before_a_worker_starts(
    small: Small, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(multiprocessing.util, "_get_base_temp_dir", raising=False)
    torch.multiprocessing.set_sharing_strategy("file_descriptor")
    monkeypatch.setattr(tempfile, "tempdir", f"/{'t' * 75}")
    conditions = small(workers=1)
    with pytest.raises(CourseError, match=r"too long a name .* at most 7[15] bytes.* TMPDIR"):
        build_loader(open_samples(conditions), conditions)
    monkeypatch.setattr(tempfile, "tempdir", f"/{'t' * 70}")
    build_loader(open_samples(conditions), conditions)
