from __future__ import annotations

import io
import itertools
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from course_lib.datasets.generated_bank import DEFAULT_ROW_COUNTS, content_digest, generate_bank_marketing
from course_lib.errors import CourseError
from course_lib.manifests import load_manifest

_VARIANTS = ("additional-full", "full")


def _auc(train: pd.DataFrame, test: pd.DataFrame, *, model: str) -> float:
    texts = [name for name in train if not pd.api.types.is_numeric_dtype(train[name]) and name != "y"]
    numbers = [name for name in train if name not in (*texts, "y")]
    if model == "logistic":
        encoders = [
            (StandardScaler(), numbers),
            (OneHotEncoder(handle_unknown="ignore", sparse_output=False), texts),
        ]
        classifier = LogisticRegression(solver="newton-cholesky")
    else:
        codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
        encoders = [("passthrough", numbers), (codes, texts)]
        classifier = HistGradientBoostingClassifier(random_state=0)
    named = [(str(place), *encoder) for place, encoder in enumerate(encoders)]
    pipeline = make_pipeline(ColumnTransformer(named), classifier)
    pipeline.fit(train.drop(columns="y"), train["y"] == "yes")
    return roc_auc_score(test["y"] == "yes", pipeline.predict_proba(test.drop(columns="y"))[:, 1])


def _four_figures(frame: pd.DataFrame, *, model: str = "logistic") -> tuple[float, float, float, float]:
    """Return AUC with and without duration, on a random split and then on the ordered one (85/15)."""
    ordered = frame[: int(len(frame) * 0.85)], frame[int(len(frame) * 0.85) :]
    random = train_test_split(frame, test_size=0.15, stratify=frame["y"], random_state=0)
    figures = []
    for train, test in (random, ordered):
        figures.append(_auc(train, test, model=model))
        figures.append(_auc(train.drop(columns="duration"), test.drop(columns="duration"), model=model))
    return tuple(figures)


@pytest.fixture(scope="module", params=_VARIANTS)
def whole(request: pytest.FixtureRequest) -> tuple[str, pd.DataFrame]:
    return request.param, generate_bank_marketing(request.param)


def test_columns_and_types_are_those_of_the_manifest(whole) -> None:
    variant, frame = whole
    manifest = load_manifest("bank_marketing", variant)
    assert tuple(frame.columns) == manifest.field_names
    text_type = pd.read_csv(io.StringIO("job\nx"))["job"].dtype
    types = {"text": text_type, "integer": np.dtype(np.int64), "float": np.dtype(np.float64)}
    for field in manifest.fields:
        assert frame[field.name].dtype == types[field.data_type], field.name
        assert not field.values or set(frame[field.name]) <= set(field.values), field.name
    assert len(frame) == DEFAULT_ROW_COUNTS[variant]


def test_the_share_of_yes_grows_with_time(whole) -> None:
    variant, frame = whole
    yes = (frame["y"] == "yes").to_numpy()
    four_fifths = len(yes) * 4 // 5
    assert yes.mean() == pytest.approx({"additional-full": 0.1127, "full": 0.1170}[variant], abs=1e-4)
    assert yes[:four_fifths].mean() == pytest.approx(0.065, abs=0.004)
    assert yes[four_fifths:].mean() == pytest.approx(0.31, abs=0.015)


def test_duration_gives_the_answer_away(whole) -> None:
    _, frame = whole
    yes = frame["y"] == "yes"
    assert roc_auc_score(yes, frame["duration"]) == pytest.approx(0.82, abs=0.015)
    silent = frame["duration"] == 0
    assert 1 <= silent.sum() <= 4
    assert not yes[silent].any()


def test_rows_repeat_as_planted(whole) -> None:
    variant, frame = whole
    assert frame.duplicated().sum() == {"additional-full": 12, "full": 0}[variant]
    repeated = frame.drop(columns="duration").duplicated().mean()
    if variant == "additional-full":
        assert repeated == pytest.approx(0.043, abs=0.004)
    else:
        assert repeated < 0.001


@pytest.mark.parametrize("seed", range(5))
def test_planted_rows_scale_and_no_others_arise(seed: int) -> None:
    frame = generate_bank_marketing(row_count=10_000, seed=seed)
    assert frame.duplicated().sum() == 3
    assert (frame["duration"] == 0).sum() == 1
    assert len(frame) == 10_000


def test_months_follow_each_other_and_the_economy_changes_with_them() -> None:
    frame = generate_bank_marketing()
    spells = (frame["month"] != frame["month"].shift()).cumsum()
    months = " ".join(frame["month"].groupby(spells).first())
    first_year, second_year, third_year = months.split(" mar ")
    assert first_year == "may jun jul aug oct nov dec"
    assert second_year == "apr may jun jul aug sep oct nov dec"
    assert third_year == "apr may jun jul aug sep oct nov"
    for name in ("emp.var.rate", "cons.price.idx", "cons.conf.idx", "nr.employed"):
        assert (frame[name].groupby(spells).nunique() == 1).all()
    assert frame["euribor3m"].nunique() < 500
    assert set(frame["day_of_week"]) == {"mon", "tue", "wed", "thu", "fri"}


def test_days_go_forward_within_each_month() -> None:
    frame = generate_bank_marketing("full", row_count=5_000)
    same_month = frame["month"] == frame["month"].shift()
    assert (frame["day"].diff()[same_month] >= 0).all()
    assert frame["day"].between(1, 31).all()
    assert {"jan", "feb"} <= set(frame["month"])


def test_earlier_success_is_the_strongest_sign(whole) -> None:
    variant, frame = whole
    yes = frame["y"] == "yes"
    assert yes[frame["poutcome"] == "success"].mean() > 0.5
    never = 999 if variant == "additional-full" else -1
    assert (frame["pdays"] == never).mean() > 0.8
    none = "nonexistent" if variant == "additional-full" else "unknown"
    assert ((frame["previous"] == 0) == (frame["poutcome"] == none)).all()


def test_the_four_figures_come_near_the_real_ones() -> None:
    figures = _four_figures(generate_bank_marketing())
    assert figures == pytest.approx((0.934, 0.782, 0.762, 0.691), abs=0.03)
    assert figures[1] - figures[2] > 0.01


@pytest.mark.parametrize("variant", _VARIANTS)
@pytest.mark.parametrize("seed", [2026, 0, 1, 2, 3])
def test_the_order_of_the_four_figures_holds_for_any_seed(variant: str, seed: int) -> None:
    figures = _four_figures(generate_bank_marketing(variant, row_count=12_000, seed=seed))
    for better, worse in itertools.pairwise(figures):
        assert better - worse > 0.01, figures


@pytest.mark.parametrize("row_count", [5_000, 8_000, 20_000])
def test_the_order_of_the_four_figures_holds_for_any_size(row_count: int) -> None:
    figures = _four_figures(generate_bank_marketing(row_count=row_count))
    for better, worse in itertools.pairwise(figures):
        assert better - worse > 0.01, figures


def test_trees_see_the_same_two_leaks() -> None:
    with_random, random, with_ordered, ordered = _four_figures(
        generate_bank_marketing(row_count=12_000), model="trees"
    )
    assert with_random > max(random, with_ordered) + 0.05
    assert ordered < min(random, with_ordered) - 0.02


def test_the_same_seed_gives_the_same_table_in_another_process() -> None:
    program = (
        "from course_lib.datasets.generated_bank import *;"
        "print(content_digest(generate_bank_marketing('full', row_count=1_000, seed=9)))"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    here = content_digest(generate_bank_marketing("full", row_count=1_000, seed=9))
    assert other.stdout.strip() == here
    assert here == "1b8f54afb36f8cb25128aba285ef13674c057f681eef3d9689129c1a3b1de41e"
    assert here != content_digest(generate_bank_marketing("full", row_count=1_000, seed=10))


def test_the_digest_depends_on_contents_alone() -> None:
    frame = pd.DataFrame({"age": [1, 2], "rate": [0.5, 1.5], "job": ["ab", "c"]})
    digest = content_digest(frame)
    assert content_digest(frame.astype({"job": object}).set_index(pd.Index([7, 8]))) == digest
    assert content_digest(frame.assign(job=["a", "bc"])) != digest
    assert content_digest(frame.assign(rate=[0.5, 1.25])) != digest
    assert content_digest(frame.rename(columns={"age": "years"})) != digest
    assert content_digest(frame.iloc[::-1]) != digest


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"row_count": 999}, "at least 1,000"),
        ({"row_count": 2_000.0}, "2000.0"),
        ({"row_count": True}, "True"),
        ({"seed": -1}, "seed"),
        ({"seed": "x"}, "'x'"),
        ({"variant": "small"}, "'additional-full', 'full'"),
    ],
)
def test_unusable_wishes_are_refused(how: dict, said: str) -> None:
    with pytest.raises(CourseError) as caught:
        generate_bank_marketing(**how)
    assert said in str(caught.value)
