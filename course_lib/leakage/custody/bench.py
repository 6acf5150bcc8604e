"""A series of cases: inspect, give a verdict, see what it was worth."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path

from course_lib.errors import CourseError
from course_lib.files import write_atomically
from course_lib.leakage.custody.case import (
    CLEAN_SHARE,
    DEFAULT_BUDGET,
    CustodyCase,
    make_case,
    open_case,
)
from course_lib.leakage.custody.faults import CLEAN
from course_lib.leakage.custody.judging import Accusation, Score, Verdict, accuse, judge, score_of
from course_lib.leakage.custody.reading import read_json
from course_lib.leakage.detectors import KINDS

SCHEMA_VERSION = 1
DEFAULT_ATTEMPTS = 2
SET_FILE = "set.json"


class Bench:
    """A series of cases, numbered from 1, with the learner's verdicts.

    Parameters
    ----------
    count : int
        How many cases; about a third of them are clean, and each kind of fault comes once before any
        comes again.
    seed : int
        The same seed gives the same cases.
    budget : int
        Detectors for each case; see `CustodyCase`.
    attempts : int
        After a wrong verdict there is another attempt until this many are made; what a later one gains
        is halved.

    Raises
    ------
    CourseError
        For less than one case or attempt.

    Examples
    --------
    >>> bench = Bench(count=3, seed=1)
    >>> bench.case(1).inspect("group_spread").status in ("found", "clear")
    True
    >>> bench.judge(1, kind="clean").outcome in ("right", "wrong")
    True
    """

    def __init__(
        self,
        count: int = 12,
        seed: int = 2026,
        *,
        budget: int = DEFAULT_BUDGET,
        attempts: int = DEFAULT_ATTEMPTS,
    ) -> None:
        if count < 1 or attempts < 1:
            raise CourseError(
                "A bench needs one case and one attempt at least", found=f"{count} and {attempts}"
            )
        self.count = count
        self.budget = budget
        self.attempts = attempts
        self.seed: int | None = seed
        self._set_id = ""
        self._folders: tuple[Path, ...] = ()
        self._cases: dict[int, CustodyCase] = {}
        self._accusations: dict[int, list[Accusation]] = {}
        self._verdicts: dict[int, Verdict] = {}

    @classmethod
    def opened(cls, folder: Path | str) -> Bench:
        """Open a set of cases that an instructor handed out; verdicts are kept, and judged elsewhere.

        Raises
        ------
        CourseError
            When the folder holds no set of cases.
        """
        place = Path(folder)
        try:
            about = read_json(place / SET_FILE, "a set of cases")
        except CourseError as error:
            raise _no_set(place, str(error.found)) from error
        said = about if isinstance(about, dict) else {}
        names, budget, set_id = said.get("cases"), said.get("budget"), said.get("set")
        if (
            not isinstance(names, list)
            or not names
            or names != [case_name(number) for number in range(1, len(names) + 1)]
            or not isinstance(budget, int)
            or budget < 0
            or not isinstance(set_id, str)
        ):
            raise _no_set(place, f"a {SET_FILE} that was changed")
        bench = cls(len(names), budget=budget, attempts=1)
        bench.seed = None
        bench._set_id = set_id
        bench._folders = tuple(place / name for name in names)
        return bench

    def case(self, number: int) -> CustodyCase:
        """Return a case, always the same one.

        Raises
        ------
        CourseError
            When there is no case of this number.
        """
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= self.count:
            raise CourseError(
                "There is no such case", expected=f"a number from 1 to {self.count}", found=repr(number)
            )
        if number not in self._cases:
            self._cases[number] = self._made(number)
        return self._cases[number]

    def judge(self, number: int, kind: str, evidence: str | Iterable[str] = ()) -> Verdict:
        """Give a verdict on a case.

        Parameters
        ----------
        number : int
        kind : str
            A key of `case_kinds`.
        evidence : str or sequence of str
            Sample ids, or names of fields, statistics or classes.

        Raises
        ------
        CourseError
            For an unknown case or kind, and for a case that is closed.
        """
        case, accusation = self.case(number), accuse(kind, evidence)
        before = self._accusations.setdefault(number, [])
        if self._folders:
            before[:] = [accusation]
            self._verdicts[number] = Verdict("handed in", None, _HANDED_IN, False)
            return self._verdicts[number]
        if self.closed(number):
            raise CourseError(
                f"Case {number} is closed",
                found=self._verdicts[number].outcome,
                next_step="take another case",
            )
        before.append(accusation)
        verdict = judge(case, accusation, final=len(before) >= self.attempts)
        if verdict.score is not None and verdict.score > 0 and len(before) > 1:
            verdict = Verdict(verdict.outcome, verdict.score / 2, verdict.message, verdict.final)
        self._verdicts[number] = verdict
        return verdict

    def verdict(self, number: int) -> Verdict | None:
        """Return the newest verdict on a case, None where there is none yet."""
        self.case(number)
        return self._verdicts.get(number)

    def closed(self, number: int) -> bool:
        """Tell whether the verdict on a case is final."""
        verdict = self.verdict(number)
        return verdict is not None and verdict.final

    def attempts_left(self, number: int) -> int:
        """Return how many more verdicts a case takes."""
        return 0 if self.closed(number) else self.attempts - len(self._accusations.get(number, []))

    def score(self) -> Score:
        """Return the score over the cases that are closed."""
        return score_of(self._verdicts.values())

    def write_verdicts(self, file: Path | str, *, learner: str = "") -> Path:
        """Write the newest verdict on each case as a file to hand in.

        Raises
        ------
        CourseError
            When there is no verdict yet, or the file cannot be written.
        """
        if not self._accusations:
            raise CourseError("There is no verdict to hand in yet", next_step="judge a case first")
        newest = {
            self.case(number).name: {"kind": said[-1].kind, "evidence": list(said[-1].evidence)}
            for number, said in sorted(self._accusations.items())
        }
        content = {
            "schema_version": SCHEMA_VERSION,
            "set": self._set_id,
            "learner": learner,
            "verdicts": newest,
        }
        return write_atomically(Path(file), json.dumps(content, indent=1, ensure_ascii=False) + "\n")

    def _made(self, number: int) -> CustodyCase:
        if self._folders:
            return open_case(self._folders[number - 1], budget=self.budget)
        assert self.seed is not None
        kind = series_kinds(self.count, self.seed)[number - 1]
        return make_case(case_seed(self.seed, number), kind=kind, name=case_name(number), budget=self.budget)

    def __repr__(self) -> str:
        return f"Bench({self.count} cases, {sum(map(self.closed, self._cases))} closed)"


_HANDED_IN = "Kept. Write all verdicts to a file and hand it in; you may change this one until then."


def _no_set(place: Path, found: str) -> CourseError:
    return CourseError(
        f"{place} holds no set of cases",
        expected=f"a readable {SET_FILE} in it",
        found=found,
        next_step="name the folder that your instructor handed out",
    )


def series_kinds(count: int, seed: int) -> list[str]:
    """Return what is planted in each case of a series: a third is clean, the kinds come in turn."""
    draw = random.Random(f"custody-series-{seed}")
    clean_count = round(count * CLEAN_SHARE)
    kinds: list[str] = []
    while len(kinds) < count - clean_count:
        kinds += draw.sample(tuple(KINDS), len(KINDS))
    kinds = [CLEAN] * clean_count + kinds[: count - clean_count]
    draw.shuffle(kinds)
    return kinds


def case_seed(seed: int, number: int) -> int:
    """Return the seed of one case of a series; neighbours have nothing in common."""
    return random.Random(f"custody-case-{seed}-{number}").randrange(2**53)


def case_name(number: int) -> str:
    """Return what a case of a series calls itself."""
    return f"case-{number:02d}"
