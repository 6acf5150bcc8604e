"""One parser and one printer: what is written is what is read, and nothing is guessed."""

from __future__ import annotations

import doctest
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import course_lib.units
from course_lib.errors import CourseError
from course_lib.units import (
    Quantity,
    bandwidth,
    format_bytes,
    format_rate,
    format_seconds,
    parse_quantity,
    sample_rate,
)


@pytest.mark.parametrize(
    ("written", "base", "dimension"),
    [
        ("51.2 MB/s", 51_200_000, "bytes/s"),
        ("1.5 GiB", 1.5 * 2**30, "bytes"),
        ("1 TiB", 2**40, "bytes"),
        ("100 KB", 100_000, "bytes"),
        ("100kB", 100_000, "bytes"),
        ("3 mB", 3_000_000, "bytes"),
        ("100 KiB", 102_400, "bytes"),
        ("7 B", 7, "bytes"),
        ("7 bytes", 7, "bytes"),
        ("10 megabytes per second", 10_000_000, "bytes/s"),
        ("10 gibibytes", 10 * 2**30, "bytes"),
        ("8 Gbit/s", 1e9, "bytes/s"),
        ("8 gigabits per second", 1e9, "bytes/s"),
        ("8 bits", 1, "bytes"),
        ("6 MB/min", 100_000, "bytes/s"),
        ("18 min", 1080, "seconds"),
        ("2 h", 7200, "seconds"),
        ("2 ms", 0.002, "seconds"),
        ("5 µs", 5e-6, "seconds"),
        ("5 μs", 5e-6, "seconds"),
        ("5 us", 5e-6, "seconds"),
        ("30 seconds", 30, "seconds"),
        ("500 /s", 500, "1/s"),
        ("500 per second", 500, "1/s"),
        ("300 samples/s", 300, "samples/s"),
        ("50 requests/s", 50, "requests/s"),
        ("6,000 op/s", 6000, "op/s"),
        ("6000 IOPS", 6000, "op/s"),
        ("157 shards", 157, "shards"),
        ("75%", 0.75, "ratio"),
        ("75 percent", 0.75, "ratio"),
        ("0.5", 0.5, "number"),
        ("-0.15", -0.15, "number"),
        ("−0.15", -0.15, "number"),
        ("1,024", 1024, "number"),
        ("1,024,000 B", 1_024_000, "bytes"),
        ("1_000", 1000, "number"),
        ("1 024\u00a0KB", 1_024_000, "bytes"),
        ("51.2\u202fMB/s", 51_200_000, "bytes/s"),
        ("1\u00a0024\u00a0B", 1024, "bytes"),
        ("1e3 B", 1000, "bytes"),
        ("  .5 s ", 0.5, "seconds"),
    ],
)
def test_reads_what_people_write(written: str, base: float, dimension: str) -> None:
    quantity = parse_quantity(written)
    assert quantity.base == pytest.approx(base, rel=1e-12)
    assert quantity.dimension == dimension


@pytest.mark.parametrize(
    ("written", "says"),
    [
        ("", "No number"),
        ("fast", "No number"),
        ("nan", "No number"),
        ("inf MB", "No number"),
        ("1e400 B", "finite"),
        ("1e300 PB", "finite"),
        ("51,2 MB/s", "write the decimal mark as a point"),
        ("0,512", "write the decimal mark as a point"),
        ("1,02,000", "write the decimal mark as a point"),
        ("1.2.3", "One number"),
        ("3 mb/s", "write MB/s for bytes or Mbit/s for bits"),
        ("8 Gbps", "write GB/s for bytes or Gbit/s for bits"),
        ("8 Kb", "write KB for bytes or kbit for bits"),
        ("2 gib", "write GiB for bytes or Gibit for bits"),
        ("1 b", "write B for bytes or bit for bits"),
        ("5 m", "write min"),
        ("3 parsecs", "not known"),
        ("3 MB MB", "not known"),
        ("3 s/s", "not known"),
        ("3 MB/fortnight", "not known"),
        ("1 iB", "not known"),
        ("-3 MB", "cannot be negative"),
        ("-3 s", "cannot be negative"),
    ],
)
def test_refuses_nonsense_and_what_has_two_readings(written: str, says: str) -> None:
    with pytest.raises(CourseError, match=says):
        parse_quantity(written)


@pytest.mark.parametrize("answer", [None, 5, 5.0, ["5 s"], b"5 s"])
def test_only_text_is_parsed(answer: object) -> None:
    with pytest.raises(CourseError, match="written as text"):
        parse_quantity(answer)  # type: ignore[arg-type]


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        quantity = parse_quantity(text)
    except CourseError:
        return
    assert math.isfinite(quantity.base)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_quantity_is_finite(value: float) -> None:
    with pytest.raises(CourseError, match="finite"):
        Quantity(value, "MB")


def test_a_quantity_needs_a_known_unit() -> None:
    with pytest.raises(CourseError, match="not known"):
        Quantity(1, "mb")


amounts = st.floats(min_value=0, max_value=1e17, allow_nan=False)
_FORMATS = [(format_bytes, 0.5), (format_rate, 0.5), (format_seconds, 1e-9)]


@pytest.mark.parametrize(("printed", "smallest"), _FORMATS)
@given(value=amounts)
def test_printing_and_reading_agree_within_rounding(printed, smallest, value) -> None:
    value = 0.0 if value < smallest else value
    assert parse_quantity(printed(value)).base == pytest.approx(value, rel=5.1e-4)


@pytest.mark.parametrize(("printed", "smallest"), _FORMATS)
@given(one=amounts, other=amounts)
def test_printing_keeps_the_order(printed, smallest, one, other) -> None:
    low, high = sorted((one, other))
    assert parse_quantity(printed(low)).base <= parse_quantity(printed(high)).base * (1 + 1e-12)


@given(
    st.floats(min_value=1e-3, max_value=1e9),
    st.sampled_from(["B", "KB", "MiB", "GB/s", "Mbit/s", "ms", "h", "/s", "samples/s", "%", ""]),
)
def test_a_quantity_survives_text(value: float, unit: str) -> None:
    quantity = Quantity(value, unit)
    again = parse_quantity(str(quantity))
    assert again.unit == quantity.unit
    assert again.base == pytest.approx(quantity.base, rel=5.1e-6)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0 B"), (999, "999 B"), (999.95, "1 KB"), (1000, "1 KB"), (999_949, "999.9 KB"), (999_999, "1 MB")],
)
def test_bytes_step_up_where_rounding_does(value: float, text: str) -> None:
    assert format_bytes(value) == text


def test_formats_are_decimal() -> None:
    assert format_bytes(16 * 2**30) == "17.18 GB"
    assert format_rate(204_800_000) == "204.8 MB/s"
    assert [format_seconds(s) for s in (0, 0.002, 18 * 60, 7200)] == ["0 s", "2 ms", "18 min", "2 h"]


@pytest.mark.parametrize("printed", [format_bytes, format_rate, format_seconds])
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf")])
def test_formats_refuse_what_no_amount_can_be(printed, value: float) -> None:
    with pytest.raises(CourseError, match="finite number that is not negative"):
        printed(value)


rates = st.floats(min_value=1e-3, max_value=1e9)


def test_the_bandwidth_of_the_lessons_consumer() -> None:
    assert bandwidth(4 * 128, parse_quantity("100 KB").base) == parse_quantity("51.2 MB/s").base
    assert bandwidth(4 * 128, parse_quantity("50 KB").base) == parse_quantity("25.6 MB/s").base


@given(samples_per_second=rates, bytes_per_sample=rates)
def test_a_sample_rate_survives_the_way_to_bytes_and_back(
    samples_per_second: float, bytes_per_sample: float
) -> None:
    there = bandwidth(samples_per_second, bytes_per_sample)
    assert sample_rate(there, bytes_per_sample) == pytest.approx(samples_per_second, rel=1e-12)


@given(rate=rates, size=rates, factor=st.integers(min_value=2, max_value=1000))
def test_larger_samples_need_more_bytes_and_leave_fewer_samples(
    rate: float, size: float, factor: int
) -> None:
    assert bandwidth(rate, factor * size) == pytest.approx(factor * bandwidth(rate, size))
    assert sample_rate(rate, factor * size) == pytest.approx(sample_rate(rate, size) / factor)


@pytest.mark.parametrize("convert", [bandwidth, sample_rate])
@pytest.mark.parametrize("bad", [-1, float("nan"), float("inf")])
def test_a_rate_is_not_made_of_nonsense(convert, bad: float) -> None:
    for arguments in ((bad, 1.0), (1.0, bad)):
        with pytest.raises(CourseError, match="finite number that is not negative"):
            convert(*arguments)


def test_samples_without_bytes_have_no_rate() -> None:
    with pytest.raises(CourseError, match="no rate"):
        sample_rate(1.0, 0.0)
    assert bandwidth(1000, 0) == 0


def test_the_examples_in_the_docstrings_hold() -> None:
    assert doctest.testmod(course_lib.units).failed == 0


@pytest.mark.parametrize("written", ["e5", "E3", "e5 GB", "+e1", "-E2", ".e1", "+", "."])
def test_an_exponent_alone_is_no_number(written: str) -> None:
    with pytest.raises(CourseError, match="No number"):
        parse_quantity(written)


def test_whole_numbers_beyond_every_float_are_refused() -> None:
    for length in (400, 5_000):
        for say in (format_bytes, format_rate, format_seconds, lambda n: Quantity(n, "B")):
            with pytest.raises(CourseError, match="more than 300 digits"):
                say(10**length)
