"""What people read about a plan beside its figures: which constraint binds, and what is left unsaid."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.experiments.plan_kinds import kind_of
from course_lib.planning import ONLY_BYTES, Plan
from course_lib.planning.rows import formatted
from course_lib.units import format_both_readings

_BINDING = {
    ("bandwidth", "bandwidth"): "the storage delivers less than the consumers ask for, and they wait.",
    (
        "cache",
        "remote share",
    ): "in an epoch with a filled cache, a job waits for what the cache does not hold.",
    ("cache", "local reads"): "in an epoch with a filled cache, a job waits for the cache itself.",
    ("capacity", "disk space"): "the disk is too small for the peak with the reserve.",
    ("capacity", "persistent space"): "the persistent storage is too small for its peak with the reserve.",
    ("capacity", "local space"): "the local disks are too small for the caches with the reserve.",
    ("metadata", "round trips"): "each operation waits for its answer; more of them at once would help.",
    ("metadata", "metadata server"): "the server answers no more operations; fewer files would help.",
    ("layout", "input"): "synthetic input is still faster, so storage or decoding holds training back.",
    ("layout", "training step"): "training gets its samples as fast as it can take them.",
    ("objects", "round trips"): "each request waits for its answer; more of them at once would help.",
    ("objects", "memory in flight"): "the memory holds fewer requests at once than were wished for.",
    ("objects", "request limit"): "the store answers no more requests per prefix.",
    ("objects", "bandwidth"): "the network carries no more payload.",
    ("checkpoint", "save burst"): "the storage does not take the burst of a save in that time.",
    ("checkpoint", "training reads"): "while a save runs, too little is left for the reads of the training.",
    ("checkpoint", "loss on failure"): "the writing fits; what a failure costs decides on the interval.",
    (
        "interval",
        "bearable loss",
    ): "it asks for more frequent saves than least lost time does.",
    ("interval", "time of saves"): "more frequent saves would cost more time than they bring back.",
    ("choice", "constraints"): "no plan meets them all, so no price matters yet.",
    ("choice", "prices"): "which plan is the cheapest, only your own prices can tell.",
    ("cost", "storage"): "keeping the data is the largest part of the cost.",
    ("cost", "waiting devices"): "devices that wait for data are the largest part of the cost.",
    ("cost", "rebuild"): "devices that wait for a cache to be rebuilt are the largest part of the cost.",
    ("cost", "requests"): "requests to the object store are the largest part of the cost.",
    ("mlperf", "5 x memory"): "the data set has to be five times as large as the hosts' memory.",
}

STAGES = {
    "download": "while the archives lie beside the raw data",
    "convert": "while the raw data are converted",
    "train": "while training runs",
    "save": "while a new checkpoint is written beside those that are kept",
    "retry": "while a save is tried again beside what failed ones left",
}
"""When a stage of the life cycle is, by its name."""

_UNSAID = {
    "bandwidth": (
        "How the demand is spread over time: a mean says nothing about bursts or the start of an epoch.",
    ),
    "cache": ("Whether other jobs push data out of the cache, and what keeping it up to date costs.",),
    "capacity": (
        "Whether the disks are fast enough, and how many files they can hold.",
        "What snapshots, backups, replicas and the file system's own blocks take.",
    ),
    "metadata": (
        "How long the bytes themselves take, once a file is open.",
        "How a server behaves under load, or with everything in one directory.",
    ),
    "layout": (
        "Which part of the gain came from fewer opens, and which from other causes: measure them apart.",
    ),
    "objects": (
        "How single slow answers and errors delay a batch that waits for all of its objects.",
        "What a provider charges for requests and traffic.",
    ),
    "checkpoint": (
        "Whether a checkpoint can be restored: only a restore drill shows that.",
        "How long a restart takes, and what the failure itself costs.",
    ),
    "interval": (
        "Whether failures come at random: after a change of software or hardware they come in heaps.",
        "How long a restart takes, and what the failure itself costs.",
    ),
    "choice": (
        "Whether each plan does what was given for it: measure that for the one that is taken.",
        "What people's time, discounts and traffic cost.",
    ),
    "cost": (
        "Whether the plan does what training needs: constraints come first, then the cheapest plan left.",
        "What people's time, discounts and traffic cost.",
    ),
    "mlperf": (
        "Which utilisation a storage system reaches: only a run of the benchmark shows that.",
        "What real training would do: the benchmark replaces computing by waiting.",
    ),
}


def binding_sentences(plan: Plan) -> tuple[str, ...]:
    """Return which constraint binds and what that means; of arrays, a sentence for each that binds somewhere.

    Examples
    --------
    >>> from course_lib.planning import read_bandwidth
    >>> print(*binding_sentences(read_bandwidth(batches_per_second=4, batch_size=128, bytes_per_sample=1e5)))
    consumers: no bandwidth was given to compare with, so what they ask for is what they read.
    """
    return tuple(f"{phrase}: {meaning}" for phrase, meaning in binding_parts(plan))


def binding_parts(plan: Plan) -> tuple[tuple[str, str], ...]:
    """Return each constraint that binds somewhere, and what that means as a sentence of its own.

    Examples
    --------
    >>> from course_lib.planning import read_bandwidth
    >>> ((phrase, _),) = binding_parts(
    ...     read_bandwidth(batches_per_second=4, batch_size=128, bytes_per_sample=1e5)
    ... )
    >>> phrase
    'consumers'
    """
    phrases = [str(phrase) for phrase in np.unique(np.asarray(plan.binding)).tolist()]
    return tuple((phrase, _meaning(plan, phrase)) for phrase in phrases)


def binding_lines(plan: Plan, *, mark: str = "") -> tuple[str, ...]:
    """Return a line for each constraint that binds, its name between marks of emphasis.

    Examples
    --------
    >>> from course_lib.planning import read_bandwidth
    >>> binding_lines(read_bandwidth(batches_per_second=4, batch_size=128, bytes_per_sample=1e5))[0][:53]
    'Binding constraint: consumers. No bandwidth was given'
    """
    return tuple(
        f"Binding constraint: {mark}{phrase}{mark}. {meaning[:1].upper()}{meaning[1:]}"
        for phrase, meaning in binding_parts(plan)
    )


def unsaid_of(plan: Plan) -> tuple[str, ...]:
    """Return what the estimate says nothing about, a sentence each."""
    only_bytes = (ONLY_BYTES,) if ONLY_BYTES in plan.assumptions else ()
    return (*only_bytes, *_UNSAID[kind_of(plan).name])


def assumptions_of(plan: Plan) -> tuple[str, ...]:
    """Return what the figures take for granted, without what `unsaid_of` says already."""
    return tuple(sentence for sentence in plan.assumptions if sentence != ONLY_BYTES)


def _meaning(plan: Plan, phrase: str) -> str:
    kind = kind_of(plan).name
    if kind == "bandwidth" and getattr(plan, "enough", None) is None:
        return "no bandwidth was given to compare with, so what they ask for is what they read."
    if (kind, phrase) == ("bandwidth", "consumers"):
        return _kept_up(plan)
    if (kind, phrase) == ("mlperf", "500 steps"):
        return _steps_decide(plan)
    if kind == "capacity" and phrase in STAGES:
        fits = getattr(plan, "enough", None) is not None
        place = "everything fits; the fullest stage is" if fits else "no disk was given; the fullest stage is"
        return f"{place} {STAGES[phrase]}."
    # The cheapest plan has the parts of a cost.
    return _BINDING.get((kind, phrase)) or _BINDING["cost", phrase]


def _kept_up(plan: Any) -> str:
    """Return that the storage keeps up, and whether that holds for a cold start, too."""
    kept = np.asarray(plan.binding) == "consumers"
    cold = np.broadcast_to(plan.enough_cold, kept.shape)[kept]
    if cold.all():
        return "the storage keeps up, even at a cold start, and the consumers read as fast as they ask."
    where = "in some of these plans " if cold.any() else ""
    return f"they bind while the cache is warm; at a cold start {where}the bandwidth binds, and they wait."


def _steps_decide(plan: Any) -> str:
    memory = plan.deciding_memory_bytes
    # Memory is sold in GiB, and data sets are counted in GB.
    shown = formatted("bytes", memory) if isinstance(memory, np.ndarray) else format_both_readings(memory)
    return (
        "the rule of 500 steps sets the size of the data set; memory would count only above "
        f"{shown} in each host."
    )
