"""A verdict on a case, and what it is worth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from course_lib.errors import CourseError
from course_lib.leakage.custody.case import CustodyCase, case_kinds, truth_of
from course_lib.leakage.custody.faults import CLEAN, Truth
from course_lib.leakage.custody.reading import brief
from course_lib.leakage.detectors import KINDS

Outcome = Literal["right", "evidence", "kind", "missed", "false alarm", "wrong", "handed in"]

POINTS: Mapping[str, float] = {
    "right": 1.0,
    "evidence": 0.5,
    "kind": 0.0,
    "missed": -0.5,
    "false alarm": -0.5,
}
"""What each outcome is worth. Clearing everything unseen earns nothing, accusing everything less."""

OUTCOMES: Mapping[str, str] = {
    "right": "right kind and right evidence, or rightly cleared",
    "evidence": "right kind, wrong evidence",
    "kind": "faulty, but of another kind",
    "missed": "a faulty set was cleared",
    "false alarm": "a clean set was accused",
}

_WHAT_COUNTS = {
    "fitted_on_everything": "the names of the statistics",
    "label_map_changed": "the classes whose codes changed",
    "class_missing": "the class",
    "field_too_good": "the field",
    "drifting_rate": "the class that drifts",
}
_SAMPLES = "the ids of the samples"
_SHOWN = 5


@dataclass(frozen=True)
class Accusation:
    """What a learner says about a case.

    Attributes
    ----------
    kind : str
        A key of `case_kinds`.
    evidence : tuple of str
        Sample ids, or the names of fields, statistics or classes; nothing for a set that is cleared.

    Raises
    ------
    CourseError
        For an unknown kind.
    """

    kind: str
    evidence: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.kind, str) or self.kind not in case_kinds():
            raise CourseError(
                "A verdict names a kind of fault, or clears the set",
                expected=" or ".join(case_kinds()),
                found=brief(self.kind),
            )


@dataclass(frozen=True)
class Verdict:
    """What an accusation was worth.

    Attributes
    ----------
    outcome : str
        A key of `OUTCOMES`; before the attempt is final "wrong" for whatever is neither "right" nor
        "evidence"; "handed in" where only the holder of the key can judge.
    score : float or None
        None as long as nothing is final.
    message : str
        Why, for the learner; it holds the truth only when the attempt is final.
    final : bool
    """

    outcome: Outcome
    score: float | None
    message: str
    final: bool


def accuse(kind: str, evidence: str | Iterable[str] = ()) -> Accusation:
    """Return an accusation from names in a list, or in one text with commas or line ends between them.

    Raises
    ------
    CourseError
        For an unknown kind, or evidence that is no text.
    """
    if isinstance(evidence, str):
        names = evidence.replace(";", ",").replace("\n", ",").split(",")
    else:
        names = list(evidence) if isinstance(evidence, Iterable) else [evidence]
    if not all(isinstance(name, str) for name in names):
        raise CourseError("Evidence consists of names", expected="ids or names as text", found=brief(names))
    stripped = (name.strip().strip("'\"[]()").strip() for name in names)
    return Accusation(kind, tuple(dict.fromkeys(name for name in stripped if name)))


def judge(case: CustodyCase, accusation: Accusation, *, final: bool = True) -> Verdict:
    """Judge an accusation of a case that was made in this session.

    Parameters
    ----------
    case : CustodyCase
    accusation : Accusation
    final : bool
        Whether this is the last attempt: only then the message holds the truth. A right answer is
        always final.

    Raises
    ------
    CourseError
        When the truth about the case is in a key elsewhere.
    """
    return judged(truth_of(case), accusation, final=final)


def judged(truth: Truth, accusation: Accusation, *, final: bool = True) -> Verdict:
    """Judge an accusation against the truth; see `judge`."""
    outcome = _outcome(truth, accusation)
    if outcome == "right":
        return Verdict("right", POINTS["right"], f"Right. {_revealed(truth)}", True)
    if final:
        return Verdict(outcome, POINTS[outcome], f"{_FINAL_WORDS[outcome]} {_revealed(truth)}", True)
    if outcome == "evidence":
        words = (
            f"The kind is right, the evidence is not: name {what_counts(accusation.kind)}, at least half of "
            "those concerned and none that is not."
        )
        return Verdict("evidence", None, words, False)
    if accusation.kind == CLEAN:
        words = (
            "This set cannot be cleared on what is known so far: go through the promises one by one, and ask "
            "of each which tool would have shown it broken."
        )
    else:
        words = (
            f"The files do not bear this out ({KINDS[accusation.kind]}): read again what that tool says, and "
            "whether another explains more, or nothing needs explaining."
        )
    return Verdict("wrong", None, words, False)


def what_counts(kind: str) -> str:
    """Return in words what counts as evidence for a kind of fault."""
    return _WHAT_COUNTS.get(kind, _SAMPLES)


_FINAL_WORDS: Mapping[str, str] = {
    "evidence": "The kind is right, the evidence is not.",
    "kind": "Something is wrong with this set, but not that.",
    "missed": "This set was cleared and is not clean.",
    "false alarm": "This set was accused and is clean.",
}


def _outcome(
    truth: Truth, accusation: Accusation
) -> Literal["right", "evidence", "kind", "missed", "false alarm"]:
    if accusation.kind == truth.kind:
        return "right" if truth.kind == CLEAN or _holds(truth, accusation.evidence) else "evidence"
    if truth.kind == CLEAN:
        return "false alarm"
    return "missed" if accusation.kind == CLEAN else "kind"


def _holds(truth: Truth, evidence: Iterable[str]) -> bool:
    """Tell whether at least half of what is wrong is named, and nothing that is not."""
    named = {name.casefold() for name in evidence}
    wrong = [{name.casefold() for name in names} for names in truth.evidence]
    beside = {name.casefold() for name in truth.beside}
    if named - beside - set().union(*wrong):
        return False
    return 2 * sum(bool(names & named) for names in wrong) >= len(wrong) > 0


def _revealed(truth: Truth) -> str:
    """Return what was done, and the first names that count as evidence."""
    if not truth.evidence:
        return truth.explanation
    shown = ["/".join(sorted(names)[:2]) for names in truth.evidence[:_SHOWN]]
    more = len(truth.evidence) - len(shown)
    return f"{truth.explanation} Evidence: {', '.join(shown)}{f' and {more} more' if more else ''}."


@dataclass(frozen=True)
class Score:
    """A series of verdicts in figures.

    Attributes
    ----------
    points : float
        Sum over the cases that are closed.
    possible : float
        What the same cases could have brought.
    outcomes : dict of str to int
        How many cases ended how, by the keys of `OUTCOMES`.
    """

    points: float
    possible: float
    outcomes: Mapping[str, int]

    def sentence(self) -> str:
        """Return the score in words."""
        if not self.possible:
            return "No case is closed yet."
        parts = "; ".join(f"{OUTCOMES[name]}: {count}" for name, count in self.outcomes.items() if count)
        return f"{self.points:g} of {self.possible:g} points ({parts})."


def score_of(verdicts: Iterable[Verdict]) -> Score:
    """Add up the verdicts that are final."""
    closed = [verdict for verdict in verdicts if verdict.score is not None]
    return Score(
        points=sum(verdict.score or 0.0 for verdict in closed),
        possible=len(closed) * POINTS["right"],
        outcomes={name: sum(verdict.outcome == name for verdict in closed) for name in OUTCOMES},
    )
