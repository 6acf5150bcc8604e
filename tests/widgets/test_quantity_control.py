"""A quantity is typed in any unit of its dimension, and the slider keeps to round values."""

from __future__ import annotations

from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.widgets import QuantityControl


def _sample_size(**changes: Any) -> QuantityControl:
    given = {"label": "Sample", "minimum": "1 KB", "maximum": "10 MB", "value": "100 KB", **changes}
    control = QuantityControl(**given)
    control.widget()
    return control


@pytest.mark.parametrize(
    ("typed", "value"),
    [("1.5 MiB", 1_572_864), ("1,024 KB", 1_024_000), ("2\u00a0MB", 2e6), ("800 kbit", 100_000)],
)
def test_any_unit_of_the_dimension_is_taken(typed: str, value: float) -> None:
    control = _sample_size()
    control._parts["box"].value = typed
    assert (control.value, control.problem) == (value, "")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("5", "has no unit"),
        ("2 s", "another kind of unit"),
        ("1 TB", "outside 1 KB to 10 MB"),
        ("x", "No number"),
    ],
)
def test_bad_typing_says_why_and_keeps_the_value(typed: str, said: str) -> None:
    control = _sample_size()
    control._parts["box"].value = typed
    assert said in control.problem and control.value == 100_000


def test_the_slider_multiplies_and_leaves_a_typed_value_between_two_places_alone() -> None:
    control = _sample_size()
    slider = control._parts["slider"]
    before = slider.value
    slider.value = before + 20
    assert control.value == 1e6
    control._parts["box"].value = "123456 B"
    assert control.value == 123_456, "the box shows four digits only"
    slider.value = slider.value + 1
    assert control.value == 140_000, "the place after the nearest one, which is 130 KB"


def test_both_readings_stand_beside_the_box() -> None:
    control = _sample_size()
    assert control._parts["beside"].value == "= 97.66 KiB"
    control.value = 2.0**20
    assert (control._parts["box"].value, control._parts["beside"].value) == ("1.049 MB", "= 1 MiB")
    assert _sample_size(both_readings=False)._parts["beside"].value == ""


def test_a_percentage_without_its_sign_is_named() -> None:
    control = QuantityControl("Hit rate", 0, 1, 0.5, dimension="ratio")
    assert (control.checked("75%"), control.checked("0.75")) == (0.75, 0.75)
    with pytest.raises(CourseError, match="75% may be meant"):
        control.checked("75")


def test_words_where_things_are_counted_get_an_example_without_a_unit_of_others() -> None:
    consumers = QuantityControl("Training consumers", 1, 64, 4, dimension="number", whole=True)
    with pytest.raises(CourseError) as caught:
        consumers.checked("abc")
    assert str(caught.value) == "Training consumers: 'abc' is not a number; type one such as 100."
    with pytest.raises(CourseError, match="MB/s"):
        QuantityControl("Link", "1 MB/s", "1 GB/s", "10 MB/s", dimension="bytes/s").checked("abc")


def test_counts_are_whole() -> None:
    control = QuantityControl("Devices", 1, 64, 4, dimension="number", whole=True)
    assert control.checked("8") == 8 and isinstance(control.checked("8"), int)
    with pytest.raises(CourseError, match="not a whole number"):
        control.checked("2.5")


def test_a_logarithmic_slider_that_begins_at_zero_is_refused() -> None:
    with pytest.raises(CourseError, match="cannot begin at 0"):
        QuantityControl("Size", 0, 10, 1, log=True)
