# SPDX-License-Identifier: GPL-2.0
"""Energy metrics: published tables to the last digit, and what must hold for any input."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.campaigns import usage
from spekctl.campaigns.dcse import figures as dcse
from spekctl.campaigns.emerald import figures as emerald
from spekctl.campaigns.usage import Hours, Level, Levels
from spekctl.documents.exact import decimal_text, figure, of_float, rounded

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
numbers = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**9)


# --- exact numbers -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        ("0.005", 2, "0.01"),
        ("0.0049999999999999999", 2, "0.00"),
        ("-0.005", 2, "-0.01"),
        ("-0.001", 2, "0.00"),
        ("2.675", 2, "2.68"),
        ("9.995", 2, "10.00"),
        ("1/3", 3, "0.333"),
        ("12.5", 0, "13"),
        ("0", 2, "0.00"),
    ],
)
def test_halves_are_rounded_up(value: str, decimals: int, text: str) -> None:
    assert rounded(Fraction(value), decimals) == text


@given(numbers, st.integers(0, 6))
def test_rounding_is_that_of_decimals(value: Fraction, decimals: int) -> None:
    text = rounded(value, decimals)
    assert abs(Fraction(text) - value) <= Fraction(1, 2 * 10**decimals)
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    if Fraction(exact) == value:
        wanted = exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_HALF_UP)
        assert Fraction(text) == Fraction(wanted)


@given(numbers)
def test_a_figure_keeps_what_it_rounds(value: Fraction) -> None:
    assert figure(value, 2).fraction == value


@given(st.floats(min_value=1e-9, max_value=1e12))
def test_a_measured_number_is_the_decimal_that_is_written(value: float) -> None:
    assert float(of_float(value)) == value
    assert of_float(0.1) == Fraction(1, 10)


def test_decimals_are_written_as_far_as_they_go() -> None:
    assert decimal_text(Fraction("236.965")) == "236.965"
    assert decimal_text(Fraction(12)) == "12"
    assert decimal_text(Fraction(0)) == "0"
    assert decimal_text(Fraction(1, 3)) == "0.333333333333"


# --- SPC-1/E-like --------------------------------------------------------------------------------


@pytest.mark.parametrize("profile", GOLDEN_ROWS)
def test_a_published_profile_comes_out_to_the_last_digit(profile: str) -> None:
    day = usage.metrics(GOLDEN).profiles[profile]
    found = [
        rounded(value, usage.DECIMALS)
        for value in (day.watts, day.rate, day.rate_per_watt, day.btu_per_hour)
    ]
    assert tuple(found) == GOLDEN_ROWS[profile]


def test_the_published_composite_comes_out_to_the_last_digit() -> None:
    found = usage.metrics(GOLDEN)
    mean = found.composite
    assert rounded(mean.watts, 2) == "231.73"
    assert rounded(mean.rate, 2) == "8777.40"
    assert rounded(mean.rate_per_watt, 2) == "37.88"
    assert rounded(found.annual_kwh, 2) == "2029.93"
    assert rounded(found.annual_cost, 2) == "243.59"


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
def test_nominal_figures_lie_between_those_of_the_levels(some: Levels) -> None:
    assert usage.fault(some) == ""
    found = usage.metrics(some)
    for day in (*found.profiles.values(), found.composite):
        assert some.idle.watts <= day.watts <= some.heavy.watts
        assert 0 < day.rate <= some.heavy.rate
    low, medium, high = found.profiles.values()
    assert low.watts <= medium.watts <= high.watts
    assert low.rate < medium.rate < high.rate


@given(levels, positive)
def test_units_scale(some: Levels, factor: Fraction) -> None:
    """Watts and I/Os per second are units: a thousand times the number, a thousand times all."""
    scaled = Levels(
        *(Level(one.watts * factor, one.rate) for one in (some.heavy, some.moderate, some.idle))
    )
    before, after = usage.metrics(some), usage.metrics(scaled)
    assert after.composite.watts == factor * before.composite.watts
    assert after.composite.rate == before.composite.rate
    assert after.composite.rate_per_watt * factor == before.composite.rate_per_watt
    assert after.annual_cost == factor * before.annual_cost
    for name, day in before.profiles.items():
        assert after.profiles[name].btu_per_hour == factor * day.btu_per_hour


@given(levels, positive)
def test_more_idle_power_is_never_better(some: Levels, more: Fraction) -> None:
    worse = Levels(some.heavy, some.moderate, Level(some.idle.watts + more))
    before, after = usage.metrics(some), usage.metrics(worse)
    assert after.annual_kwh > before.annual_kwh
    assert after.profiles["high"] == before.profiles["high"]
    assert after.profiles["low"].rate_per_watt < before.profiles["low"].rate_per_watt


@given(levels, positive)
def test_the_price_only_moves_the_cost(some: Levels, price: Fraction) -> None:
    found = usage.metrics(some, price)
    assert found.annual_cost == found.annual_kwh * price
    assert found.composite == usage.metrics(some).composite


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


# --- DCsE ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gigabytes", "watts", "text"), [(18688, 1960, "9.53"), (18384, 1870, "9.83")]
)
def test_published_capacity_per_watt(gigabytes: int, watts: int, text: str) -> None:
    found = dcse.metrics(dcse.Inputs(gigabytes=Fraction(gigabytes), idle_watts=Fraction(watts)))
    assert found.gb_per_watt is not None and rounded(found.gb_per_watt, dcse.DECIMALS) == text
    assert found.iops_per_watt is None


@pytest.mark.parametrize(
    ("iops", "watts", "decimals", "text"), [(35000, 2453, 2, "14.27"), (61000, 2346, 1, "26.0")]
)
def test_published_work_per_watt(iops: int, watts: int, decimals: int, text: str) -> None:
    found = dcse.metrics(dcse.Inputs(iops=Fraction(iops), load_watts=Fraction(watts)))
    assert found.iops_per_watt is not None and rounded(found.iops_per_watt, decimals) == text


def test_published_gains_of_tiering() -> None:
    """+74 % I/Os, +82 % efficiency; 146 GB times 128, and times 104 with 8 of 400 GB."""
    before = dcse.metrics(dcse.Inputs(iops=Fraction(35000), load_watts=Fraction(2453)))
    after = dcse.metrics(dcse.Inputs(iops=Fraction(61000), load_watts=Fraction(2346)))
    gain = dcse.change(before.iops_per_watt, after.iops_per_watt)
    assert gain is not None and rounded(100 * gain, 0) == "82"
    more = dcse.change(Fraction(35000), Fraction(61000))
    assert more is not None and rounded(100 * more, 0) == "74"
    less = dcse.change(Fraction(2453), Fraction(2346))
    assert less is not None and rounded(100 * less, 2) == "-4.36"
    assert (128 * 146, 104 * 146 + 8 * 400) == (18688, 18384)


@given(positive, positive, positive)
def test_throughput_per_watt_is_linear(rate: Fraction, watts: Fraction, factor: Fraction) -> None:
    one = dcse.metrics(dcse.Inputs(megabytes_per_s=rate, load_watts=watts)).mb_per_s_per_watt
    two = dcse.metrics(
        dcse.Inputs(megabytes_per_s=rate * factor, load_watts=watts)
    ).mb_per_s_per_watt
    assert one is not None and two == one * factor == rate * factor / watts


@pytest.mark.parametrize(
    ("known", "sentence"),
    [
        ({"idle_watts": -1}, "the idle power is -1; it must be more than 0"),
        ({"load_watts": 5, "iops": 0}, "the rate of I/Os is 0; it must be more than 0"),
        ({"idle_watts": 6, "load_watts": 5, "iops": 1}, "idle power, 6 W, is above that under"),
        ({"idle_watts": 6}, "nothing to compute: give a capacity and idle power"),
        ({}, "nothing to compute"),
    ],
)
def test_systems_that_cannot_be(known: dict[str, int], sentence: str) -> None:
    given_numbers = {name: Fraction(value) for name, value in known.items()}
    assert sentence in dcse.fault(dcse.Inputs(**given_numbers))


# --- Emerald-like --------------------------------------------------------------------------------


def test_published_capacity_per_idle_watt() -> None:
    found = emerald.metric(emerald.gigabytes(7300 * 10**9), Fraction("592.692"))
    assert rounded(found, emerald.DECIMALS) == "12.317"


@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("EP_RR", "17.255"),
        ("EP_RW", "9.155"),
        ("EP_SR", "3.010"),
        ("EP_SW", "1.220"),
        ("EP_MW1", "10.501"),
        ("EP_MW2", "3.486"),
    ],
)
def test_published_metrics_keep_their_digits(name: str, published: str) -> None:
    """Any power and the work that belongs to the published figure give that figure again."""
    for watts in ("592.692", "1000", "713.37"):
        work = Fraction(rounded(Fraction(published) * Fraction(watts), 1))
        assert rounded(emerald.metric(work, Fraction(watts)), emerald.DECIMALS) == published
    assert name in {kind.name for kind in emerald.KINDS}


@given(positive, positive, positive)
def test_a_metric_is_work_per_watt(work: Fraction, watts: Fraction, factor: Fraction) -> None:
    one = emerald.metric(work, watts)
    assert emerald.metric(work * factor, watts) == one * factor
    assert emerald.metric(work, watts * factor) * factor == one


def test_a_gb_is_a_power_of_ten() -> None:
    assert emerald.gigabytes(1 << 30) == Fraction("1.073741824")


def test_work_and_power_have_to_be_there() -> None:
    kind = emerald.BY_PHASE["random-read"]
    assert emerald.fault(kind, Fraction(1), Fraction(0)).startswith("random-read: the power is 0 W")
    assert "0 IOPS must be more than 0" in emerald.fault(kind, Fraction(0), Fraction(1))
    assert emerald.fault(kind, Fraction(1), Fraction(1)) == ""
