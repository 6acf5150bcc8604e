"""Cases for a class: folders to hand out, and the key apart from them."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.files import folder_published_whole, sha256_file, write_atomically
from course_lib.leakage.custody.bench import (
    SCHEMA_VERSION,
    SET_FILE,
    case_name,
    case_seed,
    series_kinds,
)
from course_lib.leakage.custody.case import DEFAULT_BUDGET, make_case, truth_of
from course_lib.leakage.custody.faults import Truth
from course_lib.leakage.custody.judging import POINTS, Accusation, Score, Verdict, accuse, judged, score_of

_LARGEST_COUNT = 99


@dataclass(frozen=True)
class ClassSet:
    """A set of cases on the disk.

    Attributes
    ----------
    folder : Path
        What the learners get.
    key : Path
        What they don't get.
    count : int
    """

    folder: Path
    key: Path
    count: int


@dataclass(frozen=True)
class JudgedCase:
    """One case of a learner's file, judged against the key; no accusation where the file has none."""

    case: str
    accusation: Accusation | None
    verdict: Verdict | None


@dataclass(frozen=True)
class ClassReport:
    """A learner's file, judged.

    Attributes
    ----------
    learner : str
        As the file says.
    cases : tuple of JudgedCase
        Every case of the key.
    score : Score
        A case without a verdict brings nothing and could have brought a point.
    """

    learner: str
    cases: tuple[JudgedCase, ...]
    score: Score

    def table(self) -> tuple[tuple[str, str, str, str, str], ...]:
        """Return case, verdict, evidence, points and reason, as text."""
        return tuple(
            (
                case.case,
                case.accusation.kind if case.accusation else "none",
                ", ".join(case.accusation.evidence) if case.accusation else "",
                f"{case.verdict.score:g}" if case.verdict and case.verdict.score is not None else "",
                case.verdict.message if case.verdict else "No verdict was handed in.",
            )
            for case in self.cases
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the report as plain values, for JSON."""
        return {
            "learner": self.learner,
            "points": self.score.points,
            "possible": self.score.possible,
            "cases": [
                {
                    "case": case.case,
                    "kind": case.accusation.kind if case.accusation else None,
                    "evidence": list(case.accusation.evidence) if case.accusation else [],
                    "outcome": case.verdict.outcome if case.verdict else None,
                    "score": case.verdict.score if case.verdict else None,
                }
                for case in self.cases
            ],
        }


def class_set(
    count: int,
    seed: int | None,
    folder: Path | str,
    *,
    key: Path | str | None = None,
    budget: int = DEFAULT_BUDGET,
) -> ClassSet:
    """Write cases for a class, and their key into another folder.

    Parameters
    ----------
    count : int
        How many cases, 1 to 99; about a third is clean.
    seed : int or None
        The same seed gives the same set; None for a fresh one, which only the key remembers. A learner who
        knows the seed can make the key.
    folder : path
        For the learners; must not be there yet.
    key : path, optional
        The key's file, outside ``folder``; ``FOLDER-key/key.json`` beside it without it.
    budget : int
        Detectors for each case.

    Raises
    ------
    CourseError
        For a count outside its range, a folder or key that is there already, a key inside the folder,
        and when something cannot be written.
    """
    target = Path(folder).absolute()
    key_file = Path(key).absolute() if key is not None else target.parent / f"{target.name}-key" / "key.json"
    if not 1 <= count <= _LARGEST_COUNT:
        raise CourseError("A class gets a small set", expected=f"1 to {_LARGEST_COUNT} cases", found=count)
    if target in key_file.parents or target == key_file:
        raise CourseError(
            "The key must not lie among the cases", found=key_file, next_step="name another folder"
        )
    for path in (target, key_file):
        if path.exists():
            raise CourseError(f"{path} is there already", next_step="name another place, or remove it")
    chosen = secrets.randbits(48) if seed is None else seed
    truths: dict[str, Truth] = {}
    with folder_published_whole(target) as aside:
        for number, kind in enumerate(series_kinds(count, chosen), start=1):
            name = case_name(number)
            case = make_case(
                case_seed(chosen, number), kind=kind, folder=aside / name, name=name, budget=budget
            )
            truths[name] = truth_of(case)
        set_id = _digest_of(aside)
        about = {
            "schema_version": SCHEMA_VERSION,
            "set": set_id,
            "budget": budget,
            "cases": list(truths),
        }
        write_atomically(aside / SET_FILE, _json(about))
        # The key first: a set whose key is lost could never be judged.
        write_atomically(key_file, _json(_key(set_id, chosen, truths)))
    return ClassSet(target, key_file, count)


def judge_verdicts(verdicts: Path | str, key: Path | str) -> ClassReport:
    """Judge a learner's file of verdicts against the key of the set.

    Raises
    ------
    CourseError
        When one of the files cannot be read, or they are not of the same set.
    """
    truths, set_id = _read_key(Path(key))
    file = Path(verdicts)
    content = _read(file, "a file of verdicts", ("set", "verdicts"))
    if content["set"] != set_id:
        raise CourseError(
            f"{file} is not about this set of cases",
            expected=f"set {set_id}",
            found=repr(content["set"]),
            next_step="use the key that was made with these cases",
        )
    said = content["verdicts"]
    unknown = sorted(set(said) - set(truths)) if isinstance(said, dict) else ["no mapping of cases"]
    if unknown:
        raise CourseError(f"{file} is about cases that the key does not have", found=", ".join(unknown))
    cases = []
    for name, truth in truths.items():
        if name not in said:
            cases.append(JudgedCase(name, None, None))
            continue
        accusation = _accusation(said[name], file, name)
        cases.append(JudgedCase(name, accusation, judged(truth, accusation)))
    score = score_of(case.verdict for case in cases if case.verdict is not None)
    score = replace(score, possible=len(cases) * POINTS["right"])
    return ClassReport(str(content.get("learner", "")), tuple(cases), score)


def _key(set_id: str, seed: int, truths: dict[str, Truth]) -> dict[str, Any]:
    cases = {
        name: {
            "kind": truth.kind,
            "evidence": [sorted(names) for names in truth.evidence],
            "beside": sorted(truth.beside),
            "explanation": truth.explanation,
        }
        for name, truth in truths.items()
    }
    return {"schema_version": SCHEMA_VERSION, "set": set_id, "seed": seed, "cases": cases}


def _read_key(file: Path) -> tuple[dict[str, Truth], str]:
    content = _read(file, "a key", ("set", "cases"))
    try:
        truths = {
            name: Truth(
                case["kind"],
                tuple(frozenset(names) for names in case["evidence"]),
                frozenset(case["beside"]),
                case["explanation"],
            )
            for name, case in content["cases"].items()
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise CourseError(f"{file} is no whole key", found=f"{type(error).__name__} at {error}") from error
    return truths, str(content["set"])


def _accusation(said: Any, file: Path, name: str) -> Accusation:
    try:
        kind, evidence = said["kind"], said.get("evidence", [])
    except (AttributeError, KeyError, TypeError) as error:
        raise CourseError(f"{file} has no verdict on {name}", expected="a kind and evidence") from error
    return accuse(kind, evidence)


def _read(file: Path, what: str, needed: Sequence[str]) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise CourseError(f"{file} cannot be read as {what}", found=reason) from error
    lacking = [name for name in needed if not isinstance(content, dict) or name not in content]
    if lacking or content.get("schema_version") != SCHEMA_VERSION:
        raise CourseError(
            f"{file} is not {what}",
            expected=f"schema_version {SCHEMA_VERSION} with {' and '.join(needed)}",
        )
    return dict(content)


def _digest_of(folder: Path) -> str:
    """Return 16 hexadecimal digits over all files of a folder, by their names and contents."""
    digest = hashlib.sha256()
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(folder).as_posix()} {sha256_file(file)}\n".encode())
    return digest.hexdigest()[:16]


def _json(content: object) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"
