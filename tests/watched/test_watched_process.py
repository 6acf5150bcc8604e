from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

import course_lib
from course_lib.errors import CourseError
from course_lib.watched import WatchedProcess, WatchedTaskError, keeping, run_watched

TESTS = Path(__file__).resolve().parent
PATIENCE_SECONDS = 180


@pytest.fixture(autouse=True)
def temporary_files(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the watched processes a place for their folders that can be looked through; its name is short."""
    folder = tmp_path_factory.mktemp("t")
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def wait_for(condition: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen"
        time.sleep(0.01)


def lives(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def hanging(**options: Any) -> tuple[WatchedProcess, list[int], Path]:
    """Return a process whose task hangs, the numbers of its tree, and its temporary folder."""
    process = WatchedProcess(**options)
    process.begin("watched_tasks:hang")
    told = next(process.events())
    return process, told["pids"], Path(told["folder"])


def ended(task: str, **options: Any) -> CourseError:
    with pytest.raises(CourseError) as caught:
        run_watched(f"watched_tasks:{task}", **options)
    return caught.value


def test_result_and_events_arrive_in_order_and_nothing_is_left(temporary_files: Path) -> None:
    heard: list[dict[str, Any]] = []
    result = run_watched("watched_tasks:echo", {"events": 3, "text": "é \n"}, on_event=heard.append)
    assert heard == [{"number": 0}, {"number": 1}, {"number": 2}]
    assert result["request"] == {"events": 3, "text": "é \n"}
    assert result["pid"] != os.getpid()
    assert not lives(result["pid"])
    assert list(temporary_files.iterdir()) == []


def test_course_error_arrives_as_it_was_raised() -> None:
    error = ended("raise_course_error")
    assert type(error) is CourseError
    assert (error.what, str(error.found), error.next_step) == ("The jar is empty", "0", "bake some")
    assert str(error) == "The jar is empty: expected 3 biscuits, found 0; bake some."


def test_other_exception_names_its_type_and_message_and_keeps_the_traceback() -> None:
    error = ended("raise_something")
    assert isinstance(error, WatchedTaskError)
    assert (error.ending, error.exception_type) == ("exception", "KeyError")
    assert "KeyError: 'missing'" in str(error)
    assert "raise_something" in error.printed


@pytest.mark.parametrize(
    ("task", "told"),
    [
        ("return_what_json_does_not_know", "TypeError"),
        ("there_is_no_such_task", "AttributeError"),
        ("leave", "exit status 3"),
    ],
)
def test_end_without_result_is_told(task: str, told: str) -> None:
    assert told in str(ended(task))


def test_task_that_prints_a_lot_neither_blocks_nor_disturbs_the_result() -> None:
    process = WatchedProcess()
    process.begin("watched_tasks:print_a_lot")
    assert list(process.events()) == []
    assert process.result == "done"
    assert len(process.printed) == 2000
    assert "the end: é" in process.printed


def test_task_cannot_read_what_is_meant_for_its_process() -> None:
    assert run_watched("watched_tasks:read_input") == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals that kill")
@pytest.mark.parametrize(
    ("name", "reason"), [("SIGKILL", "memory"), ("SIGBUS", "shared memory"), ("SIGUSR1", "machine")]
)
def test_process_killed_from_outside_is_told_and_its_tree_goes(
    name: str, reason: str, temporary_files: Path
) -> None:
    process, pids, _ = hanging()
    os.kill(pids[0], getattr(signal, name))
    assert list(process.events()) == []
    with pytest.raises(WatchedTaskError, match=reason) as caught:
        _ = process.result
    assert (caught.value.ending, caught.value.signal_name) == ("signal", name)
    assert not any(map(lives, pids))
    assert list(temporary_files.iterdir()) == []


def test_silent_task_counts_as_hung_and_is_ended(temporary_files: Path) -> None:
    process, pids, _ = hanging(silence_seconds=0.5)
    assert list(process.events()) == []
    with pytest.raises(WatchedTaskError, match="network mount") as caught:
        _ = process.result
    assert caught.value.ending == "silent"
    assert not any(map(lives, pids))
    assert list(temporary_files.iterdir()) == []


def test_task_over_its_limit_is_ended() -> None:
    error = ended("hang", limit_seconds=1.0)
    assert isinstance(error, WatchedTaskError)
    assert error.ending == "too long"


def test_stop_leaves_no_process_no_thread_and_no_temporary_folder(temporary_files: Path) -> None:
    before = set(threading.enumerate())
    process, pids, folder = hanging()
    assert folder.parent == temporary_files
    process.stop()
    assert not process.alive
    assert not any(map(lives, pids))
    assert list(temporary_files.iterdir()) == []
    wait_for(lambda: set(threading.enumerate()) <= before, "the end of the threads")
    process.stop()
    assert list(process.events()) == []
    with pytest.raises(WatchedTaskError, match="stopped"):
        _ = process.result
    assert "stopped" in process.outcome


def test_stop_ends_processes_that_take_no_notice_of_a_request_to_end() -> None:
    process = WatchedProcess()
    process.begin("watched_tasks:hang_on")
    pids = next(process.events())["pids"]
    process.stop()
    assert not any(map(lives, pids))


def test_stop_from_another_thread_ends_the_events() -> None:
    process, pids, _ = hanging()
    stopper = threading.Thread(target=process.stop)
    stopper.start()
    assert list(process.events()) == []
    stopper.join()
    assert not any(map(lives, pids))


def test_stop_gives_up_on_a_process_that_the_system_does_not_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    process, pids, _ = hanging()
    with monkeypatch.context() as held:
        held.setattr(keeping, "end_tree", lambda *_: [psutil.Process(pids[0])])
        process.stop()
        assert not process.alive
        assert lives(pids[0])
    assert list(process.events()) == []
    assert "does not let it go" in process.outcome
    for pid in pids:
        psutil.Process(pid).kill()
    wait_for(lambda: not any(map(lives, pids)), "the end of the tree")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="semaphores are files only on Linux")
def test_stop_leaves_no_semaphores() -> None:
    with WatchedProcess() as process:
        process.begin("watched_tasks:work_with_a_queue")
        names = next(process.events())["semaphores"]
        files = [Path("/dev/shm") / f"sem.{name.lstrip('/')}" for name in names]
        assert all(file.exists() for file in files)
    wait_for(lambda: not any(file.exists() for file in files), "the removal of the semaphores")


@pytest.mark.skipif(os.name == "nt", reason="Windows does not fork")
def test_forked_copy_of_the_owner_ends_nothing() -> None:
    process, pids, _ = hanging()
    copy = multiprocessing.get_context("fork").Process(target=process.stop)
    copy.start()
    copy.join()
    assert process.alive
    assert all(map(lives, pids))
    process.stop()


def test_process_left_behind_by_a_task_goes_with_it() -> None:
    assert not lives(run_watched("watched_tasks:leave_a_process_behind"))


def test_thread_left_behind_by_a_task_does_not_keep_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "_SECONDS_TO_END_BY_ITSELF", 0.2)
    assert not lives(run_watched("watched_tasks:leave_a_thread_behind"))


def test_process_that_cannot_start_is_one_sentence_and_leaves_nothing(
    temporary_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(temporary_files / "no python"))
    with pytest.raises(CourseError, match="could not be started"):
        WatchedProcess()
    assert list(temporary_files.iterdir()) == []


def test_begin_after_the_standby_died_starts_another() -> None:
    process = WatchedProcess()
    first = process.pid
    psutil.Process(first).kill()
    wait_for(lambda: not process.alive, "the end of the standby")
    process.begin("watched_tasks:echo", {"again": True})
    assert list(process.events()) == []
    assert process.result["request"] == {"again": True}
    assert process.result["pid"] != first


def test_begin_on_a_standby_killed_this_moment_starts_another_or_says_what_happened() -> None:
    process = WatchedProcess()
    psutil.Process(process.pid).kill()
    process.begin("watched_tasks:echo", {})
    list(process.events())
    try:
        assert process.result["request"] == {}
    except WatchedTaskError as error:
        assert error.ending == "signal"


def test_standby_ends_when_nobody_gives_it_a_task_and_begin_starts_another(temporary_files: Path) -> None:
    process = WatchedProcess(idle_seconds=0.3)
    first = process.pid
    wait_for(lambda: not process.alive, "the end of the idle standby")
    assert not lives(first)
    assert list(temporary_files.iterdir()) == []
    process.begin("watched_tasks:echo", {})
    list(process.events())
    assert process.result["pid"] != first


def test_import_that_fails_is_told_by_the_task() -> None:
    process = WatchedProcess(imports=["there_is_no_such_module"])
    process.begin("watched_tasks:echo", {})
    list(process.events())
    with pytest.raises(WatchedTaskError, match="there_is_no_such_module"):
        _ = process.result


def test_one_object_takes_one_task() -> None:
    with WatchedProcess() as process:
        process.begin("watched_tasks:echo", {})
        with pytest.raises(CourseError, match="has had its task"):
            process.begin("watched_tasks:echo", {})
    stopped = WatchedProcess()
    stopped.stop()
    with pytest.raises(CourseError, match="stopped"):
        stopped.begin("watched_tasks:echo", {})


def test_process_goes_with_its_object(temporary_files: Path) -> None:
    process, pids, _ = hanging()
    del process
    gc.collect()
    wait_for(lambda: not any(map(lives, pids)), "the end of the tree")
    wait_for(lambda: list(temporary_files.iterdir()) == [], "the removal of the folder")


def test_exception_of_the_caller_ends_the_task(temporary_files: Path) -> None:
    seen: list[int] = []

    def interrupt(event: dict[str, Any]) -> None:
        seen.extend(event["pids"])
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_watched("watched_tasks:hang", on_event=interrupt)
    assert len(seen) == 2
    assert not any(map(lives, seen))
    assert list(temporary_files.iterdir()) == []


def test_works_from_a_background_thread() -> None:
    results: list[Any] = []
    thread = threading.Thread(target=lambda: results.append(run_watched("watched_tasks:echo", {"x": 1})))
    thread.start()
    thread.join()
    assert results[0]["request"] == {"x": 1}


PARENT = """
import sys
sys.path[:0] = {path!r}
from course_lib.watched import run_watched
def tell(event):
    print(*event["pids"], event["folder"], flush=True)
    exec({also!r})
run_watched("watched_tasks:hang", on_event=tell)
"""


FORK = """
import os, time
if os.fork() == 0:
    time.sleep(600)
"""


def parent_at_work(also: str = "") -> tuple[subprocess.Popen[str], list[int], Path]:
    """Return another Python that runs a hanging task, the numbers of the task's tree and its folder."""
    root = str(Path(course_lib.__file__).resolve().parent.parent)
    code = PARENT.format(path=[root, str(TESTS)], also=also)
    parent = subprocess.Popen(
        [sys.executable, "-I", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout is not None
    one, two, folder = parent.stdout.readline().split(maxsplit=2)
    return parent, [int(one), int(two)], Path(folder.strip())


def test_tree_ends_when_its_parent_is_killed() -> None:
    parent, pids, folder = parent_at_work()
    assert folder.is_dir()
    parent.kill()
    parent.communicate()
    wait_for(lambda: not any(map(lives, pids)), "the end of the tree")
    assert not folder.exists()


@pytest.mark.skipif(os.name == "nt", reason="Windows does not fork")
def test_tree_ends_when_its_parent_is_killed_though_a_forked_copy_lives_on() -> None:
    parent, pids, folder = parent_at_work(also=FORK)
    copies: list[psutil.Process] = []

    def forked() -> list[psutil.Process]:
        others = psutil.Process(parent.pid).children()
        copies[:] = [child for child in others if child.pid not in pids]
        return copies

    wait_for(forked, "the fork")
    parent.kill()
    parent.wait()
    try:
        wait_for(lambda: not any(map(lives, pids)), "the end of the tree")
        assert all(copy.is_running() for copy in copies)
        assert not folder.exists()
    finally:
        for copy in copies:
            copy.kill()


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is sent otherwise on Windows")
def test_ctrl_c_in_the_parent_ends_the_tree_first() -> None:
    parent, pids, folder = parent_at_work()
    parent.send_signal(signal.SIGINT)
    _, errors = parent.communicate(timeout=PATIENCE_SECONDS)
    assert "KeyboardInterrupt" in errors
    assert not any(map(lives, pids))
    assert not folder.exists()


def test_parent_that_just_ends_takes_the_tree_with_it() -> None:
    root = str(Path(course_lib.__file__).resolve().parent.parent)
    code = (
        f"import sys; sys.path[:0] = {[root, str(TESTS)]!r}\n"
        "from course_lib.watched import WatchedProcess\n"
        "process = WatchedProcess(); process.begin('watched_tasks:hang')\n"
        "print(*next(process.events())['pids'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not any(map(lives, map(int, done.stdout.split())))


def test_task_runs_the_copy_of_the_workbook_that_its_parent_runs(tmp_path: Path) -> None:
    package = Path(course_lib.__file__).resolve().parent
    copy = tmp_path / "a cöpy of it" / "course_lib"
    shutil.copytree(package / "watched", copy / "watched")
    for name in ("__init__.py", "errors.py"):
        shutil.copy(package / name, copy / name)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "json.py").write_text("raise SystemError('not the real one')", encoding="utf-8")
    code = (
        f"import sys; sys.path[:0] = {[str(copy.parent), str(TESTS)]!r}\n"
        "from course_lib.watched import run_watched\n"
        "del sys.path[0]\n"
        "print(*run_watched('watched_tasks:tell_package'), sep='\\n')\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-X", "utf8", "-c", code],
        capture_output=True,
        encoding="utf-8",
        cwd=elsewhere,
        check=True,
    )
    used, folder = done.stdout.splitlines()
    assert Path(used) == (copy / "__init__.py").resolve()
    assert Path(folder).resolve() == elsewhere.resolve()


CLEARING_UP = """
import sys
sys.path[:] = {path!r} + sys.path
from course_lib.watched import run_watched
tell = lambda event: print(flush=True)
run_watched("watched_tasks:clear_up_when_interrupted", {{"path": {file!r}}}, on_event=tell)
"""


def test_task_may_clear_up_when_its_parent_is_killed(tmp_path: Path) -> None:
    root = str(Path(course_lib.__file__).resolve().parent.parent)
    code = CLEARING_UP.format(path=[root, str(TESTS)], file=str(tmp_path / "told"))
    parent = subprocess.Popen([sys.executable, "-I", "-c", code], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    parent.stdout.readline()
    parent.kill()
    parent.communicate()
    wait_for((tmp_path / "told").exists, "the clearing up")


def test_interrupt_of_the_child_alone_and_lack_of_memory_are_told_in_plain_words() -> None:
    assert "was interrupted by a signal" in str(ended("interrupt_itself"))
    assert "ran out of memory" in str(ended("run_out_of_memory"))


def test_exception_without_words_is_told_by_its_type() -> None:
    assert "found SpeechlessError" in str(ended("raise_what_cannot_be_told"))


def test_request_that_json_does_not_know_is_refused_and_may_be_mended() -> None:
    with WatchedProcess() as process:
        with pytest.raises(CourseError, match="change NumPy numbers"):
            process.begin("watched_tasks:echo", {"text": {1, 2}})
        process.begin("watched_tasks:echo", {"text": 1})
        assert list(process.events()) == []
        assert process.result["request"] == {"text": 1}


def test_stop_that_is_interrupted_ends_the_tree_all_the_same(
    monkeypatch: pytest.MonkeyPatch, temporary_files: Path
) -> None:
    process, pids, _ = hanging()
    real = keeping.KeptProcess._end_tree

    def interrupted(kept: keeping.KeptProcess, seconds: float) -> Any:
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        return real(kept, seconds)

    monkeypatch.setattr(keeping.KeptProcess, "_end_tree", interrupted)
    with pytest.raises(KeyboardInterrupt):
        process.stop()
    wait_for(lambda: not process.alive, "the end of the process")
    assert not any(map(lives, pids))
    assert list(temporary_files.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows hands batches over without sockets")
def test_a_long_folder_for_temporary_files_leaves_room_for_the_sockets_of_workers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("a folder with a long name " * 4).strip()
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    assert run_watched("watched_tasks:batches_of_a_worker") == [0, 1, 2, 3]
    assert list(long.iterdir()) == []
