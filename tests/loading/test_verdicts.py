from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_lib.errors import CourseError
from course_lib.loading import compare, total_rate
from course_lib.loading.verdicts import summarise


def test_a_winner_lies_apart_from_all_others() -> None:
    verdict = compare({"a": [10, 11, 12], "b": [20, 21, 30], "c": [1, 2, 3]})
    assert verdict.winner == "b"
    assert "1.91 times" in verdict.sentence and "a" in verdict.sentence


def test_for_times_the_shorter_wins() -> None:
    verdict = compare({"a": [10, 11, 12], "b": [20, 21, 30]}, unit="s", higher_is_better=False)
    assert verdict.winner == "a" and "1.91 times" in verdict.sentence


@pytest.mark.parametrize(
    "values",
    [
        {"a": [10, 11, 20], "b": [20, 21, 30]},
        {"a": [10, 11, 12], "b": [5, 5, 40]},
        {"a": [1, 1, 1], "b": [1, 1, 1]},
        # The third candidate has a low median and one lucky run inside the range of the first.
        {"a": [10, 11, 12], "b": [5, 6, 7], "c": [1, 2, 11]},
    ],
)
def test_overlapping_ranges_have_no_winner(values: dict[str, list[float]]) -> None:
    verdict = compare(values)
    assert verdict.winner is None and "within the noise" in verdict.sentence


def test_fewer_than_three_repeats_have_no_winner() -> None:
    verdict = compare({"a": [1, 1], "b": [100, 100, 100]})
    assert verdict.winner is None and "at least 3" in verdict.sentence
    assert compare({"a": [1, 2, 3]}).winner is None


def test_median_and_range() -> None:
    summary = summarise([3.0, 1.0, 2.0])
    assert (summary.median, summary.low, summary.high, summary.values) == (2.0, 1.0, 3.0, (3.0, 1.0, 2.0))
    with pytest.raises(CourseError, match="no runs"):
        summarise([])


def test_total_rate_weighs_runs_by_their_time() -> None:
    assert total_rate(amounts=[100, 100], seconds=[1.0, 3.0]) == 50.0
    assert total_rate(amounts=[1e9, 1e9], seconds=[1, 9]) == pytest.approx(0.2e9)


@given(st.lists(st.tuples(st.floats(1, 1e9), st.floats(1e-3, 1e5)), min_size=1, max_size=30))
def test_a_total_rate_lies_between_the_slowest_and_the_fastest_run(runs: list[tuple[float, float]]) -> None:
    score = total_rate(amounts=[work for work, _ in runs], seconds=[time for _, time in runs])
    rates = [work / time for work, time in runs]
    assert min(rates) * (1 - 1e-9) <= score <= max(rates) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("amounts", "times", "sentence"),
    [
        ([], [], "as many amounts as times"),
        ([1.0], [1.0, 2.0], "found 1 and 2"),
        ([1.0], [0.0], "The time of a run is out of range"),
        ([float("nan")], [1.0], "The work of a run is out of range"),
    ],
)
def test_runs_without_work_or_time_are_refused(
    amounts: list[float], times: list[float], sentence: str
) -> None:
    with pytest.raises(CourseError, match=sentence):
        total_rate(amounts=amounts, seconds=times)
