"""Descriptions of drives: what the files become, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from lib.core.drivecore import Drive

from spekctl.drive.model import TURN, Lee, Zone, load, names, read
from spekctl.errors import SpekError

Core = tuple[Any, Any]
TEXT = """
title = "x"
heads = 2
layout = "banded"
band_cylinders = 4
rpm = 6000
sectors = 7
head_switch_ms = 0.5
settle_ms = 0.25
overhead_ms = 0.125
zones = [[0, 8, 4, 1, 2]]
seek_points = [[1, 0.000001], [8, 2]]
"""


@pytest.mark.parametrize("name", names())
def test_every_drive_is_taken_by_the_core(core: Core, name: str) -> None:
    drive = Drive(core, load(name))
    assert drive.sectors > 4_000_000


def test_names() -> None:
    assert names() == ["barracuda-es", "cheetah9lp", "dnes-309170w", "st32171w"]
    with pytest.raises(SpekError, match=r"'nosuch'.*barracuda-es, cheetah9lp"):
        load("nosuch")


def test_numbers_become_integers() -> None:
    model = read(TEXT)
    assert (model.heads, model.layout, model.band_cylinders, model.sectors) == (2, "banded", 4, 7)
    assert model.period_ps == 10**10
    assert (model.head_switch_ns, model.settle_ns, model.overhead_ns) == (500_000, 250_000, 125_000)
    assert model.zones == (Zone(0, 8, 4, TURN // 4, TURN // 2),)
    assert model.seek == ((1, 1), (8, 2_000_000))


def test_skew_by_time_and_formula() -> None:
    text = TEXT.replace(", 1, 2]", "]").replace("seek_points = [[1, 0.000001], [8, 2]]", "")
    model = read(text + "skew_ms = 2.5\nseek_ms = [0.8, 8.5, 17.0]\n")
    assert model.zones == (Zone(0, 8, 4, TURN // 4, TURN // 4),)
    assert model.seek == Lee(800_000, 8_500_000, 17_000_000)


def test_watts_of_a_file() -> None:
    watts = load("barracuda-es").watts
    assert watts.base[0] == (3_055_000, 4_245_000)
    assert sum(watts.base[0]) + watts.hold == 9_300_000
    assert (watts.seek, watts.rotate, watts.read, watts.write) == (4_675_000, 0, *[1_300_000] * 2)
    assert (watts.starting_ns, watts.stopping_ns) == (10 * 10**9, 12 * 10**9)


@pytest.mark.parametrize(
    ("rpm", "q16"),
    [
        *((4200, 14489), (5200, 26349), (5400, 29285), (5900, 37526), (6200, 43117)),
        *((7200, 65536), (10000, 164418), (15000, 511687)),
    ],
)
def test_spindle_follows_speed_to_the_power_of_2_8(rpm: int, q16: int) -> None:
    model = load("barracuda-es")
    scaled = model.at_rpm(rpm)
    assert scaled.watts.base[0][0] == model.watts.base[0][0]
    assert scaled.watts.base[0][1] == pytest.approx(4_245_000 * q16 / 65536, rel=1e-4)
    assert scaled.period_ps == 60 * 10**12 // rpm


def test_arms_are_spread_around_the_platters() -> None:
    model = load("barracuda-es").with_arms(3)
    assert model.arm_angles == (0, TURN // 3, TURN * 2 // 3)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("settle_ms = 0.25", "settle_ms = -1", "below 0"),
        ("settle_ms = 0.25", "settle_ms = 0.0000001", "steps of"),
        ("settle_ms = 0.25", "settle = 1", "unknown fields settle"),
        ('"banded"', '"spiral"', "layout 'spiral'"),
        ("heads = 2", "", "heads"),
        ("rpm = 6000", "", "rpm"),
        ("rpm = 6000", "rpm = 0", "zero"),
        ("[8, 2]", "8", "TypeError"),
        ("zones = [[0, 8, 4, 1, 2]]", "zones = [[0, 8]]", "unpack"),
    ],
)
def test_refuses_a_description(old: str, new: str, sentence: str) -> None:
    assert old in TEXT
    with pytest.raises(SpekError, match=sentence):
        read(TEXT.replace(old, new))
