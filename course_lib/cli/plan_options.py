"""Options of ``course plan`` that take a quantity with its unit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from course_lib.errors import CourseError
from course_lib.units import Quantity, format_both_readings, parse_quantity

_EXAMPLES = {
    "bytes": "a size with its unit, such as 100 KB or 1.5 GiB",
    "bytes or samples": "an amount with its unit, such as 1 GB or 5,000 samples",
    "bytes/s": "a rate with its unit, such as 400 MB/s or 10 Gbit/s",
    "seconds": "a time with its unit, such as 2 ms, 20 s or 10 min",
    "ratio": "a ratio, such as 0.75 or 75%",
    "number": "a number, such as 128 or 1,000,000",
}
_MAY_BE_CONFUSED = 1e6

_Command = Callable[..., Any]


class _Typed(click.ParamType):
    """A quantity as somebody typed it, of one dimension; a number also takes the unit that it counts."""

    name = "quantity"

    def __init__(self, dimension: str, counted: str = "") -> None:
        self._dimension = dimension
        self._counted = counted

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the quantity; refuse another dimension, and a bare number where a unit is needed."""
        if isinstance(value, Quantity):
            return value
        option = param.opts[0] if param else "The value"
        try:
            quantity = parse_quantity(str(value))
        except CourseError as error:
            raise CourseError(f"{option}: {str(error).rstrip('.')}") from None
        if self._fits(quantity):
            return quantity
        raise CourseError(
            f"{option} is not of the right kind" if quantity.unit else f"{option} has no unit",
            expected=_EXAMPLES[self._dimension],
            found=str(quantity),
            next_step=self._way_out(quantity),
        )

    def _fits(self, quantity: Quantity) -> bool:
        if self._dimension == "ratio":
            if quantity.unit == "%" and quantity.base > 1:
                raise CourseError(
                    "A share cannot be more than all", expected="at most 100%", found=str(quantity)
                )
            return quantity.dimension in ("ratio", "number")
        if self._dimension == "bytes or samples":
            return quantity.dimension in ("bytes", "samples")
        if self._dimension != "number":
            return quantity.dimension == self._dimension
        named = {"number", self._counted, "1/s" if self._counted.endswith("/s") else self._counted}
        return quantity.dimension in named or (self._counted == "1/s" and quantity.unit == "batches/s")

    def _way_out(self, quantity: Quantity) -> str | None:
        """Return what a bare size would be in GB and in GiB: nobody but the learner knows which was meant."""
        if self._dimension != "bytes" or quantity.unit or quantity.value < 0:
            return None
        decimal, binary = Quantity(quantity.value, "GB"), Quantity(quantity.value, "GiB")
        return (
            f"name the unit: {decimal} is {format_both_readings(decimal.base).partition(' = ')[2]}, "
            f"{binary} is {format_both_readings(binary.base).partition(' = ')[0]}"
        )


def size(option: str, name: str, text: str, *, required: bool = False) -> Callable[[_Command], _Command]:
    """Return an option that takes a size, such as 100 KB."""
    return _option(option, name, text, "bytes", "SIZE", required)


def speed(option: str, name: str, text: str, *, required: bool = False) -> Callable[[_Command], _Command]:
    """Return an option that takes bytes per second, such as 400 MB/s."""
    return _option(option, name, text, "bytes/s", "RATE", required)


def seconds(
    option: str, name: str, text: str, *, required: bool = False, multiple: bool = False
) -> Callable[[_Command], _Command]:
    """Return an option that takes a time, such as 10 min; several of them with ``multiple``."""
    return _option(option, name, text, "seconds", "TIME", required, multiple=multiple)


def ratio(option: str, name: str, text: str, *, required: bool = False) -> Callable[[_Command], _Command]:
    """Return an option that takes a share, such as 0.75 or 75%."""
    return _option(option, name, text, "ratio", "SHARE", required)


def number(
    option: str, name: str, text: str, counted: str = "", *, required: bool = False
) -> Callable[[_Command], _Command]:
    """Return an option that takes a plain number, or one with the unit of what is counted."""
    return _option(option, name, text, "number", "NUMBER", required, counted)


def work_and_time(option: str, name: str, text: str) -> Callable[[_Command], _Command]:
    """Return an option that takes work (bytes or samples) and a time, once for each run."""
    kinds = click.Tuple([_Typed("bytes or samples"), _Typed("seconds")])
    return click.option(
        option, name, type=kinds, metavar="WORK TIME", required=True, multiple=True, help=text
    )


def words(option: str, name: str, text: str, *, required: bool = False) -> Callable[[_Command], _Command]:
    """Return an option that takes a text."""
    return click.option(option, name, required=required, help=text)


def base_values(given: dict[str, Any]) -> dict[str, Any]:
    """Return what was given in SI base units, by the names of the calculator's inputs."""
    outputs = ("save", "page", "as_json")
    return {
        name: value.base if isinstance(value, Quantity) else value
        for name, value in given.items()
        if value is not None and name not in outputs
    }


def sizes_read(given: dict[str, Any]) -> tuple[str, ...]:
    """Return both readings of each typed size from 1 MB on: somebody may have typed GB and meant GiB.

    Examples
    --------
    >>> sizes_read({"cache_bytes": Quantity(100, "GB")})
    ('100 GB = 93.13 GiB',)
    """
    sizes = [value for value in given.values() if isinstance(value, Quantity) and value.dimension == "bytes"]
    return tuple(dict.fromkeys(_typed_first(size) for size in sizes if size.base >= _MAY_BE_CONFUSED))


def _typed_first(quantity: Quantity) -> str:
    decimal, _, binary = format_both_readings(quantity.base).partition(" = ")
    return f"{binary} = {decimal}" if "iB" in quantity.unit else f"{decimal} = {binary}"


def _option(
    option: str,
    name: str,
    text: str,
    dimension: str,
    shown: str,
    required: bool,
    counted: str = "",
    *,
    multiple: bool = False,
) -> Callable[[_Command], _Command]:
    kind = _Typed(dimension, counted)
    return click.option(
        option, name, type=kind, metavar=shown, required=required, multiple=multiple, help=text
    )
