"""`course stage` serves one cell in a folder of its own and leaves nothing of it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import nbformat
import psutil
import pytest
from click.testing import CliRunner

from course_lib.cli import stage as stage_module
from course_lib.cli.stage import guard_task, stage, stage_command
from course_lib.errors import CourseError
from course_lib.widgets import LivePanel
from course_lib.widgets.stage_panels import NOT_ALONE, STAGE_PANELS


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
    monkeypatch.delattr(_Server, "seen", raising=False)
    monkeypatch.setattr(stage_module, "_answers", lambda port: True)
    return folder


def test_one_cell_with_the_large_panel_is_served_from_a_folder_that_is_removed(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_WIDGETS", "off")
    outcome = CliRunner().invoke(stage, ["5", "--no-browser"])
    assert outcome.exit_code == 0, outcome.output
    (cell,) = _Server.seen["notebook"].cells
    compile(cell.source, "cell", "exec")
    shown: dict[str, Any] = {}
    exec(cell.source.replace("\n\nstage_panel", "\n\nshown = stage_panel"), shown)
    assert shown["shown"].large and isinstance(shown["shown"], LivePanel)
    assert "COURSE_WIDGETS" not in _Server.seen["env"]
    assert Path(_Server.seen["env"]["PYTHONPATH"].split(os.pathsep)[0], "course_lib").is_dir()
    assert _Server.seen["cwd"].parent == temporary and list(temporary.iterdir()) == []
    port = next(word for word in _Server.seen["command"] if word.startswith("--port=")).removeprefix(
        "--port="
    )
    assert f"http://localhost:{port}/" in outcome.output


def test_the_kernel_is_of_this_environment_and_is_described_beside_the_page(tmp_path: Path) -> None:
    page = nbformat.read(stage_module._write_page(tmp_path, STAGE_PANELS[0]), as_version=4)
    described = tmp_path / "share" / "kernels" / page.metadata["kernelspec"]["name"] / "kernel.json"
    launch = json.loads(described.read_text(encoding="utf-8"))["argv"]
    assert launch[0] == sys.executable and {"{connection_file}", "--log-level=ERROR"} <= set(launch)


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


@pytest.mark.parametrize("ends_with", [0, 1])
def test_a_server_that_ends_before_it_answers_is_not_waited_for_and_names_no_page(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, ends_with: int
) -> None:
    monkeypatch.setattr(stage_module, "_answers", lambda port: False)
    monkeypatch.setattr(_Server, "ends_with", ends_with)
    outcome = CliRunner().invoke(stage, ["05", "--no-browser"])
    assert outcome.exit_code == ends_with
    assert "Starting" in outcome.output and "http://" not in outcome.output


def test_the_address_is_named_once_the_port_answers(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as page:
        page.bind(("127.0.0.1", 0))
        port = page.getsockname()[1]
        steps: list[str] = []

        class Starting:
            def wait(self, timeout: float | None = None) -> int:
                if timeout is None:
                    return 0
                steps.append(capsys.readouterr().out)
                if len(steps) == 2:
                    page.listen()
                raise subprocess.TimeoutExpired("voila", timeout)

        assert stage_module._wait(Starting(), port) == 0  # type: ignore[arg-type]
    assert steps == ["", ""]
    assert capsys.readouterr().out == f"The page is at http://localhost:{port}/\n"


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


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["07"], "Lesson 07 has no page for the stage: expected 00 or 01"),
        (["9"], "Lesson 09 has several panels: expected capacity or caches"),
        (["09", "disk"], "Lesson 09 has no panel 'disk': expected capacity"),
        (["03", "desk"], "counts one learner's verdicts"),
        ([], "no lesson named"),
        (["--list", "x"], "Lesson 0x has no page"),
    ],
)
def test_what_has_no_page_is_one_sentence_with_the_choice(
    temporary: Path, words: list[str], said: str
) -> None:
    refused = CliRunner().invoke(stage, words)
    assert isinstance(refused.exception, CourseError) and said in str(refused.exception)
    assert not hasattr(_Server, "seen")


def test_the_list_names_each_panel_with_its_command_and_what_has_no_page() -> None:
    everything = CliRunner().invoke(stage, ["--list"])
    assert everything.exit_code == 0
    for one in STAGE_PANELS:
        assert f"course stage {one.lesson} {one.name} " in everything.output
    for missing in NOT_ALONE:
        assert missing.reason in everything.output
    own = CliRunner().invoke(stage, ["--list", "9"])
    assert "course stage 09 capacity" in own.output and "stage 05" not in own.output
    assert NOT_ALONE[0].reason not in own.output


def test_a_named_panel_is_the_one_that_is_served(temporary: Path) -> None:
    outcome = CliRunner().invoke(stage, ["09", " Capacity ", "--no-browser"])
    assert outcome.exit_code == 0, outcome.output
    (cell,) = _Server.seen["notebook"].cells
    assert cell.source.endswith("stage_panel('09', 'capacity')")


def test_folders_named_from_here_are_the_same_for_the_page(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mirror").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COURSE_HOME", "home")
    monkeypatch.setenv("COURSE_DATA", "mirror")
    CliRunner().invoke(stage, ["05", "--no-browser"])
    assert Path(_Server.seen["env"]["COURSE_HOME"]) == (tmp_path / "home").resolve()
    assert Path(_Server.seen["env"]["COURSE_DATA"]) == (tmp_path / "mirror").resolve()


def test_a_taken_port_is_refused() -> None:
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


def test_a_guard_that_has_to_go_as_it_says_its_first_word_still_clears_up(tmp_path: Path) -> None:
    folder = tmp_path / "page"
    folder.mkdir()
    since = time.time()
    server = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])

    def told_to_end(_: object) -> None:
        raise KeyboardInterrupt

    try:
        with pytest.raises(KeyboardInterrupt):
            guard_task({"pid": server.pid, "since": since, "folder": str(folder)}, told_to_end)
        assert server.wait(60) != 0
        assert not folder.exists()
    finally:
        server.kill()
        server.wait()
