"""The questions of a lesson as data: what a question file may hold, and reading one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from course_lib.errors import CourseError
from course_lib.paths import notebooks_folder
from course_lib.units import Quantity, parse_quantity

_SAFE_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Text = Annotated[str, Field(min_length=1)]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


class Option(_Data):
    """Something to choose, to order or to match: a short id to answer with, and its text."""

    id: Text
    text: Text


class WrongNumber(_Data):
    """A number that people really give, and why it is not the answer."""

    answer: Text
    explanation: Text


class WrongChoice(_Data):
    """An option that people wrongly choose, or wrongly leave out, and what to think about."""

    chosen: str = ""
    missing: str = ""
    explanation: Text

    @model_validator(mode="after")
    def _one_of_both(self) -> WrongChoice:
        if bool(self.chosen) == bool(self.missing):
            raise ValueError("name either the option that is 'chosen' or the one that is 'missing'")
        return self


class WrongOrder(_Data):
    """Two items that people put the wrong way round: the first one ahead of the second."""

    ahead: tuple[Text, Text]
    explanation: Text


class WrongPair(_Data):
    """An item with a target that people wrongly give it."""

    item: Text
    target: Text
    explanation: Text


class WrongCode(_Data):
    """A symptom that the question's check recognises, with a function that shows it."""

    symptom: Text
    explanation: Text
    example: Text


class _Question(_Data):
    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    title: Text
    prompt: Text


class _Checked(_Question):
    hints: Annotated[tuple[Text, ...], Field(min_length=2)]
    solution: Text


class NumberQuestion(_Checked):
    """A number, with a unit where the answer has one.

    ``tolerance`` is relative when it is a percentage ("1%"), else an amount in the answer's dimension.
    ``unit`` is set where converting is the exercise: the answer then has to be written in that unit.
    """

    kind: Literal["number"]
    placeholder: Text
    answer: Text
    unit: str = ""
    tolerance: Text
    wrong: Annotated[tuple[WrongNumber, ...], Field(min_length=2)]

    @field_validator("placeholder", "answer", "tolerance")
    @classmethod
    def _is_a_quantity(cls, text: str) -> str:
        _quantity(text)
        return text

    @model_validator(mode="after")
    def _wrong_is_wrong(self) -> NumberQuestion:
        tolerance = _quantity(self.tolerance)
        if tolerance.dimension not in ("ratio", self.expected.dimension) or tolerance.base <= 0:
            raise ValueError("tolerance: give a percentage or an amount in the answer's dimension, above 0")
        if self.unit and not self.expected.unit == _quantity(self.placeholder).unit == self.unit:
            raise ValueError(f"unit: answer and placeholder have to be in {self.unit} too")
        for number, wrong in enumerate(self.wrong):
            if self.accepts(_quantity(wrong.answer)):
                raise ValueError(f"wrong.{number}.answer: {wrong.answer} lies within the tolerance")
        return self

    @property
    def expected(self) -> Quantity:
        """The right answer as a quantity."""
        return parse_quantity(self.answer)

    def near(self, given: float, target: float) -> bool:
        """Tell whether two values in base units differ by no more than the question's tolerance."""
        tolerance = parse_quantity(self.tolerance)
        allowed = tolerance.base * abs(target) if tolerance.dimension == "ratio" else tolerance.base
        return abs(given - target) <= allowed * (1 + 1e-9)

    def accepts(self, given: Quantity) -> bool:
        """Tell whether ``given`` is the answer, within the tolerance and in a fitting dimension."""
        return comparable(given, self.expected) and self.near(given.base, self.expected.base)


class ChoiceQuestion(_Checked):
    """One option, or with ``several`` every option that fits."""

    kind: Literal["choice"]
    options: Annotated[tuple[Option, ...], Field(min_length=2)]
    several: bool = False
    answer: Annotated[tuple[Text, ...], Field(min_length=1)]
    wrong: Annotated[tuple[WrongChoice, ...], Field(min_length=2)]

    @field_validator("answer", mode="before")
    @classmethod
    def _one_is_several(cls, answer: object) -> object:
        return [answer] if isinstance(answer, str) else answer

    @model_validator(mode="after")
    def _ids_fit(self) -> ChoiceQuestion:
        ids = _unique_ids("options", self.options)
        _known("answer", self.answer, ids)
        if not self.several and len(self.answer) != 1:
            raise ValueError("answer: more than one option needs 'several: true'")
        for number, wrong in enumerate(self.wrong):
            _known(f"wrong.{number}", (wrong.chosen or wrong.missing,), ids)
            if (wrong.chosen in self.answer) or (wrong.missing and wrong.missing not in self.answer):
                raise ValueError(f"wrong.{number}: this is part of the right answer")
        explained = {wrong.chosen for wrong in self.wrong}
        if unexplained := sorted(ids - set(self.answer) - explained):
            raise ValueError(f"wrong: no explanation for the wrong option {', '.join(unexplained)}")
        return self


class OrderingQuestion(_Checked):
    """Items to put in order; ``items`` stand as they are shown, ``answer`` as they should be."""

    kind: Literal["ordering"]
    items: Annotated[tuple[Option, ...], Field(min_length=3)]
    answer: tuple[Text, ...]
    wrong: Annotated[tuple[WrongOrder, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _ids_fit(self) -> OrderingQuestion:
        ids = _unique_ids("items", self.items)
        if sorted(self.answer) != sorted(ids):
            raise ValueError("answer: name every item once")
        if self.answer == tuple(item.id for item in self.items):
            raise ValueError("items: they already stand in the right order")
        for number, wrong in enumerate(self.wrong):
            _known(f"wrong.{number}.ahead", wrong.ahead, ids)
            if self.answer.index(wrong.ahead[0]) <= self.answer.index(wrong.ahead[1]):
                raise ValueError(f"wrong.{number}.ahead: this is the right order")
        return self


class MatchingQuestion(_Checked):
    """Items that each belong to one target."""

    kind: Literal["matching"]
    items: Annotated[tuple[Option, ...], Field(min_length=2)]
    targets: Annotated[tuple[Option, ...], Field(min_length=2)]
    answer: dict[str, str]
    wrong: Annotated[tuple[WrongPair, ...], Field(min_length=2)]

    @model_validator(mode="after")
    def _ids_fit(self) -> MatchingQuestion:
        items, targets = _unique_ids("items", self.items), _unique_ids("targets", self.targets)
        if set(self.answer) != items:
            raise ValueError("answer: name every item once")
        _known("answer", self.answer.values(), targets)
        for number, wrong in enumerate(self.wrong):
            _known(f"wrong.{number}.item", (wrong.item,), items)
            _known(f"wrong.{number}.target", (wrong.target,), targets)
            if self.answer[wrong.item] == wrong.target:
                raise ValueError(f"wrong.{number}: this is the right pair")
        return self


class WrongArtefact(_Data):
    """A symptom that the question's check recognises, with code that makes such an artefact."""

    symptom: Text
    explanation: Text
    example: Text


class CodeQuestion(_Checked):
    """A function to write; ``check`` names a module under course_lib/exercises/checks/."""

    kind: Literal["code"]
    function: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$")]
    check: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$")]
    stub: Text
    reference: Text
    wrong: Annotated[tuple[WrongCode, ...], Field(min_length=2)]


class ArtefactQuestion(_Checked):
    """Something to make on the disk; ``check`` names a module under course_lib/exercises/checks/.

    ``variable`` is the notebook's name for the artefact, or for the path of it.
    """

    kind: Literal["artefact"]
    variable: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$")]
    check: Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$")]
    stub: Text
    reference: Text
    wrong: Annotated[tuple[WrongArtefact, ...], Field(min_length=2)]


class PredictionQuestion(_Question):
    """A guess before a run: a number, or one of ``options``. It is reconciled, never marked.

    ``close``, ``lower`` and ``higher`` say what a measured number within ``close_within`` of the guess,
    below it or above it may teach; ``same`` and ``other`` do so for options. ``at_least`` and ``at_most`` are
    the ends that a number has by nature, such as 0 and 1 for an AUC; a guess outside is none.
    """

    kind: Literal["prediction"]
    placeholder: str = ""
    at_least: str = ""
    at_most: str = ""
    options: tuple[Option, ...] = ()
    close_within: str = ""
    close: str = ""
    lower: str = ""
    higher: str = ""
    same: str = ""
    other: str = ""

    @model_validator(mode="after")
    def _number_or_options(self) -> PredictionQuestion:
        of_numbers = (self.placeholder, self.close_within, self.close, self.lower, self.higher)
        of_options = (self.options, self.same, self.other)
        if not (all(of_numbers) and not any(of_options)) and not (all(of_options) and not any(of_numbers)):
            raise ValueError(
                "give placeholder, close_within, close, lower, higher for a number, or options, same, other"
            )
        if self.options:
            _unique_ids("options", self.options)
            if self.at_least or self.at_most:
                raise ValueError("at_least, at_most: options have no ends")
        else:
            _quantity(self.placeholder)
            _quantity(self.close_within)
            self._check_ends()
        return self

    def _check_ends(self) -> None:
        example = _quantity(self.placeholder)
        for field in ("at_least", "at_most"):
            end = getattr(self, field)
            if end and not comparable(_quantity(end), example):
                raise ValueError(f"{field}: {end} is another kind of value than {self.placeholder}")
        if not self.allows(example):
            raise ValueError("placeholder: it lies outside at_least and at_most")

    def allows(self, given: Quantity) -> bool:
        """Tell whether a number lies within the ends that it has by nature."""
        low = parse_quantity(self.at_least).base if self.at_least else -math.inf
        high = parse_quantity(self.at_most).base if self.at_most else math.inf
        return low <= given.base <= high


CheckedQuestion = (
    NumberQuestion | ChoiceQuestion | OrderingQuestion | MatchingQuestion | CodeQuestion | ArtefactQuestion
)
Question = CheckedQuestion | PredictionQuestion


class LessonQuestions(_Data):
    """All questions of one lesson, in the order they are asked."""

    lesson: Annotated[str, Field(pattern=r"^\d\d$")]
    title: Text
    questions: tuple[Annotated[Question, Field(discriminator="kind")], ...]


def comparable(given: Quantity, expected: Quantity) -> bool:
    """Tell whether two quantities measure the same thing; a plain number may stand for a ratio."""
    plain = ("number", "ratio")
    if given.dimension in plain and expected.dimension in plain:
        return True
    if given.dimension.endswith("/s") and expected.dimension.endswith("/s"):
        return given.dimension == expected.dimension or (
            "1/s" in (given.dimension, expected.dimension)
            and "bytes/s" not in (given.dimension, expected.dimension)
        )
    return given.dimension == expected.dimension


def _quantity(text: str) -> Quantity:
    try:
        return parse_quantity(text)
    except CourseError as error:
        raise ValueError(str(error)) from error


def _unique_ids(field: str, options: Iterable[Option]) -> set[str]:
    ids = [option.id.casefold() for option in options]
    if repeated := sorted({name for name in ids if ids.count(name) > 1}):
        raise ValueError(f"{field}: the id {', '.join(repeated)} stands twice")
    return {option.id for option in options}


def _known(field: str, names: Iterable[str], ids: set[str]) -> None:
    if unknown := sorted(set(names) - ids):
        raise ValueError(f"{field}: there is no {', '.join(unknown)} among {', '.join(sorted(ids))}")


def question_files() -> dict[str, Path]:
    """Return the question file of each lesson that has one, by name ("01_prediction_time"), in order."""
    folder = notebooks_folder() / "exercises"
    return {path.stem: path for path in sorted(folder.glob("[0-9][0-9]_*.yaml"))}


def load_questions(path: Path) -> LessonQuestions:
    """Read one question file.

    Raises
    ------
    CourseError
        Naming the file, the question and the field, when something in it is not as it should be.
    """
    try:
        data = yaml.load(path.read_text(encoding="utf-8"), Loader=_SAFE_LOADER)
    except OSError as error:
        raise CourseError(f"{path.name} could not be read", found=error.strerror or str(error)) from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        place = getattr(error, "problem_mark", None)
        where = f", line {place.line + 1}" if place else ""
        raise CourseError(
            f"{path.name}{where} is not valid YAML", found=str(error).splitlines()[0]
        ) from error
    try:
        lesson = TypeAdapter(LessonQuestions).validate_python(data)
    except ValidationError as error:
        raise CourseError(_first_problem(path, data, error)) from error
    if lesson.lesson != path.stem[:2]:
        raise CourseError(f"{path.name}, field lesson", expected=path.stem[:2], found=lesson.lesson)
    ids = [question.id for question in lesson.questions]
    if repeated := sorted({name for name in ids if ids.count(name) > 1}):
        raise CourseError(f"{path.name}, question {repeated[0]!r}, field id: the id stands twice")
    return lesson


def _first_problem(path: Path, data: Any, error: ValidationError) -> str:
    problem = error.errors()[0]
    place = list(problem["loc"])
    where = path.name
    if place[:1] == ["questions"] and len(place) > 1:
        index = place[1]
        name = data["questions"][index].get("id") if isinstance(data["questions"][index], dict) else None
        where += f", question {name!r}" if name else f", question number {int(index) + 1}"
        place = place[3:]
    field = ".".join(str(part) for part in place)
    message = problem["msg"].removeprefix("Value error, ")
    return f"{where}, field {field}: {message}" if field else f"{where}, {message}"
