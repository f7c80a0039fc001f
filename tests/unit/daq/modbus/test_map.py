# SPDX-License-Identifier: GPL-2.0
"""Registers of Modbus meters: maps of users, known models, and what words stand for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
from lib.daq.build import failure, library
from unit.daq.modbus.meter import f32, s32_low

VALUE, NONE, OVER = range(3)


def parsed(text: str) -> tuple[Any, str]:
    """(map, sentence); the sentence is empty if it is right."""
    ffi, lib = library()
    layout, error = ffi.new("struct modbus_map *"), ffi.new("struct daq_error *")
    return layout, failure(error) if lib.modbus_map_parse(layout, text.encode(), error) else ""


def model(name: str) -> tuple[Any, str]:
    ffi, lib = library()
    layout, error = ffi.new("struct modbus_map *"), ffi.new("struct daq_error *")
    return layout, failure(error) if lib.modbus_map_model(layout, name.encode(), error) else ""


def decoded(layout: Any, name: str, words: Sequence[int]) -> tuple[int, int]:
    """(kind, value)"""
    ffi, lib = library()
    register = lib.modbus_map_find(layout, name.encode())
    assert register != ffi.NULL
    assert lib.modbus_words(register.type) == len(words)
    value = ffi.new("int64_t *")
    kind = lib.modbus_decode(layout, register, ffi.new("uint16_t[]", list(words)), value)
    return int(kind), int(value[0])


@pytest.mark.parametrize(
    ("register", "words", "value"),
    [
        ("input:0:f32:W", f32(123.5), 123_500_000_000),
        ("input:0:f32-low:W", f32(123.5)[::-1], 123_500_000_000),
        ("input:0:f32:W:-1", f32(123.5), -123_500_000_000),
        ("holding:0:u16:V:0.1", [2304], 230_400_000),
        ("holding:0:s16:pf:0.001", [0xFFFF - 949], -950_000),
        ("holding:0:u32:A:0.001", [1, 0], 65_536_000),
        ("holding:0:s32:W:0.01", [0xFFFF, 0xFFFE], -20_000_000),
        ("holding:0:s32-low:W:0.1", s32_low(-15), -1_500_000_000),
        # Energies are in uJ.
        ("holding:0:u64:kWh:0.01", [0, 0, 0, 5], 180_000_000_000),
        ("holding:0:u64-low:kWh", [5, 0, 0, 0], 18_000_000_000_000),
        ("holding:0:s64-low:kWh", [0xFFFF] * 4, -3_600_000_000_000),
    ],
)
def test_words_stand_for_values(register: str, words: list[int], value: int) -> None:
    layout, sentence = parsed(f"a={register}")
    assert not sentence
    assert decoded(layout, "a", words) == (VALUE, value)


@pytest.mark.parametrize(
    ("register", "words"),
    [
        ("input:0:f32:W", f32(math.nan)),
        ("input:0:f32:W", f32(math.inf)),
        ("input:0:f32:W", f32(-math.inf)),
        # Beyond 64 bits of nW and of uJ.
        ("input:0:f32:W", f32(1e10)),
        ("input:0:u64:kWh", [0x0FFF, 0, 0, 0]),
        # What makers have for no value.
        ("input:0:s16:W", [0x7FFF]),
        ("input:0:u32:W", [0xFFFF, 0xFFFF]),
        ("input:0:s32-low:W", [0xFFFF, 0x7FFF]),
    ],
)
def test_words_may_stand_for_no_value(register: str, words: list[int]) -> None:
    layout, sentence = parsed(f"a={register}")
    assert not sentence
    assert decoded(layout, "a", words)[0] == NONE


def test_a_gavazzi_shows_that_it_is_over_its_range() -> None:
    layout, _ = model("em111")
    lib = library()[1]
    kind, value = decoded(layout, "power", s32_low(0x7FFFFFFF))
    assert kind == OVER
    assert value == lib.modbus_range(layout, lib.modbus_map_find(layout, b"power")) > 0
    assert decoded(layout, "power", s32_low(1234)) == (VALUE, 123_400_000_000)
    assert decoded(layout, "pf", [987]) == (VALUE, 987_000)
    # An Eastron has floats, and none that stands for more.
    layout, _ = model("sdm120")
    assert lib.modbus_range(layout, lib.modbus_map_find(layout, b"power")) == 0


@pytest.mark.parametrize("name", ["sdm120", "sdm230", "sdm630", "em111", "em112", "b21", "b23"])
def test_each_model_has_what_a_test_reports(name: str) -> None:
    layout, sentence = model(name)
    assert not sentence
    registers = [layout.reg[i] for i in range(layout.nr)]
    names = [library()[0].string(register.name).decode() for register in registers]
    assert len(set(names)) == len(names)
    assert names[0] == "power"
    assert {"pf", "energy"} <= set(names)
    assert {"voltage", "voltage1"} & set(names)
    assert {"current", "current1"} & set(names)
    # Phases are in the whole.
    assert [key for key, register in zip(names, registers, strict=True) if register.is_part] == (
        [key for key in names if key.startswith("power") and key != "power"]
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "each part must be NAME=TABLE:ADDRESS:TYPE:UNIT"),
        ("power", "each part must be"),
        ("=input:0:f32:W", "each part must be"),
        ("power=input:0:f32", "each part must be"),
        ("power=input:0:f32:W:1:2", "each part must be"),
        ("power=input:0:f32:W:", "each part must be"),
        ("power=input:0:f32:W,", "each part must be"),
        ("a name=input:0:f32:W", "each part must be"),
        ("sixteen_bytes_xx=input:0:f32:W", "with a NAME of 1 to 15 bytes"),
        ("power=coil:0:f32:W", "'power': its table must be input or holding"),
        ("power=input:0:f64:W", "'power': its type must be u16, s16"),
        ("power=input:65535:f32:W", "'power': its address must be from 0 to 65535"),
        ("power=input:0x10000:u16:W", "'power': its address must be"),
        ("power=input:-1:u16:W", "'power': its address must be"),
        ("power=input:0x:u16:W", "'power': its address must be"),
        ("power=input:0:f32:kW", "'power': its unit must be V, A, W, kWh or pf"),
        ("power=input:0:f32:W:0", "'power': its scale must be a decimal number"),
        ("power=input:0:f32:W:1e3", "'power': its scale must be a decimal number"),
        ("a=input:0:f32:W,a=input:2:f32:W", "two registers called 'a'"),
        (",".join(f"r{i}=input:{i}:u16:W" for i in range(65)), "more than 64 registers"),
    ],
)
def test_a_wrong_map_is_refused(text: str, sentence: str) -> None:
    assert sentence in parsed(text)[1]


def test_an_unknown_model_is_refused() -> None:
    assert model("sdm72")[1] == (
        "setting 'model' is 'sdm72'; known models: sdm120, sdm230, sdm630, em111, em112, b21, b23; "
        "setting 'map' describes others"
    )
