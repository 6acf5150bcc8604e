"""A case on the bench: files to inspect under a budget of tools, without a word on what is wrong."""

from __future__ import annotations

import random
import shutil
import tempfile
import weakref
from pathlib import Path

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.files import sha256_file
from course_lib.leakage.custody.faults import CLEAN, Truth, plant
from course_lib.leakage.custody.folders import DATASET, PROMISES, TABLE, CaseFiles, write_case
from course_lib.leakage.custody.material import FORMS, Form, clean_material
from course_lib.leakage.custody.tools import LOOKS, Look, looked, run_detector
from course_lib.leakage.detectors import KINDS, Finding

DEFAULT_BUDGET = 5
CLEAN_SHARE = 1 / 3

_truths: weakref.WeakKeyDictionary[CustodyCase, Truth] = weakref.WeakKeyDictionary()


class CustodyCase:
    """A data set that is claimed to be in order, its files, and the tools to inspect it with.

    Made by `make_case` or, for a folder that somebody handed out, by `open_case`.

    Parameters
    ----------
    folder : Path
        With the files that `write_case` writes.
    budget : int
        How many detectors may be run; plain looks are free, and so is a detector that has run before.
    seed : int, optional
        What it was made from, where it was made here.

    Raises
    ------
    CourseError
        When the folder holds no case, or the budget is below zero.
    """

    def __init__(self, folder: Path, *, budget: int = DEFAULT_BUDGET, seed: int | None = None) -> None:
        if budget < 0:
            raise CourseError("The budget of tools cannot be below zero", found=budget)
        self.folder = folder
        self.budget = budget
        self._files = CaseFiles(folder)
        self.name = str(self._files.about["name"])
        self._seed = seed
        self._findings: dict[str, Finding] = {}

    @property
    def form(self) -> str:
        """What the samples are: "calls", "news" or "pictures"."""
        return self._files.form

    @property
    def origin(self) -> Origin | None:
        """Where the data come from; None for a case that was handed out, whose seed is the instructor's."""
        if self._seed is None:
            return None
        digest = sha256_file(self.folder / TABLE)
        return Origin("generated", DATASET, self.form, len(self._files.table), digest, self._seed)

    @property
    def promises(self) -> tuple[str, ...]:
        """What the owner of the data says about them."""
        return PROMISES

    @property
    def tools(self) -> dict[str, str]:
        """Every tool with its title: the looks, which are free, and the detectors."""
        return {**LOOKS, **KINDS}

    @property
    def used(self) -> tuple[str, ...]:
        """The detectors that have run, in their order."""
        return tuple(self._findings)

    @property
    def uses_left(self) -> int:
        """How many more detectors may be run."""
        return self.budget - len(self._findings)

    def inspect(self, tool: str) -> Finding | Look:
        """Return what a tool says about this case.

        Parameters
        ----------
        tool : str
            A key of ``tools``.

        Raises
        ------
        CourseError
            For an unknown tool, and for a detector beyond the budget.
        """
        if tool in LOOKS:
            return looked(tool, self._files)
        if tool not in KINDS:
            raise CourseError(f"There is no tool {tool!r}", expected=" or ".join(self.tools))
        if tool not in self._findings:
            if self.uses_left <= 0:
                raise CourseError(
                    f"The budget of {self.budget} tools for {self.name} is used up",
                    found=", ".join(self.used) or "no tool at all",
                    next_step="give your verdict from what these and the free looks have shown",
                )
            self._findings[tool] = run_detector(tool, self._files)
        return self._findings[tool]

    def __repr__(self) -> str:
        return f"CustodyCase({self.name}: {self.form}, {self.uses_left} of {self.budget} tools left)"


def case_kinds() -> dict[str, str]:
    """Return what a verdict can be: the id of each kind of fault, and "clean", with a plain title."""
    return {CLEAN: "nothing is wrong with this set", **KINDS}


def kind_of_seed(seed: int) -> str:
    """Return what `make_case` plants for a seed: nothing in about a third of the cases."""
    draw = random.Random(f"custody-kind-{seed}")
    return CLEAN if draw.random() < CLEAN_SHARE else draw.choice(tuple(KINDS))


def form_of_seed(seed: int) -> Form:
    """Return what the samples of a case are for a seed, whatever is wrong with it."""
    return random.Random(f"custody-form-{seed}").choice(tuple(FORMS))


def make_case(
    seed: int,
    *,
    kind: str | None = None,
    form: Form | None = None,
    folder: Path | None = None,
    name: str = "case",
    budget: int = DEFAULT_BUDGET,
) -> CustodyCase:
    """Make a case: the same seed gives the same bytes.

    Parameters
    ----------
    seed : int
        Decides the data, what is wrong with them, and where.
    kind : str, optional
        A key of `case_kinds`, instead of the one that the seed gives.
    form : {"calls", "news", "pictures"}, optional
        What the samples are, instead of the form that the seed gives.
    folder : Path, optional
        Where to write it; a temporary folder that goes when the case does, without it.
    name : str
        What the case calls itself.
    budget : int
        See `CustodyCase`.

    Raises
    ------
    CourseError
        For an unknown kind or form, and when the folder is not empty or cannot be written.
    """
    truth, made = _written(seed, kind, form, folder, name)
    case = CustodyCase(made, budget=budget, seed=seed)
    if folder is None:
        weakref.finalize(case, shutil.rmtree, made, ignore_errors=True)
    _truths[case] = truth
    return case


def open_case(folder: Path, *, budget: int = DEFAULT_BUDGET) -> CustodyCase:
    """Open a case that was handed out as a folder; only who has its key can judge a verdict on it.

    Raises
    ------
    CourseError
        When the folder holds no case.
    """
    return CustodyCase(folder, budget=budget)


def truth_of(case: CustodyCase) -> Truth:
    """Return what was done to a case that was made in this session.

    Raises
    ------
    CourseError
        For a case that was opened from a folder: its truth is in a key elsewhere.
    """
    if case not in _truths:
        raise CourseError(
            f"The truth about {case.name} is not here",
            next_step="hand in your verdicts: they are judged against the key of whoever made the case",
        )
    return _truths[case]


def _written(
    seed: int, kind: str | None, form: Form | None, folder: Path | None, name: str
) -> tuple[Truth, Path]:
    chosen_form = form_of_seed(seed) if form is None else form
    material = clean_material(chosen_form, seed)
    truth, edit = plant(kind_of_seed(seed) if kind is None else kind, material, seed)
    if folder is None:
        target = Path(tempfile.mkdtemp(prefix="custody-"))
    elif folder.exists() and any(folder.iterdir()):
        raise CourseError(
            f"{folder} is not empty", next_step="name a folder that is not there yet, or an empty one"
        )
    else:
        target = folder
    return truth, write_case(material, edit, target, name)
