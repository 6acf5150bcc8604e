"""Sizes of the three tasks: each says which representation it counts, and counts it right."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from course_lib.datasets import (
    count_tokens,
    encoded_bytes,
    file_layout,
    image_batch,
    image_sizes,
    load_ag_news,
    load_bank_marketing,
    load_cifar10,
    padding_cost,
    table_sizes,
    train_tokeniser,
)
from course_lib.datasets.text_sizes import PAD, PADDINGS, text_sizes
from course_lib.errors import CourseError


@pytest.fixture(scope="module")
def news():
    return tuple(
        load_ag_news(part, source="generated", sample_count=count)
        for part, count in (("train", 300), ("test", 100))
    )


@pytest.fixture(scope="module")
def tokeniser(news):
    return train_tokeniser(news[0].dataset["text"], vocabulary=600)


def test_a_generated_table_has_no_download_and_one_file():
    table = load_bank_marketing(source="generated", row_count=1000)
    task = table_sizes(table)
    assert [size.representation for size in task.sizes] == ["files", "memory", "float32"]
    assert task.size("float32").total_bytes == 1000 * 20 * 4
    assert (task.size("files").files, task.size("files").how) == (1, "computed")
    assert task.size("files").bytes_per_sample == task.size("files").total_bytes / 1000
    with pytest.raises(CourseError, match="has no files as fetched"):
        task.size("download")


def test_images_are_counted_on_the_disk_and_computed_as_arrays():
    train = load_cifar10("train", source="generated", sample_count=20, progress=False)
    test = load_cifar10("test", source="generated", sample_count=10, progress=False)
    task = image_sizes(train, test)
    on_disk = sum(
        path.stat().st_size for images in (train, test) for path in Path(images.root).rglob("*.jpg")
    )
    assert task.size("files").total_bytes == on_disk
    assert (task.size("files").files, task.size("files").how) == (30, "counted")
    assert task.size("decoded").total_bytes == sum(np.asarray(image).nbytes for image, _ in [*train, *test])
    assert task.size("float32").total_bytes == 4 * task.size("decoded").total_bytes


def test_a_batch_of_images_grows_with_the_square_of_the_side():
    batch = image_batch(128, 224)
    assert batch.uint8_bytes == np.zeros((128, 224, 224, 3), np.uint8).nbytes
    assert batch.float32_bytes == 4 * batch.uint8_bytes
    assert image_batch(128, 448).uint8_bytes == 4 * batch.uint8_bytes


@pytest.mark.parametrize("bad", [0, -1, 1.5, True])
def test_a_batch_of_nonsense_is_refused(bad):
    for arguments in ((bad, 32), (32, bad)):
        with pytest.raises(CourseError, match="whole number of at least 1"):
            image_batch(*arguments)


def test_the_size_of_a_stored_image_depends_on_how_it_is_stored():
    noise = np.random.default_rng(1).integers(0, 256, (32, 32, 3), np.uint8)
    images = [Image.fromarray(noise), Image.new("RGB", (32, 32))]
    low, high, lossless = (encoded_bytes(images, quality=quality) for quality in (20, 95, None))
    assert low < high < lossless
    with pytest.raises(CourseError, match="no images"):
        encoded_bytes([], quality=50)
    for bad in (0, 96, True, 50.5):
        with pytest.raises(CourseError, match="from 1 to 95"):
            encoded_bytes(images, quality=bad)


def test_100_gb_in_files_of_two_sizes():
    few = file_layout(100 * 10**9, 10**9, seconds_per_open=0.002)
    many = file_layout(100 * 10**9, 100_000, seconds_per_open=0.002)
    assert (few.files, few.opening_seconds) == (100, 0.2)
    assert (many.files, many.opening_seconds) == (1_000_000, 2000.0)
    assert file_layout(40 * 10**9, 256 * 10**6, seconds_per_open=0).files == 157
    with pytest.raises(CourseError, match="time per open"):
        file_layout(1, 1, seconds_per_open=-1)


def test_the_tokeniser_does_not_depend_on_order_process_or_cores(news, tokeniser):
    texts = list(news[0].dataset["text"])
    assert train_tokeniser(texts[::-1], vocabulary=600).to_str() == tokeniser.to_str()
    script = (
        "import hashlib; from course_lib.datasets import load_ag_news, train_tokeniser;"
        "news = load_ag_news('train', source='generated', sample_count=300);"
        "made = train_tokeniser(news.dataset['text'], vocabulary=600);"
        "print(hashlib.sha256(made.to_str().encode()).hexdigest())"
    )
    expected = hashlib.sha256(tokeniser.to_str().encode()).hexdigest()
    environment = {**os.environ, "PYTHONHASHSEED": "3", "RAYON_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == expected


def test_every_text_can_be_had_back(tokeniser):
    assert tokeniser.get_vocab_size() == 600 and tokeniser.token_to_id(PAD) == 0
    for text in ("Oil prices rise.", "naïve — 東京\t\n", "#36;100 \\ &lt;b&gt;"):
        assert tokeniser.decode(tokeniser.encode(text).ids) == text


def test_a_tokeniser_needs_texts_and_room():
    with pytest.raises(CourseError, match="no texts"):
        train_tokeniser(iter([]))
    with pytest.raises(CourseError, match="too small"):
        train_tokeniser(["a"], vocabulary=200)


def test_tokens_are_counted_in_the_order_of_the_texts(news, tokeniser):
    lengths = count_tokens(tokeniser, *news)
    texts = [*news[0].dataset["text"], *news[1].dataset["text"]]
    assert lengths.tokens.tolist() == [len(tokeniser.encode(text)) for text in texts]
    assert lengths.text_bytes == sum(len(text.encode()) for text in texts)
    assert lengths.origin.sample_count == 400
    assert lengths.percentile(100) == lengths.tokens.max()
    assert (lengths.tokens <= lengths.percentile(90)).mean() >= 0.9
    with pytest.raises(CourseError, match="at least one part"):
        count_tokens(tokeniser)


def test_padding_of_four_texts_by_hand():
    tokens = np.array([2, 8, 3, 20], dtype=np.int32)
    cost = padding_cost(tokens, max_length=10, batch_size=2)
    assert (cost.slots, cost.kept_tokens, cost.truncated_texts) == (40, 23, 1)
    assert cost.waste_share == pytest.approx(17 / 40)
    assert cost.truncated_share == 0.25 and cost.lost_share == pytest.approx(10 / 33)
    assert cost.bytes_per_batch == 2 * 10 * 16
    bucketed = padding_cost(tokens, max_length=10, batch_size=2, padding="bucketed")
    assert bucketed.slots == 2 * 3 + 2 * 10


lengths_of_texts = st.lists(st.integers(1, 300), min_size=1, max_size=200).map(np.array)


@settings(max_examples=60)
@given(tokens=lengths_of_texts, max_length=st.integers(1, 400), batch_size=st.integers(1, 40))
def test_no_token_is_lost_but_by_cutting_and_fixed_padding_is_the_upper_bound(tokens, max_length, batch_size):
    costs = {
        way: padding_cost(tokens, max_length=max_length, batch_size=batch_size, padding=way)
        for way in PADDINGS
    }
    kept = np.minimum(tokens, max_length).sum()
    for cost in costs.values():
        assert cost.kept_tokens == kept <= cost.slots <= len(tokens) * max_length
        assert cost.truncated_texts == (tokens > max_length).sum()
        assert 0 <= cost.waste_share < 1 and 0 <= cost.lost_share < 1
    assert costs["fixed"].slots == len(tokens) * max_length
    if max_length >= tokens.max():
        assert costs["batch"].lost_share == 0


@given(tokens=lengths_of_texts, max_length=st.integers(1, 400))
def test_batches_of_one_need_no_padding(tokens, max_length):
    cost = padding_cost(tokens, max_length=max_length, batch_size=1, padding="batch")
    assert cost.waste_share == 0


def test_bucketing_saves_what_a_mixed_batch_wastes():
    tokens = np.random.default_rng(2).geometric(0.02, 5000)
    mixed, alike = (
        padding_cost(tokens, max_length=512, batch_size=32, padding=way) for way in ("batch", "bucketed")
    )
    assert alike.waste_share < 0.1 < 0.5 < mixed.waste_share
    other = padding_cost(tokens, max_length=512, batch_size=32, padding="batch", seed=1)
    assert other.slots != mixed.slots and other.kept_tokens == mixed.kept_tokens


@pytest.mark.parametrize(
    ("tokens", "options", "said"),
    [
        ([], {}, "no tokens"),
        ([0, 0], {}, "no tokens"),
        ([5], {"max_length": 0}, "max_length"),
        ([5], {"batch_size": 0}, "batch_size"),
        ([5], {"padding": "none"}, "fixed, batch, bucketed"),
    ],
)
def test_padding_of_nonsense_is_refused(tokens, options, said):
    with pytest.raises(CourseError, match=said):
        padding_cost(np.array(tokens), **{"max_length": 8, "batch_size": 2, **options})


def test_texts_from_file_to_padded_tensor(news, tokeniser):
    lengths = count_tokens(tokeniser, *news)
    cost = padding_cost(lengths.tokens, max_length=64, batch_size=16)
    task = text_sizes(*news, lengths, cost)
    assert [size.representation for size in task.sizes] == ["files", "text", "tokens", "padded"]
    assert task.size("tokens").total_bytes == lengths.tokens.sum() * 8
    assert task.size("padded").total_bytes == 400 * 64 * 16
    doubled_quotes = sum(text.count('"') for part in news for text in part.dataset["text"])
    label_comma_quotes_line_feed = 400 * 7
    expected = lengths.text_bytes + label_comma_quotes_line_feed + doubled_quotes
    assert task.size("files").total_bytes == expected
    other = padding_cost(lengths.tokens[:10], max_length=64, batch_size=16)
    with pytest.raises(CourseError, match="other texts"):
        text_sizes(*news, lengths, other)


@pytest.mark.mirror
def test_sizes_of_the_real_texts(mirror):
    news = load_ag_news("train", source="mirror"), load_ag_news("test", source="mirror")
    lengths = count_tokens(train_tokeniser(news[0].dataset["text"]), *news)
    assert lengths.vocabulary == 8_000
    shares = [
        padding_cost(lengths.tokens, max_length=128, batch_size=32, padding=way).waste_share
        for way in PADDINGS
    ]
    assert shares == pytest.approx([0.525, 0.446, 0.016], abs=0.003)
    sizes = text_sizes(*news, lengths, padding_cost(lengths.tokens, max_length=128, batch_size=32))
    assert sizes.size("files").total_bytes == sum(
        path.stat().st_size for path in (mirror / "ag_news").iterdir()
    )
    assert sizes.size("files").files == 2
    assert sizes.size("tokens").total_bytes > 2 * sizes.size("text").total_bytes


@pytest.mark.mirror
def test_sizes_of_the_real_table(mirror):
    task = table_sizes(load_bank_marketing(source="mirror"))
    assert (
        task.size("download").total_bytes == (mirror / "bank_marketing" / "bank+marketing.zip").stat().st_size
    )
    assert (task.size("files").total_bytes, task.size("files").how) == (5_834_924, "counted")
