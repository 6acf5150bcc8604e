"""A small workbook of its own for the command line: the package, and notebooks made for the test."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

START = "import sys; sys.path.insert(0, {root!r}); from course_lib.cli.main import main; main()"


class ScratchWorkbook:
    """A folder with a space and a letter beyond ASCII in its name, with notebooks of the test's own."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root = root
        self.home = home
        shutil.copytree(
            ROOT / "course_lib", root / "course_lib", ignore=shutil.ignore_patterns("__pycache__")
        )
        shutil.copytree(ROOT / "data_manifests", root / "data_manifests")
        shutil.copytree(ROOT / "labconfig", root / "labconfig")
        (root / "notebooks" / "instructor").mkdir(parents=True)

    def add_notebook(self, name: str, *cells: str) -> Path:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        notebook.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3",
            "language": "python",
        }
        path = self.root / "notebooks" / name
        path.write_text(nbformat.writes(notebook), encoding="utf-8")
        return path

    def process(self, *arguments: str, **environment: str) -> dict[str, Any]:
        return {
            "args": [sys.executable, "-I", "-X", "utf8", "-c", START.format(root=str(self.root)), *arguments],
            "cwd": self.root.parent,
            "env": {**os.environ, "COURSE_HOME": str(self.home), "PYTHONUTF8": "1", **environment},
            "text": True,
            "encoding": "utf-8",
        }

    def course(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(**self.process(*arguments, **environment), capture_output=True, timeout=300)

    def runs(self) -> list[Path]:
        return sorted((self.root / "runs").glob("*"))


@pytest.fixture
def workbook(tmp_path: Path, course_home: Path) -> ScratchWorkbook:
    """Return a scratch workbook; its command runs in processes of its own."""
    return ScratchWorkbook(tmp_path / "mein Übungsbuch", course_home)
