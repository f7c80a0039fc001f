# SPDX-License-Identifier: GPL-2.0
"""Emerald-like metrics against published ones, and laws that they follow."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.campaigns.emerald import figures as emerald
from spekctl.documents.exact import rounded

positive = st.fractions(min_value=Fraction(1, 1000), max_value=10**6, max_denominator=10**6)


def test_published_capacity_per_idle_watt() -> None:
    metric = emerald.metric(emerald.gigabytes(7300 * 10**9), Fraction("592.692"))
    assert rounded(metric, emerald.DECIMALS) == "12.317"


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
    base = emerald.metric(work, watts)
    assert emerald.metric(work * factor, watts) == base * factor
    assert emerald.metric(work, watts * factor) * factor == base


def test_a_gb_is_a_power_of_ten() -> None:
    assert emerald.gigabytes(1 << 30) == Fraction("1.073741824")


def test_work_and_power_have_to_be_there() -> None:
    kind = emerald.BY_PHASE["random-read"]
    assert emerald.fault(kind, Fraction(1), Fraction(0)).startswith("random-read: the power is 0 W")
    assert "0 IOPS must be more than 0" in emerald.fault(kind, Fraction(0), Fraction(1))
    assert emerald.fault(kind, Fraction(1), Fraction(1)) == ""


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("12.317", "12.317"),
        ("0.5", "0.500"),
        ("0.1", "0.100"),
        ("0.0995", "0.100"),
        ("0.0994", "0.0994"),
        ("0.012345", "0.0123"),
        ("0.000012345", "0.0000123"),
        ("1234.5678", "1234.568"),
    ],
)
def test_at_least_three_digits_are_printed(value: str, text: str) -> None:
    printed = emerald.printed(Fraction(value))
    assert (printed.text, printed.fraction) == (text, Fraction(value))
