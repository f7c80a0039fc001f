# SPDX-License-Identifier: GPL-2.0
"""The simulator of paper 004 against arithmetic: places, energies, starts, and what is kept."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bench.paper004 import loads, sim, systems
from bench.paper004.sim import FLUSH, NS, READ, REQUESTS, WRITE, Array, Config, Outcome
from bench.paper004.systems import System

from spekctl.drive import file
from spekctl.errors import SpekError

HOUR_NS = 3600 * NS
ARRAY = systems.array(1)
PLAIN = systems.PLAIN_RAID.config
CACHES = (
    systems.AUGMENT, systems.AUGMENT_SMALL, systems.DM_CACHE, systems.DM_WRITECACHE, systems.BCACHE,
)  # fmt: skip


def requests_of(*rows: tuple[int, int, int, int]) -> Any:
    """Arrival in ns, block, blocks, op."""
    return np.array(list(rows), REQUESTS)


def place(members: int, chunk: int, block: int) -> tuple[int, int, int]:
    disk, parity, at = ctypes.c_uint32(), ctypes.c_uint32(), ctypes.c_uint64()
    sim.library().raid_place(
        members, chunk, block, *(ctypes.byref(each) for each in (disk, parity, at))
    )
    return disk.value, parity.value, at.value


def served(op: int, block: int, blocks: int) -> list[int]:
    """Accesses of each disk for a request, without the disks' caches, which would join or hide
    them."""
    array = Array(file.load("st3500320as"), ARRAY.ssd)
    outcome = sim.run(PLAIN, array, requests_of((0, block, blocks, op)))
    return [disk.served for disk in outcome.disks]


def test_left_symmetric_as_md_draws_it() -> None:
    # Stripes of 4 disks with chunks of a block: data chunks by number, P for parity.
    rows = [
        ["0", "1", "2", "P"],
        ["4", "5", "P", "3"],
        ["8", "P", "6", "7"],
        ["P", "9", "10", "11"],
    ]
    for chunk in range(12):
        disk, parity, at = place(4, 1, chunk)
        assert rows[at][disk] == str(chunk)
        assert rows[at][parity] == "P"


@pytest.mark.parametrize("members", [3, 4, 5, 8])
def test_places_of_a_raid_are_all_different(members: int) -> None:
    chunk = 4
    stripes = 3 * members
    places = {
        (disk, at)
        for block in range(stripes * chunk * (members - 1))
        for disk, _, at in [place(members, chunk, block)]
    }
    assert len(places) == stripes * chunk * (members - 1)
    assert {at for _, at in places} == set(range(stripes * chunk))
    # The parity's places are those that are left.
    parities = {place(members, chunk, block)[1:] for block in range(len(places))}
    assert not parities & places
    assert len(parities) == stripes * chunk


@pytest.mark.parametrize(
    ("members", "written", "reads", "is_modify"),
    [(4, 1, 2, False), (4, 2, 1, False), (4, 3, 0, False), (5, 1, 2, True), (5, 2, 2, False),
     (6, 1, 2, True), (6, 2, 3, False), (8, 1, 2, True), (8, 3, 4, False), (8, 2, 3, True)],
)  # fmt: skip
def test_reads_before_a_write(members: int, written: int, reads: int, is_modify: bool) -> None:
    modify = ctypes.c_bool()
    assert sim.library().raid_reads(members, written, ctypes.byref(modify)) == reads
    assert modify.value is is_modify


def test_small_write_costs_an_access_of_each_of_four_disks() -> None:
    assert served(WRITE, 0, 1) == [1, 1, 1, 1]


def test_full_stripe_is_written_without_reads() -> None:
    assert served(WRITE, 0, 48) == [1, 1, 1, 1]


def test_write_over_the_end_of_a_chunk_is_two_groups_of_rows() -> None:
    # The last row of chunk 0 and the first of chunk 1: each reads two disks and writes two.
    assert sum(served(WRITE, 15, 2)) == 8


def test_read_is_split_at_chunks() -> None:
    assert served(READ, 15, 2) == [1, 1, 0, 0]
    assert served(READ, 0, 8) == [1, 0, 0, 0]


def test_idle_hour_uses_the_watts_of_the_data_sheet() -> None:
    outcome = sim.run(replace(PLAIN, until_ns=HOUR_NS), ARRAY, requests_of())
    assert outcome.joules / 3600 == pytest.approx(4 * 7.96, rel=1e-9)
    assert outcome.disks[0].joules == pytest.approx((2.9 * 3600, 5.06 * 3600))
    assert outcome.seconds == 3600


def test_idle_hour_with_an_ssd_adds_its_half_watt() -> None:
    config = replace(systems.DM_WRITECACHE.config, until_ns=HOUR_NS, rest_ns=0)
    outcome = sim.run(config, ARRAY, requests_of())
    assert outcome.ssd is not None
    assert outcome.ssd.energy_j == pytest.approx(0.5 * 3600)
    assert outcome.joules / 3600 == pytest.approx(4 * 7.96 + 0.5)


def test_energy_of_sleep_and_of_a_start() -> None:
    # All disks rest at 600 s, stop for 12 s; a read at 1800 s starts one for 10 s.
    config = replace(systems.HD_IDLE.config, until_ns=2000 * NS)
    outcome = sim.run(config, ARRAY, requests_of((1800 * NS, 0, 1, READ)))
    awake, asleep = outcome.disks[0], outcome.disks[1]
    assert [disk.starts for disk in outcome.disks] == [1, 0, 0, 0]
    assert asleep.energy_j == pytest.approx(600 * 7.96 + 12 * 1.0 + 1388 * 0.8)
    assert awake.condition_s["starting"] == 10
    assert awake.condition_s["standby"] == pytest.approx(1188)
    access = sum(awake.phase_s[name] * watts for name, watts in (("seek", 4.675), ("read", 1.3)))
    assert awake.energy_j == pytest.approx(
        600 * 7.96 + 12 * 1.0 + 1188 * 0.8 + 10 * (2.9 + 16.945) + 190 * 7.96 + access
    )
    assert outcome.wakes == {"read": 1, "write": 0, "flush": 0, "write-back": 0}
    assert outcome.response_ns[0] / NS == pytest.approx(10, abs=0.05)


def test_busy_disk_does_not_rest() -> None:
    rows = [(n * 300 * NS, 0, 1, READ) for n in range(10)]
    config = replace(systems.HD_IDLE.config, until_ns=HOUR_NS - 900 * NS)
    outcome = sim.run(config, ARRAY, requests_of(*rows))
    assert outcome.disks[0].condition_s["standby"] == 0
    assert outcome.disks[1].condition_s["standby"] > 2000


def week_of(system: System, count: int = 3000) -> Outcome:
    """Writes and reads with pauses long enough to sleep, so that disks are woken."""
    generator = np.random.default_rng(5)
    rows = np.zeros(count, REQUESTS)
    gaps = generator.exponential(0.02 * NS, count)
    gaps[::300] += 1500 * NS
    rows["arrival_ns"] = np.cumsum(gaps)
    rows["block"] = generator.integers(0, 3000, count) * 40
    rows["blocks"] = generator.integers(1, 20, count)
    rows["op"] = generator.choice((READ, WRITE), count, p=(0.3, 0.7))
    rows["op"][::50] = FLUSH
    rows["blocks"][::50] = 0
    return sim.run(system.config, ARRAY, rows)


@pytest.mark.parametrize("system", CACHES, ids=lambda system: system.key)
def test_acknowledged_writes_are_on_the_raid_or_in_the_cache(system: System) -> None:
    outcome = week_of(system)
    assert outcome.answered == 3000
    assert outcome.written > 5000
    assert outcome.lost == 0
    assert outcome.waiting <= outcome.written
    if system is systems.DM_WRITECACHE:
        assert outcome.destaged == 0
        assert outcome.waiting == outcome.written
    elif system is not systems.BCACHE:
        assert outcome.waiting < outcome.written


def test_small_log_is_written_back_within_the_run() -> None:
    generator = np.random.default_rng(7)
    rows = np.zeros(6000, REQUESTS)
    rows["arrival_ns"] = np.arange(6000) * NS // 100
    rows["block"] = generator.integers(0, 10**6, 6000) * 16
    rows["blocks"] = 8
    rows["op"] = WRITE
    outcome = sim.run(systems.AUGMENT_SMALL.config, ARRAY, rows)
    assert outcome.destaged > 10_000
    assert outcome.lost == 0
    # What is dirty is never more than the log holds.
    assert outcome.waiting < systems.SMALL_LOG_BLOCKS


@pytest.mark.parametrize("system", [systems.HD_IDLE, *CACHES], ids=lambda system: system.key)
def test_every_start_has_a_cause(system: System) -> None:
    outcome = week_of(system)
    assert sum(outcome.wakes.values()) == sum(disk.starts for disk in outcome.disks) > 0


@pytest.mark.parametrize("system", [systems.PLAIN_RAID, *CACHES], ids=lambda system: system.key)
def test_times_add_up(system: System) -> None:
    outcome = week_of(system, 600)
    devices = [*outcome.disks, *([outcome.ssd] if outcome.ssd else [])]
    for device in devices[:4]:
        assert sum(device.condition_s.values()) == pytest.approx(outcome.seconds)
        assert sum(device.phase_s.values()) == pytest.approx(outcome.seconds)


def test_same_seed_gives_the_same() -> None:
    first, second = (week_of(systems.AUGMENT, 600) for _ in range(2))
    assert (first.response_ns == second.response_ns).all()
    assert first.joules == second.joules


def test_writes_to_sleeping_disks_wake_a_single_one() -> None:
    config = replace(systems.AUGMENT.config, until_ns=3000 * NS, quiet_ns=HOUR_NS)
    outcome = sim.run(config, ARRAY, requests_of((2000 * NS, 10**6, 4, WRITE)))
    assert sum(disk.starts for disk in outcome.disks) == 1
    assert outcome.wakes["write"] == 1
    assert outcome.waiting == 4


def test_cached_read_wakes_nobody() -> None:
    rows = requests_of((0, 10**6, 4, READ), (2000 * NS, 10**6, 4, READ))
    for system in (systems.AUGMENT, systems.BCACHE):
        outcome = sim.run(system.config, ARRAY, rows)
        assert (outcome.hits, outcome.misses, outcome.copies) == (4, 4, 4)
        assert sum(disk.starts for disk in outcome.disks) == 0
        assert outcome.response_ns[1] < 5_000_000


def test_cache_that_copies_at_the_second_touch_hits_at_the_third() -> None:
    rows = requests_of(*((n * 60 * NS, 10**6, 4, READ) for n in range(3)))
    outcome = sim.run(systems.DM_CACHE.config, ARRAY, rows)
    assert (outcome.hits, outcome.misses, outcome.copies) == (4, 8, 8)


def test_host_waits_with_more_than_it_may_send() -> None:
    rows = requests_of((0, 0, 1, READ), (0, 10**7, 1, READ))
    outcome = sim.run(replace(PLAIN, most_outstanding=1), ARRAY, rows)
    assert outcome.wait_ns[0] == 0
    assert outcome.wait_ns[1] == outcome.response_ns[0] > 0


def test_too_many_outstanding_are_refused() -> None:
    with pytest.raises(SpekError, match="1 to 64 requests are outstanding"):
        sim.run(replace(PLAIN, most_outstanding=65), ARRAY, requests_of())


def test_a_log_too_short_is_refused_by_the_core() -> None:
    config = replace(systems.AUGMENT.config, log_blocks=100)
    with pytest.raises(SpekError, match=r"The log has 256 to 2\^30 blocks\."):
        sim.run(config, ARRAY, requests_of())


# J of 1000 requests. A change of a core, a model or the simulator shows here.
GOLDEN = {
    "raid": 406.420651271,
    "augment": 350.246213715,
    "dm-cache": 406.107672355,
    "dm-writecache": 345.360756795,
    "bcache": 347.818480388,
}


@pytest.mark.parametrize("key", GOLDEN)
def test_golden_small_runs(key: str) -> None:
    system = next(each for each in systems.OF_FIGURES if each.key == key)
    config: Config = system.config
    rows = loads.stand_in("cello99", ARRAY.raid_blocks(config), 1000, 100.0, 1)
    outcome = sim.run(config, ARRAY, rows)
    assert outcome.joules == pytest.approx(GOLDEN[key], rel=1e-9)
