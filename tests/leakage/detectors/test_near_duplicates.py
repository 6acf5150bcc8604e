"""Near duplicates of texts, images and table rows: what is found, what is left to other detectors."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from course_lib.errors import CourseError
from course_lib.leakage.detectors import (
    Parts,
    contact_sheet,
    find_near_duplicate_images,
    find_near_duplicate_rows,
    find_near_duplicate_texts,
)

PARTS = Parts(list("abcd"), np.array([0, 0, 1, 1]))


def words(seed: int, count: int = 40) -> list[str]:
    chance = np.random.default_rng(seed)
    return [f"w{number}" for number in chance.integers(0, 5000, count)]


def test_texts_with_one_other_word_are_a_pair() -> None:
    original = words(1)
    changed = [*original[:20], "other", *original[21:]]
    texts = [" ".join(original), " ".join(words(2)), " ".join(changed), " ".join(words(3))]
    finding = find_near_duplicate_texts(PARTS, texts, labels=["x", "x", "y", "x"])
    assert finding.together == (("a", "c"),)
    assert finding.figures["other_label_pairs"] == 1
    assert finding.figures["lowest_similarity"] == pytest.approx(35 / 41)
    # Arrays of labels give plain numbers too, which JSON can hold.
    by_code = find_near_duplicate_texts(PARTS, texts, labels=np.array([0, 0, 1, 0]))
    assert json.loads(json.dumps(by_code.as_dict()))["figures"]["other_label_pairs"] == 1
    # Two of one part are no leak.
    same_part = Parts(list("abcd"), np.array([0, 1, 0, 1]))
    assert find_near_duplicate_texts(same_part, texts).status == "clear"


def test_case_and_punctuation_do_not_hide_a_copy_and_letters_tell_exact_ones() -> None:
    text = " ".join(words(1))
    near = find_near_duplicate_texts(PARTS, [text, "one", text.upper() + "!", "two"])
    assert near.together == (("a", "c"),)
    exact = find_near_duplicate_texts(PARTS, [text, "one", text, "two"])
    assert (exact.status, exact.figures["identical_pairs"]) == ("clear", 1)


def test_the_threshold_decides_and_every_copy_of_a_text_is_listed() -> None:
    original = words(1)
    loosely = [*original[:8], "a", *original[9:18], "b", *original[19:28], "c", *original[29:]]
    texts = [" ".join(text) for text in (original, original, loosely, words(3))]
    assert find_near_duplicate_texts(PARTS, texts).status == "clear"
    loose = find_near_duplicate_texts(PARTS, texts, threshold=0.5)
    assert loose.together == (("a", "c"), ("b", "c"))
    assert loose.figures["lowest_similarity"] == pytest.approx(29 / 47)


def test_texts_without_blanks_between_words_count_by_the_character() -> None:
    original = "存储系统需要在训练开始之前确认样本清单没有被修改过并且保持稳定可靠"
    texts = [original, "别的", original.replace("稳定", "安全"), "其他"]
    assert find_near_duplicate_texts(PARTS, texts).together == (("a", "c"),)


def test_recall_of_planted_texts_is_what_the_bands_promise() -> None:
    train = [words(seed) for seed in range(300)]
    test = [[*text[:10], "other", *text[11:30], "more", *text[31:]] for text in train]
    ids = [f"{part}-{at:03d}" for part in ("train", "test") for at in range(300)]
    finding = find_near_duplicate_texts(
        Parts(ids, np.repeat([0, 1], 300)), [" ".join(text) for text in train + test], threshold=0.7
    )
    right = {tuple(sorted((f"train-{at:03d}", f"test-{at:03d}"))) for at in range(300)}
    # Every pair shares 32 of 44 shingles; one in five thousand such pairs may be overlooked.
    assert len(right & set(finding.together)) >= 298
    assert set(finding.together) <= right
    assert finding.figures["chance_of_missing"] < 0.001


def test_impossible_settings_are_refused() -> None:
    with pytest.raises(CourseError, match="settings"):
        find_near_duplicate_texts(PARTS, ["a"] * 4, bands=5)
    with pytest.raises(CourseError, match="texts do not match"):
        find_near_duplicate_texts(PARTS, ["a"])


def picture(seed: int) -> np.ndarray:
    """Return a smooth tinted picture: 32 x 32 pixels out of 8 x 8 chance shades."""
    chance = np.random.default_rng(seed)
    shades = chance.integers(40, 216, (8, 8, 1)) + chance.integers(-40, 40, (8, 8, 3))
    return np.asarray(Image.fromarray(shades.astype(np.uint8)).resize((32, 32), Image.Resampling.BICUBIC))


def recompressed(image: np.ndarray) -> np.ndarray:
    content = io.BytesIO()
    Image.fromarray(image).save(content, "JPEG", quality=40)
    return np.asarray(Image.open(content))


@pytest.mark.parametrize(
    "copy",
    [
        recompressed,
        lambda image: np.clip(image * 0.8 + 20, 0, 255).astype(np.uint8),
        lambda image: np.asarray(Image.fromarray(image).convert("L").convert("RGB")),
    ],
    ids=["recompressed", "faded", "grey"],
)
def test_images_that_were_worked_over_are_found(copy) -> None:
    images = np.stack([*map(picture, range(20)), copy(picture(7))])
    parts = Parts([f"p{at:02d}" for at in range(21)], np.repeat([0, 1], [20, 1]))
    assert find_near_duplicate_images(parts, images).together == (("p07", "p20"),)


def test_images_without_a_copy_are_cleared_and_equal_pixels_left_to_the_exact_search() -> None:
    images = np.stack([*map(picture, range(20)), picture(7)])
    parts = Parts([f"p{at:02d}" for at in range(21)], np.repeat([0, 1], [20, 1]))
    finding = find_near_duplicate_images(parts, images)
    assert (finding.status, finding.figures["identical_pairs"]) == ("clear", 1)
    # Equal pixels in files of other bytes are no exact duplicate, so they are listed here.
    other_bytes = np.arange(21 * 32, dtype=np.uint16).astype(np.uint8).reshape(21, 32)
    other_bytes[:, 0] = range(21)
    assert find_near_duplicate_images(parts, images, content=other_bytes).together == (("p07", "p20"),)


def test_different_small_things_before_one_sky_are_no_pair() -> None:
    rows = np.linspace(60, 230, 32)[:, None, None]
    sky = np.broadcast_to(rows, (32, 32, 3)).astype(np.uint8)
    birds = np.stack([sky, sky])
    birds[0, 10:14, 8:12] = 20
    birds[1, 14:17, 18:24] = 20
    assert np.corrcoef(birds.reshape(2, -1))[0, 1] > 0.85
    parts = Parts(["a", "b"], np.array([0, 1]))
    # Whatever the hash says, the pixels are compared.
    finding = find_near_duplicate_images(parts, birds, differing_bits=64)
    assert (finding.status, finding.figures["candidates"]) == ("clear", 1)


def test_larger_images_are_compared_too_and_other_shapes_refused() -> None:
    large = np.stack([np.asarray(Image.fromarray(picture(at)).resize((90, 60))) for at in (1, 2, 1, 3)])
    large[2] = recompressed(large[2])
    assert find_near_duplicate_images(PARTS, large).together == (("a", "c"),)
    with pytest.raises(CourseError, match="uint8 of shape"):
        find_near_duplicate_images(PARTS, large[..., 0])


def test_rows_equal_but_for_a_field() -> None:
    frame = pd.DataFrame({"age": [30, 40, 30, 40], "job": ["x", None, "x", None], "duration": [1, 5, 2, 5]})
    finding = find_near_duplicate_rows(PARTS, frame, ignoring=["duration"])
    # b and d are equal throughout, missing value included: an exact duplicate.
    assert finding.together == (("a", "c"),)
    assert (finding.figures["repeats"], finding.figures["identical_pairs"]) == (2, 1)
    with pytest.raises(CourseError, match="no field speed"):
        find_near_duplicate_rows(PARTS, frame, ignoring=["speed"])
    with pytest.raises(CourseError, match="all of them"):
        find_near_duplicate_rows(PARTS, frame, ignoring=["age", "job", "duration"])


def test_contact_sheet_shows_both_pictures_of_a_pair(tmp_path: Path) -> None:
    colours = {"a": (255, 0, 0), "b": (0, 0, 255)}
    path = tmp_path / "sheet.png"
    sheet = contact_sheet(
        [("a", "b")], lambda sample_id: Image.new("RGB", (32, 32), colours[sample_id]), path, side=64
    )
    counts = {colour: count for count, colour in sheet.getcolors(maxcolors=10_000)}
    assert counts[255, 0, 0] == counts[0, 0, 255] == 64 * 64
    assert Image.open(path).size == sheet.size
    with pytest.raises(CourseError, match="nothing to draw"):
        contact_sheet([], lambda _: Image.new("RGB", (8, 8)))
    with pytest.raises(CourseError, match="no image file"):
        contact_sheet([("a", "b")], lambda _: Image.new("RGB", (8, 8)), tmp_path / "sheet.txt")


@pytest.mark.mirror
def test_bank_rows_repeat_as_published(mirror: Path) -> None:
    from course_lib.datasets import load_bank_marketing

    frame = load_bank_marketing("additional-full").frame
    parts = Parts([f"row-{at:05d}" for at in range(len(frame))], np.arange(len(frame)) % 2)
    assert find_near_duplicate_rows(parts, frame, ignoring=[]).figures["repeats"] == 12
    assert find_near_duplicate_rows(parts, frame, ignoring=["duration"]).figures["repeats"] == 1784
    assert find_near_duplicate_rows(parts, frame, ignoring=["duration", "y"]).figures["repeats"] == 2021


@pytest.mark.mirror
def test_cifar_airplanes_have_near_duplicates_across_the_official_parts(mirror: Path) -> None:
    ids, images, codes = [], [], []
    with zipfile.ZipFile(mirror / "cifar10" / "cifar10_jpeg.zip") as archive:
        for name in sorted(archive.namelist()):
            if "/airplane/" in name:
                ids.append(name.removesuffix(".jpg").replace("/", "-"))
                images.append(np.asarray(Image.open(archive.open(name)).convert("RGB")))
                codes.append(int(name.startswith("test")))
    finding = find_near_duplicate_images(Parts(ids, np.array(codes)), np.stack(images))
    assert ("test-airplane-0690", "train-airplane-4430") in finding.together
    assert 10 <= finding.figures["pairs"] <= 100
