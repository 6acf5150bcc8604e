from __future__ import annotations

import json
from dataclasses import replace

import pytest

from course_lib.errors import CourseError
from course_lib.experiments.layout_comparison import LayoutComparison, compare_layouts
from course_lib.experiments.layout_equality import LayoutEquality, LayoutFacts, TrainedModel
from course_lib.experiments.layout_training import prove_equality
from course_lib.experiments.measurements import layouts_of, record_layouts
from course_lib.experiments.records import load_record
from course_lib.loading import LoaderConditions

FACTS = LayoutFacts("files", "train", 4, "i", "p", "l", {"cat": 2, "dog": 2}, ("cat", "dog"))


def model(layout: str, seed: int, score: float, weights: str = "") -> TrainedModel:
    return TrainedModel(
        layout, seed, (2.0, 1.0), (0.1, score), (score, score), "ids", weights or f"{layout} {seed}"
    )


def equality(
    *models: TrainedModel, shards: LayoutFacts | None = None, seeds: tuple[int, ...] = (1, 2)
) -> LayoutEquality:
    facts = (FACTS, shards or replace(FACTS, layout="shards"))
    return LayoutEquality(facts, models, {"seeds": list(seeds), "epochs": 2}, None, "2026-01-01")


def test_a_difference_inside_the_spread_is_said_to_be_so() -> None:
    shown = equality(
        model("files", 1, 0.5), model("shards", 1, 0.53), model("files", 2, 0.6), model("shards", 2, 0.6)
    )
    assert shown.spread == pytest.approx(0.1) and shown.differences == pytest.approx((0.03, 0.0))
    assert shown.inside_spread and not shown.same_weights
    assert "0.0300 and lies inside the spread over 2 seeds, 0.1000" in shown.sentence


def test_a_difference_beyond_the_spread_is_said_to_be_so() -> None:
    shown = equality(
        model("files", 1, 0.5), model("shards", 1, 0.3), model("files", 2, 0.6), model("shards", 2, 0.6)
    )
    assert not shown.inside_spread and "is larger than the spread" in shown.sentence


def test_one_seed_shows_no_spread() -> None:
    shown = equality(model("files", 1, 0.5), model("shards", 1, 0.5), seeds=(1,))
    assert not shown.inside_spread and "One seed shows no spread" in shown.sentence


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"ids": "x"}, "ids of train"),
        ({"payloads": "x"}, "payloads of train"),
        ({"labels": "x"}, "labels of train"),
        ({"class_counts": {"cat": 3, "dog": 1}}, "class counts of train"),
        ({"label_map": ("dog", "cat")}, "label map of train"),
    ],
)
def test_whatever_differs_is_named(changed: dict[str, object], said: str) -> None:
    shown = equality(
        model("files", 1, 0.5),
        model("shards", 1, 0.5),
        shards=replace(FACTS, layout="shards", **changed),  # type: ignore[arg-type]
        seeds=(1,),
    )
    assert not shown.same_samples and f"do not hold the same samples: {said} differ." in shown.sentence
    assert shown.proof_table()["equal"].tolist().count("no") == 1


def test_a_layout_without_one_of_the_seeds_is_refused() -> None:
    with pytest.raises(CourseError, match="were not trained alike"):
        equality(model("files", 1, 0.5), model("shards", 1, 0.5), model("files", 2, 0.5))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"conditions": LoaderConditions(transforms="bytes")}, "needs images with labels"),
        ({"seeds": (1, 1)}, "seeds are not usable"),
        ({"seeds": ()}, "seeds are not usable"),
        ({"epochs": 0}, "epochs is out of range"),
    ],
)
def test_trainings_that_cannot_be_are_refused(wrong: dict[str, object], said: str) -> None:
    with pytest.raises(CourseError, match=said):
        prove_equality(progress=False, **wrong)  # type: ignore[arg-type]


def test_both_layouts_are_the_same_to_a_model_and_the_record_holds_it() -> None:
    result = compare_layouts(
        LoaderConditions(sample_count=80, batch_size=16, shard_target_bytes=100_000),
        open_ms=(0.0,),
        workers=(0,),
        repeats=1,
        seeds=(1, 2),
        epochs=2,
        test_samples=40,
        progress=False,
    )
    proof = result.equality
    assert proof.same_samples and proof.same_weights and set(proof.differences) == {0.0}
    assert proof.proof_table()["part"].tolist() == ["train"] * 5 + ["test"] * 5
    assert "bit by bit" in proof.sentence and proof.seeds == (1, 2)
    assert len({each.delivered for each in proof.models}) == 2, "seeds see different orders"
    assert len({each.weights for each in proof.models}) == 2
    assert proof.curve_table().groupby(["layout", "seed"]).size().tolist() == [2] * 4
    assert len(proof.recall_table()) == 10 and len(proof.score_table()) == 2
    record = load_record(record_layouts(result))
    assert record.name == "files_against_shards" and record.origin is not None
    assert record.conditions["trained_seeds"] == [1, 2]
    assert record.figures["equality"] == proof.sentence
    again = layouts_of(record)
    assert json.dumps(again.as_dict()) == json.dumps(result.as_dict())
    with pytest.raises(CourseError, match="of different data"):
        LayoutComparison(result.timing, replace(proof, origin=None))
