import re

import numpy as np
import pytest

from course_lib.datasets.generated_text import EXACT_COPY_SHARE, NEAR_COPY_SHARE, generate_news
from course_lib.datasets.news_words import SHARED, TOPICS
from course_lib.manifests import load_manifest

LABELS = list(load_manifest("ag_news").label_map)


@pytest.fixture(scope="module")
def train():
    return generate_news("train", LABELS, 4000, 2026)


@pytest.fixture(scope="module")
def test_part():
    return generate_news("test", LABELS, 2000, 2026)


def share_with(texts, pattern):
    return np.mean([re.search(pattern, text) is not None for text in texts])


def test_the_same_seed_gives_the_same_texts_and_another_seed_others():
    first, again, other = (generate_news("train", LABELS, 40, seed) for seed in (1, 1, 2))
    assert first == again
    assert first.sha256 != other.sha256
    assert not set(first.texts) & set(other.texts)


def test_a_row_does_not_depend_on_how_many_are_written(train):
    few = generate_news("train", LABELS, 500, 2026)
    assert few.texts == train.texts[:500]
    assert few.labels == train.labels[:500]


def test_the_parts_share_no_text(train, test_part):
    assert not set(train.texts) & set(test_part.texts)


def test_topics_have_equal_shares_in_a_mixed_order(train):
    assert np.bincount(train.labels).tolist() == [1000] * 4
    assert np.bincount(train.labels[:40]).tolist() == [10] * 4
    assert len({tuple(train.labels[at : at + 4]) for at in range(0, 400, 4)}) > 15


def test_lengths_are_those_of_the_real_articles(train):
    words = np.array([len(text.split()) for text in train.texts])
    assert 36 < words.mean() < 42
    assert 9 < words.std() < 14
    assert words.min() < 18
    assert words.max() > 90


@pytest.mark.parametrize(
    ("pattern", "real_share"),
    [("&lt;", 0.04), ("#39;", 0.24), ("quot;", 0.04), (r"\\\$", 0.07), (r"\\", 0.11), (r"\(AP\)", 0.07)],
)
def test_markup_noise_is_as_frequent_as_in_the_real_articles(train, pattern, real_share):
    assert share_with(train.texts, pattern) == pytest.approx(real_share, rel=0.35)


def test_exact_copies_are_the_planted_ones(train):
    assert len(train.exact_copies) == pytest.approx(4000 * EXACT_COPY_SHARE, rel=0.6)
    for copy, original in train.exact_copies.items():
        assert original < copy
        assert train.texts[copy] == train.texts[original]
        assert train.labels[copy] == train.labels[original]
    unplanted = [text for row, text in enumerate(train.texts) if row not in train.exact_copies]
    assert len(set(unplanted)) == len(unplanted)


def test_near_copies_keep_the_words_and_change_the_bytes(train):
    assert len(train.near_copies) == pytest.approx(4000 * NEAR_COPY_SHARE, rel=0.6)
    for copy, original in train.near_copies.items():
        assert train.texts[copy] != train.texts[original]
        assert train.labels[copy] == train.labels[original]
        ours, theirs = (set(re.findall(r"\w+", train.texts[row].lower())) for row in (copy, original))
        assert len(ours & theirs) / len(ours | theirs) > 0.7


def test_a_bag_of_words_gets_most_but_not_all_right(train, test_part):
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    model = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=300))
    model.fit(train.texts, train.labels)
    assert 0.82 < model.score(test_part.texts, test_part.labels) < 0.95


def test_the_vocabularies_overlap():
    vocabularies = {
        topic: {word for kind in vars(words).values() for word in kind} for topic, words in TOPICS.items()
    }
    shared = {word for kind in vars(SHARED).values() for word in kind}
    assert list(TOPICS) == LABELS
    for words in vocabularies.values():
        assert words & shared
        assert len(words - shared) > 80
