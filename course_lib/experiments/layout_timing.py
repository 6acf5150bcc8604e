"""Files against shards in time: what of an epoch the layout saves, what decoding takes, and what remains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from course_lib.datasets.origin import Origin
from course_lib.errors import CourseError
from course_lib.loading.results import LoaderComparison
from course_lib.loading.verdicts import Summary, Verdict, compare, summarise

if TYPE_CHECKING:
    import pandas

LAYOUTS = ("files", "shards")
TRANSFORMS = ("bytes", "decode")


class LayoutSetting(NamedTuple):
    """What one pair of layouts was measured under.

    Attributes
    ----------
    transforms : {"bytes", "decode"}
        Encoded bytes handed over, or decoded pixels.
    open_ms : float
        Set time per open; 0 for the local disk as it is.
    workers : int
    """

    transforms: str
    open_ms: float
    workers: int

    @property
    def store(self) -> str:
        """Return the store in words."""
        return f"{self.open_ms:g} ms per open, set" if self.open_ms else "local"


@dataclass(frozen=True)
class EpochShares:
    """An epoch that decodes samples from files, divided into three parts that add up to it.

    Attributes
    ----------
    open_ms : float
    workers : int
    files_seconds : float
        The epoch from files, with decoding; a median, as all times here.
    saved_seconds : float
        What the same epoch from shards takes less.
    decoding_seconds : float
        What an epoch from shards takes more with decoding than without.
    remaining_seconds : float
        The epoch of encoded bytes from shards: reading, checking, handing over, and the start of workers.
    verdict : Verdict
        Whether files and shards lie apart in the repeats, with decoding.
    """

    open_ms: float
    workers: int
    files_seconds: float
    saved_seconds: float
    decoding_seconds: float
    remaining_seconds: float
    verdict: Verdict

    @property
    def sentence(self) -> str:
        """Return the answer to: how much is files, how much decoding, what remains."""
        parts = (
            (self.saved_seconds, "goes with the files"),
            (self.decoding_seconds, "is decoding"),
            (self.remaining_seconds, "remains"),
        )
        told = ", ".join(
            f"{seconds:.3f} s ({seconds / self.files_seconds:.0%}) {what}" for seconds, what in parts
        )
        noise = "" if self.verdict.winner else " What files and shards differ by is within the noise."
        return f"Of {self.files_seconds:.3f} s for an epoch from files, {told}.{noise}"


@dataclass(frozen=True)
class BreakEven:
    """After how many epochs packing has paid for itself.

    Attributes
    ----------
    setting : LayoutSetting
    packing : Summary
        Seconds for packing, measured under the same set time per open.
    saved_seconds : float
        Saved in an epoch, in the median; negative where shards are slower.
    epochs : float or None
        ``packing.median / saved_seconds``; None where nothing is saved outside the noise.
    """

    setting: LayoutSetting
    packing: Summary
    saved_seconds: float
    epochs: float | None

    @property
    def sentence(self) -> str:
        """Return the answer in words."""
        if self.epochs is None:
            return "Packing never pays for itself here: no time is saved outside the noise."
        return (
            f"Packing took {self.packing.median:.2f} s and saves {self.saved_seconds:.3f} s an epoch: "
            f"it has paid for itself after {self.epochs:,.1f} epochs."
        )


@dataclass(frozen=True, eq=False)
class LayoutTiming:
    """Files against shards under several settings, all repeats in turn.

    Attributes
    ----------
    comparisons : tuple of LoaderComparison
        One for each setting; its two candidates differ in the layout alone.
    packing_seconds : dict of float to tuple of float
        For each set time per open, how long packing took, one value for each repeat.
    shard_set : dict
        "samples", "shards", "shard_bytes", "payload_bytes" and "target_bytes" of the set that was read.
    notes : tuple of str
        What had to be changed, and what counts as an open.

    Raises
    ------
    CourseError
        When two settings did not deliver the same samples in the same order.
    """

    comparisons: tuple[LoaderComparison, ...]
    packing_seconds: Mapping[float, tuple[float, ...]]
    shard_set: Mapping[str, int]
    notes: tuple[str, ...]

    def __post_init__(self) -> None:
        digests = {run.delivered_digest for comparison in self.comparisons for run in comparison.runs}
        if len(digests) != 1:
            raise CourseError(
                "The runs did not deliver the same samples in the same order, so they cannot be compared",
                expected="one digest of the delivered ids",
                found=len(digests),
            )

    @property
    def origin(self) -> Origin | None:
        """Where the data came from; None for a folder of one's own."""
        return self.comparisons[0].origin

    @property
    def delivered_digest(self) -> str:
        """The digest of the delivered ids, the same in all runs."""
        return self.comparisons[0].runs[0].delivered_digest

    def settings(self) -> tuple[LayoutSetting, ...]:
        """Return what was measured, in the order of :attr:`comparisons`."""
        return tuple(map(setting_of, self.comparisons))

    def comparison(self, setting: LayoutSetting) -> LoaderComparison:
        """Return the comparison of files and shards under one setting.

        Raises
        ------
        CourseError
            When it was not measured.
        """
        for comparison in self.comparisons:
            if setting_of(comparison) == setting:
                return comparison
        raise CourseError("This was not measured", found=str(tuple(setting)))

    def epoch_seconds(self, setting: LayoutSetting, layout: str) -> Summary:
        """Return median and range of a whole epoch in seconds: from asking for the first batch to the last.

        The start of the workers and every open are in it; making the loader is not.
        """
        runs = self.comparison(setting).runs_of(f"layout {layout}")
        return summarise([run.timing.first_batch_seconds + run.timing.elapsed_seconds for run in runs])

    def epoch_verdict(self, setting: LayoutSetting) -> Verdict:
        """Return whether one layout's epochs are shorter outside the noise."""
        times = {f"layout {layout}": self.epoch_seconds(setting, layout).values for layout in LAYOUTS}
        return compare(times, unit="s an epoch", higher_is_better=False)

    def shares(self, open_ms: float, workers: int) -> EpochShares:
        """Divide an epoch from files into what goes with the files, what decoding takes, and what remains."""
        decode, raw = (LayoutSetting(transforms, open_ms, workers) for transforms in ("decode", "bytes"))
        files, shards = (self.epoch_seconds(decode, layout).median for layout in LAYOUTS)
        remaining = self.epoch_seconds(raw, "shards").median
        return EpochShares(
            open_ms, workers, files, files - shards, shards - remaining, remaining, self.epoch_verdict(decode)
        )

    def all_shares(self) -> tuple[EpochShares, ...]:
        """Return the shares for each store and number of workers that was measured with both transforms."""
        there = self.settings()
        both = [
            each
            for each in there
            if each.transforms == "decode" and each._replace(transforms="bytes") in there
        ]
        return tuple(self.shares(each.open_ms, each.workers) for each in both)

    def break_even(self, setting: LayoutSetting) -> BreakEven:
        """Tell after how many epochs packing has paid for itself under one setting."""
        files, shards = (self.epoch_seconds(setting, layout).median for layout in LAYOUTS)
        packing = summarise(self.packing_seconds[setting.open_ms])
        ahead = self.epoch_verdict(setting).winner == "layout shards"
        return BreakEven(
            setting, packing, files - shards, packing.median / (files - shards) if ahead else None
        )

    def rates_table(self) -> pandas.DataFrame:
        """Return samples a second of both layouts, median and range, with the verdict; one row a setting."""
        rows = []
        for setting in self.settings():
            comparison = self.comparison(setting)
            files, shards = (comparison.summary(f"layout {layout}") for layout in LAYOUTS)
            rows.append(
                {
                    "store": setting.store,
                    "transforms": setting.transforms,
                    "workers": setting.workers,
                    "files (samples/s)": _range(files, 0),
                    "shards (samples/s)": _range(shards, 0),
                    "shards to files": round(shards.median / files.median, 2),
                    "ahead": (comparison.verdict.winner or "within the noise").removeprefix("layout "),
                }
            )
        return _table(rows)

    def shares_table(self) -> pandas.DataFrame:
        """Return what of a decoding epoch goes with the files, what is decoding, and what remains."""
        return _table(
            [
                {
                    "store": LayoutSetting("decode", each.open_ms, each.workers).store,
                    "workers": each.workers,
                    "epoch from files (s)": round(each.files_seconds, 3),
                    "goes with the files (s)": round(each.saved_seconds, 3),
                    "is decoding (s)": round(each.decoding_seconds, 3),
                    "remains (s)": round(each.remaining_seconds, 3),
                    "goes with the files": f"{each.saved_seconds / each.files_seconds:.0%}",
                    "outside the noise": "yes" if each.verdict.winner else "no",
                }
                for each in self.all_shares()
            ]
        )

    def break_even_table(self) -> pandas.DataFrame:
        """Return packing time, time saved and the epochs after which packing has paid; one row a setting."""
        return _table(
            [
                {
                    "store": setting.store,
                    "transforms": setting.transforms,
                    "workers": setting.workers,
                    "packing (s)": _range(one.packing, 2),
                    "saved an epoch (s)": round(one.saved_seconds, 3),
                    "paid after (epochs)": "never: nothing saved outside the noise"
                    if one.epochs is None
                    else f"{one.epochs:,.1f}",
                }
                for setting in self.settings()
                for one in [self.break_even(setting)]
            ]
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the timing as values that JSON can hold."""
        return {
            "comparisons": [comparison.as_dict() for comparison in self.comparisons],
            "packing_seconds": [
                {"open_ms": open_ms, "seconds": list(seconds)}
                for open_ms, seconds in self.packing_seconds.items()
            ],
            "shard_set": dict(self.shard_set),
            "notes": list(self.notes),
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LayoutTiming:
        """Return the timing that :meth:`as_dict` gave."""
        return cls(
            comparisons=tuple(map(LoaderComparison.from_dict, values["comparisons"])),
            packing_seconds={one["open_ms"]: tuple(one["seconds"]) for one in values["packing_seconds"]},
            shard_set=values["shard_set"],
            notes=tuple(values["notes"]),
        )


def setting_of(comparison: LoaderComparison) -> LayoutSetting:
    """Return what the two layouts of a comparison were measured under."""
    conditions = comparison.runs[0].conditions
    return LayoutSetting(conditions.transforms, conditions.open_ms, conditions.workers)


def _range(summary: Summary, digits: int) -> str:
    return f"{summary.median:,.{digits}f} ({summary.low:,.{digits}f} to {summary.high:,.{digits}f})"


def _table(rows: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    import pandas as pd

    return pd.DataFrame(rows)
