# SPDX-License-Identifier: GPL-2.0
"""Means of windows: exact, and none where a set is missing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from lib.daq.build import failure, library
from lib.powersensor3.wire import BOARD

Means = dict[int, tuple[int, int, int]]
Set = tuple[int, tuple[int, int]]


def configured() -> Any:
    ffi, lib = library()
    config, error = ffi.new("struct ps3_config *"), ffi.new("struct daq_error *")
    data = ffi.new("uint8_t[8][41]", [sensor.encode() for sensor in BOARD])
    assert lib.ps3_config_decode(config, data, error) == 0, failure(error)
    return config


def windows(length_us: int, sets: list[Set], losses: frozenset[int] = frozenset()) -> Means:
    """Means of the first pair (power, current, voltage) by number of window."""
    ffi, lib = library()
    config, average = configured(), ffi.new("struct ps3_average *")
    means_of: Means = {}

    def on_window(_context: Any, window: Any) -> None:
        mean = window.mean[0]
        means_of[window.number] = (mean.power_nw, mean.current_ua, mean.voltage_uv)

    take = ffi.callback("ps3_window_fn", on_window)
    lib.ps3_average_start(average, config, length_us, 50)
    before = 0
    for at_us, (current, voltage) in sets:
        levels = [current, voltage, 0, 0, 0, 0, 0, 0]
        given_set = ffi.new("struct ps3_set *", [at_us, before, at_us in losses, levels])
        lib.ps3_average_add(average, given_set, take, ffi.NULL)
        before = at_us
    return means_of


def rounded(total: int, count: int) -> int:
    """To nearest, halves away from zero."""
    mean = Fraction(total, count)
    return int(abs(mean) + Fraction(1, 2)) * (1 if mean >= 0 else -1)


@given(levels=st.lists(st.tuples(st.integers(1, 1022), st.integers(0, 1022)), min_size=61))
@settings(max_examples=60, deadline=None)
def test_a_mean_is_the_exact_sum_rounded_once(levels: list[tuple[int, int]]) -> None:
    means_of = windows(1000, [(50 * i, level) for i, level in enumerate(levels)])
    assert sorted(means_of) == list(range((len(levels) - 1) // 20))
    for number, means in means_of.items():
        part = levels[20 * number : 20 * number + 20]
        amperes = [BOARD[0].micro(current) for current, _ in part]
        volts = [BOARD[1].micro(voltage) for _, voltage in part]
        picowatts = sum(a * v for a, v in zip(amperes, volts, strict=True))
        assert means == (
            rounded(picowatts, 20 * 1000),
            rounded(sum(amperes), 20),
            rounded(sum(volts), 20),
        )


@given(gone=st.sets(st.integers(1, 198), max_size=40))
@settings(max_examples=60, deadline=None)
def test_no_window_is_given_that_misses_a_set(gone: set[int]) -> None:
    kept = [i for i in range(200) if i not in gone]
    losses = frozenset(50 * i for i in kept if i - 1 in gone)
    means_of = windows(1000, [(50 * i, (600, 400)) for i in kept], losses)
    whole = {number for number in range(9) if not gone & set(range(20 * number, 20 * number + 20))}
    # The set between two windows may have been either's, as time stamps jitter.
    assert {number for number in whole if 20 * number + 20 not in gone} <= set(means_of) <= whole


def test_a_clipped_level_gives_the_end_of_the_range() -> None:
    ffi, lib = library()
    pair = configured().pair[0]
    limits = lib.ps3_range_of(ffi.addressof(pair))
    for low, current in ((False, 1023), (True, 0)):
        others = (100, 400) if low else (900, 400)
        sets = [(50 * i, (current, 400) if i == 3 else others) for i in range(21)]
        power, amperes, volts = windows(1000, sets)[0]
        end = limits.low if low else limits.high
        assert (power, amperes) == (end.power_nw, end.current_ua)
        assert volts == BOARD[1].micro(400)
    power, amperes, volts = windows(1000, [(50 * i, (600, 1023 if i else 0)) for i in range(21)])[0]
    assert (power, volts) == (limits.high.power_nw, limits.high.voltage_uv)
    assert amperes == BOARD[0].micro(600)


def test_a_line_that_is_off_is_within_the_range() -> None:
    ffi, lib = library()
    limits = lib.ps3_range_of(ffi.addressof(configured().pair[0]))
    power, _, volts = windows(1000, [(50 * i, (600, 0)) for i in range(21)])[0]
    assert (power, volts) == (0, 0)
    assert limits.low.voltage_uv < 0 < limits.high.voltage_uv
    assert limits.low.power_nw < power < limits.high.power_nw
