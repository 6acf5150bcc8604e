from __future__ import annotations

import dataclasses
import hashlib
import io
import zipfile
from pathlib import Path

import pandas as pd
import pytest

from course_lib.datasets import bank_marketing, load_bank_marketing
from course_lib.datasets.generated_bank import content_digest, generate_bank_marketing
from course_lib.datasets.sources import FoundFile
from course_lib.errors import CourseError
from course_lib.manifests import DataManifest, load_manifest


def _zip(path_in_archive: str, content: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as opened:
        opened.writestr(zipfile.ZipInfo(path_in_archive), content)
    return archive.getvalue()


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Put a small archive in the place of the published one; its inner digests can be given wrongly."""
    manifest = load_manifest("bank_marketing", "full")

    def publish(csv: bytes, *, inner_digest: str = "", csv_digest: str = "", path: str = "bank-full.csv"):
        inner = _zip(path, csv)
        published = _zip("bank.zip", inner)
        (tmp_path / "bank+marketing.zip").write_bytes(published)
        digests = {"bank.zip": inner_digest or _digest(inner), "bank-full.csv": csv_digest or _digest(csv)}
        members = tuple(
            dataclasses.replace(member, sha256=digests.get(member.name, member.sha256))
            for member in manifest.members
        )
        described: DataManifest = dataclasses.replace(manifest, members=members)
        found = FoundFile(tmp_path / "bank+marketing.zip", "official", _digest(published))
        monkeypatch.setattr(bank_marketing, "load_manifest", lambda name, variant: described)
        monkeypatch.setattr(bank_marketing, "find_file", lambda dataset, file, *, source: found)

    return publish


def _small_csv() -> bytes:
    return generate_bank_marketing("full", row_count=1_000).to_csv(sep=";", index=False).encode("utf-8")


@pytest.mark.mirror
@pytest.mark.parametrize(
    ("variant", "row_count", "yes_count", "sha256"),
    [
        (
            "additional-full",
            41_188,
            4_640,
            "74adfc578bf77a7ff4bb1ba4a9f8709d9e3c6907342959c2c8416847e0afb4d8",
        ),
        ("full", 45_211, 5_289, "d1513ec63b385506f7cfce9f2c5caa9fe99e7ba4e8c3fa264b3aaf0f849ed32d"),
    ],
)
def test_the_real_table_is_the_published_csv(
    mirror: Path, variant: str, row_count: int, yes_count: int, sha256: str
) -> None:
    table = load_bank_marketing(variant)
    assert (table.origin.kind, table.origin.sample_count, table.origin.sha256) == (
        "mirror",
        row_count,
        sha256,
    )
    assert table.origin.seed is None
    assert int((table.frame["y"] == "yes").sum()) == yes_count
    inner_name = "bank-additional.zip" if variant == "additional-full" else "bank.zip"
    with zipfile.ZipFile(mirror / "bank_marketing" / "bank+marketing.zip") as outer:
        inner = zipfile.ZipFile(io.BytesIO(outer.read(inner_name)))
    [path] = [name for name in inner.namelist() if name.endswith(f"{variant}.csv") and "__" not in name]
    expected = pd.read_csv(inner.open(path), sep=";")
    pd.testing.assert_frame_equal(table.frame, expected, check_exact=True)


@pytest.mark.mirror
@pytest.mark.parametrize("variant", ["additional-full", "full"])
def test_the_manifest_lists_every_value_of_the_real_categories(mirror: Path, variant: str) -> None:
    table = load_bank_marketing(variant)
    for field in table.manifest.fields:
        if field.values:
            assert set(table.frame[field.name]) <= set(field.values), field.name


@pytest.mark.mirror
def test_the_figures_in_the_manifest_are_those_of_the_real_table(mirror: Path) -> None:
    frame = load_bank_marketing().frame
    said = load_manifest("bank_marketing").field("pdays").description
    assert f"{int(((frame['pdays'] == 999) & (frame['previous'] > 0)).sum()):,} rows" in said
    assert not (frame.loc[frame["duration"] == 0, "y"] == "yes").any()


def test_without_any_data_the_table_is_generated() -> None:
    table = load_bank_marketing("full", row_count=1_500, seed=5)
    pd.testing.assert_frame_equal(table.frame, generate_bank_marketing("full", row_count=1_500, seed=5))
    assert table.origin.label() == "Data: bank_marketing (full), generated from seed 5, 1,500 samples"
    assert table.origin.sha256 == content_digest(table.frame)
    assert table.manifest.variant == "full"


def test_the_published_table_is_read_out_of_both_archives(archive) -> None:
    csv = _small_csv()
    archive(csv)
    table = load_bank_marketing("full")
    pd.testing.assert_frame_equal(table.frame, pd.read_csv(io.BytesIO(csv), sep=";"))
    assert (table.origin.kind, table.origin.sha256) == ("official", _digest(csv))


def test_a_wrong_digest_inside_the_archive_is_refused_by_name(archive) -> None:
    archive(_small_csv(), inner_digest="0" * 64)
    with pytest.raises(CourseError, match=r"^bank\.zip out of .*bank\+marketing\.zip"):
        load_bank_marketing("full")
    archive(_small_csv(), csv_digest="0" * 64)
    with pytest.raises(CourseError, match=r"^bank-full\.csv out of .*bank\.zip"):
        load_bank_marketing("full")


def test_an_archive_without_its_table_is_refused_by_name(archive) -> None:
    archive(_small_csv(), path="another.csv")
    with pytest.raises(CourseError, match=r"^bank-full\.csv cannot be taken out of"):
        load_bank_marketing("full")


def test_a_row_count_goes_with_generated_data_only(archive) -> None:
    archive(_small_csv())
    with pytest.raises(CourseError, match="row_count=2000"):
        load_bank_marketing("full", row_count=2_000)


def test_an_unknown_variant_is_answered_with_the_known_ones() -> None:
    with pytest.raises(CourseError, match="'additional-full', 'full'"):
        load_bank_marketing("additional")
