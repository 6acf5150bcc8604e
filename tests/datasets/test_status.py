import os

import pytest

from course_lib.datasets import choose_source, data_status
from course_lib.datasets.downloads import official_path
from course_lib.manifests import load_manifest

ALL = [("ag_news", ""), ("bank_marketing", "additional-full"), ("bank_marketing", "full"), ("cifar10", "")]


def status_of(name):
    return next(status for status in data_status() if status.dataset == name)


def sparse(path, size):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        os.truncate(file.fileno(), size)


@pytest.fixture
def own_mirror(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    return tmp_path


def test_without_anything_all_data_are_generated():
    statuses = data_status()
    assert [(status.dataset, status.variant) for status in statuses] == ALL
    assert {status.source for status in statuses} == {"generated"}
    assert all("COURSE_DATA is not set" in status.detail for status in statuses)
    assert not any(status.problem for status in statuses)


def test_a_data_set_that_the_mirror_lacks_is_called_so(own_mirror):
    status = status_of("cifar10")
    assert status.source == "generated"
    assert "not in the mirror" in status.detail
    assert status.problem == ""


def test_a_half_data_set_names_what_is_missing(own_mirror):
    sparse(own_mirror / "ag_news/test.csv", 1_857_427)
    status = status_of("ag_news")
    assert status.source == "generated"
    assert "only partly in the mirror (ag_news/train_sample_10000.csv missing)" in status.detail


def test_files_of_the_right_size_are_counted(own_mirror):
    sparse(own_mirror / "cifar10/cifar10_jpeg.zip", 62_190_935)
    status = status_of("cifar10")
    assert (status.source, status.bytes_on_disk, status.problem) == ("mirror", 62_190_935, "")


def test_a_file_cut_short_is_a_problem(own_mirror):
    sparse(own_mirror / "cifar10/cifar10_jpeg.zip", 31_000_000)
    assert "cut short" in status_of("cifar10").problem


def test_an_official_download_is_used_when_it_is_whole():
    (tarball,) = (file for file in load_manifest("cifar10").files if file.url)
    sparse(official_path("cifar10", tarball), tarball.bytes)
    status = status_of("cifar10")
    assert (status.source, status.bytes_on_disk) == ("official", 170_498_071)


def test_a_chosen_source_that_is_missing_is_a_problem_with_its_remedy(own_mirror):
    choose_source("official")
    assert "run `course data fetch ag_news`" in status_of("ag_news").problem
    choose_source("mirror")
    assert "is not in the mirror" in status_of("ag_news").problem
    choose_source("generated")
    assert status_of("ag_news").problem == ""


def test_a_wrong_course_data_is_a_problem_unless_generated_data_are_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nowhere"))
    assert all("does not name a folder" in status.problem for status in data_status())
    choose_source("generated")
    assert not any(status.problem for status in data_status())


@pytest.mark.mirror
def test_the_mirror_is_complete(mirror):
    assert {(status.source, status.problem) for status in data_status()} == {("mirror", "")}


def test_the_status_loads_no_heavy_library():
    import subprocess
    import sys

    script = (
        "import sys; from course_lib.datasets import data_status; data_status();"
        "print(*{'torch', 'pandas', 'datasets', 'mlcroissant', 'pooch', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
