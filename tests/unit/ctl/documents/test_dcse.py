# SPDX-License-Identifier: GPL-2.0
"""DCsE figures against published ones, and laws that they follow."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.documents import dcse
from spekctl.documents.exact import rounded

positive = st.fractions(min_value=Fraction(1, 1000), max_value=10**6, max_denominator=10**6)


@pytest.mark.parametrize(
    ("gigabytes", "watts", "text"), [(18688, 1960, "9.53"), (18384, 1870, "9.83")]
)
def test_published_capacity_per_watt(gigabytes: int, watts: int, text: str) -> None:
    metrics = dcse.metrics(dcse.Inputs(gigabytes=Fraction(gigabytes), idle_watts=Fraction(watts)))
    assert metrics.gb_per_watt is not None and rounded(metrics.gb_per_watt, dcse.DECIMALS) == text
    assert metrics.iops_per_watt is None


@pytest.mark.parametrize(
    ("iops", "watts", "decimals", "text"), [(35000, 2453, 2, "14.27"), (61000, 2346, 1, "26.0")]
)
def test_published_work_per_watt(iops: int, watts: int, decimals: int, text: str) -> None:
    metrics = dcse.metrics(dcse.Inputs(iops=Fraction(iops), load_watts=Fraction(watts)))
    assert metrics.iops_per_watt is not None and rounded(metrics.iops_per_watt, decimals) == text


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
    base = dcse.metrics(dcse.Inputs(megabytes_per_s=rate, load_watts=watts)).mb_per_s_per_watt
    scaled = dcse.metrics(
        dcse.Inputs(megabytes_per_s=rate * factor, load_watts=watts)
    ).mb_per_s_per_watt
    assert base is not None and scaled == base * factor == rate * factor / watts


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
