"""Checks ``usable_fields(fields, moments, at)``: which fields a model may see at a moment."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from course_lib.exercises.answers import described
from course_lib.exercises.marking.trial import FunctionOnTrial, PropertyFailedError

PARAMETERS = ("fields", "moments", "at")

_Fields = list[dict[str, Any]]
_CALL = ["before_campaign", "before_call", "after_call"]
_PARCEL = ["ordered", "packed", "in transit", "delivered", "returned"]


@dataclass(frozen=True)
class _Case:
    about: str
    fields: _Fields
    moments: list[str]
    at: str

    def moment(self, name: str) -> str | None:
        return next(field["known_at"] for field in self.fields if field["name"] == name)

    def time(self, known_at: str | None) -> int | None:
        return self.moments.index(known_at) if known_at in self.moments else None

    def usable(self) -> list[str]:
        now = self.moments.index(self.at)
        return [
            field["name"]
            for field in self.fields
            if field["role"] == "feature"
            and (time := self.time(field["known_at"])) is not None
            and time <= now
        ]


def _fields(*rows: tuple[str, str | None, str]) -> _Fields:
    return [{"name": name, "known_at": known_at, "role": role} for name, known_at, role in rows]


_BANK = _fields(
    ("poutcome", "before_campaign", "feature"),
    ("day_of_week", "before_call", "feature"),
    ("duration", "after_call", "feature"),
    ("age", "before_campaign", "feature"),
    ("y", "after_call", "label"),
)
_RETURNS = _fields(
    ("weight", "packed", "feature"),
    ("came_back", "returned", "label"),
    ("basket_value", "ordered", "feature"),
    ("stars", "delivered", "feature"),
    ("carrier", "packed", "feature"),
    ("delay_hours", "in transit", "feature"),
)


def _cases() -> list[_Case]:
    undescribed = [*_BANK[:2], {"name": "score_v2", "known_at": None, "role": "feature"}, *_BANK[2:]]
    known_label = _fields(("segment", "ordered", "label"), ("basket_value", "ordered", "feature"))
    cases = [
        _Case("the Bank Marketing fields, before the call", _BANK, _CALL, "before_call"),
        _Case("the Bank Marketing fields, before the campaign", _BANK, _CALL, "before_campaign"),
        _Case("the Bank Marketing fields, after the call", _BANK, _CALL, "after_call"),
        _Case("a manifest of parcels, at the moment 'packed'", _RETURNS, _PARCEL, "packed"),
        _Case("a manifest of parcels, at the moment 'delivered'", _RETURNS, _PARCEL, "delivered"),
        _Case("a manifest with a field that nobody has described", undescribed, _CALL, "before_campaign"),
        _Case("a manifest whose label is known from the start", known_label, _PARCEL, "packed"),
        _Case("a manifest without fields", [], _CALL, "before_call"),
    ]
    draw = random.Random(2026)
    for number in range(12):
        moments = draw.sample(["dawn", "alarm", "check", "repair", "bill"], k=4)
        rows = [
            (f"f{i}", draw.choice([*moments, None]), draw.choice(["feature"] * 4 + ["label"]))
            for i in range(9)
        ]
        draw.shuffle(rows)
        cases.append(_Case(f"drawn manifest {number + 1}", _fields(*rows), moments, draw.choice(moments)))
    return cases


def _by(case: _Case, keep: Callable[[dict[str, Any]], bool]) -> list[str]:
    return [field["name"] for field in case.fields if field["role"] == "feature" and keep(field)]


def _mistakes(case: _Case) -> dict[str, list[str]]:
    """Return what typical mistakes give for a case, by symptom."""
    now = case.moments.index(case.at)
    return {
        "compares_text": _by(case, lambda f: f["known_at"] is not None and f["known_at"] <= case.at),
        "names_the_leak": _by(case, lambda f: f["name"] != "duration"),
        "only_the_moment": _by(case, lambda f: f["known_at"] == case.at),
        "strictly_before": _by(case, lambda f: (t := case.time(f["known_at"])) is not None and t < now),
    }


def check(usable_fields: FunctionOnTrial) -> None:
    """Raise at the first property that ``usable_fields`` does not have.

    Raises
    ------
    PropertyFailedError
        With the symptom of the mistake where it is a known one.
    UntouchedError
        When the function is still a stub.
    """
    for case in _cases():
        got = usable_fields(case.fields, case.moments, case.at, on=case.about)
        _require_names(got, case)
        _require_allowed(got, case)
        usable = case.usable()
        if missing := [name for name in usable if name not in got]:
            raise PropertyFailedError(
                f"On {case.about} it leaves out `{missing[0]}`, "
                f"which is known by then (at {case.moment(missing[0])!r}).",
                _symptom(got, case, "leaves_out"),
            )
        if len(got) != len(set(got)):
            raise PropertyFailedError(
                f"On {case.about} it returns a name twice: {described(got)}.", "repeats"
            )
        if got != usable:
            raise PropertyFailedError(
                f"On {case.about} it returns the right names in another order than the fields have.",
                "changes_order",
            )


def _require_names(got: Any, case: _Case) -> None:
    if not isinstance(got, list):
        raise PropertyFailedError(
            f"On {case.about} it returned a {type(got).__name__}; a list of names is asked for.", "no_list"
        )
    names = [field["name"] for field in case.fields]
    for value in got:
        if not isinstance(value, str) or value not in names:
            raise PropertyFailedError(
                f"On {case.about} it returned {described(value)!r}, which is not the name of a field.",
                "no_list",
            )


def _require_allowed(got: list[str], case: _Case) -> None:
    now = case.moments.index(case.at)
    for field in case.fields:
        name, known_at = field["name"], field["known_at"]
        if name not in got:
            continue
        if field["role"] == "label":
            raise PropertyFailedError(
                f"On {case.about} it returns `{name}`, which is the label.", "keeps_label"
            )
        time = case.time(known_at)
        if time is None:
            raise PropertyFailedError(
                f"On {case.about} it returns `{name}`, of which nobody has written down when it is known.",
                _symptom(got, case, "trusts_undescribed"),
            )
        if time > now:
            raise PropertyFailedError(
                f"On {case.about} it returns `{name}`, which is known only at {known_at!r}, "
                f"after {case.at!r}.",
                _symptom(got, case, "looks_ahead"),
            )


def _symptom(got: list[str], case: _Case, otherwise: str) -> str:
    labels = {field["name"] for field in case.fields if field["role"] == "label"}
    features = [name for name in got if name not in labels]
    return next((name for name, mistake in _mistakes(case).items() if features == mistake), otherwise)
