"""Official files fetched from their publishers: checked, bounded in time, and never readable half-way."""

from __future__ import annotations

import contextlib
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from course_lib.datasets.bars import is_watched
from course_lib.errors import CourseError
from course_lib.files import cannot_write, sha256_file
from course_lib.manifests import PublishedFile, load_manifest
from course_lib.paths import course_home

RETRIES = 3
TIMEOUT_SECONDS = 30.0
LONGEST_WAIT_FOR_ANOTHER_PROCESS_SECONDS = 3600.0
_CHUNK_BYTES = 1 << 16
_LEAST_SECONDS_IN_ALL = 600.0
_SLOWEST_BYTES_PER_SECOND = 25_000
_OTHER_WAYS = "use a mirror folder (COURSE_DATA), or choose generated data"


def is_downloadable(file: PublishedFile) -> bool:
    """Tell whether the file's publisher offers it at an address of its own."""
    return urlsplit(file.url).scheme in ("http", "https")


def data_folder(dataset: str) -> Path:
    """Return where the workbook keeps what it downloads, unpacks or generates of a data set."""
    return course_home() / "data" / dataset


def official_path(dataset: str, file: PublishedFile) -> Path:
    """Return where the official download of ``file`` lies, or would lie."""
    return data_folder(dataset) / "official" / file.name


def fetch(dataset: str, *, progress: bool = True) -> tuple[Path, ...]:
    """Download every official file of a data set that is not here yet.

    Parameters
    ----------
    dataset : str
        Name of the data set, as in ``data_manifests/``.
    progress : bool, optional
        Show a progress bar for each file.

    Returns
    -------
    tuple of Path
        The files, each checked by its SHA-256.

    Raises
    ------
    CourseError
        For an unknown data set, and as :func:`fetch_file` does.
    """
    manifest = load_manifest(dataset)
    return tuple(
        fetch_file(dataset, file, progress=progress) for file in manifest.files if is_downloadable(file)
    )


def fetch_file(dataset: str, file: PublishedFile, *, progress: bool = True) -> Path:
    """Download one official file, unless the right bytes are here already.

    The bytes are written under another name and get their own name only when the digest is right;
    of several processes that ask at once, one downloads. After a failed attempt there are
    3 more, no attempt waits longer than 30 seconds for the next bytes or takes more bytes than were
    published, and all together end at a limit that even a very slow network keeps.

    Parameters
    ----------
    dataset : str
        Name of the data set; decides the folder.
    file : PublishedFile
        The file as its manifest describes it.
    progress : bool, optional
        Show a progress bar.

    Returns
    -------
    Path
        The file in ``data/<dataset>/official/`` of the course's home.

    Raises
    ------
    CourseError
        When the publisher has no address for it, the network or the disk does not do its part, or
        other bytes arrive than were published. Nothing of a failed download stays.
    """
    if not is_downloadable(file):
        raise CourseError(f"{file.name} has no official download", next_step=_OTHER_WAYS)
    target = official_path(dataset, file)
    try:
        with one_process_at_a_time(target.parent / ".fetch.lock", f"fetching {dataset}", progress=progress):
            if not (target.is_file() and sha256_file(target) == file.sha256):
                _remove_leftovers(target.parent)
                need_disk_space(target, file.bytes)
                _download(file, target, progress)
    except OSError as error:
        raise cannot_write(target, error) from error
    return target


@contextlib.contextmanager
def one_process_at_a_time(lock_file: Path, doing: str, *, progress: bool = True) -> Iterator[None]:
    """Hold ``lock_file`` during the block; the operating system frees it if this process dies.

    Raises
    ------
    CourseError
        When another process holds it for an hour, or the folder cannot be written.
    """
    from filelock import FileLock, Timeout

    lock = FileLock(lock_file)
    try:
        lock_file.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        if progress:
            print(f"Another process is {doing}; waiting for it.", file=sys.stderr)
        try:
            lock.acquire(timeout=LONGEST_WAIT_FOR_ANOTHER_PROCESS_SECONDS)
        except Timeout as error:
            raise CourseError(
                f"Another process has been {doing} for an hour",
                next_step="stop that process and try again",
            ) from error
    except OSError as error:
        raise cannot_write(lock_file.parent, error) from error
    try:
        yield
    finally:
        lock.release()


def need_disk_space(target: Path, byte_count: int) -> None:
    """Check before writing that the disk has room for ``byte_count`` more bytes.

    Raises
    ------
    CourseError
        When it has not.
    """
    free = shutil.disk_usage(target.parent).free
    if free < byte_count:
        raise CourseError(
            f"The disk is too full for {target.name}",
            expected=f"{byte_count:,} bytes free",
            found=f"{free:,}",
            next_step="free some disk space, or set COURSE_HOME to a folder on another disk",
        )


def shortened(digest: str) -> str:
    """Return the beginning of a digest, enough to tell two apart by eye."""
    return digest[:12] + "..."


def _remove_leftovers(folder: Path) -> None:
    for leftover in folder.glob("tmp*"):
        leftover.unlink(missing_ok=True)


def _download(file: PublishedFile, target: Path, progress: bool) -> None:
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    publisher = pooch.create(
        path=target.parent,
        base_url="",
        registry={file.name: f"sha256:{file.sha256}"},
        urls={file.name: file.url},
        retry_if_failed=RETRIES,
    )
    host = urlsplit(file.url).hostname
    try:
        publisher.fetch(file.name, downloader=_WithProgress(file, progress))
    except requests.exceptions.HTTPError as error:
        answer = "without a status" if error.response is None else error.response.status_code
        raise CourseError(
            f"{file.name} could not be downloaded from {host}",
            found=f"the answer {answer}",
            next_step=f"try again later, {_OTHER_WAYS}",
        ) from error
    except requests.exceptions.Timeout as error:
        raise CourseError(
            f"{file.name} could not be downloaded: {host} was silent for {TIMEOUT_SECONDS:g} seconds",
            next_step=f"try again later, {_OTHER_WAYS}",
        ) from error
    except requests.exceptions.RequestException as error:
        raise CourseError(
            f"{file.name} could not be downloaded: the connection to {host} failed or broke off",
            next_step=f"check the network and try again, {_OTHER_WAYS}",
        ) from error
    except ValueError as error:
        raise CourseError(
            f"{file.name} arrived from {host} with other bytes than were published, and was thrown away",
            expected=f"SHA-256 {shortened(file.sha256)}",
            found=f"another one at each of {RETRIES + 1} attempts",
            next_step=f"try again later, {_OTHER_WAYS}",
        ) from error


def longest_seconds(byte_count: int) -> float:
    """Return how long a download of that size may take, all attempts together."""
    return _LEAST_SECONDS_IN_ALL + byte_count / _SLOWEST_BYTES_PER_SECOND


class _Bounded:
    """A file open for writing that takes no more bytes than were published, and none after the deadline."""

    def __init__(self, file: Any, byte_count: int, check_time: Callable[[], None]) -> None:
        self._file = file
        self._bytes_left = byte_count
        self._check_time = check_time

    def write(self, payload: bytes) -> int:
        self._check_time()
        self._bytes_left -= len(payload)
        if self._bytes_left < 0:
            raise ValueError("more bytes than were published")
        return int(self._file.write(payload))

    def flush(self) -> None:
        self._file.flush()


class _WithProgress:
    """Pooch's HTTP downloader within bounds, with a bar that starts anew at each attempt."""

    def __init__(self, file: PublishedFile, progress: bool) -> None:
        self._file = file
        self._progress = progress
        self._attempts = 0
        self._deadline = time.monotonic() + longest_seconds(file.bytes)

    def __call__(self, url: str, output_file: str, publisher: Any) -> None:
        import pooch
        from tqdm import tqdm

        self._check_time()
        self._attempts += 1
        again = f" (attempt {self._attempts} of {RETRIES + 1})" if self._attempts > 1 else ""
        with (
            tqdm(
                desc=self._file.name + again,
                total=self._file.bytes,
                unit="B",
                unit_scale=True,
                disable=not (self._progress and is_watched(sys.stderr)),
            ) as bar,
            Path(output_file).open("wb") as file,
            contextlib.ExitStack() as stack,
        ):
            pooch.HTTPDownloader(
                progressbar=False if bar.disable else bar,
                chunk_size=_CHUNK_BYTES,
                timeout=TIMEOUT_SECONDS,
                hooks={"response": lambda response, **_: self._stop_in_time(response, stack)},
            )(url, _Bounded(file, self._file.bytes, self._check_time), publisher)

    def _check_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise CourseError(
                f"{self._file.name} could not be downloaded within "
                f"{longest_seconds(self._file.bytes) / 60:.0f} minutes, as "
                f"{urlsplit(self._file.url).hostname} sends too slowly",
                next_step=f"try again later, {_OTHER_WAYS}",
            )

    def _stop_in_time(self, response: Any, stack: contextlib.ExitStack) -> None:
        """End the reading at the deadline, also while a few bytes now and then keep it waiting."""
        shutdown = getattr(response.raw, "shutdown", None)
        if shutdown is None:  # urllib3 before 2.3
            return
        timer = threading.Timer(max(0.0, self._deadline - time.monotonic()), shutdown)
        timer.daemon = True
        timer.start()
        stack.callback(timer.cancel)
