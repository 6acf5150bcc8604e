"""What bounds a training run, decided by controls and the noise of the repeats, never by a guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from course_lib.errors import CourseError
from course_lib.loading.training import MEANINGS, TrainingComparison, TrainingRun
from course_lib.loading.verdicts import FEWEST_REPEATS, Summary, summarise

Bound = Literal["compute", "store", "cpu", "transfer", "unclear"]

CLOSE_SHARE = 0.10
"""A real step that is longer than a synthetic one by at most this share counts as no longer."""

LONG_WAIT_SHARE = 0.20
"""A real run that waits for more than this share of its time does not compute nearly all of it."""

MOST_SHARE = 0.5
"""A control that takes at least this share of the input path's time takes most of it."""

CLEAR_RATIO = 1.5
"""Of reading alone and decoding alone, one has to take so many times as long as the other in every repeat."""

_DECIDING_PART = {
    "real": "step",
    "synthetic": "step",
    "input only": "waiting",
    "read only": "waiting",
    "decode only": "waiting",
    "transfer only": "transfer",
}


@dataclass(frozen=True)
class Diagnosis:
    """What bounds a training run, and how that could have turned out wrong.

    Attributes
    ----------
    bound : {"compute", "store", "cpu", "transfer", "unclear"}
        What the step time hangs on; "store" and "cpu" are both input-bound.
    sentence : str
        The finding in words, with the figures it rests on.
    evidence : tuple of str
        One line for each candidate: time per batch, median and range.
    control : str
        The candidate that decided.
    refuted_by : str
        What that candidate would have had to show for the finding to be wrong.
    """

    bound: Bound
    sentence: str
    evidence: tuple[str, ...]
    control: str
    refuted_by: str

    @property
    def is_input_bound(self) -> bool:
        """Whether the model waits for its input."""
        return self.bound in ("store", "cpu")


@dataclass(frozen=True)
class _Finding:
    bound: Bound
    sentence: str
    control: str
    refuted_by: str


def diagnose(comparison: TrainingComparison) -> Diagnosis:
    """Tell what bounds a run, by its controls.

    Parameters
    ----------
    comparison : TrainingComparison
        Holds real and synthetic runs; the controls are needed to name a cause.

    Returns
    -------
    Diagnosis
        ``"compute"`` when the real step is no longer than the synthetic one: by at most 10% in the median of
        the repeats, or by more but within the noise, which is not in every repeat and with little waiting in
        the real runs. Else, when it is longer by more than 10% in every repeat, or in the median while every
        real run waits for more than 20% of its time, that part of the input path whose control takes most of
        the path's time, and in every repeat clearly more than the other's.
        ``"unclear"`` when the controls do not separate them, or contradict the waiting that was measured.

    Raises
    ------
    CourseError
        When real or synthetic runs are missing, or they do not have the same number of repeats.

    Notes
    -----
    Runs are compared with the other runs of the same repeat, which found the machine in nearly the same
    state; what counts is the range of these ratios over the repeats.
    """
    finding = _find(comparison)
    evidence = tuple(
        f"{name}: {_shown(comparison.summary(name, _DECIDING_PART[name]))} per batch ({MEANINGS[name]})"
        for name in comparison.candidates()
    )
    return Diagnosis(finding.bound, finding.sentence, evidence, finding.control, finding.refuted_by)


def _find(comparison: TrainingComparison) -> _Finding:
    ratio = _ratio(comparison, "real", "synthetic")
    repeats = len(ratio.values)
    if repeats < FEWEST_REPEATS:
        return _Finding(
            "unclear",
            f"Unclear: with {repeats} repeat{'' if repeats == 1 else 's'} the noise is unknown, and at least "
            f"{FEWEST_REPEATS} are needed.",
            "synthetic",
            "More repeats would tell.",
        )
    waited = summarise([_waited_share(comparison, run) for run in comparison.runs_of("real")])
    is_close = ratio.median <= 1 + CLOSE_SHARE
    if ratio.low > 1 + CLOSE_SHARE or (not is_close and waited.low > LONG_WAIT_SHARE):
        if waited.median > CLOSE_SHARE or comparison.conditions.loader.workers:
            return _find_in_input_path(comparison)
    elif waited.median <= LONG_WAIT_SHARE:
        return _without_gap(comparison, ratio, waited.median)
    return _Finding(
        "unclear",
        f"Unclear: a step on real input takes {_times(ratio)} as long as on synthetic input, while the real "
        f"runs themselves waited for {waited.median:.0%} of their time; the two do not fit together, so "
        "something else than the input changed the times.",
        "synthetic",
        "Repeats that agree better would tell: use more steps, or a machine with less else to do.",
    )


def _without_gap(comparison: TrainingComparison, ratio: Summary, waited: float) -> _Finding:
    real, synthetic = comparison.summary("real"), comparison.summary("synthetic")
    moved = _transfer_seconds(comparison)
    if moved is not None and moved >= MOST_SHARE * synthetic.median:
        return _Finding(
            "transfer",
            f"Transfer-bound: moving one batch again and again takes {_ms(moved)} of the {_ms(real.median)} "
            "of a step, on synthetic input as on real; neither store nor decoding shows in the step time.",
            "transfer only",
            "The transfer-only control would have refuted this by taking less than half of the step.",
        )
    how = (
        f"at most {CLOSE_SHARE:.0%} more"
        if ratio.median <= 1 + CLOSE_SHARE
        else f"not in every repeat more than {CLOSE_SHARE:.0%} more, so within the noise"
    )
    return _Finding(
        "compute",
        f"Compute-bound: a step on real input takes {_shown(real)}, the same step on synthetic input "
        f"{_shown(synthetic)}: {_times(ratio)} as long, {how}; the real runs waited for {waited:.0%} of "
        "their time, and a faster store or decoder would gain no more than that.",
        "synthetic",
        f"The synthetic run would have refuted this by being more than {CLOSE_SHARE:.0%} faster in every "
        "repeat.",
    )


def _find_in_input_path(comparison: TrainingComparison) -> _Finding:
    real, synthetic = comparison.summary("real"), comparison.summary("synthetic")
    gap = real.median - synthetic.median
    opening = (
        f"a step on real input takes {_shown(real)}, on synthetic input {_shown(synthetic)}, {_ms(gap)} less"
    )
    moved = _transfer_seconds(comparison)
    on_device = comparison.conditions.synthetic_placement == "device"
    if on_device and moved is not None and moved >= MOST_SHARE * gap:
        return _Finding(
            "transfer",
            f"Transfer-bound: {opening}, and moving one batch again and again takes {_ms(moved)}. The "
            "synthetic batch lay on the device already. The rest of the difference belongs to reading and "
            "decoding.",
            "transfer only",
            "The transfer-only control would have refuted this by taking less than half of the difference.",
        )
    missing = [name for name in ("read only", "decode only") if name not in comparison.candidates()]
    if missing:
        return _Finding(
            "unclear",
            f"Input-bound, by what is unclear: {opening}. Reading, decoding and transfer lie on the same "
            "path, so the synthetic run alone blames none of them.",
            missing[0],
            f"The {' and the '.join(missing)} control would tell them apart.",
        )
    grown = _growth_of_compute(comparison)
    if grown > MOST_SHARE * gap:
        return _Finding(
            "cpu",
            f"Input-bound, by the CPU: {opening}, and {_ms(grown)} of that is the model itself computing "
            "more slowly while workers prepare batches. Alone they keep up with it; together they share the "
            "same cores.",
            "synthetic",
            "The synthetic run, which has no workers beside it, would have refuted this by computing as "
            "slowly as the real one.",
        )
    return _reading_or_decoding(comparison, opening)


def _reading_or_decoding(comparison: TrainingComparison, opening: str) -> _Finding:
    whole_name = "input only" if "input only" in comparison.candidates() else "real"
    reading, decoding, whole = (
        comparison.summary(name, "waiting") for name in ("read only", "decode only", whole_name)
    )
    apart = _ratio(comparison, "read only", "decode only", "waiting")
    read_share = _ratio(comparison, "read only", whole_name, "waiting").median
    decode_share = _ratio(comparison, "decode only", whole_name, "waiting").median
    loader = comparison.conditions.loader
    path = f"the whole input path takes {_shown(whole)} per batch"
    if read_share >= MOST_SHARE > decode_share and apart.low >= CLEAR_RATIO:
        slowed = f", with {loader.open_ms:g} ms per open set" if loader.open_ms else ""
        return _Finding(
            "store",
            f"Input-bound, by the store: {opening}; {path}, and reading alone {_shown(reading)}{slowed}. Not "
            "the whole difference is the store's: decoding and transfer lie on the same path (decoding alone "
            f"takes {_shown(decoding)}).",
            "read only",
            "The read-only control would have refuted this by taking less than half of the whole input path.",
        )
    if decode_share >= MOST_SHARE > read_share and apart.high <= 1 / CLEAR_RATIO:
        repeats = loader.decode_repeats
        slowed = f", with each image decoded {repeats} times" if repeats > 1 else ""
        return _Finding(
            "cpu",
            f"Input-bound, by the CPU: {opening}; {path}, and decoding from memory alone {_shown(decoding)}"
            f"{slowed}. The disk is not to blame for most of it: reading alone takes {_shown(reading)}. Nor "
            "is the whole difference decoding's, since reading and transfer lie on the same path.",
            "decode only",
            "The decode-only control would have refuted this by taking less than half of the whole input "
            "path.",
        )
    return _Finding(
        "unclear",
        f"Input-bound, by what is unclear: {opening}; {path}, reading alone {_shown(reading)}, decoding "
        f"alone {_shown(decoding)}. No control takes most of the path's time and clearly more than the "
        "other, so the difference cannot be put down to one of them.",
        "read only",
        "A control that takes most of the input path's time, while the other does not, would have named it.",
    )


def _waited_share(comparison: TrainingComparison, run: TrainingRun) -> float:
    """Return the share of a real run's time spent waiting for what the synthetic run has at hand."""
    shares = run.times.shares()
    on_device = comparison.conditions.synthetic_placement == "device"
    return shares["waiting"] + (shares["transfer"] if on_device else 0.0)


def _growth_of_compute(comparison: TrainingComparison) -> float:
    """Return by how many seconds a CPU's model computes more slowly beside workers which alone keep up.

    It is 0 within the noise, and where the input path alone takes longer than the model: that is the cause.
    """
    fed = comparison.runs_of("real")[0].fed
    if not comparison.conditions.loader.workers or fed is None or fed.computed_on != "cpu":
        return 0.0
    if (
        "input only" not in comparison.candidates()
        or _ratio(comparison, "input only", "synthetic").median > 1
    ):
        return 0.0
    if _ratio(comparison, "real", "synthetic", "compute").low <= 1:
        return 0.0
    return comparison.summary("real", "compute").median - comparison.summary("synthetic", "compute").median


def _transfer_seconds(comparison: TrainingComparison) -> float | None:
    if "transfer only" not in comparison.candidates():
        return None
    return comparison.summary("transfer only", "transfer").median


def _ratio(comparison: TrainingComparison, above: str, below: str, quantity: str = "step") -> Summary:
    """Return the range over the repeats of one candidate's time over another's in the same repeat."""
    pair = (comparison.summary(above, quantity).values, comparison.summary(below, quantity).values)
    if len(pair[0]) != len(pair[1]):
        raise CourseError(
            f"The runs of {above} and {below} cannot be paired",
            expected="the same number of repeats",
            found=f"{len(pair[0])} and {len(pair[1])}",
        )
    return summarise([first / second for first, second in zip(*pair, strict=True)])


def _shown(summary: Summary) -> str:
    return f"{_ms(summary.median)} ({summary.low * 1e3:.3g} to {summary.high * 1e3:.3g})"


def _times(ratio: Summary) -> str:
    return f"{ratio.median:.2f} times ({ratio.low:.2f} to {ratio.high:.2f})"


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"
