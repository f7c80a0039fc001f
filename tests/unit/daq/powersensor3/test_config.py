# SPDX-License-Identifier: GPL-2.0
"""The configuration in a PowerSensor3: values, names, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from lib.daq.build import failure, library
from lib.powersensor3.wire import BOARD, LEVELS, Sensor, pair


def decode(sensors: Sequence[Sensor]) -> tuple[Any, str]:
    """(configuration, sentence); the sentence is empty if it is right."""
    ffi, lib = library()
    config, error = ffi.new("struct ps3_config *"), ffi.new("struct daq_error *")
    data = ffi.new("uint8_t[8][41]", [sensor.encode() for sensor in sensors])
    return config, failure(error) if lib.ps3_config_decode(config, data, error) else ""


def names(sensors: Sequence[Sensor]) -> list[bytes]:
    config, sentence = decode(sensors)
    assert not sentence
    return [library()[0].string(config.pair[number].name) for number in range(4)]


def test_levels_have_the_values_that_the_device_is_calibrated_for() -> None:
    config, sentence = decode(BOARD)
    assert not sentence
    assert [config.pair[i].is_used for i in range(4)] == [True, False, True, False]
    for level in range(LEVELS):
        assert config.pair[0].current_ua[level] == BOARD[0].micro(level)
        assert config.pair[0].voltage_uv[level] == BOARD[1].micro(level)
    # 1.65 V is no current; 0.12 V more are an ampere.
    assert abs(config.pair[0].current_ua[round(1.77 / 3.3 * 1023)] - 1_000_000) < 20_000


def test_a_negative_sensitivity_is_an_inverted_polarity() -> None:
    config, sentence = decode((replace(BOARD[0], sensitivity=-0.12), *BOARD[1:]))
    assert not sentence
    assert config.pair[0].current_ua[800] == -BOARD[0].micro(800)


def test_names_that_cannot_be_used_become_numbers() -> None:
    boards = [*pair("PCIe 12V"), *pair("NA"), *pair("a/b"), *pair("ok")]
    assert names(boards) == [b"pair0", b"pair1", b"pair2", b"ok"]
    assert names([*pair("x"), *pair("x"), *pair("pair0"), *pair("")]) == [
        b"pair0", b"pair1", b"pair2", b"pair3",
    ]  # fmt: skip
    # Without an end, and of bytes that no name has.
    assert names([*pair("0123456789abcdef"), *pair("\x7f"), *pair("a,b"), *pair("y")])[:3] == [
        b"pair0", b"pair1", b"pair2",
    ]  # fmt: skip
    # The name of a pair that is not in use is free.
    assert names([*pair("x", 0), *pair("x"), *pair("a"), *pair("b")])[1] == b"x"


def test_a_pair_is_known_by_its_name_and_its_number() -> None:
    _, lib = library()
    config, _ = decode(BOARD)
    wanted = {b"12V": 0, b"pair0": 0, b"3V3": 2, b"pair2": 2}
    for name, number in {**wanted, b"pair1": -1, b"NA": -1, b"12": -1, b"": -1}.items():
        assert lib.ps3_pair_find(config, name, len(name)) == number


def test_half_a_pair_measures_nothing() -> None:
    config, sentence = decode((replace(BOARD[0], in_use=0), *BOARD[1:]))
    assert not sentence
    assert (config.pair[0].is_used, config.pair[0].is_half_used) == (False, True)


@pytest.mark.parametrize(
    "change",
    [
        {"vref": float("nan")},
        {"vref": 3.4},
        {"vref": -3.4},
        {"sensitivity": 0.0},
        {"sensitivity": 1e-5},
        {"sensitivity": float("inf")},
        {"sensitivity": -2e3},
    ],
)
def test_an_impossible_sensor_is_refused_if_it_is_in_use(change: dict[str, Any]) -> None:
    for place in range(8):
        wrong = [replace(s, **change) if i == place else s for i, s in enumerate(BOARD)]
        sentence = decode(wrong)[1]
        if BOARD[place].in_use:
            assert f"configuration of sensor {place} is implausible" in sentence
        else:
            assert not sentence


def test_erased_memory_is_refused() -> None:
    erased = Sensor(float("nan"), float("nan"), 0xFF, b"\xff" * 16, b"\xff" * 16)
    assert "pair 0 is implausible: its memory was erased" in decode([erased] * 8)[1]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (b"F411-1.6.1", ""),
        (b"F401-1.3.0", ""),
        (b"F407-1.12", ""),
        (b"F411-1.6.1-DEMO", ""),
        (b"Firmware version: F401-1.4.1", ""),
        (b"F411-1.2.1", "has firmware 1.2; it must be 1.3 or a later 1.x"),
        (b"F411-2.0.0", "has firmware 2.0; it must be 1.3 or a later 1.x"),
        (b"F411-0.9", "has firmware 0.9;"),
        (b"1.6.1", "its version is '1.6.1'"),
        (b"", "its version is ''"),
        (b"F411", "its version is 'F411'"),
    ],
)
def test_a_version_is_known_or_refused(text: bytes, sentence: str) -> None:
    ffi, lib = library()
    error = ffi.new("struct daq_error *")
    assert (lib.ps3_version_check(text, error) != 0) == bool(sentence)
    if sentence:
        assert sentence in failure(error)
