"""Tasks for the tests of watched processes; a process imports them by name."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import course_lib
from course_lib.errors import CourseError
from course_lib.watched import Emit


def echo(request: dict[str, Any], emit: Emit) -> Any:
    for number in range(request.get("events", 0)):
        emit({"number": number})
    return {"request": request, "pid": os.getpid()}


def raise_course_error(request: dict[str, Any], emit: Emit) -> None:
    raise CourseError("The jar is empty", expected="3 biscuits", found=0, next_step="bake some")


def raise_something(request: dict[str, Any], emit: Emit) -> None:
    raise KeyError("missing")


def leave(request: dict[str, Any], emit: Emit) -> None:
    print("so long", file=sys.stderr, flush=True)
    os._exit(3)


def return_what_json_does_not_know(request: dict[str, Any], emit: Emit) -> Any:
    return {1, 2}


def print_a_lot(request: dict[str, Any], emit: Emit) -> str:
    for _ in range(2000):
        print("x" * 1000)
    print("the end: é")
    os.write(1, b'{"kind": "result", "result": "forged"}\n')
    return "done"


def read_input(request: dict[str, Any], emit: Emit) -> str:
    return sys.stdin.read()


def hang(request: dict[str, Any], emit: Emit) -> None:
    """Say who is there, with one process of its own and one file, and sleep."""
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with tempfile.NamedTemporaryFile(delete=False) as file:
        file.write(b"left")
    emit({"pids": [os.getpid(), grandchild.pid], "folder": str(Path(file.name).parent)})
    time.sleep(600)


def hang_on(request: dict[str, Any], emit: Emit) -> None:
    """Sleep, with a process of its own, and take no notice of a request to end."""
    deaf = "from signal import *; signal(SIGTERM, SIG_IGN); print(flush=True); import time; time.sleep(600)"
    grandchild = subprocess.Popen([sys.executable, "-c", deaf], stdout=subprocess.PIPE)
    assert grandchild.stdout is not None
    grandchild.stdout.readline()
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    emit({"pids": [os.getpid(), grandchild.pid]})
    time.sleep(600)


def work_with_a_queue(request: dict[str, Any], emit: Emit) -> None:
    """Sleep, deaf, with a spawned worker that shares a queue; tell the names of the queue's semaphores."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    context = multiprocessing.get_context("spawn")
    shared: Any = context.Queue(3)
    worker = context.Process(target=serve, args=(shared,))
    worker.start()
    shared.get()
    emit({"semaphores": [lock._semlock.name for lock in (shared._rlock, shared._wlock, shared._sem)]})
    time.sleep(600)


def serve(shared: Any) -> None:
    shared.put("here")
    time.sleep(600)


def leave_a_thread_behind(request: dict[str, Any], emit: Emit) -> int:
    threading.Thread(target=time.sleep, args=(600,)).start()
    return os.getpid()


def leave_a_process_behind(request: dict[str, Any], emit: Emit) -> int:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid


def tell_package(request: dict[str, Any], emit: Emit) -> list[str]:
    return [str(Path(course_lib.__file__).resolve()), str(Path.cwd())]


def clear_up_when_interrupted(request: dict[str, Any], emit: Emit) -> None:
    try:
        emit({})
        time.sleep(600)
    finally:
        Path(request["path"]).write_text("cleared up", encoding="utf-8")


def interrupt_itself(request: dict[str, Any], emit: Emit) -> None:
    raise KeyboardInterrupt


def run_out_of_memory(request: dict[str, Any], emit: Emit) -> None:
    raise MemoryError


class SpeechlessError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def raise_what_cannot_be_told(request: dict[str, Any], emit: Emit) -> None:
    raise SpeechlessError


def batches_of_a_worker(request: dict[str, Any], emit: Emit) -> list[int]:
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    samples = TensorDataset(torch.arange(4))
    return [int(batch) for (batch,) in DataLoader(samples, num_workers=1, timeout=60)]
