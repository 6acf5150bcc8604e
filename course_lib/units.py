"""Quantities with units: one parser and one printer for the whole workbook.

Prefixes are decimal (1 KB = 1,000 B, 1 GB = 10^9 B); KiB, MiB, GiB and TiB are binary (1 GiB = 2^30 B).
A bit is an eighth of a byte and is always spelled out: Mbit/s.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from course_lib.errors import CourseError

_DECIMAL = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_PREFIX_WORDS = {"": "", "kilo": "K", "mega": "M", "giga": "G", "tera": "T", "peta": "P"} | {
    "kibi": "Ki",
    "mebi": "Mi",
    "gibi": "Gi",
    "tebi": "Ti",
    "pebi": "Pi",
}
_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_COUNTED = ("samples", "batches", "files", "shards", "requests", "op")

_TIME_WORDS = {
    **{"nanosecond": "ns", "microsecond": "us", "millisecond": "ms", "msec": "ms"},
    **{"second": "s", "sec": "s", "minute": "min", "hour": "h", "hr": "h"},
}
_COUNT_WORDS = {"sample": "samples", "batch": "batches", "file": "files", "shard": "shards"} | {
    **{"request": "requests", "ops": "op", "operation": "op", "operations": "op"},
}

_BLANKS = "\u00a0\u1680\u2002-\u200a\u202f\u205f\u3000"
_NUMBER = re.compile(
    rf"[+-]?(?=\.?\d)(?:[1-9]\d{{0,2}}(?:([,_ {_BLANKS}])\d{{3}}(?:\1\d{{3}})*)|\d+)?"
    r"(?:(?<=\d)\.\d*|\.\d+)?(?:[eE][+-]?\d+)?"
)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_EXAMPLES = "a number with a unit, such as 51.2 MB/s, 1.5 GiB, 18 min or 75%"


@dataclass(frozen=True)
class _Unit:
    dimension: str
    factor: float


def _byte_units() -> dict[str, _Unit]:
    sizes = {**_DECIMAL, **_BINARY}
    units = {f"{prefix}B": _Unit("bytes", float(size)) for prefix, size in sizes.items()}
    return units | {
        f"{'k' if prefix == 'K' else prefix}bit": _Unit("bytes", size / 8) for prefix, size in sizes.items()
    }


def _all_units() -> dict[str, _Unit]:
    amounts = _byte_units() | {name: _Unit(name, 1.0) for name in _COUNTED}
    units = dict(amounts)
    for time, seconds in _TIMES.items():
        units[time] = _Unit("seconds", seconds)
        units[f"/{time}"] = _Unit("1/s", 1 / seconds)
        for name, amount in amounts.items():
            units[f"{name}/{time}"] = _Unit(f"{amount.dimension}/s", amount.factor / seconds)
    return units | {"%": _Unit("ratio", 0.01), "": _Unit("number", 1.0)}


_UNITS = _all_units()
_MAY_BE_NEGATIVE = ("number", "ratio")


@dataclass(frozen=True)
class Quantity:
    """A value in a unit, as somebody wrote it.

    Attributes
    ----------
    value : float
        The number in ``unit``.
    unit : str
        The unit as the workbook spells it: "MB/s", "GiB", "ms", "/s", "samples/s", "%", "" ...

    Examples
    --------
    >>> Quantity(1.5, "GiB").base
    1610612736.0
    >>> Quantity(400, "Mbit/s").base, Quantity(400, "Mbit/s").dimension
    (50000000.0, 'bytes/s')
    """

    value: float
    unit: str

    def __post_init__(self) -> None:
        if self.unit not in _UNITS:
            raise CourseError("This unit is not known", expected=_EXAMPLES, found=repr(self.unit))
        if not (_is_finite(self.value) and math.isfinite(self.base)):
            raise CourseError(
                "A quantity has to be a finite number", found=f"{_as_found(self.value)} {self.unit}".rstrip()
            )
        if self.value < 0 and self.dimension not in _MAY_BE_NEGATIVE:
            raise CourseError(f"An amount in {self.unit} cannot be negative", found=str(self))

    @property
    def dimension(self) -> str:
        """What is measured: "bytes", "bytes/s", "seconds", "1/s", "samples/s", "ratio", "number" ..."""
        return _UNITS[self.unit].dimension

    @property
    def base(self) -> float:
        """The value in the base unit of its dimension: B, B/s, s, 1/s, or a plain ratio or number."""
        return self.value * _UNITS[self.unit].factor

    def __str__(self) -> str:
        gap = "" if self.unit in ("%", "") else " "
        return f"{_number(self.value, 6)}{gap}{self.unit}"


def _number(value: float, digits: int) -> str:
    """Print a number with so many significant digits, thousands separated, never losing whole digits."""
    if value == 0:
        return "0"
    magnitude = math.floor(math.log10(abs(value)))
    if not -5 <= magnitude < 16:
        return f"{value:.{digits - 1}e}"
    text = f"{value:,.{max(0, digits - 1 - magnitude)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _unit_name(written: str) -> str:
    """Return the workbook's spelling of a unit that somebody typed.

    Raises
    ------
    CourseError
        When it is not a unit, or could be read in two ways.
    """
    text = re.sub(rf"[\s{_BLANKS}]+", " ", written).strip().replace("µ", "u").replace("μ", "u")
    text = re.sub(r"\s*(?:/|\bper\b)\s*", "/", text, flags=re.IGNORECASE)
    if text in ("", "%"):
        return text
    if text.lower() in ("percent", "per cent"):
        return "%"
    if text.upper() == "IOPS":
        return "op/s"
    amount, slash, time = text.partition("/")
    name = _amount_name(amount, written) if slash else (_time_name(amount) or _amount_name(amount, written))
    if not slash:
        return name
    time_name = _time_name(time)
    if time_name is None:
        raise CourseError(f"The unit {written!r} is not known", expected=_EXAMPLES)
    return f"{name}/{time_name}"


def _time_name(written: str) -> str | None:
    text = written.strip().lower()
    text = _TIME_WORDS.get(text.removesuffix("s"), text)
    text = {"mins": "min"}.get(text, text)
    return text if text in _TIMES else None


def _amount_name(written: str, whole: str) -> str:
    text = written.strip()
    lower = text.lower()
    if lower in ("", *_COUNTED) or lower in _COUNT_WORDS:
        return _COUNT_WORDS.get(lower, lower)
    if match := re.fullmatch(r"([a-z]*?)[ -]?(bytes?|bits?)", lower):
        prefix = _PREFIX_WORDS.get(match[1], match[1].capitalize())
        if prefix in _DECIMAL or prefix in _BINARY:
            if match[2].startswith("byte"):
                return f"{prefix}B"
            return ("k" if prefix == "K" else prefix) + "bit"
    if match := re.fullmatch(r"([kmgtp]?)(i?)([bB])(ps)?", text, flags=re.IGNORECASE):
        prefix = match[1].upper() + match[2].lower()
        if prefix != "i" and not match[4] and match[3] == "B":
            return f"{prefix}B"
        if prefix != "i":
            per_second = "/s" if match[4] or "/" in whole else ""
            bits = ("k" if prefix == "K" else prefix) + "bit"
            raise CourseError(
                f"The unit {whole.strip()!r} could mean bits or bytes",
                next_step=f"write {prefix}B{per_second} for bytes or {bits}{per_second} for bits",
            )
    if lower == "m":
        raise CourseError(
            "The unit 'm' could mean minutes or millions", next_step="write min, or M with a unit"
        )
    raise CourseError(f"The unit {whole.strip()!r} is not known", expected=_EXAMPLES)


def parse_quantity(text: str) -> Quantity:
    """Read a number with a unit as people write it.

    Blanks and thousands separators are welcome ("1,024 KB"); the decimal mark is a point. The case of
    a prefix does not matter, but that of B does: a lower-case b could be a bit and is refused.

    Parameters
    ----------
    text : str
        For example "51.2 MB/s", "1.5 GiB", "100 Mbit/s", "18 min", "75%", "500 /s", "300 samples/s", "0.5".

    Returns
    -------
    Quantity
        The value in the unit that was written, spelled as the workbook spells it.

    Raises
    ------
    CourseError
        When there is no number, more than one reading, an unknown unit, or a value that is not finite.

    Examples
    --------
    >>> parse_quantity("51.2 MB/s")
    Quantity(value=51.2, unit='MB/s')
    >>> parse_quantity("1 TiB").base
    1099511627776.0
    """
    if not isinstance(text, str):
        raise CourseError("A quantity is written as text", expected=_EXAMPLES, found=type(text).__name__)
    written = text.strip().replace("−", "-")
    match = _NUMBER.match(written)
    number = match[0] if match else ""
    rest = written[len(number) :]
    if not any(character.isdigit() for character in number):
        raise CourseError("No number could be read", expected=_EXAMPLES, found=repr(_shortened(text)))
    if _DECIMAL_COMMA.match(written) and rest.startswith(","):
        raise CourseError(
            f"The number in {_shortened(text)!r} has a comma that separates no thousands",
            next_step="write the decimal mark as a point, as in 51.2",
        )
    if rest[:1].isdigit() or rest[:1] in (".", ",", "_", "+", "-"):
        raise CourseError("One number was expected", expected=_EXAMPLES, found=repr(_shortened(text)))
    value = float(re.sub(rf"[,_ {_BLANKS}]", "", number))
    return Quantity(value, _unit_name(rest))


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else text[:57] + "..."


def _scaled(value: float, units: tuple[str, ...], what: str) -> str:
    """Print ``value`` (in base units) in the largest of ``units`` that leaves at least 1 before the point."""
    _check_amount(what, value)
    chosen = units[0] if value else next(unit for unit in units if _UNITS[unit].factor == 1)
    for unit in units:
        if float(f"{value / _UNITS[unit].factor:.4g}") >= 1:
            chosen = unit
    return f"{_number(value / _UNITS[chosen].factor, 4)} {chosen}"


def format_bytes(n: float) -> str:
    """Print a number of bytes with a decimal prefix and four significant digits.

    Raises
    ------
    CourseError
        When ``n`` is negative or not finite.

    Examples
    --------
    >>> format_bytes(51_200_000)
    '51.2 MB'
    """
    return _scaled(n, ("B", "KB", "MB", "GB", "TB", "PB"), "A number of bytes")


def format_rate(bytes_per_second: float) -> str:
    """Print a rate in bytes per second with a decimal prefix and four significant digits.

    Raises
    ------
    CourseError
        When the rate is negative or not finite.

    Examples
    --------
    >>> format_rate(204_800_000)
    '204.8 MB/s'
    """
    return _scaled(bytes_per_second, ("B/s", "KB/s", "MB/s", "GB/s", "TB/s", "PB/s"), "A rate")


def format_seconds(s: float) -> str:
    """Print a duration given in seconds in ns, us, ms, s, min or h, with four significant digits.

    Raises
    ------
    CourseError
        When ``s`` is negative or not finite.

    Examples
    --------
    >>> format_seconds(1080), format_seconds(0.0023)
    ('18 min', '2.3 ms')
    """
    return _scaled(s, ("ns", "us", "ms", "s", "min", "h"), "A duration")


def format_both_readings(n: float, *, per_second: bool = False) -> str:
    """Print a number of bytes, or a rate, with a decimal and with a binary prefix.

    Raises
    ------
    CourseError
        When ``n`` is negative or not finite.

    Examples
    --------
    >>> format_both_readings(100e9), format_both_readings(2**30, per_second=True)
    ('100 GB = 93.13 GiB', '1.074 GB/s = 1 GiB/s')
    """
    end = "/s" if per_second else ""
    decimal = format_rate(n) if per_second else format_bytes(n)
    binary = tuple(f"{prefix}B{end}" for prefix in ("", *_BINARY))
    return f"{decimal} = {_scaled(n, binary, 'A number of bytes')}"


def bandwidth(samples_per_second: float, bytes_per_sample: float) -> float:
    """Return the bytes per second that a sample rate asks for.

    Parameters
    ----------
    samples_per_second : float
        Mean rate, such as batches per second times samples per batch.
    bytes_per_sample : float
        Mean size of a sample in the one representation that is read: the rate of a stored JPEG says
        nothing about decoded arrays.

    Returns
    -------
    float
        B/s; overheads are left out.

    Raises
    ------
    CourseError
        When either is negative or not finite.

    Examples
    --------
    >>> format_rate(bandwidth(4 * 128, 100_000))
    '51.2 MB/s'
    """
    _check_amount("The sample rate", samples_per_second)
    _check_amount("The size of a sample", bytes_per_sample)
    return samples_per_second * bytes_per_sample


def sample_rate(bytes_per_second: float, bytes_per_sample: float) -> float:
    """Return the samples per second that a bandwidth carries: the inverse of :func:`bandwidth`.

    Parameters
    ----------
    bytes_per_second : float
        Bandwidth in B/s.
    bytes_per_sample : float
        Mean size of a sample in the representation that crosses the link.

    Returns
    -------
    float
        samples/s; overheads are left out.

    Raises
    ------
    CourseError
        When either is negative or not finite, and for samples without any bytes.

    Examples
    --------
    >>> sample_rate(51_200_000, 100_000)
    512.0
    """
    _check_amount("The bandwidth", bytes_per_second)
    _check_amount("The size of a sample", bytes_per_sample)
    if bytes_per_sample == 0:
        raise CourseError("Samples of no bytes have no rate", expected="a size above 0")
    return bytes_per_second / bytes_per_sample


def _check_amount(what: str, value: float) -> None:
    if not _is_finite(value) or value < 0:
        raise CourseError(f"{what} has to be a finite number that is not negative", found=_as_found(value))


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _as_found(value: float) -> str:
    """Print a refused number; a whole number that no float can hold would fill the screen."""
    try:
        float(value)
    except OverflowError:
        return "a whole number of more than 300 digits"
    return str(value)
