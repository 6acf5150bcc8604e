"""A real S3-compatible server on this machine, one for a session, and a new bucket for each test."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from course_lib.stores import S3Store

ACCESS_KEY, SECRET_KEY = "ACCESSKEYOFATEST", "secret-of-a-test/not+shown"


@pytest.fixture(scope="session")
def s3_endpoint(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a server that works in a fresh folder and is stopped at the end."""
    if importlib.util.find_spec("moto") is None:
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail("moto must be installed in CI: tests against an S3-compatible server are not skipped")
        pytest.skip("needs an S3-compatible server: install moto[server], which is in the test extra")
    folder = tmp_path_factory.mktemp("s3 server")
    server = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("s3_server.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))},
    )
    assert server.stdin is not None and server.stdout is not None
    try:
        port = server.stdout.readline().strip()
        assert port, "the S3-compatible server did not start"
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stdin.close()
        try:
            server.wait(timeout=20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
        server.stdout.close()


@pytest.fixture
def s3_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a test's own credentials, and nothing else, where S3 clients look for them."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", ACCESS_KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)


@pytest.fixture
def s3_store(s3_endpoint: str, s3_credentials: None) -> S3Store:
    """Return a store in a new bucket, below a prefix; another object lies outside it."""
    bucket = f"test-{uuid4().hex}"
    for name in (bucket, f"{bucket}/outside.bin", f"{bucket}/prefixed.bin"):
        request = urllib.request.Request(f"{s3_endpoint}/{name}", method="PUT", data=b"")
        urllib.request.urlopen(request, timeout=30).close()
    return S3Store(bucket, "pre/fix", endpoint=s3_endpoint)
