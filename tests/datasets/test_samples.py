"""Samples of the three tasks: ids and digests depend on what the data are, and on nothing else."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from course_lib.datasets import (
    load_ag_news,
    load_bank_marketing,
    load_cifar10,
    load_samples,
    row_digests,
)
from course_lib.datasets.samples import bank_samples, both_parts, image_samples, text_samples
from course_lib.errors import CourseError


def repeated(digests):
    return len(digests) - len(np.unique(digests, axis=0))


def by_id(samples):
    return dict(zip(samples.ids.to_pylist(), map(bytes, samples.sample_digests()), strict=True))


@pytest.fixture(scope="module")
def table():
    return load_bank_marketing(source="generated", row_count=1500)


def small_images(part, count):
    return load_cifar10(part, source="generated", sample_count=count, progress=False)


def test_a_row_is_known_by_its_place_and_by_its_values_without_the_answer(table):
    samples = bank_samples(table)
    assert samples.ids[0].as_py() == "row-00001" and samples.ids[1499].as_py() == "row-01500"
    assert samples.times.tolist() == list(range(1, 1501))
    assert [samples.class_names[code] for code in samples.labels] == table.frame["y"].tolist()
    row = table.frame.drop(columns="y").iloc[7].to_dict()
    plain = {
        name: int(value) if not isinstance(value, str) and float(value).is_integer() else value
        for name, value in row.items()
    }
    canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=float)
    assert bytes(samples.content[7]) == hashlib.sha256(canonical.encode()).digest()


def test_neither_column_order_nor_other_rows_change_a_digest(table):
    digests = row_digests(table.frame, leaving_out=["y"])
    turned = table.frame[list(table.frame.columns)[::-1]]
    assert (row_digests(turned, leaving_out=["y"]) == digests).all()
    order = np.random.default_rng(0).permutation(len(table.frame))
    assert (row_digests(table.frame.iloc[order], leaving_out=["y"]) == digests[order]).all()


def test_a_digest_sees_every_field_and_which_field_it_is(table):
    one = table.frame.iloc[[0]].copy()
    before = bytes(row_digests(one)[0])
    for name in one.columns:
        changed = one.copy()
        changed[name] = "other" if isinstance(one[name].iloc[0], str) else one[name].iloc[0] + 1
        assert bytes(row_digests(changed)[0]) != before, name
    swapped = one.rename(columns={"age": "campaign", "campaign": "age"})
    assert one["age"].iloc[0] != one["campaign"].iloc[0]
    assert bytes(row_digests(swapped)[0]) != before


def test_whole_numbers_have_one_spelling_and_text_is_not_a_number():
    import pandas as pd

    whole, fraction, words = (row_digests(pd.DataFrame({"a": [value]})) for value in (5191, 5191.0, "5191"))
    assert (whole == fraction).all() and not (whole == words).all()


def test_a_missing_value_is_like_any_other_missing_value():
    import pandas as pd

    frame = pd.DataFrame({"a": ["x", None, "null"], "b": [1.5, float("nan"), float("nan")]})
    digests = row_digests(frame)
    assert bytes(digests[1]) == hashlib.sha256(b'{"a":null,"b":null}').digest()
    assert bytes(digests[2]) == hashlib.sha256(b'{"a":"null","b":null}').digest()


@pytest.mark.parametrize("value", [float("inf"), (1, 2)])
def test_a_value_without_a_canonical_form_is_refused(value):
    import pandas as pd

    with pytest.raises(CourseError, match="Column a holds a value that has no canonical form"):
        row_digests(pd.DataFrame({"a": [value]}))


def test_leaving_out_an_unknown_column_is_refused(table):
    with pytest.raises(CourseError, match="no such column: found lenght"):
        row_digests(table.frame, leaving_out=["lenght"])
    with pytest.raises(CourseError, match="No column is left"):
        row_digests(table.frame, leaving_out=list(table.frame.columns))


def test_images_are_known_by_file_and_by_the_bytes_in_it():
    train, test = small_images("train", 20), small_images("test", 10)
    samples = image_samples(train, test)
    assert samples.ids[0].as_py() == "train-airplane-0000"
    assert samples.official.tolist() == [0] * 20 + [1] * 10
    payload = Path(train.samples[3][0]).read_bytes()
    assert bytes(samples.content[3]) == hashlib.sha256(payload).digest()
    assert samples.class_names[samples.labels[3]] in samples.ids[3].as_py()


def test_stray_folders_and_the_order_of_the_disk_change_no_image(monkeypatch):
    before = by_id(image_samples(small_images("train", 20), small_images("test", 10)))
    folder = Path(small_images("train", 20).root)
    stray = folder / "train" / ".ipynb_checkpoints"
    stray.mkdir()
    shutil.copy(next((folder / "train" / "cat").iterdir()), stray / "0000-checkpoint.jpg")
    shutil.copy(next((folder / "train" / "cat").iterdir()), folder / "train" / "cat" / "copy.jpg")
    listed, scanned = os.listdir, os.scandir

    class Reversed(list):
        def __enter__(self):
            return iter(self)

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(os, "listdir", lambda *a: sorted(listed(*a), reverse=True))
    monkeypatch.setattr(
        os, "scandir", lambda *a: Reversed(sorted(scanned(*a), key=lambda e: e.name, reverse=True))
    )
    after = image_samples(small_images("train", 20), small_images("test", 10))
    assert by_id(after) == before
    assert after.class_names[0] == "airplane"


def test_a_copied_test_image_has_the_digest_of_the_one_it_was_copied_from():
    train, test = small_images("train", 20), small_images("test", 10)
    Path(train.samples[0][0]).write_bytes(Path(test.samples[4][0]).read_bytes())
    samples = image_samples(train, test)
    assert bytes(samples.content[0]) == bytes(samples.content[24])
    assert repeated(samples.content) == 1


def test_a_missing_image_is_named():
    train, test = small_images("train", 20), small_images("test", 10)
    Path(test.samples[2][0]).unlink()
    with pytest.raises(CourseError, match=f"sample {test.sample_id(2)} cannot be read"):
        image_samples(train, test)


def test_texts_are_known_by_part_and_row_and_by_their_characters():
    train = load_ag_news("train", source="generated", sample_count=40)
    test = load_ag_news("test", source="generated", sample_count=20)
    samples = text_samples(train, test)
    assert samples.ids[0].as_py() == "train-000000" and samples.ids[-1].as_py() == "test-000019"
    assert samples.official.tolist() == [0] * 40 + [1] * 20
    assert bytes(samples.content[41]) == hashlib.sha256(test.dataset[1]["text"].encode()).digest()
    assert samples.class_names == ("World", "Sports", "Business", "Sci/Tech")
    assert samples.labels.tolist() == list(train.dataset["label"]) + list(test.dataset["label"])
    picked = text_samples(load_ag_news("train", source="generated", sample_count=40), test)
    assert by_id(picked) == by_id(samples)


def test_generated_data_never_share_a_name_with_the_real_ones(table):
    assert bank_samples(table).variant == "additional-full-generated-2026-1500"
    images = image_samples(small_images("train", 20), small_images("test", 10))
    assert images.variant == "generated-2026-30"


def test_the_origin_of_two_parts_counts_both_and_depends_on_both():
    train, test = small_images("train", 20).origin, small_images("test", 10).origin
    both = both_parts(train, test)
    assert both.sample_count == 30 and both.kind == "generated" and both.seed == 2026
    assert both.sha256 == hashlib.sha256(f"{train.sha256}\n{test.sha256}\n".encode()).hexdigest()


def test_every_process_sees_the_same_samples():
    script = (
        "import hashlib; from course_lib.datasets import load_bank_marketing;"
        "from course_lib.datasets.samples import bank_samples;"
        "s = bank_samples(load_bank_marketing(source='generated', row_count=1000));"
        "print(hashlib.sha256(s.sample_digests().tobytes()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


@pytest.mark.parametrize(
    ("name", "variant", "said"), [("mnist", "", "ag_news"), ("cifar10", "full", "has no")]
)
def test_unknown_names_are_refused(name, variant, said):
    with pytest.raises(CourseError, match=said):
        load_samples(name, variant)


@pytest.mark.mirror
def test_the_known_duplicates_of_the_real_table(mirror):
    table = load_bank_marketing("additional-full", source="mirror")
    samples = bank_samples(table)
    assert len(samples) == 41_188 and np.bincount(samples.labels).tolist() == [36_548, 4_640]
    assert repeated(samples.sample_digests()) == 12
    assert repeated(row_digests(table.frame)) == 12
    assert repeated(row_digests(table.frame, leaving_out=["duration"])) == 1_784
    assert repeated(row_digests(table.frame, leaving_out=["duration", "y"])) == 2_021
    pandas_says = [table.frame.drop(columns=out).duplicated().sum() for out in ([], ["duration"])]
    assert pandas_says == [12, 1_784]


@pytest.mark.mirror
def test_the_real_samples_of_each_task(mirror):
    full, origin = load_samples("bank_marketing", "full", source="mirror")
    assert (len(full), origin.kind, full.variant) == (45_211, "mirror", "full")
    assert np.bincount(full.labels).tolist() == [39_922, 5_289]
    texts, _ = load_samples("ag_news", source="mirror")
    assert np.bincount(texts.official).tolist() == [10_000, 7_600]
    assert texts.ids[0].as_py() == "sample-000000" and texts.variant == "train-sample"
