import json

import pytest

from course_lib.datasets import choose_source, chosen_source
from course_lib.datasets.settings import resolved_source, settings_path
from course_lib.errors import CourseError


def test_without_a_choice_the_source_is_auto():
    assert chosen_source() == "auto"
    assert not settings_path().exists()


def test_a_choice_is_kept_beside_other_settings():
    settings_path().write_text('{"language": "en"}', encoding="utf-8")
    choose_source("generated")
    assert chosen_source() == "generated"
    assert json.loads(settings_path().read_text(encoding="utf-8")) == {
        "language": "en",
        "source": "generated",
    }


def test_auto_follows_the_choice_and_an_argument_goes_before_it():
    choose_source("mirror")
    assert resolved_source("auto") == "mirror"
    assert resolved_source("official") == "official"


@pytest.mark.parametrize("word", ["", "Mirror", "download", None, 3])
def test_an_unknown_source_is_refused_and_the_old_choice_stays(word):
    choose_source("official")
    with pytest.raises(CourseError, match="one of auto, official, mirror, generated"):
        choose_source(word)
    assert chosen_source() == "official"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b'{"source": "moon"}', b'{"source": ["mirror"]}', b"\xff\xfe\x00"]
)
def test_damaged_settings_are_said_and_set_aside_once(content):
    settings_path().write_bytes(content)
    with pytest.warns(UserWarning, match=r"kept as settings\.damaged-1\.json"):
        assert chosen_source() == "auto"
    assert settings_path().with_name("settings.damaged-1.json").read_bytes() == content
    assert chosen_source() == "auto"


def test_a_second_damaged_file_does_not_replace_the_first():
    for content in ("first", "second"):
        settings_path().write_text(content, encoding="utf-8")
        with pytest.warns(UserWarning):
            chosen_source()
    kept = sorted(settings_path().parent.glob("settings.damaged-*.json"))
    assert [path.read_text(encoding="utf-8") for path in kept] == ["first", "second"]


def test_choosing_over_damaged_settings_keeps_the_damaged_ones():
    settings_path().write_text("not json", encoding="utf-8")
    with pytest.warns(UserWarning):
        choose_source("mirror")
    assert chosen_source() == "mirror"
    assert settings_path().with_name("settings.damaged-1.json").exists()


def test_a_home_that_is_a_file_is_said_in_one_sentence(tmp_path, monkeypatch):
    (tmp_path / "home").write_text("in the way", encoding="utf-8")
    monkeypatch.setenv("COURSE_HOME", str(tmp_path / "home"))
    with (
        pytest.warns(UserWarning, match="standard settings"),
        pytest.raises(CourseError, match="could not be written"),
    ):
        choose_source("mirror")
