# SPDX-License-Identifier: GPL-2.0
"""Numbers as people write them."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl import units
from spekctl.errors import UsageError


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("500ms", 500_000_000),
        ("10s", 10**10),
        ("5m", 300 * 10**9),
        ("5min", 300 * 10**9),
        ("2h", 7200 * 10**9),
        ("0", 0),
        ("0ns", 0),
        ("1.5s", 1_500_000_000),
        ("7us", 7_000),
        ("7µs", 7_000),
        (" 3 s ", 3 * 10**9),
    ],
)
def test_durations_mean_what_they_say(text: str, ns: int) -> None:
    assert units.parse_duration_ns(text) == ns


@pytest.mark.parametrize(
    "text",
    ["", "s", "10", "-1s", "1,5s", "10 parsecs", "1e3s", "0.1ns", "inf", "10ss", "99999999h"],
)
def test_what_is_no_duration_is_refused_by_one_sentence(text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        units.parse_duration_ns(text)
    assert "\n" not in refusal.value.message
    assert refusal.value.exit_code == 2


def test_bare_numbers_are_seconds_where_that_is_usual() -> None:
    assert units.parse_duration_ns("60", bare_seconds=True) == 60 * 10**9
    with pytest.raises(UsageError, match="no unit"):
        units.parse_duration_ns("60")


@given(st.integers(0, 10**6), st.sampled_from(sorted(units.NS_PER)))
def test_every_whole_duration_is_read_exactly(number: int, unit: str) -> None:
    assert units.parse_duration_ns(f"{number}{unit}") == number * units.NS_PER[unit]


@given(st.integers(0, units.U64_MAX))
def test_a_formatted_duration_reads_back(ns: int) -> None:
    assert units.parse_duration_ns(units.format_duration(ns)) == ns


@given(st.integers(0, 10**6), st.sampled_from(["", "K", "k", "KiB", "MiB", "G", "TiB", "b"]))
def test_every_whole_size_is_read_exactly(number: int, unit: str) -> None:
    power = {"": 0, "b": 0, "k": 1, "m": 2, "g": 3, "t": 4}[unit[:1].lower()]
    assert units.parse_size(f"{number}{unit}") == number * 1024**power
    assert re.match(units.SIZE_PATTERN, f"{number}{unit}")


def test_sizes_are_also_whole_numbers() -> None:
    assert units.parse_size(4096) == 4096
    assert units.parse_size("1.5GiB") == 3 << 29


@pytest.mark.parametrize(
    "value", ["", "4x", "-4k", "4 k b", "0.3", "1.0001k", -1, 2**64, "99999999P"]
)
def test_what_is_no_size_is_refused(value: int | str) -> None:
    with pytest.raises(UsageError):
        units.parse_size(value)


def test_a_decimal_unit_asks_what_is_meant() -> None:
    with pytest.raises(UsageError, match="write 4KiB"):
        units.parse_size("4KB")


@given(st.fractions(0, 1, max_denominator=10**4))
def test_percentages_are_exact(share: Fraction) -> None:
    percent = share * 100
    text = f"{percent.numerator // percent.denominator}"
    if percent.denominator == 1:
        assert units.parse_percent(f"{text}%") == share
    assert units.parse_percent("28.1%") == Fraction(281, 1000)


@pytest.mark.parametrize("text", ["50", "-5%", "101%", "%", "5%%", "fifty%"])
def test_what_is_no_percentage_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        units.parse_percent(text)


def test_a_share_that_would_round_is_refused() -> None:
    assert units.share_to_ppm(units.parse_percent("0.0001%"), "") == 1
    with pytest.raises(UsageError, match="finer"):
        units.share_to_ppm(units.parse_percent("0.00001%"), "0.00001%")


@given(st.sets(st.integers(0, 300), min_size=1))
def test_cpu_lists_read_back(cpus: set[int]) -> None:
    assert units.parse_cpu_list(units.format_cpu_list(cpus)) == sorted(cpus)


@pytest.mark.parametrize("text", ["", "a", "3-1", "1-", "-1", "1;2", "0-99999999"])
def test_what_is_no_cpu_list_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        units.parse_cpu_list(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (units.format_count(0, "host"), "0 hosts"),
        (units.format_count(1, "host"), "1 host"),
        (units.format_count(2, "host"), "2 hosts"),
        (units.format_bytes(0), "0 B"),
        (units.format_bytes(4096), "4 KiB"),
        (units.format_bytes(1536), "1.50 KiB"),
        (units.format_bytes(10 << 30), "10 GiB"),
        (units.format_ns(999), "999 ns"),
        (units.format_ns(1500), "1.50 us"),
        (units.format_ns(12_340_000), "12.3 ms"),
        (units.format_ns(3 * 10**9), "3.00 s"),
        # No number has a fourth digit only because it was rounded up.
        (units.format_ns(999.4), "999 ns"),
        (units.format_ns(999.6), "1.00 us"),
        (units.format_ns(999_499), "999 us"),
        (units.format_ns(999_500), "1.00 ms"),
        (units.format_ns(999_999_999), "1.00 s"),
        (units.format_bytes(1023), "1023 B"),
        (units.format_bytes(1023 << 10), "1023 KiB"),
        (units.format_bytes((1 << 20) - 1), "1.00 MiB"),
        (units.format_bytes((1 << 50) - 1), "1.00 PiB"),
        (units.format_clock(7.4), "0:07"),
        (units.format_clock(3723), "1:02:03"),
        (units.format_rate(12345.6), "12,346"),
        (units.format_rate(3.14159), "3.14"),
    ],
)
def test_numbers_for_people(text: str, shown: str) -> None:
    assert text == shown
