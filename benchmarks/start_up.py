"""What starting costs: importing the package, the command line, and a second `course.py`.

Every candidate is a fresh process; they take turns, so that a busy machine slows all of them alike.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

CANDIDATES = {
    "python -c pass": ["-c", "pass"],
    "python -c 'import course_lib'": ["-c", "import course_lib"],
    "python -c 'import click'": ["-c", "import click"],
    "course --version": ["-I", "-m", "course_lib.cli", "--version"],
    "course.py --version": [str(ROOT / "course.py"), "--version"],
    "python -c 'import numpy'": ["-c", "import numpy"],
}


def seconds_of(arguments: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started


def measure(repeats: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {name: [] for name in CANDIDATES}
    for arguments in CANDIDATES.values():
        seconds_of(arguments)
    for _ in range(repeats):
        for name, arguments in CANDIDATES.items():
            seconds[name].append(seconds_of(arguments))
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    seconds = measure(parser.parse_args().repeats)
    bare = statistics.median(seconds["python -c pass"])
    print(f"{'start of':32} {'median':>9} {'range':>19} {'ratio to bare':>14}")
    for name, values in seconds.items():
        median = statistics.median(values)
        spread = f"{min(values) * 1000:.0f} to {max(values) * 1000:.0f} ms"
        print(f"{name:32} {median * 1000:>6.0f} ms {spread:>19} {median / bare:>13.2f}x")


if __name__ == "__main__":
    main()
