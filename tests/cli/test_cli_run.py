from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

PUBLISH = """
from course_lib.datasets.origin import Origin
from course_lib.experiments.records import publish_record
ORIGIN = Origin("generated", "toy", "", 3, "ab" * 32, 7)
publish_record("auc", {"auc_random": 0.5}, {"split": "random"}, ORIGIN)
"""

WAIT_FOREVER = """
import os, pathlib, time
pathlib.Path(os.environ["PID_FILE"]).write_text(str(os.getpid()))
time.sleep(10_000)
"""


def test_json_holds_figures_origin_and_the_executed_copy(workbook: Any) -> None:
    original = workbook.add_notebook("01_first.ipynb", PUBLISH, "6 * 7")
    before = original.read_bytes()
    done = workbook.course("run", "1", "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["ok"] is True
    (record,) = content["records"]
    assert record["figures"] == {"auc_random": 0.5}
    assert record["origin"]["kind"] == "generated"
    executed = json.loads(Path(content["lessons"][0]["executed"]).read_text(encoding="utf-8"))
    assert executed["cells"][1]["outputs"][0]["data"]["text/plain"] == ["42"]
    assert Path(content["folder"]).parent == workbook.root / "runs"
    assert original.read_bytes() == before


def test_notebooks_work_on_a_copy_of_their_folder(workbook: Any) -> None:
    (workbook.root / "notebooks" / "beside.txt").write_text("kept", encoding="utf-8")
    workbook.add_notebook(
        "01_first.ipynb",
        "assert open('beside.txt').read() == 'kept'",
        "open('beside.txt', 'w').write('lost')",
    )
    assert workbook.course("run", "01").returncode == 0
    assert (workbook.root / "notebooks" / "beside.txt").read_text(encoding="utf-8") == "kept"


def test_failing_cell_is_named_and_the_next_lesson_still_runs(workbook: Any) -> None:
    workbook.add_notebook("01_first.ipynb", "x = 1", "# why\nx / 0  # here", "never = 1")
    workbook.add_notebook(
        "02_second.ipynb",
        "from course_lib.errors import CourseError",
        "raise CourseError('The bank is closed', next_step='come back')",
    )
    workbook.add_notebook("03_third.ipynb", "1")
    done = workbook.course("run", "all", "--json")
    assert done.returncode == 1
    failures = [lesson["failure"] for lesson in json.loads(done.stdout)["lessons"]]
    assert failures[0] == {
        "number": 2,
        "first_line": "x / 0  # here",
        "error": "ZeroDivisionError: division by zero.",
    }
    assert failures[1]["error"] == "The bank is closed; come back."
    assert failures[2] is None
    assert "lesson 01, code cell 2 (`x / 0  # here`) failed: ZeroDivisionError" in done.stderr
    assert "Traceback" not in done.stderr


def test_cell_that_takes_too_long_is_stopped(workbook: Any, tmp_path: Path) -> None:
    workbook.add_notebook("01_first.ipynb", WAIT_FOREVER)
    done = workbook.course("run", "01", "--cell-timeout", "2", PID_FILE=str(tmp_path / "pid"))
    assert done.returncode == 1
    assert "it ran longer than 2 seconds and was stopped" in done.stderr
    assert_process_ended(int((tmp_path / "pid").read_text()))


def test_runs_never_share_a_folder(workbook: Any, tmp_path: Path) -> None:
    workbook.add_notebook("01_first.ipynb", "1")
    for _ in range(2):
        assert workbook.course("run", "01", "--out", str(tmp_path / "kept here")).returncode == 0
    assert len(list((tmp_path / "kept here").iterdir())) == 2
    assert workbook.runs() == []


def test_damaged_notebook_is_one_sentence_and_leaves_no_run(workbook: Any) -> None:
    (workbook.root / "notebooks" / "01_first.ipynb").write_text("{", encoding="utf-8")
    done = workbook.course("run", "01")
    assert done.returncode == 2
    assert "01_first.ipynb is not readable as a notebook" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert workbook.runs() == []


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "null",
        "5",
        '{"cells": 3, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
        '{"cells": [{"cell_type": "code"}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}',
    ],
)
def test_a_notebook_that_is_other_json_is_named_before_any_lesson_runs(workbook: Any, content: str) -> None:
    workbook.add_notebook("01_first.ipynb", "open('../../ran', 'w')")
    (workbook.root / "notebooks" / "02_second.ipynb").write_text(content, encoding="utf-8")
    done = workbook.course("run", "all")
    assert done.returncode == 2
    assert "02_second.ipynb is not readable as a notebook" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert "lesson 01" not in done.stdout
    assert workbook.runs() == []


def test_an_error_in_showing_a_value_is_told(workbook: Any) -> None:
    workbook.add_notebook(
        "01_first.ipynb",
        "class Odd:\n    def _ipython_display_(self):\n        raise ValueError('not to be shown')\nOdd()",
    )
    done = workbook.course("run", "01")
    assert done.returncode == 1
    assert "failed: ValueError: not to be shown." in done.stderr


@pytest.mark.parametrize("seconds", ["inf", "nan", "0", "-5"])
def test_a_time_limit_that_is_none_is_refused(workbook: Any, seconds: str) -> None:
    workbook.add_notebook("01_first.ipynb", "1")
    done = workbook.course("run", "01", "--cell-timeout", seconds)
    assert done.returncode == 2
    assert "cell-timeout" in done.stderr and "Traceback" not in done.stderr
    assert workbook.runs() == []


def test_parts_of_a_second_are_rounded_up(workbook: Any) -> None:
    workbook.add_notebook("01_first.ipynb", "1")
    assert workbook.course("run", "01", "--cell-timeout", "20.5").returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_what_cannot_be_copied_is_named(workbook: Any) -> None:
    workbook.add_notebook("01_first.ipynb", "1")
    (workbook.root / "notebooks" / "lost.txt").symlink_to("nowhere")
    done = workbook.course("run", "01")
    assert done.returncode == 2
    assert "lost.txt could not be copied for the run" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert workbook.runs() == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals to send to a process group")
@pytest.mark.parametrize(("sent", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopping_a_run_leaves_nothing_behind(
    workbook: Any, tmp_path: Path, sent: signal.Signals, status: int
) -> None:
    workbook.add_notebook("01_first.ipynb", WAIT_FOREVER)
    pid_file, temporary = tmp_path / "pid", tmp_path / "temporary"
    temporary.mkdir()
    process = workbook.process("run", "01", PID_FILE=str(pid_file), TMPDIR=str(temporary))
    with subprocess.Popen(
        **process, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as running:
        wait_until(lambda: pid_file.exists() and pid_file.read_text() != "")
        os.killpg(running.pid, sent)
        _, errors = running.communicate(timeout=120)
    assert running.returncode == status
    assert errors.strip() == ("course: stopped." if sent == signal.SIGINT else "")
    assert_process_ended(int(pid_file.read_text()))
    assert workbook.runs() == []
    assert list(temporary.iterdir()) == []


STOPPED_IN_A_MESSAGE = """
import gc, sys
sys.path.insert(0, {root!r})
from nbclient import NotebookClient
def stopped(*_):
    raise KeyboardInterrupt
NotebookClient.process_message = stopped
from course_lib.cli.main import main
try:
    main()
finally:
    gc.collect()
"""


def test_a_run_that_is_stopped_while_it_takes_an_output_says_one_sentence(workbook: Any) -> None:
    workbook.add_notebook("01_first.ipynb", "print(1)\nimport time; time.sleep(10_000)")
    process = workbook.process("run", "01")
    process["args"][process["args"].index("-c") + 1] = STOPPED_IN_A_MESSAGE.format(root=str(workbook.root))
    done = subprocess.run(**process, capture_output=True, timeout=300)
    assert (done.returncode, done.stderr.strip()) == (130, "course: stopped.")
    assert workbook.runs() == []


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "what was waited for never came"
        time.sleep(0.02)


def assert_process_ended(pid: int) -> None:
    import psutil

    wait_until(lambda: not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)


def test_full_size_reaches_the_lessons_and_only_when_asked_for(workbook: Any) -> None:
    workbook.add_notebook(
        "01_first.ipynb",
        "from course_lib.experiments.lesson_sizes import sized",
        "sized(in_class=640, full=50)",
    )
    for options, shown in (((), "640"), (("--full",), "50")):
        done = workbook.course("run", "01", "--json", *options)
        assert done.returncode == 0, done.stderr
        executed = json.loads(done.stdout)["lessons"][0]["executed"]
        cells = json.loads(Path(executed).read_text(encoding="utf-8"))["cells"]
        assert cells[1]["outputs"][0]["data"]["text/plain"] == [shown]
