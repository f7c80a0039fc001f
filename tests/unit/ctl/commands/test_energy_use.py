# SPDX-License-Identifier: GPL-2.0
"""What was given on the use of a system: prices, hours, and the length of the idle test."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from spekctl.campaigns.usage import DEFAULT_PRICE, PROFILES, Hours
from spekctl.commands.energy_use import (
    IDLE_NS,
    QUICK_IDLE_NS,
    Terms,
    hours_of,
    idle_length_ns,
    price_of,
)
from spekctl.errors import UsageError

DAY = Hours(Fraction(4), Fraction(8), Fraction(12))


def test_a_given_price_comes_before_that_of_a_file_and_the_default() -> None:
    file_price = Fraction(1, 4)
    assert Terms(Fraction(0), {}).resolved(file_price)[0] == 0
    assert Terms(None, {}).resolved(file_price)[0] == file_price
    assert Terms(None, {}).resolved()[0] == DEFAULT_PRICE


def test_given_hours_replace_those_of_one_profile() -> None:
    _, profiles = Terms(None, {"low": DAY}).resolved()
    assert profiles == {**PROFILES, "low": DAY}


def test_hours_are_read_by_profile() -> None:
    assert hours_of(()) == {}
    assert hours_of(("low=4/8/12", "high=23.5/0/0.5")) == {
        "low": DAY,
        "high": Hours(Fraction(47, 2), Fraction(0), Fraction(1, 2)),
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("lwo=4/8/12", "no profile is called 'lwo'; did you mean 'low'?"),
        ("low", "'' is not a number"),
        ("low=4/8", "write hours at heavy/moderate/idle load, for example low=4/14/6"),
        ("low=4/8/13", "a day has 24 h, not 25"),
    ],
)
def test_wrong_hours_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        hours_of((text,))


def test_a_price_is_not_negative() -> None:
    assert price_of(None) is None and price_of("0.31") == Fraction("0.31")
    with pytest.raises(UsageError, match="--price must be 0 or more, not -1"):
        price_of("-1")


def test_the_idle_test_has_a_length() -> None:
    assert [idle_length_ns(None, quick) for quick in (False, True)] == [IDLE_NS, QUICK_IDLE_NS]
    assert idle_length_ns(5, True) == 5
    with pytest.raises(UsageError, match="--idle-time must be more than 0"):
        idle_length_ns(0, False)
