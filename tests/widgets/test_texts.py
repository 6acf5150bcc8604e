"""Every text is there, used, and gets the values that it has places for."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import course_lib.widgets
from course_lib.errors import CourseError
from course_lib.widgets import texts
from course_lib.widgets.texts import catalogue, languages, text

_PACKAGE = Path(course_lib.widgets.__file__).parent


def _placeholders(entry: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(entry) if name}


def _key_pattern(argument: ast.expr) -> str | None:
    """Return the keys that an argument can be, as a regular expression; a name in an f-string is any word."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return re.escape(argument.value)
    if isinstance(argument, ast.JoinedStr):
        return "".join(
            re.escape(str(part.value)) if isinstance(part, ast.Constant) else r"\w+"
            for part in argument.values
        )
    return None


def _uses() -> Iterator[tuple[str, str, set[str | None]]]:
    """Yield place, pattern of the key and names of the values for every call of ``text``."""
    for file in sorted(_PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "text":
                place = f"{file.relative_to(_PACKAGE)}:{node.lineno}"
                pattern = _key_pattern(node.args[0])
                assert pattern, f"{place}: give the key as text, so that it can be checked"
                yield place, pattern, {keyword.arg for keyword in node.keywords}


def test_every_use_has_its_text_and_fills_its_places() -> None:
    problems = []
    for place, pattern, values in _uses():
        keys = [key for key in catalogue("en") if re.fullmatch(pattern, key)]
        if not keys:
            problems.append(f"{place}: no text for {pattern}")
        for key in keys:
            if None not in values and _placeholders(catalogue("en")[key]) != values:
                problems.append(f"{place}: {key} has places for {_placeholders(catalogue('en')[key])}")
    assert not problems, "\n".join(problems)


def test_no_text_is_unused() -> None:
    patterns = {pattern for _, pattern, _ in _uses()}
    unused = [key for key in catalogue("en") if not any(re.fullmatch(one, key) for one in patterns)]
    assert not unused


@pytest.mark.parametrize("language", languages())
def test_every_language_has_the_places_of_the_english_text(language: str) -> None:
    for key, entry in catalogue(language).items():
        assert key in catalogue("en"), f"{language}: {key} is in no use"
        assert _placeholders(entry) == _placeholders(catalogue("en")[key]), f"{language}: {key}"


@pytest.fixture
def two_languages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "en.yaml").write_text("greeting: Hello {name}\nfarewell: Goodbye\n", encoding="utf-8")
    (tmp_path / "de.yaml").write_text("greeting: Grüß dich, {name}\n", encoding="utf-8")
    monkeypatch.setattr(texts, "_FOLDER", tmp_path)
    catalogue.cache_clear()
    yield tmp_path
    catalogue.cache_clear()


def test_a_chosen_language_is_used_and_falls_back_to_english(
    two_languages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert text("greeting", name="Ada") == "Hello Ada"
    monkeypatch.setenv("COURSE_LANGUAGE", "de")
    assert text("greeting", name="Ada") == "Grüß dich, Ada"
    assert text("farewell") == "Goodbye"


def test_an_unknown_language_names_those_there_are(
    two_languages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSE_LANGUAGE", "../en")
    with pytest.raises(CourseError, match="de or en"):
        text("farewell")


def test_a_damaged_catalogue_is_named(two_languages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (two_languages / "de.yaml").write_text("- not\n- a mapping\n", encoding="utf-8")
    monkeypatch.setenv("COURSE_LANGUAGE", "de")
    with pytest.raises(CourseError, match=r"de\.yaml"):
        text("farewell")


def test_an_unknown_key_is_a_mistake_in_the_program() -> None:
    with pytest.raises(KeyError):
        text("no.such.key")
