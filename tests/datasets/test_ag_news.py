import csv
import dataclasses
import hashlib
import io
import os
import socket
import subprocess
import sys
import tempfile

import pytest

from course_lib.datasets import ag_news as loader
from course_lib.datasets import choose_source, load_ag_news
from course_lib.datasets.ag_news import prepare_for_croissant
from course_lib.datasets.downloads import official_path
from course_lib.errors import CourseError
from course_lib.manifests import croissant_records, load_manifest, validate_with_mlcroissant
from course_lib.paths import manifests_folder

TOPICS = ["World", "Sports", "Business", "Sci/Tech"]
ROWS = [
    ("3", "Oil, again", r" LONDON (Reuters) - Up \$2 " "today" ", it #39;s said"),
    ("1", "N/A", "second\\line of  the text"),
    ("2", "null", "&lt;b&gt;NaN&lt;/b&gt;"),
    ("4", "Chip", "1,000"),
]


@pytest.fixture
def no_network(monkeypatch):
    attempts = []

    def refuse(*arguments, **_):
        attempts.append(arguments)
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    return attempts


def table(rows, header=None):
    buffer = io.StringIO()
    csv.writer(buffer, quoting=csv.QUOTE_ALL, lineterminator="\n").writerows(
        ([header] if header else []) + rows
    )
    return buffer.getvalue().encode("utf-8")


def install(monkeypatch, contents):
    """Put small files where the manifest's files would lie, with a manifest that describes them."""
    manifest = load_manifest("ag_news")
    files = tuple(
        dataclasses.replace(
            file, sha256=hashlib.sha256(contents[file.name][1]).hexdigest(), bytes=len(contents[file.name][1])
        )
        if file.name in contents
        else file
        for file in manifest.files
    )
    changed = dataclasses.replace(manifest, files=files)
    monkeypatch.setattr(loader, "load_manifest", lambda _: changed)
    for path, content in contents.values():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return changed


@pytest.fixture
def official(monkeypatch):
    manifest = load_manifest("ag_news")
    places = {
        name: official_path("ag_news", manifest.published_file(name)) for name in ("train.csv", "test.csv")
    }
    contents = {"train.csv": table(ROWS * 3), "test.csv": table(ROWS)}
    return install(monkeypatch, {name: (places[name], contents[name]) for name in places})


@pytest.fixture
def small_mirror(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    sample = table([["3", r"Oil . It #39;s \$2"], ["1", "Talks . end"]], ["label", "text"])
    return install(
        monkeypatch,
        {
            "test.csv": (tmp_path / "ag_news/test.csv", table(ROWS)),
            "train_sample_10000.csv": (tmp_path / "ag_news/train_sample_10000.csv", sample),
        },
    )


def test_generated_articles_have_the_columns_of_the_real_ones(no_network):
    news = load_ag_news("train", sample_count=40)
    assert news.dataset.column_names == ["text", "label", "sample_id"]
    assert news.dataset.features["label"].names == TOPICS
    assert len(news.dataset) == 40
    assert sorted(news.dataset["label"]) == sorted([0, 1, 2, 3] * 10)
    assert (news.origin.kind, news.origin.sample_count, news.origin.seed) == ("generated", 40, 2026)
    assert news.dataset[3]["sample_id"] == "train-000003"
    assert all(" . " in text for text in news.dataset["text"])
    assert no_network == []


def test_a_seed_gives_the_same_digest_again():
    first, again, other = (load_ag_news("test", sample_count=8, seed=seed).origin for seed in (1, 1, 2))
    assert first == again
    assert first.sha256 != other.sha256


def test_every_character_of_the_published_text_stays(official, no_network):
    news = load_ag_news("test", source="official")
    assert list(news.dataset["text"]) == [f"{title} . {description}" for _, title, description in ROWS]
    assert list(news.dataset["label"]) == [2, 0, 1, 3]
    assert list(news.dataset["sample_id"]) == [f"test-{row:06d}" for row in range(4)]
    assert (news.origin.kind, news.origin.sample_count) == ("official", 4)
    assert news.origin.sha256 == official.published_file("test.csv").sha256
    assert no_network == []


def test_official_training_articles(official):
    news = load_ag_news("train")
    assert len(news.dataset) == 12
    assert news.dataset[11]["sample_id"] == "train-000011"


def test_the_mirror_s_training_sample_is_read_by_its_header(small_mirror, no_network):
    news = load_ag_news("train")
    assert list(news.dataset["text"]) == [r"Oil . It #39;s \$2", "Talks . end"]
    assert list(news.dataset["label"]) == [2, 0]
    assert list(news.dataset["sample_id"]) == ["sample-000000", "sample-000001"]
    assert (news.origin.kind, news.origin.sample_count) == ("mirror", 2)
    assert no_network == []


def test_other_contents_under_the_same_name_are_never_taken_from_the_cache(official, monkeypatch):
    """Same path, size and time, which is all that the library's own cache looks at."""
    load_ag_news("test")
    path = official_path("ag_news", official.published_file("test.csv"))
    times = (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    train = official_path("ag_news", official.published_file("train.csv"))
    changed = path.read_bytes().replace(b"Chip", b"Chop")
    install(monkeypatch, {"test.csv": (path, changed), "train.csv": (train, train.read_bytes())})
    os.utime(path, ns=times)
    assert load_ag_news("test").dataset[3]["text"] == "Chop . 1,000"


def test_nothing_is_kept_that_could_be_read_without_a_check(small_mirror, course_home):
    load_ag_news("train")
    load_ag_news("test", sample_count=2)
    assert not [path for path in course_home.rglob("*") if path.is_file()]


def test_no_room_for_temporary_files_is_one_sentence(small_mirror, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(CourseError, match=r"gone.*could not be written"):
        load_ag_news("train")


def test_real_articles_are_picked_evenly(official):
    news = load_ag_news("train", sample_count=8)
    assert sorted(news.dataset["label"]) == [0, 0, 1, 1, 2, 2, 3, 3]
    assert news.origin.sample_count == 8
    with pytest.raises(CourseError, match="at most 12, found 13"):
        load_ag_news("train", sample_count=13)


def test_a_flipped_byte_in_the_mirror_is_refused_by_name(small_mirror, tmp_path):
    path = tmp_path / "ag_news/test.csv"
    path.write_bytes(path.read_bytes().replace(b"Chip", b"Chop"))
    with pytest.raises(CourseError, match=r"test\.csv is damaged or another file"):
        load_ag_news("train")


def test_a_chosen_source_that_is_missing_is_no_reason_to_generate():
    choose_source("official")
    with pytest.raises(CourseError, match="run `course data fetch ag_news`"):
        load_ag_news("test")


@pytest.mark.mirror
def test_the_library_writes_nothing_into_the_user_s_home(mirror, tmp_path):
    environment = os.environ | {"HOME": str(tmp_path), "USERPROFILE": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    for name in ("HF_HOME", "HF_DATASETS_CACHE", "XDG_CACHE_HOME"):
        environment.pop(name, None)
    script = "from course_lib.datasets import load_ag_news; load_ag_news('test')"
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert list(tmp_path.iterdir()) == []
    assert done.stderr == ""


def test_the_progress_bars_of_the_library_stay_as_they_were(small_mirror, capsys):
    import datasets

    datasets.enable_progress_bars()
    load_ag_news("test")
    assert not datasets.are_progress_bars_disabled()
    assert capsys.readouterr().err == ""


def test_a_home_that_cannot_be_written_is_no_trouble(small_mirror, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "file"))
    assert len(load_ag_news("test", source="mirror").dataset) == len(ROWS)


def test_the_manifest_is_valid_and_says_when_values_are_known():
    assert validate_with_mlcroissant("ag_news") == []
    manifest = load_manifest("ag_news")
    assert list(manifest.label_map) == TOPICS
    assert manifest.field("text").known_at == "publication"
    assert manifest.label_field.known_at == "editing"
    assert [moment.id for moment in manifest.moments] == ["publication", "editing"]
    described = (manifests_folder() / "ag_news/croissant.json").read_text(encoding="utf-8")
    assert "sample of 10,000 of the 120,000 training articles" in described


def test_the_table_for_croissant_is_made_anew_when_it_is_damaged(official, monkeypatch):
    content = b"label,title,description\n" + table(ROWS)
    prepared = tuple(
        dataclasses.replace(file, sha256=hashlib.sha256(content).hexdigest(), bytes=len(content))
        for file in official.prepared
    )
    monkeypatch.setattr(loader, "load_manifest", lambda _: dataclasses.replace(official, prepared=prepared))
    (path,) = prepare_for_croissant().values()
    assert path.read_bytes() == content
    path.write_bytes(b"damaged")
    prepare_for_croissant()
    assert path.read_bytes() == content


def test_croissant_readers_need_the_published_files():
    with pytest.raises(CourseError, match="course data fetch ag_news"):
        prepare_for_croissant()


@pytest.mark.mirror
def test_the_real_articles_of_the_mirror(mirror, no_network):
    train, test = load_ag_news("train"), load_ag_news("test")
    assert (len(train.dataset), len(test.dataset)) == (10_000, 7_600)
    assert [list(test.dataset["label"]).count(label) for label in range(4)] == [1900] * 4
    assert test.dataset[0]["text"].startswith("Fears for T N pension after talks . Unions")
    assert "second\\team" in test.dataset[1]["text"]
    assert train.dataset[0]["label"] == 2
    assert r"\$1.35 Million . Vivendi" in train.dataset[0]["text"]
    words = [len(text.split()) for text in test.dataset["text"]]
    assert sum(words) / len(words) == pytest.approx(38.7, abs=0.1)
    assert no_network == []


@pytest.mark.mirror
def test_the_real_records_through_mlcroissant(mirror):
    located = prepare_for_croissant()
    records = list(croissant_records("ag_news", "test", located))
    assert len(records) == 7_600
    news = load_ag_news("test").dataset
    for at in (0, 1, 7_599):
        assert records[at]["title"] + " . " + records[at]["description"] == news[at]["text"]
        assert records[at]["label"] - 1 == news[at]["label"]
    assert len(list(croissant_records("ag_news", "train-sample", located))) == 10_000
