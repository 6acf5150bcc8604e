"""What every file keeps to: lint, types, notebooks without outputs, no paths of one machine."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
TEXT_SUFFIXES = {".py", ".md", ".ipynb", ".toml", ".yml", ".yaml", ".json", ".csv", ".sh", ""}
LEARNERS_FOLDERS = {"runs", "build", "dist"}


def files_of_the_workbook() -> Iterator[Path]:
    for entry in ROOT.iterdir():
        if entry.is_file():
            yield entry
        elif entry.name == ".ci" or not (entry.name.startswith(".") or entry.name in LEARNERS_FOLDERS):
            yield from (
                path for path in entry.rglob("*") if path.is_file() and ".ipynb_checkpoints" not in path.parts
            )


def staged(path: Path) -> str:
    """Return a file as it would be committed: a learner's own copy on the disk may well hold outputs."""
    command = ["git", "show", f":./{path.relative_to(ROOT).as_posix()}"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return path.read_text(encoding="utf-8")
    return done.stdout.decode("utf-8")


def run_tool(*command: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_ruff_check() -> None:
    # A notebook in which somebody has worked is theirs: only the committed text has to be clean.
    run_tool("ruff", "check", "--no-cache", "--exclude", "*.ipynb", ".")


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_ruff_check_of_committed_notebook(notebook: Path, tmp_path: Path) -> None:
    copy = tmp_path / notebook.name
    copy.write_text(staged(notebook), encoding="utf-8")
    run_tool("ruff", "check", "--no-cache", "--config", str(ROOT / "pyproject.toml"), str(copy))


def test_ruff_format() -> None:
    run_tool("ruff", "format", "--no-cache", "--check", "--exclude", "*.ipynb", ".")


def test_types(tmp_path: Path) -> None:
    run_tool("mypy", "--cache-dir", str(tmp_path))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_has_no_outputs(notebook: Path) -> None:
    content = json.loads(staged(notebook))
    code_cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert code_cells
    assert not [cell["source"] for cell in code_cells if cell["outputs"] or cell["execution_count"]]
    assert "widgets" not in content["metadata"]
    assert content["metadata"]["kernelspec"]["name"] == "python3"


def test_no_paths_of_one_machine() -> None:
    places = re.compile(r"(?<![\w.:/<>-])/(?:home|Users|root|work)/\w+|[A-Z]:\\\\?Users\\")
    found = {
        str(path.relative_to(ROOT)): match[0]
        for path in files_of_the_workbook()
        if path.suffix in TEXT_SUFFIXES
        and path != Path(__file__)
        and (match := places.search(path.read_text(encoding="utf-8")))
    }
    assert found == {}
