"""Calls of a bank that knows its clients: generated, since the public Bank Marketing table has no client id.

Planted is what a random split hides. A client is called several times and nearly always answers alike,
but age, job and balance say nothing about that answer: a model can score well on a client only by
having met the same client in training. A little can be learnt for new clients too, from the way they are
reached and from how often they were called before. All parameters are our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from course_lib.datasets.generated_bank import content_digest
from course_lib.datasets.origin import Origin
from course_lib.datasets.samples import row_digests
from course_lib.datasets.subsets import checked_count, checked_seed
from course_lib.errors import CourseError
from course_lib.splits.samples import SampleTable, sample_table

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

NAME = "client_calls"
FEATURES = ("age", "job", "balance_eur", "contact", "earlier_calls")
LABEL = "y"
CLASS_NAMES = ("no", "yes")
DAYS = 360
SMALLEST_ROW_COUNT = 100
LARGEST_ROW_COUNT = 1_000_000

_JOBS = ("admin", "blue-collar", "management", "retired", "services", "student", "technician")
_MOST_CALLS = 8
_STEADINESS = 0.96


def load_client_calls(row_count: int = 6000, seed: int = 2026) -> tuple[pandas.DataFrame, Origin]:
    """Make a table of calls in which clients come back.

    Parameters
    ----------
    row_count : int, optional
        Calls, from 100 to 1,000,000; about a quarter as many clients.
    seed : int, optional
        The same seed and row count give the same table.

    Returns
    -------
    pandas.DataFrame
        One row for each call in the order of the days: ``sample_id``, ``client`` (the group), ``day``
        (1 to 360), the fields named in :data:`FEATURES`, and ``y`` ("yes" or "no").
    Origin
        Generated, with the digest of the contents.

    Raises
    ------
    CourseError
        For a row count or a seed out of range.
    """
    rows = checked_count(row_count, LARGEST_ROW_COUNT)
    checked_seed(seed)
    if rows is None or rows < SMALLEST_ROW_COUNT:
        raise CourseError(
            "The table of calls is too small",
            expected=f"at least {SMALLEST_ROW_COUNT} rows",
            found=row_count,
        )
    frame = _frame(rows, np.random.default_rng(seed))
    return frame, Origin("generated", NAME, "", rows, content_digest(frame), int(seed))


def client_samples(frame: pandas.DataFrame, origin: Origin) -> SampleTable:
    """Return the samples of a table of calls: clients are the groups, days the times."""
    return sample_table(
        frame["sample_id"].tolist(),
        np.asarray([CLASS_NAMES.index(answer) for answer in frame[LABEL]], dtype=np.int32),
        dataset=NAME,
        variant=f"generated-{origin.seed}-{origin.sample_count}",
        id_kind="number of the call in the generated table",
        content=row_digests(frame, leaving_out=["sample_id", LABEL]),
        groups=frame["client"].tolist(),
        times=frame["day"].to_numpy(dtype=np.int64),
        class_names=CLASS_NAMES,
    )


def _frame(rows: int, rng: np.random.Generator) -> pandas.DataFrame:
    import pandas as pd

    client = _clients(rows, rng)
    clients = int(client.max()) + 1
    age = 18 + (60 * rng.random(clients) ** 1.5).astype(np.int64)
    job = (len(_JOBS) * rng.random(clients)).astype(np.int64)
    balance = (20_000 * rng.random(clients) ** 2).astype(np.int64) - 500
    mobile = rng.random(clients) < 0.6
    leaning = rng.random(clients) < np.where(mobile, 0.55, 0.12)

    day = 1 + (DAYS * rng.random(rows)).astype(np.int64)
    order = np.lexsort((client, day))
    client, day = client[order], day[order]
    earlier = _times_met_before(client)
    steady = rng.random(rows) < _STEADINESS
    persuaded = rng.random(rows) < 0.02 * np.minimum(earlier, 5)
    subscribed = np.where(steady, leaning[client], ~leaning[client]) | persuaded
    return pd.DataFrame(
        {
            "sample_id": [f"call-{number:06d}" for number in range(1, rows + 1)],
            "client": [f"client-{number + 1:06d}" for number in client],
            "day": day,
            "age": age[client],
            "job": [_JOBS[code] for code in job[client]],
            "balance_eur": balance[client],
            "contact": ["mobile" if is_mobile else "landline" for is_mobile in mobile[client]],
            "earlier_calls": earlier,
            LABEL: ["yes" if yes else "no" for yes in subscribed],
        }
    )


def _clients(rows: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return the client of each call: clients get one to eight calls each, four and a half on average."""
    calls = 1 + (_MOST_CALLS * rng.random(rows)).astype(np.int64)
    return np.repeat(np.arange(rows), calls)[:rows]


def _times_met_before(client: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each call how many earlier ones went to the same client."""
    order = np.argsort(client, kind="stable")
    grouped = client[order]
    starts = np.flatnonzero(np.r_[True, grouped[1:] != grouped[:-1]])
    within = np.arange(len(client)) - np.repeat(starts, np.diff(np.r_[starts, len(client)]))
    earlier = np.empty(len(client), dtype=np.int64)
    earlier[order] = within
    return earlier
