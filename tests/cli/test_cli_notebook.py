from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def commit_all(workbook: Any) -> None:
    for words in (
        ("init", "--quiet"),
        ("add", "notebooks"),
        ("-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "As published"),
    ):
        subprocess.run(["git", *words], cwd=workbook.root, check=True)


@pytest.mark.parametrize("name", ["01", "1", "01_first"])
def test_restore_writes_the_published_one_beside_the_damaged(workbook: Any, name: str) -> None:
    notebook = workbook.add_notebook("01_first.ipynb", "1 + 1")
    published = notebook.read_bytes()
    commit_all(workbook)
    notebook.write_text("{ damaged", encoding="utf-8")
    done = workbook.course("notebook", "restore", name)
    assert done.returncode == 0, done.stderr
    assert notebook.with_name("01_first.restored.ipynb").read_bytes() == published
    assert notebook.read_text(encoding="utf-8") == "{ damaged"


def test_restore_never_writes_over_an_earlier_copy_and_finds_deleted_notebooks(workbook: Any) -> None:
    notebook = workbook.add_notebook("01_first.ipynb", "1 + 1")
    commit_all(workbook)
    notebook.unlink()
    for _ in range(2):
        assert workbook.course("notebook", "restore", "01").returncode == 0
    assert sorted(path.name for path in notebook.parent.glob("*.ipynb")) == [
        "01_first.restored-2.ipynb",
        "01_first.restored.ipynb",
    ]


def test_restored_copies_are_no_lessons(workbook: Any) -> None:
    workbook.add_notebook("01_first.ipynb", "1 + 1")
    commit_all(workbook)
    workbook.course("notebook", "restore", "01")
    done = workbook.course("run", "02")
    assert "expected one of 01 (first);" in done.stderr
