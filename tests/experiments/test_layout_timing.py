from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime, timezone

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.experiments.layout_runs import time_layouts
from course_lib.experiments.layout_timing import LAYOUTS, LayoutSetting, LayoutTiming
from course_lib.loading import LoaderComparison, LoaderConditions, LoaderRun, LoaderTiming
from course_lib.stores import CacheState

DECODE, RAW = LayoutSetting("decode", 0.0, 2), LayoutSetting("bytes", 0.0, 2)
WARM = CacheState("warm", 1.0, 100, 1_000)


def comparison_of(
    setting: LayoutSetting, files: Sequence[float], shards: Sequence[float], digest: str = "d"
) -> LoaderComparison:
    """Return a comparison whose epochs took these seconds: 0.25 s for the first batch, the rest after it."""
    runs = []
    for repeat, pair in enumerate(zip(files, shards, strict=True)):
        for turn, (layout, seconds) in enumerate(zip(LAYOUTS, pair, strict=True)):
            timing = LoaderTiming(
                0.1, 0.25, 1, np.array([seconds - 0.25]), 100, 1_000, "encoded bytes", seconds - 0.25
            )
            runs.append(
                LoaderRun(
                    candidate=f"layout {layout}",
                    conditions=LoaderConditions(layout=layout, **setting._asdict()),
                    repeat=repeat,
                    turn=turn,
                    timing=timing,
                    cache_before=WARM,
                    cache_after=WARM,
                    delivered_digest=digest,
                    delivered_batches=2,
                    delivered_samples=164,
                    worker_memory_bytes=(),
                    open_files=3,
                    cpu_seconds=0.1,
                    machine_busy_share=None,
                    start_method="fork",
                )
            )
    plan = {
        "factor": "layout",
        "repeats": len(files),
        "warmup_batches": 1,
        "measured_batches": None,
        "usable_cores": 2,
        "notes": (),
    }
    return LoaderComparison(tuple(runs), plan, None, datetime(2026, 1, 1, tzinfo=timezone.utc))


def timing_of(*comparisons: LoaderComparison) -> LayoutTiming:
    return LayoutTiming(comparisons, {0.0: (6.0, 5.0, 7.0)}, {"samples": 164}, ())


def clear() -> LayoutTiming:
    return timing_of(
        comparison_of(DECODE, [10.0, 11.0, 10.5], [4.0, 4.5, 4.25]),
        comparison_of(RAW, [7.0, 7.0, 7.0], [1.25, 1.0, 1.5]),
    )


def test_an_epoch_is_its_first_batch_and_all_others() -> None:
    assert clear().epoch_seconds(DECODE, "files").values == (10.0, 11.0, 10.5)


def test_the_three_shares_add_up_to_the_epoch_from_files() -> None:
    (shares,) = clear().all_shares()
    assert shares.files_seconds == 10.5
    assert (shares.saved_seconds, shares.decoding_seconds, shares.remaining_seconds) == (6.25, 3.0, 1.25)
    assert "6.250 s (60%) goes with the files" in shares.sentence and "noise" not in shares.sentence


def test_packing_is_paid_after_its_time_over_the_time_saved() -> None:
    even = clear().break_even(DECODE)
    assert even.epochs == 6.0 / 6.25
    assert "after 1.0 epochs" in even.sentence


@pytest.mark.parametrize("shards", [[10.0, 11.0, 10.75], [14.0, 15.0, 16.0], [9.0, 12.0, 9.5]])
def test_packing_never_pays_where_nothing_is_saved_outside_the_noise(shards: list[float]) -> None:
    timing = timing_of(comparison_of(DECODE, [10.0, 11.0, 10.5], shards))
    even = timing.break_even(DECODE)
    assert even.epochs is None and even.sentence.startswith("Packing never pays for itself here")
    assert timing.break_even_table()["paid after (epochs)"].tolist() == [
        "never: nothing saved outside the noise"
    ]


def test_a_difference_within_the_noise_is_said_to_be_one() -> None:
    timing = timing_of(
        comparison_of(DECODE, [10.0, 11.0, 10.5], [9.0, 10.25, 9.5]), comparison_of(RAW, [7.0] * 3, [1.0] * 3)
    )
    (shares,) = timing.all_shares()
    assert shares.sentence.endswith("within the noise.")
    assert timing.shares_table()["outside the noise"].tolist() == ["no"]
    assert timing.rates_table()["ahead"].tolist() == ["within the noise", "shards"]


def test_settings_that_delivered_other_samples_are_refused() -> None:
    with pytest.raises(CourseError, match="did not deliver the same samples"):
        timing_of(
            comparison_of(DECODE, [1.0] * 3, [1.0] * 3), comparison_of(RAW, [1.0] * 3, [1.0] * 3, "other")
        )


def test_the_tables_are_the_same_after_a_record() -> None:
    timing = clear()
    again = LayoutTiming.from_dict(json.loads(json.dumps(timing.as_dict())))
    assert again.rates_table().equals(timing.rates_table())
    assert again.shares_table().equals(timing.shares_table())
    assert again.break_even_table().equals(timing.break_even_table())
    with pytest.raises(CourseError, match="not measured"):
        again.comparison(LayoutSetting("decode", 5.0, 2))


def test_every_setting_is_measured_in_turn_and_packing_with_it() -> None:
    conditions = LoaderConditions(sample_count=96, batch_size=16, shard_target_bytes=100_000)
    timing = time_layouts(conditions, open_ms=(0, 0.5), workers=(0, 1), progress=False)
    assert timing.settings() == tuple(
        LayoutSetting(transforms, open_ms, workers)
        for open_ms in (0.0, 0.5)
        for transforms in ("bytes", "decode")
        for workers in (0, 1)
    )
    for comparison in timing.comparisons:
        assert [run.candidate for run in comparison.runs[:4]] == [
            "layout files",
            "layout shards",
            "layout shards",
            "layout files",
        ]
        assert {run.delivered_samples for run in comparison.runs} == {96}
    assert {open_ms: len(seconds) for open_ms, seconds in timing.packing_seconds.items()} == {0.0: 3, 0.5: 3}
    # Each of the 96 files is opened once under the set time.
    assert min(timing.packing_seconds[0.5]) > 96 * 0.0005
    assert timing.shard_set["samples"] == 96 and timing.shard_set["shards"] > 1
    assert timing.origin is not None and timing.origin.kind == "generated"
    assert len(timing.notes) == 1 and "each shard" in timing.notes[0]
    assert len(timing.all_shares()) == 4 and len(timing.break_even_table()) == 8


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"workers": ()}, "workers has no values"),
        ({"open_ms": (1.0, 1)}, "open_ms names a value twice"),
        ({"transforms": ("pixels",)}, "transforms is not one of its choices"),
        ({"repeats": 0}, "repeats is out of range"),
    ],
)
def test_settings_that_cannot_be_measured_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(CourseError, match=said):
        time_layouts(LoaderConditions(sample_count=96), progress=False, **wrong)  # type: ignore[arg-type]
