"""Timing of anything that hands out batches: construction, first batch and steady state, each apart."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.errors import CourseError

PAYLOAD_FIELD = "image"

_NOTHING = object()
_MOST_BATCHES = 1_000_000_000


@dataclass(frozen=True, eq=False)
class LoaderTiming:
    """What one run of a loader took.

    Attributes
    ----------
    construction_seconds : float
        Making the loader: finding the samples and building the objects.
    first_batch_seconds : float
        From asking for an iterator to holding its first batch; workers start in this time.
    warmup_batches : int
        Batches, the first among them, that were taken and whose wait is not measured.
    waits_seconds : ndarray of float64, shape (measured batches,)
        How long the consumer waited for each measured batch.
    sample_count, byte_count : int
        Samples of the measured batches, and the bytes of their payload in the representation below.
    representation : str
        What a payload was when it was handed over, such as "uint8 (3, 32, 32)" or "encoded bytes".
    elapsed_seconds : float
        From the end of the warm-up to the last measured batch.
    """

    construction_seconds: float
    first_batch_seconds: float
    warmup_batches: int
    waits_seconds: NDArray[np.float64]
    sample_count: int
    byte_count: int
    representation: str
    elapsed_seconds: float

    @property
    def measured_batches(self) -> int:
        """How many batches were measured."""
        return len(self.waits_seconds)

    @property
    def samples_per_second(self) -> float:
        """All measured samples over all measured time."""
        return self.sample_count / self.elapsed_seconds

    @property
    def bytes_per_second(self) -> float:
        """All measured bytes, of the stated representation, over all measured time."""
        return self.byte_count / self.elapsed_seconds

    @property
    def batch_wait_p50_seconds(self) -> float:
        """The median batch wait."""
        return float(np.median(self.waits_seconds))

    @property
    def batch_wait_p95_seconds(self) -> float:
        """Element int(0.95 (n - 1)) of the sorted waits: a wait that happened, never one between two."""
        waits = np.sort(self.waits_seconds)
        return float(waits[int(0.95 * (len(waits) - 1))])

    @property
    def batch_wait_max_seconds(self) -> float:
        """The longest batch wait."""
        return float(np.max(self.waits_seconds))

    def as_dict(self) -> dict[str, Any]:
        """Return all attributes as plain values for a record."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {"waits_seconds": [float(f"{wait:.9g}") for wait in self.waits_seconds]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> LoaderTiming:
        """Return the timing that a record holds."""
        return cls(**{**values, "waits_seconds": np.asarray(values["waits_seconds"], dtype=np.float64)})


def time_batches(
    make_loader: Callable[[], Iterable[Any]],
    *,
    warmup_batches: int = 10,
    measured_batches: int | None = 100,
    clock: Callable[[], float] = time.perf_counter,
    on_batch: Callable[[Any], None] | None = None,
) -> LoaderTiming:
    """Make a loader, take batches from it once, and tell how long each phase took.

    Parameters
    ----------
    make_loader : callable
        Returns what hands out batches: tensors, tuples or lists whose first element is the payload,
        or dicts whose payload is under "image", else under their first key.
    warmup_batches : int, optional
        Batches that are taken first and not measured, at least 1: the first one is always among them, with a
        time of its own. So 10 and 100 measured ones need 110.
    measured_batches : int or None, optional
        Batches that are measured; None measures all that are left, of a loader that knows its length.
    clock : callable, optional
        Seconds as a float.
    on_batch : callable, optional
        Called with each batch after its wait was clocked. What it takes counts in the elapsed time,
        but not in the waits.

    Raises
    ------
    CourseError
        When there are too few batches: data that run out are never read a second time. And for a
        ``make_loader`` that makes none.
    """
    _check_counts(warmup_batches, measured_batches)
    if not callable(make_loader):
        raise _no_loader("make_loader is no function", make_loader)
    began = clock()
    loader = make_loader()
    constructed = clock()
    if not hasattr(loader, "__iter__"):
        raise _no_loader("make_loader returned nothing that hands out batches", loader)
    available = _length(loader)
    if measured_batches is None:
        if available is None:
            raise CourseError(
                "The loader does not tell how many batches it has", next_step="give measured_batches a number"
            )
        measured_batches = max(available - warmup_batches, 1)
    if available is not None and available < warmup_batches + measured_batches:
        raise _ran_out(available, warmup_batches, measured_batches)

    started = clock()
    batches = iter(loader)
    first = next(batches, _NOTHING)
    first_arrived = clock()
    if first is _NOTHING:
        raise _ran_out(0, warmup_batches, measured_batches)
    if on_batch is not None:
        on_batch(first)
    payload_of = _payload_getter(first)
    size_of = _size_getter(payload_of(first))
    weight_of, usual_weight = _weighing(payload_of(first))
    usual_size = size_of(payload_of(first))
    representation = _representation(payload_of(first))
    del first
    warmed_up = 1
    for batch in islice(batches, warmup_batches - 1):
        warmed_up += 1
        if on_batch is not None:
            on_batch(batch)

    waits: list[float] = []
    # A tensor's shape takes longer to ask for than its bytes, and thousands of them keep the collector busy:
    # so it is asked for only where a batch has other bytes than the first one.
    other_sizes: list[tuple[int, int]] = []
    steady = arrived = clock()
    if on_batch is None:
        # One look at the clock per batch: a second one would cost more than the wait leaves out.
        arrivals = [steady]
        for batch in islice(batches, measured_batches):
            arrivals.append(clock())
            payload = payload_of(batch)
            if weight_of(payload) != usual_weight:
                other_sizes.append(size_of(payload))
        waits = np.diff(arrivals).tolist()
        arrived = arrivals[-1]
    else:
        asked = steady
        for batch in islice(batches, measured_batches):
            arrived = clock()
            waits.append(arrived - asked)
            payload = payload_of(batch)
            if weight_of(payload) != usual_weight:
                other_sizes.append(size_of(payload))
            on_batch(batch)
            asked = clock()
    if len(waits) < measured_batches:
        raise _ran_out(warmed_up + len(waits), warmup_batches, measured_batches)
    usual = measured_batches - len(other_sizes)
    sample_count, byte_count = (
        usual_size[at] * usual + sum(size[at] for size in other_sizes) for at in (0, 1)
    )
    return LoaderTiming(
        construction_seconds=constructed - began,
        first_batch_seconds=first_arrived - started,
        warmup_batches=warmup_batches,
        waits_seconds=np.array(waits),
        sample_count=sample_count,
        byte_count=byte_count,
        representation=representation,
        elapsed_seconds=arrived - steady,
    )


def _check_counts(warmup_batches: int, measured_batches: int | None) -> None:
    for name, value, least in (
        ("warmup_batches", warmup_batches, 1),
        ("measured_batches", measured_batches, 1),
    ):
        if value is None and name == "measured_batches":
            continue
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _MOST_BATCHES:
            raise CourseError(
                f"{name} is out of range",
                expected=f"a whole number from {least} to {_MOST_BATCHES:,}",
                found=repr(value),
            )


def _no_loader(what: str, found: object) -> CourseError:
    return CourseError(
        what,
        expected="a function that returns a new loader, such as `lambda: DataLoader(...)`",
        found=type(found).__name__,
        next_step="time_batches makes the loader itself, so that its construction is timed too",
    )


def _length(loader: Iterable[Any]) -> int | None:
    try:
        return len(loader)  # type: ignore[arg-type]
    except (TypeError, NotImplementedError):
        return None


def _ran_out(available: int, warmup_batches: int, measured_batches: int) -> CourseError:
    return CourseError(
        "The data run out before the measurement is complete",
        expected=f"{warmup_batches + measured_batches:,} batches ({warmup_batches:,} to warm up, "
        f"{measured_batches:,} to measure)",
        found=f"{available:,}",
        next_step="lower measured_batches, warmup_batches or batch_size, or take more samples",
    )


def _payload_getter(batch: Any) -> Callable[[Any], Any]:
    """Choose how to get at the payload once: the choice would cost more per batch than the getting."""
    if isinstance(batch, dict):
        if not batch:
            raise _unknown(batch)
        return itemgetter(PAYLOAD_FIELD if PAYLOAD_FIELD in batch else next(iter(batch)))
    if isinstance(batch, (tuple, list)) and batch and not isinstance(batch[0], (bytes, int, float, str)):
        return itemgetter(0)
    return lambda whole: whole


def _size_getter(payload: Any) -> Callable[[Any], tuple[int, int]]:
    """Return what tells the samples and the bytes of such a payload."""
    if hasattr(payload, "shape") and len(payload.shape):
        return lambda tensor: (int(tensor.shape[0]), int(tensor.nbytes))
    if isinstance(payload, (list, tuple)) and payload and isinstance(payload[0], bytes):
        return lambda payloads: (len(payloads), sum(map(len, payloads)))
    raise _unknown(payload)


def _weighing(payload: Any) -> tuple[Callable[[Any], Any], int | None]:
    """Return what is quickly compared between payloads, and its value for this one; lists never compare."""
    if hasattr(payload, "nbytes"):
        return attrgetter("nbytes"), int(payload.nbytes)
    return len, None


def _representation(payload: Any) -> str:
    if not hasattr(payload, "shape"):
        return "encoded bytes"
    kind = str(payload.dtype).removeprefix("torch.")
    return f"{kind} {tuple(payload.shape[1:])}"


def _unknown(found: Any) -> CourseError:
    return CourseError(
        "The loader hands out batches that cannot be counted",
        expected="a tensor, a tuple or list that begins with one, a dict, or a list of bytes",
        found=type(found).__name__,
        next_step="let its collate function stack the samples",
    )
