"""Faults on demand: bad sectors, a slow head, failed arms, a slow spindle, a drive that is gone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.drivecore import (
    ACTIVE,
    ARM_FAULT,
    BUS,
    GONE,
    GOOD,
    MEDIUM_ERROR,
    MEDIUM_FAULT,
    NEVER,
    NO_ARM,
    NO_FLUSH,
    POWER_CUT,
    SLEEP,
    SLOW_HEAD,
    SLOW_START,
    START,
    STARTING,
    STOP,
    TORN,
    VOLATILE,
    WRITE_ERROR,
    WRITE_FAULT,
    Drive,
    Refused,
    Service,
)

from spekctl.drive.file import load
from spekctl.drive.model import Model, Zone

Core = tuple[Any, Any]
MS = 10**6
S = 10**9
ENODEV = 19
ES = load("barracuda-es")
CHEETAH = load("cheetah9lp")
SMALL = Model("small", 2, (Zone(0, 100, 1000, 0, 0),), ((1, MS),), 8_000_000_000)
WRITES = {"cache.write_sectors": 4096}


def drain(drive: Drive, now_ns: int) -> list[Service]:
    """Serve everything."""
    ended: list[Service] = []
    while True:
        while drive.start(now_ns) is not None:
            pass
        if drive.next_ns() == NEVER:
            return ended
        now_ns = drive.next_ns()
        while (service := drive.finish(now_ns)) is not None:
            ended.append(service)


# ---- bad sectors ----


@given(
    bad=st.integers(0, 63), length=st.integers(1, 8), first=st.integers(0, 63),
    sectors=st.integers(1, 64),
)  # fmt: skip
def test_an_access_ends_at_the_first_bad_sector(
    core: Core, bad: int, length: int, first: int, sectors: int
) -> None:
    """After the time up to that sector and the retries; all others are not touched."""
    drive, good = Drive(core, SMALL), Drive(core, SMALL)
    drive.fault(0, MEDIUM_FAULT, bad, length, delay_ns=50 * MS)
    read = drive.serve(0, first, sectors)
    met = [lba for lba in range(first, first + sectors) if bad <= lba < bad + length]
    if not met:
        assert read == good.serve(0, first, sectors)
        return
    assert (read.error, read.error_lba) == (MEDIUM_ERROR, met[0])
    expected = good.serve(0, first, met[0] - first + 1)
    assert read.transfer_ns == expected.transfer_ns + 50 * MS
    assert read.end_ns == expected.end_ns + 50 * MS


@given(
    ranges=st.lists(st.tuples(st.integers(0, 200), st.integers(1, 60)), min_size=1, max_size=4),
    writes=st.lists(st.tuples(st.integers(0, 200), st.integers(1, 60)), max_size=6),
)
def test_written_sectors_can_be_read_again(
    core: Core, ranges: list[tuple[int, int]], writes: list[tuple[int, int]]
) -> None:
    drive = Drive(core, SMALL)
    bad = set()
    for lba, sectors in ranges:
        drive.fault(0, MEDIUM_FAULT, lba, sectors)
        bad |= set(range(lba, lba + sectors))
    now_ns = 0
    for lba, sectors in writes:
        now_ns = drive.serve(now_ns, lba, sectors, write=True).end_ns
        bad -= set(range(lba, lba + sectors))
    for lba in range(270):
        service = drive.serve(now_ns, lba, 1)
        now_ns = service.end_ns
        assert (service.error == MEDIUM_ERROR) == (lba in bad)


def test_writes_of_bad_sectors_fail_and_reads_do_not(core: Core) -> None:
    drive = Drive(core, SMALL)
    drive.fault(0, WRITE_FAULT, 100)
    write = drive.serve(0, 96, 8, write=True)
    assert (write.error, write.error_lba) == (WRITE_ERROR, 100)
    assert drive.serve(write.end_ns, 96, 8).error == GOOD
    drive.clear_faults(write.end_ns)
    assert drive.serve(write.end_ns, 96, 8, write=True).error == GOOD


def test_a_failed_destage_fails_the_next_flush_and_no_other(core: Core) -> None:
    drive = Drive(core, SMALL, fields=WRITES)
    drive.fault(0, WRITE_FAULT, 100)
    assert drive.submit(0, 96, 8, write=True, tag=1) == 0
    assert [service.error for service in drain(drive, 0)] == [GOOD]
    assert drive.account(S).lost == 1
    assert [drive.submit(S, 0, 0, flush=True, tag=tag) for tag in (2, 3)] == [0, 0]
    assert [(service.tag, service.error) for service in drain(drive, S)] == [
        (2, WRITE_ERROR),
        (3, GOOD),
    ]


def test_reads_ahead_up_to_a_bad_sector_and_keeps_none_of_a_failed_read(core: Core) -> None:
    fields = {"cache.segments": 2, "cache.segment_sectors": 512, "cache.ahead_sectors": 256}
    drive = Drive(core, SMALL, fields=fields)
    drive.fault(0, MEDIUM_FAULT, 20)
    assert drive.submit(0, 0) == 0
    assert len(drain(drive, 0)) == 1
    assert drive.account(S).ahead_sectors == 12
    for error in (MEDIUM_ERROR, MEDIUM_ERROR):
        assert drive.submit(S, 12, 16) == 0
        (failed,) = drain(drive, S)
        assert (failed.arm, failed.error, failed.error_lba) == (0, error, 20)


# ---- a slow head ----


def test_accesses_of_a_slow_head_start_later(core: Core) -> None:
    drive, good = Drive(core, SMALL), Drive(core, SMALL)
    drive.fault(0, SLOW_HEAD, number=1, delay_ns=3 * MS)
    assert drive.serve(0, 500) == good.serve(0, 500)
    at_ns = 20 * MS
    slow, plain = drive.serve(at_ns, 1500), good.serve(at_ns + 3 * MS, 1500)
    assert slow.overhead_ns == 3 * MS
    assert slow.end_ns == plain.end_ns


def test_the_slowest_head_of_those_that_transfer_together_counts(core: Core) -> None:
    fields = {"mechanics.geometry.surfaces": 2}
    drive = Drive(core, SMALL, fields=fields)
    drive.fault(0, SLOW_HEAD, number=0, delay_ns=MS)
    drive.fault(0, SLOW_HEAD, number=1, delay_ns=3 * MS)
    assert drive.serve(0, 500).overhead_ns == 3 * MS


# ---- arms ----


def test_a_failed_arm_draws_nothing_and_serves_nothing(core: Core) -> None:
    drive = Drive(core, replace(ES.with_arms(4), channels=4), "sptf")
    idle_uw = sum(drive.power_uw(rail, 0) for rail in (0, 1))
    drive.fault(0, ARM_FAULT, number=2)
    assert sum(drive.power_uw(rail, 0) for rail in (0, 1)) == idle_uw - ES.watts.hold
    for n in range(40):
        assert drive.submit(0, 36_000_000 * n) == 0
    ended = drain(drive, 0)
    assert len(ended) == 40
    assert {service.arm for service in ended} == {0, 1, 3}
    assert all(service.error == GOOD for service in ended)


def test_an_arm_that_fails_ends_its_access(core: Core) -> None:
    drive = Drive(core, ES.with_arms(2), "sptf")
    assert [drive.submit(0, lba) for lba in (0, 8)] == [0, 0]
    service = drive.start(0)
    assert service is not None
    drive.fault(1, ARM_FAULT, number=service.arm)
    assert drive.finish(service.end_ns) == service
    (remaining,) = drain(drive, service.end_ns)
    assert remaining.arm == 1 - service.arm


@pytest.mark.parametrize(
    ("fields", "stacks"),
    [({"split": True}, 1), ({}, 1), ({}, 2), ({}, 4), ({"split": True}, 2)],
    ids=["split", "shared", "pairs", "stacks", "split-pairs"],
)
def test_sectors_that_only_one_arm_reaches(core: Core, fields: dict[str, Any], stacks: int) -> None:
    drive = Drive(core, replace(SMALL.with_arms(4), stacks=stacks, channels=4, **fields))
    alone = bool(fields) or stacks == 4
    for arm in range(4):
        assert drive.sole_sectors(arm) == (drive.part(arm)[1] if alone else 0)
    # Once the other arms of its stack are gone, nobody else reaches the part of the last one.
    per_stack = 4 // stacks
    for arm in range(per_stack - 1):
        drive.fault(0, ARM_FAULT, number=arm)
    last = per_stack - 1
    assert drive.sole_sectors(last) == drive.part(last)[1] > 0
    assert drive.sole_sectors(3) == (drive.part(3)[1] if alone or stacks == 1 else 0)
    drive.restore_arms(0)
    assert drive.sole_sectors(last) == (drive.part(last)[1] if alone else 0)


def test_arms_are_restored_and_other_faults_remain(core: Core) -> None:
    drive = Drive(core, replace(ES.with_arms(2), split=True, channels=2))
    drive.fault(0, MEDIUM_FAULT, lba=8)
    drive.fault(0, ARM_FAULT, number=1)
    drive.fault(0, ARM_FAULT, number=0)
    assert drive.submit(0, 8, 8) == 0
    assert drain(drive, 0)[0].error == NO_ARM
    drive.restore_arms(S)
    assert [drive.submit(S, lba, 8, tag=lba) for lba in (8, 1_400_000_000)] == [0, 0]
    ended = {access.tag: (access.error, access.arm) for access in drain(drive, S)}
    assert ended == {8: (MEDIUM_ERROR, 0), 1_400_000_000: (GOOD, 1)}


@pytest.mark.parametrize("write", [False, True])
def test_requests_that_no_arm_reaches_fail_at_once(core: Core, write: bool) -> None:
    model = replace(ES.with_arms(2), split=True, channels=2)
    drive = Drive(core, model)
    drive.fault(0, ARM_FAULT, number=1)
    assert [drive.submit(0, lba, 8, write, tag=lba) for lba in (8, 1_400_000_000)] == [0, 0]
    ended = {service.tag: service for service in drain(drive, 0)}
    assert (ended[8].error, ended[8].arm) == (GOOD, 0)
    assert (ended[1_400_000_000].error, ended[1_400_000_000].arm) == (NO_ARM, BUS)
    assert ended[1_400_000_000].end_ns == 1
    # it works again once the fault is cleared, also for what waits
    assert drive.submit(S, 1_400_000_000, 8, write) == 0
    drive.clear_faults(S)
    (later,) = drain(drive, S)
    assert (later.error, later.arm) == (GOOD, 1)


def test_written_data_that_no_arm_reaches_is_lost(core: Core) -> None:
    drive = Drive(core, SMALL, fields=WRITES)
    assert drive.submit(0, 96, 8, write=True) == 0
    assert drive.start(0) is not None
    assert drive.finish(drive.next_ns()) is not None
    drive.fault(1, ARM_FAULT, number=0)
    assert drive.submit(1, 0, 0, flush=True) == 0
    (flush,) = drain(drive, 1)
    assert (flush.error, drive.account(S).lost, drive.c.cache.dirty_sectors) == (WRITE_ERROR, 1, 0)
    assert drive.command(S, STOP) == 0


# ---- spindle and drive ----


@pytest.mark.parametrize("number", [0, 3])
def test_a_slow_start_takes_longer(core: Core, number: int) -> None:
    """Whatever its number, which is that of a head or arm."""
    drive = Drive(core, ES)
    drive.fault(0, SLOW_START, number=number, delay_ns=7 * S)
    assert drive.command(0, SLEEP) == 0
    drive.account(60 * S)
    assert drive.command(60 * S, START) == 0
    assert drive.next_ns() == (60 + 10 + 7) * S


def test_a_drive_that_is_gone_does_not_answer(core: Core) -> None:
    drive = Drive(core, ES)
    assert [drive.submit(0, lba, tag=lba) for lba in (8, 16)] == [0, 0]
    service = drive.start(0)
    assert service is not None
    drive.fault(1, GONE)
    assert drive.submit(2, 24) == -ENODEV
    assert drive.command(2, START) == -ENODEV
    assert drive.next_ns() == NEVER
    assert drive.finish(S) is None
    assert drive.start(S) is None
    # what waits can be taken back, what is in service can't
    assert [drive.abort(S, tag) for tag in (8, 16, 16)] == [False, True, False]
    drive.clear_faults(S)
    # the owner's time does not go back
    assert drive.next_ns() == S
    assert drive.finish(S) == replace(service, end_ns=S)


FLASH = {
    **{"flash.channels": 1, "flash.page_sectors": 8, "flash.block_pages": 1, "flash.blocks": 300},
    **{"flash.low_blocks": 2, "flash.sectors": 8 * 256},
    **{"flash.read_ns": MS, "flash.program_ns": MS, "flash.erase_ns": MS},
}


def test_flash_that_was_gone_plans_nothing_for_the_past(core: Core) -> None:
    """Its plan would be full of it for ever, and the next event never come."""
    drive = Drive(core, SMALL, fields=FLASH)
    for page in range(256):
        assert drive.submit(0, 8 * page, write=True, tag=page) == 0
    drain(drive, 0)
    for tag in range(200):
        assert drive.submit(S, 8 * (tag * 7 % 256), 1, write=True, tag=tag) == 0
        if tag < 10:
            assert drive.start(S) is not None
    drive.fault(S, GONE)
    drive.account(10 * S)
    drive.clear_faults(11 * S)
    assert drive.next_ns() == 11 * S
    ended = drain(drive, 11 * S)
    assert sorted(service.tag for service in ended) == list(range(200))
    assert all(service.start_ns >= 11 * S for service in ended[10:])


def test_a_power_cut_is_gone_and_a_volatile_cache_is_not(core: Core) -> None:
    drive = Drive(core, SMALL)
    drive.fault(0, VOLATILE)
    drive.fault(0, NO_FLUSH)
    drive.fault(0, TORN)
    assert drive.submit(0, 8) == 0
    drive.fault(1, POWER_CUT)
    assert drive.submit(2, 24) == -ENODEV
    drive.clear_faults(3)
    assert drive.submit(4, 24) == 0


def cut_power(drive: Drive, from_ns: int, to_ns: int) -> None:
    drive.fault(from_ns, POWER_CUT)
    drive.clear_faults(to_ns)


def test_a_drive_without_power_draws_none_and_starts_with_it(core: Core) -> None:
    """One that is gone for another reason turns and draws as before."""
    drive, gone = Drive(core, ES), Drive(core, ES)
    drive.fault(S, POWER_CUT)
    gone.fault(S, GONE)
    before = drive.account(S)
    assert [drive.power_uw(rail, S) for rail in (0, 1)] == [0, 0]
    assert all(gone.power_uw(rail, S) for rail in (0, 1))
    assert drive.account(100 * S) == before
    assert gone.account(100 * S).condition_ns[ACTIVE] == 100 * S
    assert gone.account(100 * S).fj == tuple(100 * fj for fj in before.fj)
    for one in (drive, gone):
        one.clear_faults(100 * S)
        assert one.submit(100 * S, 0) == 0
    assert [one.condition for one in (drive, gone)] == [STARTING, ACTIVE]
    (late,), (early,) = drain(drive, 100 * S), drain(gone, 100 * S)
    assert early.start_ns == 100 * S
    starting_ns = ES.watts.starting_ns
    assert late.start_ns == 100 * S + starting_ns
    account = drive.account(200 * S)
    assert (account.starts, account.condition_ns[STARTING]) == (1, starting_ns)
    assert sum(account.condition_ns) == 200 * S - 99 * S


def test_a_power_cut_empties_queue_and_cache(core: Core) -> None:
    fields = {**WRITES, "cache.segments": 2, "cache.segment_sectors": 512}
    drive = Drive(core, SMALL, fields=fields)
    assert drive.submit(0, 0) == 0
    now_ns = drain(drive, 0)[0].end_ns
    for lba in (1000, 2000, 3000):
        assert drive.submit(now_ns, lba, 8, write=True) == 0
        assert drive.start(now_ns) is not None
        now_ns = drive.next_ns()
        assert drive.finish(now_ns) is not None
    assert [drive.submit(now_ns, lba, 8) for lba in (5000, 6000)] == [0, 0]
    assert drive.submit(now_ns, 0, 0, flush=True) == 0
    drive.start(now_ns)
    destages = drive.account(now_ns).destages
    cut_power(drive, now_ns, S)
    assert drain(drive, S) == []
    # A flush has nothing to wait for, what was read is read again, and nothing is destaged.
    assert drive.submit(S, 0, 0, flush=True) == 0
    assert drain(drive, S)[0].end_ns == S + 1
    assert drive.submit(2 * S, 0) == 0
    assert drain(drive, 2 * S)[0].arm == 0
    account = drive.account(3 * S)
    assert (account.hits, account.destages, drive.c.cache.dirty_sectors) == (0, destages, 0)
    assert drive.command(3 * S, STOP) == 0


# ---- properties ----


@given(data=st.data())
def test_everything_ends_and_adds_up_under_faults(core: Core, data: st.DataObject) -> None:
    """Whatever fails: each request ends once, not before its mechanics allow."""
    arms = data.draw(st.integers(1, 4))
    model = replace(CHEETAH.with_arms(arms), watts=ES.watts, split=data.draw(st.booleans()))
    cached = data.draw(st.sampled_from([{}, {**WRITES, "cache.segments": 3,
        "cache.segment_sectors": 900, "cache.ahead_sectors": 300}]))  # fmt: skip
    drive = Drive(core, model, "sptf", max_wait_ns=200 * MS, fields=cached)
    now_ns, sent, ended = 0, 0, []
    for _ in range(data.draw(st.integers(1, 12))):
        step = data.draw(st.sampled_from(["submit", "submit", "fault", "clear", "event", "wait"]))
        if step == "submit":
            lba = data.draw(st.sampled_from([0, 8, 500, 9_000_000, 17_000_000]))
            sectors = data.draw(st.integers(1, 700))
            write = data.draw(st.booleans())
            sent += drive.submit(now_ns, lba, sectors, write, tag=sent) == 0
        elif step == "fault":
            drive.fault(
                now_ns, data.draw(st.sampled_from([0, 1, 2, 3, 4])),
                data.draw(st.sampled_from([0, 100, 9_000_003])), data.draw(st.integers(1, 600)),
                data.draw(st.integers(0, arms - 1)), data.draw(st.integers(0, 40)) * MS,
            )  # fmt: skip
        elif step == "clear":
            drive.clear_faults(now_ns)
        elif step == "wait":
            now_ns += data.draw(st.integers(0, 20 * MS))
        elif drive.next_ns() != NEVER:
            now_ns = max(now_ns, drive.next_ns())
        while (service := drive.finish(now_ns)) is not None:
            ended.append(service)
        while drive.start(now_ns) is not None:
            pass
    ended += drain(drive, now_ns)
    assert sorted(service.tag for service in ended) == list(range(sent))
    period_ns = model.period_ps // 1000
    for access in ended:
        assert access.start_ns >= access.arrival_ns
        parts = (access.overhead_ns, access.seek_ns, access.rotate_ns, access.transfer_ns)
        assert access.end_ns == access.start_ns + sum(parts) > access.start_ns
        if access.arm != BUS and not access.error and not cached:
            assert access.transfer_ns >= access.sectors * period_ns // 254 - 5
    end_ns = int(drive.c.accounted_ns)
    account = drive.account(end_ns)
    assert sum(account.condition_ns) == end_ns
    assert sum(account.phase_ns) == end_ns * arms


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"kind": TORN + 1}, "no fault of this kind"),
        ({"kind": MEDIUM_FAULT, "lba": 200_000}, "exceed the capacity"),
        ({"kind": WRITE_FAULT, "lba": 199_999, "sectors": 2}, "exceed the capacity"),
        ({"kind": SLOW_HEAD, "number": 2}, "no arm or head"),
        ({"kind": ARM_FAULT, "number": 1}, "no arm or head"),
        ({"kind": SLOW_START, "delay_ns": 601 * S}, "10 minutes"),
    ],
)
def test_refuses_a_fault(core: Core, fault: dict[str, int], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        Drive(core, SMALL).fault(0, **fault)


def test_refuses_more_than_64_faults(core: Core) -> None:
    drive = Drive(core, SMALL)
    for n in range(64):
        drive.fault(0, MEDIUM_FAULT, 2 * n)
    with pytest.raises(Refused, match="up to 64"):
        drive.fault(0, MEDIUM_FAULT, 200)
