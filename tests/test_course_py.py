"""course.py by itself: real processes and real environments, with a pip that only pretends to install."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

FAKE_PIP = """
import json, os, pathlib, sys, time

here = pathlib.Path(__file__).parent
if "-V" in sys.argv:
    print("pip 25.0 from nowhere (python %d.%d)" % sys.version_info[:2])
    sys.exit()
with (here / "calls.jsonl").open("a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
if (here / "say").exists():
    log = pathlib.Path(sys.argv[sys.argv.index("--log") + 1])
    log.write_text((here / "say").read_text())
    sys.exit(1)
(here / "pid").write_text(str(os.getpid()))
while (here / "hold").exists():
    time.sleep(0.02)
if "-e" in sys.argv:
    site = next(pathlib.Path(p) for p in sys.path if p.endswith("site-packages"))
    (site / "course_lib" / "cli").mkdir(parents=True, exist_ok=True)
    (site / "course_lib" / "cli" / "__main__.py").write_text(
        "import json, os, sys\\n"
        "print(json.dumps([sys.argv[1:], os.getcwd(), sys.flags.utf8_mode, sys.prefix]))\\n"
        "sys.exit(7 if 'seven' in sys.argv else 0)\\n"
    )
"""


class Checkout:
    """A copy of course.py in a folder with a difficult name, and the pip that stands in for the real one."""

    def __init__(self, parent: Path) -> None:
        self.root = parent / "dossier d'été (1)"
        self.root.mkdir()
        for name in ("course.py", "pyproject.toml"):
            shutil.copy(ROOT / name, self.root)
        self.fake_pip = parent / "fake" / "pip"
        self.fake_pip.mkdir(parents=True)
        (self.fake_pip / "__init__.py").touch()
        (self.fake_pip / "__main__.py").write_text(FAKE_PIP, encoding="utf-8")

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    def make_venv_without_pip(self) -> None:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(self.venv)], check=True)

    def command(self, *arguments: str) -> dict[str, Any]:
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.fake_pip.parent),
            "COURSE_TORCH_INDEX": os.environ.get("COURSE_TORCH_INDEX", "default"),
            "PYTHONIOENCODING": "utf-8",
        }
        return {
            "args": [sys.executable, str(self.root / "course.py"), *arguments],
            "env": environment,
            "cwd": self.fake_pip.parent,
            "text": True,
            "encoding": "utf-8",
        }

    def course(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(**self.command(*arguments), capture_output=True, timeout=300)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            **self.command(*arguments),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def pip_calls(self) -> list[list[str]]:
        calls = self.fake_pip / "calls.jsonl"
        return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []

    def hold_pip(self) -> None:
        (self.fake_pip / "hold").touch()

    def let_pip_go(self) -> None:
        (self.fake_pip / "hold").unlink()

    def pip_fails_with(self, text: str) -> None:
        (self.fake_pip / "say").write_text(text, encoding="utf-8")

    def wait_for_pip(self) -> int:
        wait_until(lambda: (self.fake_pip / "pid").exists() and (self.fake_pip / "pid").read_text() != "")
        return int((self.fake_pip / "pid").read_text())


def wait_until(condition: Any) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "what was waited for never came"
        time.sleep(0.02)


def handed_over(done: subprocess.CompletedProcess[str]) -> list[Any]:
    assert done.returncode == 0, done.stdout + done.stderr
    words: list[Any] = json.loads(done.stdout.splitlines()[-1])
    return words


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


@pytest.fixture
def ready(checkout: Checkout) -> Checkout:
    checkout.make_venv_without_pip()
    handed_over(checkout.course("doctor"))
    return checkout


@pytest.fixture
def module(checkout: Checkout) -> ModuleType:
    spec = importlib.util.spec_from_file_location("course_py_copy", checkout.root / "course.py")
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_uses_the_standard_library_alone() -> None:
    tree = ast.parse((ROOT / "course.py").read_text(encoding="utf-8"))
    names = [
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
    ]
    assert set(names) <= sys.stdlib_module_names


def test_an_old_python_is_told_in_one_sentence_which_to_use() -> None:
    source = ROOT / "course.py"
    ast.parse(source.read_text(encoding="utf-8"), feature_version=(3, 6))
    pretend = (
        f"import sys; sys.version_info = (3, 6, 9); exec(open({str(source)!r}, encoding='utf-8').read())"
    )
    done = subprocess.run([sys.executable, "-c", pretend], capture_output=True, text=True)
    assert done.returncode == 1
    assert "this is Python 3.6, and the workbook needs 3.10 to 3.14" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_help_explains_and_sets_nothing_up(checkout: Checkout) -> None:
    done = checkout.course("--help")
    assert "lab" in done.stdout and "COURSE_TORCH_INDEX" in done.stdout
    assert not checkout.venv.exists() and not (checkout.root / ".course").exists()


def test_first_start_makes_an_environment_and_hands_over(checkout: Checkout) -> None:
    arguments, folder, utf8, prefix = handed_over(checkout.course("doctor", "--json", "two words"))
    assert arguments == ["doctor", "--json", "two words"]
    assert Path(folder) == checkout.fake_pip.parent, "the command runs where the person is"
    assert utf8 == 1
    assert Path(prefix) == checkout.venv
    assert (checkout.venv / "course-setup.json").exists()


def test_exit_status_is_passed_on(ready: Checkout) -> None:
    assert ready.course("run", "seven").returncode == 7


def test_second_start_runs_no_pip(ready: Checkout) -> None:
    before = ready.pip_calls()
    handed_over(ready.course("lab"))
    assert before and ready.pip_calls() == before


def test_a_package_that_is_gone_ends_in_one_sentence(ready: Checkout) -> None:
    (package,) = ready.venv.rglob("course_lib")
    (package / "cli" / "__main__.py").write_text("import click_that_is_gone\n", encoding="utf-8")
    done = ready.course("doctor")
    assert done.returncode == 1
    assert "is damaged (No module named 'click_that_is_gone'); delete that folder" in done.stderr
    shutil.rmtree(package)
    done = ready.course("doctor")
    assert "is damaged (No module named" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows has no executable bit")
def test_a_python_that_cannot_be_started_ends_in_one_sentence(ready: Checkout) -> None:
    python = ready.venv / "bin" / "python"
    stamp = json.loads((ready.venv / "course-setup.json").read_text(encoding="utf-8"))
    python.unlink()
    python.write_text("", encoding="utf-8")
    stamp["python"] = str(python)
    (ready.venv / "course-setup.json").write_text(json.dumps(stamp), encoding="utf-8")
    done = ready.course("doctor")
    assert done.returncode == 2
    assert "could not be started (Permission denied); delete" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_terminal_without_the_folder_s_letters_is_no_trouble(checkout: Checkout) -> None:
    (checkout.root / ".course").write_text("a file where the folder should be", encoding="utf-8")
    command = checkout.command("lab")
    command["env"]["PYTHONIOENCODING"] = "ascii"
    done = subprocess.run(**command, capture_output=True, timeout=300)
    assert done.returncode == 2
    assert "copy the workbook to a folder of your own" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="closed pipes are reported differently on Windows")
def test_help_into_a_closed_pipe_is_quiet(checkout: Checkout) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(**checkout.command("--help"), stdout=writer, stderr=subprocess.PIPE, timeout=300)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_test_brings_its_extra_and_lab_keeps_it(ready: Checkout) -> None:
    handed_over(ready.course("test"))
    assert ready.pip_calls()[-1][-1] == ".[test]"
    calls = len(ready.pip_calls())
    handed_over(ready.course("lab"))
    assert len(ready.pip_calls()) == calls


def test_changed_declarations_are_installed_with_the_extras_that_were_there(ready: Checkout) -> None:
    handed_over(ready.course("test"))
    calls = len(ready.pip_calls())
    with (ready.root / "pyproject.toml").open("a", encoding="utf-8") as file:
        file.write("\n# one more package\n")
    handed_over(ready.course("lab"))
    assert len(ready.pip_calls()) == calls + 1
    assert ready.pip_calls()[-1][-1] == ".[test]"


def test_moved_folder_gets_a_new_environment(ready: Checkout) -> None:
    (ready.venv / "left behind").touch()
    moved = ready.root.with_name("elsewhere")
    ready.root.rename(moved)
    ready.root = moved
    *_, prefix = handed_over(ready.course("lab"))
    assert Path(prefix) == moved / ".venv"
    assert not (moved / ".venv" / "left behind").exists()


def test_environment_without_a_working_python_is_made_again(ready: Checkout) -> None:
    for python in ready.venv.rglob("python*"):
        if python.is_symlink() or python.suffix == ".exe":
            python.unlink()
    handed_over(ready.course("lab"))


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals to send to a process group")
@pytest.mark.parametrize("sent", ["SIGINT", "SIGTERM"])
def test_interrupted_setup_leaves_no_process_and_goes_on_the_next_time(checkout: Checkout, sent: str) -> None:
    checkout.make_venv_without_pip()
    checkout.hold_pip()
    with checkout.start("lab") as started:
        pip = checkout.wait_for_pip()
        if sent == "SIGINT":
            os.killpg(started.pid, signal.SIGINT)
        else:
            started.terminate()
        _, errors = started.communicate(timeout=60)
    assert started.returncode == {"SIGINT": 130, "SIGTERM": 143}[sent]
    if sent == "SIGINT":
        assert "the same command goes on from here" in errors
    assert f'File "{checkout.root / "course.py"}"' not in errors, "a traceback of course.py itself"
    with pytest.raises(ProcessLookupError):
        os.kill(pip, 0)
    assert not (checkout.venv / "course-setup.json").exists()
    checkout.let_pip_go()
    handed_over(checkout.course("lab"))
    assert (checkout.venv / "course-setup.json").exists()


@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_killed_setup_repairs_packages_with_missing_files(checkout: Checkout) -> None:
    checkout.make_venv_without_pip()
    checkout.hold_pip()
    with checkout.start("lab") as started:
        checkout.wait_for_pip()
        os.killpg(started.pid, signal.SIGKILL)
    site_packages = next(checkout.venv.glob("lib/python*/site-packages"))
    package = site_packages / "half-1.5.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: half\nVersion: 1.5\n")
    (package / "RECORD").write_text("half/__init__.py,,\nhalf-1.5.dist-info/METADATA,,\n")
    checkout.let_pip_go()
    handed_over(checkout.course("lab"))
    repairs = [call for call in checkout.pip_calls() if "--force-reinstall" in call]
    assert [call[-1] for call in repairs] == ["half==1.5"]


def test_two_starts_at_once_install_once(checkout: Checkout) -> None:
    checkout.make_venv_without_pip()
    checkout.hold_pip()
    with checkout.start("lab") as first:
        checkout.wait_for_pip()
        with checkout.start("lab") as second:
            assert second.stdout is not None
            lines = iter(second.stdout.readline, "")
            assert any("waiting for it" in line for line in lines)
            checkout.let_pip_go()
            second.communicate(timeout=60)
        first.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0)
    assert len(checkout.pip_calls()) == 1


@pytest.mark.parametrize(
    ("log", "remedy"),
    [
        (
            "WARNING: Retrying after NewConnectionError: Name or service not known\nERROR: No matching",
            "check the network",
        ),
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "disk is full",
        ),
        ("ERROR: No matching distribution found for hatchling>=1.24", "package index was not reachable"),
        ("ERROR: No matching distribution found for torch<2.15,>=2.6", "no set of packages for this Python"),
        ("ERROR: something new", "its last lines above say why"),
    ],
)
def test_failing_pip_ends_in_one_sentence_with_the_remedy(checkout: Checkout, log: str, remedy: str) -> None:
    checkout.make_venv_without_pip()
    checkout.pip_fails_with(log)
    done = checkout.course("lab")
    assert done.returncode == 2
    assert remedy in done.stderr and "setup.log" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert (checkout.root / ".course" / "setup.log").read_text(encoding="utf-8") == log
    assert not (checkout.venv / "course-setup.json").exists()


def test_folder_that_cannot_be_written_ends_in_one_sentence(checkout: Checkout) -> None:
    (checkout.root / ".course").write_text("a file where the folder should be", encoding="utf-8")
    done = checkout.course("lab")
    assert done.returncode == 2
    assert "copy the workbook to a folder of your own" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_cpu_wheels_come_first_with_the_declared_range(
    checkout: Checkout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_TORCH_INDEX", "cpu")
    checkout.make_venv_without_pip()
    handed_over(checkout.course("lab"))
    torch_call, workbook_call = checkout.pip_calls()
    assert "https://download.pytorch.org/whl/cpu" in torch_call
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    torch_range, torchvision_range = torch_call[-2:]
    assert torch_range.startswith("torch>=") and f'"{torch_range}"' in declared
    assert torchvision_range.startswith("torchvision") and f'"{torchvision_range}"' in declared
    assert workbook_call[-2:] == ["-e", "."] and "--index-url" not in workbook_call


@pytest.mark.parametrize(
    ("system", "gpu", "reachable", "index"),
    [
        ("linux", False, True, "cpu"),
        ("linux", False, False, "default"),
        ("linux", True, True, "default"),
        ("darwin", False, True, "default"),
        ("win32", False, True, "default"),
    ],
)
def test_cpu_index_only_on_linux_without_gpu_where_it_answers(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, system: str, gpu: bool, reachable: bool, index: str
) -> None:
    monkeypatch.delenv("COURSE_TORCH_INDEX", raising=False)
    monkeypatch.setattr(module.sys, "platform", system)
    monkeypatch.setattr(module, "has_nvidia_gpu", lambda: gpu)
    monkeypatch.setattr(module, "answers", lambda url: reachable)
    assert module.torch_index() == index


def test_unreachable_address_does_not_answer(module: ModuleType) -> None:
    assert not module.answers("http://127.0.0.1:9/")


def test_failing_cpu_index_falls_back_unless_it_was_asked_for(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: str) -> None:
        raise module.SetupError("no such index")

    monkeypatch.setattr(module, "pip_install", fail)
    monkeypatch.delenv("COURSE_TORCH_INDEX", raising=False)
    module.install_torch_without_cuda()
    assert "pip's usual index" in capsys.readouterr().out
    monkeypatch.setenv("COURSE_TORCH_INDEX", "cpu")
    with pytest.raises(module.SetupError):
        module.install_torch_without_cuda()


def test_unknown_torch_index_is_refused(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_TORCH_INDEX", "gpu")
    with pytest.raises(module.SetupError, match="set it to cpu or default"):
        module.torch_index()


def test_small_disk_is_refused_before_anything_is_made(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = shutil.disk_usage(ROOT)._replace(free=1_200_000_000)
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(module.SetupError, match=r"1\.2 GB free and the set-up needs about"):
        module.check_disk("cpu")


def test_python_without_venv_is_told_what_to_install(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(module.SetupError, match=r"apt install python3\.\d+-venv"):
        module.check_machine()


def test_python_that_pytorch_does_not_know_is_refused(
    module: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module.sys, "version_info", (*module.NEWEST[:1], module.NEWEST[1] + 1, 0))
    with pytest.raises(module.SetupError, match=r"start course.py with Python 3\.10 to 3\.14"):
        module.check_machine()


def test_intel_macs_are_told_what_may_help(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.sys, "platform", "darwin")
    monkeypatch.setattr(module.platform, "machine", lambda: "x86_64")
    with pytest.raises(module.SetupError, match="conda-forge"):
        module.check_machine()
