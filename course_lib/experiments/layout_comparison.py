"""Files against shards: their time under several settings, and the proof that they are the same samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from course_lib.errors import CourseError
from course_lib.experiments.layout_equality import LayoutEquality
from course_lib.experiments.layout_runs import time_layouts
from course_lib.experiments.layout_timing import LayoutTiming
from course_lib.experiments.layout_training import SEEDS, prove_equality
from course_lib.loading.conditions import LoaderConditions

__all__ = ["LayoutComparison", "compare_layouts", "prove_equality", "time_layouts"]


@dataclass(frozen=True, eq=False)
class LayoutComparison:
    """Both halves of the experiment, on the same data.

    Attributes
    ----------
    timing : LayoutTiming
    equality : LayoutEquality

    Raises
    ------
    CourseError
        When they are of different data.
    """

    timing: LayoutTiming
    equality: LayoutEquality

    def __post_init__(self) -> None:
        timed, trained = self.timing.origin, self.equality.origin
        if timed != trained:
            raise CourseError(
                "The times and the proof are of different data",
                expected=timed.label() if timed else "a folder of one's own",
                found=trained.label() if trained else "a folder of one's own",
            )

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as values that JSON can hold."""
        return {"timing": self.timing.as_dict(), "equality": self.equality.as_dict()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LayoutComparison:
        """Return the comparison that :meth:`as_dict` gave."""
        return cls(LayoutTiming.from_dict(values["timing"]), LayoutEquality.from_dict(values["equality"]))


def compare_layouts(
    conditions: LoaderConditions | None = None,
    *,
    open_ms: Sequence[float] = (0.0, 1.0),
    workers: Sequence[int] = (0, 2, 4),
    repeats: int = 3,
    seeds: Sequence[int] = SEEDS,
    epochs: int = 3,
    test_samples: int | None = 400,
    progress: bool = True,
) -> LayoutComparison:
    """Time epochs from files and from shards, and prove that both are the same to a model.

    Parameters
    ----------
    conditions : LoaderConditions, optional
        What all runs and trainings share.
    open_ms, workers, repeats
        As :func:`time_layouts` takes them.
    seeds, epochs, test_samples
        As :func:`prove_equality` takes them.
    progress : bool, optional
        Show bars.

    Raises
    ------
    CourseError
        As from either half.
    """
    conditions = conditions or LoaderConditions()
    timing = time_layouts(conditions, open_ms=open_ms, workers=workers, repeats=repeats, progress=progress)
    equality = prove_equality(
        conditions, seeds=seeds, epochs=epochs, test_samples=test_samples, progress=progress
    )
    return LayoutComparison(timing, equality)
