"""What a fitted object has learnt from its rows, as a flat table of named statistics."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from course_lib.errors import CourseError

Statistics = dict[str, Any]

# Facts about the table's shape and names, not about the values in its rows.
_NOT_LEARNT = {"n_features_in_", "feature_names_in_", "n_outputs_", "sparse_output_", "output_indices_"}
_SUMMARIES = ("mean", "median", "min", "max", "std")


def learnt_statistics(fitted: Any) -> Statistics:
    """Return every number and word that ``fitted`` has learnt, by a name such as ``mean_[2]``.

    Raises
    ------
    CourseError
        For something that is not fitted, or of an unknown kind.
    """
    if isinstance(fitted, Mapping):
        return {
            f"{f} {s}": float(v) for f, summaries in _by_field(fitted).items() for s, v in summaries.items()
        }
    if _is_tokenizer(fitted):
        return {f"word {word!r}": True for word in fitted.get_vocab()}
    if hasattr(fitted, "fit"):
        found = dict(_of_estimator(fitted, ""))
        if not found:
            raise CourseError(
                f"This {type(fitted).__name__} has learnt nothing yet", next_step="fit it before checking it"
            )
        return found
    raise _unknown(fitted)


def refitted(fitted: Any, rows: Any) -> Statistics:
    """Return what the same kind of thing learns from ``rows``.

    Raises
    ------
    CourseError
        When it cannot be fitted on these rows alone.
    """
    if isinstance(fitted, Mapping):
        return _summaries(_by_field(fitted), rows)
    if _is_tokenizer(fitted):
        return learnt_statistics(_trained_anew(fitted, rows))
    from sklearn.base import clone
    from sklearn.pipeline import Pipeline

    anew = clone(fitted)
    if isinstance(anew, Pipeline) and not hasattr(anew.steps[-1][1], "transform"):
        anew = anew[:-1]
    try:
        return learnt_statistics(anew.fit(rows))
    except (TypeError, ValueError) as error:
        raise CourseError(
            f"This {type(fitted).__name__} cannot be fitted anew on these rows",
            found=str(error).splitlines()[0],
            next_step="give the rows as they were before it, without the label",
        ) from error


def _of_estimator(estimator: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    steps = _transforming_steps(estimator)
    if steps:
        for name, step in steps:
            yield from _of_estimator(step, f"{prefix}{name} ")
        return
    for name, value in sorted(vars(estimator).items()):
        if name.endswith("_") and not name.startswith("_") and name not in _NOT_LEARNT:
            yield from _of_value(value, prefix + name)


def _transforming_steps(estimator: Any) -> list[tuple[str, Any]]:
    if hasattr(estimator, "steps"):
        named = estimator.steps
    elif hasattr(estimator, "transformers_"):
        named = [(name, step) for name, step, _ in estimator.transformers_]
    else:
        named = []
    return [(name, step) for name, step in named if hasattr(step, "transform") and hasattr(step, "fit")]


def _of_value(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Take arrays, lists and dictionaries apart into single numbers and words."""
    if isinstance(value, Mapping):
        # A vocabulary's words are learnt; their places follow from the words.
        for key in value:
            yield f"{name}[{key!r}]", True
    elif isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        for at, entry in enumerate(value):
            yield from _of_value(entry, f"{name}[{at}]")
    elif isinstance(value, (np.generic, np.ndarray)):
        yield name, value.item()
    elif isinstance(value, (bool, int, float, str)):
        yield name, value
    elif hasattr(value, "fit") and hasattr(value, "transform"):
        yield from _of_estimator(value, f"{name} ")


def _by_field(fitted: Mapping[Any, Any]) -> dict[str, dict[str, float]]:
    by_field = {}
    for field, value in fitted.items():
        summaries = dict(value) if isinstance(value, Mapping) else {"mean": value}
        unknown = [name for name in summaries if name not in _SUMMARIES]
        if unknown:
            raise CourseError(
                f"Unknown statistic of {field}", expected=" or ".join(_SUMMARIES), found=", ".join(unknown)
            )
        by_field[str(field)] = summaries
    if not by_field:
        raise CourseError("There is no statistic to check", found="an empty mapping")
    return by_field


def _summaries(by_field: dict[str, dict[str, float]], rows: Any) -> Statistics:
    absent = [field for field in by_field if field not in getattr(rows, "columns", ())]
    if absent:
        raise CourseError(
            "The rows lack fields that have a statistic",
            expected="a table with named columns",
            found=f"no {', '.join(absent)}",
        )
    return {
        f"{field} {name}": float(getattr(rows[field], name)())
        for field, summaries in by_field.items()
        for name in summaries
    }


def _is_tokenizer(fitted: Any) -> bool:
    return type(fitted).__module__.partition(".")[0] == "tokenizers" and hasattr(fitted, "get_vocab")


def _trained_anew(fitted: Any, texts: Iterable[str]) -> Any:
    """Train a copy with the same rules, the same special words and room for as many words."""
    from tokenizers import Tokenizer

    copy = Tokenizer.from_str(fitted.to_str())
    trainer = fitted.model.get_trainer()
    trainer.vocab_size = fitted.get_vocab_size()
    trainer.special_tokens = [
        token for _, token in sorted(fitted.get_added_tokens_decoder().items()) if token.special
    ]
    trainer.show_progress = False
    copy.train_from_iterator(texts, trainer=trainer)
    return copy


def _unknown(fitted: Any) -> CourseError:
    return CourseError(
        "What a statistic was fitted on can be told for some kinds of things only",
        expected="a scikit-learn transformer or pipeline, a tokenizer, or a mapping of field to mean",
        found=type(fitted).__name__,
    )
