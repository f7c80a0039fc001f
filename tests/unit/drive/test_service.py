"""Rotation, transfer and arms: closed forms, and times that agree with the platter's angle."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.drivecore import Drive, Refused, Service

from spekctl.drive.file import load
from spekctl.drive.model import TURN, Model, Zone

Core = tuple[Any, Any]
MS = 10**6
PERIOD_NS = Fraction(8_333_333_333, 1000)
ONE_TRACK = Model(
    "one track", 1, (Zone(0, 1, 1000, 0, 0),), ((1, MS),), 8_333_333_333, overhead_ns=0
)


def turns(drive: Drive, at_ns: int, arm: int = 0) -> Fraction:
    """Angle under an arm, by definition, as a fraction of a turn."""
    mechanics = drive.c_model.mechanics
    period_ns = Fraction(int(mechanics.rotation.period_ps), 1000)
    phase = Fraction(int(mechanics.rotation.phase) + int(mechanics.arm_angle[arm]), TURN)
    return (phase + at_ns / period_ns) % 1


# ---- any access ----


@given(
    name=st.sampled_from(["cheetah9lp", "dnes-309170w", "barracuda-es"]),
    arms=st.integers(1, 4), phase=st.integers(0, TURN - 1), data=st.data(),
)  # fmt: skip
def test_the_platter_is_where_times_say(
    core: Core, name: str, arms: int, phase: int, data: st.DataObject
) -> None:
    drive = Drive(core, load(name).with_arms(arms), "sptf", phase=phase)
    now_ns = data.draw(st.integers(0, 10**13))
    for _ in range(4):
        lba = data.draw(st.integers(0, drive.sectors - 1))
        sectors = data.draw(st.integers(1, min(3000, drive.sectors - lba)))
        write = data.draw(st.booleans())
        service = drive.serve(now_ns, lba, sectors, write)
        check_times(drive, service)
        now_ns = service.end_ns + data.draw(st.integers(0, 10**8))


def check_times(drive: Drive, service: Service) -> None:
    period_ns = Fraction(int(drive.c_model.mechanics.rotation.period_ps), 1000)
    parts = (service.overhead_ns, service.seek_ns, service.rotate_ns, service.transfer_ns)
    assert all(part >= 0 for part in parts)
    assert service.rotate_ns <= period_ns + 1
    assert service.end_ns == service.start_ns + sum(parts)
    # the first sector is under the head when the transfer begins, within 5 ns
    first = Fraction(drive.locate(service.lba).angle, TURN)
    begin = turns(drive, service.end_ns - service.transfer_ns, service.arm)
    assert (begin - first) % 1 * period_ns < 5
    # and the last one has just passed it at the end, which is never late
    last = drive.locate(service.lba + service.sectors - 1)
    spt = drive.c_model.mechanics.geometry.zones[last.zone].spt
    passed = Fraction(last.angle, TURN) + Fraction(1, spt)
    early = (passed - turns(drive, service.end_ns, service.arm) + Fraction(1, 2)) % 1
    assert abs(early - Fraction(1, 2)) * period_ns < 5
    assert (service.cylinder, service.head) == (last.cylinder, last.head)
    # no faster than the media
    assert service.transfer_ns >= service.sectors * period_ns / 1432 - 5 or spt > 1432


def test_angle_stays_exact_for_a_year(core: Core) -> None:
    """The rate of the platter is rounded to 2^-64 turn per ns: 15 us after a year, no more."""
    drive = Drive(core, ONE_TRACK)
    year_ns = 365 * 86_400 * 10**9
    service = drive.serve(year_ns, 500)
    error = (turns(drive, year_ns + service.rotate_ns) - Fraction(1, 2) + Fraction(1, 2)) % 1
    assert abs(error - Fraction(1, 2)) * PERIOD_NS < 20_000


# ---- rotation ----


def mean_rotation_ns(core: Core, model: Model, scale: int = 256) -> Fraction:
    """Mean wait for a sector of one track, started at times spread evenly over a turn."""
    total, count = 0, 2000
    for i in range(count):
        drive = Drive(core, model, "sptf", rotation_scale=scale)
        service = drive.serve(i * 8_333_333 // count, 250)
        assert service.seek_ns == 0
        total += service.rotate_ns
    return Fraction(total, count)


@pytest.mark.parametrize("arms", [1, 2, 3, 4, 8])
def test_mean_rotational_wait_is_half_a_turn_over_the_arms(core: Core, arms: int) -> None:
    mean = mean_rotation_ns(core, ONE_TRACK.with_arms(arms))
    assert float(mean) == pytest.approx(float(PERIOD_NS / (2 * arms)), rel=5e-3)


@pytest.mark.parametrize("scale", [0, 64, 128])
def test_scale_of_rotation(core: Core, scale: int) -> None:
    mean = mean_rotation_ns(core, ONE_TRACK, scale)
    assert float(mean) == pytest.approx(float(PERIOD_NS / 2) * scale / 256, rel=5e-3)


@pytest.mark.parametrize("scale", [0, 64, 128])
def test_scale_of_seeks(core: Core, scale: int) -> None:
    model = load("cheetah9lp")
    whole = Drive(core, model).serve(0, 17_000_000, write=True).seek_ns
    scaled = Drive(core, model, seek_scale=scale).serve(0, 17_000_000, write=True).seek_ns
    assert scaled == whole * scale // 256


def test_scaled_rotation_does_not_shorten_the_transfer(core: Core) -> None:
    for at_ns in range(0, 9 * MS, 100_000):
        service = Drive(core, ONE_TRACK, rotation_scale=0).serve(at_ns, 500, 100)
        assert service.transfer_ns == pytest.approx(float(PERIOD_NS / 10), abs=5)


def test_speed_scales_rotation_and_transfer(core: Core) -> None:
    model = ONE_TRACK.at_rpm(3600)
    service = Drive(core, model).serve(0, 500, 100)
    assert service.rotate_ns == pytest.approx(60e9 / 3600 / 2, abs=2)
    assert service.transfer_ns == pytest.approx(60e9 / 3600 / 10, abs=2)


# ---- transfer ----


def test_a_whole_track_takes_a_turn(core: Core) -> None:
    """256 sectors of 2^-8 turn are 2^64, that is 0, if lengths are kept as angles."""
    model = replace(ONE_TRACK, zones=(Zone(0, 1, 256, 0, 0),))
    service = Drive(core, model).serve(0, 0, 256)
    assert service.transfer_ns == pytest.approx(float(PERIOD_NS), abs=5)


@pytest.mark.parametrize("sectors", [1, 3, 8, 64, 1000])
def test_sequential_accesses_lose_no_turn_and_do_not_drift(core: Core, sectors: int) -> None:
    """Without skews and switches the platter streams: n accesses take as long as one of n times."""
    zones = (Zone(0, 100, 1000, 0, 0),)
    model = replace(ONE_TRACK, zones=zones, seek=((1, 1),))
    drive = Drive(core, model, seek_scale=0)
    now_ns, done = 0, 0
    while done + sectors <= 99_000:
        service = drive.serve(now_ns, done, sectors)
        now_ns, done = service.end_ns, done + sectors
    assert now_ns == pytest.approx(float(done * PERIOD_NS / 1000), abs=10)


def test_track_crossing_is_seek_then_rotation(core: Core) -> None:
    zones = (Zone(0, 2, 100, TURN // 4, TURN // 3),)
    base = Model("x", 2, zones, ((1, 2 * MS),), 8 * 10**9, head_switch_ns=MS, settle_ns=MS // 2)
    # one sector before the head changes: 1 ms of switch, then the skew of 2 ms
    assert Drive(core, base).serve(0, 99, 2).transfer_ns == pytest.approx(2.16 * MS, abs=5)
    # a write settles as well, still within the skew
    service = Drive(core, base).serve(0, 99, 2, write=True)
    assert service.transfer_ns == pytest.approx(2.16 * MS, abs=5)
    # the switch takes longer than the skew: a turn is lost
    slow = replace(base, head_switch_ns=3 * MS)
    assert Drive(core, slow).serve(0, 99, 2).transfer_ns == pytest.approx(10.16 * MS, abs=5)
    # to the next cylinder: the longer one of seek and switch, within a skew of 8/3 ms
    assert Drive(core, base).serve(0, 199, 2).transfer_ns == pytest.approx(
        (0.16 + 8 / 3) * MS, abs=5
    )
    late = Drive(core, base).serve(0, 199, 2, write=True)  # 2.5 ms
    assert late.transfer_ns == pytest.approx((0.16 + 8 / 3) * MS, abs=5)
    later = Drive(core, replace(base, settle_ns=MS)).serve(0, 199, 2, write=True)  # 3 ms
    assert later.transfer_ns == pytest.approx((8.16 + 8 / 3) * MS, abs=5)


def test_head_switch_and_settle_of_the_first_track(core: Core) -> None:
    zones = (Zone(0, 9, 100, 0, 0),)
    model = Model("x", 2, zones, ((1, 2 * MS),), 8 * 10**9, head_switch_ns=3 * MS, settle_ns=7)
    # LBA 0: track 0; 100: its second head; 200: next cylinder, first head; 300: both
    for lba, ns in ((0, 0), (100, 3 * MS), (200, 2 * MS), (300, 3 * MS)):
        assert Drive(core, model).serve(0, lba).seek_ns == ns
        settled = ns + 7 if lba else 0
        assert Drive(core, model).serve(0, lba, write=True).seek_ns == settled


def test_overhead_delays_the_arm(core: Core) -> None:
    model = replace(ONE_TRACK, overhead_ns=MS)
    service = Drive(core, model).serve(0, 500)
    assert service.overhead_ns == MS
    assert service.rotate_ns == pytest.approx(float(PERIOD_NS / 2) - MS, abs=2)


# ---- zero-latency reads ----


def test_zero_latency_reads_a_track_in_a_turn(core: Core) -> None:
    """From wherever the head is: one turn and the rest of a sector instead of 1.5 turns on average;
    a write keeps the order."""
    fields = {"mechanics.zero_latency": True}
    ordinary, sooner = 0, 0
    for at_ns in range(0, 8 * MS, 100_000):
        drive = Drive(core, ONE_TRACK, fields=fields)
        read = drive.serve(at_ns, 0, 1000)
        assert read.end_ns - at_ns <= PERIOD_NS * 1001 / 1000 + 5
        assert read.transfer_ns <= PERIOD_NS + 5
        sooner += read.end_ns - at_ns
        plain = Drive(core, ONE_TRACK).serve(at_ns, 0, 1000)
        write = Drive(core, ONE_TRACK, fields=fields).serve(at_ns, 0, 1000, write=True)
        assert write.end_ns == plain.end_ns
        ordinary += plain.end_ns - at_ns
    assert ordinary / sooner == pytest.approx(1.5, rel=0.02)


@given(
    spt=st.integers(1, 60), first=st.integers(0, 59), sectors=st.integers(1, 60),
    at_ns=st.integers(0, 10**10),
)  # fmt: skip
def test_zero_latency_is_the_earlier_one_of_two_ways(
    core: Core, spt: int, first: int, sectors: int, at_ns: int
) -> None:
    """In the order of LBAs, or a whole turn from the next sector on; by fractions of a turn."""
    first %= spt
    sectors = min(sectors, spt - first)
    model = replace(ONE_TRACK, zones=(Zone(0, 1, spt, 0, 0),))
    drive = Drive(core, model, fields={"mechanics.zero_latency": True})
    service = drive.serve(at_ns, first, sectors)
    behind = (turns(drive, at_ns) - Fraction(first, spt)) % 1  # since the first sector began
    ways = [1 - behind + Fraction(sectors, spt)]
    if behind * PERIOD_NS < 4:
        ways.append(Fraction(sectors, spt) - behind)
    if int(behind * spt) + 1 < sectors:
        ways.append(1 + Fraction(int(behind * spt) + 1, spt) - behind)
    assert service.end_ns - at_ns == pytest.approx(float(min(ways) * PERIOD_NS), abs=8)


# ---- DASH: heads per surface, arms that move while another one transfers ----


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_mean_rotational_wait_is_half_a_turn_over_the_heads_of_a_surface(
    core: Core, heads: int
) -> None:
    total, count = 0, 2000
    fields: dict[str, object] = {
        "mechanics.heads_per_surface": heads,
        "mechanics.head_angle": [TURN * head // heads for head in range(heads)],
    }
    for i in range(count):
        drive = Drive(core, ONE_TRACK, fields=fields)
        service = drive.serve(i * 8_333_333 // count, 250, 10)
        assert service.transfer_ns == pytest.approx(float(PERIOD_NS / 100), abs=6)
        total += service.rotate_ns
    assert total / count == pytest.approx(float(PERIOD_NS / (2 * heads)), rel=5e-3)


@pytest.mark.parametrize("surfaces", [1, 2, 4])
def test_surfaces_that_transfer_together_divide_the_transfer(core: Core, surfaces: int) -> None:
    model = replace(ONE_TRACK, heads=4)
    service = Drive(core, model, fields={"mechanics.geometry.surfaces": surfaces}).serve(0, 0, 800)
    assert service.transfer_ns == pytest.approx(float(PERIOD_NS * 800 / 1000 / surfaces), abs=5)


@given(
    arms=st.integers(2, 4), channels=st.integers(1, 3), phase=st.integers(0, TURN - 1),
    data=st.data(),
)  # fmt: skip
def test_no_more_transfers_at_a_time_than_channels(
    core: Core, arms: int, channels: int, phase: int, data: st.DataObject
) -> None:
    channels = min(arms, channels)
    model = replace(load("cheetah9lp").with_arms(arms), channels=channels)
    drive = Drive(core, model, "sptf", phase=phase, fields={"mechanics.moving": arms})
    now_ns, services = 0, []
    for _ in range(12):
        lba = data.draw(st.integers(0, drive.sectors - 600))
        assert drive.submit(now_ns, lba, data.draw(st.sampled_from([8, 500]))) == 0
    while True:
        while (service := drive.start(now_ns)) is not None:
            services.append(service)
        if not drive.c.arms.busy:
            break
        now_ns = drive.next_ns()
        assert drive.finish(now_ns) is not None
    assert len(services) == 12
    # every arm works as soon as there is something to do
    assert len({access.arm for access in services if access.start_ns == 0}) == arms
    for access in services:
        check_passing(drive, access)
        begin_ns = access.end_ns - access.transfer_ns
        during = [
            beside for beside in services
            if beside.end_ns > begin_ns >= beside.end_ns - beside.transfer_ns
        ]  # fmt: skip
        assert len(during) <= channels


def check_passing(drive: Drive, service: Service) -> None:
    """The first sector is under the head when the transfer begins, however long it waited."""
    period_ns = Fraction(int(drive.c_model.mechanics.rotation.period_ps), 1000)
    first = Fraction(drive.locate(service.lba).angle, TURN)
    begin = turns(drive, service.end_ns - service.transfer_ns, service.arm)
    assert (begin - first) % 1 * period_ns < 5


def test_an_arm_without_a_channel_loses_a_turn(core: Core) -> None:
    model = replace(ONE_TRACK, arm_angles=(0, 0))
    drive = Drive(core, model, "fcfs", fields={"mechanics.moving": 2})
    assert [drive.submit(0, lba, 200) for lba in (500, 600)] == [0, 0]
    first, second = drive.start(0), drive.start(0)
    assert first is not None
    assert second is not None
    # its sector comes in the middle of the first transfer, and again a turn later
    assert first.end_ns == pytest.approx(float(PERIOD_NS * 7 / 10), abs=5)
    assert second.rotate_ns == pytest.approx(float(PERIOD_NS * 16 / 10), abs=5)
    assert second.end_ns == second.start_ns + second.rotate_ns + second.transfer_ns


# ---- parts of a split drive ----


@given(arms=st.integers(1, 8), spt=st.integers(1, 50), cylinders=st.integers(8, 50))
def test_parts_cover_the_drive_once(core: Core, arms: int, spt: int, cylinders: int) -> None:
    zones = (Zone(0, cylinders, spt, 0, 0),)
    model = replace(ONE_TRACK.with_arms(arms), zones=zones, split=True)
    if cylinders * spt < 8 * arms:
        with pytest.raises(Refused, match="at least 8"):
            Drive(core, model)
        return
    drive = Drive(core, model)
    parts = [drive.part(arm) for arm in range(arms)]
    assert parts[0][0] == 0
    for (first, sectors), (following, _) in pairwise(parts):
        assert (first + sectors, following % 8) == (following, 0)
    assert sum(parts[-1]) == drive.sectors
    mechanics = drive.ffi.addressof(drive.c_model.mechanics)
    for lba in {0, drive.sectors - 1, *(first for first, _ in parts)}:
        reached = [arm for arm in range(arms) if drive.lib.spek_drive_reaches(mechanics, arm, lba)]
        assert len(reached) == 1
        first, sectors = parts[reached[0]]
        assert first <= lba < first + sectors


@given(
    stacks=st.integers(1, 4), arms=st.integers(1, 2), split=st.booleans(),
    unused=st.integers(0, 3000),
)  # fmt: skip
def test_arms_of_stacks_reach_their_stack(
    core: Core, stacks: int, arms: int, split: bool, unused: int
) -> None:
    """Each LBA is reached by one arm of a split drive, else by all arms of its stack alone."""
    sectors = max(64, 1000 * stacks - unused)
    model = replace(ONE_TRACK.with_arms(stacks * arms), split=split, sectors=sectors)
    fields = {"mechanics.geometry.stacks": stacks}
    if split and sectors - 1000 * (stacks - 1) < 8 * arms:
        with pytest.raises(Refused, match="at least 8"):
            Drive(core, model, fields=fields)
        return
    drive = Drive(core, model, fields=fields)
    mechanics = drive.ffi.addressof(drive.c_model.mechanics)
    borders = {sum(drive.part(arm)) for arm in range(stacks * arms)}
    for lba in sorted({0, 1, drive.sectors - 1} | borders | {border - 1 for border in borders}):
        if not 0 <= lba < drive.sectors:
            continue
        reached = [
            arm for arm in range(stacks * arms)
            if drive.lib.spek_drive_reaches(mechanics, arm, lba)
        ]  # fmt: skip
        stack = lba // 1000
        assert {arm // arms for arm in reached} == {stack}
        assert len(reached) == (1 if split else arms)


def test_an_access_crosses_to_the_next_stack(core: Core) -> None:
    fields = {"mechanics.geometry.stacks": 2}
    drive = Drive(core, ONE_TRACK.with_arms(2), fields=fields)
    service = drive.serve(0, 990, 20)
    assert (service.arm, service.cylinder, service.head) == (0, 0, 0)
    assert service.transfer_ns == pytest.approx(float(PERIOD_NS * 20 / 1000), abs=5)
    assert drive.serve(service.end_ns, 1500).arm == 1


def test_arms_of_a_drive_that_is_not_split_reach_everything(core: Core) -> None:
    drive = Drive(core, load("barracuda-es").with_arms(4))
    mechanics = drive.ffi.addressof(drive.c_model.mechanics)
    for arm in range(4):
        assert drive.part(arm) == (0, drive.sectors)
        assert drive.lib.spek_drive_reaches(mechanics, arm, drive.sectors - 1)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"period_ps": 999_999_999}, "1 ms to 1 s"),
        ({"period_ps": 10**12 + 1}, "1 ms to 1 s"),
        ({"head_switch_ns": 10**9 + 1}, "up to 1 s"),
        ({"settle_ns": 10**9 + 1}, "up to 1 s"),
        ({"overhead_ns": 10**9 + 1}, "up to 1 s"),
        ({"arm_angles": ()}, "1 to 8 arms"),
        ({"arm_angles": (0,) * 9}, "1 to 8 arms"),
        ({"channels": 0}, "channel"),
        ({"channels": 2}, "channel"),
    ],
)
def test_refuses_mechanics(core: Core, change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        Drive(core, replace(ONE_TRACK, **change))


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"mechanics.moving": 2}, "as there are channels"),
        ({"mechanics.nr_arms": 3, "mechanics.channels": 3, "mechanics.moving": 2}, "channels"),
        ({"mechanics.heads_per_surface": 5}, "1 to 4 heads per surface"),
    ],
)
def test_refuses_dash(core: Core, fields: dict[str, object], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        Drive(core, ONE_TRACK, fields=fields)


@pytest.mark.parametrize("scale", ["seek_scale", "rotation_scale"])
def test_refuses_a_scale_above_real_time(core: Core, scale: str) -> None:
    with pytest.raises(Refused, match="scale"):
        Drive(core, ONE_TRACK, **{scale: 257})  # type: ignore[arg-type]
