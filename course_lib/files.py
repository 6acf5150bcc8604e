"""Files that are whole or not there at all: atomic writing, and digests."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from course_lib.errors import CourseError

_REMEDIES = {
    errno.ENOSPC: "free some disk space and try again",
    errno.EDQUOT if hasattr(errno, "EDQUOT") else errno.ENOSPC: "free some of your disk quota and try again",
    errno.EROFS: "choose a folder that you may write to, for example by setting COURSE_HOME",
    errno.EACCES: "choose a folder that you may write to, for example by setting COURSE_HOME",
    errno.EPERM: "choose a folder that you may write to, for example by setting COURSE_HOME",
    errno.ENOTDIR: "move the file that stands where a folder is needed",
    errno.EEXIST: "move the file that stands where a folder is needed",
    errno.ENAMETOOLONG: "use a shorter name",
    errno.EFBIG: "choose a disk that takes larger files, or raise the limit on them (ulimit -f)",
}


def cannot_write(path: Path, error: OSError) -> CourseError:
    """Say in one sentence why ``path`` could not be written, and what to do."""
    return CourseError(
        f"{path} could not be written",
        found=error.strerror or str(error),
        next_step=_REMEDIES.get(error.errno or 0, "check the folder and try again"),
    )


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes as 64 lower-case hexadecimal digits."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Write ``content`` so that ``path`` holds either its old bytes or all of the new ones.

    Text is written as UTF-8 with the line endings it has. The new bytes are written beside the
    target, flushed to the disk and then moved over it.

    Raises
    ------
    CourseError
        When the folder or the disk does not take the file, or the text has characters that UTF-8 does
        not know; what was there stays.
    """
    try:
        payload = content.encode("utf-8") if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        raise CourseError(
            f"{path} could not be written",
            expected="text that UTF-8 can hold",
            found=f"{content[error.start]!r} at character {error.start + 1:,}",
            next_step="replace this character",
        ) from error
    aside: Path | None = None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        aside = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        aside.chmod(0o644)
        aside.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        if aside is not None:
            with contextlib.suppress(OSError):
                aside.unlink(missing_ok=True)
    return path


@contextlib.contextmanager
def folder_published_whole(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside ``target``; it becomes ``target`` only if the block succeeds.

    If another process published ``target`` meanwhile, theirs stays and ours is removed.

    Raises
    ------
    CourseError
        When the folder cannot be made or moved into place.
    """
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))
    except OSError as error:
        raise cannot_write(target, error) from error
    try:
        yield aside
        aside.chmod(0o755)
        try:
            aside.rename(target)
        except OSError as error:
            if not target.is_dir():
                raise cannot_write(target, error) from error
    except OSError as error:
        if error.errno in _REMEDIES:
            raise cannot_write(target, error) from error
        raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
