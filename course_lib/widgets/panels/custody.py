"""Lesson 03: the custody bench, where a learner inspects data sets and says what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from course_lib.errors import CourseError
from course_lib.leakage.custody import LOOKS, Bench, CustodyCase, Look, Trial, Verdict, case_kinds
from course_lib.leakage.custody.judging import OUTCOMES, what_counts
from course_lib.leakage.detectors import KINDS, Finding
from course_lib.widgets.controls import ChoiceControl, NumberControl
from course_lib.widgets.naming import naming_script
from course_lib.widgets.panel import Panel
from course_lib.widgets.static import show
from course_lib.widgets.style import STYLE
from course_lib.widgets.texts import text
from course_lib.widgets.view import View

_MOST_LINES = 12
_IDS_A_LINE = 8
_LOOK_OF = {
    "right": "course-right",
    "evidence": "course-note",
    "wrong": "course-note",
    "handed in": "course-right",
}


def inspection_view(case: CustodyCase, tool: str) -> View:
    """Return what one tool says about a case; a detector's use is counted.

    Raises
    ------
    CourseError
        For an unknown tool, and for a detector beyond the budget.
    """
    result = case.inspect(tool)
    state = text("custody.state", form=case.form, left=case.uses_left, budget=case.budget)
    if isinstance(result, Look):
        return View(
            text("custody.look", case=case.name, title=result.title),
            f"{text('custody.look_summary')} {state}",
            result.columns,
            result.rows,
            "",
            case.origin,
            text("custody.source"),
            result,
        )
    return View(
        text("custody.finding", case=case.name, sentence=result.sentence),
        state,
        (text("custody.figure"), text("custody.value"), text("custody.meaning")),
        tuple(_sample_rows(result)) + tuple(_figure_rows(result)),
        "",
        case.origin,
        text("custody.source"),
        result,
    )


def _sample_rows(finding: Finding) -> Iterable[tuple[str, str, str]]:
    """Yield the samples by id: those that belong to one another on one line."""
    if finding.together:
        lines, meaning = list(finding.together), text("custody.together")
    else:
        ids = finding.sample_ids
        lines = [ids[start : start + _IDS_A_LINE] for start in range(0, len(ids), _IDS_A_LINE)]
        meaning = text("custody.concerned")
    for line in lines[:_MOST_LINES]:
        yield text("custody.samples"), ", ".join(line), meaning
    if len(lines) > _MOST_LINES:
        yield text("custody.samples"), text("custody.more", count=len(lines) - _MOST_LINES), meaning


def _figure_rows(finding: Finding) -> Iterable[tuple[str, object, str]]:
    for name, value, meaning in finding.explained():
        shown = f"{value:.3g}" if isinstance(value, float) else value
        yield name.replace("_", " "), shown, meaning


def inspection_panel(bench: Bench) -> Panel:
    """Return a panel that runs a chosen tool on a chosen case when Run is pressed."""
    tools = {text("custody.free", title=title): tool for tool, title in LOOKS.items()}
    tools |= {text("custody.detector", title=title): tool for tool, title in KINDS.items()}
    return Panel(
        text("custody.panel"),
        {
            "number": NumberControl(text("custody.number"), 1, bench.count, 1),
            "tool": ChoiceControl(text("custody.tool"), tools),
        },
        lambda number, tool: inspection_view(bench.case(number), tool),
        manual=True,
    )


class CustodyDesk:
    """The bench on the screen: the inspection panel, and under it the place for the verdict.

    Made by `custody_desk`. Without widgets the same is done by ``bench.case(3).inspect(...)`` and
    ``bench.judge(3, kind=..., evidence=[...])``.

    Attributes
    ----------
    bench : Bench
    panel : Panel
        Case and tool; its case is the one that the verdict is about.
    parts : dict of str to widget
        "kind", "evidence", "submit", "feedback", "wanted", "heading" and "score", once the view was made.
    """

    def __init__(self, bench: Bench) -> None:
        self.bench = bench
        self.panel = inspection_panel(bench)
        self.parts: dict[str, Any] = {}
        self.panel.controls["number"].on_change(self._turn_to_case)

    @property
    def number(self) -> int:
        """The case in front of the learner."""
        return int(self.panel.controls["number"].value)

    def submit(self) -> Verdict | None:
        """Hand in what stands in the verdict's place, as the button does; None where it cannot be judged."""
        self.widget()
        kind = self.parts["kind"].value
        if not kind:
            self._say("course-note", text("custody.choose_first"))
            return None
        try:
            verdict = self.bench.judge(self.number, kind, self.parts["evidence"].value)
        except CourseError as error:
            self._say("course-problem", str(error))
            return None
        self._show_standing()
        return verdict

    def widget(self) -> Any:
        """Return panel and verdict as one ipywidgets box, always the same one."""
        if not self.parts:
            self._build()
        return self.parts["all"]

    def static_html(self, reason: str) -> str:
        """Return the panel without controls, and how a verdict is given in a code cell."""
        words = "".join(f"<p>{escape(line)}</p>" for line in self._static_lines())
        return f'{self.panel.static_html(reason)}<div class="course-static">{words}</div>'

    def static_text(self, reason: str) -> str:
        """Return the same as `static_html` as plain text."""
        return "\n".join([self.panel.static_text(reason), *self._static_lines()])

    def _ipython_display_(self) -> None:
        show(self)

    def _static_lines(self) -> list[str]:
        return [
            self._promises(),
            text("custody.call_inspect"),
            text("custody.call_judge"),
            self.bench.score().sentence(),
        ]

    def _promises(self) -> str:
        return text("custody.promises", promises="; ".join(self.bench.case(1).promises))

    def _build(self) -> None:
        import ipywidgets as widgets

        wide = widgets.Layout(width="100%", max_width="640px")
        style = {"description_width": "80px"}
        options = [(text("question.choose"), ""), *((title, kind) for kind, title in case_kinds().items())]
        kind = widgets.Dropdown(
            options=options, value="", description=text("custody.verdict"), style=style, layout=wide
        )
        evidence = widgets.Textarea(description=text("custody.evidence"), style=style, rows=2, layout=wide)
        submit = widgets.Button(
            description=text("custody.submit"), button_style="primary", layout=widgets.Layout(width="auto")
        )
        outputs = {name: widgets.HTML() for name in ("heading", "wanted", "feedback", "score")}
        kind.observe(lambda _: self._say_what_counts(), "value")
        submit.on_click(self._pressed)
        intro = widgets.HTML(f"{STYLE}<p>{escape(self._promises())}</p>")
        row = widgets.HBox([submit])
        row.add_class("course-buttons")
        box = widgets.VBox(
            [
                outputs["heading"],
                intro,
                kind,
                evidence,
                outputs["wanted"],
                row,
                outputs["feedback"],
                outputs["score"],
                naming_script(),
            ]
        )
        box.add_class("course-panel")
        self.parts = {
            **outputs,
            "kind": kind,
            "evidence": evidence,
            "submit": submit,
            "all": widgets.VBox([self.panel.widget(), box]),
        }
        self._turn_to_case()

    def _pressed(self, button: Any) -> None:
        button.disabled = True
        try:
            self.submit()
        finally:
            button.disabled = self.bench.closed(self.number)

    def _turn_to_case(self) -> None:
        """Put the place for the verdict in order for the case that the panel has turned to."""
        if not self.parts:
            return
        heading = text("custody.verdict_on", name=self.bench.case(self.number).name)
        self.parts["heading"].value = f'<p class="course-heading">{escape(heading)}</p>'
        self.parts["kind"].value = ""
        self.parts["evidence"].value = ""
        self._say_what_counts()
        self._show_standing()

    def _say_what_counts(self) -> None:
        kind = self.parts["kind"].value
        words = (
            text("custody.wanted", what=what_counts(kind)) if kind in KINDS else text("custody.wanted_none")
        )
        self.parts["wanted"].value = f'<p class="course-origin">{escape(words)}</p>'

    def _show_standing(self) -> None:
        """Show the newest verdict on this case, and the score."""
        verdict = self.bench.verdict(self.number)
        self.parts["submit"].disabled = self.bench.closed(self.number)
        self.parts["score"].value = f'<p class="course-origin">{escape(self.bench.score().sentence())}</p>'
        if verdict is None:
            self.parts["feedback"].value = ""
            return
        if verdict.score is not None:
            words = text("custody.closed", message=verdict.message, points=f"{verdict.score:g}")
        elif verdict.outcome == "handed in":
            words = verdict.message
        else:
            left = self.bench.attempts_left(self.number)
            words = text("custody.open", message=verdict.message, left=left)
        self._say(_LOOK_OF.get(verdict.outcome, "course-problem"), words)

    def _say(self, look: str, words: str) -> None:
        self.parts["feedback"].value = f'<div class="{look}" role="status">{escape(words)}</div>'


def custody_desk(bench: Bench) -> CustodyDesk:
    """Return the bench as a view; shown as the last expression of a cell."""
    return CustodyDesk(bench)


def score_view(bench: Bench) -> View:
    """Return every case with what became of it, and the score."""
    rows = []
    for number in range(1, bench.count + 1):
        verdict = bench.verdict(number)
        closed = verdict is not None and verdict.score is not None
        outcome = OUTCOMES[verdict.outcome] if closed and verdict else text("custody.not_closed")
        case = bench.case(number)
        rows.append((case.name, case.form, len(case.used), outcome, verdict.score if verdict else None))
    score = bench.score()
    return View(
        score.sentence(),
        text("custody.score_summary"),
        (
            text("custody.case"),
            text("custody.form"),
            text("custody.used"),
            text("custody.outcome"),
            text("custody.points"),
        ),
        tuple(rows),
        source_note=text("custody.source"),
        result=score,
    )


def trial_view(trial: Trial) -> View:
    """Return the table of detections and false alarms."""
    return View(
        trial.sentence(),
        text("custody.trial_summary"),
        trial.columns,
        trial.table(),
        source_note=text("custody.source"),
        result=trial,
    )
