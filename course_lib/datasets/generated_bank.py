"""A stand-in for Bank Marketing, made from a seed: the real schema, invented people, and planted truths.

Planted are the things that lessons are about: rows in the order of the calls, a share of "yes" that grows
from one in sixteen to one in three, economic indicators that stand for the date, a call duration that
gives the answer away (less so in the later calls), habits of clients that change, and rows that repeat.
All parameters are our own. Only uniform numbers are drawn from numpy, so that a seed gives the same table
in every version of it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from course_lib.datasets.generated_bank_calendar import Period, calendar_of
from course_lib.errors import CourseError
from course_lib.manifests import load_manifest

if TYPE_CHECKING:
    import pandas
    from numpy.typing import NDArray

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.floating[Any]]
    Integers = NDArray[np.int64]
    Columns = dict[str, NDArray]

DEFAULT_ROW_COUNTS: Mapping[str, int] = {"additional-full": 41_188, "full": 45_211}
SMALLEST_ROW_COUNT = 1_000

_YES_SHARE = {"additional-full": 0.1127, "full": 0.1170}
_TWIN_SHARE = {"additional-full": 0.052, "full": 0.0004}
# At the default row count; a smaller table has its share of them, and at least one.
_EXACT_DUPLICATES = {"additional-full": 12, "full": 0}
_SILENT_CALLS = {"additional-full": 4, "full": 3}

_WORKING_DAYS = 21
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri")
_EDUCATION: Mapping[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "additional-full": (
        (
            "illiterate",
            "basic.4y",
            "basic.6y",
            "basic.9y",
            "high.school",
            "professional.course",
            "university.degree",
        ),
        (-3.6, -1.35, -0.95, -0.3, 0.4, 0.75),
    ),
    "full": (("primary", "secondary", "tertiary"), (-1.1, 0.75)),
}


class _Job(NamedTuple):
    share: float
    share_late: float
    age_mean: float
    age_spread: float
    leaning: float
    schooling: float


_JOBS: Mapping[str, _Job] = {
    "admin.": _Job(0.25, 0.29, 38.0, 9.0, 0.10, 0.6),
    "blue-collar": _Job(0.25, 0.11, 39.5, 9.0, -0.35, -1.1),
    "technician": _Job(0.17, 0.15, 38.5, 9.0, 0.00, 0.4),
    "services": _Job(0.10, 0.06, 38.0, 9.0, -0.20, -0.1),
    "management": _Job(0.07, 0.08, 42.5, 9.0, 0.05, 1.0),
    "retired": _Job(0.03, 0.13, 63.0, 9.0, 0.55, -0.8),
    "entrepreneur": _Job(0.035, 0.02, 41.5, 9.0, -0.20, 0.3),
    "self-employed": _Job(0.035, 0.03, 40.0, 9.0, -0.05, 0.6),
    "housemaid": _Job(0.025, 0.03, 45.5, 10.0, -0.10, -1.2),
    "unemployed": _Job(0.022, 0.03, 40.0, 9.5, 0.15, 0.0),
    "student": _Job(0.012, 0.07, 25.5, 4.5, 0.70, 0.3),
    "unknown": _Job(0.008, 0.01, 45.0, 9.0, 0.00, -0.2),
}


def generate_bank_marketing(
    variant: str = "additional-full", *, row_count: int | None = None, seed: int = 2026
) -> pandas.DataFrame:
    """Make a table with the schema of Bank Marketing.

    Parameters
    ----------
    variant : {"additional-full", "full"}, optional
        Which of the two published tables it stands in for.
    row_count : int, optional
        Rows; as many as the published table has where it is not given, and at least 1,000.
    seed : int, optional
        The same seed and row count give the same table.

    Returns
    -------
    pandas.DataFrame
        Columns in the published order and with the published types; rows in the order of the calls.

    Raises
    ------
    CourseError
        For an unknown variant, too few rows, or a seed that is no whole number from 0 on.
    """
    import pandas as pd

    manifest = load_manifest("bank_marketing", variant)
    rows = DEFAULT_ROW_COUNTS[manifest.variant] if row_count is None else row_count
    _check_whole_number("row_count", rows, SMALLEST_ROW_COUNT)
    _check_whole_number("seed", seed, 0)

    calls = _Calls(manifest.variant, int(rows), int(seed))
    columns, leaning = _known_before_dialling(calls)
    _plant_twins(calls, columns, leaning)
    subscribed = _subscribed(calls, leaning)
    columns["y"] = _text(subscribed, "yes", "no")
    columns["duration"] = _durations(calls, subscribed)
    frame = pd.DataFrame({name: pd.Series(columns[name].tolist()) for name in manifest.field_names})
    return _with_exact_duplicates(calls, frame)


def content_digest(frame: pandas.DataFrame) -> str:
    """Return the SHA-256 of a table's contents: names, types and values, column by column.

    Numbers count as 64 bits in little-endian order and text as UTF-8 with its length before it, so the
    digest is the same on every machine and for every version of pandas.
    """
    digest = hashlib.sha256()
    for name in frame.columns:
        column = frame[name]
        if column.dtype == np.int64:
            kind, payload = "int64", column.to_numpy().astype("<i8").tobytes()
        elif column.dtype == np.float64:
            kind, payload = "float64", column.to_numpy().astype("<f8").tobytes()
        else:
            cells = column.tolist()
            framed = {text: _with_length(text.encode("utf-8")) for text in dict.fromkeys(cells)}
            kind, payload = "text", b"".join(map(framed.__getitem__, cells))
        digest.update(f"{name}\n{kind}\n{len(payload)}\n".encode())
        digest.update(payload)
    return digest.hexdigest()


def _with_length(cell: bytes) -> bytes:
    return b"%d:%b" % (len(cell), cell)


def _check_whole_number(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise CourseError(
            f"{name} of generated data is not usable",
            expected=f"a whole number of at least {least:,}",
            found=repr(value),
            next_step="correct it",
        )


class _Calls:
    """The calls to make up: when each takes place, and the random numbers that they are made from."""

    def __init__(self, variant: str, count: int, seed: int) -> None:
        self.variant = variant
        self.with_indicators = variant == "additional-full"
        self.count = count
        self.periods: tuple[Period, ...] = calendar_of(variant)
        self.row_counts = _shared_out(count, np.array([period.calls for period in self.periods]))
        self.period = np.repeat(np.arange(len(self.periods)), self.row_counts)
        self.place_in_period = np.arange(count) - (np.cumsum(self.row_counts) - self.row_counts)[self.period]
        progress = self.place_in_period / self.row_counts[self.period]
        self.working_day = np.floor(progress * _WORKING_DAYS).astype(np.int64)
        self.late: Flags = self.per_row("is_late")
        self._random = np.random.Generator(np.random.PCG64([seed, len(variant)]))

    def per_row(self, name: str) -> NDArray:
        """Return for each call what the calendar says about its month."""
        return np.array([getattr(period, name) for period in self.periods])[self.period]

    def uniform(self) -> Floats:
        return self._random.random(self.count)

    def normal(self) -> Floats:
        # Box and Muller 1958: numpy's own normal numbers may change between versions.
        radius = np.sqrt(-2.0 * np.log1p(-self.uniform()))
        return radius * np.cos(2.0 * np.pi * self.uniform())

    def logistic(self) -> Floats:
        share = np.clip(self.uniform(), 1e-12, 1.0 - 1e-12)
        return np.log(share) - np.log1p(-share)

    def happens(self, chance: Floats | float) -> Flags:
        return self.uniform() < chance

    def tries(self, last_chance: Floats | float, largest: int) -> Integers:
        """Draw how often something is tried, at least once, when each try is the last with a chance."""
        exact = np.ceil(np.log1p(-self.uniform()) / np.log1p(-np.asarray(last_chance)))
        return np.clip(exact, 1, largest).astype(np.int64)

    def code(self, shares: Sequence[float]) -> Integers:
        edges = np.cumsum(shares)
        return np.searchsorted(edges / edges[-1], self.uniform(), side="right")

    def some_of(self, places: Integers, number: int) -> Integers:
        """Choose ``number`` of ``places`` (row positions), or all where there are fewer."""
        by_chance = np.argsort(self.uniform()[places], kind="stable")
        return places[by_chance[:number]]

    def scaled(self, number_at_default: int) -> int:
        if not number_at_default:
            return 0
        return max(1, round(number_at_default * self.count / DEFAULT_ROW_COUNTS[self.variant]))


def _shared_out(total: int, weights: Floats) -> Integers:
    """Split a whole number in proportion to weights; the parts add up to it."""
    exact = total * weights / weights.sum()
    parts = np.floor(exact).astype(np.int64)
    by_remainder = np.argsort(parts - exact, kind="stable")
    parts[by_remainder[: total - int(parts.sum())]] += 1
    return parts


def _text(flags: Flags, when_true: str | NDArray, when_false: str | NDArray) -> NDArray:
    return np.where(flags, when_true, when_false).astype(object)


def _known_before_dialling(calls: _Calls) -> tuple[Columns, Floats]:
    """Return every column but duration and y, and how much each client leans towards yes (log odds)."""
    columns: Columns = {}
    leaning = np.zeros(calls.count)
    for part in (_client, _loans, _call, _history):
        leaning += part(calls, columns)
    if calls.with_indicators:
        _economy(calls, columns)
    return columns, leaning


def _client(calls: _Calls, columns: Columns) -> Floats:
    code = np.where(
        calls.late,
        calls.code([job.share_late for job in _JOBS.values()]),
        calls.code([job.share for job in _JOBS.values()]),
    )
    jobs = np.array(list(_JOBS.values()))[code]
    age_mean, age_spread, job_leaning, job_schooling = jobs[:, 2:].T
    age = np.clip(np.rint(age_mean + age_spread * calls.normal()), 18, 92)
    single = calls.happens(1.0 / (1.0 + np.exp((age - 31.0) / 5.0)))
    schooling = job_schooling + calls.normal()
    levels, edges = _EDUCATION[calls.variant]

    columns["age"] = age.astype(np.int64)
    columns["job"] = np.array(list(_JOBS), dtype=object)[code]
    columns["marital"] = _text(single, "single", _text(calls.happens(0.16), "divorced", "married"))
    columns["education"] = np.array(levels, dtype=object)[np.searchsorted(edges, schooling)]
    columns["education"][calls.happens(0.042)] = "unknown"
    if calls.with_indicators:
        unknown = calls.happens(np.where(calls.late, 0.07, 0.26) * np.exp(-0.25 * schooling))
        columns["default"] = _text(unknown, "unknown", "no")
        default_leaning = -0.3 * unknown
    else:
        in_default = calls.happens(0.018)
        wealth = calls.normal() + 0.2 * job_schooling
        balance = np.exp(6.3 + 1.35 * wealth) - 120.0 * np.exp(0.6 * calls.normal())
        columns["default"] = _text(in_default, "yes", "no")
        columns["balance"] = np.clip(np.rint(balance), -4_000, 90_000).astype(np.int64)
        default_leaning = 0.2 * wealth - 0.3 * in_default
    return (
        np.where(calls.late, 0.0, 1.0) * job_leaning
        + 0.25 * ((age - 42.0) / 15.0) ** 2
        + 0.15 * single
        + np.where(calls.late, -0.25, 0.15) * schooling
        + default_leaning
    )


def _loans(calls: _Calls, columns: Columns) -> Floats:
    if calls.with_indicators:
        housing, loan, missing = calls.happens(0.537), calls.happens(0.156), calls.happens(0.024)
        columns["housing"] = _text(missing, "unknown", _text(housing, "yes", "no"))
        columns["loan"] = _text(missing, "unknown", _text(loan, "yes", "no"))
        return -0.1 * loan
    housing = calls.happens(np.where(calls.late, 0.30, 0.60))
    loan = calls.happens(np.where(calls.late, 0.07, 0.17))
    columns["housing"] = _text(housing, "yes", "no")
    columns["loan"] = _text(loan, "yes", "no")
    return -0.55 * housing - 0.4 * loan


def _call(calls: _Calls, columns: Columns) -> Floats:
    share = calls.per_row("cellular_share")
    cellular = calls.happens(share)
    campaign = calls.tries(np.where(calls.late, 0.56, 0.40), 56)
    columns["month"] = np.array([period.month for period in calls.periods], dtype=object)[calls.period]
    columns["campaign"] = campaign
    leaning = np.where(calls.late, -0.2, 0.5) * cellular - 0.05 * np.minimum(campaign, 12)
    if calls.with_indicators:
        weekday = (calls.working_day + 3 * calls.period) % len(_WEEKDAYS)
        columns["contact"] = _text(cellular, "cellular", "telephone")
        columns["day_of_week"] = np.array(_WEEKDAYS, dtype=object)[weekday]
        return leaning - 0.2 * (weekday == 0)
    unrecorded = calls.happens(np.where(share == 0.0, 0.99, 0.15))
    columns["contact"] = _text(cellular, "cellular", _text(unrecorded, "unknown", "telephone"))
    columns["day"] = 1 + calls.working_day * 7 // len(_WEEKDAYS)
    return leaning


def _history(calls: _Calls, columns: Columns) -> Floats:
    called_before = calls.happens(
        np.where(calls.late, 0.42, 0.06 + 0.10 * (calls.per_row("cellular_share") > 0.87))
    )
    success = called_before & calls.happens(np.where(calls.late, 0.42, 0.12))
    failure = called_before & ~success
    contacts = calls.tries(np.where(success, 0.6, 0.85), 7)
    columns["previous"] = np.where(called_before, contacts, 0)
    if calls.with_indicators:
        dated = success | (failure & calls.happens(0.035))
        columns["pdays"] = np.where(dated, calls.tries(0.16, 27), 999)
        columns["poutcome"] = _text(success, "success", _text(failure, "failure", "nonexistent"))
    else:
        other = failure & calls.happens(0.27)
        days = np.floor(np.where(success, 85.0 + 110.0 * calls.uniform(), 60.0 + 320.0 * calls.uniform()))
        columns["pdays"] = np.where(called_before, days, -1).astype(np.int64)
        columns["poutcome"] = _text(
            success, "success", _text(other, "other", _text(failure, "failure", "unknown"))
        )
    return np.where(calls.late, 1.5, 2.0) * success - 0.2 * failure


def _economy(calls: _Calls, columns: Columns) -> None:
    columns["emp.var.rate"] = calls.per_row("employment_change")
    columns["cons.price.idx"] = calls.per_row("consumer_prices")
    columns["cons.conf.idx"] = calls.per_row("confidence")
    columns["nr.employed"] = calls.per_row("employed")
    first, last = calls.per_row("euribor_first_day"), calls.per_row("euribor_last_day")
    columns["euribor3m"] = np.round(first + (last - first) * calls.working_day / (_WORKING_DAYS - 1), 3)


def _plant_twins(calls: _Calls, columns: Columns, leaning: Floats) -> None:
    """Give some clients the very values of the one before them, on the same day; only the call differs."""
    chosen = calls.happens(_TWIN_SHARE[calls.variant])
    chosen[0] = False
    chosen[1:] &= (calls.period[1:] == calls.period[:-1]) & (calls.working_day[1:] == calls.working_day[:-1])
    chosen[1:] &= ~chosen[:-1]
    twins = np.flatnonzero(chosen)
    for values in (*columns.values(), leaning):
        values[twins] = values[twins - 1]


def _subscribed(calls: _Calls, leaning: Floats) -> Flags:
    """Let the share of each month say yes: those who lean to it most, with chance in between."""
    yes_shares = np.array([period.yes_share for period in calls.periods])
    yes_counts = _shared_out(round(_YES_SHARE[calls.variant] * calls.count), calls.row_counts * yes_shares)
    wish = 0.9 * leaning + calls.logistic()
    most_willing_first = np.lexsort((-wish, calls.period))
    rank = np.empty(calls.count, dtype=np.int64)
    rank[most_willing_first] = calls.place_in_period
    return rank < yes_counts[calls.period]


def _durations(calls: _Calls, subscribed: Flags) -> Integers:
    """Return the seconds of each call: longer when it ends in yes, and more clearly so in the early ones."""
    longer_by = np.where(calls.late, 0.76, 2.2) * subscribed
    seconds = 160.0 * np.exp(0.8 * (calls.normal() + longer_by))
    return np.clip(np.rint(seconds), np.where(subscribed, 30, 1), 4_900).astype(np.int64)


def _with_exact_duplicates(calls: _Calls, frame: pandas.DataFrame) -> pandas.DataFrame:
    """Return the table with as many exact duplicates, and calls of no length, as are planted."""
    while (repeated := frame.duplicated()).any():
        frame.loc[repeated, "duration"] += 1
    refused = (frame["y"] == "no").to_numpy()
    # Every second row at most, so that no planted pair touches another.
    second = np.flatnonzero(refused[1:] & refused[:-1] & (np.diff(calls.period) == 0)) + 1
    copies = calls.some_of(second[second % 2 == 1], calls.scaled(_EXACT_DUPLICATES[calls.variant]))
    source = np.arange(calls.count)
    source[copies] = copies - 1
    frame = frame.take(source).reset_index(drop=True)
    paired = np.isin(source, copies - 1)
    silent = calls.some_of(np.flatnonzero(refused & ~paired), calls.scaled(_SILENT_CALLS[calls.variant]))
    frame.loc[silent, "duration"] = 0
    return frame
