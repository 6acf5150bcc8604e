"""Packing a split: what goes where, and what is refused."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shard_sets import CLASSES, bytes_of, made_source

from course_lib.errors import CourseError
from course_lib.shards import pack, read_manifest, verify_shards
from course_lib.shards.format import open_index
from course_lib.shards.plain_sources import blob_source
from course_lib.shards.plan import make_plan
from course_lib.shards.verify import is_class_sorted


def test_the_same_samples_in_another_order_give_the_same_bytes(tmp_path: Path) -> None:
    source = made_source(80)
    shuffled = source.take(np.random.default_rng(1).permutation(80))
    pack(source, tmp_path / "a", target_bytes=30_000)
    pack(shuffled, tmp_path / "b", target_bytes=30_000)
    assert bytes_of(tmp_path / "a") == bytes_of(tmp_path / "b")


def test_another_seed_gives_another_order_of_the_same_samples(tmp_path: Path) -> None:
    source = made_source(80)
    rows = [
        open_index(tmp_path / str(seed), pack(source, tmp_path / str(seed), seed=seed))["id"].tolist()
        for seed in (1, 2)
    ]
    assert rows[0] != rows[1]
    assert sorted(rows[0]) == sorted(rows[1])


def test_samples_that_come_sorted_by_class_are_packed_mixed(tmp_path: Path) -> None:
    source = made_source(300)
    assert is_class_sorted(source.labels)
    rows = open_index(tmp_path / "set", pack(source, tmp_path / "set", target_bytes=100_000))
    assert not is_class_sorted(rows["label"])
    for shard in np.unique(rows["shard"]):
        assert len(set(rows["label"][rows["shard"] == shard].tolist())) == len(CLASSES)


@pytest.mark.parametrize(
    ("count", "expected"), [(1, [1]), (7, [7]), (8, [7, 1]), (14, [7, 7]), (15, [7, 7, 1])]
)
def test_shards_by_samples_are_full_and_never_empty(tmp_path: Path, count: int, expected: list[int]) -> None:
    manifest = pack(made_source(count), tmp_path / "set", target_samples=7)
    assert [shard.samples for shard in manifest.shards] == expected


@pytest.mark.parametrize("target", [10_240, 15_000, 20_480, 65_536])
def test_no_shard_is_larger_than_the_target_and_each_is_as_full_as_it_can_be(
    tmp_path: Path, target: int
) -> None:
    source = made_source(70)
    plan = make_plan(source, target_bytes=target)
    manifest = pack(source, tmp_path / "set", target_bytes=target)
    assert [shard.bytes for shard in manifest.shards] == plan.shard_bytes.tolist()
    assert max(shard.bytes for shard in manifest.shards) <= target
    rows = open_index(tmp_path / "set", manifest)
    for number in range(len(manifest.shards) - 1):
        content = int(rows["extent"][rows["shard"] == number].sum())
        following = int(rows["extent"][rows["shard"] == number + 1][0])
        assert -(-(content + following + 1024) // 10_240) * 10_240 > target


def test_a_payload_beyond_the_target_gets_a_shard_of_its_own_and_a_note(tmp_path: Path) -> None:
    payloads = [b"x" * 100] * 9 + [b"y" * 50_000]
    source = blob_source(
        payloads,
        [f"s-{n}" for n in range(10)],
        [0] * 10,
        dataset="d",
        class_names=["a"],
        extension="bin",
        split="train",
    )
    manifest = pack(source, tmp_path / "set", target_bytes=20_480)
    alone = [shard for shard in manifest.shards if shard.bytes > 20_480]
    assert [shard.samples for shard in alone] == [1]
    assert "s-9" in manifest.notes[0]
    assert all(shard.samples for shard in manifest.shards)
    with pytest.raises(CourseError, match=r"Sample s-9 of d is larger than a shard may be"):
        pack(source, tmp_path / "strict", target_bytes=20_480, strict_target=True)


def test_a_process_pool_packs_the_same_bytes(tmp_path: Path) -> None:
    source = made_source(90)
    pack(source, tmp_path / "one", target_bytes=20_480)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        manifest = pack(source, tmp_path / "pool", target_bytes=20_480, executor=pool)
        assert verify_shards(tmp_path / "pool", executor=pool).ok
        wrong = replace(source, sample_digests=np.zeros((90, 32), dtype=np.uint8))
        with pytest.raises(CourseError, match=r"is not the one of the split manifest.*restore the data"):
            pack(wrong, tmp_path / "wrong", target_bytes=20_480, executor=pool)
    assert len(manifest.shards) > 4
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "pool")


def test_a_dask_cluster_of_two_processes_packs_the_same_bytes(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs dask[distributed]")
    source = made_source(90)
    pack(source, tmp_path / "one", target_bytes=20_480)
    cluster = distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
        silence_logs=50,
    )
    with cluster, distributed.Client(cluster) as client:
        pack(source, tmp_path / "dask-set", target_bytes=20_480, executor=client.get_executor())
    assert bytes_of(tmp_path / "one") == bytes_of(tmp_path / "dask-set")


def test_a_failing_shard_stops_the_pack_and_what_was_finished_is_kept(tmp_path: Path) -> None:
    source = made_source(90)
    wrong = replace(source, sample_digests=np.zeros((90, 32), dtype=np.uint8))
    with (
        ThreadPoolExecutor(2) as pool,
        pytest.raises(CourseError, match="is not the one of the split manifest"),
    ):
        pack(wrong, tmp_path / "set", target_bytes=20_480, executor=pool)
    with pytest.raises(CourseError, match="is not finished"):
        read_manifest(tmp_path / "set")
    pack(source, tmp_path / "set", target_bytes=20_480)
    assert verify_shards(tmp_path / "set").ok


def test_packing_again_finds_the_finished_set_and_writes_nothing(tmp_path: Path) -> None:
    source = made_source(40)
    first = pack(source, tmp_path / "set", target_bytes=20_480)
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "set").glob("*.*")}
    assert pack(source, tmp_path / "set", target_bytes=20_480) == first
    assert times == {path: path.stat().st_mtime_ns for path in (tmp_path / "set").glob("*.*")}


def test_packing_again_over_a_damaged_set_says_so(tmp_path: Path) -> None:
    source = made_source(40)
    pack(source, tmp_path / "set", target_bytes=20_480)
    (tmp_path / "set/train-000001.tar").unlink()
    with pytest.raises(CourseError, match=r"train-000001\.tar .*found no such file; mend it"):
        pack(source, tmp_path / "set", target_bytes=20_480)


@pytest.mark.parametrize(
    "other",
    [
        {"seed": 3},
        {"target_bytes": 30_000},
        {"source": made_source(41)},
        {"source": made_source(40, split="test")},
        {"source": made_source(40, size=800)},
    ],
)
def test_a_folder_with_another_set_is_refused(tmp_path: Path, other: dict[str, Any]) -> None:
    source = made_source(40)
    pack(source, tmp_path / "set")
    before = bytes_of(tmp_path / "set")
    given = dict(other)
    with pytest.raises(CourseError, match="holds another shard set already"):
        pack(given.pop("source", source), tmp_path / "set", **given)
    assert bytes_of(tmp_path / "set") == before


def test_a_folder_with_other_things_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    (tmp_path / "set/notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(CourseError, match=r"holds other things than a shard set.*notes\.txt"):
        pack(made_source(5), tmp_path / "set")
    assert bytes_of(tmp_path / "set") == {"notes.txt": b"mine"}


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "set").write_text("mine", encoding="utf-8")
    with pytest.raises(CourseError, match="could not be written"):
        pack(made_source(5), tmp_path / "set")


def test_a_split_is_named_once_and_never_mixed(tmp_path: Path) -> None:
    assert pack(made_source(5, split=""), tmp_path / "a", split="test").split == "test"
    with pytest.raises(CourseError, match="One shard set holds one split"):
        pack(made_source(5, split="train"), tmp_path / "b", split="test")
    with pytest.raises(CourseError, match="no usable name"):
        pack(made_source(5, split=""), tmp_path / "c")
    with pytest.raises(CourseError, match="no usable name"):
        pack(made_source(5, split=""), tmp_path / "d", split="../up")


def test_zero_samples_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="There is nothing to pack in split train of animals"):
        pack(made_source(5).take(np.arange(0)), tmp_path / "set")
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        (["a", "b.c"], "holds a dot"),
        (["a", "b/c"], "holds a slash"),
        (["a", "a"], "occurs twice"),
        (["a", "A"], "differ only by case"),
        (["a", ""], "is empty"),
        (["a", "x" * 201], "is too long"),
    ],
)
def test_ids_that_readers_would_take_apart_are_refused(tmp_path: Path, ids: list[str], said: str) -> None:
    source = blob_source(
        [b"1", b"2"], ids, [0, 0], dataset="d", class_names=["a"], extension="bin", split="train"
    )
    with pytest.raises(CourseError, match=said):
        pack(source, tmp_path / "set")
    assert not (tmp_path / "set").exists()


class BrokenAfterOne(Executor):
    """Fails its first task and never touches another: what is cancelled there is never reported so."""

    def __init__(self) -> None:
        self.given: list[Future[Any]] = []

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.given.append(Future())
        if len(self.given) == 1:
            self.given[0].set_exception(CourseError("The first shard failed"))
        return self.given[-1]


@pytest.mark.timeout(30)
def test_a_failure_is_told_though_nobody_answers_for_the_other_shards(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="The first shard failed"):
        pack(made_source(20), tmp_path / "set", target_samples=5, executor=BrokenAfterOne())


@pytest.mark.parametrize("odd", ["a\0b", "a\0", "\ud800"])
def test_an_id_that_the_index_could_not_hold_is_refused(odd: str) -> None:
    with pytest.raises(CourseError, match=r"no usable text.*and no zero byte, found '(a\\x00|\\ud800)"):
        blob_source(
            [b"x", b"y"], [odd, "c"], [0, 0], dataset="d", class_names=("a",), extension="bin", split="train"
        )


def test_a_zero_byte_in_an_id_is_refused(tmp_path: Path) -> None:
    source = replace(made_source(2), ids=np.array([b"a\0b", b"c"]))
    with pytest.raises(CourseError, match="holds a zero byte"):
        pack(source, tmp_path / "set")
    assert not (tmp_path / "set").exists()


def test_an_id_that_is_no_text_is_refused(tmp_path: Path) -> None:
    source = replace(made_source(2), ids=np.array([b"a", b"\xff\xfe"]))
    with pytest.raises(CourseError, match="no valid text"):
        pack(source, tmp_path / "set")


@pytest.mark.parametrize("label", [-1, 3])
def test_a_label_outside_the_label_map_is_refused(tmp_path: Path, label: int) -> None:
    source = made_source(4)
    labels = source.labels.copy()
    labels[2] = label
    with pytest.raises(CourseError, match=rf"label of sample .* outside the label map.*found {label}"):
        pack(replace(source, labels=labels), tmp_path / "set")


@pytest.mark.parametrize(
    "given", [{"target_bytes": 0}, {"target_samples": 0}, {"seed": -1}, {"target_bytes": 1.5}]
)
def test_a_recipe_out_of_range_is_refused(tmp_path: Path, given: dict[str, Any]) -> None:
    with pytest.raises(CourseError, match="cannot be used: expected a whole number"):
        pack(made_source(4), tmp_path / "set", **given)


def test_two_targets_at_once_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="one target"):
        pack(made_source(4), tmp_path / "set", target_bytes=1, target_samples=1)


@pytest.mark.parametrize("extension", ["", "tar.gz", "cls", "a/b"])
def test_a_kind_of_file_that_breaks_the_names_is_refused(tmp_path: Path, extension: str) -> None:
    source = made_source(4)
    with pytest.raises(CourseError, match="no usable kind of file"):
        pack(replace(source, facts=replace(source.facts, extension=extension)), tmp_path / "set")


def test_a_payload_that_changed_since_the_plan_is_named(tmp_path: Path) -> None:
    class Growing(type(made_source(4))):  # type: ignore[misc]
        def payloads(self, start: int, stop: int) -> Any:
            return (payload + b"!" for payload in super().payloads(start, stop))

    source = made_source(4)
    growing = Growing(source.facts, source.ids, source.labels, source.blob, source.bounds)
    with pytest.raises(CourseError, match=r"payload of sample train-\d-\d+ of animals changed"):
        pack(growing, tmp_path / "set")


def test_a_payload_beyond_what_a_tar_header_holds_is_refused(tmp_path: Path) -> None:
    class Huge(type(made_source(4))):  # type: ignore[misc]
        def sizes(self) -> Any:
            return np.full(len(self), 8**11, dtype=np.int64)

    source = made_source(4)
    huge = Huge(source.facts, source.ids, source.labels, source.blob, source.bounds)
    with pytest.raises(CourseError, match="too large for a tar member"):
        pack(huge, tmp_path / "set")
