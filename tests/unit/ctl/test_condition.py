# SPDX-License-Identifier: GPL-2.0
"""Conditions on metrics: how they are written, and which values keep them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl import condition
from spekctl.condition import OPERATORS, Quantity, Unit, parse_quantity, quantity_of
from spekctl.errors import UsageError


@dataclass(frozen=True)
class Metric:
    name: str
    unit: Unit

    def __str__(self) -> str:
        return self.name


METRICS = {
    metric.name: metric
    for metric in (
        Metric("response.p99", Unit.TIME),
        Metric("iops", Unit.RATE),
        Metric("bandwidth", Unit.BANDWIDTH),
        Metric("errors", Unit.COUNT),
        Metric("power", Unit.POWER),
    )
}


def find(name: str) -> Metric:
    if name not in METRICS:
        raise UsageError(f"there is no metric '{name}'")
    return METRICS[name]


@pytest.mark.parametrize(
    ("operator", "true_of"), [(">", [11]), (">=", [10, 11]), ("<", [9]), ("<=", [9, 10])]
)
def test_each_operator_means_what_it_says(operator: str, true_of: list[int]) -> None:
    (limit,) = condition.parse(f"iops {operator} 10", find)
    assert [value for value in (9, 10, 11) if limit.holds(value)] == true_of


@pytest.mark.parametrize("bound", ["0.1", "0.2", "0.3", "123.4"])
def test_a_measured_decimal_equals_its_bound(bound: str) -> None:
    holds = {text: condition.parse(f"errors {text} {bound}", find)[0].holds for text in OPERATORS}
    equal = {text: compare(float(bound)) for text, compare in holds.items()}
    assert equal == {">=": True, "<=": True, ">": False, "<": False}
    above = {
        text: compare(math.nextafter(float(bound), math.inf)) for text, compare in holds.items()
    }
    assert above == {">=": True, "<=": False, ">": True, "<": False}


def test_conditions_are_joined_and_read_back() -> None:
    text = "response.p99 <= 2ms and bandwidth > 200MiB/s and power < 5W"
    conditions = condition.parse(text, find)
    assert " and ".join(map(str, conditions)) == text
    assert [limit.bound.value for limit in conditions] == [2_000_000, 200 << 20, 5]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("iops", "'iops' is not a threshold; write METRIC > VALUE"),
        ("iops = 5", "'=' is not a comparison; they are >=, <=, >, <"),
        ("< 5", "nothing is on the left of <"),
        ("iopz < 5", "there is no metric 'iopz'"),
        ("response.p99 < 5", "response.p99: '5' has no unit"),
        ("power < 5 J", "power: '5 J' is not a power"),
        # Of an interval nobody knows how many instructions it took.
        ("response.p99 < 1600 instructions", "response.p99: '1600 instructions' is not a duration"),
    ],
)
def test_a_wrong_condition_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        condition.parse(text, find)
    assert sentence in error.value.message


@pytest.mark.parametrize(
    ("value", "unit", "number", "written"),
    [
        ("2ms", Unit.TIME, 2_000_000, Unit.TIME),
        ("1.5 us", Unit.TIME, 1500, Unit.TIME),
        ("1600 instructions", Unit.TIME, 1600, Unit.INSTRUCTIONS),
        ("200MiB/s", Unit.BANDWIDTH, 200 << 20, Unit.BANDWIDTH),
        ("200 MiB / s", Unit.BANDWIDTH, 200 << 20, Unit.BANDWIDTH),
        ("4096/s", Unit.BANDWIDTH, 4096, Unit.BANDWIDTH),
        ("5MiB", Unit.BANDWIDTH, 5 << 20, Unit.BANDWIDTH),
        ("800mW", Unit.POWER, Fraction(0.8), Unit.POWER),
        (5, Unit.POWER, 5, Unit.POWER),
        (0, Unit.COUNT, 0, Unit.COUNT),
        ("0.1", Unit.RATE, Fraction(1, 10), Unit.RATE),
        (0.5, Unit.RATE_PER_POWER, Fraction(1, 2), Unit.RATE_PER_POWER),
    ],
)
def test_quantities_are_written_in_one_way(
    value: str | float, unit: Unit, number: int | Fraction, written: Unit
) -> None:
    assert quantity_of(value, unit) == Quantity(Fraction(number), written)


@pytest.mark.parametrize("unit", list(Unit))
def test_nothing_but_numbers_and_strings_is_a_quantity(unit: Unit) -> None:
    values: tuple[object, ...] = (None, [], {}, True, b"5")
    for value in values:
        with pytest.raises(UsageError, match="not a number or a string"):
            quantity_of(value, unit)


@given(st.text(max_size=30), st.sampled_from(Unit))
def test_any_text_is_a_quantity_or_refused(text: str, unit: Unit) -> None:
    try:
        quantity = parse_quantity(text, unit, instructions=True)
    except UsageError as error:
        assert error.message
    else:
        assert quantity.value >= 0


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1_500_000, Unit.TIME, "1.50 ms"),
        (3 << 20, Unit.BANDWIDTH, "3 MiB/s"),
        (0.8, Unit.POWER, "800 mW"),
        (12345, Unit.COUNT, "12,345"),
        (0.25, Unit.COUNT, "0.25"),
        (950, Unit.RATE, "950 IOPS"),
        (2000, Unit.INSTRUCTIONS, "2,000 instructions"),
    ],
)
def test_values_have_their_unit(value: float, unit: Unit, text: str) -> None:
    assert condition.format_value(value, unit) == text
