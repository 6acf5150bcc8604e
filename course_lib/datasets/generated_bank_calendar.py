"""The calendar of the generated Bank Marketing table: how calling went, month by month, and the economy.

The figures are made up in the manner of those years: first many calls and little success, then few calls
to chosen clients with much success, while rates and employment fall.
"""

from __future__ import annotations

from typing import NamedTuple

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class Period(NamedTuple):
    """The calls of one month.

    ``calls`` is a weight; ``yes_share`` and ``cellular_share`` are ratios; the indicators have the units
    that the manifest gives their fields.
    """

    year: int
    month: str
    calls: float
    yes_share: float
    cellular_share: float
    employment_change: float
    consumer_prices: float
    confidence: float
    euribor_first_day: float
    euribor_last_day: float
    employed: float

    @property
    def is_late(self) -> bool:
        """Whether the bank calls few, chosen clients by then."""
        return (self.year, _MONTHS.index(self.month)) > (2009, _MONTHS.index("may"))


_CALENDAR = (
    Period(2008, "may", 1880, 0.030, 0.00, 1.0, 94.0, -37.5, 4.85, 4.87, 5180.0),
    Period(2008, "jun", 1065, 0.042, 0.00, 1.3, 94.4, -40.5, 4.87, 4.96, 5220.0),
    Period(2008, "jul", 1625, 0.060, 0.85, 1.3, 93.9, -41.5, 4.95, 4.97, 5220.0),
    Period(2008, "aug", 1255, 0.052, 0.96, 1.3, 93.5, -37.0, 4.96, 4.98, 5220.0),
    Period(2008, "oct", 35, 0.400, 0.05, -0.2, 93.8, -39.5, 4.76, 5.03, 5185.0),
    Period(2008, "nov", 880, 0.054, 0.90, -0.2, 93.2, -41.0, 3.86, 4.72, 5185.0),
    Period(2008, "dec", 3, 0.100, 0.20, -0.3, 92.8, -45.0, 3.05, 3.80, 5165.0),
    Period(2009, "jan", 260, 0.035, 0.91, -0.3, 92.8, -45.0, 2.15, 2.80, 5165.0),
    Period(2009, "feb", 510, 0.110, 0.90, -0.3, 92.8, -45.0, 1.83, 2.10, 5165.0),
    Period(2009, "mar", 110, 0.360, 0.93, -1.7, 92.9, -49.0, 1.52, 1.80, 5095.0),
    Period(2009, "apr", 600, 0.180, 0.93, -1.7, 93.1, -46.0, 1.37, 1.50, 5095.0),
    Period(2009, "may", 1330, 0.092, 0.92, -1.7, 92.9, -45.0, 1.25, 1.36, 5095.0),
    Period(2009, "jun", 172, 0.370, 0.91, -2.7, 93.0, -40.0, 1.10, 1.24, 5070.0),
    Period(2009, "jul", 45, 0.370, 0.86, -2.7, 92.5, -34.5, 0.90, 1.08, 5070.0),
    Period(2009, "aug", 188, 0.350, 0.91, -2.7, 92.2, -32.5, 0.82, 0.88, 5070.0),
    Period(2009, "sep", 65, 0.400, 0.89, -3.2, 92.4, -31.0, 0.74, 0.82, 5020.0),
    Period(2009, "oct", 110, 0.410, 0.87, -3.2, 92.4, -28.0, 0.72, 0.75, 5020.0),
    Period(2009, "nov", 87, 0.470, 0.87, -3.2, 92.6, -31.0, 0.71, 0.72, 5020.0),
    Period(2009, "dec", 42, 0.500, 0.85, -2.8, 92.7, -34.0, 0.70, 0.72, 5025.0),
    Period(2010, "jan", 50, 0.460, 0.83, -1.7, 93.0, -35.0, 0.66, 0.70, 5010.0),
    Period(2010, "feb", 78, 0.520, 0.85, -1.7, 93.2, -35.0, 0.65, 0.66, 5010.0),
    Period(2010, "mar", 64, 0.550, 0.85, -1.7, 93.4, -36.0, 0.63, 0.66, 5010.0),
    Period(2010, "apr", 43, 0.550, 0.86, -1.7, 93.7, -35.5, 0.64, 0.66, 5010.0),
    Period(2010, "may", 52, 0.560, 0.81, -1.7, 93.9, -41.0, 0.67, 0.70, 5010.0),
    Period(2010, "jun", 56, 0.480, 0.73, -1.5, 94.1, -41.0, 0.70, 0.77, 4990.0),
    Period(2010, "jul", 75, 0.550, 0.80, -1.5, 94.2, -39.5, 0.78, 0.89, 4990.0),
    Period(2010, "aug", 57, 0.520, 0.77, -1.5, 94.0, -39.5, 0.89, 0.90, 4990.0),
    Period(2010, "sep", 74, 0.500, 0.81, -0.9, 94.2, -38.5, 0.88, 0.89, 4970.0),
    Period(2010, "oct", 50, 0.460, 0.84, -0.9, 94.6, -48.5, 0.94, 1.04, 4970.0),
    Period(2010, "nov", 32, 0.450, 0.90, -0.9, 94.8, -50.0, 1.03, 1.05, 4970.0),
)


def calendar_of(variant: str) -> tuple[Period, ...]:
    """Return the months of a variant in the order of time.

    The published table with indicators has no calls in January and February, so its stand-in has none.
    """
    if variant == "full":
        return _CALENDAR
    return tuple(period for period in _CALENDAR if period.month not in ("jan", "feb"))
