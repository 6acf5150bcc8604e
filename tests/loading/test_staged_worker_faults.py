"""Staged on purpose: a lost worker is told in a sentence, and only a kept generator draws alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from course_lib.errors import CourseError
from course_lib.loading import LoaderConditions, staged

Small = Callable[..., LoaderConditions]


def test_a_worker_lost_in_the_middle_is_told_and_the_next_one_too(small: Small) -> None:
    for _ in range(2):
        with pytest.raises(CourseError, match=r"was killed|ended during the run|ended while it handed over"):
            staged.lose_a_worker(small(workers=2))


def test_without_workers_there_is_none_to_lose(small: Small) -> None:
    with pytest.raises(CourseError, match="no worker to lose"):
        staged.lose_a_worker(small())


def test_copies_of_a_kept_generator_draw_alike_and_rows_of_their_own_seed_do_not() -> None:
    draws = staged.draw_angles(workers=4, rows=8)
    assert [one.row for one in draws] == list(range(8)) and {one.worker for one in draws} == {0, 1, 2, 3}
    assert len({one.kept_degrees for one in draws}) == 2
    assert len({one.own_degrees for one in draws}) == 8


def test_the_own_draw_of_a_row_does_not_depend_on_what_was_drawn_before() -> None:
    forwards, backwards = staged.AngledRows(8, 5), staged.AngledRows(8, 5)
    in_order = [forwards[row] for row in range(8)]
    reversed_order = [backwards[row] for row in reversed(range(8))][::-1]
    assert [one.own_degrees for one in in_order] == [one.own_degrees for one in reversed_order]
    assert [one.kept_degrees for one in in_order] != [one.kept_degrees for one in reversed_order]


@pytest.mark.parametrize("workers", [0, 9])
def test_each_worker_needs_a_row(workers: int) -> None:
    with pytest.raises(CourseError, match="needs a row"):
        staged.draw_angles(workers=workers, rows=8)
