"""Set up the AI Storage Workbook in its own folder, and start it.

Runs on a bare Python: only the standard library is used here. Everything up to the check of the
version has to parse on old Pythons too, so that they can say what is wrong.
"""

# ruff: noqa: E402 - the version is checked before anything is imported that an old Python lacks
import sys

OLDEST, NEWEST = (3, 10), (3, 14)

if sys.version_info < OLDEST:
    sys.exit(
        "course.py: this is Python {}.{}, and the workbook needs {}.{} to {}.{}; install one of these and "
        "start course.py with it.".format(*(sys.version_info[:2] + OLDEST + NEWEST))
    )

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
WINDOWS = os.name == "nt"
SCRIPTS = VENV / ("Scripts" if WINDOWS else "bin")
PYTHON = SCRIPTS / ("python.exe" if WINDOWS else "python")
STAMP = VENV / "course-setup.json"
UNFINISHED = VENV / "course-setup-unfinished"
STATE = ROOT / ".course"
LOG = STATE / "setup.log"
CPU_WHEELS = "https://download.pytorch.org/whl/cpu"

HELP = """\
Usage: python3 course.py COMMAND [OPTIONS]

Sets up the AI Storage Workbook in its own folder (.venv) and runs a command in it.
The first start downloads PyTorch and JupyterLab and takes some minutes; later ones go straight on.

  lab       open JupyterLab at the first notebook
  test      run every test of the workbook
  doctor    check this machine: Python, packages, memory, disk, GPU, data
  run 01    run a lesson without opening it
  data      see or fetch the data sets
  --help    this text, without setting anything up

All commands and their options: python3 course.py lab --help, python3 course.py commands

Environment variables:
  COURSE_TORCH_INDEX   cpu: PyTorch's own wheels without CUDA; default: pip's usual index.
                       Without it, Linux machines without an NVIDIA GPU try cpu first.
  COURSE_DATA          folder of a data mirror, for a class without network
  COURSE_HOME          folder for data, settings and progress, instead of .course here
pip's own settings (PIP_INDEX_URL and so on, pip.conf) are honoured.
"""

PROBLEMS = (
    (
        r"No space left on device|Errno 28|not enough space on the disk|Disk quota exceeded",
        "the disk is full; free some space (the workbook needs 2 to 8 GB) and start again",
    ),
    (
        r"CERTIFICATE_VERIFY_FAILED",
        "the network's certificate is not trusted; ask your network's administrator for its "
        "certificate file and name it in PIP_CERT",
    ),
    (
        r"NewConnectionError|NameResolutionError|Temporary failure in name resolution|getaddrinfo failed|"
        r"ConnectTimeout|ReadTimeout|Read timed out|ConnectionResetError|ProxyError|ProtocolError|"
        r"Network is unreachable|Max retries exceeded|connection error:|"
        # These are there for every Python; that pip does not see them tells that it saw no index at all.
        r"No matching distribution found for (?:pip|hatchling)\b",
        "the package index was not reachable; check the network or the proxy (HTTPS_PROXY), and start again",
    ),
    (
        r"No matching distribution found|ResolutionImpossible",
        "pip found no set of packages for this Python and system; try Python 3.12, or the conda environment "
        "of environment.yml",
    ),
    (
        r"Permission denied|Access is denied|Read-only file system",
        "a file could not be written; close programs that use the workbook's .venv, or copy the workbook "
        "to a folder of your own",
    ),
)

# Lists packages that an interrupted pip left with files missing.
DAMAGED = """
import importlib.metadata
for package in importlib.metadata.distributions():
    files = package.files
    if files is None or not all(file.locate().exists() for file in files if file.suffix != ".pyc"):
        print(package.metadata["Name"] + "==" + package.version)
"""


# Starts the command of the workbook, and says so if the environment lost a part of what was installed.
START = """
import runpy
import sys

try:
    import course_lib.cli

    runpy.run_module("course_lib.cli", run_name="__main__", alter_sys=True)
except ImportError as error:
    sys.exit(f"course.py: {sys.prefix} is damaged ({error}); delete that folder and start again.")
"""


class SetupError(Exception):
    """One sentence: why the set-up cannot go on, and what to do."""


def run_child(command: list[str], **options: object) -> int:
    """Run ``command`` to its end in the workbook's folder; it never outlives this process."""
    with subprocess.Popen(command, cwd=ROOT, **options) as child:
        try:
            return child.wait()
        except BaseException:
            child.terminate() if WINDOWS else child.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                child.wait(15)
            child.kill()
            raise


def first_output(command: list[str]) -> str | None:
    """Return what a short command prints, or None when it fails or does not answer in half a minute."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=30
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None


@contextlib.contextmanager
def step(title: str) -> Iterator[None]:
    """Print a step of the set-up before it runs, and the seconds it took after it."""
    print(f"* {title} ...", flush=True)
    started = time.monotonic()
    yield
    print(f"  done in {time.monotonic() - started:.1f} s", flush=True)


@contextlib.contextmanager
def only_one_setup() -> Iterator[None]:
    """Let one course.py at a time set up this folder; the lock goes away with its process."""
    STATE.mkdir(exist_ok=True)
    with (STATE / "setup.lock").open("a+b") as lock:
        waiting = False
        while not acquired(lock.fileno()):
            if not waiting:
                print("Another course.py is setting up this folder; waiting for it ...", flush=True)
            waiting = True
            time.sleep(0.3)
        yield


def acquired(descriptor: int) -> bool:
    """Try to lock an open file for this process; False while another process holds it."""
    try:
        if WINDOWS:
            import msvcrt

            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def wanted_stamp() -> dict[str, str]:
    """Return what a finished set-up is remembered by: the declared packages, the folder, the Python."""
    return {
        "pyproject": hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest(),
        "folder": str(ROOT),
        "python": os.path.realpath(PYTHON),
    }


def read_stamp() -> dict[str, object]:
    """Return the stamp of the last finished set-up, empty when there is none."""
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) else {}


def is_ready(extra: str) -> bool:
    """Tell whether a finished set-up fits this folder and holds the wanted extra."""
    stamp = read_stamp()
    extras = stamp.pop("extras", [])
    return PYTHON.exists() and stamp == wanted_stamp() and (not extra or extra in extras)


def pip_version() -> tuple[int, int] | None:
    """Return the version of the environment's pip; None when the environment does not work."""
    if read_stamp().get("folder", str(ROOT)) != str(ROOT):
        return None
    answer = re.match(
        r"pip (\d+)\.(\d+).*\(python (\d+)\.(\d+)", first_output([str(PYTHON), "-m", "pip", "-V"]) or ""
    )
    if not answer:
        return None
    pip_major, pip_minor, *python = map(int, answer.groups())
    return (pip_major, pip_minor) if OLDEST <= tuple(python) <= NEWEST else None


def check_machine() -> None:
    """Refuse machines on which the set-up cannot succeed, before anything is made."""
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if sys.version_info[:2] > NEWEST:
        raise SetupError(
            f"this is Python {version}, and PyTorch is not there for it yet; start course.py with Python "
            "{}.{} to {}.{}".format(*OLDEST, *NEWEST)
        )
    if sys.maxsize < 2**32:
        raise SetupError(
            "this is a 32-bit Python, and PyTorch needs a 64-bit one; install it from python.org"
        )
    if sys.platform == "darwin" and platform.machine() == "x86_64":
        raise SetupError(
            "PyTorch no longer publishes packages for Macs with an Intel processor; use another machine, or "
            "see whether conda-forge has a build for yours: `conda create -n course -c conda-forge "
            'python=3.12 "pytorch>=2.6" torchvision`, then in it `pip install -e .` and `course lab`'
        )
    try:
        import ensurepip  # noqa: F401 - Debian and Ubuntu ship Python without it
        import venv  # noqa: F401
    except ImportError:
        raise SetupError(
            f"this Python comes without venv; install it with `sudo apt install python{version}-venv` on "
            "Debian or Ubuntu, or install Python from python.org"
        ) from None


def has_nvidia_gpu() -> bool:
    """Tell whether Linux sees an NVIDIA GPU."""
    if any(Path(sign).exists() for sign in ("/proc/driver/nvidia/version", "/dev/nvidia0")):
        return True
    tool = shutil.which("nvidia-smi")
    return bool(tool and "GPU" in (first_output([tool, "-L"]) or ""))


def answers(url: str) -> bool:
    """Tell whether a web address answers within three seconds."""
    import http.client
    import urllib.request

    try:
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=3):
            return True
    except (OSError, ValueError, http.client.HTTPException):
        return False


def torch_index() -> str:
    """Return ``cpu`` for PyTorch's own index of CPU wheels, or ``default`` for pip's usual index."""
    chosen = os.environ.get("COURSE_TORCH_INDEX", "").strip().lower()
    if chosen not in ("", "cpu", "default"):
        raise SetupError(f"COURSE_TORCH_INDEX is {chosen!r}; set it to cpu or default, or unset it")
    if chosen:
        return chosen
    if sys.platform != "linux" or has_nvidia_gpu():
        return "default"
    return "cpu" if answers(CPU_WHEELS + "/") else "default"


def check_disk(index: str) -> None:
    """Refuse a disk that has too little room for the packages."""
    if (
        any(VENV.glob("lib/python*/site-packages/torch"))
        or (VENV / "Lib" / "site-packages" / "torch").exists()
    ):
        needed_gigabytes = 0.5
    else:
        needed_gigabytes = 7 if index == "default" and sys.platform == "linux" else 2.5
    free_gigabytes = shutil.disk_usage(ROOT).free / 1e9
    if free_gigabytes < needed_gigabytes:
        raise SetupError(
            f"the disk of {ROOT} has {free_gigabytes:.1f} GB free and the set-up needs about "
            f"{needed_gigabytes} GB; free some space, or move the workbook to a larger disk"
        )


def pip_install(*arguments: str) -> None:
    """Run pip in the environment with its own progress on the screen and the whole log in ``LOG``."""
    command = [
        str(PYTHON),
        "-m",
        "pip",
        "install",
        "--disable-pip-version-check",
        "--log",
        str(LOG),
        *arguments,
    ]
    before = LOG.stat().st_size if LOG.exists() else 0
    if run_child(command, env={**os.environ, "PIP_USER": "0", "PYTHONUTF8": "1"}) == 0:
        return
    with contextlib.suppress(OSError), LOG.open("rb") as log:
        log.seek(before)
        text = log.read().decode("utf-8", "replace")
        for pattern, remedy in PROBLEMS:
            if re.search(pattern, text):
                raise SetupError(f"{remedy} (pip's log: {LOG})")
    raise SetupError(f"pip could not install the packages; its last lines above say why (whole log: {LOG})")


def make_environment() -> None:
    """Make ``.venv`` anew, with a pip that can install an editable folder."""
    if VENV.is_symlink() or VENV.is_file():
        raise SetupError(f"{VENV} is not a folder; move it away and start again")
    if VENV.exists():
        shutil.rmtree(VENV)
    base = getattr(sys, "_base_executable", None) or sys.executable
    if run_child([base, "-m", "venv", str(VENV)]) != 0 or pip_version() is None:
        shutil.rmtree(VENV, ignore_errors=True)
        raise SetupError(
            f"{base} could not make a virtual environment; its message above says why (on Debian and Ubuntu "
            "`sudo apt install python3-venv` is what is usually missing)"
        )


def install(extra: str) -> None:
    """Bring ``.venv`` to what pyproject.toml declares; goes on where an interrupted set-up stopped."""
    check_machine()
    extras = (
        sorted({*read_stamp().get("extras", []), extra} - {""}) if pip_version() else [extra] * bool(extra)
    )
    index = torch_index()
    check_disk(index)
    LOG.unlink(missing_ok=True)
    was_interrupted = UNFINISHED.exists()
    if pip_version() is None:
        with step(f"Making .venv with Python {platform.python_version()}"):
            make_environment()
    UNFINISHED.touch()
    STAMP.unlink(missing_ok=True)
    if (pip_version() or (0, 0)) < (23, 1):
        with step("Updating pip"):
            pip_install("--upgrade", "pip>=23.1")
    if was_interrupted:
        repair()
    if index == "cpu":
        install_torch_without_cuda()
    with step("Installing the workbook and what it needs (some minutes the first time)"):
        pip_install("-e", f".[{','.join(extras)}]" if extras else ".")
    stamp = {**wanted_stamp(), "extras": extras}
    aside = STAMP.with_suffix(".part")
    aside.write_text(json.dumps(stamp), encoding="utf-8")
    aside.replace(STAMP)
    UNFINISHED.unlink()
    LOG.unlink(missing_ok=True)


def install_torch_without_cuda() -> None:
    """Install PyTorch from its own index of CPU wheels; leave it to the default index if that fails."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    packages = re.findall(r'^\s*"((?:torch|torchvision)\b[^"]*)"', text, re.MULTILINE)
    try:
        with step("Installing PyTorch without CUDA, as this machine has no NVIDIA GPU"):
            pip_install("--index-url", CPU_WHEELS, *packages)
    except SetupError:
        if os.environ.get("COURSE_TORCH_INDEX"):
            raise
        print("  PyTorch's own index did not deliver; going on with pip's usual index", flush=True)
        check_disk("default")


def repair() -> None:
    """Install again what an interrupted pip left incomplete."""
    damaged = (first_output([str(PYTHON), "-I", "-c", DAMAGED]) or "").split()
    damaged = [package for package in damaged if not package.startswith("ai-storage-workbook")]
    if damaged:
        with step(f"Repairing what an interrupted start left incomplete: {', '.join(damaged)}"):
            pip_install("--force-reinstall", "--no-deps", *damaged)


def set_up(extra: str) -> None:
    """Make sure that the environment is there and complete."""
    try:
        if is_ready(extra):
            return
        print(f"Setting up the workbook in {VENV}", flush=True)
        with only_one_setup():
            if not is_ready(extra):
                install(extra)
    except OSError as error:
        raise SetupError(
            f"{error.filename or ROOT} could not be used ({error.strerror}); copy the workbook to a folder "
            "of your own on a disk with some free space, and start it there"
        ) from error


def hand_over(arguments: list[str]) -> int:
    """Run the package's own command in the environment and return its exit status."""
    search_path = os.pathsep.join([str(SCRIPTS), *filter(None, [os.environ.get("PATH")])])
    environment = {**os.environ, "PYTHONUTF8": "1", "VIRTUAL_ENV": str(VENV), "PATH": search_path}
    # -I: neither the folder this was started in nor PYTHONPATH may stand in for the workbook's packages.
    command = [str(PYTHON), "-I", "-X", "utf8", "-c", START, *arguments]
    try:
        if not WINDOWS:
            os.execve(command[0], command, environment)
        child = subprocess.Popen(command, env=environment)
    except OSError as error:
        raise SetupError(
            f"{PYTHON} could not be started ({error.strerror}); delete {VENV} and start again"
        ) from error
    with child:
        while True:
            with contextlib.suppress(KeyboardInterrupt):
                return child.wait()


def show_help() -> int:
    """Print the help; a reader that goes away early, such as head, is no trouble."""
    try:
        print(HELP, end="", flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def main(arguments: list[str]) -> int:
    """Set up, then run the command; return the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return show_help()
    if arguments == ["commands"]:
        arguments = ["--help"]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        set_up("test" if arguments[0] == "test" else "")
        return hand_over(arguments)
    except SetupError as problem:
        print(f"course.py: {problem}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nStopped half-way; the same command goes on from here.", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
