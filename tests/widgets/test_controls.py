"""Slider and typed input stay in step, and bad input keeps the last good value."""

from __future__ import annotations

from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.widgets import ChoiceControl, NumberControl


def _number(**changes: Any) -> NumberControl:
    return NumberControl(
        **{"label": "Time", "minimum": 1, "maximum": 50, "value": 2, "unit": "ms", **changes}
    )


def _parts(control: NumberControl) -> tuple[Any, Any, Any]:
    row, sentence = control.widget().children
    slider, box, _ = row.children
    return slider, box, sentence


def test_slider_moves_the_box_and_the_value() -> None:
    control = _number()
    slider, box, _ = _parts(control)
    slider.value = 7
    assert (control.value, box.value) == (7, "7")


def test_typing_moves_the_slider_and_the_value() -> None:
    control = _number()
    slider, box, _ = _parts(control)
    box.value = " 12 ms "
    assert (control.value, slider.value, box.value) == (12, 12, "12")


def test_thousands_may_be_separated() -> None:
    assert _number(maximum=5000).checked("1,500 ms") == 1500


def test_a_typed_value_between_the_steps_is_taken() -> None:
    control = _number(minimum=0.5, maximum=0.95, value=0.85, step=0.05, unit="")
    slider, box, _ = _parts(control)
    box.value = "0.777"
    assert (control.value, box.value) == (0.777, "0.777")
    assert slider.value == pytest.approx(0.8), "at the nearest place"
    slider.value = 0.8
    assert control.value == 0.777, "no move of the slider"


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("999", "999 is outside 1 to 50 ms"),
        ("0", "outside"),
        ("many", "'many' is not a number"),
        ("", "not a number"),
        ("nan", "not a number"),
        ("inf", "not a number"),
        ("2.5", "not a whole number"),
        ("12 MB", "not a number"),
        ("1,5", "a comma that separates no thousands"),
    ],
)
def test_bad_typing_says_why_and_keeps_the_value(typed: str, said: str) -> None:
    control = _number()
    changes: list[int] = []
    control.on_change(lambda: changes.append(1))
    slider, box, sentence = _parts(control)
    box.value = typed or " "
    assert said in control.problem and "It stays at 2 ms." in control.problem
    assert (control.value, slider.value, changes) == (2, 2, [])
    assert sentence.layout.display != "none" and 'role="alert"' in sentence.value


def test_the_sentence_goes_when_the_input_is_good_again() -> None:
    control = _number()
    _, box, sentence = _parts(control)
    box.value = "999"
    box.value = "9"
    assert (control.value, control.problem, sentence.value) == (9, "", "")
    assert sentence.layout.display == "none"


def test_typing_the_value_it_has_after_bad_input_clears_the_sentence() -> None:
    control = _number()
    _, box, _ = _parts(control)
    box.value = "999"
    box.value = "2"
    assert control.problem == ""


def test_setting_a_bad_value_in_code_raises_one_sentence() -> None:
    control = _number()
    for bad in (999, "many", None, True, [1]):
        with pytest.raises(CourseError, match=r"^Time: "):
            control.value = bad  # type: ignore[assignment]
    assert control.value == 2
    with pytest.raises(CourseError):
        _number(value=99)


def test_whole_and_other_numbers_keep_their_type() -> None:
    assert isinstance(_number().checked("7"), int)
    assert isinstance(_number(step=0.5).checked("7"), float)


def test_both_parts_carry_the_name() -> None:
    slider, box, _ = _parts(_number())
    assert slider.description == box.description == "Time"
    assert "course-slider" in slider._dom_classes, "the script that names sliders looks for this class"


def test_what_is_typed_is_shown_and_not_run() -> None:
    control = _number()
    _, box, sentence = _parts(control)
    box.value = "<img src=x onerror=alert(1)>"
    assert "<img" not in sentence.value


def test_choice_maps_names_to_values() -> None:
    control = ChoiceControl("Split", {"random": "r", "ordered in time": "o"})
    changes: list[str] = []
    control.on_change(lambda: changes.append(control.value))
    control.widget().value = "o"
    assert (control.value, control.shown("o"), changes) == ("o", "ordered in time", ["o"])
    control.value = "r"
    assert control.widget().value == "r"


def test_an_unknown_choice_lists_the_options() -> None:
    with pytest.raises(CourseError, match=r"Split.*'x'.*'r', 'o'"):
        ChoiceControl("Split", {"random": "r", "ordered": "o"}).value = "x"


def test_few_short_options_are_side_by_side_and_many_are_a_list() -> None:
    few = ChoiceControl("Split", ["random", "ordered"]).widget()
    many = ChoiceControl("Field", [f"field number {number}" for number in range(20)]).widget()
    assert type(few).__name__ == "RadioButtons" and type(many).__name__ == "Dropdown"


@pytest.mark.parametrize("value", [10**400, -(10**400), 10**9000], ids=["large", "small", "very large"])
def test_a_number_beyond_every_float_is_outside(value: int) -> None:
    with pytest.raises(CourseError, match=r"10\^\d+ is outside"):
        _number().checked(value)


def test_a_choice_needs_options() -> None:
    with pytest.raises(CourseError, match="has no options"):
        ChoiceControl("Model", [])
