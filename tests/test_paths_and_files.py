"""Folders that cannot be used and text that cannot be written are told in one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.paths import course_home, mirror_folder


def test_an_unknown_user_in_a_folder_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, ask in (("COURSE_HOME", course_home), ("COURSE_DATA", mirror_folder)):
        monkeypatch.setenv(variable, "~nosuchuser/x")
        with pytest.raises(CourseError, match=f"{variable} does not name a folder.*~nosuchuser/x"):
            ask()


def test_a_name_that_is_too_long_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / ("x" * 300)))
    with pytest.raises(CourseError, match="COURSE_DATA does not name a folder"):
        mirror_folder()


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links, and folders removed while in use")
def test_links_in_a_ring_and_a_removed_working_folder_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "ring").symlink_to(tmp_path / "ring")
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "ring"))
    with pytest.raises(CourseError, match="COURSE_DATA does not name a folder"):
        mirror_folder()
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    monkeypatch.setenv("COURSE_HOME", "here")
    with pytest.raises(CourseError, match="COURSE_HOME does not name a folder"):
        course_home()


def test_a_folder_that_may_not_be_looked_at_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(self: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "is_dir", refuse)
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    with pytest.raises(CourseError, match=r"COURSE_DATA .*Permission denied"):
        mirror_folder()


def test_text_that_no_encoding_holds_leaves_the_old_file(tmp_path: Path) -> None:
    path = write_atomically(tmp_path / "note.txt", "old")
    with pytest.raises(CourseError, match=r"could not be written.*at character 2"):
        write_atomically(path, "a\udcff")
    assert path.read_text(encoding="utf-8") == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["note.txt"]
