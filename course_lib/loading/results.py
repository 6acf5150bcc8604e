"""What runs of a loader found, in a form that records can hold: digests of ids, never rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.loading.conditions import SAMPLE_FACTORS, LoaderConditions, differing_factors
from course_lib.loading.probe import LoaderTiming
from course_lib.loading.verdicts import Summary, Verdict, compare, summarise, total_rate

if TYPE_CHECKING:
    from course_lib.stores import CacheState


@dataclass(frozen=True)
class WorkerMemory:
    """Memory of one worker at the end of a run.

    Attributes
    ----------
    uss_bytes : int
        What would be free if this worker ended: its own pages alone.
    pss_bytes : int or None
        With its part of the pages that it shares; None where the system does not tell.
    """

    uss_bytes: int
    pss_bytes: int | None


@dataclass(frozen=True, eq=False)
class LoaderRun:
    """One run of one candidate.

    Attributes
    ----------
    candidate : str
        Name of the candidate, such as "workers 2".
    conditions : LoaderConditions
        All conditions, the data source resolved.
    repeat, turn : int
        Which repeat, and the place among the candidates of this repeat, both from 0.
    timing : LoaderTiming
        The three phases.
    cache_before, cache_after : CacheState
        The share of the files in the page cache, as observed.
    delivered_digest : str
        SHA-256 over the delivered sample ids in their order, one a line.
    delivered_batches, delivered_samples : int
        The first, the warm-up and the measured ones together.
    worker_memory_bytes : tuple of WorkerMemory
        Of each worker.
    open_files : int
        Open files of the process that has most of them.
    cpu_seconds : float
        Processor time of consumer and workers while batches were measured.
    machine_busy_share : float or None
        Share of the machine's time that all its programs together used meanwhile; None where the run
        was too short to tell.
    start_method : str
        How the workers started; "" without workers.
    """

    candidate: str
    conditions: LoaderConditions
    repeat: int
    turn: int
    timing: LoaderTiming
    cache_before: CacheState
    cache_after: CacheState
    delivered_digest: str
    delivered_batches: int
    delivered_samples: int
    worker_memory_bytes: tuple[WorkerMemory, ...]
    open_files: int
    cpu_seconds: float
    machine_busy_share: float | None
    start_method: str

    def as_dict(self) -> dict[str, Any]:
        """Return the run as plain values for a record."""
        return {
            **{name: getattr(self, name) for name in _PLAIN_FIELDS},
            "conditions": self.conditions.as_dict(),
            "timing": self.timing.as_dict(),
            "cache_before": self.cache_before.as_dict(),
            "cache_after": self.cache_after.as_dict(),
            "worker_memory_bytes": [asdict(memory) for memory in self.worker_memory_bytes],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LoaderRun:
        """Return the run that a record holds."""
        from course_lib.stores import CacheState

        return cls(
            **{name: values[name] for name in _PLAIN_FIELDS},
            conditions=LoaderConditions.from_dict(values["conditions"]),
            timing=LoaderTiming.from_dict(values["timing"]),
            cache_before=CacheState.from_dict(values["cache_before"]),
            cache_after=CacheState.from_dict(values["cache_after"]),
            worker_memory_bytes=tuple(WorkerMemory(**memory) for memory in values["worker_memory_bytes"]),
        )


_PLAIN_FIELDS = (
    "candidate",
    "repeat",
    "turn",
    "delivered_digest",
    "delivered_batches",
    "delivered_samples",
    "open_files",
    "cpu_seconds",
    "machine_busy_share",
    "start_method",
)


@dataclass(frozen=True, eq=False)
class LoaderComparison:
    """All runs of all candidates, taken in turn.

    Attributes
    ----------
    runs : tuple of LoaderRun
        In the order in which they ran.
    plan : dict
        "factor" that was varied ("" for none), "repeats", "warmup_batches", "measured_batches" (None:
        all that were left), "usable_cores", and "notes": a tuple of sentences.
    origin : Origin or None
        Where the data came from; None for a folder of the reader's own.
    started : datetime
        When, in UTC.

    Raises
    ------
    CourseError
        When candidates differ in more than one condition, or runs that should have delivered the same
        samples in the same order did not.
    """

    runs: tuple[LoaderRun, ...]
    plan: dict[str, Any]
    origin: Origin | None
    started: datetime
    _by_candidate: dict[str, list[LoaderRun]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        by_candidate: dict[str, list[LoaderRun]] = {}
        for run in self.runs:
            by_candidate.setdefault(run.candidate, []).append(run)
        object.__setattr__(self, "_by_candidate", dict(sorted(by_candidate.items(), key=self._place)))
        check_one_factor({name: runs[0].conditions for name, runs in self._by_candidate.items()})
        if self.plan["factor"] not in SAMPLE_FACTORS and len({run.delivered_digest for run in self.runs}) > 1:
            raise CourseError(
                "The runs did not deliver the same samples in the same order, so they cannot be compared",
                next_step="run them again while nothing else changes the data",
            )

    def candidates(self) -> tuple[str, ...]:
        """Return the names of the candidates, in the order in which they were given."""
        return tuple(self._by_candidate)

    def runs_of(self, candidate: str) -> tuple[LoaderRun, ...]:
        """Return the runs of one candidate, in the order of the repeats."""
        if candidate not in self._by_candidate:
            raise CourseError(
                "There is no such candidate",
                expected=f"one of {', '.join(self._by_candidate)}",
                found=repr(candidate),
            )
        return tuple(self._by_candidate[candidate])

    def conditions(self, candidate: str) -> LoaderConditions:
        """Return the conditions of one candidate."""
        return self.runs_of(candidate)[0].conditions

    def summary(self, candidate: str, figure: str = "samples_per_second") -> Summary:
        """Return median and range of a figure of :class:`LoaderTiming` over a candidate's runs."""
        return summarise([float(getattr(run.timing, figure)) for run in self.runs_of(candidate)])

    def total_samples_per_second(self, candidate: str) -> float:
        """Return all samples of a candidate's runs over all their time."""
        timings = [run.timing for run in self.runs_of(candidate)]
        return total_rate(
            amounts=[timing.sample_count for timing in timings],
            seconds=[timing.elapsed_seconds for timing in timings],
        )

    @property
    def same_samples(self) -> bool:
        """Whether all runs delivered the same samples in the same order, by their digests."""
        return len({run.delivered_digest for run in self.runs}) == 1

    @property
    def verdict(self) -> Verdict:
        """The winner in samples a second, if there is one outside the noise."""
        verdict = compare({name: self.summary(name).values for name in self.candidates()})
        kinds = sorted({run.cache_before.kind for run in self.runs if run.conditions.layout != "memory"})
        if len(kinds) < 2:
            return verdict
        return Verdict(
            verdict.winner,
            f"{verdict.sentence} The runs began with different cache states ({', '.join(kinds)}).",
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as values that JSON can hold."""
        return {
            "runs": [run.as_dict() for run in self.runs],
            "plan": self.plan | {"notes": list(self.plan["notes"])},
            "origin": None if self.origin is None else self.origin.as_dict(),
            "started": self.started.isoformat(),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LoaderComparison:
        """Return the comparison that a record holds."""
        return cls(
            runs=tuple(LoaderRun.from_dict(run) for run in values["runs"]),
            plan=values["plan"] | {"notes": tuple(values["plan"]["notes"])},
            origin=None if values["origin"] is None else Origin(**values["origin"]),
            started=datetime.fromisoformat(values["started"]),
        )

    @staticmethod
    def _place(item: tuple[str, list[LoaderRun]]) -> int:
        """Return where a candidate was given: in repeat 0 nothing is rotated yet."""
        return item[1][0].turn


def check_one_factor(candidates: Mapping[str, LoaderConditions]) -> str:
    """Return the one condition in which the candidates differ; "" where there is a single candidate.

    Raises
    ------
    CourseError
        When two candidates are equal, or more than one condition differs.
    """
    names = list(candidates)
    differing: set[str] = set()
    for at, name in enumerate(names):
        for other in names[:at]:
            factors = differing_factors(candidates[other], candidates[name])
            if not factors:
                raise CourseError(
                    f"The candidates {other} and {name} are the same", next_step="leave one of them out"
                )
            differing.update(factors)
    if len(differing) > 1:
        raise CourseError(
            "The candidates differ in more than one condition, so no difference could be explained",
            expected="one factor varied",
            found=" and ".join(sorted(differing)),
            next_step="compare them in two steps, one factor at a time",
        )
    return differing.pop() if differing else ""


def digest_of_ids(ids: Iterable[str]) -> str:
    """Return the SHA-256 over sample ids in their order, one a line."""
    digest = hashlib.sha256()
    for identifier in ids:
        digest.update(f"{identifier}\n".encode())
    return digest.hexdigest()
