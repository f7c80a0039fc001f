# SPDX-License-Identifier: GPL-2.0-or-later
"""Conditions on metrics: a name, a comparison, and a quantity with its unit: ``p99 < 10ms``.

    CONDITION    METRIC > QUANTITY [and ...]      with >, >=, < or <=
    QUANTITY     10ms, 1.5 us                     time
                 1600 instructions                time of a guest whose clock counts instructions
                 200MiB/s, 200MiB                 bandwidth
                 12.5W, 800mW, 12.5               power
                 1000, 0.5                        everything else: a number without a unit

--stop-when, --within and files of limits have this notation. Which metrics there are, and what
their values are, is up to who reads a condition.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from spekctl import units
from spekctl.errors import UsageError, at


class Unit(StrEnum):
    """Units of metrics, by the names that output formats use."""

    TIME = "ns"
    RATE = "IOPS"
    BANDWIDTH = "B/s"
    COUNT = ""
    POWER = "W"
    RATE_PER_POWER = "IOPS/W"
    POWER_PER_RATE = "mW/IOPS"
    ENERGY_PER_DATA = "J/GiB"
    # Of a guest whose clock counts instructions: each of its nanoseconds is one.
    INSTRUCTIONS = "instructions"
    RATE_PER_INSTRUCTIONS = "I/Os/Ginstructions"
    BANDWIDTH_PER_INSTRUCTIONS = "B/Ginstructions"


_COUNTED = {
    Unit.TIME: Unit.INSTRUCTIONS,
    Unit.RATE: Unit.RATE_PER_INSTRUCTIONS,
    Unit.BANDWIDTH: Unit.BANDWIDTH_PER_INSTRUCTIONS,
}


def unit_of(unit: Unit, counts: bool) -> Unit:
    """@unit, or what takes its place if clocks count instructions."""
    return _COUNTED.get(unit, unit) if counts else unit


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value in its unit. Equal ones may be written differently."""

    value: Fraction
    unit: Unit


OPERATORS = (">=", "<=", ">", "<")
_COMPARISON = re.compile(r"\s*([^<>=\s]*)\s*([<>=!]+)\s*(.*?)\s*", re.DOTALL)
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)
_INSTRUCTIONS = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?instructions", re.ASCII)


class Metric(Protocol):
    """What is compared; str() is its name."""

    @property
    def unit(self) -> Unit:
        """Unit of its values."""


MetricT = TypeVar("MetricT", bound=Metric)


@dataclass(frozen=True, slots=True)
class Condition(Generic[MetricT]):
    """A metric and its bound."""

    metric: MetricT
    operator: str
    bound: Quantity
    written: str  # the bound as the user wrote it

    def __str__(self) -> str:
        return f"{self.metric} {self.operator} {self.written}"

    def holds(self, value: float) -> bool:
        """Whether it is true of a value of the metric, in the unit of the bound."""
        # A measured 0.1 is not a tenth, but the nearest float to it.
        bound = float(self.bound.value) if isinstance(value, float) else self.bound.value
        if self.operator == ">":
            return value > bound
        if self.operator == ">=":
            return value >= bound
        return value < bound if self.operator == "<" else value <= bound


def parse(text: str, find: Callable[[str], MetricT]) -> tuple[Condition[MetricT], ...]:
    """``iops < 1000 and errors > 0`` as conditions; @find: a metric by its name, or UsageError."""
    return tuple(_parse_one(part, text, find) for part in re.split(r"\s+and\s+", text.strip()))


def _parse_one(part: str, whole: str, find: Callable[[str], MetricT]) -> Condition[MetricT]:
    match = _COMPARISON.fullmatch(part)
    if match is None:
        raise UsageError(
            f"'{shortened(whole)}' is not a threshold; write METRIC > VALUE, for example"
            " 'p99 > 10ms', 'iops < 1000' or 'errors > 0', several of them joined by 'and'"
        )
    name, operator, value = match.groups()
    if operator not in OPERATORS:
        raise UsageError(
            f"'{shortened(part.strip())}': '{operator}' is not a comparison; they are"
            f" {', '.join(OPERATORS)}"
        )
    if not name or not value:
        side = "left" if not name else "right"
        raise UsageError(f"'{shortened(part.strip())}': nothing is on the {side} of {operator}")
    metric = find(name)
    with at(str(metric)):
        bound = parse_quantity(value, metric.unit)
    return Condition(metric, operator, bound, value)


def parse_quantity(text: str, unit: Unit, instructions: bool = False) -> Quantity:
    """A value of a metric with this unit; UsageError says how it is written.

    @instructions: a time may be counted in instructions as well.
    """
    match unit:
        case Unit.TIME:
            counted = _INSTRUCTIONS.fullmatch(text.strip()) if instructions else None
            if counted and len(text) <= units.LONGEST_NUMBER:
                return Quantity(Fraction(counted[1]), Unit.INSTRUCTIONS)
            return Quantity(Fraction(units.parse_duration_ns(text)), unit)
        case Unit.BANDWIDTH:
            return Quantity(Fraction(units.parse_size(_without_per_second(text))), unit)
        case Unit.POWER:
            return Quantity(Fraction(units.parse_watts(text)), unit)
    if not _NUMBER.fullmatch(text) or len(text) > units.LONGEST_NUMBER:
        example = "0" if unit is Unit.COUNT else "1000"
        raise UsageError(f"'{shortened(text)}' is not a number without a unit, such as {example}")
    return Quantity(Fraction(text), unit)


def _without_per_second(text: str) -> str:
    size, slash, per = text.rpartition("/")
    return size.strip() if slash and per.strip() == "s" else text


def quantity_of(value: object, unit: Unit) -> Quantity:
    """A value of a file, where a number is no text; UsageError says how it is written."""
    if isinstance(value, str):
        return parse_quantity(value, unit, instructions=True)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UsageError("not a number or a string")
    example = {Unit.TIME: "us", Unit.BANDWIDTH: "MiB/s"}.get(unit)
    if example is not None:
        raise UsageError(f'{value} has no unit; write for example "{value}{example}", in quotes')
    try:
        finite = math.isfinite(float(value))
    except OverflowError as error:
        raise UsageError("the number is too large") from error
    if not finite or value < 0:
        raise UsageError(f"{value} is not a limit; it must be 0 or more")
    return Quantity(Fraction(value), unit)


def format_value(value: float, unit: str) -> str:
    """A value for people, with its unit."""
    match unit:
        case Unit.TIME:
            return units.format_ns(value)
        case Unit.BANDWIDTH:
            return f"{units.format_bytes(round(value))}/s"
        case Unit.POWER:
            return units.format_watts(value)
        case Unit.COUNT:
            return f"{int(value):,}" if value == int(value) else units.format_rate(value)
        case _:
            return f"{units.format_rate(value)} {unit}"


def shortened(text: str) -> str:
    """A user's text in a message, which may be any amount of it."""
    return text if len(text) <= units.LONGEST_NUMBER else f"{text[:20]}..."
