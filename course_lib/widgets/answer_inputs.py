"""Where an answer is given: one input for each kind of question, restored from what was kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from html import escape
from typing import Any, Protocol

from course_lib.exercises.answers import InvalidAnswerError, find_option, read_list
from course_lib.exercises.questions import (
    ArtefactQuestion,
    ChoiceQuestion,
    CodeQuestion,
    MatchingQuestion,
    NumberQuestion,
    Option,
    OrderingQuestion,
    PredictionQuestion,
    Question,
)
from course_lib.widgets.markdown import markdown_html, unmarked
from course_lib.widgets.texts import text


class AnswerInput(Protocol):
    """An answer being made."""

    widget: Any

    @property
    def answer(self) -> Any:
        """The answer as the exercises take it; None while nothing was touched."""

    def restore(self, answer: Any) -> None:
        """Show an answer that was kept; one that no longer fits the question is left out."""


def answer_input(question: Question, own: Any) -> AnswerInput:
    """Return the input for a question; ``own`` is the learner's function or artefact, if it asks for one."""
    if isinstance(question, ChoiceQuestion) and question.several:
        return SeveralInput(question.options)
    if isinstance(question, ChoiceQuestion):
        return ChoiceInput(question.title, question.options)
    if isinstance(question, NumberQuestion):
        return NumberInput(question.placeholder)
    if isinstance(question, OrderingQuestion):
        return OrderInput(question.items)
    if isinstance(question, MatchingQuestion):
        return MatchInput(question.items, question.targets)
    if isinstance(question, CodeQuestion):
        return CodeInput(question, own)
    if isinstance(question, ArtefactQuestion):
        return ArtefactInput(question, own)
    assert isinstance(question, PredictionQuestion)
    if question.options:
        return ChoiceInput(question.title, question.options)
    return NumberInput(question.placeholder)


class NumberInput:
    """A line to type a number with its unit into."""

    def __init__(self, placeholder: str) -> None:
        import ipywidgets as widgets

        self.widget = widgets.Text(
            placeholder=text("question.such_as", example=placeholder),
            description=text("question.your_answer"),
            style={"description_width": "initial"},
            layout=widgets.Layout(width="360px", max_width="100%"),
        )

    @property
    def answer(self) -> str | None:
        """The text as typed, or None while the line is empty."""
        return self.widget.value.strip() or None

    def restore(self, answer: Any) -> None:
        """Show a text that was kept."""
        self.widget.value = str(answer)


class ChoiceInput:
    """Radio buttons under each other, none chosen at first."""

    def __init__(self, title: str, options: tuple[Option, ...]) -> None:
        import ipywidgets as widgets

        self._options = options
        self.widget = widgets.RadioButtons(
            options=[(_lettered(option), option.id) for option in options],
            value=None,
            description=title,
            layout=widgets.Layout(width="100%"),
        )
        self.widget.add_class("course-options")

    @property
    def answer(self) -> str | None:
        """The chosen option's id, or None."""
        return self.widget.value

    def restore(self, answer: Any) -> None:
        """Choose the option that was kept."""
        for option in _options(answer, self._options)[:1]:
            self.widget.value = option.id


class SeveralInput:
    """Boxes to tick, for questions where several options fit."""

    def __init__(self, options: tuple[Option, ...]) -> None:
        import ipywidgets as widgets

        self._options = options
        self.boxes = {
            option.id: widgets.Checkbox(
                description=_lettered(option), indent=False, layout=widgets.Layout(width="100%")
            )
            for option in options
        }
        for box in self.boxes.values():
            box.add_class("course-tick")
        self.widget = widgets.VBox([widgets.HTML(escape(text("question.tick_all"))), *self.boxes.values()])

    @property
    def answer(self) -> list[str] | None:
        """The ticked options' ids, or None while none is ticked."""
        return [name for name, box in self.boxes.items() if box.value] or None

    def restore(self, answer: Any) -> None:
        """Tick the options that were kept."""
        chosen = {option.id for option in _options(answer, self._options)}
        for name, box in self.boxes.items():
            box.value = name in chosen


class OrderInput:
    """Items one above the other, each with buttons that move it up or down."""

    def __init__(self, items: tuple[Option, ...]) -> None:
        import ipywidgets as widgets

        self._items = items
        self._order = [item.id for item in items]
        self._touched = False
        self._places = [widgets.HTML(layout=widgets.Layout(flex="1 1 auto")) for _ in items]
        for place in self._places:
            place.add_class("course-place")
        self._said = widgets.HTML()
        self.ups = [self._button(place, -1) for place in range(len(items))]
        self.downs = [self._button(place, 1) for place in range(len(items))]
        self.ups[0].disabled = self.downs[-1].disabled = True
        rows = [
            widgets.HBox([up, down, label], layout=widgets.Layout(align_items="center"))
            for up, down, label in zip(self.ups, self.downs, self._places, strict=True)
        ]
        self.widget = widgets.VBox([*rows, self._said])
        self._show()

    @property
    def answer(self) -> list[str] | None:
        """The ids from top to bottom, or None while nothing was moved."""
        return list(self._order) if self._touched else None

    def restore(self, answer: Any) -> None:
        """Put the items into the order that was kept."""
        order = [option.id for option in _options(answer, self._items)]
        if sorted(order) == sorted(self._order):
            self._order = order
            self._touched = True
            self._show()

    def _button(self, place: int, step: int) -> Any:
        import ipywidgets as widgets

        up = step < 0
        button = widgets.Button(
            description=text("question.up", place=place + 1)
            if up
            else text("question.down", place=place + 1),
            layout=widgets.Layout(width="auto", flex="0 0 auto"),
        )
        button.on_click(lambda _: self._move(place, step))
        return button

    def _move(self, place: int, step: int) -> None:
        order = self._order
        order[place], order[place + step] = order[place + step], order[place]
        self._touched = True
        moved = next(item for item in self._items if item.id == order[place + step])
        said = text("question.moved", item=unmarked(moved.text), place=place + step + 1)
        self._said.value = f'<span class="course-hidden" role="status">{escape(said)}</span>'
        self._show()

    def _show(self) -> None:
        texts = {item.id: item.text for item in self._items}
        for place, (label, name) in enumerate(zip(self._places, self._order, strict=True)):
            letter = f" ({name})" if len(name) == 1 else ""
            label.value = f"<strong>{place + 1}.</strong> {markdown_html(texts[name], inline=True)}{letter}"


class MatchInput:
    """A list of targets beside each item."""

    def __init__(self, items: tuple[Option, ...], targets: tuple[Option, ...]) -> None:
        import ipywidgets as widgets

        self._items = items
        self._targets = targets
        options = [
            (text("question.choose"), ""),
            *((unmarked(target.text), target.id) for target in targets),
        ]
        self.lists = {
            item.id: widgets.Dropdown(
                options=options,
                value="",
                description=unmarked(item.text),
                layout=widgets.Layout(width="auto"),
                style={"description_width": "45%"},
            )
            for item in items
        }
        for view in self.lists.values():
            view.add_class("course-match")
        self.widget = widgets.VBox(list(self.lists.values()))

    @property
    def answer(self) -> dict[str, str] | None:
        """The chosen target's id by the item's id, or None while nothing was chosen."""
        chosen = {name: view.value for name, view in self.lists.items() if view.value}
        return chosen or None

    def restore(self, answer: Any) -> None:
        """Choose the targets that were kept."""
        for given_item, given_target in answer.items() if isinstance(answer, dict) else ():
            with contextlib.suppress(InvalidAnswerError):
                item = find_option(given_item, self._items, "item")
                self.lists[item.id].value = find_option(given_target, self._targets, "target").id


class CodeInput:
    """Says which function to write; the function is the learner's newest one of that name.

    A later definition in the notebook is taken instead of the one that was passed, so that editing
    the cell above and pressing Check is enough.
    """

    def __init__(self, question: CodeQuestion, function: Callable[..., Any] | None) -> None:
        import ipywidgets as widgets

        self._name = question.function
        self._function = function
        words = text("question.write_function", function=question.function)
        stub = markdown_html(f"```python\n{question.stub.strip()}\n```")
        self.widget = widgets.HTML(f"<p>{escape(words)}</p>{stub}")

    @property
    def answer(self) -> Callable[..., Any] | None:
        """The function, or None while there is none."""
        import __main__

        newest = getattr(__main__, self._name, None)
        return newest if callable(newest) else self._function

    def restore(self, answer: Any) -> None:
        """Leave the code where it is: in the learner's own cell."""


class ArtefactInput:
    """Says what to make; takes a path that is typed, or else the notebook's newest variable of that name."""

    def __init__(self, question: ArtefactQuestion, artefact: Any) -> None:
        import ipywidgets as widgets

        self._name = question.variable
        self._artefact = artefact
        words = text("question.make_artefact", variable=question.variable)
        stub = markdown_html(f"```python\n{question.stub.strip()}\n```")
        self.path = widgets.Text(
            placeholder=text("question.artefact_path"),
            description=text("question.path"),
            style={"description_width": "initial"},
            layout=widgets.Layout(width="560px", max_width="100%"),
        )
        self.widget = widgets.VBox([widgets.HTML(f"<p>{escape(words)}</p>{stub}"), self.path])

    @property
    def answer(self) -> Any:
        """The typed path, else the artefact, else None."""
        import __main__

        typed = self.path.value.strip().strip("\"'")
        newest = getattr(__main__, self._name, None)
        return typed or (newest if newest is not None else self._artefact)

    def restore(self, answer: Any) -> None:
        """Leave the artefact where it is: only its digest was kept."""


def _lettered(option: Option) -> str:
    """Return an option's text after its letter, by which the reply names it."""
    words = unmarked(option.text)
    return f"{option.id}. {words}" if len(option.id) == 1 else words


def _options(answer: Any, options: tuple[Option, ...]) -> list[Option]:
    """Return the options that a kept answer names, none if it no longer fits."""
    with contextlib.suppress(InvalidAnswerError):
        return read_list(answer, options, "option")
    return []
