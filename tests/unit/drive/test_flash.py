"""Flash: channels that work side by side, the write cliff, buffer, trim, exact accounts."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.build.declarations import opened
from lib.core.build import DRIVE as CORE
from lib.core.build import LIBRARY, ROOT
from lib.core.drivecore import (
    GOOD,
    MEDIUM_ERROR,
    MEDIUM_FAULT,
    NEVER,
    POWER_CUT,
    SHIM,
    SLEEP,
    STANDBY,
    START,
    STOP,
    Drive,
    Refused,
    Service,
)

from spekctl.drive.model import Model, Zone

Core = tuple[Any, Any]
US = 1000
MS = 10**6
S = 10**9
EIO, EBUSY, EINVAL, EOPNOTSUPP = 5, 16, 22, 95
DISK = Model("none", 1, (Zone(0, 1, 8, 0, 0),), ((1, MS),), 8_000_000_000)
NO_PAGE = 2**32 - 1
# 4 channels, 4 KiB pages, 1,024 logical pages of 1,280: 75 us to read, 250 us to program.
FLASH = {
    "flash.channels": 4,
    "flash.page_sectors": 8,
    "flash.block_pages": 16,
    "flash.blocks": 20,
    "flash.low_blocks": 2,
    "flash.sectors": 1024 * 8,
    "flash.read_ns": 50 * US,
    "flash.program_ns": 225 * US,
    "flash.erase_ns": 2 * MS,
    "flash.sector_ps": 25_000 * 1000 // 8,  # 25 us per page
    "cache.hit_ns": 5 * US,
}
READ_NS, PROGRAM_NS = 75 * US, 250 * US
BUFFER = {"cache.write_sectors": 64, "cache.sector_ps": 1_000_000}
PHASES = [0, 0, 0, 300_001, 900_007, 500_003]


def flash(core: Core, **more: object) -> Drive:
    return Drive(core, DISK, fields={**FLASH, "watts.phase": PHASES, **more})


def drain(drive: Drive, now_ns: int) -> tuple[list[Service], int]:
    """Serve everything: what ended, and the time of the last event."""
    ended: list[Service] = []
    while True:
        while drive.start(now_ns) is not None:
            pass
        if drive.next_ns() == NEVER:
            return ended, now_ns
        now_ns = max(now_ns, drive.next_ns())
        drive.account(now_ns)
        while (service := drive.finish(now_ns)) is not None:
            ended.append(service)


def serve_one(drive: Drive, now_ns: int, lba: int, sectors: int = 8, **request: Any) -> Service:
    assert drive.submit(now_ns, lba, sectors, **request) == 0
    (ended,), _ = drain(drive, now_ns)
    return ended


def fill(drive: Drive, now_ns: int = 0) -> int:
    """Write every page once, in order."""
    for lba in range(0, drive.sectors, 256):
        assert drive.submit(now_ns, lba, 256, write=True) == 0
    return drain(drive, now_ns)[1]


# ---- times ----


def test_a_page_is_read_and_programmed_in_the_times_given(core: Core) -> None:
    drive = flash(core)
    assert serve_one(drive, 0, 64).end_ns == 5 * US  # never written: the bus alone
    write = serve_one(drive, MS, 64, write=True)
    assert write.end_ns - write.start_ns == 5 * US + PROGRAM_NS
    read = serve_one(drive, 2 * MS, 64)
    assert read.end_ns - read.start_ns == 5 * US + READ_NS
    # half of a page is half a transfer, and to write it the remainder is read first
    half = serve_one(drive, 3 * MS, 64, 4)
    assert half.end_ns - half.start_ns == 5 * US + 62_500
    half = serve_one(drive, 4 * MS, 64, 4, write=True)
    assert half.end_ns - half.start_ns == 5 * US + 50 * US + 237_500


@pytest.mark.parametrize("pages", [1, 3, 4, 5, 8, 31])
def test_channels_work_side_by_side(core: Core, pages: int) -> None:
    drive = flash(core)
    fill(drive)
    read = serve_one(drive, 10**9, 0, 8 * pages)
    assert read.end_ns - read.start_ns == 5 * US + math.ceil(pages / 4) * READ_NS


def test_reads_of_one_channel_wait_for_each_other(core: Core) -> None:
    drive = flash(core)
    fill(drive)
    at_ns = 10**9
    for page in (0, 4, 8, 1):
        assert drive.submit(at_ns, 8 * page) == 0
    ended, _ = drain(drive, at_ns)
    times = sorted((service.lba // 8, service.end_ns - at_ns - 5 * US) for service in ended)
    assert times == [(0, READ_NS), (1, READ_NS), (4, 2 * READ_NS), (8, 3 * READ_NS)]


def test_a_sequential_fill_runs_at_the_speed_of_the_channels(core: Core) -> None:
    drive = flash(core)
    end_ns = fill(drive)
    assert end_ns == pytest.approx(1024 / 4 * PROGRAM_NS, abs=5 * US)
    assert (drive.c.flash.programmed, drive.c.flash.moved, drive.c.flash.erased) == (1024, 0, 0)


def test_a_request_larger_than_the_plan_is_planned_in_steps(core: Core) -> None:
    """Partial writes over a full drive alternate read and program on every channel."""
    drive = flash(core)
    fill(drive)
    source = random.Random(2)
    at_ns, spans = 10**10, 0
    for _ in range(250):
        assert drive.submit(at_ns, 8 * source.randrange(1024) + 1, 3, write=True) == 0
    while drive.start(at_ns) is not None:
        pass
    for channel in drive.c.flash.channels[0:4]:
        assert channel.length <= 64
        spans += channel.length
    assert spans > 60
    assert drive.c.flash.is_planning
    ended, _ = drain(drive, at_ns)
    assert len(ended) == 250
    check_map(drive)


# ---- planning in steps ----

UNLIMITED = 2**64 - 1


def start_all(drive: Drive, now_ns: int) -> None:
    while not drive.is_short and drive.start(now_ns) is not None:
        pass


def bring_up(drive: Drive, now_ns: int, steps: int, ended: list[Service]) -> None:
    """As the module does it: serve the events up to a time, each at its own, with so many steps."""
    drive.allow(steps)
    while not drive.is_short:
        at_ns = drive.next_ns()
        if at_ns > now_ns:
            drive.account(now_ns)
            return
        if (service := drive.finish(at_ns)) is not None:
            ended.append(service)
        else:
            drive.account(at_ns)
        start_all(drive, at_ns)


@given(
    requests=st.lists(
        st.tuples(
            st.sampled_from([0, 3 * US, 80 * US, MS, 20 * MS]),
            st.sampled_from(["write", "write", "write", "trim", "read", "flush"]),
            st.integers(0, 8191), st.integers(1, 3000), st.booleans(),
        ),
        max_size=30,
    ),
    steps=st.integers(1, 400), looks=st.integers(0, 3), buffer=st.booleans(),
)  # fmt: skip
def test_who_plans_in_steps_gets_the_same_times(
    core: Core,
    requests: list[tuple[int, str, int, int, bool]],
    steps: int,
    looks: int,
    buffer: bool,
) -> None:
    """Neither the lag of the drive at an arrival nor the number of its pauses changes a time."""
    drives = [flash(core, **(BUFFER if buffer else {})) for _ in range(2)]
    seen: list[list[Service]] = [[], []]
    for drive, allowed, ended in zip(drives, (UNLIMITED, steps), seen, strict=True):
        fill(drive)
        now_ns = 10**10
        for tag, (gap_ns, kind, lba, sectors, fua) in enumerate(requests):
            for look in range(looks):
                bring_up(drive, now_ns + gap_ns * (look + 1) // (looks + 1), allowed, ended)
            now_ns += gap_ns
            bring_up(drive, now_ns, allowed, ended)
            if kind == "flush":
                lba = sectors = 0
            assert drive.submit(
                now_ns, lba, min(sectors, 8192 - lba), kind == "write", tag,
                fua=fua and kind == "write", flush=kind == "flush", trim=kind == "trim",
            ) == 0  # fmt: skip
            start_all(drive, now_ns)
        now_ns += 10**12
        while not ended or drive.is_short or drive.next_ns() != NEVER:
            bring_up(drive, now_ns, allowed, ended)
            if not requests:
                break
        check_map(drive)
    assert seen[0] == seen[1]
    assert sorted(service.tag for service in seen[0]) == list(range(len(requests)))
    assert drives[0].account(now_ns) == drives[1].account(now_ns)


def test_a_call_takes_no_more_than_its_steps(core: Core) -> None:
    """A page that is placed takes 16, one that is only looked at takes 1: one page more at most."""
    block, steps = 4096, 160
    drive = flash(
        core,
        **{
            "flash.channels": 1, "flash.block_pages": block, "flash.blocks": 7,
            "flash.sectors": 8 * 2 * block, "flash.page_sectors": 8,
        },
    )  # fmt: skip
    c, now_ns = drive.c.flash, 10**12
    source = random.Random(7)
    for _ in range(600):
        lba = 8 * source.randrange(2 * block - 64)
        assert drive.submit(now_ns, lba, 8 * 64, write=True) == 0
        drain(drive, now_ns)
        now_ns += 10**12
    assert c.moved and c.erased
    placed, looked, erased, calls = 0, 0, c.erased, 0
    assert drive.submit(now_ns, 0, 8 * 2 * block, write=True) == 0
    drive.allow(steps)
    start_all(drive, now_ns)
    while drive.is_short:
        before, page = c.programmed + c.moved, c.victim_page if c.is_collecting else 0
        drive.allow(steps)
        start_all(drive, now_ns)
        placed = max(placed, c.programmed + c.moved - before)
        if c.is_collecting and page:
            looked = max(looked, c.victim_page - page)
        calls += 1
    assert c.erased > erased
    assert calls > 2 * block * 16 / steps
    assert 0 < placed <= steps // 16 + block * (c.erased - erased)
    assert 0 < looked <= steps
    check_map(drive)


@pytest.mark.parametrize("event", [SLEEP, STOP])
def test_a_flush_starts_nothing(core: Core, event: int) -> None:
    drive = flash(core, **BUFFER, **{"watts.starting_ns": MS, "watts.stopping_ns": MS})
    now_ns = fill(drive)
    assert drive.command(now_ns, event) == 0
    if event == SLEEP:
        # On the way to standby and there, also for a drive that is short of steps.
        for at_ns in (now_ns + MS // 2, now_ns + 10 * MS):
            drive.account(at_ns)
            drive.allow(0)
            assert drive.submit(at_ns, 0, 0, flush=True) == 0
            drive.allow(UNLIMITED)
            assert drive.next_ns() == at_ns
            ended = drain(drive, at_ns)[0]
            assert [service.end_ns for service in ended] == [at_ns + 5 * US]
        assert drive.condition == STANDBY
        # In the order of arrival: a read before it starts the drive for both.
        assert [drive.submit(now_ns + S, 0), drive.submit(now_ns + S, 0, 0, flush=True)] == [0, 0]
        ends = {service.flush: service.end_ns for service in drain(drive, now_ns + S)[0]}
        assert min(ends.values()) >= now_ns + S + MS
        assert drive.account(now_ns + 2 * S).starts == 1
    else:
        drive.account(now_ns + MS)
        assert drive.submit(now_ns + MS, 0, 0, flush=True) == -EIO
    # One that was taken back is not counted any more.
    assert drive.c.flushes == 0
    drive.command(now_ns + 3 * S, STOP)
    drive.account(now_ns + 4 * S)
    assert drive.command(now_ns + 4 * S, START) == 0
    assert drive.submit(now_ns + 4 * S, 0) == 0
    assert drive.submit(now_ns + 4 * S, 0, 0, flush=True, tag=7) == 0
    assert drive.abort(now_ns + 4 * S, 7)
    assert drive.c.flushes == 0


@pytest.mark.parametrize("steps", [1, 40, 300, UNLIMITED])
def test_a_power_cut_drops_plans_and_keeps_the_map(core: Core, steps: int) -> None:
    """Also in the middle of a collection."""
    drive = flash(core, **BUFFER)
    now_ns, source = fill(drive), random.Random(steps)
    for _ in range(60):
        for tag in range(20):
            lba = 8 * source.randrange(1024 - 8)
            assert drive.submit(now_ns, lba, 8 * source.randint(1, 8), write=True, tag=tag) == 0
        drive.allow(steps)
        for _ in range(source.randrange(80)):
            start_all(drive, now_ns)
            drive.allow(steps)
        drive.fault(now_ns, POWER_CUT)
        idle_ns = drive.account(now_ns + MS).phase_ns
        assert drive.account(now_ns + 2 * MS).phase_ns == idle_ns
        drive.allow(UNLIMITED)
        now_ns += 3 * MS
        drive.clear_faults(now_ns)
        assert drain(drive, now_ns) == ([], now_ns)
        check_map(drive)
        # Nothing is in the buffer, nor in the way of a read.
        flush = serve_one(drive, now_ns, 0, 0, flush=True)
        assert flush.end_ns - flush.start_ns == 5 * US
        read = serve_one(drive, flush.end_ns, 0)
        assert read.end_ns - read.start_ns == 5 * US + READ_NS + 8 * US
        now_ns = read.end_ns
    assert fill(drive, now_ns) > now_ns
    check_map(drive)


def test_tables_are_made_in_pieces() -> None:
    """Others run between them: the largest have some GiB."""
    yields = ROOT / "tests/unit/core/yields.h"
    library = CORE.build(
        "libyields.so", [*LIBRARY, "-include", str(yields)], [SHIM, SHIM.with_suffix(".h"), yields]
    )
    declared = CORE.declarations(SHIM.with_suffix(".h")) + "\nextern unsigned long yields;"
    counting = opened(declared, library)
    blocks = 1 << 18
    fields = {"flash.blocks": blocks, "flash.sectors": 8 * (1 << 20), "flash.channels": 1}
    drive = flash(counting, **fields)
    table_bytes = 4 * ((1 << 20) + 16 * blocks)
    assert counting[1].yields >= table_bytes // (1 << 20) + blocks // (1 << 16)
    assert drive.c.flash.map[(1 << 20) - 1] == drive.c.flash.owner[16 * blocks - 1] == NO_PAGE
    assert serve_one(drive, 0, 0, write=True).error == GOOD


# ---- the translation layer ----


def check_map(drive: Drive, written: set[int] | None = None) -> None:
    """Logical pages and pages point at each other; blocks count their valid pages; no block is
    lost."""
    c, rule = drive.c.flash, drive.c_model.flash
    logical = rule.sectors // rule.page_sectors
    mapped = {page: c.map[page] for page in range(logical) if c.map[page] != NO_PAGE}
    if written is not None:
        assert set(mapped) == written
    physical = rule.blocks * rule.block_pages
    for page, place in mapped.items():
        assert c.owner[page % rule.channels * physical + place] == page
    owned = sum(c.owner[i] != NO_PAGE for i in range(physical * rule.channels))
    assert owned == len(mapped)
    for channel in range(rule.channels):
        places = [place for page, place in mapped.items() if page % rule.channels == channel]
        held = [0] * rule.blocks
        for place in places:
            held[place // rule.block_pages] += 1
        state = c.channels[channel]
        nr_free = state.nr_free
        free = {c.free[channel * rule.blocks + i] for i in range(nr_free)}
        assert len(free) == nr_free >= 1
        assert state.open_valid == held[state.open_block]
        for block in range(rule.blocks):
            is_closed = block not in free and block != state.open_block
            assert state.closed.level[0][block] == (held[block] if is_closed else 0xFFFF)


@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["write", "write", "write", "trim", "read"]),
            st.integers(0, 8191), st.integers(1, 3000),
        ),
        max_size=30,
    ),
    channels=st.sampled_from([1, 3, 4]),
)  # fmt: skip
def test_every_page_is_where_it_was_written_last(
    core: Core, steps: list[tuple[str, int, int]], channels: int
) -> None:
    blocks = -(-1024 // channels // 16) + 5
    more = {"flash.channels": channels, "flash.blocks": blocks}
    drive = flash(core, **more)
    written: set[int] = set()
    now_ns, sent, ended = 0, 0, 0
    for kind, lba, sectors in steps:
        sectors = min(sectors, 8192 - lba)
        assert drive.submit(now_ns, lba, sectors, kind == "write", trim=kind == "trim") == 0
        done, now_ns = drain(drive, now_ns)
        ended += len(done)
        sent += 1
        end = lba + sectors
        if kind == "write":
            written |= set(range(lba // 8, (end - 1) // 8 + 1))
        elif kind == "trim":
            written -= set(range(-(-lba // 8), end // 8))
        check_map(drive, written)
    assert ended == sent
    check_account(drive, now_ns, channels)


def check_account(drive: Drive, now_ns: int, channels: int) -> None:
    account = drive.account(now_ns)
    assert sum(account.condition_ns) == now_ns
    assert sum(account.phase_ns) == now_ns * channels
    expected = sum(uw * ns for uw, ns in zip(PHASES, account.phase_ns, strict=True))
    assert sum(account.fj) == expected
    c = drive.c.flash
    assert account.phase_ns[5] == c.erased * 2 * MS


def overwrite(drive: Drive, now_ns: int, writes: int, seed: int) -> tuple[float, float, int]:
    """Random writes at depth 32: pages per second, programs per page written, the time."""
    source = random.Random(seed)
    c = drive.c.flash
    programmed, moved, begin_ns = c.programmed, c.moved, now_ns
    pages = drive.sectors // 8
    for _ in range(32):
        assert drive.submit(now_ns, 8 * source.randrange(pages), 8, write=True) == 0
    sent = 32
    while sent < writes:
        while drive.start(now_ns) is not None:
            pass
        now_ns = drive.next_ns()
        while drive.finish(now_ns) is not None:
            assert drive.submit(now_ns, 8 * source.randrange(pages), 8, write=True) == 0
            sent += 1
    _, now_ns = drain(drive, now_ns)
    own = c.programmed - programmed
    return own / (now_ns - begin_ns) * 1e9, (own + c.moved - moved) / own, now_ns


def fifo_amplification(spare: float) -> float:
    """Of collecting the oldest block first under uniform writes: A = 1 / (1 - u) where the share u
    still valid solves u = exp(-(1 + spare) (1 - u)). Choosing the emptiest block is better."""
    low, high = 0.0, 0.999999
    for _ in range(100):
        middle = (low + high) / 2
        if math.exp(-(1 + spare) * (1 - middle)) > middle:
            low = middle
        else:
            high = middle
    return 1 / (1 - low)


def test_writes_fall_off_a_cliff_and_trimming_brings_them_back(core: Core) -> None:
    drive = flash(core)
    now_ns = fill(drive)
    # spare blocks first: 4 channels of 250 us
    fresh, amplification, now_ns = overwrite(drive, now_ns, 100, 1)
    assert amplification == 1
    _, _, now_ns = overwrite(drive, now_ns, 4000, 2)
    steady, amplification, now_ns = overwrite(drive, now_ns, 8000, 3)
    # of 20 blocks 16 hold the data, 2 are kept free and 1 is open
    assert 1.3 < amplification < fifo_amplification((20 - 2) / 16 - 1)
    assert steady < 0.5 * fresh
    assert serve_one(drive, now_ns, 0, drive.sectors, trim=True).end_ns == now_ns + 5 * US
    again, amplification, now_ns = overwrite(drive, now_ns + MS, 200, 4)
    assert amplification == 1
    # blocks have to be erased still, with nothing in them to move
    assert again > 1.5 * steady
    check_account(drive, now_ns, 4)
    check_map(drive)


@pytest.mark.parametrize("spare_blocks", [4, 6, 10])
def test_more_spare_blocks_amplify_less(core: Core, spare_blocks: int) -> None:
    drive = flash(core, **{"flash.blocks": 16 + spare_blocks})
    _, _, now_ns = overwrite(drive, fill(drive), 4000, 2)
    _, amplification, _ = overwrite(drive, now_ns, 6000, 3)
    bound = fifo_amplification((16 + spare_blocks - 2) / 16 - 1)
    assert 0.5 * bound < amplification < bound


# ---- buffer ----


def test_buffered_writes_end_at_bus_time_while_there_is_room(core: Core) -> None:
    drive = flash(core, **BUFFER)
    bus_ns = 5 * US + 8 * US
    for page in range(9):
        assert drive.submit(0, 8 * page, 8, write=True) == 0
    ended, _ = drain(drive, 0)
    ends = sorted((service.end_ns, service.lba // 8) for service in ended)
    assert ends[:8] == [(bus_ns, page) for page in range(8)]
    # the ninth has the room of the first page that is programmed
    assert ends[8] == (bus_ns + PROGRAM_NS + bus_ns, 8)


def test_a_flush_ends_when_all_is_programmed(core: Core) -> None:
    drive = flash(core, **BUFFER)
    assert drive.submit(0, 0, 64, write=True) == 0
    assert drive.submit(0, 0, 0, flush=True) == 0
    ended, _ = drain(drive, 0)
    write, flush = sorted(ended, key=lambda service: service.end_ns)
    assert write.end_ns == 5 * US + 64 * US
    assert flush.end_ns == write.end_ns + 2 * PROGRAM_NS
    assert serve_one(drive, MS, 0, 0, flush=True).end_ns == MS + 5 * US


def test_forced_and_oversized_writes_end_when_they_are_programmed(core: Core) -> None:
    drive = flash(core, **BUFFER)
    assert serve_one(drive, 0, 0, 8, write=True, fua=True).end_ns == 13 * US + PROGRAM_NS
    large = serve_one(drive, MS, 0, 72, write=True)
    assert large.end_ns - large.start_ns == 5 * US + 72 * US + 3 * PROGRAM_NS


# ---- the drive around it ----


def test_a_busy_drive_does_not_stop(core: Core) -> None:
    drive = flash(core, **BUFFER)
    assert drive.submit(0, 0, 8, write=True) == 0
    assert drive.start(0) is not None
    assert drive.finish(drive.next_ns()) is not None
    # accepted, but not programmed: the next event is the end of that
    assert [drive.command(14 * US, event) for event in (SLEEP, STOP)] == [-EBUSY] * 2
    assert drive.next_ns() == 13 * US + PROGRAM_NS
    assert drive.command(drive.next_ns(), SLEEP) == 0


def test_power_integrates_to_energy(core: Core) -> None:
    drive = flash(core)
    end_ns = fill(drive)
    overwrite(drive, end_ns, 2000, 1)
    drive.account(begin_ns := int(drive.c.accounted_ns))
    before = drive.account(begin_ns).fj[0]
    for page in range(40):
        assert drive.submit(begin_ns, 64 * page + 3, 4, write=page % 2 == 0) == 0
    while drive.start(begin_ns) is not None:
        pass
    edges = {begin_ns}
    for channel in drive.c.flash.channels[0:4]:
        for i in range(channel.length):
            span = channel.plan[(channel.first + i) % 64]
            edges |= {span.begin_ns, span.end_ns}
    total = 0
    ordered = sorted(edges)
    for left, right in pairwise(ordered):
        power = drive.power_uw(0, left)
        assert drive.power_uw(0, right - 1) == power
        total += power * (right - left)
    assert drive.account(ordered[-1]).fj[0] - before == total > 0


def test_bad_sectors_of_flash(core: Core) -> None:
    drive = flash(core)
    drive.fault(0, MEDIUM_FAULT, 100)
    bad = serve_one(drive, 0, 96, 8)
    assert (bad.error, bad.error_lba) == (MEDIUM_ERROR, 100)
    assert serve_one(drive, MS, 96, 8, write=True).error == GOOD
    assert serve_one(drive, 2 * MS, 96, 8).error == GOOD


def test_a_disk_has_nothing_to_trim(core: Core) -> None:
    assert Drive(core, DISK).submit(0, 0, 8, trim=True) == -EOPNOTSUPP
    assert flash(core).submit(0, 0, 8, write=True, trim=True) == -EINVAL


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"flash.channels": 33}, "1 to 32 channels"),
        ({"flash.page_sectors": 0}, "1 to 256"),
        ({"flash.page_sectors": 257}, "1 to 256"),
        ({"flash.block_pages": 0}, "1 to 32768"),
        ({"flash.block_pages": 32769}, "1 to 32768"),
        ({"flash.low_blocks": 1}, "at least 2"),
        ({"flash.sectors": 0}, "pages"),
        ({"flash.sectors": 2**34}, "pages"),
        ({"flash.blocks": 2**30}, "pages"),
        ({"flash.blocks": 19}, "two more"),
        ({"flash.read_ns": 0}, "1 ns to 1 s"),
        ({"flash.program_ns": 10**9 + 1}, "1 ns to 1 s"),
        ({"flash.erase_ns": 0}, "1 ns to 1 s"),
        ({"flash.sector_ps": 10**9 + 1}, "1 ns to 1 s"),
        ({"cache.segments": 1, "cache.segment_sectors": 8}, "no read segments"),
    ],
)
def test_refuses_flash(core: Core, fields: dict[str, int], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        flash(core, **fields)
