"""Real training against the same training on synthetic input, with controls that tell the causes apart."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.loading.conditions import checked_choice, checked_whole
from course_lib.loading.steps import StepTimes
from course_lib.loading.synthetic import InputDescription, refuse_unlike
from course_lib.loading.training_conditions import INPUTS, TrainingConditions, check_steps
from course_lib.loading.utilisation import Utilisation, Variant, accelerator_utilisation
from course_lib.loading.verdicts import Summary, summarise
from course_lib.stores.cache_state import CacheState

CONTROLS = ("input only", "read only", "decode only", "transfer only")
MEANINGS = {
    "real": "training on the real data, by the whole input path",
    "synthetic": "the same training on one synthetic batch of equal shape and type",
    "input only": "the whole input path with no training behind it",
    "read only": "reading the encoded bytes, without decoding",
    "decode only": "decoding bytes that lie in memory, without reading",
    "transfer only": "one batch moved to the device again and again",
}
TASK = "course_lib.loading.candidates:measure_task"

_SECONDS_OF_SILENCE = 60.0
_SECONDS_TO_READ_ONE_FILE_SLOWLY = 0.05
_SECONDS_OF_A_SLOW_PASS = 5.0


@dataclass(frozen=True)
class TrainingRun:
    """One run of one candidate.

    Attributes
    ----------
    candidate : str
        A name in :data:`MEANINGS`.
    repeat, place : int
        Which repeat, and which place in that repeat's turn; both count from 0.
    times : StepTimes
        Of the measured steps; a control without training has no compute time.
    fed : InputDescription or None
        What the model was fed; None for a control.
    delivered_digest : str
        Digest over the ids that the loader delivered, in order; "" for a candidate without a loader.
    cache_before, cache_after : CacheState or None
        How much of the run's files was in the page cache.
    """

    candidate: str
    repeat: int
    place: int
    times: StepTimes
    fed: InputDescription | None = None
    delivered_digest: str = ""
    cache_before: CacheState | None = None
    cache_after: CacheState | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for a record."""
        return {
            "candidate": self.candidate,
            "repeat": self.repeat,
            "place": self.place,
            "times": self.times.as_dict(),
            "fed": self.fed.as_dict() if self.fed else None,
            "delivered_digest": self.delivered_digest,
            "cache_before": self.cache_before.as_dict() if self.cache_before else None,
            "cache_after": self.cache_after.as_dict() if self.cache_after else None,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingRun:
        """Return the run that :meth:`as_dict` gave."""
        return cls(
            candidate=values["candidate"],
            repeat=values["repeat"],
            place=values["place"],
            times=StepTimes.from_dict(values["times"]),
            fed=InputDescription.from_dict(values["fed"]) if values["fed"] else None,
            delivered_digest=values["delivered_digest"],
            cache_before=CacheState.from_dict(values["cache_before"]) if values["cache_before"] else None,
            cache_after=CacheState.from_dict(values["cache_after"]) if values["cache_after"] else None,
        )


@dataclass(frozen=True)
class TrainingComparison:
    """All runs of one measurement; what it says is about loading, never about the model's accuracy.

    Attributes
    ----------
    conditions : TrainingConditions
        Shared by all runs.
    runs : tuple of TrainingRun
        In the order in which they ran.
    plan : dict
        "candidates", "repeats", "order" (how the turns were taken) and "notes": sentences on what had to be
        changed.
    origin : Origin or None
        Where the real data came from; None for a folder of one's own.
    device : str
        What computed, and how it was synchronised.
    threads : int
        Threads of the CPU's own operations, as torch reported them.
    started : str
        UTC time of the first run, ISO 8601.

    Raises
    ------
    CourseError
        When real and synthetic input are not alike, or runs delivered other samples than they should.
    """

    conditions: TrainingConditions
    runs: tuple[TrainingRun, ...]
    plan: Mapping[str, Any]
    origin: Origin | None
    device: str
    threads: int
    started: str

    def __post_init__(self) -> None:
        fed = {name: [run.fed for run in self.runs_of(name) if run.fed] for name in INPUTS}
        for real, synthetic in zip(fed["real"], fed["synthetic"], strict=False):
            refuse_unlike(real, synthetic, self.conditions.synthetic_placement)
        digests = {run.delivered_digest for run in self.runs if run.delivered_digest}
        if len(digests) > 1:
            raise CourseError(
                "The runs cannot be compared: they did not deliver the same samples in the same order",
                expected="one digest of the delivered ids",
                found=len(digests),
            )

    def candidates(self) -> tuple[str, ...]:
        """Return the names of what was run, inputs first."""
        present = {run.candidate for run in self.runs}
        return tuple(name for name in MEANINGS if name in present)

    def runs_of(self, candidate: str) -> tuple[TrainingRun, ...]:
        """Return the repeats of one candidate."""
        return tuple(run for run in self.runs if run.candidate == candidate)

    def summary(self, candidate: str, quantity: str = "step") -> Summary:
        """Return median and range over the repeats, in seconds per step.

        Parameters
        ----------
        candidate : str
            One of :meth:`candidates`.
        quantity : {"step", "waiting", "transfer", "compute"}
            The whole step or one of its parts.

        Raises
        ------
        CourseError
            When that candidate was not run.
        """
        runs = self.runs_of(candidate)
        if not runs:
            raise CourseError(
                f"{candidate!r} was not measured", expected=" or ".join(self.candidates()), found=candidate
            )
        if quantity == "step":
            return summarise([run.times.step_seconds for run in runs])
        return summarise([run.times.part_seconds(quantity) for run in runs])

    def samples_per_second(self, candidate: str) -> Summary:
        """Return median and range of the rate over the repeats."""
        return summarise([run.times.samples_per_second for run in self.runs_of(candidate)])

    def utilisation(self, variant: Variant = "measured") -> Utilisation:
        """Return the accelerator utilisation of the real runs together, one of MLPerf Storage's two variants.

        Notes
        -----
        The stated compute time of ``"rules"`` is the median compute time of a step on synthetic input. Sums
        are taken over all repeats; each run's first step enters with its computing alone.
        """
        each = [
            accelerator_utilisation(
                run.times.compute,
                run.times.total,
                variant=variant,
                compute_seconds_per_step=(
                    self.summary("synthetic", "compute").median if variant == "rules" else None
                ),
            )
            for run in self.runs_of("real")
        ]
        if not each:
            raise CourseError("The utilisation needs runs on real input", found="none")
        computing = math.fsum(run.compute_seconds for run in each)
        running = math.fsum(run.running_seconds for run in each)
        return Utilisation(computing / running, variant, computing, running)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold; ids never rows."""
        return {
            "conditions": self.conditions.as_dict(),
            "runs": [run.as_dict() for run in self.runs],
            "plan": dict(self.plan),
            "origin": self.origin.as_dict() if self.origin else None,
            "device": self.device,
            "threads": self.threads,
            "started": self.started,
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingComparison:
        """Return the comparison that :meth:`as_dict` gave."""
        return cls(
            conditions=TrainingConditions.from_dict(values["conditions"]),
            runs=tuple(TrainingRun.from_dict(run) for run in values["runs"]),
            plan=values["plan"],
            origin=Origin(**values["origin"]) if values["origin"] else None,
            device=values["device"],
            threads=values["threads"],
            started=values["started"],
        )


def measure_training(
    conditions: TrainingConditions | None = None,
    *,
    inputs: Sequence[str] = INPUTS,
    controls: Sequence[str] = CONTROLS,
    repeats: int = 3,
    progress: bool = True,
) -> TrainingComparison:
    """Run real and synthetic training and the controls, in turn, in a watched process of their own.

    Parameters
    ----------
    conditions : TrainingConditions, optional
        Shared by all runs: the same model, batch size, steps and seed.
    inputs, controls : sequence of str
        Which of :data:`INPUTS` and :data:`CONTROLS` to run.
    repeats : int
        Runs of each; fewer than 3 show no noise, so that nothing can be concluded from them.
    progress : bool
        Show a bar.

    Returns
    -------
    TrainingComparison
        Without any accuracy: this measures loading.

    Raises
    ------
    CourseError
        For wrong input, when the data run out, and when the process fails, hangs or is killed.
    """
    conditions = conditions or TrainingConditions()
    for chosen, known in ((inputs, INPUTS), (controls, CONTROLS)):
        for name in chosen:
            checked_choice("A candidate", name, known)
    candidates = [name for name in MEANINGS if name in (*inputs, *controls)]
    if not candidates:
        raise CourseError("There is nothing to run", expected=f"some of {', '.join(MEANINGS)}")
    checked_whole("repeats", repeats, 1, 1_000)
    if conditions.loader.sample_count is not None:
        check_steps(conditions, conditions.loader.sample_count)
    plan = {
        "candidates": candidates,
        "repeats": repeats,
        "order": "candidates in turn, every other repeat the other way round",
    }
    started = datetime.now(timezone.utc).isoformat(timespec="seconds")
    answer = _run({"conditions": conditions.as_dict(), "plan": plan}, conditions, progress)
    return TrainingComparison.from_dict(
        {**answer, "plan": {**plan, "notes": answer["notes"]}, "started": started}
    )


def turns(candidates: Sequence[str], repeats: int) -> list[tuple[int, int, str]]:
    """Return (repeat, place, candidate) of each run; every other repeat goes the other way round.

    So no candidate is always first, a steady drift of the machine cancels out, and neighbours stay so:
    real and synthetic runs of one repeat find the machine in nearly the same state.
    """
    there, back = list(candidates), list(reversed(candidates))
    return [
        (repeat, place, candidate)
        for repeat in range(repeats)
        for place, candidate in enumerate(back if repeat % 2 else there)
    ]


def _run(request: dict[str, Any], conditions: TrainingConditions, progress: bool) -> dict[str, Any]:
    from tqdm import tqdm

    from course_lib.watched import run_watched

    plan = request["plan"]
    total = len(plan["candidates"]) * plan["repeats"]
    # On the standard output: JupyterLab shows the other one as if it were an error.
    with tqdm(total=total, unit="run", disable=not progress, leave=False, file=sys.stdout) as bar:

        def show(event: dict[str, Any]) -> None:
            if event.get("kind") == "run":
                bar.update()
            bar.set_description_str(str(event.get("candidate", "preparing the data")))

        answer = run_watched(TASK, request, on_event=show, silence_seconds=_silence_seconds(conditions))
    if not isinstance(answer, dict):
        raise CourseError("The training runs gave no result", found=type(answer).__name__)
    return answer


def _silence_seconds(conditions: TrainingConditions) -> float:
    """Return how long no step may end: opening the samples anew and one slow step are in it."""
    files = conditions.loader.sample_count or 60_000
    slow_step = conditions.loader.batch_seconds_at_most + conditions.compute_repeats * _SECONDS_OF_A_SLOW_PASS
    return _SECONDS_OF_SILENCE + files * _SECONDS_TO_READ_ONE_FILE_SLOWLY + slow_step
