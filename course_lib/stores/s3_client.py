"""The connection of one process to an S3-compatible server; it never travels to another process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from course_lib.errors import CourseError

_KEY_PAIR = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
_OTHER_CREDENTIALS = (
    "AWS_WEB_IDENTITY_TOKEN_FILE",
    "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
)
_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")
_LONGEST_CONNECT_SECONDS = 5.0

_used_in: int | None = None
"""Process in which obstore's threads run; a forked child inherits the number, but not the threads."""


class Connection:
    """A client that is made when it is first asked for, once for each process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._client: Any = None

    def __reduce__(self) -> tuple[type[Connection], tuple[()]]:
        """Travel as a connection that is not made yet: nothing of the credentials goes along."""
        return (Connection, ())

    def client(self, make: Callable[[], Any]) -> Any:
        """Return the client.

        Raises
        ------
        CourseError
            In a process that was forked from one that had used S3 already: it would wait for ever.
        """
        global _used_in
        if _used_in not in (None, os.getpid()):
            raise CourseError(
                "S3 cannot be used in a process that was forked from one that has used it",
                expected="workers started by spawn or forkserver",
                next_step='set the start method of the workers to "forkserver" or "spawn"',
            )
        with self._lock:
            if self._client is None:
                self._client = make()
                _used_in = os.getpid()
            return self._client


def make_client(
    bucket: str, endpoint: str | None, region: str | None, timeout_seconds: float, most_retries: int
) -> Any:
    """Return obstore's client with bounded waits and retries; credentials come from the environment.

    Raises
    ------
    CourseError
        When the environment names no credentials.
    """
    from obstore.store import S3Store as Client

    _need_credentials(bucket)
    config: dict[str, Any] = {}
    if region is not None:
        config["region"] = region
    if endpoint is not None:
        config["endpoint"] = endpoint
        if os.environ.get("AWS_ENDPOINT_URL_S3"):
            # The variable would win over the endpoint that was asked for.
            config["aws_endpoint_url_s3"] = endpoint
    return Client(
        bucket,
        config=config,  # type: ignore[arg-type]
        client_options={
            "allow_http": bool(endpoint and endpoint.startswith("http://")),
            "connect_timeout": timedelta(seconds=min(timeout_seconds, _LONGEST_CONNECT_SECONDS)),
            "timeout": timedelta(seconds=timeout_seconds),
        },
        retry_config={
            "max_retries": most_retries,
            "retry_timeout": timedelta(seconds=2 * timeout_seconds),
            "backoff": {
                "init_backoff": timedelta(seconds=0.1),
                "max_backoff": timedelta(seconds=5),
                "base": 2,
            },
        },
    )


def chosen_endpoint(endpoint: str | None) -> str | None:
    """Return the endpoint, or the environment's where none is given; None stands for Amazon's own.

    Raises
    ------
    CourseError
        When it is no address of a server, or carries credentials (which the error does not repeat).
    """
    chosen = endpoint or next((value for name in _ENDPOINTS if (value := os.environ.get(name))), None)
    if chosen is None:
        return None
    try:
        parts = urlsplit(chosen)
        named = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        plain = named and not (parts.query or parts.fragment)
    except ValueError:
        plain = False
    if "@" in chosen or not plain:
        raise CourseError(
            "This is no endpoint of an S3-compatible server",
            expected="an address such as http://127.0.0.1:9000, without user name and password",
            found="one with an @ in it" if "@" in chosen else repr(chosen),
        )
    return chosen.rstrip("/")


def _need_credentials(bucket: str) -> None:
    """Refuse to begin without credentials: the client would look for a cloud machine's, and wait for it."""
    if os.environ.get("AWS_SKIP_SIGNATURE", "").lower() in ("true", "1", "yes", "on"):
        return
    if all(os.environ.get(name) for name in _KEY_PAIR):
        return
    if any(os.environ.get(name) for name in _OTHER_CREDENTIALS):
        return
    raise CourseError(
        f"There are no credentials for s3://{bucket}",
        expected=f"{' and '.join(_KEY_PAIR)} in the environment",
        next_step="set them, or set AWS_SKIP_SIGNATURE=true for a bucket that anybody may read",
    )
