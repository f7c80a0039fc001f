"""Which request is served next, and by which arm."""

from __future__ import annotations

import functools
import heapq
import random
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.drivecore import POLICIES, Drive, Service

from spekctl.drive.file import load
from spekctl.drive.model import Model

Core = tuple[Any, Any]
ES = load("barracuda-es")
EBUSY, EINVAL, ERANGE = 16, 22, 34


def started(drive: Drive, now_ns: int = 0) -> Service:
    service = drive.start(now_ns)
    assert service is not None
    return service


def order(drive: Drive, lbas: list[int]) -> list[int]:
    """The LBAs in the order in which an idle drive serves them when all are there at once."""
    for lba in lbas:
        assert drive.submit(0, lba) == 0
    now_ns, served = 0, []
    for _ in lbas:
        service = started(drive, now_ns)
        served.append(service.lba)
        now_ns = service.end_ns
        assert drive.finish(now_ns) is not None
    assert drive.start(now_ns) is None
    return served


# ---- choices by definition ----


@dataclass
class Waiting:
    lba: int
    write: bool
    arrival_ns: int


CHEETAH = load("cheetah9lp")


@functools.cache
def alone_with(core: Core, arm_angle: int) -> Drive:
    """The same drive with one of its arms."""
    return Drive(core, replace(CHEETAH, arm_angles=(arm_angle,)))


def expected(
    core: Core, model: Model, policy: str, window: int, max_wait_ns: int,
    waiting: list[Waiting], at: list[tuple[int, int]], busy: set[int], last_lba: int, now_ns: int,
) -> tuple[int, int] | None:  # fmt: skip
    """(index, arm): all pairs, compared by what each would take on a drive of its own."""
    pairs = []
    for index, request in enumerate(waiting[:window]):
        for arm in range(len(model.arm_angles)):
            if arm in busy:
                continue
            # the same drive with this arm alone, moved to its position
            alone = alone_with(core, model.arm_angles[arm])
            alone.c.arms.position[0].cylinder, alone.c.arms.position[0].head = at[arm]
            place = alone.locate(request.lba)
            service = alone.serve(now_ns, request.lba, 8, request.write)
            reach = service.overhead_ns + service.seek_ns + service.rotate_ns
            distance = abs(place.cylinder - at[arm][0])
            pairs.append((index, arm, reach, distance))
    if not pairs:
        return None
    overdue = [
        pair for pair in pairs
        if max_wait_ns and now_ns - waiting[pair[0]].arrival_ns > max_wait_ns
    ]  # fmt: skip
    least_reach = lambda pair: (pair[0], pair[3] if policy == "sstf" else pair[2], pair[1])  # noqa: E731
    if overdue:
        best = min(overdue, key=least_reach)
    elif policy == "fcfs":
        best = min(pairs, key=least_reach)
    elif policy == "sstf":
        best = min(pairs, key=lambda pair: (pair[3], pair[0], pair[1]))
    elif policy == "sptf":
        best = min(pairs, key=lambda pair: (pair[2], pair[0], pair[1]))
    else:

        def upwards(pair: tuple[int, int, int, int]) -> tuple[bool, int, int, int, int]:
            lba = waiting[pair[0]].lba
            return lba < last_lba, lba, pair[0], pair[2], pair[1]

        best = min(pairs, key=upwards)
    return best[0], best[1]


@settings(max_examples=60)
@given(
    policy=st.sampled_from(POLICIES), arms=st.integers(1, 3), channels=st.integers(1, 3),
    window=st.integers(1, 8), max_wait_ms=st.sampled_from([0, 20, 60]), data=st.data(),
)  # fmt: skip
def test_choices_are_those_of_the_definition(
    core: Core, policy: str, arms: int, channels: int, window: int, max_wait_ms: int,
    data: st.DataObject,
) -> None:  # fmt: skip
    model = replace(CHEETAH.with_arms(arms), channels=min(arms, channels))
    max_wait_ns = max_wait_ms * 10**6
    drive = Drive(core, model, policy, window, max_wait_ns=max_wait_ns)
    waiting: list[Waiting] = []
    running: list[Service] = []
    now_ns, last_lba = 0, 0
    lbas = st.integers(0, drive.sectors - 8)
    for _ in range(12):
        for _ in range(data.draw(st.integers(0, 3))):
            request = Waiting(data.draw(lbas), data.draw(st.booleans()), now_ns)
            assert drive.submit(now_ns, request.lba, 8, request.write) == 0
            waiting.append(request)
        at = [(position.cylinder, position.head) for position in drive.c.arms.position]
        busy = {running_service.arm for running_service in running}
        choice = None
        if len(running) < model.channels:
            choice = expected(
                core, model, policy, window, max_wait_ns, waiting, at, busy, last_lba, now_ns
            )
        service = drive.start(now_ns)
        assert (service is None) == (choice is None)
        if service is not None and choice is not None:
            request = waiting.pop(choice[0])
            assert (service.lba, service.write, service.arm) == (
                request.lba,
                request.write,
                choice[1],
            )
            assert service.arrival_ns == request.arrival_ns
            running.append(service)
            last_lba = request.lba
        if running and (service is None or data.draw(st.booleans())):
            now_ns = drive.next_ns()
            assert now_ns == min(running_service.end_ns for running_service in running)
            ended = drive.finish(now_ns)
            assert ended in running
            running.remove(ended)


# ---- orders that can be seen ----

MIDDLE = 700_000_000


def test_orders(core: Core) -> None:
    far, near, low, high = 1_400_000_000, MIDDLE + 2_000_000, 8, 900_000_000
    lbas = [MIDDLE, far, near, low, high]
    assert order(Drive(core, ES, "fcfs"), lbas) == lbas
    assert order(Drive(core, ES, "sstf"), lbas) == [low, MIDDLE, near, high, far]
    assert order(Drive(core, ES, "clook"), lbas) == [low, MIDDLE, near, high, far]
    drive = Drive(core, ES, "clook")
    drive.c.arms.last_lba = near
    assert order(drive, lbas) == [near, high, far, low, MIDDLE]


def test_window_hides_younger_requests(core: Core) -> None:
    lbas = [1_400_000_000, 1_000_000_000, 500_000_000, 8]
    assert order(Drive(core, ES, "sstf", window=1), lbas) == lbas
    assert order(Drive(core, ES, "sstf", window=2), lbas)[0] == 1_000_000_000
    assert order(Drive(core, ES, "sstf", window=3), lbas)[0] == 500_000_000


def test_split_arms_stay_in_their_parts(core: Core) -> None:
    model = replace(ES.with_arms(2), split=True, channels=2)
    drive = Drive(core, model, "fcfs")
    for tag, lba in enumerate([0, 16, 1_400_000_000]):
        assert drive.submit(0, lba, tag=tag) == 0
    first, second = started(drive), started(drive)
    # the second request waits for its arm, the third one need not
    assert (first.tag, first.arm, second.tag, second.arm) == (0, 0, 2, 1)
    assert drive.start(0) is None


# ---- the queue ----


def test_queue_is_bounded(core: Core) -> None:
    drive = Drive(core, ES, queue_depth=3)
    assert [drive.submit(0, 8 * n) for n in range(4)] == [0, 0, 0, -EBUSY]
    assert started(drive).lba == 0
    assert [drive.submit(0, 8), drive.submit(0, 8)] == [0, -EBUSY]


def test_refuses_requests(core: Core) -> None:
    drive = Drive(core, ES)
    assert drive.submit(0, 0, 0) == -EINVAL
    assert drive.submit(0, 0, 65537) == -EINVAL
    assert drive.submit(0, 0, 65536) == 0
    assert drive.submit(0, drive.sectors, 1) == -ERANGE
    assert drive.submit(0, drive.sectors - 1, 2) == -ERANGE
    assert drive.submit(0, 2**64 - 1, 2) == -ERANGE
    assert drive.submit(0, drive.sectors - 1, 1) == 0


@given(st.data())
def test_queue_keeps_the_order_of_arrival(core: Core, data: st.DataObject) -> None:
    drive = Drive(core, ES, "sptf", queue_depth=5)
    queue = drive.ffi.addressof(drive.c, "queue")
    geometry = drive.ffi.addressof(drive.c_model.mechanics.geometry)
    request = drive.ffi.new("struct spek_drive_request *", {"sectors": 8})
    kept: list[tuple[int, int]] = []
    for tag in range(30):
        remove = data.draw(st.booleans())
        if kept and remove:
            _, slot = kept.pop(data.draw(st.integers(0, len(kept) - 1)))
            drive.lib.spek_drive_queue_remove(queue, slot)
        else:
            request.tag = tag
            slot = drive.lib.spek_drive_queue_add(queue, geometry, request)
            assert (slot == 0xFFFF) == (len(kept) == 5)
            if slot != 0xFFFF:
                kept.append((tag, slot))
        seen, index = [], queue.oldest
        while index != 0xFFFF:
            seen.append((int(queue.slots[index].request.tag), index))
            index = queue.slots[index].next
        assert seen == kept
        assert queue.length == len(kept)
        assert queue.youngest == (kept[-1][1] if kept else 0xFFFF)


# ---- many requests ----


def open_loop(drive: Drive, rate: float, requests: int, footprint: float, seed: int) -> list[int]:
    """Poisson arrivals of 4 KiB reads: response times, in the order of completion."""
    source = random.Random(seed)
    blocks = int(drive.sectors * footprint) // 8
    at_ns = 0.0
    responses: list[int] = []
    pending: list[tuple[int, int]] = []
    for tag in range(requests):
        at_ns += source.expovariate(rate) * 1e9
        heapq.heappush(pending, (int(at_ns), tag))
    while pending or drive.next_ns() != 2**64 - 1:
        event_ns = drive.next_ns()
        if pending and pending[0][0] <= event_ns:
            now_ns, _ = heapq.heappop(pending)
            assert drive.submit(now_ns, source.randrange(blocks) * 8) == 0
        else:
            now_ns = event_ns
            service = drive.finish(now_ns)
            assert service is not None
            responses.append(now_ns - service.arrival_ns)
        while drive.start(now_ns) is not None:
            pass
    return responses


def test_deterministic_service_is_m_d_1(core: Core) -> None:
    """Without rotation and with a seek curve of one value the drive is a server of constant time:
    mean response = s + rho s / (2 (1 - rho))."""
    model = replace(ES, seek=((1, 4 * 10**6),), sectors=0)
    drive = Drive(core, model, "fcfs", rotation_scale=0)
    responses = open_loop(drive, rate=120, requests=40_000, footprint=1.0, seed=3)
    service_ms = 4 + 8 / 1100 * 8.333  # tracks hold 788 to 1432 sectors
    rho = 0.12 * service_ms
    expected_ms = service_ms + rho * service_ms / (2 * (1 - rho))
    assert np.mean(responses) / 1e6 == pytest.approx(expected_ms, rel=0.02)


def test_first_come_first_served_is_m_g_1(core: Core) -> None:
    """Pollaczek and Khinchine: mean wait = rate E[s^2] / (2 (1 - rho)), by the moments of the
    service times at depth 1; accesses of a random drive depend little on each other."""
    source = random.Random(5)
    drive = Drive(core, ES, "fcfs")
    times, now_ns = [], 0
    for _ in range(20_000):
        service = drive.serve(now_ns, source.randrange(drive.sectors // 8) * 8)
        times.append((service.end_ns - now_ns) / 1e6)
        now_ns = service.end_ns + source.randrange(10**7)
    rate, mean, square = 0.045, float(np.mean(times)), float(np.mean(np.square(times)))
    assert mean == pytest.approx(12.66, rel=0.01)
    expected_ms = mean + rate * square / (2 * (1 - rate * mean))
    responses = open_loop(Drive(core, ES, "fcfs"), 45, 40_000, 1.0, seed=6)
    assert np.mean(responses) / 1e6 == pytest.approx(expected_ms, rel=0.03)


# IOPS of SA(n) at queue depths by an independent simulation of the same recipe.
SA = {
    1: {1: 79.0, 8: 139.1, 32: 206.4},
    2: {1: 102.7, 8: 164.9, 32: 237.9},
    3: {1: 116.8, 8: 185.0, 32: 257.4},
    4: {1: 127.0, 8: 201.4, 32: 272.8},
}


@pytest.mark.parametrize("arms", SA)
def test_throughput_of_several_arms(core: Core, arms: int) -> None:
    for depth, iops in SA[arms].items():
        drive = Drive(core, ES.with_arms(arms), "sptf")
        source = random.Random(arms)
        blocks = drive.sectors // 8
        for _ in range(depth):
            assert drive.submit(0, source.randrange(blocks) * 8) == 0
        now_ns = 0
        for _ in range(10_000):
            now_ns = started(drive, now_ns).end_ns
            assert drive.finish(now_ns) is not None
            assert drive.submit(now_ns, source.randrange(blocks) * 8) == 0
        assert 10_000 / now_ns * 1e9 == pytest.approx(iops, rel=0.02)


def test_age_limit_bounds_every_wait(core: Core) -> None:
    """SPTF alone starves: its longest wait is seconds. With a limit no request waits longer than it
    and the accesses of those that arrived before and are overdue, too: the depth of the queue."""
    longest = {}
    for limit_ms in (0, 500):
        drive = Drive(core, ES, "sptf", max_wait_ns=limit_ms * 10**6)
        source = random.Random(1)
        ids = count()
        for _ in range(32):
            assert drive.submit(0, source.randrange(drive.sectors // 8) * 8, tag=next(ids)) == 0
        now_ns, worst = 0, 0
        for _ in range(20_000):
            service = started(drive, now_ns)
            worst = max(worst, now_ns - service.arrival_ns)
            now_ns = service.end_ns
            assert drive.finish(now_ns) is not None
            lba = source.randrange(drive.sectors // 8) * 8
            assert drive.submit(now_ns, lba, tag=next(ids)) == 0
        longest[limit_ms] = worst / 1e6
    assert longest[0] > 1000
    assert 500 < longest[500] < 500 + 32 * 25.4


# ---- properties ----


@given(
    arms=st.integers(1, 4), moving=st.integers(1, 4), policy=st.sampled_from(POLICIES),
    data=st.data(),
)  # fmt: skip
def test_arms_conserve_their_position(
    core: Core, arms: int, moving: int, policy: str, data: st.DataObject
) -> None:
    """An arm is where its last access ended, and its next seek takes what the way from there takes;
    all other arms stay where they are."""
    fields = {"mechanics.moving": min(arms, moving)}
    drive = Drive(core, CHEETAH.with_arms(arms), policy, fields=fields)
    at = [(0, 0)] * arms
    now_ns = 0
    for _ in range(20):
        if data.draw(st.booleans()):
            lba = data.draw(st.integers(0, drive.sectors - 600))
            sectors = data.draw(st.integers(1, 600))
            assert drive.submit(now_ns, lba, sectors, data.draw(st.booleans())) == 0
        elif drive.next_ns() != 2**64 - 1:
            now_ns = drive.next_ns()
            assert drive.finish(now_ns) is not None
        while (service := drive.start(now_ns)) is not None:
            first = drive.locate(service.lba)
            cylinder, head = at[service.arm]
            ns = drive.seek_ns(abs(first.cylinder - cylinder))
            if first.head != head:
                ns = max(ns, CHEETAH.head_switch_ns)
            if service.write and (first.cylinder, first.head) != (cylinder, head):
                ns += CHEETAH.settle_ns
            assert service.seek_ns == ns
            last = drive.locate(service.lba + service.sectors - 1)
            at[service.arm] = (last.cylinder, last.head)
        held = [(position.cylinder, position.head) for position in drive.c.arms.position[0:arms]]
        assert held == at


@given(
    arms=st.integers(1, 3), limit_ms=st.integers(1, 100), depth=st.integers(1, 24),
    footprint=st.sampled_from([0.01, 1.0]), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_no_request_starves_beyond_the_age_limit(
    core: Core, arms: int, limit_ms: int, depth: int, footprint: float, seed: int
) -> None:
    """None waits longer than the limit, the access that runs when it is reached, and those of
    older requests that still wait then."""
    limit_ns = limit_ms * 10**6
    drive = Drive(core, CHEETAH.with_arms(arms), "sptf", max_wait_ns=limit_ns)
    source = random.Random(seed)
    blocks = int(drive.sectors * footprint) // 8
    longest_ns = drive.seek_ns(drive.cylinders - 1) + CHEETAH.settle_ns
    # an access has a turn of rotation and may cross a border of tracks
    longest_ns += 3 * CHEETAH.period_ps // 1000
    waiting: dict[int, int] = {}
    history: list[tuple[int, int]] = []  # start and tag
    now_ns = 0
    for tag in range(150):
        if tag >= depth:
            now_ns = drive.next_ns()
            assert drive.finish(now_ns) is not None
        write = source.random() < 0.4
        assert drive.submit(now_ns, source.randrange(blocks) * 8, 8, write, tag) == 0
        waiting[tag] = now_ns
        if tag + 1 < depth:
            continue
        service = started(drive, now_ns)
        overdue_ns = waiting.pop(service.tag) + limit_ns
        if now_ns > overdue_ns:
            since = [served for start_ns, served in history if start_ns > overdue_ns]
            assert all(served < service.tag for served in since)
            assert len(since) <= depth - 1
            assert now_ns - overdue_ns <= (len(since) + 1) * longest_ns
        history.append((now_ns, service.tag))
    assert len(history) == 151 - depth
