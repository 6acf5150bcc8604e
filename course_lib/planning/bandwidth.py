"""From the rate of consumption to bandwidth, and back."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from course_lib.planning.core import (
    ONLY_BYTES,
    Number,
    Plan,
    binding_of,
    broadcasting,
    count,
    positive,
    ratio,
)

_SOURCE = "consumption backwards: batches/s x samples per batch x bytes per sample x consumers"


@dataclass(frozen=True)
class BandwidthPlan(Plan):
    """What training consumers read each second, in one representation of the samples.

    Attributes
    ----------
    batches_per_second : float or ndarray
        Of each consumer.
    batch_size, bytes_per_sample, consumers : float or ndarray
        Samples in a batch; mean bytes of a sample as it is read; training processes that read for themselves.
    hit_rate : float or ndarray
        Share of the bytes that a cache answers, from 0 to 1.
    representation : str
        Which bytes are counted, such as "JPEG files as stored".
    samples_per_second, bytes_per_second : float or ndarray
        Of all consumers together; nothing hits a cache.
    remote_bytes_per_second, cold_bytes_per_second : float or ndarray
        What the remote side carries at the hit rate, and at a cold start, when nothing hits.
    available_bytes_per_second : float, ndarray or None
        What the remote side delivers; None when it was not given.
    enough, enough_cold : bool, ndarray or None
        Whether that suffices at the hit rate, and at a cold start; None when nothing is known about it.
    served_samples_per_second : float or ndarray
        Samples that arrive when reading alone limits: the wish, or what the bandwidth carries.
    """

    batches_per_second: Number
    batch_size: Number
    bytes_per_sample: Number
    consumers: Number
    hit_rate: Number
    representation: str
    available_bytes_per_second: Number | None
    samples_per_second: Number
    bytes_per_second: Number
    remote_bytes_per_second: Number
    cold_bytes_per_second: Number
    enough: Any
    enough_cold: Any
    served_samples_per_second: Number


@broadcasting
def read_bandwidth(
    *,
    batches_per_second: Any,
    batch_size: Any,
    bytes_per_sample: Any,
    consumers: Any = 1,
    hit_rate: Any = 0.0,
    representation: str = "bytes as stored",
    available_bytes_per_second: Any = None,
) -> BandwidthPlan:
    """Plan bandwidth backwards from the rate at which training consumes batches.

    Parameters
    ----------
    batches_per_second, batch_size, bytes_per_sample : float or ndarray
        1/s of each consumer, samples, B.
    consumers : float or ndarray
        Training processes, each reading its own batches; DataLoader workers are no consumers: they
        share the reading of one consumer.
    hit_rate : float or ndarray
        Share of bytes from a cache.
    representation : str
        Which bytes a sample is counted in.
    available_bytes_per_second : float or ndarray, optional
        B/s of the remote side, to compare with.

    Returns
    -------
    BandwidthPlan
        ``binding`` is "consumers" (they read as fast as they wish) or "bandwidth"; without an
        ``available_bytes_per_second`` the consumers bind.

    Raises
    ------
    CourseError
        For an input that is zero, negative, not finite, or a percentage where a ratio belongs.

    Examples
    --------
    >>> read_bandwidth(batches_per_second=4, batch_size=128, bytes_per_sample=100e3).bytes_per_second
    51200000.0
    """
    each = positive("The number of batches a second", batches_per_second)
    size = count("The batch size", batch_size)
    sample = positive("The bytes per sample", bytes_per_sample)
    readers = count("The number of consumers", consumers)
    hits = ratio("The hit rate", hit_rate)
    given = available_bytes_per_second is not None
    available = positive("The available bandwidth", available_bytes_per_second) if given else math.inf
    samples = each * size * readers
    wanted = samples * sample
    remote = wanted * (1 - hits)
    # Where everything hits, nothing is asked of the remote side, and any bandwidth carries it.
    binding, carried = binding_of(("consumers", "bandwidth"), (remote, available))
    return BandwidthPlan(
        binding=binding,
        assumptions=_assumptions(given),
        source=_SOURCE,
        batches_per_second=each,
        batch_size=size,
        bytes_per_sample=sample,
        consumers=readers,
        hit_rate=hits,
        representation=representation,
        available_bytes_per_second=available if given else None,
        samples_per_second=samples,
        bytes_per_second=wanted,
        remote_bytes_per_second=remote,
        cold_bytes_per_second=wanted,
        enough=remote <= available if given else None,
        enough_cold=wanted <= available if given else None,
        served_samples_per_second=_served(samples, remote, carried),
    )


@broadcasting
def samples_from_bandwidth(*, bytes_per_second: Any, bytes_per_sample: Any, hit_rate: Any = 0.0) -> Number:
    """Return the samples per second that a bandwidth carries; infinity where every byte hits the cache.

    Parameters
    ----------
    bytes_per_second, bytes_per_sample : float or ndarray
        B/s of the remote side, and mean B of a sample in the representation that crosses it.
    hit_rate : float or ndarray
        Share of bytes that never cross it.

    Examples
    --------
    >>> samples_from_bandwidth(bytes_per_second=51.2e6, bytes_per_sample=100e3)
    512.0
    """
    rate = positive("The bandwidth", bytes_per_second)
    sample = positive("The bytes per sample", bytes_per_sample)
    missed = 1 - ratio("The hit rate", hit_rate)
    return _divided(rate, sample * missed)


def _served(samples: Number, remote: Number, carried: Number) -> Number:
    """Return the wish, scaled down by what the remote side carries of what is asked of it."""
    if isinstance(remote, float) and isinstance(carried, float):
        return samples * (carried / remote) if remote else samples
    import numpy as np

    share = np.divide(carried, remote, out=np.ones(np.broadcast(carried, remote).shape), where=remote != 0)
    return samples * share


def _divided(above: Number, below: Number) -> Number:
    if isinstance(above, float) and isinstance(below, float):
        return above / below if below else math.inf
    import numpy as np

    with np.errstate(divide="ignore"):
        return np.divide(above, below)


def _assumptions(compared: bool) -> tuple[str, ...]:
    return (
        "Bytes per sample are a mean of one representation; another format has to be counted anew.",
        "Consumers run at their full rate all the time, and share nothing with one another.",
        "The hit rate is counted by bytes, as a mean; at a cold start nothing hits.",
        *((ONLY_BYTES,) if compared else ()),
    )
