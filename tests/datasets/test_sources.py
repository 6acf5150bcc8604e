import hashlib
import zipfile

import pytest

from course_lib.datasets import choose_source, find_data_set, find_file
from course_lib.datasets.downloads import official_path
from course_lib.errors import CourseError
from course_lib.manifests import PublishedFile, load_manifest

CONTENT = b"0123456789" * 100
FILE = PublishedFile(
    name="numbers.bin",
    url="https://example.org/numbers.bin",
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    bytes=len(CONTENT),
    mirror_path="demo/numbers.bin",
)
MIRROR_ONLY = PublishedFile(FILE.name, "", FILE.sha256, FILE.bytes, FILE.mirror_path)
OFFICIAL_ONLY = PublishedFile(FILE.name, FILE.url, FILE.sha256, FILE.bytes, "")


@pytest.fixture
def own_mirror(tmp_path, monkeypatch):
    folder = tmp_path / "my mirror"
    folder.mkdir()
    monkeypatch.setenv("COURSE_DATA", str(folder))
    return folder


def put(path, content=CONTENT):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_auto_takes_the_mirror_then_the_official_file_then_nothing(own_mirror):
    assert find_file("demo", FILE) is None
    official = put(official_path("demo", FILE))
    assert find_file("demo", FILE).path == official
    mirrored = put(own_mirror / "demo/numbers.bin")
    found = find_file("demo", FILE)
    assert (found.path, found.kind, found.sha256) == (mirrored.resolve(), "mirror", FILE.sha256)


def test_the_asked_source_is_taken_and_no_other(own_mirror):
    put(own_mirror / "demo/numbers.bin")
    put(official_path("demo", FILE))
    assert find_file("demo", FILE, source="official").kind == "official"
    assert find_file("demo", FILE, source="mirror").kind == "mirror"
    assert find_file("demo", FILE, source="generated") is None


def test_auto_honours_the_choice_of_the_learner(own_mirror):
    put(own_mirror / "demo/numbers.bin")
    choose_source("generated")
    assert find_file("demo", FILE) is None
    choose_source("official")
    with pytest.raises(CourseError, match="run `course data fetch demo`"):
        find_file("demo", FILE)


@pytest.mark.parametrize(
    ("file", "source", "sentence"),
    [
        (FILE, "mirror", "set COURSE_DATA to the mirror's folder"),
        (FILE, "official", "has not been downloaded yet; run `course data fetch demo`"),
        (MIRROR_ONLY, "official", "has no official download"),
        (OFFICIAL_ONLY, "mirror", "is not part of a mirror"),
    ],
)
def test_a_source_that_is_not_there_says_how_to_get_it(file, source, sentence):
    with pytest.raises(CourseError, match=sentence):
        find_file("demo", file, source=source)


def test_a_file_missing_in_the_mirror_is_named(own_mirror):
    with pytest.raises(CourseError, match=r"demo/numbers\.bin is not in the mirror"):
        find_file("demo", FILE, source="mirror")


@pytest.mark.parametrize("source", ["auto", "mirror"])
def test_a_flipped_byte_is_refused_by_name_with_both_digests(own_mirror, source):
    changed = CONTENT[:500] + b"?" + CONTENT[501:]
    put(own_mirror / "demo/numbers.bin", changed)
    put(official_path("demo", FILE))
    with pytest.raises(CourseError, match=r"numbers\.bin is damaged or another file") as caught:
        find_file("demo", FILE, source=source)
    assert FILE.sha256[:12] in str(caught.value)
    assert hashlib.sha256(changed).hexdigest()[:12] in str(caught.value)


@pytest.mark.parametrize("source", ["auto", "official"])
def test_a_damaged_official_file_is_refused(source):
    put(official_path("demo", FILE), CONTENT.upper() + b"x")
    with pytest.raises(CourseError, match="longer than the published file"):
        find_file("demo", FILE, source=source)


def test_a_zip_cut_in_half_is_called_cut_short(own_mirror, tmp_path):
    whole = tmp_path / "whole.zip"
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("a.txt", CONTENT)
    payload = whole.read_bytes()
    file = PublishedFile("a.zip", "", hashlib.sha256(payload).hexdigest(), len(payload), "demo/a.zip")
    put(own_mirror / "demo/a.zip", payload[: len(payload) // 2])
    with pytest.raises(CourseError, match=rf"a\.zip is cut short: expected {len(payload):,} bytes"):
        find_file("demo", file)


def test_a_mirror_that_is_no_folder_is_said_at_once(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(CourseError, match="COURSE_DATA does not name a folder"):
        find_file("demo", FILE)
    assert find_file("demo", FILE, source="generated") is None


def test_an_unreadable_file_is_named(own_mirror, monkeypatch):
    put(own_mirror / "demo/numbers.bin")

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("course_lib.datasets.sources.sha256_file", refuse)
    with pytest.raises(CourseError, match=r"numbers\.bin could not be read: found Permission denied"):
        find_file("demo", FILE)


def test_a_half_mirror_is_never_mixed_with_generated_data(own_mirror):
    """With one of two files in the mirror, the whole data set comes from elsewhere."""
    manifest = load_manifest("ag_news")
    put(own_mirror / "ag_news/test.csv")
    assert find_data_set(manifest) is None
    with pytest.raises(CourseError):
        find_data_set(manifest, source="mirror")


@pytest.mark.mirror
def test_the_mirror_gives_whole_data_sets(mirror):
    assert set(find_data_set(load_manifest("ag_news"))) == {"test.csv", "train_sample_10000.csv"}
    assert set(find_data_set(load_manifest("cifar10"))) == {"cifar10_jpeg.zip"}
    assert set(find_data_set(load_manifest("bank_marketing"))) == {"bank+marketing.zip"}
