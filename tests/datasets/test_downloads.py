import dataclasses
import errno
import hashlib
import os
import subprocess
import sys
from collections import namedtuple
from types import SimpleNamespace

import pytest

from course_lib.datasets import downloads, fetch, fetch_file, find_file
from course_lib.datasets.downloads import RETRIES, official_path, one_process_at_a_time
from course_lib.errors import CourseError
from course_lib.manifests import load_manifest

CONTENT = bytes(range(256)) * 4000
FETCH_SCRIPT = """
import sys
from course_lib.datasets import fetch_file
from course_lib.manifests import PublishedFile
fetch_file("demo", PublishedFile("letters.bin", sys.argv[1], sys.argv[2], int(sys.argv[3]), ""))
"""


def names_in(folder):
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith(".fetch"))


def start_fetching(file):
    return subprocess.Popen(
        [sys.executable, "-c", FETCH_SCRIPT, file.url, file.sha256, str(file.bytes)],
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def test_a_download_arrives_whole_and_is_not_repeated(publisher):
    file = publisher.file("whole")
    path = fetch_file("demo", file, progress=False)
    assert path.read_bytes() == CONTENT
    assert path == official_path("demo", file)
    assert names_in(path.parent) == ["letters.bin"]
    fetch_file("demo", file, progress=False)
    assert sum(publisher.requests.values()) == 1


def test_progress_counts_the_bytes(publisher, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    fetch_file("demo", publisher.file("whole"))
    shown = capsys.readouterr().err
    assert "letters.bin" in shown
    assert "1.02M/1.02M" in shown


def test_a_pipe_gets_no_bar_and_a_notebook_does(publisher, capsys, monkeypatch):
    fetch_file("demo", publisher.file("whole"))
    assert capsys.readouterr().err == ""
    official_path("demo", publisher.file("whole")).unlink()
    monkeypatch.setattr("IPython.get_ipython", lambda: SimpleNamespace(kernel=object()))
    fetch_file("demo", publisher.file("whole"))
    assert "1.02M/1.02M" in capsys.readouterr().err


def test_a_damaged_copy_of_ours_is_fetched_anew(publisher):
    file = publisher.file("whole")
    fetch_file("demo", file, progress=False).write_bytes(b"damaged")
    assert fetch_file("demo", file, progress=False).read_bytes() == CONTENT


@pytest.mark.parametrize("behaviour", ["second", "cut_once"])
def test_one_failed_attempt_is_made_up_for(publisher, no_waiting, behaviour):
    assert fetch_file("demo", publisher.file(behaviour), progress=False).read_bytes() == CONTENT
    assert sum(publisher.requests.values()) == 2


@pytest.mark.parametrize(
    ("behaviour", "sentence"),
    [
        ("cut", "the connection to 127.0.0.1 failed or broke off"),
        ("wrong", "arrived from 127.0.0.1 with other bytes than were published"),
        ("endless", "arrived from 127.0.0.1 with other bytes than were published"),
        ("stall", "the connection to 127.0.0.1 failed or broke off|was silent"),
        ("missing", "found the answer 404"),
    ],
)
def test_a_failing_download_ends_in_one_sentence_and_leaves_nothing(
    publisher, no_waiting, behaviour, sentence
):
    file = publisher.file(behaviour)
    with pytest.raises(CourseError, match=sentence) as caught:
        fetch_file("demo", file, progress=False)
    assert "COURSE_DATA" in str(caught.value)
    assert sum(publisher.requests.values()) == RETRIES + 1
    assert len(no_waiting) == RETRIES
    assert names_in(official_path("demo", file).parent) == []
    assert find_file("demo", file) is None


def test_without_a_network_the_next_step_is_said(publisher, no_waiting):
    file = publisher.file("whole")
    publisher.close()
    with pytest.raises(
        CourseError, match=r"check the network and try again, use a mirror folder \(COURSE_DATA\)"
    ):
        fetch_file("demo", file, progress=False)


def test_a_full_disk_is_noticed_before_the_download(publisher, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage(10**12, 10**12, 1000))
    with pytest.raises(
        CourseError, match=r"too full for letters\.bin: expected 1,024,000 bytes free, found 1,000"
    ):
        fetch_file("demo", publisher.file("whole"), progress=False)
    assert not publisher.requests


def test_a_disk_that_fills_up_during_the_download_leaves_nothing(publisher, monkeypatch):
    import pooch

    def half_written(self, url, output_file, *_):
        output_file.write(CONTENT[:1000])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", half_written)
    file = publisher.file("whole")
    with pytest.raises(CourseError, match="free some disk space"):
        fetch_file("demo", file, progress=False)
    assert names_in(official_path("demo", file).parent) == []


@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS])
def test_a_folder_that_may_not_be_written_is_named(publisher, monkeypatch, number):
    def refuse(self, *_, **__):
        raise OSError(number, os.strerror(number), str(self))

    monkeypatch.setattr("pathlib.Path.mkdir", refuse)
    with pytest.raises(CourseError, match="setting COURSE_HOME"):
        fetch_file("demo", publisher.file("whole"), progress=False)


def test_a_file_that_only_mirrors_have_cannot_be_fetched(publisher):
    with pytest.raises(CourseError, match=r"letters\.bin has no official download"):
        fetch_file("demo", publisher.file("whole", url=""), progress=False)


def test_of_two_processes_one_downloads(publisher):
    file = publisher.file("held")
    first = start_fetching(file)
    assert publisher.asked.wait(60)
    second = start_fetching(file)
    assert "Another process is fetching demo" in second.stderr.readline()
    publisher.go_on.set()
    for process in (first, second):
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert sum(publisher.requests.values()) == 1
    assert official_path("demo", file).read_bytes() == CONTENT


def test_a_killed_download_leaves_nothing_readable_and_blocks_nobody(publisher):
    file = publisher.file("held")
    process = start_fetching(file)
    assert publisher.asked.wait(60)
    process.kill()
    process.communicate(timeout=60)
    assert find_file("demo", file) is None
    publisher.go_on.set()
    path = fetch_file("demo", publisher.file("whole"), progress=False)
    assert path.read_bytes() == CONTENT
    assert names_in(path.parent) == ["letters.bin"]


def test_waiting_for_another_process_has_an_end(tmp_path, monkeypatch):
    monkeypatch.setattr("course_lib.datasets.downloads.LONGEST_WAIT_FOR_ANOTHER_PROCESS_SECONDS", 0.05)
    lock_file = tmp_path / "lock"
    with (
        one_process_at_a_time(lock_file, "working"),
        pytest.raises(CourseError, match="Another process has been working for an hour"),
        one_process_at_a_time(lock_file, "working", progress=False),
    ):
        pass


def test_fetch_gets_every_official_file_of_a_data_set(publisher, monkeypatch):
    manifest = load_manifest("ag_news")
    files = tuple(publisher.file("whole", name=file.name) if file.url else file for file in manifest.files)
    monkeypatch.setattr(
        "course_lib.datasets.downloads.load_manifest", lambda name: dataclasses.replace(manifest, files=files)
    )
    paths = fetch("ag_news", progress=False)
    assert [path.name for path in paths] == ["train.csv", "test.csv"]
    assert all(hashlib.sha256(path.read_bytes()).hexdigest() == files[0].sha256 for path in paths)


def test_fetch_of_an_unknown_data_set_lists_those_there_are():
    with pytest.raises(CourseError, match="ag_news, bank_marketing, cifar10"):
        fetch("mnist")


def test_a_server_that_sends_now_and_then_is_given_up_at_the_limit(publisher, no_waiting, monkeypatch):
    monkeypatch.setattr(downloads, "longest_seconds", lambda _: 0.5)
    with pytest.raises(CourseError, match=r"127\.0\.0\.1 sends too slowly"):
        fetch_file("demo", publisher.file("drip"), progress=False)
    assert names_in(official_path("demo", publisher.file("drip")).parent) == []
