# SPDX-License-Identifier: GPL-2.0
"""Figures are exact until they are printed, and rounded half up then."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.documents.exact import Figure, Given, decimal_text, figure, of_float, rounded

numbers = st.fractions(min_value=-(10**9), max_value=10**9, max_denominator=10**9)


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


@given(numbers | st.fractions(-(10**200), 10**200), st.integers(0, 6))
def test_what_is_written_is_read(value: Fraction, decimals: int) -> None:
    exact = figure(value, decimals)
    assert msgspec.convert(msgspec.to_builtins(exact), Figure) == exact
    assert msgspec.convert(decimal_text(value), Given) == decimal_text(value)


@pytest.mark.parametrize("text", ["", "x", "1e9", "nan", "inf", "1_0", "٣", ".5", "1.", "9" * 301])
def test_no_other_text_is_read_as_a_number(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(text, Given)
    for damaged in ({"text": text, "exact": "1"}, {"text": "1", "exact": text * 20}):
        with pytest.raises(msgspec.ValidationError):
            msgspec.convert(damaged, Figure)


@pytest.mark.parametrize("text", ["1/0", "1/-2", "0.5", "1/2/3", "/2"])
def test_an_exact_number_is_whole_or_a_fraction(text: str) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert({"text": "1", "exact": text}, Figure)


@given(st.floats(min_value=1e-9, max_value=1e12))
def test_a_measured_number_is_the_decimal_that_is_written(value: float) -> None:
    assert float(of_float(value)) == value
    assert of_float(0.1) == Fraction(1, 10)


def test_decimals_are_written_as_far_as_they_go() -> None:
    assert decimal_text(Fraction("236.965")) == "236.965"
    assert decimal_text(Fraction(12)) == "12"
    assert decimal_text(Fraction(0)) == "0"
    assert decimal_text(Fraction(1, 3)) == "0.333333333333"
