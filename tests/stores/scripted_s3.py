"""A server that answers S3 requests as a test tells it to, and counts them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Request:
    """What was asked; ``number`` counts from 0."""

    method: str
    path: str
    headers: dict[str, str]
    number: int

    @property
    def span(self) -> tuple[int, int]:
        """First byte of the range asked for, and the one after its last."""
        first, _, last = self.headers["range"].removeprefix("bytes=").partition("-")
        return int(first), int(last) + 1


@dataclass
class Answer:
    """What is answered; ``promised`` bytes are announced where the body is to break off before them."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    promised: int | None = None


def part_of(request: Request, size: int, tag: str, body: bytes) -> Answer:
    """Answer a range of an object of ``size`` bytes."""
    start, stop = request.span
    return Answer(206, body, {**facts(tag), "Content-Range": f"bytes {start}-{stop - 1}/{size}"})


def facts(tag: str) -> dict[str, str]:
    """Return the headers that every object has."""
    return {"ETag": f'"{tag}"', "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT"}


def failure(status: int, code: str, more: str = "") -> Answer:
    """Answer as S3 does when it refuses."""
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>words</Message>{more}</Error>"
    return Answer(status, body.encode())


@contextmanager
def scripted_s3(answer: Callable[[Request], Answer | None]) -> Iterator[tuple[str, list[Request]]]:
    """Yield the address of a server, and the requests it has met; for None it never answers."""
    met: list[Request] = []
    over = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            try:
                super().handle_one_request()
            except OSError:
                self.close_connection = True

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, len(met))
            met.append(request)
            told = answer(request)
            if told is None:
                over.wait(60)
                self.close_connection = True
                return
            self.send_response(told.status)
            headers = {"Content-Length": str(len(told.body) if told.promised is None else told.promised)}
            for name, value in {**headers, **told.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(told.body)
            self.close_connection = told.promised is not None

        do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", met
    finally:
        over.set()
        server.shutdown()
        server.server_close()
        thread.join()
