"""Sets that are broken on purpose have exactly the damage that their name says."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from course_lib.errors import CourseError
from course_lib.shards import ShardSet, pack, pack_order, repair_shards, verify_shards
from course_lib.shards.staged import (
    CUT,
    DELETED,
    FLIPPED,
    class_sorted_set,
    damaged_copies,
    flip_bits,
    puzzle_damage,
    puzzle_sets,
    read_tolerantly,
    scan_against_index,
    strict_errors,
)
from tests.shards.shard_sets import bytes_of, made_source


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    pack(made_source(60), tmp_path / "set", target_samples=15)
    return tmp_path / "set"


def test_each_copy_has_its_one_damage_and_the_set_is_left_alone(packed: Path, tmp_path: Path) -> None:
    before = bytes_of(packed)
    copies = damaged_copies(packed, tmp_path / "copies")
    assert bytes_of(packed) == before and verify_shards(packed).ok
    kinds = {name: {found.kind for found in verify_shards(copy).findings} for name, copy in copies.items()}
    assert kinds == {FLIPPED: {"damaged record"}, CUT: {"truncated shard"}, DELETED: {"missing shard"}}


def test_strict_reading_names_the_damage_and_tolerant_reading_counts_it(packed: Path, tmp_path: Path) -> None:
    copies = damaged_copies(packed, tmp_path / "copies")
    errors = strict_errors({"whole": packed, **copies})
    assert errors.pop("whole") is None
    assert all("train-00000" in str(error) for error in errors.values())
    coverage = read_tolerantly({"whole": packed, **copies})
    lost = {name: sum(one.failed) for name, one in coverage.items()}
    assert (lost["whole"], lost[FLIPPED], lost[DELETED]) == (0, 1, 15) and lost[CUT] >= 1
    for copy in copies.values():
        repair_shards(copy, made_source(60))
        assert bytes_of(copy) == bytes_of(packed)


def test_a_set_of_two_shards_cannot_lose_one(tmp_path: Path) -> None:
    pack(made_source(10), tmp_path / "set", target_samples=5)
    with pytest.raises(CourseError, match="too few shards"):
        damaged_copies(tmp_path / "set", tmp_path / "copies")


def test_flipped_bits_are_counted_and_the_worst_silent_one_is_kept() -> None:
    draw = np.random.default_rng(1)
    content = io.BytesIO()
    Image.fromarray(draw.integers(0, 255, (32, 32, 3), dtype=np.uint8)).save(content, "JPEG")
    flips = flip_bits(content.getvalue(), tries=60)
    assert flips.tried == 60 == flips.refused + flips.unchanged + flips.other_pixels
    assert flips.other_pixels > 0 and not np.array_equal(flips.before, flips.after)
    at, bit = flips.place
    changed = bytearray(content.getvalue())
    changed[at] ^= 1 << bit
    with Image.open(io.BytesIO(bytes(changed))) as image:
        assert np.array_equal(np.asarray(image.convert("RGB")), flips.after)
    with pytest.raises(CourseError, match="no image"):
        flip_bits(b"no image at all")


def test_a_set_written_class_by_class_is_flagged(tmp_path: Path) -> None:
    class_sorted_set(made_source(60), tmp_path / "sorted", per_shard=15)
    assert {found.kind for found in verify_shards(tmp_path / "sorted").findings} == {"class-sorted"}
    with ShardSet.open(tmp_path / "sorted") as shards:
        assert len(shards) == 60 and pack_order(shards.labels).class_sorted


def test_the_puzzles_have_the_faults_that_the_questions_ask_for(tmp_path: Path) -> None:
    train = made_source(220)
    validation = made_source(210, split="validation", seed=9)
    sets = puzzle_sets(train, validation, tmp_path / "sets")
    found = {}
    for name, folder in sets.items():
        assert verify_shards(folder).ok
        with ShardSet.open(folder) as shards:
            found[name] = ({each.split("-")[0] for each in shards.ids()}, shards.manifest.split)
    assert found == {
        "amber": ({"train"}, "train"),
        "birch": ({"train", "validation"}, "train"),
        "cedar": ({"validation"}, "validation"),
    }
    verification = verify_shards(puzzle_damage(train, tmp_path / "damaged"))
    assert verification.damaged_shards() == ("train-000003.tar",) and verification.manifest is not None
    assert len(verification.manifest.shards) == 5
    published = max((tmp_path / "damaged").glob("*.json"), key=lambda path: path.stat().st_mtime_ns)
    damaged = tmp_path / "damaged" / "train-000003.tar"
    assert damaged.stat().st_mtime_ns <= published.stat().st_mtime_ns, "its time gives it away"


def test_scan_and_index_know_as_many_entries_as_were_made(tmp_path: Path) -> None:
    found = scan_against_index(tmp_path / "scale", files=20, entries=1_000, repeats=2)
    assert found.files == 20
    assert [path.name for path in (tmp_path / "scale").iterdir()] == ["index.npy"], "the files are gone"
    assert len(np.load(tmp_path / "scale" / "index.npy", mmap_mode="r")) == 1_000
    assert len(found.scan_seconds) == len(found.index_seconds) == 2
    assert found.index_file_bytes == (tmp_path / "scale" / "index.npy").stat().st_size
