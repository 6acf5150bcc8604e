"""Shared by all tests: nothing touches the learner's own data, and real data are asked for by name."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

_MIRROR = os.environ.get("COURSE_DATA", "").strip()
_IN_CI = os.environ.get("CI", "").lower() == "true"

# A shell starts background jobs with SIGINT ignored, and children inherit that: Ctrl-C would do nothing.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def course_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give each test a home of its own, and no mirror unless it asks for one."""
    home = tmp_path_factory.mktemp("course home")
    monkeypatch.setenv("COURSE_HOME", str(home))
    monkeypatch.delenv("COURSE_DATA", raising=False)
    monkeypatch.delenv("COURSE_RUN_DIR", raising=False)
    return home


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the real data and set ``COURSE_DATA`` to it; skip where there is none."""
    if not _MIRROR:
        if _IN_CI:
            pytest.fail("COURSE_DATA must name the mirror in CI: tests on real data are not skipped there")
        pytest.skip("needs the real data: set COURSE_DATA to a mirror folder")
    monkeypatch.setenv("COURSE_DATA", str(Path(_MIRROR).resolve()))
    return Path(_MIRROR).resolve()
