from __future__ import annotations

import json

import pytest

from course_lib.errors import CourseError
from course_lib.loading import LoaderConditions, differing_factors
from course_lib.loading.conditions import check_batches


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"sample_count": 0}, "number of samples"),
        ({"sample_count": 10}, "fewer samples than one batch"),
        ({"workers": -1}, "workers is out of range"),
        ({"workers": 33}, "more workers than batches"),
        ({"workers": 1.5}, "workers is out of range"),
        ({"workers": True}, "workers is out of range"),
        ({"batch_size": 0}, "batch_size is out of range"),
        ({"prefetch": 0}, "prefetch is out of range"),
        ({"decode_repeats": 0}, "decode_repeats is out of range"),
        ({"open_ms": -1}, "open_ms is out of range"),
        ({"open_ms": float("nan")}, "open_ms is out of range"),
        ({"bandwidth_bytes_per_second": 0}, "bandwidth_bytes_per_second is out of range"),
        ({"transforms": "resize"}, "transforms is not one of its choices"),
        ({"layout": "tape"}, "layout is not one of its choices"),
        ({"start_method": "thread"}, "start_method is not one of its choices"),
        ({"cache": "cold"}, "cache is not one of its choices"),
        ({"shuffle": 1}, "shuffle is not one of its choices"),
        ({"data": "bank_marketing"}, "data is not one of its choices"),
        ({"part": "validation"}, "no such part"),
        ({"seed": -1}, "seed"),
        ({"epoch": -1}, "epoch is out of range"),
        ({"path": None}, "path is no text"),
        ({"worker": 2}, "worker is no condition"),
    ],
)
def test_conditions_that_no_run_can_have_are_refused_in_one_sentence(changes: dict, words: str) -> None:
    with pytest.raises(CourseError, match=words) as caught:
        LoaderConditions().with_changes(**changes)
    assert "\n" not in str(caught.value)


def test_conditions_survive_json() -> None:
    conditions = LoaderConditions(workers=2, open_ms=2.0, bandwidth_bytes_per_second=1e6, sample_count=None)
    assert LoaderConditions.from_dict(json.loads(json.dumps(conditions.as_dict()))) == conditions


def test_differing_factors_are_named() -> None:
    conditions = LoaderConditions()
    assert differing_factors(conditions, conditions) == ()
    assert differing_factors(conditions, conditions.with_changes(workers=2, seed=1)) == ("workers", "seed")


def test_samples_are_counted_again_once_all_are_known() -> None:
    everything = LoaderConditions(sample_count=None, workers=3)
    assert check_batches(everything, 129) == 3
    for count, words in ((0, "no samples"), (63, "fewer samples"), (128, "more workers")):
        with pytest.raises(CourseError, match=words):
            check_batches(everything, count)


def test_a_batch_that_was_set_to_be_slow_may_take_its_time() -> None:
    slow = LoaderConditions(open_ms=1_000.0)
    assert slow.batch_seconds_at_most > 64 * 1.0 * 2
    assert LoaderConditions(bandwidth_bytes_per_second=1_000.0).batch_seconds_at_most > 64
    assert LoaderConditions(decode_repeats=1_000).batch_seconds_at_most > 64
