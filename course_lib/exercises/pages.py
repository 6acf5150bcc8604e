"""Questions and solutions as Markdown, for places where widgets do not render."""

from __future__ import annotations

from collections.abc import Iterable

from course_lib.exercises.feedback import Page
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


def question_page(question: Question) -> Page:
    """Return a question with its options and the call that answers it."""
    parts = [f"**{question.title}** (`{question.id}`)", question.prompt]
    if isinstance(question, (ChoiceQuestion, PredictionQuestion)) and question.options:
        parts.append(_listed(question.options))
    elif isinstance(question, OrderingQuestion):
        parts.append(_listed(question.items))
    elif isinstance(question, MatchingQuestion):
        parts += [_listed(question.items), "to be sorted to:", _listed(question.targets)]
    elif isinstance(question, (CodeQuestion, ArtefactQuestion)):
        parts.append(_code(question.stub))
    parts += ["Answer with:", _code(_call(question))]
    return Page("\n\n".join(parts))


def questions_page(title: str, questions: Iterable[Question]) -> Page:
    """Return all questions of a lesson on one page."""
    return Page("\n\n".join([f"### {title}", *(question_page(question).markdown for question in questions)]))


def solution_page(question: Question) -> Page:
    """Return the right answer of a question with its explanation."""
    if isinstance(question, PredictionQuestion):
        raise TypeError("a prediction has no solution")
    if isinstance(question, NumberQuestion):
        answer = question.answer
    elif isinstance(question, ChoiceQuestion):
        answer = _listed(option for option in question.options if option.id in question.answer)
    elif isinstance(question, OrderingQuestion):
        texts = {item.id: item for item in question.items}
        answer = _listed(texts[name] for name in question.answer)
    elif isinstance(question, MatchingQuestion):
        texts = {target.id: target for target in question.targets}
        answer = "\n".join(f"- `{item}`: {texts[target].text}" for item, target in question.answer.items())
    else:
        answer = _code(question.reference)
    return Page(f"**Solution: {question.title}**\n\n{answer}\n\n{question.solution}")


def _listed(options: Iterable[Option]) -> str:
    return "\n".join(f"- `{option.id}`: {option.text}" for option in options)


def _code(source: str) -> str:
    return f"```python\n{source.strip()}\n```"


def _call(question: Question) -> str:
    if isinstance(question, PredictionQuestion):
        example = f'"{question.options[0].id}"' if question.options else f'"{question.placeholder}"'
        return f'exercises.predict("{question.id}", ...)  # for example {example}'
    if isinstance(question, MatchingQuestion):
        lines = "\n".join(f'    "{item.id}": ...,' for item in question.items)
        return f'exercises.submit("{question.id}", {{\n{lines}\n}})  # for example "{question.targets[0].id}"'
    if isinstance(question, CodeQuestion):
        return f'exercises.submit("{question.id}", {question.function})'
    if isinstance(question, ArtefactQuestion):
        return f'exercises.submit("{question.id}", {question.variable})'
    if isinstance(question, NumberQuestion):
        example = f'"{question.placeholder}"'
    elif isinstance(question, OrderingQuestion):
        example = f'"{" ".join(item.id for item in question.items)}"'
    elif question.several:
        example = f'"{question.options[0].id}, {question.options[1].id}"'
    else:
        example = f'"{question.options[0].id}"'
    return f'exercises.submit("{question.id}", ...)  # written like {example}'
