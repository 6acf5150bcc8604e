from __future__ import annotations

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from course_lib.errors import CourseError
from course_lib.manifests import load_manifest, manifest_names, manifest_path, reading, variant_names

_BANK_CONTENT: dict[str, Any] = json.loads(manifest_path("bank_marketing").read_text(encoding="utf-8"))


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Write an edited copy of the Bank Marketing manifest where the package looks for manifests."""

    def write(edit) -> None:
        content = copy.deepcopy(_BANK_CONTENT)
        edit(content)
        folder = tmp_path / "bank_marketing"
        folder.mkdir(exist_ok=True)
        (folder / "croissant.json").write_text(json.dumps(content), encoding="utf-8")

    monkeypatch.setattr(reading, "manifests_folder", lambda: tmp_path)
    return write


def test_both_variants_are_described_in_the_published_order() -> None:
    assert variant_names("bank_marketing") == ("additional-full", "full")
    additional, full = load_manifest("bank_marketing"), load_manifest("bank_marketing", "full")
    assert additional.variant == "additional-full"
    assert (len(additional.fields), len(full.fields)) == (21, 17)
    assert additional.field_names[10:12] == ("duration", "campaign")
    assert full.field_names[-2:] == ("poutcome", "y")


@pytest.mark.parametrize("variant", ["additional-full", "full"])
def test_every_field_says_what_it_means_and_when_it_is_known(variant: str) -> None:
    manifest = load_manifest("bank_marketing", variant)
    assert [moment.id for moment in manifest.moments] == ["before_campaign", "before_call", "after_call"]
    late = {field.name for field in manifest.fields if field.known_at == "after_call"}
    assert late == {"duration", "y"}
    assert manifest.label_field.name == "y"
    assert dict(manifest.label_map) == {"no": 0, "yes": 1}
    for field in manifest.fields:
        assert len(field.description) > 15
        assert field.data_type == "text" or field.unit or field.name == "day"
        assert bool(field.values) == (field.data_type == "text")


def test_the_doubtful_fields_are_the_ones_that_need_care() -> None:
    def doubtful(variant: str) -> set[str]:
        return {field.name for field in load_manifest("bank_marketing", variant).fields if field.doubt}

    indicators = {"emp.var.rate", "cons.price.idx", "cons.conf.idx", "euribor3m", "nr.employed"}
    assert doubtful("additional-full") == {"campaign"} | indicators
    assert doubtful("full") == {"campaign", "balance"}


def test_files_are_told_apart_by_who_makes_them() -> None:
    manifest = load_manifest("bank_marketing")
    archive = manifest.published_file("bank+marketing.zip")
    assert archive.url.startswith("https://archive.ics.uci.edu/")
    assert (archive.bytes, archive.mirror_path) == (1_020_670, "bank_marketing/bank+marketing.zip")
    assert [file.name for file in manifest.files] == ["bank+marketing.zip"]
    table = manifest.member("bank-additional-full.csv")
    assert (table.contained_in, table.path) == (
        "bank-additional.zip",
        "bank-additional/bank-additional-full.csv",
    )
    assert {file.prepared_from for file in manifest.prepared} == {"bank-additional-full.csv", "bank-full.csv"}
    assert "creativecommons.org/licenses/by/4.0" in manifest.licence
    assert "10.24432/C5K306" in manifest.citation


def test_a_file_without_a_web_address_is_one_that_only_a_mirror_has(edited) -> None:
    edited(lambda content: content["distribution"][0].update(contentUrl="bank+marketing.zip"))
    assert load_manifest("bank_marketing").published_file("bank+marketing.zip").url == ""


@pytest.mark.parametrize(
    ("look_up", "named"),
    [
        (lambda: load_manifest("bank_marketng"), "bank_marketing"),
        (lambda: load_manifest("bank_marketing", "ful"), "'full'"),
        (lambda: load_manifest("bank_marketing").field("durations"), "duration"),
        (lambda: load_manifest("bank_marketing").moment("before_cal"), "before_call"),
        (lambda: load_manifest("bank_marketing").published_file("bank.csv"), "bank+marketing.zip"),
        (lambda: load_manifest("bank_marketing").member("bank.csv"), "bank-full.csv"),
    ],
)
def test_an_unknown_name_is_answered_with_the_known_ones(look_up, named: str) -> None:
    with pytest.raises(CourseError) as caught:
        look_up()
    assert named in str(caught.value)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda content: content.pop("license"), "license"),
        (lambda content: content["recordSet"][0]["field"][3].pop("x-course:known_at"), "x-course:known_at"),
        (
            lambda content: content["recordSet"][0]["field"][3].update({"x-course:known_at": "someday"}),
            "education is known at 'someday'",
        ),
        (lambda content: content["recordSet"][0]["field"][3].update({"name": "age"}), "the same name"),
        (lambda content: content["recordSet"][0]["field"][3].update({"dataType": "sc:URL"}), "education"),
        (
            lambda content: content["recordSet"][0]["field"][3].update({"x-course:role": "label"}),
            "2 fields have the role 'label'",
        ),
        (lambda content: content["distribution"][0].update(sha256="ABC"), "bank+marketing.zip"),
        (lambda content: content.pop("recordSet"), "x-course:variant"),
        (lambda content: content.update(distribution=3), "wrong type"),
    ],
)
def test_a_broken_manifest_is_refused_with_its_reason(edited, edit, said: str) -> None:
    edited(edit)
    with pytest.raises(CourseError) as caught:
        load_manifest("bank_marketing")
    assert said in str(caught.value)
    assert "croissant.json" in str(caught.value)


def test_a_manifest_that_is_no_json_is_refused(edited, tmp_path: Path) -> None:
    edited(lambda content: None)
    (tmp_path / "bank_marketing" / "croissant.json").write_text('{"name": ', encoding="utf-8")
    with pytest.raises(CourseError, match="not JSON"):
        load_manifest("bank_marketing")


def test_names_are_those_of_the_folders_with_a_croissant_file(edited, tmp_path: Path) -> None:
    assert "bank_marketing" not in manifest_names()
    edited(lambda content: None)
    (tmp_path / "no manifest").mkdir()
    assert manifest_names() == ("bank_marketing",)


def test_reading_a_manifest_loads_no_heavy_library() -> None:
    program = (
        "import sys; from course_lib.manifests import load_manifest; load_manifest('bank_marketing');"
        "print(sorted({'pandas', 'numpy', 'mlcroissant'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
