"""What a training measurement depends on: its loader, its model's seed, its device, its steps."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

from course_lib.datasets.subsets import checked_seed
from course_lib.errors import CourseError
from course_lib.loading.conditions import LoaderConditions, checked_choice, checked_whole
from course_lib.loading.synthetic import Placement

INPUTS = ("real", "synthetic")


@dataclass(frozen=True)
class TrainingConditions:
    """The conditions of one training measurement.

    Attributes
    ----------
    loader : LoaderConditions
        Where the real input comes from; transforms must give images.
    steps, warmup_steps : int
        Measured steps of each run, and steps before them that are left out.
    seed : int
        Of the model's weights and of the synthetic values.
    device : str
        ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"mps"``.
    compute_repeats : int
        Forward and backward passes per step: a slow device, by real work done again.
    input : {"real", "synthetic"}
        What a live run trains on; :func:`measure_training` runs both.
    synthetic_placement : {"host", "device"}
        Whether synthetic batches are moved like real ones or lie on the device already.
    pinned : bool
        Copy batches to pinned memory and move them by non-blocking transfer; CUDA only.
    threads : int
        Threads of the CPU's own operations, by ``torch.set_num_threads``; one, so that the input has cores
        left and other programs disturb the figures less. 0 leaves the number as it is found.

    Raises
    ------
    CourseError
        For conditions that no run can have.
    """

    loader: LoaderConditions = field(default_factory=lambda: LoaderConditions(sample_count=2_880))
    steps: int = 40
    warmup_steps: int = 5
    seed: int = 2026
    device: str = "auto"
    compute_repeats: int = 1
    input: Literal["real", "synthetic"] = "real"
    synthetic_placement: Placement = "host"
    pinned: bool = False
    threads: int = 1

    def __post_init__(self) -> None:
        checked_whole("steps", self.steps, 1, 1_000_000)
        checked_whole("warmup_steps", self.warmup_steps, 0, 1_000_000)
        checked_whole("compute_repeats", self.compute_repeats, 1, 10_000)
        checked_whole("threads", self.threads, 0, 1_024)
        checked_seed(self.seed)
        checked_choice("input", self.input, INPUTS)
        checked_choice("synthetic_placement", self.synthetic_placement, ("host", "device"))
        checked_choice("pinned", self.pinned, (False, True))
        if not re.fullmatch(r"auto|[a-z]+(:\d{1,3})?", str(self.device)):
            raise CourseError(
                "device is not one of its choices",
                expected="'auto', 'cpu', 'cuda' or 'mps'",
                found=repr(self.device),
            )
        if self.loader.transforms == "bytes":
            raise CourseError(
                "A model cannot train on encoded bytes",
                expected="transforms 'decode' or 'augment'",
                found="'bytes', which is the read-only control",
            )

    @property
    def needed_batches(self) -> int:
        """Batches of one run, warm-up included."""
        return self.warmup_steps + self.steps

    def as_dict(self) -> dict[str, Any]:
        """Return the conditions as plain values for a record."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainingConditions:
        """Return the conditions that a record holds.

        Raises
        ------
        CourseError
            When there is a name that is no condition, or a value that is out of range.
        """
        names = [item.name for item in fields(cls)]
        unknown = sorted(set(values) - set(names))
        if unknown:
            raise CourseError(
                f"{unknown[0]} is no condition of a training run", expected=f"one of {', '.join(names)}"
            )
        loader = values.get("loader", LoaderConditions())
        if not isinstance(loader, LoaderConditions):
            loader = LoaderConditions.from_dict(loader)
        return cls(**{**values, "loader": loader})

    def with_changes(self, *, loader: Mapping[str, Any] | None = None, **changes: Any) -> TrainingConditions:
        """Return the same conditions with some changed, those of the loader by a mapping of their own."""
        return self.from_dict(
            {**self.as_dict(), **changes, "loader": self.loader.with_changes(**(loader or {}))}
        )


def check_steps(conditions: TrainingConditions, sample_count: int) -> None:
    """Refuse more steps than one pass over the data has whole batches for.

    Raises
    ------
    CourseError
        With the numbers, and what to lower.
    """
    batch_size = conditions.loader.batch_size
    batches = sample_count // batch_size
    if batches < conditions.needed_batches:
        raise CourseError(
            f"{sample_count:,} samples are too few for these steps, and no sample is used twice",
            expected=(
                f"{conditions.needed_batches * batch_size:,} for {conditions.warmup_steps} warm-up and "
                f"{conditions.steps} measured steps of {batch_size}"
            ),
            found=f"{batches} whole batches",
            next_step=f"lower steps to {max(batches - conditions.warmup_steps, 0)}, or take more samples",
        )
