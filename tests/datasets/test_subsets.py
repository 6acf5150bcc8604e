import numpy as np
import pytest

from course_lib.datasets.subsets import checked_count, checked_part, checked_seed, spread_over_classes
from course_lib.errors import CourseError

LABELS = np.repeat([0, 1, 2], [50, 30, 4])


def test_all_are_taken_without_a_count():
    assert spread_over_classes(LABELS, None, 1, "demo").tolist() == list(range(84))


def test_classes_have_equal_shares_while_they_last():
    assert np.bincount(LABELS[spread_over_classes(LABELS, 9, 1, "demo")]).tolist() == [3, 3, 3]
    assert np.bincount(LABELS[spread_over_classes(LABELS, 20, 1, "demo")]).tolist() == [8, 8, 4]
    assert len(spread_over_classes(LABELS, 84, 1, "demo")) == 84


def test_the_seed_decides_and_a_larger_pick_contains_a_smaller_one():
    small, large = (set(spread_over_classes(LABELS, count, 5, "demo").tolist()) for count in (12, 30))
    assert small < large
    assert small != set(spread_over_classes(LABELS, 12, 6, "demo").tolist())


def test_more_than_there_are_is_an_error():
    with pytest.raises(CourseError, match="at most 84, found 85"):
        spread_over_classes(LABELS, 85, 1, "demo")


@pytest.mark.parametrize("count", [0, -1, 1.5, "10", True, 101])
def test_counts_out_of_range_are_refused(count):
    with pytest.raises(CourseError, match="a whole number of at least 1 and at most 100"):
        checked_count(count, 100)


def test_an_unknown_part_is_refused():
    with pytest.raises(CourseError, match="expected train or test, found 'valid'"):
        checked_part("valid")


@pytest.mark.parametrize("seed", [-1, 1.5, "1", None, True])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(CourseError, match="a whole number of at least 0"):
        checked_seed(seed)
