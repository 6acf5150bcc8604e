"""A store from the text that names it on a command line."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import parse_qsl

from course_lib.errors import CourseError
from course_lib.stores.folder import FolderStore
from course_lib.stores.s3 import S3Store
from course_lib.stores.store import Store

_SCHEME = "s3://"
_SETTINGS = ("endpoint", "region")


def open_store(text: str) -> Store:
    """Return the store that a text names.

    Parameters
    ----------
    text : str
        Path of a folder, or ``s3://bucket/prefix``, with ``?endpoint=http://127.0.0.1:9000`` or
        ``?region=eu-west-1`` or both (``?endpoint=...&region=...``) behind it.

    Raises
    ------
    CourseError
        For another kind of address, a setting that is not known, and credentials in the address (which the
        error does not repeat).

    Examples
    --------
    >>> open_store("data/shards").root.name
    'shards'
    >>> open_store("s3://course/shards?region=eu-west-1").bucket
    'course'
    """
    if not text.strip():
        raise CourseError("There is no name of a store", expected="a folder or s3://bucket/prefix")
    scheme, divider, _ = text.partition("://")
    if not divider:
        return FolderStore(Path(text).expanduser())
    if f"{scheme.lower()}://" != _SCHEME:
        raise CourseError(
            "This kind of store is not known",
            expected="a folder or s3://bucket/prefix",
            found=f"an address that begins with {scheme[:20]}://",
        )
    place, _, query = text[len(_SCHEME) :].partition("?")
    bucket, _, prefix = place.partition("/")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        pairs = [(query.partition("=")[0], "")]
    settings = dict(pairs)
    if len(settings) != len(pairs) or not all(settings.values()) or settings.keys() - set(_SETTINGS):
        raise CourseError(
            f"The settings of s3://{bucket.rpartition('@')[2]} are not understood",
            expected="?endpoint=http://127.0.0.1:9000 or ?region=eu-west-1 behind the prefix, joined by &",
            found=", ".join(name[:20] for name, _ in pairs),
        )
    return S3Store(bucket, prefix, endpoint=settings.get("endpoint"), region=settings.get("region"))
