# SPDX-License-Identifier: GPL-2.0
"""Rates of vdbench's runs: numbers, the highest, and shares of it."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spekctl.errors import UsageError
from spekctl.vdbench import rates
from spekctl.vdbench.parmfile import Definition
from spekctl.workload.imported import RateOf


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        *(("max", None), ("MAX", None), ("curve", None), ("250", 250), ("2k", 2048)),
        # Of 10,000, as nothing has been measured.
        *(("50%", 5000), ("-50", 5000), ("0.5", Fraction(1, 2)), ("12.9%", 1200)),
    ],
)
def test_a_rate_is_a_number_or_as_much_as_there_can_be(text: str, rate: Fraction | None) -> None:
    assert rates.of_run(text) == rate


@pytest.mark.parametrize(("text", "percent"), [("50%", 50), ("-7", 7), ("120%", 120)])
def test_a_share_is_in_per_cent(text: str, percent: int) -> None:
    assert rates.share_of(text) == RateOf(1, Fraction(percent, 100))


@pytest.mark.parametrize("text", ["100", "max", "50 %", "%", "-"])
def test_what_has_no_per_cent_is_no_share(text: str) -> None:
    assert rates.share_of(text) is None


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("0.9%", "'0.9%' is less than 1 per cent, which vdbench cuts to 0"),
        ("0", "iorate: '0' is neither a rate nor max"),
        ("fast", "iorate: 'fast' is neither a rate nor max"),
    ],
)
def test_wrong_rates_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        rates.of_run(text)


def test_a_share_is_rounded_up_as_by_vdbench() -> None:
    """To 10, and above 1,000 to 100."""
    half = RateOf(1, Fraction(1, 2))
    assert [half.of(iops) for iops in (0, 1, 20, 22, 2000, 2010, 20_002)] == [
        *(0, 0, 10, 20, 1000, 1100, 10_100),
    ]


def test_points_of_a_curve_have_names_of_their_own() -> None:
    usual = rates.points(Definition("rd", "r", {}))
    assert usual == ["10%", "50%", "70%", "80%", "90%", "100%"]
    assert rates.at_point(Definition("rd", "r", {}), "70%").name == "r-70pct"
