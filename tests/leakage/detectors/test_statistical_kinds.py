"""Fitted statistics, telling fields and drifting shares, with the real Bank Marketing figures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from course_lib.errors import CourseError
from course_lib.leakage.detectors import (
    MEANINGS,
    find_drifting_rate,
    find_field_too_good,
    find_statistic_fitted_on_everything,
)

CHANCE = np.random.default_rng(5)
ALL = pd.DataFrame({"age": CHANCE.normal(40, 9, 300), "balance": CHANCE.exponential(900, 300)})
ALL.loc[::17, "age"] = np.nan
TRAIN = ALL.iloc[:200]
TEXTS = [f"word{at % 50} word{at} common" for at in range(300)]
WORDS = pd.DataFrame({"job": [f"job{at // 30}" for at in range(300)], "age": ALL["balance"]})


def with_step_inside():
    return make_pipeline(SimpleImputer(), StandardScaler(), LogisticRegression())


@pytest.mark.parametrize(
    ("make", "everything"),
    [
        (StandardScaler, ALL),
        (MinMaxScaler, ALL),
        (lambda: SimpleImputer(strategy="median"), ALL),
        (lambda: make_pipeline(SimpleImputer(), StandardScaler()), ALL),
        (lambda: OneHotEncoder(handle_unknown="ignore"), WORDS[["job"]]),
        (lambda: make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["age"])), WORDS),
        (CountVectorizer, TEXTS),
        (TfidfVectorizer, TEXTS),
    ],
    ids=["standard", "minmax", "imputer", "pipeline", "one hot", "columns", "counts", "tfidf"],
)
def test_says_what_it_was_fitted_on(make, everything) -> None:
    train = everything[:200]
    right = find_statistic_fitted_on_everything(make().fit(train), train, everything)
    assert (right.status, right.figures["equals"]) == ("clear", "train")
    wrong = find_statistic_fitted_on_everything(make().fit(everything), train, everything)
    assert (wrong.status, wrong.figures["equals"]) == ("found", "everything")
    other = find_statistic_fitted_on_everything(make().fit(everything[20:150]), train, everything)
    assert other.status != "clear"
    assert other.figures["equals"] == "neither"


def test_a_pipeline_is_judged_by_its_transforming_steps() -> None:
    labels = np.arange(300) % 2
    fitted = with_step_inside().fit(TRAIN, labels[:200])
    assert find_statistic_fitted_on_everything(fitted, TRAIN, ALL).figures["equals"] == "train"


def test_means_in_a_plain_mapping() -> None:
    honest = TRAIN.mean().to_dict()
    assert find_statistic_fitted_on_everything(honest, TRAIN, ALL).status == "clear"
    leaked = find_statistic_fitted_on_everything({**honest, "age": ALL["age"].mean()}, TRAIN, ALL)
    assert (leaked.status, leaked.figures["equals"]) == ("found", "neither")
    assert "age mean" in leaked.sentence
    medians = {"age": {"median": TRAIN["age"].median(), "max": TRAIN["age"].max()}}
    assert find_statistic_fitted_on_everything(medians, TRAIN, ALL).status == "clear"
    with pytest.raises(CourseError, match="Unknown statistic"):
        find_statistic_fitted_on_everything({"age": {"mode": 1}}, TRAIN, ALL)
    with pytest.raises(CourseError, match="no speed"):
        find_statistic_fitted_on_everything({"speed": 1.0}, TRAIN, ALL)


@pytest.mark.parametrize("kind", ["WordLevel", "BPE"])
def test_a_tokenizers_vocabulary(kind: str) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    def trained(texts: list[str]) -> Tokenizer:
        tokenizer = Tokenizer(getattr(models, kind)(unk_token="[UNK]"))
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        make_trainer = {"WordLevel": trainers.WordLevelTrainer, "BPE": trainers.BpeTrainer}[kind]
        trainer = make_trainer(special_tokens=["[UNK]", "[PAD]"], show_progress=False)
        tokenizer.train_from_iterator(texts, trainer=trainer)
        return tokenizer

    texts = [f"word{at % 50} common" for at in range(200)] + ["zebra crossing"] * 100
    assert find_statistic_fitted_on_everything(trained(texts[:200]), texts[:200], texts).status == "clear"
    assert find_statistic_fitted_on_everything(trained(texts), texts[:200], texts).status == "found"


def test_equal_parts_cannot_tell_and_unfitted_things_are_refused() -> None:
    same = find_statistic_fitted_on_everything(
        {"age": 4.0}, pd.DataFrame({"age": [3, 5]}), pd.DataFrame({"age": [4]})
    )
    assert (same.status, same.figures["equals"]) == ("cannot tell", "both")
    with pytest.raises(CourseError, match="learnt nothing"):
        find_statistic_fitted_on_everything(StandardScaler(), TRAIN, ALL)
    with pytest.raises(CourseError, match="some kinds of things"):
        find_statistic_fitted_on_everything("a scaler", TRAIN, ALL)


def table(rows: int = 600, seed: int = 0) -> pd.DataFrame:
    chance = np.random.default_rng(seed)
    answers = chance.random(rows) < 0.3
    return pd.DataFrame(
        {
            "honest": chance.normal(0, 1, rows) + 0.5 * answers,
            "row_id": [f"id{at}" for at in range(rows)],
            "colour": chance.choice(["red", "blue"], rows),
            "echo": np.where(answers, chance.normal(3, 1, rows), chance.normal(0, 1, rows)),
            "far_from_zero": np.where(answers, 5.0, 0.1) * chance.choice([-1, 1], rows)
            + chance.normal(0, 0.2, rows),
            "missing_tells": np.where(answers, np.nan, chance.normal(0, 1, rows)),
            "y": np.where(answers, "yes", "no"),
        }
    )


@pytest.mark.parametrize("field", ["echo", "far_from_zero", "missing_tells"])
def test_a_telling_field_is_named(field: str) -> None:
    finding = find_field_too_good(table()[["honest", "row_id", "colour", field, "y"]], "y", positive="yes")
    assert (finding.status, finding.figures["field"]) == ("found", field)
    assert finding.figures["runner_up"] == "honest"


def test_honest_fields_and_an_id_for_each_row_are_cleared() -> None:
    finding = find_field_too_good(table()[["honest", "row_id", "colour", "y"]], "y")
    assert finding.status == "clear"
    assert finding.figures["fields"] == 3


def test_only_training_rows_have_a_say() -> None:
    frame = table()
    frame.loc[:299, "echo"] = 0.0
    assert find_field_too_good(frame[["echo", "colour", "y"]], "y", rows=range(300)).status == "clear"
    assert find_field_too_good(frame[["echo", "colour", "y"]], "y", rows=range(300, 600)).status == "found"
    assert find_field_too_good(frame.head(10), "y").status == "cannot tell"
    with pytest.raises(CourseError, match="no such label"):
        find_field_too_good(frame, "answer")


def test_drift_needs_more_than_chance_and_more_than_a_trifle() -> None:
    chance = np.random.default_rng(1)
    steady = np.where(chance.random(2000) < 0.1, "yes", "no")
    assert find_drifting_rate(steady).status == "clear"
    rising = np.where(chance.random(2000) < np.linspace(0.05, 0.4, 2000), "yes", "no")
    finding = find_drifting_rate(rising, positive="yes")
    assert finding.status == "found"
    assert finding.figures["share_after"] > finding.figures["share_before"]
    # The same rows are steady when their order means nothing.
    assert find_drifting_rate(rising, times=chance.permutation(2000)).status == "clear"
    trifle = np.where(chance.random(1_000_000) < np.linspace(0.10, 0.11, 1_000_000), "yes", "no")
    slight = find_drifting_rate(trifle)
    assert slight.status == "clear"
    assert slight.figures["p_value"] < 0.001
    assert find_drifting_rate(["yes", "no"] * 3).status == "cannot tell"
    with pytest.raises(CourseError, match="positive class"):
        find_drifting_rate(steady, positive="maybe")


def test_every_figure_has_a_meaning() -> None:
    for finding in (
        find_drifting_rate(np.arange(100) % 2),
        find_field_too_good(table(), "y"),
        find_statistic_fitted_on_everything(StandardScaler().fit(ALL), TRAIN, ALL),
    ):
        assert [name for name, _, meaning in finding.explained() if meaning] == list(finding.figures)
    assert all(MEANINGS.values())


@pytest.mark.mirror
def test_bank_marketing_figures(mirror: Path) -> None:
    from course_lib.datasets import load_bank_marketing

    frame = load_bank_marketing("additional-full").frame
    field = find_field_too_good(frame, "y", positive="yes")
    assert (field.status, field.figures["field"]) == ("found", "duration")
    assert round(field.figures["auc"], 3) == 0.818
    assert field.figures["runner_up_auc"] < 0.78
    drift = find_drifting_rate(frame["y"], positive="yes", cut=0.8)
    assert drift.status == "found"
    assert (round(drift.figures["share_before"], 3), round(drift.figures["share_after"], 3)) == (0.064, 0.308)
