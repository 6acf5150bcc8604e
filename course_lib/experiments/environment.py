"""Is this machine ready for the workbook? Each answer with what was found and what would help."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from course_lib.errors import CourseError
from course_lib.experiments.browser import find_chromium, has_browser
from course_lib.experiments.machine import PACKAGE, Machine, describe_machine
from course_lib.files import write_atomically
from course_lib.loading.readiness import shared_memory
from course_lib.loading.worker_start import default_start_method, why_workers_cannot_start
from course_lib.paths import course_home
from course_lib.units import format_bytes

Status = Literal["ok", "warning", "problem"]

OLDEST_PYTHON, NEWEST_PYTHON = (3, 10), (3, 14)

_NEEDED_MEMORY_BYTES = 3_000_000_000
_COMFORTABLE_MEMORY_BYTES = 7_000_000_000
_NEEDED_DISK_BYTES = 500_000_000
_COMFORTABLE_DISK_BYTES = 5_000_000_000
_COMFORTABLE_SHARED_MEMORY_BYTES = 500_000_000


@dataclass(frozen=True)
class Check:
    """One thing the workbook needs from the machine.

    Attributes
    ----------
    name : str
        What was looked at.
    status : {"ok", "warning", "problem"}
        With a problem the workbook cannot run; with a warning something in it is slower or left out.
    found : str
        What is there.
    remedy : str
        What to do; "" where nothing needs to be done.
    """

    name: str
    status: Status
    found: str
    remedy: str = ""


def check_environment() -> tuple[Check, ...]:
    """Look at everything that the lessons lean on; takes about a second and changes nothing.

    Returns
    -------
    tuple of Check
        In the order in which a reader wants them: software, hardware, browser, data.
    """
    machine = describe_machine()
    looks: tuple[Callable[[], Check], ...] = (
        _python,
        _packages,
        lambda: _cores(machine),
        lambda: _memory(machine),
        _disk,
        _shared_memory,
        lambda: _gpu(machine),
        _start_method,
        _browser,
        _test_browser,
        _home,
    )
    return (*(look() for look in looks), *_data())


def can_run(checks: tuple[Check, ...]) -> bool:
    """Tell whether nothing in ``checks`` keeps the workbook from running."""
    return all(check.status != "problem" for check in checks)


def _python() -> Check:
    found = f"{platform.python_version()} ({platform.python_implementation()})"
    if OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON:
        return Check("Python", "ok", found)
    oldest, newest = (".".join(map(str, version)) for version in (OLDEST_PYTHON, NEWEST_PYTHON))
    return Check("Python", "problem", found, f"Start the workbook with Python {oldest} to {newest}.")


def _packages() -> Check:
    remedy = "Run `python3 course.py doctor`, or `pip install -e .` in your own environment."
    try:
        declared = importlib.metadata.requires(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return Check("packages", "problem", f"{PACKAGE} is not installed", remedy)
    wrong = [trouble for requirement in declared if (trouble := _trouble_with(requirement))]
    if wrong:
        return Check("packages", "problem", "; ".join(wrong), remedy)
    torch_version = importlib.metadata.version("torch")
    return Check("packages", "ok", f"all as declared (torch {torch_version})")


def _trouble_with(declared: str) -> str:
    from packaging.requirements import Requirement

    requirement = Requirement(declared)
    if requirement.marker and not requirement.marker.evaluate({"extra": ""}):
        return ""
    try:
        version = importlib.metadata.version(requirement.name)
    except importlib.metadata.PackageNotFoundError:
        return f"{requirement.name} is missing"
    if requirement.specifier.contains(version, prereleases=True):
        return ""
    return f"{requirement.name} is {version}, declared is {requirement.specifier}"


def _cores(machine: Machine) -> Check:
    found = f"{machine.usable_cores} usable of {machine.logical_cores}"
    if machine.usable_cores >= 2:
        return Check("cores", "ok", found)
    return Check("cores", "warning", found, "With one core, workers cannot help; give it two.")


def _memory(machine: Machine) -> Check:
    found = format_bytes(machine.memory_bytes)
    if machine.memory_bytes < _NEEDED_MEMORY_BYTES:
        needed = format_bytes(_NEEDED_MEMORY_BYTES)
        return Check("memory", "problem", found, f"Use a machine or a container limit of at least {needed}.")
    if machine.memory_bytes < _COMFORTABLE_MEMORY_BYTES:
        return Check(
            "memory", "warning", found, "Close other programs, and use fewer samples in the lessons."
        )
    return Check("memory", "ok", found)


def _disk() -> Check:
    home = course_home()
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    free_bytes = shutil.disk_usage(existing).free
    found = f"{format_bytes(free_bytes)} free for data and records"
    if free_bytes < _NEEDED_DISK_BYTES:
        remedy = f"Free at least {format_bytes(_NEEDED_DISK_BYTES)}, or set COURSE_HOME to a larger disk."
        return Check("free disk", "problem", found, remedy)
    if free_bytes < _COMFORTABLE_DISK_BYTES:
        remedy = (
            f"Larger data want {format_bytes(_COMFORTABLE_DISK_BYTES)}; COURSE_HOME can name another disk."
        )
        return Check("free disk", "warning", found, remedy)
    return Check("free disk", "ok", found)


def _shared_memory() -> Check:
    memory = shared_memory()
    if memory is None:
        return Check("shared memory", "ok", "no fixed limit on this system")
    found = f"{format_bytes(memory.free_bytes)} free of {format_bytes(memory.total_bytes)}"
    if memory.free_bytes >= _COMFORTABLE_SHARED_MEMORY_BYTES:
        return Check("shared memory", "ok", found)
    return Check(
        "shared memory",
        "warning",
        found,
        "DataLoader workers hand batches over in it and die when it is full; start the container with "
        "`--shm-size=1g`, or work with 0 workers.",
    )


def _gpu(machine: Machine) -> Check:
    if not machine.gpus:
        return Check("GPU", "ok", "none; every lesson runs on the CPU")
    found = ", ".join(machine.gpus)
    if machine.gpus == ("Apple GPU",) or _torch_has_cuda():
        return Check("GPU", "ok", found)
    return Check(
        "GPU",
        "warning",
        f"{found}, but the installed PyTorch was built without CUDA",
        "The lessons run without it; to use it, remove .venv and start with COURSE_TORCH_INDEX=default.",
    )


def _torch_has_cuda() -> bool:
    """Read it from torch's version file: importing torch takes seconds."""
    spec = importlib.util.find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    try:
        text = (Path(spec.origin).parent / "version.py").read_text(encoding="utf-8")
    except OSError:
        return False
    return re.search(r"^cuda\b.*=\s*['\"]", text, re.MULTILINE) is not None


def _start_method() -> Check:
    method = default_start_method()
    reason = why_workers_cannot_start()
    if not reason:
        return Check("DataLoader workers", "ok", f"start by {method} here; one started and answered")
    return Check(
        "DataLoader workers",
        "warning",
        f"start by {method} here; a worker could not start: {reason}",
        "The lessons go on with 0 workers; a container may limit processes or shared memory too much.",
    )


def _browser() -> Check:
    if has_browser():
        return Check("browser", "ok", "found; `course lab` opens it")
    return Check(
        "browser",
        "warning",
        "none that opens by itself (no display)",
        "Copy the address that `course lab --no-browser` prints into a browser that reaches this machine.",
    )


def _test_browser() -> Check:
    try:
        chromium = find_chromium()
    except CourseError as error:
        return Check("browser for the tests", "warning", str(error), "Correct or unset COURSE_BROWSER.")
    if chromium:
        return Check("browser for the tests", "ok", chromium.name)
    return Check("browser for the tests", "ok", "none; `course test` leaves its browser tests out")


def _home() -> Check:
    home = course_home()
    existing = next(folder for folder in (home, *home.parents) if folder.exists())
    try:
        with tempfile.TemporaryDirectory(dir=existing) as folder:
            write_atomically(Path(folder) / "probe", "")
    except (OSError, CourseError):
        return Check(
            "folder for progress",
            "problem",
            f"{home} cannot be written to",
            "Set COURSE_HOME to a folder of your own; without one, progress and data cannot be kept.",
        )
    return Check("folder for progress", "ok", str(home))


def _data() -> Iterator[Check]:
    from course_lib.datasets.status import data_status

    try:
        statuses = data_status()
    except CourseError as error:
        yield Check("data", "problem", error.what, str(error))
        return
    for status in statuses:
        name = f"data: {status.dataset}" + (f" ({status.variant})" if status.variant else "")
        if status.problem:
            yield Check(name, "problem", f"{status.source}: {status.detail}", status.problem)
        else:
            yield Check(name, "ok", f"{status.source}: {status.detail}")
