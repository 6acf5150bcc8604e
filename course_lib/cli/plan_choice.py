"""``course plan cheapest``: several storage plans in a file, constraints first, then cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from course_lib.cli.plan_output import report, with_options
from course_lib.errors import CourseError
from course_lib.units import parse_quantity

# Of each field of the file: the calculator's input, and what is measured.
_Fields = dict[str, tuple[str, str]]

_TOP: _Fields = {"cycle": ("cycle_seconds", "seconds"), "devices": ("devices", "number")}
_NEEDS: _Fields = {
    "samples_per_second": ("samples_per_second", "samples/s"),
    "cold_start": ("cold_start_seconds", "seconds"),
    "loss": ("worst_loss_seconds", "seconds"),
    "headroom": ("headroom_ratio", "ratio"),
}
_OFFER: _Fields = {
    "samples_per_second": ("samples_per_second", "samples/s"),
    "cold_start": ("cold_start_seconds", "seconds"),
    "loss": ("worst_loss_seconds", "seconds"),
    "peak": ("peak_bytes", "bytes"),
    "disk": ("disk_bytes", "bytes"),
    "stored": ("stored_bytes", "bytes"),
    "waiting": ("waiting_seconds", "seconds"),
    "rebuild": ("rebuild_seconds", "seconds"),
    "requests": ("requests", "number"),
}
_OPTIONAL = ("waiting", "rebuild", "requests")
_EXAMPLES = {
    "seconds": "a time with its unit, such as 20 min",
    "bytes": "a size with its unit, such as 1 TB",
    "samples/s": "a rate, such as 1200 samples/s",
    "ratio": "a ratio, such as 0.1 or 10%",
    "number": "a number, such as 4",
}
_PLAIN = ("samples/s", "ratio", "number")


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@with_options()
def cheapest(file: Path, **given: Any) -> None:
    """The cheapest of several storage plans: those that miss a constraint are dropped before any price.

    FILE is YAML or JSON. Every price is your own; what has none is named, and no sum is shown.
    Leave out a constraint that does not matter, and what a plan does not have.

    \b
    Example of a file, offers.yaml:
      cycle: 720 h
      devices: 4
      needs: {samples_per_second: 1000, cold_start: 1 h, loss: 15 min, headroom: 10%}
      prices: {gb_month: {ordinary: 0.05, fast: 0.2}, device_hour: 3}
      offers:
        - {name: Ordinary disk, storage: ordinary, samples_per_second: 1250, cold_start: 40 min,
           loss: 620 s, peak: 532 GB, disk: 1 TB, stored: 524 GB, waiting: 10.4 h}
        - {name: Fast disk, storage: fast, samples_per_second: 2048, cold_start: 10 min,
           loss: 620 s, peak: 532 GB, disk: 1 TB, stored: 524 GB}

    \b
    Example:
      course plan cheapest offers.yaml
      course plan cheapest offers.yaml --json --save choice.json
    """
    report("choice", given, (_read(file), ()))


def _read(file: Path) -> dict[str, Any]:
    """Return the calculator's inputs from a file of offers."""
    content = _mapping(file.name, _parsed(file))
    _only(file.name, content, (*_TOP, "needs", "prices", "offers"), needed=("cycle", "offers"))
    prices = _mapping(f"{file.name}, prices", content.get("prices") or {})
    _only(f"{file.name}, prices", prices, ("gb_month", "device_hour", "thousand_requests"))
    by_kind = _mapping(f"{file.name}, prices, gb_month", prices.get("gb_month") or {})
    needs = _mapping(f"{file.name}, needs", content.get("needs") or {})
    _only(f"{file.name}, needs", needs, tuple(_NEEDS))
    offers = content["offers"]
    if not isinstance(offers, list):
        raise CourseError(f"{file.name}, offers is no list", expected="a list of plans", found=repr(offers))
    inputs = {
        **_figures(file.name, content, _TOP),
        "gb_month_prices": {str(kind): price for kind, price in by_kind.items()},
        "device_hour_price": prices.get("device_hour"),
        "thousand_requests_price": prices.get("thousand_requests"),
        "constraints": _figures(f"{file.name}, needs", needs, _NEEDS),
        "offers": [_offer(file.name, number, offer) for number, offer in enumerate(offers, 1)],
    }
    return {name: value for name, value in inputs.items() if value is not None}


def _parsed(file: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise CourseError(
            f"{file} is not readable", found=error.strerror, next_step="check the name of the file"
        ) from error
    except (yaml.YAMLError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise CourseError(
            f"{file} is neither YAML nor JSON",
            found=(str(error).splitlines() or [type(error).__name__])[0],
            next_step="see the example in `course plan cheapest --help`",
        ) from error


def _offer(file: str, number: int, offer: Any) -> dict[str, Any]:
    place = f"{file}, offer {number}"
    fields = _mapping(place, offer)
    if "name" in fields:
        place = f"{place} ({fields['name']})"
    required = ("name", "storage", *(name for name in _OFFER if name not in _OPTIONAL))
    _only(place, fields, ("name", "storage", *_OFFER), needed=required)
    return {"name": fields["name"], "storage": fields["storage"], **_figures(place, fields, _OFFER)}


def _mapping(place: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CourseError(
            f"{place} holds no fields by name",
            expected="name: value",
            found=repr(value)[:60],
            next_step="see the example in `course plan cheapest --help`",
        )
    return value


def _only(
    place: str, fields: dict[str, Any], known: tuple[str, ...], *, needed: tuple[str, ...] = ()
) -> None:
    """Refuse fields that are not known, and the lack of those that are needed."""
    if unknown := [str(name) for name in fields if name not in known]:
        raise CourseError(
            f"{place} has a field that is not known", expected=", ".join(known), found=unknown[0]
        )
    if missing := [name for name in needed if fields.get(name) is None]:
        raise CourseError(f"{place} is not complete", expected=", ".join(needed), found=f"no {missing[0]}")


def _figures(place: str, fields: dict[str, Any], known: _Fields) -> dict[str, float]:
    """Return the figures among ``fields`` in SI base units, by the names of the calculator's inputs."""
    return {
        name: _base(f"{place}, {field}", fields[field], dimension)
        for field, (name, dimension) in known.items()
        if fields.get(field) is not None
    }


def _base(place: str, value: Any, dimension: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise CourseError(f"{place} is no quantity", expected=_EXAMPLES[dimension], found=repr(value))
    try:
        quantity = parse_quantity(str(value))
    except CourseError as error:
        raise CourseError(f"{place}: {str(error).rstrip('.')}") from None
    if quantity.dimension == dimension or (quantity.dimension == "number" and dimension in _PLAIN):
        return quantity.base
    raise CourseError(
        f"{place} is not of the right kind" if quantity.unit else f"{place} has no unit",
        expected=_EXAMPLES[dimension],
        found=str(quantity),
    )
