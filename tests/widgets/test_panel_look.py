"""The style of panels: sound rules, colours of the page's theme, marks that stand out in light and dark."""

from __future__ import annotations

import re

import pytest

from course_lib.widgets.style import STYLE

# The grounds that JupyterLab's light and dark themes put behind a cell's output.
GROUNDS = {"light": "#ffffff", "dark": "#111111"}
_RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")


def _rules() -> list[tuple[str, str]]:
    content = STYLE.removeprefix("<style>").removesuffix("</style>")
    rules = [(selector.strip(), body) for selector, body in _RULE.findall(content)]
    assert _RULE.sub("", content).strip() == "", "every brace belongs to a rule"
    return rules


def _marks(theme: str) -> dict[str, str]:
    """Return the colours of marks by name, as they are in a theme."""
    chosen: dict[str, str] = {}
    for selector, body in _rules():
        if "data-jp-theme-light" not in selector or theme == "dark":
            chosen.update(re.findall(r"(--course-\w+):\s*(#[0-9A-Fa-f]{6})", body))
    return chosen


def _luminance(colour: str) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_every_rule_is_whole_and_loads_nothing() -> None:
    for selector, body in _rules():
        assert selector
        for declaration in filter(str.strip, body.split(";")):
            assert re.match(r"\s*[\w-]+\s*:\s*\S", declaration), f"{selector}: {declaration}"
    assert "url(" not in STYLE and "@import" not in STYLE


def test_a_colour_of_the_theme_has_one_to_fall_back_on() -> None:
    assert re.findall(r"var\(--jp-[\w-]+\)", STYLE) == []
    assert len(re.findall(r"var\(--jp-[\w-]+,", STYLE)) > 5


@pytest.mark.parametrize("theme", GROUNDS)
def test_edges_and_marks_stand_out_from_the_ground(theme: str) -> None:
    marks = _marks(theme)
    assert {"--course-blue", "--course-red", "--course-green", "--course-edge"} <= set(marks)
    faint = {
        name: contrast
        for name, colour in marks.items()
        if (contrast := round(_contrast(colour, GROUNDS[theme]), 2)) < 3
    }
    assert faint == {}


def test_contrast_is_that_of_the_standard() -> None:
    assert _contrast("#000000", "#ffffff") == pytest.approx(21)
    assert _contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
