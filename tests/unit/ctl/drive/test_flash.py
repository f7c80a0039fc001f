# SPDX-License-Identifier: GPL-2.0
"""Model files of flash: what they say, what follows, what is refused."""

from __future__ import annotations

import pytest

from spekctl.drive import file, flash
from spekctl.drive.core import REQUEST, RESULT, Rule, Simulation
from spekctl.drive.energy import modes_of
from spekctl.errors import UsageError

SMALL = """
title = "Small"
sources = ["made up"]
sectors = 32768
[flash]
channels = 2
page_sectors = 8
block_pages = 32
blocks = 70
read_ms = 0.05
program_ms = 0.2
erase_ms = 1.0
channel_mb_s = 200
[cache]
hit_ms = 0.005
bus_mb_s = 300
[power.one]
active = [0.7, 0.1]
read = 0.3
write = 0.9
erase = 0.5
"""


def test_times_and_watts_become_integers() -> None:
    model = file.parse(SMALL, "small")
    assert model.flash is not None
    assert (model.flash.read_ns, model.flash.program_ns) == (50_000, 200_000)
    assert (model.flash.erase_ns, model.flash.sector_ps) == (1_000_000, 2_560_000)
    assert (model.watts.read, model.watts.write, model.watts.erase) == (300_000, 900_000, 500_000)
    assert set(model.watts.base) == {(700_000, 100_000)}
    assert (model.capacity, model.rpm, model.cylinders) == (32768, 0, 0)
    changed = file.parse(SMALL, "small", ["flash.blocks=80", "power.one.read=0.4"])
    assert changed.flash is not None
    assert (changed.flash.blocks, changed.watts.read) == (80, 400_000)


def test_rates_follow_from_channels_and_bus() -> None:
    facts = flash.facts_of(file.parse(SMALL))
    assert facts.write_rate == pytest.approx(2 * 4096 / 220.48e-6)
    assert facts.read_rate == pytest.approx(2 * 4096 / 70.48e-6)
    assert flash.facts_of(file.parse(SMALL, given=["cache.bus_mb_s=50"])).read_rate == (
        pytest.approx(50e6, rel=1e-6)
    )
    assert facts.raw_bytes == 2 * 70 * 32 * 4096
    (watts,) = facts.watts
    assert (watts.idle, watts.writing) == pytest.approx((0.8, 2.6))


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("flash.blocks=67", "flash.blocks: 67 blocks of a channel; allowed are 68"),
        ("flash.channels=33", "flash.channels: 33 is out of range; allowed are 1 to 32"),
        ("flash.read_ms=0", "flash.read_ms: 0 is out of range; allowed are more than 0"),
        ("flash.pages=3", "--set flash.pages=3: there is no field 'flash.pages'"),
        ("arms.count=2", "arms.count: a flash drive has neither platters nor arms"),
        ("rpm=7200", "rpm: a flash drive has neither platters nor arms"),
        ("profile='two'", "profile: there is no profile 'two'"),
        ("power.one.erase=-1", "power.one.erase: -1 is out of range"),
    ],
)
def test_refusals_are_sentences(setting: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        file.parse(SMALL, "small", [setting])
    assert sentence in caught.value.message


@pytest.mark.parametrize("name", ["mtron-msd", "vertex2"])
def test_the_core_takes_the_flash_of_the_papers(name: str) -> None:
    model = file.load(name)
    drive = Simulation(model, Rule())
    ended = drive.feed(REQUEST.pack(0, model.capacity - 8, 8, 1)) + drive.drain()
    assert len(ended) == RESULT.size
    assert drive.account().pages_programmed == 1


def requests(places: list[int], op: int = 1, sectors: int = 8) -> bytes:
    return b"".join(REQUEST.pack(0, place, sectors, op) for place in places)


def test_writes_fall_off_a_cliff_and_energy_adds_up() -> None:
    model = file.parse(SMALL)
    drive = Simulation(model, Rule(closed=8))
    pages = model.capacity // 8
    drive.feed(requests([8 * page for page in range(pages)]), keep=False)
    drive.drain()
    filled = drive.account()
    again = [8 * (page * 7919 % pages) for page in range(pages)]
    drive.feed(requests(again), keep=False)
    full = drive.account()
    drive.feed(requests([0], op=2, sectors=32768), keep=False)
    drive.drain()
    trimmed = drive.account()
    drive.feed(requests(again[: pages // 2]), keep=False)
    last = drive.account()

    assert (filled.pages_programmed, filled.pages_moved) == (pages, 0)
    assert full.now_ns - filled.now_ns > 3 * filled.now_ns
    assert full.pages_moved > 2 * pages
    assert last.now_ns - trimmed.now_ns < filled.now_ns
    assert sum(last.phase_ns) == 2 * last.now_ns
    joules = sum(mode.joules for mode in modes_of(model, last).values())
    assert joules == pytest.approx(sum(last.energy_nj) / 1e9, rel=1e-9)


def test_only_flash_takes_discards() -> None:
    disk = Simulation(file.load("mach2"), Rule())
    with pytest.raises(UsageError, match="only flash drives support"):
        disk.feed(requests([0], op=2))
