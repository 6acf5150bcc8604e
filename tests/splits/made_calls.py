"""A small sample table, the same for every test and every process."""

from __future__ import annotations

import hashlib

from course_lib.splits import SampleTable, sample_table


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def make_calls(count: int = 60) -> SampleTable:
    """Return calls: groups of three, two calls at one time, the last fifth the official test set."""
    places = range(count)
    return sample_table(
        [f"call-{place:04d}" for place in places],
        ["yes" if place % 4 == 0 else "no" for place in places],
        dataset="calls",
        variant="small",
        id_kind="position in a list",
        content=[digest_of(f"content {place}") for place in places],
        groups=[f"client {place // 3}" for place in places],
        times=[place // 2 for place in places],
        official=[int(place >= count * 4 // 5) for place in places],
    )
