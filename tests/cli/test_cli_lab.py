from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from course_lib.cli import lab as lab_module
from course_lib.cli.lab import lab, lab_command


def test_lab_opens_the_first_notebook_of_this_environment(tmp_path: Path) -> None:
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "00_start_here.ipynb").touch()
    command = lab_command(tmp_path, no_browser=True, port=9000, further=("--ServerApp.ip=0.0.0.0",))
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert f"--ServerApp.root_dir={tmp_path}" in command
    assert "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb" in command
    assert {"--no-browser", "--ServerApp.port=9000", "--ServerApp.answer_yes=True"} <= set(command)
    assert command[-1] == "--ServerApp.ip=0.0.0.0"


def test_lab_keeps_its_settings_and_open_tabs_in_the_course_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "home"))
    command = lab_command(tmp_path, no_browser=True, port=None, further=())
    for place in ("workspaces_dir", "user_settings_dir"):
        (folder,) = (word.partition("=")[2] for word in command if word.startswith(f"--LabApp.{place}="))
        assert (tmp_path / "home").resolve() in Path(folder).parents


def test_a_place_that_was_chosen_for_settings_is_named_once(tmp_path: Path) -> None:
    own = f"--LabApp.user_settings_dir={tmp_path}"
    command = lab_command(tmp_path, no_browser=True, port=None, further=(own,))
    assert [word for word in command if word.startswith("--LabApp.user_settings_dir")] == [own]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there is no root on this system")
@pytest.mark.parametrize(("user", "expected"), [(0, True), (1000, False)])
def test_root_is_allowed_and_others_need_no_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: int, expected: bool
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert ("--allow-root" in lab_command(tmp_path, no_browser=False, port=None, further=())) is expected


def test_course_defaults_are_added_to_the_users_own_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(lab_module, "become", lambda command, folder: started.append(command))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "my-own")
    monkeypatch.delenv("JUPYTER_PREFER_ENV_PATH", raising=False)
    outcome = CliRunner().invoke(lab, ["--port", "9001", "--debug"])
    assert outcome.exit_code == 0, outcome.output
    course_defaults, own = os.environ["JUPYTER_CONFIG_PATH"].split(os.pathsep)
    assert own == "my-own"
    assert (Path(course_defaults) / "labconfig" / "default_setting_overrides.json").is_file()
    assert started[0][-1] == "--debug"
