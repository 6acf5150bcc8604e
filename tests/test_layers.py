"""Imports point downwards only, and importing the package costs next to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

HEAVY = {
    "torch", "torchvision", "datasets", "sklearn", "pandas", "numpy", "matplotlib", "mlcroissant",
    "ipywidgets", "IPython", "pydantic", "nbclient", "rich", "psutil", "pooch", "yaml",
}  # fmt: skip


def test_imports_point_downwards() -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as lint; lint()"]
    done = subprocess.run(
        [*command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 kept, 0 broken" in done.stdout


@pytest.mark.parametrize("module", ["course_lib", "course_lib.cli.main"])
def test_import_loads_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sorted({{name.partition('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not HEAVY & set(done.stdout.split())
