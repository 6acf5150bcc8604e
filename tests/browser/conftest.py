"""The workbook as a person meets it: `course lab` on a copy of the folder, in a real Chromium."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Locator, Page, sync_playwright

from course_lib.experiments.browser import find_chromium

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_SECONDS = 120

QUIET_FLAGS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
START = "import sys; sys.path.insert(0, {root!r}); from course_lib.cli.main import main; main()"


def wait_for(condition: Callable[[], Any], what: str, patience_seconds: float = PATIENCE_SECONDS) -> Any:
    """Return the first truthy answer of ``condition``."""
    deadline = time.monotonic() + patience_seconds
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            answer = condition()
            if answer:
                return answer
        time.sleep(0.1)
    pytest.fail(f"{what} did not happen within {patience_seconds} seconds")


class LabServer:
    """A running JupyterLab with its address, the folder it serves and the learner's own folder."""

    def __init__(self, port: int, token: str, root: Path, home: Path) -> None:
        self.address = f"http://localhost:{port}"
        self.token = token
        self.root = root
        self.home = home

    def api(self, path: str) -> Any:
        with urllib.request.urlopen(f"{self.address}/api/{path}?token={self.token}", timeout=10) as answer:
            return json.load(answer)

    def kernel_is_idle(self) -> bool:
        kernels = self.api("kernels")
        return bool(kernels) and all(
            kernel["execution_state"] == "idle" and kernel["connections"] > 0 for kernel in kernels
        )

    def shut_kernels_down(self) -> None:
        for session in self.api("sessions"):
            request = urllib.request.Request(
                f"{self.address}/api/sessions/{session['id']}?token={self.token}", method="DELETE"
            )
            urllib.request.urlopen(request, timeout=30).close()


class OpenNotebook:
    """One notebook in the browser."""

    def __init__(self, page: Page, server: LabServer) -> None:
        self.page = page
        self.server = server

    def run_all(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """Run every cell from the menu and wait for the last one, or for an error that stops them."""
        cells = self.page.locator(".jp-Notebook:visible .jp-CodeCell")
        wait_for(cells.count, "the notebook's cells on the page")
        wait_for(self.server.kernel_is_idle, "a connected kernel")
        self.page.wait_for_timeout(500)
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        prompts = self.page.locator(".jp-Notebook:visible .jp-CodeCell .jp-InputPrompt")
        wait_for(
            lambda: finished(prompts.all_inner_texts()) or self.stopped(),
            "the last cell's end",
            patience_seconds,
        )

    def stopped(self) -> bool:
        """Tell whether a cell ended in an error."""
        return self.page.locator('[data-mime-type="application/vnd.jupyter.error"]').count() > 0

    def errors(self) -> list[str]:
        """Return what cells printed as errors."""
        kinds = ("application/vnd.jupyter.stderr", "application/vnd.jupyter.error")
        outputs = self.page.locator(", ".join(f'.jp-RenderedText[data-mime-type="{kind}"]' for kind in kinds))
        return outputs.all_inner_texts()

    def panels(self) -> Locator:
        return self.page.locator(".course-panel")


def finished(prompts: list[str]) -> bool:
    """Tell from the prompts, such as "[12]:", whether every cell has run; "[*]:" still runs or waits."""
    numbers = [prompt.strip().strip("[]:") for prompt in prompts]
    return bool(numbers) and all(number.isdigit() for number in numbers)


@pytest.fixture(scope="session")
def chromium() -> Path:
    found = find_chromium()
    if found is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail("CI must have a Chromium: browser tests are not skipped there")
        pytest.skip("needs a browser of the Chromium family; COURSE_BROWSER may name one")
    return found


@pytest.fixture(scope="session")
def lab_server(chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabServer]:
    """Serve a copy of the workbook by its own command; Ctrl-C has to end it."""
    root = tmp_path_factory.mktemp("browser") / "my workbook"
    for name in ("course_lib", "data_manifests", "labconfig", "notebooks"):
        shutil.copytree(
            ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
        )
    home = tmp_path_factory.mktemp("browser home")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = LabServer(port, secrets.token_hex(16), root, home)
    environment = {**os.environ, "COURSE_HOME": str(home), "PYTHONUTF8": "1"}
    environment.pop("COURSE_DATA", None)
    command = [sys.executable, "-I", "-c", START.format(root=str(root)), "lab", "--no-browser"]
    command += ["--port", str(port), f"--IdentityProvider.token={server.token}"]
    log = tmp_path_factory.mktemp("browser log") / "lab.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT) as process,
    ):
        try:
            wait_for(lambda: process.poll() is not None or server.api("status"), "JupyterLab's start")
            assert process.poll() is None, log.read_text(encoding="utf-8", errors="replace")
            yield server
        finally:
            process.terminate() if os.name == "nt" else process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                pytest.fail("Ctrl-C did not stop `course lab`")


# One for each module: while it is open, Playwright keeps an event loop running in the tests' thread.
@pytest.fixture(scope="module")
def browser(chromium: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    with sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            str(tmp_path_factory.mktemp("profile")),
            executable_path=str(chromium),
            headless=True,
            viewport={"width": 1280, "height": 1000},
            args=list(QUIET_FLAGS),
        )
        context.set_default_timeout(PATIENCE_SECONDS * 1000)
        yield context
        context.close()


@pytest.fixture
def open_notebook(lab_server: LabServer, browser: BrowserContext) -> Iterator[Callable[[str], OpenNotebook]]:
    """Open notebooks of the served copy by their names."""
    pages: list[Page] = []

    def open_one(name: str) -> OpenNotebook:
        page = browser.new_page()
        pages.append(page)
        page.goto(f"{lab_server.address}/lab/tree/notebooks/{name}?reset&token={lab_server.token}")
        return OpenNotebook(page, lab_server)

    yield open_one
    for page in pages:
        page.close()
    lab_server.shut_kernels_down()
