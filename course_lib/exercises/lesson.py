"""The exercises of one lesson: asking, answering, hints, solutions, and the summary over all lessons."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Literal

from course_lib.errors import CourseError
from course_lib.exercises.answers import (
    InvalidAnswerError,
    UntouchedError,
    as_kept,
    described,
    is_untouched,
    plain,
    shortened,
)
from course_lib.exercises.feedback import Feedback, Page, Reconciliation, Status
from course_lib.exercises.marking import mark
from course_lib.exercises.pages import question_page, questions_page, solution_page
from course_lib.exercises.predictions import compare, read_prediction
from course_lib.exercises.progress import Event, Progress, QuestionRecord
from course_lib.exercises.questions import (
    ArtefactQuestion,
    PredictionQuestion,
    Question,
    load_questions,
    question_files,
)


@dataclass(frozen=True)
class QuestionState:
    """What is on record for a question, for a view that is drawn again.

    Attributes
    ----------
    status : {"not_attempted", "wrong", "correct", "recorded", "reconciled"}
        "correct" once it was solved; the last two are for predictions.
    attempts : int
        Attempts that counted.
    answer : object
        The last answer as typed (or the guess), None when there is none.
    hints : tuple of str
        All hints given so far.
    solution_available : bool
        Whether the solution may be opened.
    """

    status: Literal["not_attempted", "wrong", "correct", "recorded", "reconciled"]
    attempts: int = 0
    answer: Any = None
    hints: tuple[str, ...] = ()
    solution_available: bool = False


@dataclass(frozen=True)
class LessonSummary:
    """How far the learner is in one lesson.

    Attributes
    ----------
    lesson, name, title : str
        For example "01", "01_prediction_time", "Which fields may a model see?".
    solved, attempted, total : int
        Of the questions that are marked.
    predicted, predictions : int
        Guesses made, and guesses asked for.
    """

    lesson: str
    name: str
    title: str
    solved: int
    attempted: int
    total: int
    predicted: int
    predictions: int


class LessonExercises:
    """The questions of one lesson with the learner's progress on them.

    Parameters
    ----------
    name : str
        The lesson by its full name, for example "01_prediction_time".
    progress : Progress, optional
        Where answers are kept; by default the learner's own progress file.
    """

    def __init__(self, name: str, *, progress: Progress | None = None) -> None:
        loaded = load_questions(question_files()[name])
        self.name = name
        self.lesson = loaded.lesson
        self.title = loaded.title
        self.progress = progress if progress is not None else Progress()
        self._questions = {question.id: question for question in loaded.questions}

    @property
    def problem(self) -> str:
        """One sentence on what is wrong with the progress file, "" when nothing is."""
        return self.progress.problem

    @property
    def question_ids(self) -> tuple[str, ...]:
        """The ids of all questions and predictions, in the order they are asked."""
        return tuple(self._questions)

    def question(self, qid: str) -> Question:
        """Return a question's data.

        Raises
        ------
        CourseError
            When this lesson has no such question.
        """
        if isinstance(qid, str) and qid in self._questions:
            return self._questions[qid]
        near = difflib.get_close_matches(str(qid), self._questions, n=1)
        raise CourseError(
            f"Lesson {self.lesson} has no question {described(qid)!r}",
            expected="one of " + ", ".join(self._questions),
            next_step=f"did you mean {near[0]!r}?" if near else None,
        )

    def show(self, qid: str) -> Page:
        """Return a question as a page, with the call that answers it."""
        return question_page(self.question(qid))

    def questions(self) -> Page:
        """Return all questions of the lesson as one page."""
        return questions_page(f"Exercises of lesson {self.lesson}: {self.title}", self._questions.values())

    def submit(self, qid: str, answer: object) -> Feedback:
        """Mark an answer, put it on record and say what to think about next.

        Parameters
        ----------
        qid : str
            The question's id.
        answer : object
            A number with its unit as text, an option's id, a list, a dict, a function or the path of an
            artefact, as `show` says.

        Returns
        -------
        Feedback
            An untouched answer is "not_attempted" and one that cannot be read "invalid"; neither counts.

        Raises
        ------
        CourseError
            When this lesson has no such question. A bad answer never raises.
        """
        question = self.question(qid)
        if isinstance(question, PredictionQuestion):
            return self.predict(qid, answer)
        try:
            given = answer if isinstance(question, ArtefactQuestion) else plain(answer)
            if is_untouched(given):
                return self._not_counted(question, "not_attempted", f"`{qid}` has no answer yet.")
            verdict = mark(question, given)
        except UntouchedError as untouched:
            return self._not_counted(question, "not_attempted", str(untouched))
        except (InvalidAnswerError, CourseError) as invalid:
            return self._not_counted(question, "invalid", shortened(str(invalid), 1000))
        except (Exception, SystemExit, GeneratorExit) as error:
            message = f"The answer could not be marked: it raised {type(error).__name__}."
            return self._not_counted(question, "invalid", message)
        status: Literal["correct", "wrong"] = "correct" if verdict.correct else "wrong"
        saved, problem = self._record(question, "attempt", verdict.kept or as_kept(given), status)
        hints = self._hints(question)
        return Feedback(
            question_id=qid,
            title=question.title,
            status=status,
            message=verdict.message,
            hint=hints[-1] if hints and not verdict.correct else "",
            hints=hints,
            attempts=self._attempts(qid),
            solution_available=True,
            saved=saved,
            save_problem=problem,
        )

    def predict(self, qid: str, value: object) -> Feedback:
        """Put a guess on record. The one made before the first measurement stays.

        Raises
        ------
        CourseError
            When this lesson has no such prediction.
        """
        question = self._prediction(qid)
        try:
            given = plain(value)
            if is_untouched(given):
                return self._not_counted(question, "not_attempted", f"`{qid}` has no guess yet.")
            guess = read_prediction(question, given)
        except InvalidAnswerError as invalid:
            return self._not_counted(question, "invalid", str(invalid))
        except (Exception, SystemExit, GeneratorExit) as error:
            message = f"The guess could not be read: it raised {type(error).__name__}."
            return self._not_counted(question, "invalid", message)
        before = self.progress.record(self._key(qid))
        if before is not None and before.measured_utc and before.predicted is not None:
            message = f"Your first guess, {before.predicted}, stays on record."
            return Feedback(qid, question.title, "recorded", message, saved=True, save_problem=self.problem)
        saved, problem = self._record(question, "prediction", guess)
        return Feedback(
            qid,
            question.title,
            "recorded",
            f"Your guess is {guess}. Now run the cells below.",
            saved=saved,
            save_problem=problem,
        )

    def reconcile(self, qid: str, measured: object) -> Reconciliation:
        """Set the guess on record beside what was measured.

        Parameters
        ----------
        qid : str
            The prediction's id.
        measured : float, str or Quantity
            What the run gave: a number in base units, a quantity, or an option's id.

        Raises
        ------
        CourseError
            When this lesson has no such prediction, or the measured value or the guess on record
            cannot be read.
        """
        question = self._prediction(qid)
        if is_untouched(measured):
            return Reconciliation(
                qid, question.title, "", "nothing", "", "Run the cell that measures it, then this one again."
            )
        record = self.progress.record(self._key(qid))
        comparison = compare(question, record.predicted if record else None, measured)
        saved, problem = False, ""
        if comparison.predicted:
            saved, problem = self._record(question, "measurement", as_kept(comparison.measured))
        return Reconciliation(
            qid,
            question.title,
            comparison.predicted,
            comparison.measured,
            comparison.difference,
            comparison.message,
            saved,
            problem,
        )

    def solution(self, qid: str) -> Page:
        """Return the solution with its explanation, once an attempt was made.

        Raises
        ------
        CourseError
            Before the first attempt, and for predictions, which have no solution.
        """
        question = self.question(qid)
        if isinstance(question, PredictionQuestion):
            raise CourseError(
                f"{qid} is a prediction and has no solution",
                next_step=f'run the experiment and compare with exercises.reconcile("{qid}", ...)',
            )
        if not self._attempts(qid):
            raise CourseError(
                f"The solution of {qid} opens after an attempt",
                next_step=f'answer with exercises.submit("{qid}", ...) first',
            )
        self._record(question, "solution")
        return solution_page(question)

    def state(self, qid: str) -> QuestionState:
        """Return what is on record for a question.

        Raises
        ------
        CourseError
            When this lesson has no such question.
        """
        question = self.question(qid)
        record = self.progress.record(self._key(qid))
        if record is None:
            return QuestionState("not_attempted")
        if isinstance(question, PredictionQuestion):
            if record.predicted is None:
                return QuestionState("not_attempted")
            return QuestionState("reconciled" if record.measured_utc else "recorded", answer=record.predicted)
        if not record.attempts:
            return QuestionState("not_attempted")
        return QuestionState(
            "correct" if record.solved_utc else "wrong",
            record.attempts,
            record.history[-1].answer if record.history else None,
            self._hints(question),
            True,
        )

    def summary(self) -> LessonSummary:
        """Return how far the learner is in this lesson."""
        return _summary(self, self.progress.records())

    def _repr_markdown_(self) -> str:
        done = self.summary()
        text = f"**Exercises of lesson {self.lesson}: {self.title}** {done.solved} of {done.total} solved."
        return text + (f"\n\n**Progress file.** {self.problem}" if self.problem else "")

    def __repr__(self) -> str:
        return Page(self._repr_markdown_()).text

    def _prediction(self, qid: str) -> PredictionQuestion:
        question = self.question(qid)
        if not isinstance(question, PredictionQuestion):
            raise CourseError(
                f"{qid} is a question, not a prediction",
                next_step=f'answer with exercises.submit("{qid}", ...)',
            )
        return question

    def _key(self, qid: str) -> str:
        return f"{self.name}/{qid}"

    def _attempts(self, qid: str) -> int:
        record = self.progress.record(self._key(qid))
        return record.attempts if record else 0

    def _hints(self, question: Question) -> tuple[str, ...]:
        if isinstance(question, PredictionQuestion):
            return ()
        record = self.progress.record(self._key(question.id))
        return question.hints[: record.wrong_attempts] if record else ()

    def _not_counted(self, question: Question, status: Status, message: str) -> Feedback:
        attempts = self._attempts(question.id)
        return Feedback(
            question.id,
            question.title,
            status,
            message,
            hints=self._hints(question),
            attempts=attempts,
            solution_available=attempts > 0,
            save_problem=self.problem,
        )

    def _record(
        self,
        question: Question,
        what: Literal["attempt", "prediction", "measurement", "solution"],
        answer: Any = None,
        status: Literal["correct", "wrong"] = "wrong",
    ) -> tuple[bool, str]:
        return self.progress.add(Event(what, self._key(question.id), question.kind, answer, status))


def _summary(lesson: LessonExercises, records: dict[str, QuestionRecord]) -> LessonSummary:
    kept = {qid: records.get(f"{lesson.name}/{qid}") for qid in lesson.question_ids}
    guesses = [qid for qid in kept if isinstance(lesson.question(qid), PredictionQuestion)]
    marked = [record for qid, record in kept.items() if qid not in guesses]
    return LessonSummary(
        lesson=lesson.lesson,
        name=lesson.name,
        title=lesson.title,
        solved=sum(record is not None and record.solved_utc is not None for record in marked),
        attempted=sum(record is not None and record.attempts > 0 for record in marked),
        total=len(marked),
        predicted=sum((record := kept[qid]) is not None and record.predicted is not None for qid in guesses),
        predictions=len(guesses),
    )


def lesson_names() -> tuple[str, ...]:
    """Return the full names of the lessons that have exercises, in order."""
    return tuple(question_files())


def open_exercises(lesson: str | int, *, progress: Progress | None = None) -> LessonExercises:
    """Open the exercises of a lesson.

    Parameters
    ----------
    lesson : str or int
        "1", "01", 1 or "01_prediction_time".
    progress : Progress, optional
        Where answers are kept; by default the learner's own progress file.

    Raises
    ------
    CourseError
        When no lesson of that number or name has exercises, or its question file is not as it should be.
    """
    wanted = str(lesson).strip()
    for name in lesson_names():
        number = name[:2]
        if wanted == name or (wanted.isdecimal() and len(wanted) <= 2 and int(wanted) == int(number)):
            return LessonExercises(name, progress=progress)
    raise CourseError(
        f"There are no exercises for lesson {described(lesson)!r}",
        expected="one of " + ", ".join(lesson_names()),
    )


def all_lessons_summary(progress: Progress | None = None) -> tuple[LessonSummary, ...]:
    """Return how far the learner is in each lesson that has exercises, in order."""
    kept = progress if progress is not None else Progress()
    records = kept.records()
    return tuple(_summary(LessonExercises(name, progress=kept), records) for name in lesson_names())
