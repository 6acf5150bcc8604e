"""Where a class set and its key go: apart, whole, and never over somebody else's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from course_lib.errors import CourseError
from course_lib.leakage.custody import class_set, class_sets


@pytest.mark.parametrize(
    ("cases", "key"),
    [
        ("cases", "other/../cases/key.json"),
        ("other/../cases", "cases/key.json"),
        ("cases", "cases/../cases/below/key.json"),
        ("cases", "other/../cases"),
    ],
)
def test_no_spelling_of_a_path_puts_the_key_among_the_cases(tmp_path: Path, cases: str, key: str) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(CourseError, match="must not lie among the cases"):
        class_set(1, 1, tmp_path / cases, key=tmp_path / key)
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_a_link_does_not_put_the_key_among_the_cases(tmp_path: Path) -> None:
    try:
        (tmp_path / "link").symlink_to(tmp_path / "cases", target_is_directory=True)
    except OSError:
        pytest.skip("this system lets only administrators make links")
    with pytest.raises(CourseError, match="must not lie among the cases"):
        class_set(1, 1, tmp_path / "cases", key=tmp_path / "link" / "key.json")


@pytest.mark.parametrize("name", ["n" * 300, "below/" + "n" * 300])
def test_a_name_that_is_too_long_is_told_in_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(CourseError, match="could not be written"):
        class_set(1, 1, tmp_path / name)
    with pytest.raises(CourseError, match="could not be written"):
        class_set(1, 1, tmp_path / "cases", key=tmp_path / name)
    assert not (tmp_path / "cases").exists()


def test_a_set_that_comes_second_leaves_the_first_ones_cases_and_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process finishes the same set while this one is still making its cases."""
    make, first = class_sets.make_case, []

    def overtaken(*arguments: object, **named: object) -> object:
        monkeypatch.setattr(class_sets, "make_case", make)
        first.append(class_set(1, 2, tmp_path / "cases"))
        return make(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(class_sets, "make_case", overtaken)
    with pytest.raises(CourseError, match=r"key\.json is there already"):
        class_set(1, 1, tmp_path / "cases")
    (made,) = first
    about, key = (json.loads(file.read_text("utf-8")) for file in (made.folder / "set.json", made.key))
    assert about["set"] == key["set"]
    assert key["seed"] == 2


def test_a_set_that_comes_second_takes_its_own_key_away_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = class_sets.make_case

    def overtaken(*arguments: object, **named: object) -> object:
        monkeypatch.setattr(class_sets, "make_case", make)
        class_set(1, 2, tmp_path / "cases")
        return make(*arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(class_sets, "make_case", overtaken)
    with pytest.raises(CourseError, match="cases is there already"):
        class_set(1, 1, tmp_path / "cases", key=tmp_path / "mine.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases", "cases-key"]
