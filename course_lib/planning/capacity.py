"""Space over the life cycle of a training job: what stays, what comes for a while, and the peak."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from course_lib.planning.core import (
    Number,
    Plan,
    Words,
    binding_of,
    broadcasting,
    choose,
    count,
    not_negative,
    plain,
    ratio,
    refuse_where,
)

KINDS = (
    *("raw", "processed", "manifests", "downloads", "scratch", "checkpoints", "being written"),
    *("failed attempts", "cache"),
)
"""What takes space, in the order in which a stage's bars are stacked; the cache lies on local disks."""

_SOURCE = "sum over what lies on the disks at each stage of the life cycle; the peak is the fullest stage"

_ASSUMPTIONS = (
    "Old checkpoints stay until the new one is complete, so one more is on the disk for a while.",
    "A retry writes a whole checkpoint while the parts of failed attempts lie there, each at full size.",
    "Local caches may be copies of persistent data; they still take real local space.",
    "Downloads are gone when conversion ends, and so is its scratch space; caches fill when training starts.",
    "A disk is never filled to exactly the total: retries and other people's files need head room.",
)


@dataclass(frozen=True)
class CapacityStage:
    """One stage of the life cycle.

    Attributes
    ----------
    name : str
        "download", "convert", "train", "save" or "retry".
    by_kind : dict of str to float or ndarray
        Bytes by kind, in the order of `KINDS`; what takes no room at this stage is left out.
    persistent_bytes, local_bytes : float or ndarray
        On persistent storage, and on local disks.
    """

    name: str
    by_kind: dict[str, Number]
    persistent_bytes: Number
    local_bytes: Number

    @property
    def total_bytes(self) -> Number:
        """Bytes of both together."""
        return self.persistent_bytes + self.local_bytes


@dataclass(frozen=True)
class CapacityPlan(Plan):
    """Space that a life cycle takes.

    Attributes
    ----------
    raw_bytes ... reserve_ratio : float or ndarray; shared_cache : bool
        Inputs of `capacity_plan`.
    disk_bytes, local_disk_bytes : float, ndarray or None
        The space there is; None when it was not given.
    static_bytes : float or ndarray
        What stays while nothing is written: data, manifests, caches, kept checkpoints.
    peak_bytes : float or ndarray
        The fullest stage.
    persistent_static_bytes, persistent_peak_bytes, local_bytes : float or ndarray
        The same apart: persistent storage at rest and at its fullest; the caches on local disks.
    needed_bytes : float or ndarray
        The peak with the reserve on top.
    left_bytes : float, ndarray or None
        What is left of ``disk_bytes`` at the peak, the reserve not counted; negative if short.
    enough : bool, ndarray or None
        Whether the peak and the reserve fit; None when no disk was given.
    timeline : tuple of CapacityStage
        The stages in order.
    """

    raw_bytes: Number
    processed_bytes: Number
    manifests_bytes: Number
    cache_bytes: Number
    jobs: Number
    shared_cache: bool
    checkpoint_bytes: Number
    checkpoints_kept: Number
    failed_attempts: Number
    download_bytes: Number
    scratch_bytes: Number
    reserve_ratio: Number
    disk_bytes: Number | None
    local_disk_bytes: Number | None
    static_bytes: Number
    peak_bytes: Number
    persistent_static_bytes: Number
    persistent_peak_bytes: Number
    local_bytes: Number
    needed_bytes: Number
    left_bytes: Number | None
    enough: Any
    timeline: tuple[CapacityStage, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON holds them, a stage as its name and its bytes by kind."""
        stages = [{"stage": stage.name, "bytes": stage.by_kind} for stage in self.timeline]
        return {**super().to_dict(), "timeline": plain(stages)}


@broadcasting
def capacity_plan(
    *,
    raw_bytes: Any = 0.0,
    processed_bytes: Any = 0.0,
    manifests_bytes: Any = 0.0,
    cache_bytes: Any = 0.0,
    jobs: Any = 1,
    shared_cache: bool = False,
    checkpoint_bytes: Any = 0.0,
    checkpoints_kept: Any = 0,
    failed_attempts: Any = 0,
    download_bytes: Any = 0.0,
    scratch_bytes: Any = 0.0,
    reserve_ratio: Any = 0.0,
    disk_bytes: Any = None,
    local_disk_bytes: Any = None,
) -> CapacityPlan:
    """Plan capacity from the life cycle: download, convert, train, save, and save again after a failure.

    Parameters
    ----------
    raw_bytes, processed_bytes, manifests_bytes : float or ndarray
        B that stay on persistent storage.
    cache_bytes : float or ndarray
        B of one cache on local disks.
    jobs : float or ndarray
        Training jobs at the same time; each has a cache of its own unless ``shared_cache``.
    checkpoint_bytes, checkpoints_kept : float or ndarray
        B of one checkpoint, and how many complete ones are kept.
    failed_attempts : float or ndarray
        Left-over part files of failed saves, each counted as a whole checkpoint.
    download_bytes, scratch_bytes : float or ndarray
        B of archives and half-done downloads beside the raw data, and of work files while converting; both
        go when conversion ends.
    reserve_ratio : float or ndarray
        Head room on top of the peak, as a share of it.
    disk_bytes : float or ndarray, optional
        B to compare with: of everything, or of persistent storage alone where ``local_disk_bytes`` is given.
    local_disk_bytes : float or ndarray, optional
        B of all local disks together.

    Returns
    -------
    CapacityPlan
        ``binding`` is the disk that is too small, "disk space", "persistent space" or "local space"; where
        everything fits or no disk is given, the fullest stage.

    Raises
    ------
    CourseError
        For negative or not finite inputs, and where nothing takes any space.

    Examples
    --------
    >>> plan = capacity_plan(raw_bytes=200e9, processed_bytes=300e9, cache_bytes=100e9,
    ...                      checkpoint_bytes=8e9, checkpoints_kept=3)
    >>> plan.static_bytes, plan.peak_bytes
    (624000000000.0, 632000000000.0)
    """
    raw = not_negative("The raw data", raw_bytes)
    processed = not_negative("The processed data", processed_bytes)
    manifests = not_negative("The manifests", manifests_bytes)
    cache = not_negative("The cache", cache_bytes)
    together = count("The number of jobs", jobs)
    checkpoint = not_negative("The checkpoint", checkpoint_bytes)
    checkpoints = count("The number of kept checkpoints", checkpoints_kept, least=0)
    failed = count("The number of failed attempts", failed_attempts, least=0)
    downloads = not_negative("The downloads", download_bytes)
    scratch = not_negative("The scratch space", scratch_bytes)
    reserve = ratio("The reserve", reserve_ratio)
    disk = None if disk_bytes is None else not_negative("The disk", disk_bytes)
    local_disk = None if local_disk_bytes is None else not_negative("The local disks", local_disk_bytes)
    caches = cache * (1.0 if shared_cache else together)
    kept, left_over = checkpoint * checkpoints, checkpoint * failed
    data = {"raw": raw, "processed": processed, "manifests": manifests}
    data_bytes = raw + processed + manifests
    trained = {**data, "checkpoints": kept}
    saving = {**trained, "being written": checkpoint}
    saving_bytes = data_bytes + kept + checkpoint
    cached = {"cache": caches}
    timeline = (
        CapacityStage("download", {"raw": raw, "downloads": downloads}, raw + downloads, 0.0),
        CapacityStage(
            "convert",
            {**data, "downloads": downloads, "scratch": scratch},
            data_bytes + downloads + scratch,
            0.0,
        ),
        CapacityStage("train", {**trained, **cached}, data_bytes + kept, caches),
        CapacityStage("save", {**saving, **cached}, saving_bytes, caches),
        CapacityStage(
            "retry", {**saving, "failed attempts": left_over, **cached}, saving_bytes + left_over, caches
        ),
    )
    names = [stage.name for stage in timeline]
    fullest, peak = _fullest(names, [stage.total_bytes for stage in timeline])
    refuse_where(
        peak <= 0,
        "Nothing in this plan takes any space",
        found=lambda: "0 B everywhere",
        next_step="give at least the raw data",
    )
    persistent = _fullest(names, [stage.persistent_bytes for stage in timeline])[1]
    needed = peak * (1 + reserve)
    short = _shortages(needed, persistent * (1 + reserve), caches * (1 + reserve), disk, local_disk)
    binding: Any = fullest
    for name, missing in short:
        binding = choose(missing, name, binding)
    return CapacityPlan(
        binding=binding,
        assumptions=_ASSUMPTIONS,
        source=_SOURCE,
        raw_bytes=raw,
        processed_bytes=processed,
        manifests_bytes=manifests,
        cache_bytes=cache,
        jobs=together,
        shared_cache=shared_cache,
        checkpoint_bytes=checkpoint,
        checkpoints_kept=checkpoints,
        failed_attempts=failed,
        download_bytes=downloads,
        scratch_bytes=scratch,
        reserve_ratio=reserve,
        disk_bytes=disk,
        local_disk_bytes=local_disk,
        static_bytes=timeline[2].total_bytes,
        peak_bytes=peak,
        persistent_static_bytes=timeline[2].persistent_bytes,
        persistent_peak_bytes=persistent,
        local_bytes=caches,
        needed_bytes=needed,
        left_bytes=None if disk is None else disk - (peak if local_disk is None else persistent),
        enough=_none_of([missing for _, missing in short]),
        timeline=timeline,
    )


def _fullest(names: list[str], sizes: list[Number]) -> tuple[Words, Number]:
    """Return the name and the bytes of the fullest stage; the first one where several are."""
    name, negative = binding_of(names, [-size for size in sizes])
    return name, -negative


def _shortages(
    everything: Number, persistent: Number, local: Number, disk: Number | None, local_disk: Number | None
) -> list[tuple[str, Any]]:
    """Return for each disk that was given whether it is too small."""
    if local_disk is None:
        return [] if disk is None else [("disk space", everything > disk)]
    short = [("local space", local > local_disk)]
    return short if disk is None else [*short, ("persistent space", persistent > disk)]


def _none_of(shortages: list[Any]) -> Any:
    if not shortages:
        return None
    short = shortages[0]
    for other in shortages[1:]:
        short = short | other
    return not short if isinstance(short, bool) else ~short
