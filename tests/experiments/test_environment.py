from __future__ import annotations

import importlib.metadata
import multiprocessing
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from course_lib.datasets import status as status_module
from course_lib.datasets.status import DatasetStatus
from course_lib.experiments import environment, machine
from course_lib.experiments.browser import find_chromium, has_browser
from course_lib.experiments.environment import Check, can_run, check_environment
from course_lib.experiments.machine import Machine
from course_lib.loading import worker_start as workers


def check_named(name: str) -> Check:
    return next(check for check in check_environment() if check.name == name)


def with_usage(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    usage = shutil.disk_usage("/")._replace(free=free)
    monkeypatch.setattr(environment.shutil, "disk_usage", lambda path: usage)


def described(
    memory_bytes: int = 16_000_000_000, cores: int = 4, gpus: tuple[str, ...] = ()
) -> Callable[[], Machine]:
    return lambda: Machine("Linux 6.1", "x86_64", cores, cores, memory_bytes, gpus)


def test_this_machine_can_run_the_workbook() -> None:
    checks = check_environment()
    assert can_run(checks), [check for check in checks if check.status == "problem"]
    assert all(check.remedy for check in checks if check.status != "ok")


def test_missing_and_outdated_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    needs = ["no-such-package>=1", "click>=99", "pytest<1; extra == 'test'", "rich"]
    monkeypatch.setattr(environment.importlib.metadata, "requires", lambda name: needs)
    check = check_named("packages")
    assert check.status == "problem"
    assert "no-such-package is missing" in check.found
    assert f"click is {importlib.metadata.version('click')}, declared is >=99" in check.found
    assert "pytest" not in check.found and "rich" not in check.found
    assert "course.py" in check.remedy


@pytest.mark.parametrize(
    ("free", "status"), [(100_000_000, "problem"), (2_000_000_000, "warning"), (50_000_000_000, "ok")]
)
def test_disk(monkeypatch: pytest.MonkeyPatch, free: int, status: str) -> None:
    with_usage(monkeypatch, free)
    assert check_named("free disk").status == status


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="this system has no /dev/shm")
def test_little_shared_memory_is_told_before_a_worker_dies_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with_usage(monkeypatch, 64_000_000)
    check = check_named("shared memory")
    assert check.status == "warning"
    assert "--shm-size" in check.remedy and "0 workers" in check.remedy


@pytest.mark.parametrize(
    ("memory_bytes", "status"),
    [(2_000_000_000, "problem"), (4_000_000_000, "warning"), (16_000_000_000, "ok")],
)
def test_memory(monkeypatch: pytest.MonkeyPatch, memory_bytes: int, status: str) -> None:
    monkeypatch.setattr(environment, "describe_machine", described(memory_bytes))
    assert check_named("memory").status == status


def test_one_core_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "describe_machine", described(cores=1))
    assert check_named("cores").status == "warning"


@pytest.mark.parametrize(
    ("cuda", "status"), [("cuda: Optional[str] = '13.0'", "ok"), ("cuda: Optional[str] = None", "warning")]
)
def test_gpu_that_the_installed_pytorch_cannot_use_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cuda: str, status: str
) -> None:
    (tmp_path / "version.py").write_text(f"from typing import Optional\n{cuda}\nhip: Optional[str] = None\n")
    spec = importlib.util.spec_from_file_location("torch", tmp_path / "__init__.py")
    monkeypatch.setattr(environment, "describe_machine", described(gpus=("Some GPU",)))
    monkeypatch.setattr(environment.importlib.util, "find_spec", lambda name: spec)
    check = check_named("GPU")
    assert check.status == status and "Some GPU" in check.found


def test_no_gpu_is_no_trouble(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "describe_machine", described())
    assert check_named("GPU").status == "ok"


def test_gpu_tool_that_fails_means_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.platform, "system", lambda: "Linux")
    monkeypatch.setattr(machine.shutil, "which", lambda name: "no-such-tool")
    assert machine.graphics_processors() == ()


def test_start_method_is_told_without_fixing_it() -> None:
    before = multiprocessing.get_start_method(allow_none=True)
    check = check_named("DataLoader workers")
    assert check.status == "ok"
    assert workers.default_start_method() in check.found
    assert multiprocessing.get_start_method(allow_none=True) == before


def test_worker_that_cannot_start_is_a_warning_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(method: str) -> None:
        raise OSError("no semaphores here")

    monkeypatch.setattr(workers.multiprocessing, "get_context", refuse)
    check = check_named("DataLoader workers")
    assert check.status == "warning"
    assert "no semaphores here" in check.found and "0 workers" in check.remedy


@pytest.mark.filterwarnings("ignore:.*settings.json could not be read")
def test_home_that_cannot_be_written_is_a_problem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file" / "home"))
    assert check_named("folder for progress").status == "problem"


def test_looking_makes_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "home"))
    assert check_named("folder for progress").status == "ok"
    assert list(tmp_path.iterdir()) == []


def test_data_trouble_becomes_a_problem_with_the_next_step(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = DatasetStatus(
        "toy", "small", "mirror", "the mirror is complete", 0, "toy.zip is cut; fetch it again."
    )
    monkeypatch.setattr(status_module, "data_status", lambda: (broken,))
    check = check_named("data: toy (small)")
    assert (check.status, check.remedy) == ("problem", "toy.zip is cut; fetch it again.")


def test_no_browser_is_a_warning_that_names_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environment, "has_browser", lambda: False)
    check = check_named("browser")
    assert check.status == "warning" and "--no-browser" in check.remedy


def test_named_browser_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSE_BROWSER", "no-such-browser")
    check = check_named("browser for the tests")
    assert check.status == "warning" and "no-such-browser" in check.found
    monkeypatch.setenv("COURSE_BROWSER", "python3" if shutil.which("python3") else "python")
    assert find_chromium() is not None
    assert has_browser() in (True, False)
