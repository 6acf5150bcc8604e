"""Cases for a class: folders to hand out, and the key apart from them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from course_lib.errors import CourseError
from course_lib.files import cannot_write, folder_published_whole, sha256_file, write_atomically
from course_lib.leakage.custody.bench import (
    SCHEMA_VERSION,
    SET_FILE,
    case_name,
    case_seed,
    series_kinds,
)
from course_lib.leakage.custody.case import DEFAULT_BUDGET, case_kinds, make_case, truth_of
from course_lib.leakage.custody.faults import Truth
from course_lib.leakage.custody.judging import POINTS, Accusation, Score, Verdict, accuse, judged, score_of
from course_lib.leakage.custody.reading import brief, is_text_list, read_json

_LARGEST_COUNT = 99
_SHOWN = 5


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
    # "x/../cases" and a link to it are the same place: places are compared as what they lead to.
    target = Path(os.path.realpath(folder))
    key_file = (
        Path(os.path.realpath(key)) if key is not None else target.parent / f"{target.name}-key" / "key.json"
    )
    if not 1 <= count <= _LARGEST_COUNT:
        raise CourseError("A class gets a small set", expected=f"1 to {_LARGEST_COUNT} cases", found=count)
    if target in key_file.parents or target == key_file:
        raise CourseError(
            "The key must not lie among the cases", found=key_file, next_step="name another folder"
        )
    for path in (target, key_file):
        if os.path.lexists(path):
            raise _there_already(path)
    chosen = secrets.randbits(48) if seed is None else seed
    set_id, key_is_ours = "", False
    try:
        with folder_published_whole(target) as aside:
            set_id, truths = _write_cases(aside, count, chosen, budget)
            # The key first: a set whose key is lost could never be judged.
            _write_new(key_file, _json(_key(set_id, chosen, truths)))
            key_is_ours = True
        if _set_in(target) != set_id:
            # Somebody else's folder was there first, and it stays.
            raise _there_already(target)
    finally:
        if key_is_ours and _set_in(target) != set_id:
            key_file.unlink(missing_ok=True)
    return ClassSet(target, key_file, count)


def _write_cases(folder: Path, count: int, seed: int, budget: int) -> tuple[str, dict[str, Truth]]:
    """Write the cases and what the set is; return its id and the truth about each case."""
    truths: dict[str, Truth] = {}
    for number, kind in enumerate(series_kinds(count, seed), start=1):
        name = case_name(number)
        case = make_case(case_seed(seed, number), kind=kind, folder=folder / name, name=name, budget=budget)
        truths[name] = truth_of(case)
    set_id = _digest_of(folder)
    about = {"schema_version": SCHEMA_VERSION, "set": set_id, "budget": budget, "cases": list(truths)}
    write_atomically(folder / SET_FILE, _json(about))
    return set_id, truths


def _write_new(file: Path, text: str) -> None:
    """Write a file that must not be there yet, not even by another process a moment ago."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        stream = file.open("xb")
    except FileExistsError as error:
        raise (_there_already(file) if os.path.lexists(file) else cannot_write(file, error)) from error
    except OSError as error:
        raise cannot_write(file, error) from error
    try:
        with stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException as error:
        with contextlib.suppress(OSError):
            file.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise cannot_write(file, error) from error
        raise


def _there_already(path: Path) -> CourseError:
    return CourseError(f"{path} is there already", next_step="name another place, or remove it")


def _set_in(folder: Path) -> str:
    """Return the id of the set of cases in a folder, "" where it holds none."""
    try:
        return str(_read(folder / SET_FILE, "a set of cases", ("set",))["set"])
    except CourseError:
        return ""


def judge_verdicts(verdicts: Path | str, key: Path | str) -> ClassReport:
    """Judge a learner's file of verdicts against the key of the set.

    Raises
    ------
    CourseError
        When one of the files cannot be read, or they are not of the same set.
    """
    return _judged_file(Path(verdicts), *_read_key(Path(key)))


def judge_all(
    verdicts: Sequence[Path | str], key: Path | str
) -> tuple[list[tuple[Path, ClassReport]], list[tuple[Path, CourseError]]]:
    """Judge the files of a class: one that cannot be judged does not stop the others.

    Returns
    -------
    judged : list of (Path, ClassReport)
    refused : list of (Path, CourseError)
        What is wrong with a file; the error names it.

    Raises
    ------
    CourseError
        When the key cannot be read.
    """
    truths, set_id = _read_key(Path(key))
    reports, refused = [], []
    for file in map(Path, verdicts):
        try:
            reports.append((file, _judged_file(file, truths, set_id)))
        except CourseError as error:
            refused.append((file, error))
    return reports, refused


def _judged_file(file: Path, truths: dict[str, Truth], set_id: str) -> ClassReport:
    content = _read(file, "a file of verdicts", ("set", "verdicts"))
    if content["set"] != set_id:
        raise CourseError(
            f"{file} is not about this set of cases",
            expected=f"set {set_id}",
            found=brief(content["set"]),
            next_step="use the key that was made with these cases",
        )
    said = content["verdicts"]
    if not isinstance(said, dict):
        raise CourseError(
            f"{file} is not a file of verdicts", expected="a verdict for each case", found=brief(said)
        )
    unknown = sorted(set(said) - set(truths))
    if unknown:
        raise CourseError(
            f"{file} is about cases that the key does not have",
            found=", ".join(map(brief, unknown[:_SHOWN])),
            next_step="use the key that was made with these cases",
        )
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
    cases = content["cases"]
    if not isinstance(cases, dict) or not cases:
        raise _no_whole_key(file, f"{brief(cases)} in place of the cases")
    return {name: _truth_in(case, file, name) for name, case in cases.items()}, str(content["set"])


def _truth_in(case: Any, file: Path, name: str) -> Truth:
    said = case if isinstance(case, dict) else {}
    kind, evidence, beside = said.get("kind"), said.get("evidence"), said.get("beside")
    whole = (
        isinstance(kind, str)
        and kind in case_kinds()
        and isinstance(evidence, list)
        and all(is_text_list(names) and names for names in evidence)
        and is_text_list(beside)
        and isinstance(said.get("explanation"), str)
    )
    if not whole:
        raise _no_whole_key(file, f"an entry for {brief(name)} that was changed")
    return Truth(
        str(kind), tuple(map(frozenset, evidence or ())), frozenset(beside or ()), said["explanation"]
    )


def _no_whole_key(file: Path, found: str) -> CourseError:
    return CourseError(
        f"{file} is no whole key",
        expected="for each case its kind, evidence and explanation",
        found=found,
        next_step="take the key as `course custody make` wrote it",
    )


def _accusation(said: Any, file: Path, name: str) -> Accusation:
    if not isinstance(said, dict) or "kind" not in said:
        raise CourseError(
            f"{file} has no verdict on {name}", expected="a kind and evidence", found=brief(said)
        )
    try:
        return accuse(said["kind"], said.get("evidence", []))
    except CourseError as error:
        raise CourseError(
            f"{file} has no usable verdict on {name}",
            expected=error.expected,
            found=error.found,
            next_step="ask for a file that `bench.write_verdicts` wrote",
        ) from error


def _read(file: Path, what: str, needed: Sequence[str]) -> dict[str, Any]:
    content = read_json(file, what)
    lacking = [name for name in needed if not isinstance(content, dict) or name not in content]
    if lacking or content.get("schema_version") != SCHEMA_VERSION:
        raise CourseError(
            f"{file} is not {what}",
            expected=f"schema_version {SCHEMA_VERSION} with {' and '.join(needed)}",
            found=f"no {' and no '.join(lacking)}" if lacking else brief(content.get("schema_version")),
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
