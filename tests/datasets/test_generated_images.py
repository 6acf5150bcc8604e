import io

import numpy as np
import pytest
from PIL import Image

from course_lib.datasets.generated_images import class_counts, draw_image, generate_jpeg_files
from course_lib.manifests import load_manifest

CLASSES = list(load_manifest("cifar10").label_map)


def decoded(part, count, seed=2026):
    images, labels, sizes = [], [], []
    for name, payload in generate_jpeg_files(part, CLASSES, count, seed):
        images.append(np.asarray(Image.open(io.BytesIO(payload))))
        labels.append(CLASSES.index(name.split("/")[1]))
        sizes.append(len(payload))
    return np.stack(images), np.array(labels), np.array(sizes)


@pytest.fixture(scope="module")
def train():
    return decoded("train", 2000)


@pytest.fixture(scope="module")
def test_part():
    return decoded("test", 400)


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others():
    first, again, other = (list(generate_jpeg_files("train", CLASSES, 30, seed)) for seed in (1, 1, 2))
    assert first == again
    assert all(a[1] != b[1] for a, b in zip(first, other, strict=True))


def test_an_image_does_not_depend_on_how_many_are_made():
    few = dict(generate_jpeg_files("train", CLASSES, 20, 4))
    many = dict(generate_jpeg_files("train", CLASSES, 50, 4))
    assert few.items() <= many.items()


def test_the_parts_share_no_image():
    train, test = (
        {payload for _, payload in generate_jpeg_files(part, CLASSES, 50, 4)} for part in ("train", "test")
    )
    assert not train & test
    assert len(train) == 50


def test_classes_have_equal_shares():
    assert set(class_counts(2000, CLASSES).values()) == {200}
    assert sorted(class_counts(23, CLASSES).values()) == [2] * 7 + [3] * 3


def test_images_look_like_those_of_cifar10(train):
    images, labels, sizes = train
    assert images.shape == (2000, 32, 32, 3)
    assert np.bincount(labels).tolist() == [200] * 10
    assert sizes.min() > 700 and sizes.max() < 1100
    assert 800 < sizes.mean() < 1000


def test_a_linear_model_learns_something_but_not_all(train, test_part):
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    on_pixels = make_pipeline(PCA(60, random_state=0), StandardScaler(), LogisticRegression(max_iter=500))
    on_pixels.fit(train[0].reshape(2000, -1) / 255, train[1])
    accuracy = on_pixels.score(test_part[0].reshape(400, -1) / 255, test_part[1])
    assert 0.45 < accuracy < 0.85

    on_mean_colours = LogisticRegression(max_iter=1000).fit(train[0].mean(axis=(1, 2)) / 255, train[1])
    assert on_mean_colours.score(test_part[0].mean(axis=(1, 2)) / 255, test_part[1]) < accuracy - 0.1


def test_every_class_can_be_drawn():
    for name in CLASSES:
        assert draw_image(name, "train", 0, 1).shape == (32, 32, 3)
