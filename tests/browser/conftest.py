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
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Locator, Page, expect, sync_playwright

from course_lib.experiments.browser import find_chromium

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_SECONDS = 120
OURS = (".course-panel", ".course-static", ".course-view")

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
TRIES = 12
BETWEEN_TRIES_MS = 500

# One task of the browser: nothing that the kernel sends can come in between.
PRESS = """
(handle, key) => {
  const panel = handle.closest(".course-panel");
  const box = handle.closest(".course-control").querySelector(".course-typed input");
  const view = () => panel.querySelector(".course-view:not(.course-pinned)");
  const look = () => [view().textContent, box.value];
  const before = look();
  handle.focus();
  handle.dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
  return [before, look()];
}"""
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

    def kernel_is_idle(self, name: str) -> bool:
        """Tell whether a notebook's own kernel is there, connected and idle; others may be busy."""
        own = [session["kernel"] for session in self.api("sessions") if session["path"].endswith(name)]
        return bool(own) and all(
            kernel["execution_state"] == "idle" and kernel["connections"] > 0 for kernel in own
        )

    def shut_kernels_down(self) -> None:
        for session in self.api("sessions"):
            request = urllib.request.Request(
                f"{self.address}/api/sessions/{session['id']}?token={self.token}", method="DELETE"
            )
            urllib.request.urlopen(request, timeout=30).close()


class OpenNotebook:
    """One notebook in the browser."""

    def __init__(self, page: Page, server: LabServer, name: str) -> None:
        self.page = page
        self.server = server
        self.name = name

    def run_all(self, patience_seconds: float = PATIENCE_SECONDS) -> None:
        """Run every cell from the menu and wait for the last one, or for an error that stops them."""
        self.begin_all()
        prompts = self.page.locator(".jp-Notebook:visible .jp-CodeCell .jp-InputPrompt")
        wait_for(
            lambda: finished(prompts.all_inner_texts()) or self.stopped(),
            "the last cell's end",
            patience_seconds,
        )

    def begin_all(self) -> None:
        """Run every cell from the menu once the kernel is there, and don't wait for them."""
        cells = self.page.locator(".jp-Notebook:visible .jp-CodeCell")
        wait_for(cells.count, "the notebook's cells on the page")
        wait_for(lambda: self.server.kernel_is_idle(self.name), "a connected kernel")
        self.page.wait_for_timeout(500)
        self.choose("Run", "Run All Cells")

    def choose(self, menu: str, *items: str) -> None:
        """Choose an item of a menu of JupyterLab; each before the last one opens a menu of its own."""
        self.page.get_by_role("menuitem", name=menu, exact=True).click()
        for item in items:
            self.page.locator(".lm-Menu-itemLabel").get_by_text(item, exact=True).click()

    def saved(self) -> Path:
        """Save the notebook from the menu and return its file, which is no longer the repository's."""
        file = self.server.root / "notebooks" / self.name
        before = (ROOT / "notebooks" / self.name).read_bytes()
        self.choose("File", "Save Notebook")
        wait_for(lambda: file.read_bytes() != before, "a saved notebook")
        return file

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

    def panel(self, title: str) -> Locator:
        """Return the panel of a title, by its name for screen readers."""
        return self.page.get_by_role("group", name=title, exact=True)

    def accessibility_findings(self) -> list[str]:
        """Return what axe finds in the workbook's own parts of the page, one line for each element."""
        context = {"include": [[part] for part in OURS if self.page.locator(part).count()]}
        assert context["include"], "nothing of the workbook is on the page"
        found = Axe().run(self.page, context=context)
        return [
            f"{rule['impact']}: {rule['id']} in {element['html'][:200]}"
            for rule in found.response["violations"]
            for element in rule["nodes"]
        ]


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
        expect.set_options(timeout=PATIENCE_SECONDS * 1000)
        yield context
        context.close()


def _opening(server: LabServer, browser: BrowserContext) -> Iterator[Callable[..., OpenNotebook]]:
    """Open notebooks of the served copy by their names; without sources, as they lie there."""
    pages: list[Page] = []

    def open_one(name: str, sources: Sequence[str] = ()) -> OpenNotebook:
        if sources:
            cells = [nbformat.v4.new_code_cell(source) for source in sources]
            notebook = nbformat.v4.new_notebook(cells=cells)
            kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
            notebook.metadata["kernelspec"] = kernel
            (server.root / "notebooks" / name).write_text(nbformat.writes(notebook), encoding="utf-8")
        page = browser.new_page()
        pages.append(page)
        page.goto(f"{server.address}/lab/tree/notebooks/{name}?reset&token={server.token}")
        return OpenNotebook(page, server, name)

    yield open_one
    for page in pages:
        page.close()
    server.shut_kernels_down()


@pytest.fixture
def open_notebook(lab_server: LabServer, browser: BrowserContext) -> Iterator[Callable[..., OpenNotebook]]:
    """Open notebooks for one test."""
    yield from _opening(lab_server, browser)


@pytest.fixture(scope="module")
def open_for_all(lab_server: LabServer, browser: BrowserContext) -> Iterator[Callable[..., OpenNotebook]]:
    """Open notebooks that all tests of a module look at."""
    yield from _opening(lab_server, browser)


def press_at_once(slider: Locator, key: str) -> tuple[list[str], list[str]]:
    """Press a key; return view and box before it, and after it in the same task of the browser."""
    before, after = slider.evaluate(PRESS, key)
    return before, after


@pytest.fixture
def press_key() -> Callable[[Locator, str], tuple[list[str], list[str]]]:
    """Return what presses a key, see `press_at_once`."""
    return press_at_once


@pytest.fixture
def shown_at_once() -> Callable[[Locator], list[str]]:
    """Press keys on a slider, to and fro, until one shows its numbers in the same task of the browser.

    Returns what view and box hold after it.
    """

    def press(slider: Locator) -> list[str]:
        for number in range(TRIES):
            before, after = press_at_once(slider, ["ArrowRight", "ArrowLeft"][number % 2])
            if after[0] != before[0]:
                assert after[1] != before[1], "the box did not follow"
                return list(after)
            slider.page.wait_for_timeout(BETWEEN_TRIES_MS)
        pytest.fail("no key press showed anything before the kernel answered")

    return press
