"""Generated calls of clients who come back: a random split leaks, a grouped one doesn't."""

import numpy as np
import pytest

from course_lib.datasets import client_samples, load_client_calls
from course_lib.datasets.generated_clients import FEATURES
from course_lib.errors import CourseError
from course_lib.leakage.models import build_pipeline
from course_lib.splits import make_split, parse_recipe


@pytest.fixture(scope="module")
def calls():
    return load_client_calls()


def auc(frame, train, test):
    from sklearn.metrics import roc_auc_score

    fields = frame[list(FEATURES)]
    model = build_pipeline("boosted_trees", fields).fit(fields.iloc[train], frame["y"].iloc[train])
    return roc_auc_score(frame["y"].iloc[test] == "yes", model.predict_proba(fields.iloc[test])[:, 1])


def test_a_seed_gives_one_table_and_another_seed_another(calls):
    frame, origin = calls
    again, same = load_client_calls()
    assert again.equals(frame) and same == origin
    assert origin.kind == "generated" and origin.sample_count == len(frame) == 6000
    assert load_client_calls(seed=7)[1].sha256 != origin.sha256


def test_clients_come_back_and_nearly_always_answer_alike(calls):
    frame, _ = calls
    per_client = frame.groupby("client")["y"]
    assert 1000 < len(per_client) < 1600 and per_client.size().max() == 8
    majority = per_client.transform(lambda answers: answers.mode()[0])
    assert 0.9 < (frame["y"] == majority).mean() < 1
    assert frame["day"].is_monotonic_increasing and frame["sample_id"].is_unique
    assert (
        frame.groupby("client")["earlier_calls"].agg(list).map(lambda seen: seen == [*range(len(seen))])
    ).all()


def test_a_random_split_scores_by_knowing_the_clients_and_a_grouped_one_does_not(calls):
    frame, origin = calls
    samples = client_samples(frame, origin)
    scores, shared = {}, {}
    for kind in ("stratified", "grouped"):
        split = make_split(samples, parse_recipe(f"{kind}-85-15"))
        train, test = (split.positions(name) for name in split.names)
        scores[kind] = auc(frame, train, test)
        known = set(frame["client"].iloc[train])
        shared[kind] = frame["client"].iloc[test].isin(known).mean()
    assert shared["stratified"] > 0.9 and shared["grouped"] == 0
    assert scores["stratified"] > 0.8
    assert 0.55 < scores["grouped"] < scores["stratified"] - 0.1


def test_samples_carry_clients_days_and_digests_that_tell_calls_apart(calls):
    frame, origin = calls
    samples = client_samples(frame, origin)
    assert samples.groups.to_pylist() == frame["client"].tolist()
    assert samples.times.tolist() == frame["day"].tolist()
    assert samples.class_names == ("no", "yes") and samples.labels.sum() == (frame["y"] == "yes").sum()
    assert len(np.unique(samples.content, axis=0)) == len(frame)


@pytest.mark.parametrize("rows", [0, 99, 1_000_001, 1.5, True])
def test_a_row_count_out_of_range_is_refused(rows):
    with pytest.raises(CourseError, match=r"out of range|too small"):
        load_client_calls(rows)
