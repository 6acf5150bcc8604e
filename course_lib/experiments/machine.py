"""What a measurement ran on, without anything that names its owner."""

from __future__ import annotations

import importlib.metadata
import platform
import re
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path

from course_lib.loading.worker_start import usable_cores

PACKAGE = "ai-storage-workbook"
"""Name of the workbook's distribution, under which its declared packages are found."""

_KEY_LIBRARIES = ("torch", "torchvision", "datasets", "scikit-learn", "pandas", "numpy")


@dataclass(frozen=True)
class Machine:
    """One computer, as far as a measurement depends on it.

    Attributes
    ----------
    system : str
        Operating system and its release, for example ``"Linux 6.1"``.
    processor : str
        Instruction set, for example ``"x86_64"``.
    logical_cores, usable_cores : int
        Cores of the computer, and those that this process may use.
    memory_bytes : int
        Main memory, or the container's limit where it is lower.
    gpus : tuple of str
        Names of the graphics processors that their own tools report.
    """

    system: str
    processor: str
    logical_cores: int
    usable_cores: int
    memory_bytes: int
    gpus: tuple[str, ...]

    def as_dict(self) -> dict[str, object]:
        """Return the description as plain values for a record."""
        return {**asdict(self), "gpus": list(self.gpus)}


def describe_machine() -> Machine:
    """Return the description of this machine; it holds no host name, user name or path."""
    import psutil

    logical_cores = psutil.cpu_count() or 1
    return Machine(
        system=f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}",
        processor=platform.machine(),
        logical_cores=logical_cores,
        usable_cores=usable_cores(),
        memory_bytes=min([psutil.virtual_memory().total, *_container_memory_limit()]),
        gpus=graphics_processors(),
    )


def graphics_processors() -> tuple[str, ...]:
    """Return the names of the GPUs that PyTorch could use here; empty when there are none."""
    if platform.system() == "Darwin" and platform.machine() == "arm64":
        return ("Apple GPU",)
    tool = shutil.which("nvidia-smi")
    if not tool:
        return ()
    try:
        answer = subprocess.run(
            [tool, "--query-gpu=name", "--format=csv,noheader"], capture_output=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ()
    return tuple(
        line.strip() for line in answer.stdout.decode("utf-8", "replace").splitlines() if line.strip()
    )


def library_versions() -> dict[str, str]:
    """Return the versions of Python, the workbook and the libraries that figures depend on."""
    versions = {"python": platform.python_version(), PACKAGE: package_version()}
    for name in _KEY_LIBRARIES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def package_version() -> str:
    """Return the version of the installed workbook, or of its source where it is not installed."""
    try:
        return importlib.metadata.version(PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        from course_lib import __version__

        return __version__


def code_version() -> str:
    """Return the package's version, with the commit where it runs from a git checkout.

    Examples
    --------
    >>> code_version()  # doctest: +SKIP
    '0.1.0+4f2a9c1d7e10.changed'
    """
    folder = Path(__file__).resolve().parent
    commit = _git(folder, "rev-parse", "--short=12", "HEAD")
    if not re.fullmatch(r"[0-9a-f]{12,40}", commit):
        return package_version()
    changed = ".changed" if _git(folder, "status", "--porcelain", "--untracked-files=no") else ""
    return f"{package_version()}+{commit}{changed}"


def _git(folder: Path, *arguments: str) -> str:
    try:
        answer = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.decode("utf-8", "replace").strip() if answer.returncode == 0 else ""


def _container_memory_limit() -> list[int]:
    """Return the limit of the control group this process runs in, if there is one."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            return [int((Path("/sys/fs/cgroup") / name).read_text(encoding="ascii"))]
        except (OSError, ValueError):
            continue
    return []
