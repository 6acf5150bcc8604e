"""The case of a million files: shards, container overhead, set times and break-even, against the packer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from course_lib.errors import CourseError
from course_lib.shards import pack
from course_lib.shards.case import ShardCase, break_even_epochs, operation_seconds
from course_lib.shards.plain_sources import blob_source


def test_a_million_files_of_40_kb_need_157_shards_of_256_mb_and_165_with_containers() -> None:
    case = ShardCase(1_000_000, 40_000, 256_000_000)
    assert case.payload_bytes == 40 * 10**9
    assert (case.shards_by_payload, case.samples_per_shard, case.shards_packed) == (157, 6_097, 165)
    assert case.record_bytes == 41_984


@pytest.mark.parametrize(
    ("payload", "record"), [(1, 2_048), (512, 2_048), (513, 2_560), (1_000, 2_560), (40_000, 41_984)]
)
def test_a_record_is_two_headers_the_payload_in_blocks_and_the_label(payload: int, record: int) -> None:
    case = ShardCase(10, payload)
    assert case.record_bytes == record
    assert case.overhead == pytest.approx(record / payload - 1)


@pytest.mark.parametrize(
    ("samples", "size", "target"), [(50, 700, 20_480), (61, 3_000, 51_200), (9, 100, 1), (40, 1, 10**9)]
)
def test_the_case_is_what_the_packer_writes(samples: int, size: int, target: int, tmp_path: Path) -> None:
    draw = np.random.default_rng(3)
    source = blob_source(
        [draw.bytes(size) for _ in range(samples)],
        [f"s{number:03d}" for number in range(samples)],
        [0] * samples,
        dataset="made",
        class_names=["one"],
        extension="bin",
        split="train",
    )
    manifest = pack(source, tmp_path / "set", target_bytes=target)
    case = ShardCase(samples, size, target)
    assert case.shards_packed == len(manifest.shards)
    assert case.packed_bytes == manifest.shard_bytes
    assert case.samples_per_shard == manifest.shards[0].samples


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "10"])
def test_what_is_no_number_of_samples_is_refused_in_words(value: object) -> None:
    with pytest.raises(CourseError, match="samples is out of range"):
        ShardCase(samples=value)  # type: ignore[arg-type]


def test_operations_of_a_set_time_wait_one_after_the_other_or_side_by_side() -> None:
    assert operation_seconds(1_000_000, 0.002) == pytest.approx(2_000)
    assert operation_seconds(10, 0.5, at_once=4) == pytest.approx(1.5)
    assert operation_seconds(0, 0.5) == 0
    for wrong in ((-1, 0.1, 1), (1, -0.1, 1), (1, float("nan"), 1), (1, 0.1, 0)):
        with pytest.raises(CourseError):
            operation_seconds(*wrong[:2], at_once=wrong[2])


def test_packing_pays_after_its_time_over_the_time_saved() -> None:
    assert break_even_epochs(90, 50, 35) == pytest.approx(6)
    assert break_even_epochs(90, 35, 35) is None
    assert break_even_epochs(90, 35, 50) is None
