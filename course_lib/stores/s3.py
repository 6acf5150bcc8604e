"""A store over a bucket of an S3-compatible server, by obstore."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

from course_lib.errors import CourseError
from course_lib.stores.s3_client import Connection, chosen_endpoint, make_client
from course_lib.stores.s3_errors import (
    Trouble,
    changed_object,
    missing_bucket,
    missing_object,
    sentence,
    short_object,
    trouble_of,
)
from course_lib.stores.store import StoreStat, checked_name

_T = TypeVar("_T")

_PART_BYTES = 8 << 20
_PARTS_AT_ONCE = 4
_MOST_PARTS = 10_000
_LONGEST_KEY_BYTES = 1024
_LARGEST_OFFSET = (1 << 63) - 1
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")


@dataclass(frozen=True)
class S3Store:
    """The objects of a bucket whose keys begin with a prefix, under the rest of their keys.

    It is opened when it is first used, in each process anew. Credentials come from the environment alone
    (``AWS_ACCESS_KEY_ID`` and ``AWS_SECRET_ACCESS_KEY``, a token file or a container's address, or
    ``AWS_SKIP_SIGNATURE=true`` for public data), and are kept nowhere else. A process that is forked from one
    that has used S3 cannot use it: start workers by ``"spawn"`` or ``"forkserver"``.

    Objects above 8 MiB are moved in parts, four at a time, so that no request has to move more than that in
    its time limit; a read in parts asks for one version of the object. An upload that dies leaves no object,
    only parts that nobody sees, until the bucket's own rule clears them.

    Parameters
    ----------
    bucket : str
    prefix : str, optional
        A folder in the bucket; nothing outside it is seen.
    endpoint : str, optional
        Address of the server, such as ``http://127.0.0.1:9000``; where left out, the one that the environment
        names (``AWS_ENDPOINT_URL``), or Amazon's.
    region : str, optional
        Where left out, that of the environment.
    timeout_seconds : float
        Longest time for one request.
    most_retries : int
        How often a request that met a server's fault or a broken connection is tried again, for at most twice
        the time limit.

    Raises
    ------
    CourseError
        For a bucket, prefix, endpoint or limit that cannot be.
    """

    bucket: str
    prefix: str = ""
    _: KW_ONLY
    endpoint: str | None = None
    region: str | None = None
    timeout_seconds: float = 30.0
    most_retries: int = 3
    _connection: Connection = field(default_factory=Connection, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not _BUCKET.fullmatch(self.bucket):
            raise CourseError(
                "This is no name of a bucket",
                expected="3 to 63 lower-case letters, digits, dots and hyphens",
                found="one with an @ in it" if "@" in self.bucket else repr(self.bucket),
            )
        if not (0 < self.timeout_seconds <= 3600 and 0 <= self.most_retries <= 100):
            raise CourseError(
                "The limits of this S3 store are out of range",
                expected="a time limit above 0 and up to 3,600 s, and 0 to 100 retries",
                found=f"{self.timeout_seconds:g} s and {self.most_retries:,}",
            )
        prefix = self.prefix.strip("/")
        object.__setattr__(self, "prefix", checked_name(prefix) if prefix else "")
        object.__setattr__(self, "endpoint", chosen_endpoint(self.endpoint))

    def __str__(self) -> str:
        """Return the address that `open_store` takes."""
        place = f"s3://{self.bucket}/{self.prefix}".rstrip("/")
        named = {"endpoint": self.endpoint, "region": self.region}
        query = "&".join(f"{name}={quote(value, safe=':/')}" for name, value in named.items() if value)
        return f"{place}?{query}" if query else place

    def list(self, prefix: str = "") -> list[str]:
        """Return the names that begin with ``prefix``, sorted; hidden files and folders are left out.

        So are the empty objects that stand for folders which hold something.

        Raises
        ------
        CourseError
            When the bucket is not there or cannot be listed, or the prefix leads out of the store.
        """
        import obstore

        inside = prefix.rpartition("/")[0]
        inside = checked_name(inside) if inside else ""
        folder = "/".join(part for part in (self.prefix, inside) if part)

        def sizes(client: Any) -> dict[str, int]:
            pages = obstore.list(client, prefix=folder or None)
            return {entry["path"]: entry["size"] for page in pages for entry in page}

        found = self._asked(f"{self}", "listed", sizes)
        folders = {key.rpartition("/")[0] for key in found}
        before = f"{self.prefix}/" if self.prefix else ""
        below = f"{folder}/" if folder else ""
        return sorted(
            key[len(before) :]
            for key, size in found.items()
            if key.startswith(before + prefix)
            and "/." not in f"/{key[len(below) :]}"
            and (size or key not in folders)
        )

    def stat(self, name: str) -> StoreStat:
        """Return what is known of an object without reading it.

        Raises
        ------
        CourseError
            When it is not there.
        """
        return StoreStat(self._head(name)["size"])

    def read(self, name: str) -> bytes:
        """Return all bytes of an object.

        Raises
        ------
        CourseError
            When it is not there, cannot be read, or is replaced while it is read in parts.
        """
        import obstore

        key = self._key(name)

        def whole(client: Any) -> tuple[bytes | None, Any]:
            answer = obstore.get(client, key)
            small = answer.meta["size"] <= _PART_BYTES
            return (answer.bytes().to_bytes() if small else None), answer.meta

        payload, meta = self._asked(self._title(name), "read", whole)
        return payload if payload is not None else self._in_parts(name, meta, 0, meta["size"])

    def read_range(self, name: str, start: int, length: int) -> bytes:
        """Return ``length`` bytes from ``start``.

        Raises
        ------
        CourseError
            When the object is not there, cannot be read, ends before, or is replaced while it is read in
            parts.
        """
        what = self._title(name)
        if start < 0 or length < 0:
            raise CourseError(
                f"{what} could not be read",
                expected="a start and a length of 0 or more",
                found=f"{length:,} bytes from byte {start:,}",
            )
        if 0 < length <= _PART_BYTES and start + length <= _LARGEST_OFFSET:
            payload, _ = self._part(name, start, start + length, None)
            if len(payload) == length:
                return payload
        # Beyond one part, and for what came short, the object's size decides.
        meta = self._head(name)
        if length and start + length > meta["size"]:
            raise short_object(what, start, length, max(meta["size"] - start, 0))
        return self._in_parts(name, meta, start, start + length)

    def write(self, name: str, payload: bytes) -> None:
        """Write an object; here it is published, since a bucket knows no object in part.

        Raises
        ------
        CourseError
            When the server does not take it.
        """
        self.publish(name, payload)

    def publish(self, name: str, payload: bytes) -> None:
        """Write an object so that it is there whole or not at all; nothing is renamed.

        Raises
        ------
        CourseError
            When the server does not take it.
        """
        import obstore

        key = self._key(name)
        chunk_size = max(_PART_BYTES, -(-len(payload) // _MOST_PARTS))
        self._asked(
            self._title(name),
            "written",
            lambda client: obstore.put(
                client, key, payload, chunk_size=chunk_size, max_concurrency=_PARTS_AT_ONCE
            ),
        )

    def delete(self, name: str) -> None:
        """Remove an object; one that is not there stays so.

        Raises
        ------
        CourseError
            When the server does not allow it.
        """
        import obstore

        key = self._key(name)
        self._asked(self._title(name), "removed", lambda client: obstore.delete(client, key))

    def _in_parts(self, name: str, meta: Any, start: int, stop: int) -> bytes:
        """Return a range of the version of an object that ``meta`` describes."""

        def part(begin: int) -> bytes:
            end = min(begin + _PART_BYTES, stop)
            payload, found = self._part(name, begin, end, meta["e_tag"])
            # Not every server heeds the wish for one version.
            same = found is not None and all(found[fact] == meta[fact] for fact in ("e_tag", "size"))
            if not same or len(payload) != end - begin:
                raise changed_object(self._title(name))
            return payload

        begins = range(start, stop, _PART_BYTES)
        with ThreadPoolExecutor(min(_PARTS_AT_ONCE, len(begins)) or 1) as readers:
            return b"".join(readers.map(part, begins))

    def _part(self, name: str, start: int, stop: int, tag: str | None) -> tuple[bytes, Any]:
        """Return what there is of a range, and the facts of its object; nothing past the end."""
        import obstore

        key = self._key(name)
        options: dict[str, Any] = {"range": (start, stop)}
        if tag is not None:
            options["if_match"] = tag

        def ranged(client: Any) -> tuple[bytes, Any]:
            answer = obstore.get(client, key, options=options)  # type: ignore[arg-type]
            return answer.bytes().to_bytes(), answer.meta

        return self._asked(self._title(name), "read", ranged, past_the_end=(b"", None))

    def _head(self, name: str) -> Any:
        import obstore

        key = self._key(name)
        return self._asked(self._title(name), "read", lambda client: obstore.head(client, key))

    def _asked(self, what: str, verb: str, ask: Callable[[Any], _T], *, past_the_end: _T | None = None) -> _T:
        from obstore.exceptions import BaseError

        try:
            return ask(self._client())
        except (BaseError, OSError, ValueError) as error:
            trouble = trouble_of(error)
        if trouble.past_the_end and past_the_end is not None:
            return past_the_end
        # Raised out here: what the server said does not travel along as the cause.
        raise self._told(trouble, what, verb)

    def _told(self, trouble: Trouble, what: str, verb: str) -> CourseError:
        unsaid = trouble.missing and not trouble.code
        if trouble.code == "NoSuchBucket" or (unsaid and (verb != "read" or self._no_bucket())):
            return missing_bucket(self.bucket, self._server)
        if trouble.missing and verb == "read":
            return missing_object(what)
        if trouble.changed:
            return changed_object(what)
        return sentence(trouble, what, self._server, verb)

    def _no_bucket(self) -> bool:
        """Ask once more: an answer without a text does not tell a missing bucket from a missing object."""
        import obstore
        from obstore.exceptions import BaseError

        try:
            next(iter(obstore.list(self._client(), prefix="_", chunk_size=1)), None)
        except (BaseError, OSError, ValueError) as error:
            return trouble_of(error).missing
        return False

    def _client(self) -> Any:
        return self._connection.client(
            lambda: make_client(
                self.bucket, self.endpoint, self.region, self.timeout_seconds, self.most_retries
            )
        )

    @property
    def _server(self) -> str:
        return self.endpoint or "Amazon S3"

    def _title(self, name: str) -> str:
        return f"s3://{self.bucket}/{self._key(name)}"

    def _key(self, name: str) -> str:
        key = f"{self.prefix}/{checked_name(name)}" if self.prefix else checked_name(name)
        wrong = any(ord(letter) < 32 or ord(letter) == 127 for letter in key)
        try:
            wrong = wrong or len(key.encode("utf-8")) > _LONGEST_KEY_BYTES
        except UnicodeEncodeError:
            wrong = True
        if wrong:
            raise CourseError(
                "This is no name of an object in a bucket",
                expected=f"text without control characters, up to {_LONGEST_KEY_BYTES:,} B with the prefix",
                found=ascii(key[:60]) + ("..." if len(key) > 60 else ""),
            )
        return key
