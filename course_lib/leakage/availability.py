"""Each field's moment of knowledge against the moment of the decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_lib.manifests import DataManifest, Field, Moment

Verdict = Literal["usable", "doubtful", "not usable", "undescribed", "label"]


@dataclass(frozen=True)
class FieldVerdict:
    """What the audit says about one field.

    Attributes
    ----------
    field : str
        The column's name.
    verdict : {"usable", "doubtful", "not usable", "undescribed", "label"}
        Doubtful: its moment comes in time, but the manifest records a reason to look twice.
    known_at : str
        Title of the moment at which the value is known; "" where no manifest describes the field.
    reason : str
        One sentence.
    """

    field: str
    verdict: Verdict
    known_at: str
    reason: str


@dataclass(frozen=True)
class AvailabilityAudit:
    """Every field of a table, judged for one decision moment.

    Attributes
    ----------
    dataset, variant : str
        The data set whose manifest was used.
    at : str
        Id of the decision moment.
    at_title : str
        The same in words.
    rows : tuple of FieldVerdict
        One for each column, in the table's order.
    note : str
        A sentence on the decision moment itself, "" where there is nothing to say.
    """

    dataset: str
    variant: str
    at: str
    at_title: str
    rows: tuple[FieldVerdict, ...]
    note: str

    def named(self, *verdicts: Verdict) -> tuple[str, ...]:
        """Return the names of the fields with one of ``verdicts``, in the table's order."""
        return tuple(row.field for row in self.rows if row.verdict in verdicts)

    @property
    def usable(self) -> tuple[str, ...]:
        """Fields that are known in time, beyond doubt."""
        return self.named("usable")

    @property
    def doubtful(self) -> tuple[str, ...]:
        """Fields that are known in time only with care."""
        return self.named("doubtful")

    @property
    def not_usable(self) -> tuple[str, ...]:
        """Fields that become known after the decision."""
        return self.named("not usable")

    @property
    def undescribed(self) -> tuple[str, ...]:
        """Columns that no manifest describes; not usable until somebody writes down when they are known."""
        return self.named("undescribed")

    def summary(self) -> str:
        """Return the audit in one sentence."""
        refused = self.not_usable + self.undescribed
        return (
            f"For a decision {self.at_title}: usable fields: {len(self.usable)}; "
            f"doubtful: {_listed(self.doubtful)}; not usable: {_listed(refused)}."
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the audit as plain values, for JSON."""
        return {
            "dataset": self.dataset,
            "variant": self.variant,
            "at": self.at,
            "usable": list(self.usable),
            "doubtful": list(self.doubtful),
            "not_usable": list(self.not_usable),
            "undescribed": list(self.undescribed),
            "fields": [vars(row) for row in self.rows],
            "note": self.note,
        }


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"


def audit(manifest: DataManifest, at: str, columns: Sequence[str] | None = None) -> AvailabilityAudit:
    """Judge every field for a decision that is made at one moment.

    Parameters
    ----------
    manifest : DataManifest
        Says for each field when its value is known.
    at : str
        Id of the decision moment, for example ``"before_call"``.
    columns : sequence of str, optional
        The columns of the table at hand; the manifest's own fields where left out. A column that
        the manifest does not describe is "undescribed", which means not usable.

    Returns
    -------
    AvailabilityAudit

    Raises
    ------
    CourseError
        When the manifest has no such moment, or a column name is given twice.
    """
    moments = {moment.id: position for position, moment in enumerate(manifest.moments)}
    if at not in moments:
        raise CourseError(
            f"{manifest.name} has no decision moment {at!r}",
            expected=" or ".join(moments),
            found=repr(at),
            next_step="choose one of these, in the order in which they come",
        )
    described = {field.name: field for field in manifest.fields}
    names = list(described) if columns is None else list(columns)
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise CourseError(
            "Column names must be unique to be audited",
            found=", ".join(repeated),
            next_step="rename one of each",
        )
    rows = tuple(
        _judge(described[name], manifest.moments, moments[at])
        if name in described
        else FieldVerdict(
            name,
            "undescribed",
            "",
            "No manifest says when this value is known; describe it before a model may see it.",
        )
        for name in names
    )
    label_moment = next(moments[f.known_at] for f in manifest.fields if f.role == "label")
    note = (
        "The label itself is known by then: a model at this moment has nothing left to predict."
        if label_moment <= moments[at]
        else ""
    )
    title = manifest.moments[moments[at]].title
    return AvailabilityAudit(manifest.name, manifest.variant, at, title, rows, note)


def _judge(field: Field, moments: Sequence[Moment], decision: int) -> FieldVerdict:
    position = next(i for i, moment in enumerate(moments) if moment.id == field.known_at)
    known_at = moments[position].title
    if field.role == "label":
        return FieldVerdict(field.name, "label", known_at, "What the model has to predict; never an input.")
    if position > decision:
        return FieldVerdict(
            field.name,
            "not usable",
            known_at,
            f"Known only {known_at}; the decision is {moments[decision].title}.",
        )
    if field.doubt:
        return FieldVerdict(field.name, "doubtful", known_at, field.doubt)
    return FieldVerdict(field.name, "usable", known_at, f"Known {known_at}.")
