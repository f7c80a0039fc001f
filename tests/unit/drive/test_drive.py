"""A drive as a whole: power conditions, exact energies, residencies, events in order."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.drivecore import (
    ACTIVE,
    MEDIA,
    NEVER,
    REACHED,
    SLEEP,
    STANDBY,
    START,
    STARTING,
    STOP,
    STOPPED,
    TO_STANDBY,
    TO_STOPPED,
    Drive,
    Refused,
    Service,
)

from spekctl.drive.file import load
from spekctl.drive.model import Model, Watts

Core = tuple[Any, Any]
S = 10**9
EBUSY, EIO = 16, 5
ES = load("barracuda-es")


# ---- power conditions ----

TABLE = {
    ACTIVE: {START: ACTIVE, SLEEP: TO_STANDBY, STOP: TO_STOPPED, MEDIA: ACTIVE},
    STANDBY: {START: STARTING, SLEEP: STANDBY, STOP: STOPPED, MEDIA: STARTING},
    STOPPED: {START: STARTING, STOP: STOPPED},
    STARTING: {
        **{START: STARTING, SLEEP: TO_STANDBY, STOP: TO_STOPPED, MEDIA: STARTING},
        REACHED: ACTIVE,
    },
    TO_STANDBY: {
        **{START: STARTING, SLEEP: TO_STANDBY, STOP: TO_STOPPED, MEDIA: STARTING},
        REACHED: STANDBY,
    },
    TO_STOPPED: {START: STARTING, STOP: TO_STOPPED, REACHED: STOPPED},
}


@pytest.mark.parametrize("condition", range(6))
@pytest.mark.parametrize("event", range(5))
def test_every_event_in_every_condition(core: Core, condition: int, event: int) -> None:
    expected = TABLE[condition].get(event, -EBUSY)
    assert core[1].spek_drive_condition_next(condition, event) == expected


def test_properties_of_conditions(core: Core) -> None:
    ffi, lib = core
    rows = [lib.spek_drive_conditions[i] for i in range(6)]
    assert [ffi.string(condition.name).decode() for condition in rows] == [
        *("active", "standby", "stopped", "starting", "to standby", "to stopped"),
    ]
    assert [condition.serves for condition in rows] == [True] + [False] * 5
    assert [condition.refuses for condition in rows] == [False, False, True, False, False, True]
    assert [condition.is_transition for condition in rows] == [False] * 3 + [True] * 3


def test_a_request_starts_a_standby_drive(core: Core) -> None:
    drive = Drive(core, ES)
    assert drive.command(S, SLEEP) == 0
    assert (drive.condition, drive.next_ns()) == (TO_STANDBY, 13 * S)
    drive.account(13 * S)
    assert (drive.condition, drive.next_ns()) == (STANDBY, NEVER)
    assert drive.submit(20 * S, 8) == 0
    assert drive.start(20 * S) is None
    assert (drive.condition, drive.next_ns()) == (STARTING, 30 * S)
    assert drive.start(30 * S - 1) is None
    service = drive.start(30 * S)
    assert service is not None
    assert (drive.condition, service.start_ns) == (ACTIVE, 30 * S)
    assert drive.account(30 * S).starts == 1


def test_a_request_while_the_spindle_stops_starts_it_again(core: Core) -> None:
    drive = Drive(core, ES)
    assert drive.command(0, SLEEP) == 0
    assert drive.submit(S, 8) == 0
    assert drive.start(S) is None
    assert (drive.condition, drive.next_ns()) == (STARTING, 11 * S)


def test_a_stopped_drive_refuses_requests_until_it_is_started(core: Core) -> None:
    drive = Drive(core, ES)
    assert drive.submit(0, 16) == 0
    assert drive.command(0, STOP) == 0
    assert drive.submit(0, 8) == -EIO
    drive.account(100 * S)
    assert drive.condition == STOPPED
    assert drive.submit(100 * S, 8) == -EIO
    # what it held waits for a start, and does not cause it
    assert drive.start(100 * S) is None
    assert (drive.condition, drive.next_ns()) == (STOPPED, NEVER)
    assert drive.command(100 * S, SLEEP) == -EBUSY
    assert drive.command(100 * S, START) == 0
    assert drive.submit(101 * S, 8) == 0
    service = drive.start(110 * S)
    assert service is not None
    assert service.lba == 16


def test_busy_arms_keep_the_drive_active(core: Core) -> None:
    drive = Drive(core, ES)
    assert drive.submit(0, 700_000_000) == 0
    service = drive.start(0)
    assert service is not None
    assert [drive.command(1, event) for event in (START, SLEEP, STOP)] == [0, -EBUSY, -EBUSY]
    assert drive.finish(service.end_ns - 1) is None
    assert drive.finish(service.end_ns) == service
    assert drive.finish(service.end_ns) is None
    assert drive.command(service.end_ns, STOP) == 0


# ---- energies ----


def condition_of(watts: Watts, condition: int, rail: int, arms: int) -> int:
    hold = watts.hold * arms if (condition, rail) == (ACTIVE, 1) else 0
    return watts.base[condition][rail] + hold


microwatts = st.integers(0, 30_000_000)
some_watts = st.builds(
    Watts,
    base=st.tuples(*[st.tuples(microwatts, microwatts)] * 6),
    hold=microwatts, seek=microwatts, rotate=microwatts, read=microwatts, write=microwatts,
    starting_ns=st.integers(0, 10**8), stopping_ns=st.integers(0, 10**8),
)  # fmt: skip


@given(watts=some_watts, arms=st.integers(1, 4), channels=st.integers(1, 4), data=st.data())
def test_accounts_add_up(
    core: Core, watts: Watts, arms: int, channels: int, data: st.DataObject
) -> None:
    """At any time: residencies are the elapsed time, energy is power times residency, and
    phases are those of the accesses, cut off at that time."""
    channels = min(arms, channels)
    model = replace(ES.with_arms(arms), watts=watts, channels=channels)
    begin_ns = data.draw(st.integers(0, 10**12))
    drive = Drive(core, model, "sptf", now_ns=begin_ns)
    now_ns = begin_ns
    services: list[Service] = []
    running = 0
    for _ in range(15):
        step = data.draw(st.sampled_from(["submit", "command", "wait", "event"]))
        if step == "submit":
            lba, write = data.draw(st.integers(0, drive.sectors - 2000)), data.draw(st.booleans())
            drive.submit(now_ns, lba, data.draw(st.integers(1, 2000)), write)
        elif step == "command":
            drive.command(now_ns, data.draw(st.sampled_from([START, SLEEP, STOP])))
        elif step == "wait":
            now_ns = min(drive.next_ns(), now_ns + data.draw(st.integers(0, 10**8)))
        elif drive.next_ns() != NEVER:
            now_ns = drive.next_ns()
        while drive.finish(now_ns) is not None:
            running -= 1
        while (service := drive.start(now_ns)) is not None:
            services.append(service)
            running += 1
            assert running <= channels
            assert service.start_ns == now_ns
        check_account(drive, watts, arms, services, begin_ns, now_ns)


def check_account(
    drive: Drive, watts: Watts, arms: int, services: list[Service], begin_ns: int, now_ns: int
) -> None:
    account = drive.account(now_ns)
    elapsed_ns = now_ns - begin_ns
    assert sum(account.condition_ns) == elapsed_ns
    assert sum(account.phase_ns) == elapsed_ns * arms
    assert account.served == len(services)
    phases = [0] * 6
    for service in services:
        at_ns = service.start_ns + service.overhead_ns
        for phase, ns in (
            (1, service.seek_ns), (2, service.rotate_ns),
            (4 if service.write else 3, service.transfer_ns),
        ):  # fmt: skip
            phases[phase] += max(0, min(at_ns + ns, now_ns) - at_ns)
            at_ns += ns
        assert at_ns == service.end_ns
    assert list(account.phase_ns[1:]) == phases[1:]
    for rail, parts in (
        (0, {3: watts.read, 4: watts.write}),
        (1, {1: watts.seek, 2: watts.rotate}),
    ):
        fj = sum(
            condition_of(watts, condition, rail, arms) * ns
            for condition, ns in enumerate(account.condition_ns)
        )
        fj += sum(uw * account.phase_ns[phase] for phase, uw in parts.items())
        assert account.fj[rail] == fj


def energy_and_power(core: Core, model: Model, write: bool) -> tuple[int, list[int]]:
    """Total energy of an access in fJ, and the same from the power at every ns where it changes."""
    drive = Drive(core, model)
    assert drive.submit(0, 900_000_000, 5000, write) == 0
    service = drive.start(0)
    assert service is not None
    edges = [0, service.overhead_ns, service.seek_ns, service.rotate_ns, service.transfer_ns]
    at_ns, powers = 0, []
    for ns in edges[1:]:
        for rail in (0, 1):
            first = drive.power_uw(rail, at_ns)
            last = drive.power_uw(rail, at_ns + ns - 1) if ns else first
            assert first == last
            powers.append(first * ns)
        at_ns += ns
    return sum(drive.account(service.end_ns).fj), powers


@pytest.mark.parametrize("write", [False, True])
def test_power_integrates_to_energy(core: Core, write: bool) -> None:
    watts = replace(ES.watts, rotate=123_457, read=1_300_001, write=1_700_003)
    energy, powers = energy_and_power(core, replace(ES, watts=watts, overhead_ns=70_001), write)
    assert energy == sum(powers)


def peak_w(core: Core, arms: int, channels: int, model: Model = ES) -> tuple[float, float]:
    """Watts of an idle drive, and with as many arms moving as can."""
    drive = Drive(core, replace(model.with_arms(arms), channels=channels), "sptf")
    idle = sum(drive.power_uw(rail, 0) for rail in (0, 1))
    for n in range(arms):
        assert drive.submit(0, 1_000_000_000 + 10_000_000 * n) == 0
    moving = 0
    while drive.start(0) is not None:
        moving += 1
    assert moving == channels
    return idle / 1e6, sum(drive.power_uw(rail, 1) for rail in (0, 1)) / 1e6


def test_watts_of_the_paper(core: Core) -> None:
    """Barracuda ES: 9.30 W idle by its manual, 34.0 W with four arms moving by paper 003."""
    assert peak_w(core, 1, 1) == pytest.approx((9.30, 13.975))
    assert peak_w(core, 4, 4) == pytest.approx((15.30, 34.0))
    # one arm at a time: each more assembly costs what it takes to hold it, and not more
    assert peak_w(core, 4, 1) == pytest.approx((15.30, 9.30 + 3 * 2.00 + 4.675))


def test_spin_up_takes_200_joules(core: Core) -> None:
    drive = Drive(core, ES)
    assert drive.command(0, SLEEP) == 0
    before = sum(drive.account(100 * S).fj)
    assert drive.command(100 * S, START) == 0
    assert sum(drive.account(110 * S).fj) - before == 200 * 10**15
    assert drive.condition == ACTIVE


def test_energy_of_a_year_is_exact(core: Core) -> None:
    drive = Drive(core, ES)
    year_ns = 365 * 86_400 * S
    assert sum(drive.account(year_ns).fj) == 9_300_000 * year_ns


@pytest.mark.parametrize("uw", [10**9, 9 * 10**9])
@pytest.mark.parametrize("ns", [2**64 - 1, 10**9 * 86_400 * 365])
def test_energies_beyond_their_range_wrap(core: Core, uw: int, ns: int) -> None:
    """The largest powers over months: no quotient of the division may leave 64 bits."""
    ffi, lib = core
    energy = ffi.new("struct spek_drive_energy *")
    for _ in range(3):
        lib.spek_drive_energy_add(energy, uw, ns)
    nj, rest = divmod(3 * uw * ns, 10**6)
    assert nj >> 64
    assert (energy.nj, energy.rest) == (nj % 2**64, rest)


def test_moved_counts_accesses_that_changed_the_cylinder(core: Core) -> None:
    drive = Drive(core, ES)
    now_ns = 0
    for lba in (0, 8, 1432 * 8, 1432 * 8 + 8, 0):
        now_ns = drive.serve(now_ns, lba).end_ns
    account = drive.account(now_ns)
    assert (account.served, account.moved) == (5, 2)


def test_accesses_end_in_order(core: Core) -> None:
    drive = Drive(core, replace(ES.with_arms(4), channels=4), "sptf")
    for lba in (1_400_000_000, 16, 900_000_000, 600_000_000):
        assert drive.submit(0, lba) == 0
    services = []
    while (service := drive.start(0)) is not None:
        services.append(service)
    assert {service.arm for service in services} == {0, 1, 2, 3}
    ended = []
    while (done := drive.finish(10**9)) is not None:
        ended.append(done)
    assert ended == sorted(services, key=lambda service: service.end_ns)
    assert drive.next_ns() == NEVER


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"hold": 10**9 + 1}, "1 kW"),
        ({"seek": 10**9 + 1}, "1 kW"),
        ({"write": 10**9 + 1}, "1 kW"),
        ({"base": ((0, 0),) * 5 + ((0, 10**9 + 1),)}, "1 kW"),
        ({"starting_ns": 601 * S}, "10 minutes"),
        ({"stopping_ns": 601 * S}, "10 minutes"),
    ],
)
def test_refuses_watts(core: Core, change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        Drive(core, replace(ES, watts=replace(ES.watts, **change)))


def test_refuses_rules(core: Core) -> None:
    with pytest.raises(Refused, match="window"):
        Drive(core, ES, fields={"rule.window": 0})
    for depth in (0, 257):
        with pytest.raises(Refused, match="1 to 256"):
            Drive(core, ES, queue_depth=depth)


@given(watts=some_watts, arms=st.integers(1, 4), moving=st.integers(1, 4), data=st.data())
def test_energy_is_the_integral_of_power(
    core: Core, watts: Watts, arms: int, moving: int, data: st.DataObject
) -> None:
    """Power, read wherever a phase or condition may change, times the time until then: what the
    account has to the femtojoule, whatever the drive does."""
    model = replace(ES.with_arms(arms), watts=watts)
    drive = Drive(core, model, "sptf", fields={"mechanics.moving": min(arms, moving)})
    now_ns, edges, fj = 0, set[int](), [0, 0]
    for _ in range(12):
        step = data.draw(st.sampled_from(["submit", "submit", "command", "event"]))
        if step == "submit":
            lba = data.draw(st.integers(0, drive.sectors - 2000))
            drive.submit(now_ns, lba, data.draw(st.integers(1, 2000)), data.draw(st.booleans()))
        elif step == "command":
            drive.command(now_ns, data.draw(st.sampled_from([START, SLEEP, STOP])))
        while drive.finish(now_ns) is not None:
            pass
        while (service := drive.start(now_ns)) is not None:
            at_ns = service.start_ns
            for ns in (
                *(service.overhead_ns, service.seek_ns, service.rotate_ns),
                service.transfer_ns,
            ):
                at_ns += ns
                edges.add(at_ns)
        then_ns = min(drive.next_ns(), now_ns + data.draw(st.integers(0, 10**8)))
        inner = sorted({edge for edge in edges if now_ns < edge < then_ns} | {now_ns, then_ns})
        for begin_ns, end_ns in pairwise(inner):
            for rail in (0, 1):
                uw = drive.power_uw(rail, begin_ns)
                assert drive.power_uw(rail, end_ns - 1) == uw
                fj[rail] += uw * (end_ns - begin_ns)
        now_ns = then_ns
        assert list(drive.account(now_ns).fj) == fj


def test_watts_of_a_fit_to_the_paper(core: Core) -> None:
    """isca08-watts: 11.7 W of a drive and 3.2 W of each arm are a fit to the paper's figures."""
    base = ((3_000_000, 8_700_000), *ES.watts.base[1:])
    watts = replace(ES.watts, base=base, hold=3_200_000, seek=2_375_000)
    model = replace(ES, watts=watts)
    assert peak_w(core, 1, 1, model) == pytest.approx((14.9, 17.275))
    assert peak_w(core, 4, 4, model) == pytest.approx((24.5, 34.0))
