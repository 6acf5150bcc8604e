"""A file server on this machine that misbehaves on demand, and a small published file."""

from __future__ import annotations

import contextlib
import hashlib
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from course_lib.manifests import PublishedFile

CONTENT = bytes(range(256)) * 4000


class Publisher:
    """What the server does with a path is in the path's first part; requests are counted by path."""

    def __init__(self) -> None:
        self.requests: Counter[str] = Counter()
        self.asked = threading.Event()
        self.go_on = threading.Event()
        publisher = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                publisher.requests[self.path] += 1
                publisher.answer(self, self.path.split("/")[1], publisher.requests[self.path])

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def file(self, behaviour: str, **changes: object) -> PublishedFile:
        described = {
            "name": "letters.bin",
            "url": f"http://127.0.0.1:{self._server.server_port}/{behaviour}/letters.bin",
            "sha256": hashlib.sha256(CONTENT).hexdigest(),
            "bytes": len(CONTENT),
            "mirror_path": "demo/letters.bin",
        }
        return PublishedFile(**(described | changes))

    def answer(self, handler: BaseHTTPRequestHandler, behaviour: str, count: int) -> None:
        status = {"missing": 404, "second": 500 if count == 1 else 200}.get(behaviour, 200)
        handler.send_response(status)
        if behaviour != "endless":
            handler.send_header("Content-Length", str(len(CONTENT)))
        handler.end_headers()
        if status != 200:
            handler.wfile.write(CONTENT)
            return
        if behaviour in ("cut", "cut_once") and (behaviour == "cut" or count == 1):
            handler.wfile.write(CONTENT[: len(CONTENT) * 9 // 10])
        elif behaviour == "endless":
            with contextlib.suppress(OSError):
                while not self.go_on.is_set():
                    handler.wfile.write(CONTENT)
        elif behaviour == "drip":
            with contextlib.suppress(OSError):
                while not self.go_on.wait(0.02):
                    handler.wfile.write(b".")
        elif behaviour == "wrong":
            handler.wfile.write(CONTENT[:-1] + b"!")
        elif behaviour in ("stall", "held"):
            handler.wfile.write(CONTENT[: len(CONTENT) // 2])
            handler.wfile.flush()
            self.asked.set()
            self.go_on.wait(60)
            if behaviour == "held":
                handler.wfile.write(CONTENT[len(CONTENT) // 2 :])
        else:
            handler.wfile.write(CONTENT)

    def close(self) -> None:
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def publisher():
    server = Publisher()
    yield server
    server.close()


@pytest.fixture
def no_waiting(monkeypatch):
    """Let retries follow at once, and a silent server be given up soon."""
    import pooch.core

    waits: list[float] = []
    monkeypatch.setattr(pooch.core, "time", SimpleNamespace(sleep=waits.append))
    monkeypatch.setattr("course_lib.datasets.downloads.TIMEOUT_SECONDS", 0.3)
    return waits
