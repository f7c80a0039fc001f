"""The drive's memory: hits at bus time, read-ahead at the speed of the media, destages, flushes."""

from __future__ import annotations

import random
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.drivecore import (
    BUS,
    NEVER,
    SLEEP,
    STANDBY,
    STOP,
    Drive,
    Refused,
    Service,
)

from spekctl.drive.file import load
from spekctl.drive.model import Model, Zone

Core = tuple[Any, Any]
MS = 10**6
US = 1000
EBUSY, EINVAL = 16, 22
CHEETAH = load("cheetah9lp")
SMALL = Model("small", 1, (Zone(0, 100, 1000, 0, 0),), ((1, MS),), 8_000_000_000)
READS = {
    "cache.segments": 4,
    "cache.segment_sectors": 512,
    "cache.ahead_sectors": 256,
    "cache.hit_ns": 50 * US,
    "cache.sector_ps": 5_120_000,  # 100 MB/s
}
WRITES = {"cache.write_sectors": 4096, "cache.hit_ns": 50 * US, "cache.sector_ps": 5_120_000}
HIT_NS = 50 * US + 8 * 5120


def run(drive: Drive, now_ns: int) -> tuple[list[Service], int]:
    """Serve everything, destages too: what ended, and the time of the last event."""
    ended: list[Service] = []
    while True:
        while drive.start(now_ns) is not None:
            pass
        if drive.next_ns() == NEVER:
            return ended, now_ns
        now_ns = drive.next_ns()
        while (service := drive.finish(now_ns)) is not None:
            ended.append(service)


def served(drive: Drive, now_ns: int, lba: int, sectors: int = 8, **request: Any) -> Service:
    """One request; what the drive does by itself stays under way."""
    assert drive.submit(now_ns, lba, sectors, **request) == 0
    while True:
        started = drive.start(now_ns)
        while drive.next_ns() != NEVER:
            now_ns = drive.next_ns()
            if (ended := drive.finish(now_ns)) is not None:
                assert started is None or ended == started
                assert drive.start(now_ns) is None
                return ended
            started = drive.start(now_ns) or started


# ---- reads ----


def test_what_was_read_is_a_hit_at_bus_time(core: Core) -> None:
    drive = Drive(core, SMALL, fields=READS)
    miss = served(drive, 0, 5000)
    assert miss.arm == 0
    hit = served(drive, miss.end_ns, 5000)
    assert (hit.arm, hit.end_ns - hit.start_ns) == (BUS, HIT_NS)
    assert drive.account(hit.end_ns).hits == 1
    # forced unit access reads the media
    assert served(drive, hit.end_ns, 5000, fua=True).arm == 0


@given(wait_ns=st.integers(0, 3 * MS), first=st.integers(0, 300), sectors=st.integers(1, 64))
def test_reads_ahead_at_the_speed_of_the_media(
    core: Core, wait_ns: int, first: int, sectors: int
) -> None:
    """A hit if all of it has passed the head; else it ends when its last sector has passed."""
    drive = Drive(core, SMALL, fields={**READS, "cache.hit_ns": 0, "cache.sector_ps": 0})
    miss = served(drive, 0, 5000, 1)
    assert drive.start(miss.end_ns) is None
    now_ns = miss.end_ns + wait_ns
    while drive.finish(now_ns) is not None:
        raise AssertionError("nothing of the host ends")
    service = served(drive, now_ns, 5001 + first, sectors)
    sector_ns = Fraction(8 * MS, 1000)
    passed_ns = miss.end_ns + (first + sectors) * sector_ns
    if first + sectors > 256 + 1 and first > 256:
        assert service.arm == 0  # beyond the read-ahead: an ordinary access
    elif passed_ns > now_ns + 2:
        assert service.arm == 0
        if wait_ns < 256 * sector_ns:  # it is still under way
            assert service.end_ns == pytest.approx(float(passed_ns), abs=12)
    elif passed_ns < now_ns - 10 and first + sectors <= 256:
        assert (service.arm, service.end_ns) == (BUS, now_ns + 1)


@pytest.mark.parametrize("think_us", [0, 100, 1000])
def test_a_stream_runs_at_the_speed_of_the_media(core: Core, think_us: int) -> None:
    """Reads one after another, with time between them, as fast as one large read: without
    a cache each of them loses a turn."""
    sectors, reads = 64, 400
    whole = Drive(core, CHEETAH).serve(0, 0, sectors * reads)
    times = {}
    for name, fields in (("on", {**READS, "cache.hit_ns": 0}), ("off", {})):
        drive = Drive(core, CHEETAH, fields=fields)
        now_ns = 0
        for n in range(reads):
            now_ns = served(drive, now_ns, n * sectors, sectors).end_ns + think_us * US
        times[name] = now_ns
    slowest = max(whole.end_ns, reads * (think_us * US + sectors * 5120))
    assert times["on"] == pytest.approx(slowest, rel=0.03)
    if think_us:
        assert times["off"] > 2 * times["on"]


def test_read_ahead_ends_with_the_limit_and_draws_the_power_of_reading(core: Core) -> None:
    model = replace(SMALL, watts=replace(load("barracuda-es").watts))
    drive = Drive(core, model, fields=READS)
    miss = served(drive, 0, 5000)
    ended, end_ns = run(drive, miss.end_ns)
    assert ended == []
    assert end_ns - miss.end_ns == pytest.approx(256 * 8 * US, abs=10)
    account = drive.account(end_ns)
    assert account.ahead_sectors == 256
    assert account.phase_ns[3] == pytest.approx(264 * 8 * US, abs=20)
    base = sum(model.watts.base[0]) + model.watts.hold
    parts = (0, model.watts.seek, model.watts.rotate, model.watts.read, model.watts.write, 0)
    phases = sum(uw * ns for uw, ns in zip(parts, account.phase_ns, strict=True))
    assert sum(account.fj) == base * end_ns + phases


def test_a_miss_interrupts_the_read_ahead(core: Core) -> None:
    drive = Drive(core, SMALL, fields=READS)
    miss = served(drive, 0, 5000)
    assert drive.start(miss.end_ns) is None
    now_ns = miss.end_ns + 100 * 8 * US
    far_read = served(drive, now_ns, 50_000)
    assert (far_read.arm, far_read.start_ns) == (0, now_ns)
    # what had passed by then is kept, and no more
    assert served(drive, far_read.end_ns, 5008, 99).arm == BUS
    assert served(drive, far_read.end_ns + 10 * MS, 5008, 110).arm == 0


def test_the_segment_unused_for_longest_makes_room(core: Core) -> None:
    drive = Drive(core, SMALL, fields={**READS, "cache.ahead_sectors": 0})
    now_ns = 0
    for lba in (0, 10_000, 20_000, 30_000, 0, 40_000):
        now_ns = served(drive, now_ns, lba).end_ns
    arms = []
    for lba in (0, 20_000, 30_000, 40_000, 10_000):
        service = served(drive, now_ns, lba)
        now_ns = service.end_ns
        arms.append(service.arm)
    assert arms == [BUS, BUS, BUS, BUS, 0]


def test_written_sectors_are_no_longer_cached(core: Core) -> None:
    drive = Drive(core, SMALL, fields=READS)
    now_ns = served(drive, 0, 5000).end_ns
    write = served(drive, now_ns, 5004, write=True)
    assert write.arm == 0
    assert served(drive, write.end_ns, 5000).arm == 0


@given(data=st.data())
def test_forced_unit_access_takes_as_long_as_without_a_cache(
    core: Core, data: st.DataObject
) -> None:
    plain = Drive(core, CHEETAH)
    cached = Drive(core, CHEETAH, fields={**READS, **WRITES, "cache.ahead_sectors": 0})
    now_ns = 0
    for _ in range(6):
        lba = data.draw(st.sampled_from([0, 8, 100, 9_000_000, 9_000_008]))
        write = data.draw(st.booleans())
        uncached = plain.serve(now_ns, lba, 8, write)
        two = served(cached, now_ns, lba, 8, write=write, fua=True)
        assert uncached == two
        now_ns = uncached.end_ns + data.draw(st.integers(0, 10**7))


# ---- writes ----


def test_a_write_ends_at_bus_time_and_goes_to_the_media_later(core: Core) -> None:
    drive = Drive(core, SMALL, fields=WRITES)
    write = served(drive, 0, 50_000, write=True)
    assert (write.arm, write.end_ns) == (BUS, HIT_NS)
    # the destage: as long as the write itself would have taken
    expected = Drive(core, SMALL).serve(write.end_ns, 50_000, 8, write=True)
    assert drive.start(write.end_ns) is None
    assert (drive.next_ns(), drive.c.cache.dirty_sectors) == (expected.end_ns, 8)
    assert drive.finish(expected.end_ns) is None
    account = drive.account(expected.end_ns)
    assert (account.accepted, account.destages, account.served) == (1, 1, 0)
    assert (drive.next_ns(), drive.c.cache.dirty_sectors) == (NEVER, 0)
    assert account.phase_ns[4] == expected.transfer_ns


def test_written_data_is_read_from_the_cache(core: Core) -> None:
    drive = Drive(core, SMALL, fields=WRITES)
    assert drive.submit(0, 90_000, 64) == 0  # keeps the arm busy
    assert drive.start(0) is not None
    assert drive.submit(0, 50_000, 16, write=True) == 0
    assert drive.start(0) is not None
    assert drive.finish(drive.next_ns()) is not None
    assert drive.submit(MS, 50_008, 8) == 0
    read = drive.start(MS)
    assert read is not None
    assert read.arm == BUS


def test_a_read_that_waits_becomes_a_hit_with_the_write_before_it(core: Core) -> None:
    drive = Drive(core, SMALL, fields=WRITES)
    assert drive.submit(0, 90_000, 64) == 0  # keeps the arm busy
    assert drive.start(0) is not None
    assert drive.submit(0, 50_000, 8, write=True) == 0
    assert drive.submit(0, 50_000, 8, tag=1) == 0
    assert drive.start(0) is not None
    assert drive.start(0) is None
    assert drive.finish(HIT_NS) is not None
    read = drive.start(HIT_NS)
    assert read is not None
    assert (read.tag, read.arm) == (1, BUS)


def test_a_read_that_waits_is_no_hit_once_its_extent_is_destaged(core: Core) -> None:
    drive = Drive(core, SMALL, fields={**WRITES, "cache.sector_ps": 51_200_000})
    assert drive.submit(0, 90_000, 64) == 0
    assert drive.start(0) is not None
    assert drive.submit(0, 50_000, 8, write=True) == 0
    assert drive.start(0) is not None
    assert drive.finish(drive.next_ns()) is not None
    # Keeps the bus busy, and makes a destage due.
    assert drive.submit(MS, 10_000, 4000, write=True) == 0
    assert drive.start(MS) is not None
    assert drive.submit(MS, 50_000, 8, tag=1) == 0
    assert drive.start(MS) is None
    free_ns = drive.next_ns()
    assert drive.finish(free_ns) is not None
    assert drive.start(free_ns) is None
    destaged_ns = drive.next_ns()
    assert drive.finish(destaged_ns) is None
    read = drive.start(destaged_ns)
    assert read is not None
    assert (read.tag, read.arm) == (1, 0)


def test_forced_writes_end_on_the_media(core: Core) -> None:
    drive = Drive(core, SMALL, fields=WRITES)
    write = served(drive, 0, 50_000, write=True, fua=True)
    assert write == Drive(core, SMALL).serve(0, 50_000, 8, write=True)


def test_a_write_waits_for_room_or_goes_to_the_media(core: Core) -> None:
    drive = Drive(core, SMALL, fields={**WRITES, "cache.write_sectors": 16})
    assert served(drive, 0, 50_000, 17, write=True).arm == 0
    assert served(drive, 20 * MS, 50_000, 16, write=True).arm == BUS
    # one that finds no room waits for the destage
    _, clean_ns = run(drive, 20 * MS)
    first = served(drive, clean_ns, 50_000, 16, write=True)
    destaged_ns = drive.next_ns()
    second = served(drive, first.end_ns, 60_000, 8, write=True)
    assert (second.arm, second.start_ns) == (BUS, destaged_ns)


def test_writes_that_continue_each_other_are_destaged_as_one(core: Core) -> None:
    fields = {**WRITES, "cache.hit_ns": 0, "cache.sector_ps": 0}
    drive = Drive(core, SMALL, fields=fields)
    for n in range(100):
        assert drive.submit(0, 50_000 + 8 * n, 8, write=True) == 0
    ended, end_ns = run(drive, 0)
    account = drive.account(end_ns)
    assert (len(ended), account.accepted) == (100, 100)
    # the first is destaged by itself, what came while that took as one
    assert account.destages == 2
    assert account.phase_ns[4] == pytest.approx(800 * 8 * US, abs=20)


def test_an_overwrite_in_the_cache_is_destaged_once(core: Core) -> None:
    drive = Drive(core, SMALL, fields=WRITES)
    for lba in (90_000, 50_000, 50_000, 50_004):
        assert drive.submit(0, lba, 8, write=True) == 0
    _, end_ns = run(drive, 0)
    assert drive.account(end_ns).destages == 2
    assert drive.account(end_ns).phase_ns[4] == pytest.approx((8 + 12) * 8 * US, abs=20)


# ---- flush ----


@given(lbas=st.lists(st.integers(0, 12_000), max_size=20), late=st.integers(0, 5))
def test_a_flush_ends_when_all_is_on_the_media(core: Core, lbas: list[int], late: int) -> None:
    drive = Drive(core, SMALL, "sptf", fields=WRITES)
    now_ns = 0
    for lba in lbas:
        now_ns = served(drive, now_ns, 8 * lba, write=True).end_ns
    accepted = drive.account(now_ns).accepted
    assert accepted == len(lbas)
    flush = served(drive, now_ns, 0, 0, flush=True)
    assert flush.flush
    assert flush.arm == BUS
    assert drive.c.cache.dirty_sectors == 0
    assert flush.end_ns - flush.start_ns == 50 * US
    if not lbas:
        assert flush.start_ns == now_ns
    # writes that come while it waits do not hold it up
    for lba in lbas:
        served(drive, flush.end_ns, 8 * lba, write=True)
    assert drive.submit(flush.end_ns + MS, 0, 0, flush=True, tag=1) == 0
    for n in range(late):
        assert drive.submit(flush.end_ns + MS, 80_000 + 16 * n, 8, write=True) == 0
    ended, _ = run(drive, flush.end_ns + MS)
    assert [service.tag for service in ended if service.flush] == [1]
    assert len(ended) == late + 1


def test_flush_of_a_drive_without_a_cache(core: Core) -> None:
    drive = Drive(core, SMALL)
    assert served(drive, 5, 0, 0, flush=True).end_ns == 6
    assert drive.submit(5, 0, 8, flush=True) == -EINVAL
    assert drive.submit(5, 8, 0, flush=True) == -EINVAL


def test_a_flush_of_a_clean_cache_starts_no_spindle(core: Core) -> None:
    drive = Drive(core, replace(load("barracuda-es")), fields=WRITES)
    assert drive.command(0, SLEEP) == 0
    drive.account(60 * 10**9)
    assert served(drive, 60 * 10**9, 0, 0, flush=True).arm == BUS
    assert drive.condition == STANDBY


def test_a_drive_with_written_data_does_not_stop(core: Core) -> None:
    drive = Drive(core, SMALL, fields=WRITES)
    now_ns = served(drive, 0, 50_000, write=True).end_ns
    assert [drive.command(now_ns, event) for event in (SLEEP, STOP)] == [-EBUSY] * 2
    _, now_ns = run(drive, now_ns)
    assert drive.command(now_ns, STOP) == 0


# ---- throughput ----


def test_a_write_cache_makes_deep_queues_of_shallow_ones(core: Core) -> None:
    """Random writes, one at a time: the rate of SPTF over what the cache holds."""
    rates = {}
    for name, depth, fields in (
        ("off", 1, {}),
        ("on", 1, {**WRITES, "cache.write_sectors": 31 * 8, "cache.hit_ns": 0}),
        ("deep", 32, {}),
    ):
        drive = Drive(core, CHEETAH, "sptf", fields=fields)
        rates[name] = drive.closed_loop(depth, write=True, measured=5000).iops
    assert rates["off"] == pytest.approx(108, rel=0.02)
    assert rates["on"] == pytest.approx(rates["deep"], rel=0.1)


def test_reads_and_destages_take_turns_when_the_cache_is_full(core: Core) -> None:
    """Reads at depth 1 go on at about half their rate while writes keep the cache full."""
    drive = Drive(core, CHEETAH, "sptf", fields={**WRITES, "cache.write_sectors": 64 * 8})
    source = random.Random(1)
    now_ns, reads, writes = 0, 0, 0

    def more(write: bool) -> None:
        lba = source.randrange(drive.sectors // 8) * 8
        assert drive.submit(now_ns, lba, 8, write=write) == 0

    for _ in range(8):
        more(write=True)
    more(write=False)
    while now_ns < 30 * 10**9:
        while drive.start(now_ns) is not None:
            pass
        now_ns = drive.next_ns()
        while (ended := drive.finish(now_ns)) is not None:
            reads, writes = reads + (not ended.write), writes + ended.write
            more(ended.write)
    assert 40 < reads / 30 < 114
    assert writes / 30 > 60


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"cache.segments": 65}, "up to 64 segments"),
        ({"cache.segments": 1}, "1 to 4194304"),
        ({"cache.segments": 1, "cache.segment_sectors": 2**22 + 1}, "1 to 4194304"),
        ({"cache.ahead_sectors": 1}, "reads ahead"),
        ({**READS, "cache.ahead_sectors": 513}, "reads ahead"),
        ({"cache.write_sectors": 2**24 + 1}, "16777216"),
        ({"cache.hit_ns": 10**9 + 1}, "up to 1 s"),
        ({"cache.sector_ps": 10**9 + 1}, "up to 1 ms"),
    ],
)
def test_refuses_a_cache(core: Core, fields: dict[str, int], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        Drive(core, SMALL, fields=fields)
