"""`course stage` serves one cell in a folder of its own and leaves nothing of it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import nbformat
import psutil
import pytest
from click.testing import CliRunner

from course_lib.cli import stage as stage_module
from course_lib.cli.stage import stage, stage_command
from course_lib.errors import CourseError


class _Server:
    """Stands in for Voila: notes what it was given, and ends as it is told."""

    seen: dict[str, Any]
    ends_with: int | type[BaseException] = 0

    def __init__(self, command: list[str], *, env: dict[str, str], cwd: Path) -> None:
        notebook = Path(command[3])
        type(self).seen = {
            "command": command,
            "env": env,
            "cwd": cwd,
            "notebook": nbformat.read(notebook, as_version=4),
            "template": (cwd / "share" / "voila" / "templates" / "stage" / "index.html.j2").read_text(
                "utf-8"
            ),
            "signals": [],
        }
        self.pid = 0
        self._ended = False

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None and isinstance(self.ends_with, type):
            raise self.ends_with
        if isinstance(self.ends_with, int) or self.seen["signals"]:
            self._ended = True
            return self.ends_with if isinstance(self.ends_with, int) else 0
        raise stage_module.subprocess.TimeoutExpired("voila", timeout or 0)

    def poll(self) -> int | None:
        return 0 if self._ended else None

    def send_signal(self, number: int) -> None:
        self.seen["signals"].append(number)


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr("course_lib.watched.process.WatchedProcess", MagicMock())
    monkeypatch.setattr(stage_module.subprocess, "Popen", _Server)
    monkeypatch.setattr(_Server, "ends_with", 0)
    return folder


def test_one_cell_with_the_large_panel_is_served_from_a_folder_that_is_removed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_WIDGETS", "off")
    outcome = CliRunner().invoke(stage, ["5", "--no-browser"])
    assert outcome.exit_code == 0, outcome.output
    (cell,) = _Server.seen["notebook"].cells
    assert "live_loading_panel(large=True)" in cell.source
    compile(cell.source, "cell", "exec")
    assert "COURSE_WIDGETS" not in _Server.seen["env"]
    assert Path(_Server.seen["env"]["PYTHONPATH"].split(os.pathsep)[0], "course_lib").is_dir()
    assert _Server.seen["cwd"].parent == temporary and list(temporary.iterdir()) == []
    port = next(word for word in _Server.seen["command"] if word.startswith("--port=")).removeprefix(
        "--port="
    )
    assert f"http://localhost:{port}/" in outcome.output


def test_ctrl_c_ends_the_server_and_removes_the_folder(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Server, "ends_with", KeyboardInterrupt)
    outcome = CliRunner().invoke(stage, ["05", "--no-browser"])
    assert outcome.exit_code != 0
    assert _Server.seen["signals"] == [stage_module.signal.SIGTERM]
    assert list(temporary.iterdir()) == []


def test_a_server_that_fails_is_one_sentence(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Server, "ends_with", 1)
    outcome = CliRunner().invoke(stage, ["05", "--no-browser"])
    assert isinstance(outcome.exception, CourseError)
    assert "could not be served" in str(outcome.exception)
    assert list(temporary.iterdir()) == []


def test_the_page_asks_no_other_server_for_style_sheets(temporary: Path) -> None:
    import jinja2

    CliRunner().invoke(stage, ["05", "--no-browser"])
    text = _Server.seen["template"].replace("lab/index.html.j2", "base.html")
    page = (
        jinja2.Environment(
            loader=jinja2.DictLoader({"stage.html": text, "base.html": _BASE}), autoescape=True
        )
        .get_template("stage.html")
        .render()
    )
    assert '<link rel="stylesheet" href="http' not in page
    assert "a > b {}" in page and 'href="static/own.css"' in page


_BASE = """{%- block notebook_css -%}
<link rel="stylesheet" href="https://cdn.example/x.css"/>
<link rel="stylesheet" href="static/own.css"/>
<style>a > b {}</style>
{%- endblock -%}"""


def test_another_lesson_and_a_taken_port_are_refused() -> None:
    refused = CliRunner().invoke(stage, ["04"])
    assert isinstance(refused.exception, CourseError) and "05" in str(refused.exception)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        busy = CliRunner().invoke(stage, ["05", "--port", str(port)])
    assert isinstance(busy.exception, CourseError) and f"Port {port} is taken" in str(busy.exception)


def test_the_server_is_that_of_this_environment(tmp_path: Path) -> None:
    command = stage_command(tmp_path / "lesson 05.ipynb", 9000, no_browser=False)
    assert command[:4] == [sys.executable, "-m", "voila", str(tmp_path / "lesson 05.ipynb")]
    assert "--port=9000" in command and "--no-browser" not in command
    assert "--no-browser" in stage_command(tmp_path / "a.ipynb", 9000, no_browser=True)


OWNER = """
import sys; sys.path[:0] = [{root!r}]
from pathlib import Path
from course_lib.cli import stage
from course_lib.watched import WatchedProcess
events = WatchedProcess.events
def told(guard):
    for event in events(guard):
        print("guarded", flush=True)
        yield event
WatchedProcess.events = told
command = [sys.executable, "-c", "import time; time.sleep(600)"]
stage.stage_command = lambda *_, **__: command
stage._serve(Path({page!r}), 8866, no_browser=True)
"""


def test_a_server_whose_command_is_killed_ends_and_its_folder_goes(tmp_path: Path) -> None:
    folder = tmp_path / "page"
    folder.mkdir()
    root = str(Path(stage_module.__file__).resolve().parents[2])
    code = OWNER.format(root=root, page=str(folder / "lesson.ipynb"))
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    while owner.stdout.readline() != b"guarded\n":
        assert owner.poll() is None
    tree = psutil.Process(owner.pid).children(recursive=True)
    assert len(tree) == 2
    owner.kill()
    owner.wait()
    psutil.wait_procs(tree, timeout=60)
    assert not any(process.is_running() for process in tree)
    assert not folder.exists()
