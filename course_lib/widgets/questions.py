"""Questions and predictions as views over `course_lib.exercises`."""

from __future__ import annotations

import threading
from collections.abc import Callable
from html import escape
from typing import Any

from course_lib.errors import CourseError
from course_lib.exercises import Feedback, LessonExercises
from course_lib.exercises.questions import ArtefactQuestion, CodeQuestion, PredictionQuestion
from course_lib.widgets.answer_inputs import answer_input
from course_lib.widgets.markdown import markdown_html, unmarked
from course_lib.widgets.naming import naming_script
from course_lib.widgets.static import show
from course_lib.widgets.style import STYLE
from course_lib.widgets.texts import text

_LOOKS = {
    "correct": "course-right",
    "recorded": "course-right",
    "wrong": "course-note",
    "invalid": "course-problem",
    "not_attempted": "course-note",
}


class QuestionView:
    """One question with a place for the answer, buttons, and what the kit says back.

    Made by `show_question` and `show_prediction`. The last answer and its outcome stand there again
    after a kernel restart.

    Attributes
    ----------
    parts : dict of str to widget
        The widgets by name once the view was made: "check", and for questions "hint" and "solution"; the
        outputs "feedback", "hints", "opened" and "trouble".
    answer : AnswerInput
        The place for the answer, once the view was made.
    """

    def __init__(self, exercises: LessonExercises, qid: str, own: Any = None) -> None:
        self.exercises = exercises
        self.question = exercises.question(qid)
        self.parts: dict[str, Any] = {}
        self._own = own
        self._hints: tuple[str, ...] = ()
        self._marking = threading.Lock()

    @property
    def is_prediction(self) -> bool:
        """Whether this asks for a guess, which is recorded and never marked."""
        return isinstance(self.question, PredictionQuestion)

    def widget(self) -> Any:
        """Return the question as one ipywidgets box, always the same one."""
        if not self.parts:
            self._build()
        return self.parts["all"]

    def static_html(self, reason: str) -> str:
        """Return the question without controls: the reason, the question, and the call that answers it."""
        page = self.exercises.show(self.question.id)
        return (
            f'{STYLE}<div class="course-static"><p class="course-note">'
            f"{escape(text('question.static', reason=reason))}</p>"
            f"{self._trouble(self.exercises.problem)}{markdown_html(page.markdown)}"
            f"<p>{escape(self._standing())}</p></div>"
        )

    def static_text(self, reason: str) -> str:
        """Return the same as `static_html` as plain text."""
        page = self.exercises.show(self.question.id)
        parts = [text("question.static", reason=reason), self.exercises.problem, page.text, self._standing()]
        return "\n\n".join(part for part in parts if part)

    def _ipython_display_(self) -> None:
        show(self)

    def check(self) -> Feedback | None:
        """Hand the answer in, as the button does; None while an earlier answer is still being marked."""
        self.widget()
        if not self._marking.acquire(blocking=False):
            return None
        button = self.parts["check"]
        button.disabled = True
        button.description = text("question.checking")
        try:
            feedback = self.exercises.submit(self.question.id, self.answer.answer)
            self._show_feedback(feedback)
            return feedback
        except CourseError as error:
            self.parts["feedback"].value = _box("course-problem", escape(str(error)), role="alert")
            return None
        finally:
            button.description = self._check_words()
            button.disabled = False
            self._marking.release()

    def _check_words(self) -> str:
        return text("question.record") if self.is_prediction else text("question.check")

    def _standing(self) -> str:
        """Return in a sentence what is on record."""
        state = self.exercises.state(self.question.id)
        guess = self._option_text(state.answer)
        return {
            "not_attempted": text("standing.not_attempted"),
            "wrong": text("standing.wrong", attempts=state.attempts),
            "correct": text("standing.correct", attempts=state.attempts),
            "recorded": text("standing.recorded", guess=guess),
            "reconciled": text("standing.reconciled", guess=guess),
        }[state.status]

    def _option_text(self, answer: object) -> str:
        """Return an option's text for its id, other answers as they are."""
        options = getattr(self.question, "options", ())
        return next((unmarked(option.text) for option in options if option.id == answer), str(answer))

    def _trouble(self, problem: str) -> str:
        """Return a sentence on the progress file so that nobody overlooks it."""
        if not problem:
            return ""
        return _box(
            "course-problem", f"<strong>{text('question.trouble')}</strong> {escape(problem)}", "alert"
        )

    def _show_feedback(self, feedback: Feedback) -> None:
        heading = {
            "correct": text("feedback.correct"),
            "wrong": text("feedback.wrong"),
            "invalid": text("feedback.invalid"),
            "not_attempted": text("feedback.not_attempted"),
            "recorded": text("feedback.recorded"),
        }[feedback.status]
        parts = [f"<strong>{escape(heading)}</strong> {markdown_html(feedback.message, inline=True)}"]
        if feedback.attempts:
            parts.append(f"<br>{escape(text('feedback.attempts', attempts=feedback.attempts))}")
        if feedback.saved and not feedback.save_problem:
            parts.append(f" {escape(text('feedback.saved'))}")
        self.parts["feedback"].value = _box(_LOOKS[feedback.status], "".join(parts), role="status")
        self.parts["trouble"].value = self._trouble(feedback.save_problem)
        self._show_help(feedback.hints, feedback.solution_available)

    def _show_help(self, hints: tuple[str, ...], solution_available: bool) -> None:
        """Offer the hints that are due and, after an attempt, the solution."""
        if self.is_prediction:
            return
        hint, solution = self.parts["hint"], self.parts["solution"]
        if len(hints) != len(self._hints):
            self._hints = hints
            self.parts["hints"].value = ""
        hint.disabled = not hints
        hint.description = text("question.hints", count=len(hints)) if hints else text("question.hint")
        solution.disabled = not solution_available

    def _open_hints(self, _: Any) -> None:
        items = "".join(f"<li>{markdown_html(hint, inline=True)}</li>" for hint in self._hints)
        self.parts["hints"].value = _box("course-note", f"{escape(text('question.hint'))}<ol>{items}</ol>")

    def _open_solution(self, _: Any) -> None:
        try:
            page = self.exercises.solution(self.question.id)
        except CourseError as error:
            self.parts["opened"].value = _box("course-problem", escape(str(error)), role="alert")
            return
        self.parts["opened"].value = _box("course-note", markdown_html(page.markdown))
        self.parts["trouble"].value = self._trouble(self.exercises.problem)

    def _build(self) -> None:
        import ipywidgets as widgets

        self.answer = answer_input(self.question, self._own)
        head = widgets.HTML(
            f'{STYLE}<p class="course-heading">{escape(unmarked(self.question.title))}</p>'
            f"{markdown_html(self.question.prompt)}"
        )
        check = _button(self._check_words(), "primary")
        check.on_click(lambda _: self.check())
        outputs = {name: widgets.HTML() for name in ("trouble", "feedback", "hints", "opened")}
        buttons = {"check": check}
        if not self.is_prediction:
            buttons |= {
                "hint": _button(text("question.hint")),
                "solution": _button(text("question.solution")),
            }
            buttons["hint"].on_click(self._open_hints)
            buttons["solution"].on_click(self._open_solution)
        row = widgets.HBox(list(buttons.values()))
        row.add_class("course-buttons")
        box = widgets.VBox(
            [
                outputs["trouble"],
                head,
                self.answer.widget,
                row,
                outputs["feedback"],
                outputs["hints"],
                outputs["opened"],
                naming_script(),
            ]
        )
        box.add_class("course-panel")
        self.parts = {**buttons, **outputs, "all": box}
        self._restore()

    def _restore(self) -> None:
        """Show what is on record from before."""
        state = self.exercises.state(self.question.id)
        if state.answer is not None:
            self.answer.restore(state.answer)
        if state.status != "not_attempted":
            look = "course-note" if state.status == "wrong" else "course-right"
            self.parts["feedback"].value = _box(look, escape(self._standing()))
        self.parts["trouble"].value = self._trouble(self.exercises.problem)
        self._show_help(state.hints, state.solution_available)


def show_question(
    exercises: LessonExercises,
    qid: str,
    *,
    function: Callable[..., Any] | None = None,
    artefact: object = None,
) -> QuestionView:
    """Return a question as a view; shown as the last expression of a cell.

    Parameters
    ----------
    exercises : LessonExercises
        The lesson's exercises, from `course_lib.exercises.open_exercises`.
    qid : str
        The question's id.
    function : callable, optional
        The learner's function, for a question on code; without it, the notebook's function of that name.
    artefact : object, optional
        What the learner made or its path, for a question on an artefact; without it, the notebook's variable.

    Raises
    ------
    CourseError
        When the lesson has no such question, or it is a prediction, or a function or an artefact is passed to
        another kind.
    """
    question = exercises.question(qid)
    if isinstance(question, PredictionQuestion):
        raise CourseError(f"{qid} is a prediction", next_step=f'use show_prediction(exercises, "{qid}")')
    if function is not None and not isinstance(question, CodeQuestion):
        raise CourseError(f"{qid} takes no function", found=f"a question of the kind {question.kind!r}")
    if artefact is not None and not isinstance(question, ArtefactQuestion):
        raise CourseError(f"{qid} takes no artefact", found=f"a question of the kind {question.kind!r}")
    return QuestionView(exercises, qid, function if function is not None else artefact)


def show_prediction(exercises: LessonExercises, qid: str) -> QuestionView:
    """Return a place for the guess before a run; shown as the last expression of a cell.

    Raises
    ------
    CourseError
        When the lesson has no such prediction.
    """
    if not isinstance(exercises.question(qid), PredictionQuestion):
        raise CourseError(
            f"{qid} is a question and no prediction", next_step=f'use show_question(exercises, "{qid}")'
        )
    return QuestionView(exercises, qid)


def _box(look: str, html: str, role: str = "") -> str:
    """Return HTML in a coloured frame."""
    return f'<div class="{look}"{f" role={role!r}" if role else ""}>{html}</div>'


def _button(words: str, style: str = "") -> Any:
    import ipywidgets as widgets

    return widgets.Button(description=words, button_style=style, layout=widgets.Layout(width="auto"))
