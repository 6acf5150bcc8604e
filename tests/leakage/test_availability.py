"""The audit refuses what comes too late, doubts what the manifest doubts, and never trusts the unknown."""

from __future__ import annotations

import json
from types import MappingProxyType

import pytest

from course_lib.errors import CourseError
from course_lib.leakage import audit
from course_lib.manifests import DataManifest, load_manifest, variant_names
from course_lib.manifests.model import Field, Moment


def a_field(name: str, known_at: str, doubt: str = "", role: str = "feature") -> Field:
    return Field(name, "integer", "", f"about {name}", known_at, doubt, role)  # type: ignore[arg-type]


@pytest.fixture
def manifest() -> DataManifest:
    return DataManifest(
        name="toy",
        variant="",
        title="Toy",
        licence="",
        citation="",
        url="",
        files=(),
        members=(),
        prepared=(),
        fields=(
            a_field("z_age", "early"),
            a_field("calls", "middle", doubt="Counts this call too."),
            a_field("a_late", "late"),
            a_field("outcome", "late", role="label"),
        ),
        # Neither these names nor the fields' are in alphabetical order of time.
        moments=(Moment("early", "early on"), Moment("middle", "half-way"), Moment("late", "at the end")),
        label_map=MappingProxyType({}),
        record_set="toy",
    )


@pytest.mark.parametrize(
    ("at", "usable", "doubtful", "not_usable"),
    [
        ("early", ("z_age",), (), ("calls", "a_late")),
        ("middle", ("z_age",), ("calls",), ("a_late",)),
        ("late", ("z_age", "a_late"), ("calls",), ()),
    ],
)
def test_each_field_is_judged_by_the_order_of_moments(manifest, at, usable, doubtful, not_usable):
    found = audit(manifest, at)
    assert (found.usable, found.doubtful, found.not_usable) == (usable, doubtful, not_usable)
    assert found.named("label") == ("outcome",)


def test_a_decision_that_knows_the_label_is_pointed_out(manifest):
    assert "nothing left to predict" in audit(manifest, "late").note
    assert audit(manifest, "middle").note == ""


def test_a_column_without_description_is_not_usable(manifest):
    found = audit(manifest, "late", columns=["z_age", "loyalty_score", "outcome"])
    assert found.undescribed == ("loyalty_score",)
    assert found.usable == ("z_age",)
    assert "loyalty_score" in found.summary()


def test_every_refusal_and_doubt_has_its_reason(manifest):
    reasons = {row.field: row.reason for row in audit(manifest, "middle").rows}
    assert reasons["calls"] == "Counts this call too."
    assert "at the end" in reasons["a_late"] and "half-way" in reasons["a_late"]


@pytest.mark.parametrize("moment", ["", "before", "EARLY", None])
def test_an_unknown_moment_lists_those_there_are(manifest, moment):
    with pytest.raises(CourseError, match="early or middle or late"):
        audit(manifest, moment)


def test_columns_given_twice_are_refused_by_name(manifest):
    with pytest.raises(CourseError, match="calls"):
        audit(manifest, "late", columns=["calls", "z_age", "calls"])


@pytest.mark.parametrize("variant", variant_names("bank_marketing"))
def test_duration_and_the_doubtful_fields_of_bank_marketing_are_named(variant):
    found = audit(load_manifest("bank_marketing", variant), "before_call")
    assert found.not_usable == ("duration",)
    assert "campaign" in found.doubtful
    if variant == "additional-full":
        indicators = {"emp.var.rate", "cons.price.idx", "cons.conf.idx", "euribor3m", "nr.employed"}
        assert indicators <= set(found.doubtful)
    assert {"age", "job"} <= set(found.usable)


def test_the_audit_can_be_written_as_json(manifest):
    content = json.loads(json.dumps(audit(manifest, "middle").as_dict()))
    assert content["doubtful"] == ["calls"]
    assert content["fields"][2] == {
        "field": "a_late",
        "verdict": "not usable",
        "known_at": "at the end",
        "reason": "Known only at the end; the decision is half-way.",
    }
