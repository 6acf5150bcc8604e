"""``course stage``: a panel of a lesson as a page of its own, in large type."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.watched import Emit, JsonValue
    from course_lib.widgets.stage_panels import StagePanel

_FIRST_PORT = 8866
_LAST_PORT = 8965
_SECONDS_TO_END_BY_ITSELF = 3.0
_SECONDS_TO_CLEAR_UP = 8.0
_SECONDS_FOR_THE_GUARD = 1.0
_SECONDS_BETWEEN_LOOKS = 0.2
_KERNEL = "course-stage"
_GUARD = "course_lib.cli.stage:guard_task"

# Voila's own template asks another server for icon fonts, and a page without a network waits for it.
_TEMPLATE = """{%- extends 'lab/index.html.j2' -%}
{%- block notebook_css -%}
{{ super() | string | replace('<link rel="stylesheet" href="https:', '<link data-left-out="https:') | safe }}
<style>
body, #rendered_cells > div {background: #fff;}
#rendered_cells .jp-Cell, #rendered_cells .jp-OutputArea-output {padding: 0; margin: 0;}
#rendered_cells .jp-OutputPrompt, #rendered_cells .jp-InputPrompt {display: none;}
</style>
{%- endblock notebook_css -%}
"""


@click.command()
@click.argument("lesson", required=False)
@click.argument("panel", required=False)
@click.option("--list", "listed", is_flag=True, help="Say which panels there are; with LESSON, only its own.")
@click.option("--port", type=click.IntRange(1, 65535), help="Port to serve on; the next free one from 8866.")
@click.option("--no-browser", is_flag=True, help="Only print the address; open it in a browser yourself.")
def stage(lesson: str | None, panel: str | None, listed: bool, port: int | None, no_browser: bool) -> None:
    """Show a panel of a lesson to a room: one page, large type; Ctrl-C ends everything.

    A lesson with one panel needs no name. The browser's full screen (F11) leaves only the page. It needs
    no network.

    \b
    Example:
      course stage 05
      course stage 09 capacity
      course stage --list
      course stage 05 --no-browser --port 9000
    """
    number = (lesson or "").strip().zfill(2)
    if listed:
        _list_panels(number if lesson else "")
        return
    if not lesson:
        raise CourseError("There is no lesson named", next_step="see what `course stage --list` says")
    # Importing what a panel needs takes seconds.
    click.echo("Starting; the address follows when the page is there. Stop it with Ctrl-C.")
    from course_lib.widgets.stage_panels import find_panel

    chosen = find_panel(number, (panel or "").strip().lower())
    if port is not None and not _is_free(port):
        raise CourseError(
            f"Port {port} is taken by another program", next_step="leave --port out, or choose another one"
        )
    with tempfile.TemporaryDirectory(prefix="course-stage-", ignore_cleanup_errors=True) as folder:
        notebook = _write_page(Path(folder), chosen)
        served = port or _free_port()
        _serve(notebook, served, no_browser=no_browser)


def stage_command(notebook: Path, port: int, *, no_browser: bool) -> list[str]:
    """Return the command that serves one notebook as a page."""
    command = [
        sys.executable,
        "-m",
        "voila",
        str(notebook),
        f"--port={port}",
        "--template=stage",
        "--Voila.port_retries=0",
        f"--Voila.connection_dir_root={notebook.parent}",
        # A page that was closed leaves its kernel behind; one with an open page is never culled.
        "--MappingKernelManager.cull_idle_timeout=60",
        "--MappingKernelManager.cull_interval=20",
        # Warnings are about notebooks of others and networks; on one's own machine they mean nothing.
        "--Voila.log_level=ERROR",
    ]
    return [*command, *(["--no-browser"] if no_browser else [])]


def _list_panels(lesson: str) -> None:
    """Print the panels of one lesson or of all, and what has no page and why."""
    from course_lib.cli.output import print_table
    from course_lib.widgets.stage_panels import NOT_ALONE, STAGE_PANELS, find_panel, panels_of

    if lesson and not panels_of(lesson):
        find_panel(lesson)
    shown = panels_of(lesson) if lesson else STAGE_PANELS
    rows = [(f"course stage {one.lesson} {one.name}", one.about) for one in shown]
    print_table(("Command", "What it shows"), rows)
    for missing in NOT_ALONE:
        if lesson in ("", missing.lesson):
            click.echo(f"{missing.reason}.")


def _write_page(folder: Path, chosen: StagePanel) -> Path:
    """Write a notebook of one cell, its template and its kernel's description into ``folder``."""
    import nbformat

    from course_lib.files import write_atomically

    write_atomically(folder / "share" / "voila" / "templates" / "stage" / "index.html.j2", _TEMPLATE)
    write_atomically(
        folder / "share" / "voila" / "templates" / "stage" / "conf.json", '{"base_template": "lab"}'
    )
    call = f"stage_panel({chosen.lesson!r}, {chosen.name!r})"
    cell = nbformat.v4.new_code_cell(f"from course_lib.widgets.stage_panels import stage_panel\n\n{call}")
    page = nbformat.v4.new_notebook(cells=[cell])
    kernel = {"display_name": "Stage", "language": "python"}
    launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
    write_atomically(
        folder / "share" / "kernels" / _KERNEL / "kernel.json", json.dumps({**kernel, "argv": launch})
    )
    page.metadata["kernelspec"] = {**kernel, "name": _KERNEL}
    return write_atomically(folder / f"lesson {chosen.lesson} {chosen.name}.ipynb", nbformat.writes(page))


def _serve(notebook: Path, port: int, *, no_browser: bool) -> None:
    """Serve until the server ends or somebody ends it; by then its kernels are gone."""
    from course_lib.watched import WatchedProcess

    environment = _environment(notebook.parent)
    since = time.time()
    with WatchedProcess(silence_seconds=None) as guard:
        server = subprocess.Popen(
            stage_command(notebook, port, no_browser=no_browser), env=environment, cwd=notebook.parent
        )
        try:
            guard.begin(_GUARD, {"pid": server.pid, "since": since, "folder": str(notebook.parent)})
            next(guard.events(), None)
            status = _wait(server, port)
        finally:
            _end(server, since)
    if status:
        raise CourseError(
            "The page could not be served", found=f"exit status {status}", next_step="see what stands above"
        )


def _wait(server: subprocess.Popen[bytes], port: int) -> int:
    """Return the server's exit status; say where the page is as soon as the port answers."""
    while not _answers(port):
        with contextlib.suppress(subprocess.TimeoutExpired):
            return server.wait(_SECONDS_BETWEEN_LOOKS)
    click.echo(f"The page is at http://localhost:{port}/")
    return server.wait()


def guard_task(request: dict[str, JsonValue], emit: Emit) -> None:
    """Wait; when this command was killed before it could, end its server and remove its folder."""
    from course_lib.watched.tree import end_tree

    # From the first word on: whoever hears it may be killed before the next line is reached.
    try:
        emit({"kind": "at work"})
        while True:
            time.sleep(3600)
    finally:
        end_tree(request["pid"], request["since"], _SECONDS_FOR_THE_GUARD)
        shutil.rmtree(request["folder"], ignore_errors=True)


def _environment(folder: Path) -> dict[str, str]:
    """Return the server's environment: this package, this environment's kernels, and the page's template."""
    from course_lib.paths import course_home, mirror_folder

    environment = dict(os.environ)
    for name in ("COURSE_WIDGETS", "COURSE_RUN_DIR"):
        environment.pop(name, None)
    # The page is served from a folder of its own, where a relative path would mean another place.
    for name, path in (("COURSE_HOME", course_home()), ("COURSE_DATA", mirror_folder())):
        if environment.get(name, "").strip() and path is not None:
            environment[name] = str(path)
    for name, first in (
        ("PYTHONPATH", Path(__file__).resolve().parent.parent.parent),
        ("JUPYTER_PATH", folder / "share"),
    ):
        environment[name] = os.pathsep.join([str(first), *filter(None, [environment.get(name)])])
    environment.setdefault("JUPYTER_PREFER_ENV_PATH", "1")
    return environment


def _end(server: subprocess.Popen[bytes], since: float) -> None:
    """Let the server end its kernels; end it with everything else where it does not."""
    from course_lib.watched.tree import end_tree

    # A Ctrl-C in a terminal reaches the server as well, and a second signal would disturb its clearing up.
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        server.wait(_SECONDS_TO_END_BY_ITSELF if _came_from_a_terminal() else 0.0)
    with contextlib.suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
        if server.poll() is None:
            server.send_signal(signal.SIGTERM)
        server.wait(_SECONDS_TO_CLEAR_UP)
    if server.poll() is None:
        end_tree(server.pid, since, 2.0)


def _came_from_a_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("localhost", port), timeout=1).close()
    except OSError:
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        if os.name != "nt":
            # What a server left behind a moment ago does not take the port.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    for port in range(_FIRST_PORT, _LAST_PORT + 1):
        if _is_free(port):
            return port
    raise CourseError(
        f"The ports {_FIRST_PORT} to {_LAST_PORT} are all taken", next_step="name a free one with --port"
    )
