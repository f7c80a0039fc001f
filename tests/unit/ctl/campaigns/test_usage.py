# SPDX-License-Identifier: GPL-2.0
"""SPC-1/E-like figures against published ones, and laws that they follow."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.campaigns import usage
from spekctl.campaigns.usage import Hours, Level, Levels
from spekctl.documents.exact import rounded

# The table of an HP EVA P6400, and measured levels from which all 17 of its figures follow.
GOLDEN = Levels(
    heavy=Level(Fraction("236.965"), Fraction("15999.51")),
    moderate=Level(Fraction("232.480"), Fraction("9999.42")),
    idle=Level(Fraction("225.530")),
)


GOLDEN_ROWS = {
    "low": ("227.85", "3333.14", "14.63", "777.44"),
    "medium": ("231.49", "8499.58", "36.72", "789.87"),
    "high": ("235.84", "14499.49", "61.48", "804.72"),
}


positive = st.fractions(min_value=Fraction(1, 1000), max_value=10**6, max_denominator=10**6)


@pytest.mark.parametrize("profile", GOLDEN_ROWS)
def test_a_published_profile_comes_out_to_the_last_digit(profile: str) -> None:
    day = usage.metrics(GOLDEN).profiles[profile]
    columns = [
        rounded(value, usage.DECIMALS)
        for value in (day.watts, day.rate, day.rate_per_watt, day.btu_per_hour)
    ]
    assert tuple(columns) == GOLDEN_ROWS[profile]


def test_the_published_composite_comes_out_to_the_last_digit() -> None:
    metrics = usage.metrics(GOLDEN)
    mean = metrics.composite
    assert rounded(mean.watts, 2) == "231.73"
    assert rounded(mean.rate, 2) == "8777.40"
    assert rounded(mean.rate_per_watt, 2) == "37.88"
    assert rounded(metrics.annual_kwh, 2) == "2029.93"
    assert rounded(metrics.annual_cost, 2) == "243.59"


def test_no_figure_is_made_of_a_rounded_one() -> None:
    """231.73 W are printed; a year of them would be 2029.95 kWh."""
    assert rounded(Fraction("231.73") * 8760 / 1000, 2) == "2029.95"
    assert usage.metrics(GOLDEN).annual_kwh == Fraction(
        8 * 232480 + 16 * 225530 + 4 * 236965 + 14 * 232480 + 6 * 225530 + 18 * 236965 + 6 * 232480,
        72_000,
    ) * Fraction("8.76")


def test_the_example_of_integer_arithmetic() -> None:
    low = usage.nominal(GOLDEN, usage.PROFILES["low"])
    assert low.watts == Fraction(5_468_320, 24_000)


levels = st.builds(
    lambda idle, more, yet_more, iops, more_iops: Levels(
        heavy=Level(idle + more + yet_more, iops + more_iops),
        moderate=Level(idle + more, iops),
        idle=Level(idle),
    ),
    positive,
    positive,
    positive,
    positive,
    positive,
)


@given(levels)
def test_nominal_figures_lie_between_those_of_the_levels(levels: Levels) -> None:
    assert usage.fault(levels) == ""
    metrics = usage.metrics(levels)
    for day in (*metrics.profiles.values(), metrics.composite):
        assert levels.idle.watts <= day.watts <= levels.heavy.watts
        assert 0 < day.rate <= levels.heavy.rate
    low, medium, high = metrics.profiles.values()
    assert low.watts <= medium.watts <= high.watts
    assert low.rate < medium.rate < high.rate


@given(levels, positive)
def test_units_scale(levels: Levels, factor: Fraction) -> None:
    """Watts and I/Os per second are units: a thousand times the number, a thousand times all."""
    scaled = Levels(
        *(
            Level(level.watts * factor, level.rate)
            for level in (levels.heavy, levels.moderate, levels.idle)
        )
    )
    before, after = usage.metrics(levels), usage.metrics(scaled)
    assert after.composite.watts == factor * before.composite.watts
    assert after.composite.rate == before.composite.rate
    assert after.composite.rate_per_watt * factor == before.composite.rate_per_watt
    assert after.annual_cost == factor * before.annual_cost
    for name, day in before.profiles.items():
        assert after.profiles[name].btu_per_hour == factor * day.btu_per_hour


@given(levels, positive)
def test_more_idle_power_is_never_better(levels: Levels, more: Fraction) -> None:
    worse = Levels(levels.heavy, levels.moderate, Level(levels.idle.watts + more))
    before, after = usage.metrics(levels), usage.metrics(worse)
    assert after.annual_kwh > before.annual_kwh
    assert after.profiles["high"] == before.profiles["high"]
    assert after.profiles["low"].rate_per_watt < before.profiles["low"].rate_per_watt


@given(levels, positive)
def test_the_price_only_moves_the_cost(levels: Levels, price: Fraction) -> None:
    metrics = usage.metrics(levels, price)
    assert metrics.annual_cost == metrics.annual_kwh * price
    assert metrics.composite == usage.metrics(levels).composite


def test_a_day_at_one_level_is_that_level() -> None:
    whole = usage.metrics(
        GOLDEN, profiles={"always": Hours(Fraction(24), Fraction(0), Fraction(0))}
    )
    assert whole.composite.watts == GOLDEN.heavy.watts
    assert whole.composite.rate == GOLDEN.heavy.rate


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"idle": Level(Fraction(-1))}, "the power of the idle level is -1 W; it must be more"),
        ({"heavy": Level(Fraction(0), Fraction(9))}, "the power of the heavy level is 0 W"),
        (
            {"moderate": Level(Fraction(230), Fraction(0))},
            "the moderate level has 0 I/Os per second, not more than 0",
        ),
        ({"idle": Level(Fraction(225), Fraction(3))}, "the idle level has I/Os"),
        (
            {"idle": Level(Fraction(240))},
            "idle power, 240 W, is above that of the moderate level, 232.48 W",
        ),
        (
            {"heavy": Level(Fraction(225), Fraction(16000))},
            "idle power, 225.53 W, is above that of the heavy level, 225 W",
        ),
        (
            {"heavy": Level(Fraction(240), Fraction(9000))},
            "the heavy level has fewer I/Os per second (9000) than the moderate one (9999.42)",
        ),
    ],
)
def test_levels_that_cannot_be(changed: dict[str, Level], sentence: str) -> None:
    given_levels = {"heavy": GOLDEN.heavy, "moderate": GOLDEN.moderate, "idle": GOLDEN.idle}
    assert sentence in usage.fault(Levels(**{**given_levels, **changed}))


def test_powers_that_look_equal_are_not_called_out_of_order() -> None:
    equal = Level(Fraction("225.5300001"), Fraction(16000))
    levels = Levels(heavy=equal, moderate=equal, idle=Level(Fraction("225.5300002")))
    assert usage.disorder(levels) == ""
