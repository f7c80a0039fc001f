"""Write pointers: an independent model of a zoned device takes all operations of the core."""

from __future__ import annotations

import errno
import hashlib
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.spekcore import Arrival, Asu, Generator, Stream, Workload, WorkloadError, library

FFI, LIB = library()
KIB, MIB = 1 << 10, 1 << 20
SECTOR = 512
TRANSFER, APPEND, RESET, FINISH, OPEN, CLOSE = 0, 4, 5, 6, 7, 8
KINDS = {"append": 1 << 5, "reset": 64, "finish": 65, "open": 66, "close": 67}
READY, WAIT, NEEDS_RESET, NEEDS_OPEN, RECOVER = range(5)


def begin(zones: Any, op: Any) -> int:
    """Ask for an operation, and begin it, or what its zone needs before, unless it has to wait."""
    answer = int(LIB.spek_zones_ask(zones, op))
    assert LIB.spek_zones_ask(zones, op) == answer
    if answer != WAIT:
        LIB.spek_zones_begin(zones, op)
    return answer


@dataclass
class Zone:
    """A zone as a device keeps it: strict about everything that ZBC and ZNS are strict about."""

    capacity: int
    pointer: int = 0
    active: bool = False

    def write(self, at: int, amount: int) -> None:
        assert at == self.pointer < self.capacity
        assert at + amount <= self.capacity
        self.pointer += amount
        self.active = self.pointer < self.capacity

    def reset(self) -> None:
        self.pointer, self.active = 0, False

    def finish(self) -> None:
        self.pointer, self.active = self.capacity, False

    def open(self) -> None:
        assert self.pointer < self.capacity
        self.active = True

    def close(self) -> None:
        assert self.active
        self.active = self.pointer > 0


@dataclass
class Disk:
    """Zones of @size bytes of which @limit can be active at once."""

    size: int
    limit: int
    zones: list[Zone]
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def take(self, zones: Any, op: Any) -> None:
        """Do what a worker does with an operation: prepare its zone if need be, send, complete."""
        index, at = divmod(int(op.addr), self.size)
        zone = self.zones[index]
        assert at + op.bytes <= self.size
        answer = begin(zones, op)
        while answer in (NEEDS_RESET, NEEDS_OPEN):
            assert begin(zones, op) == WAIT
            zone.reset() if answer == NEEDS_RESET else zone.open()
            self.count("prepared")
            LIB.spek_zones_prepared(zones, op)
            answer = begin(zones, op)
        assert answer == READY
        if not op.write:
            self.count("read" if at + op.bytes <= zone.pointer else "early")
        elif op.kind in (0, 2, KINDS["append"]):
            assert begin(zones, op) == WAIT
            zone.write(at, op.bytes)
            self.count("write")
        else:
            assert (at, op.bytes) == (0, 0)
            name = {kind: name for name, kind in KINDS.items()}[op.kind]
            getattr(zone, name)()
            self.count(name)
        assert sum(zone.active for zone in self.zones) <= self.limit
        LIB.spek_zones_end(zones, op, False)


def at_pointers(read_ppm: int = 0, **changes: Any) -> Stream:
    return replace(Stream("write-pointer", read_ppm=read_ppm), **changes)


def on_zones(nr: int, size: int, open_zones: int, *streams: Stream) -> Workload:
    asu = Asu(nr * size, zone_bytes=size, open_zones=open_zones)
    return Workload([asu], [Arrival(depth=8)], streams or [at_pointers()])


def load(generator: Generator, zones: list[tuple[int, int, int]]) -> None:
    """Take over (pointer, capacity, active) of each zone, in sectors."""
    LIB.spek_zones_load(generator.zones, FFI.new("struct spek_zone_report[]", zones))


def parts_of(zones: list[tuple[int, int, int]], workers: int) -> list[list[tuple[int, int, int]]]:
    return [[zones[i] for i in part] for part in np.array_split(range(len(zones)), workers)]


def run(disk: Disk, generator: Generator, count: int) -> None:
    for _ in range(count):
        op = generator.next()
        disk.take(generator.zones, op)
        LIB.spek_gen_complete(generator._gen, op.arrival, op.at_ns)


OPERATIONS = st.lists(
    st.sampled_from([(TRANSFER, 0), (TRANSFER, 500_000), (APPEND, 0)]), min_size=1, max_size=3
).flatmap(
    lambda data: st.lists(
        st.sampled_from([RESET, FINISH, OPEN, CLOSE]), unique=True, max_size=4
    ).map(lambda others: [*data, *((position, 0) for position in others)])
)


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_any_device_accepts_every_operation(data: st.DataObject) -> None:
    # Conventional zones, capacities below the size, zones in any state, several workers.
    shift = data.draw(st.integers(3, 6))
    size = 4 * KIB << shift
    workers = data.draw(st.integers(1, 3))
    open_each = data.draw(st.integers(1, 3))
    nr = workers * data.draw(st.integers(open_each, open_each + 6))
    sizes = data.draw(st.sampled_from([{4096: 1}, {4096: 3, 8192: 1}, {12288: 1, 16384: 2}]))
    streams = [
        at_pointers(read_ppm, operation=operation, sizes=sizes, weight=2 if not operation else 1)
        for operation, read_ppm in data.draw(OPERATIONS)
    ]
    workload = on_zones(nr, size, workers * open_each, *streams)
    reports, limit = [], workers * open_each
    for _ in range(nr):
        capacity = 8 * data.draw(st.sampled_from([0, 1 << shift, (1 << shift) - 1]))
        pointer = data.draw(st.sampled_from([0, capacity // 8 // 2 * 8, capacity]))
        active = int(0 < pointer < capacity)
        limit += active
        reports.append((pointer, capacity, active))
    reports_out = FFI.new("struct spek_zone_report[]", reports)
    parts = parts_of(reports, workers)
    assert LIB.spek_zone_share_fits(workload.c, 0, workers, reports_out) == all(
        sum(c > 0 for _p, c, _a in part) >= open_each for part in parts
    )
    if not LIB.spek_zone_share_fits(workload.c, 0, workers, reports_out):
        return
    continued = [sum(a for _p, _c, a in part) for part in parts]
    assert LIB.spek_zone_share_continued(workload.c, 0, workers, reports_out) == sum(
        min(open_each, position) for position in continued
    )
    for worker in range(workers):
        generator = Generator(workload, 7, worker, workers)
        zones = generator.zones
        load(generator, reports)
        disk = Disk(size, limit, [Zone(c * SECTOR, p * SECTOR, bool(a)) for p, c, a in reports])
        others = [zone for zone in disk.zones if zone.active]
        run(disk, generator, 400)
        # Those of other workers are as they were.
        for index, zone in enumerate(disk.zones):
            if not zones.first <= index < zones.first + zones.nr:
                pointer, _capacity, active = reports[index]
                assert (zone.pointer, zone.active) == (pointer * SECTOR, bool(active))
        # And the pointers of the core are those of the device, in sectors.
        for index in range(zones.nr):
            zone = disk.zones[zones.first + index]
            if zone.capacity and not zones.zone[index].flags & 4:
                assert zones.zone[index].next * SECTOR == zone.pointer
        assert len(others) <= limit


@pytest.mark.parametrize("open_zones", [1, 3])
def test_no_more_zones_are_open_than_were_asked_for(open_zones: int) -> None:
    generator = Generator(on_zones(16, MIB, open_zones), 1)
    disk = Disk(MIB, open_zones, [Zone(MIB) for _ in range(16)])
    most = 0
    for _ in range(10_000):
        run(disk, generator, 1)
        most = max(most, sum(zone.active for zone in disk.zones))
    assert most == open_zones
    # 256 writes fill a zone; from the second pass on each one is reset before.
    assert disk.counts["prepared"] == pytest.approx((10_000 - 16 * 256) / 256, abs=open_zones)


def test_zones_are_written_in_turn_and_full_ones_leave() -> None:
    generator = Generator(on_zones(4, 64 * KIB, 2), 1)
    addresses = [int(op["addr"]) // KIB for op in generator.ops(34)]
    first = [address for i in range(16) for address in (4 * i, 64 + 4 * i)]
    assert addresses == [*first, 128, 192]


def test_the_last_write_of_a_zone_is_what_is_left() -> None:
    workload = on_zones(2, 64 * KIB, 1, at_pointers(sizes=24 * KIB, align_bytes=8 * KIB))
    sizes = [int(op["bytes"]) // KIB for op in Generator(workload, 1).ops(6)]
    assert sizes == [24, 24, 16, 24, 24, 16]


def test_capacity_ends_a_zone() -> None:
    generator = Generator(on_zones(4, 64 * KIB, 1), 1)
    load(generator, [(0, 16, 0)] * 4)
    addresses = [int(op["addr"]) // KIB for op in generator.ops(5)]
    assert addresses == [0, 4, 64, 68, 128]


def test_active_zones_are_continued_and_empty_ones_come_next() -> None:
    generator = Generator(on_zones(5, 64 * KIB, 1), 1)
    full, empty, conventional = (128, 128, 0), (0, 128, 0), (0, 0, 0)
    load(generator, [conventional, full, (120, 128, 1), full, empty])
    ops = generator.ops(18)
    assert [int(op["addr"]) // KIB for op in ops[:2]] == [128 + 60, 256]
    # Then the first one that can be written, which has data.
    assert int(ops[17]["addr"]) // KIB == 64


def test_reads_are_below_the_pointer_and_everywhere_there() -> None:
    workload = on_zones(8, 64 * KIB, 2, at_pointers(500_000))
    generator = Generator(workload, 1)
    disk = Disk(64 * KIB, 2, [Zone(64 * KIB) for _ in range(8)])
    run(disk, generator, 20_000)
    # Before the first write there is nothing to read.
    assert disk.counts["early"] < 20
    assert disk.counts["read"] > 9000
    ops = generator.ops(20_000)
    places = ops["addr"][ops["write"] == 0] // 4096
    assert len(set(places.tolist())) > 8 * 16 * 0.9


def test_a_zone_has_one_write_in_flight() -> None:
    generator = Generator(on_zones(4, 64 * KIB, 2), 1)
    zones = generator.zones
    first, second, third = generator.next(), generator.next(), generator.next()
    assert [begin(zones, operation) for operation in (first, second)] == [READY, READY]
    assert begin(zones, third) == WAIT  # in the zone of the first
    LIB.spek_zones_end(zones, second, False)
    assert begin(zones, third) == WAIT
    LIB.spek_zones_end(zones, first, False)
    assert begin(zones, third) == READY


def test_a_zone_waits_for_the_one_whose_place_it_takes() -> None:
    generator = Generator(on_zones(4, 64 * KIB, 2), 1)
    ops = [generator.next() for _ in range(33)]
    zones = generator.zones
    for op in ops[:30]:
        assert begin(zones, op) == READY
        LIB.spek_zones_end(zones, op, False)
    last, second, first = ops[30:]  # the last ones of the first zones, the first of the third
    assert [begin(zones, operation) for operation in (last, second)] == [READY, READY]
    assert begin(zones, first) == WAIT
    LIB.spek_zones_end(zones, second, False)
    assert begin(zones, first) == WAIT
    LIB.spek_zones_end(zones, last, False)
    assert begin(zones, first) == READY


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 4), st.integers(1, 8), st.randoms(use_true_random=False))
def test_the_limit_holds_with_many_in_flight(open_zones: int, depth: int, random: Any) -> None:
    # Completions come late and in any order; until then a zone is as the device has it.
    size, streams = 32 * KIB, [at_pointers(weight=4), at_pointers(operation=FINISH)]
    workload = on_zones(open_zones + 3, size, open_zones, *streams)
    generator = Generator(replace(workload, arrivals=[Arrival(depth=depth)]), 3)
    zones = generator.zones
    disk = Disk(size, open_zones, [Zone(size) for _ in range(open_zones + 3)])
    flying: list[Any] = []

    def complete() -> None:
        op = flying.pop(random.randrange(len(flying)))
        zone = disk.zones[int(op.addr) // size]
        zone.active = zone.pointer < zone.capacity
        LIB.spek_zones_end(zones, op, False)
        LIB.spek_gen_complete(generator._gen, op.arrival, op.at_ns)

    for _ in range(500):
        while len(flying) >= depth:
            complete()
        op = generator.next()
        zone = disk.zones[int(op.addr) // size]
        while (answer := begin(zones, op)) != READY:
            if answer == NEEDS_RESET:
                zone.reset()
                LIB.spek_zones_prepared(zones, op)
            else:
                complete()
        zone.finish() if op.kind == KINDS["finish"] else zone.write(int(op.addr) % size, op.bytes)
        zone.active = True
        assert sum(zone.active for zone in disk.zones) <= open_zones
        flying.append(op)


class Failures:
    """A worker and a device on which writes and commands fail: what the device then has is open."""

    def __init__(self, nr: int, open_zones: int, depth: int, streams: list[Stream]) -> None:
        self.size = 32 * KIB
        workload = on_zones(nr, self.size, open_zones, *streams)
        self.generator = Generator(replace(workload, arrivals=[Arrival(depth=depth)]), 3)
        self.zones = self.generator.zones
        self.disk = [Zone(self.size) for _ in range(nr)]
        self.limit, self.depth = open_zones, depth
        self.flying: list[tuple[Any, bool]] = []
        self.errors: list[int] = []  # zones whose operations the device refused

    def zone(self, addr: int) -> Zone:
        return self.disk[addr // self.size]

    def carry_out(self, op: Any, fails: bool, amount: int) -> bool:
        """Return: whether it failed."""
        zone = self.zone(int(op.addr))
        try:
            if op.kind == KINDS["finish"]:
                zone.finish()
            elif op.kind == KINDS["reset"]:
                zone.reset()
            else:
                zone.write(int(op.addr) % self.size, op.bytes)
        except AssertionError:
            self.errors.append(int(op.addr) // self.size)
            return True
        if fails and op.kind not in (KINDS["finish"], KINDS["reset"]):
            zone.pointer -= amount * SECTOR  # a part of it may have been written
            zone.active = True
        return fails

    def complete(self, random: Random, waiting: Any = None) -> None:
        op, failed = self.flying.pop(random.randrange(len(self.flying)))
        lost = LIB.spek_zones_end(self.zones, op, failed)
        assert lost == failed
        if (
            lost
            and waiting is not None
            and waiting.kind != KINDS["reset"]
            and LIB.spek_zones_share_zone(self.zones, waiting, op)
        ):
            LIB.spek_gen_place(self.generator._gen, waiting)
        LIB.spek_gen_complete(self.generator._gen, op.arrival, op.at_ns)

    def send(self, random: Random, fails: bool) -> None:
        while len(self.flying) >= self.depth:
            self.complete(random)
        op = self.generator.next()
        while (answer := begin(self.zones, op)) != READY:
            if answer == NEEDS_RESET:
                self.zone(int(op.addr)).reset()
                LIB.spek_zones_prepared(self.zones, op)
            elif answer == RECOVER:
                self.zone(int(LIB.spek_zones_lost_addr(self.zones))).reset()
                while self.flying and random.random() < 0.5:
                    self.complete(random, op)  # another zone may be lost meanwhile
                LIB.spek_zones_recovered(self.zones, op)
            else:
                self.complete(random, op)
        amount = random.randrange(op.bytes // SECTOR + 1)
        self.flying.append((op, self.carry_out(op, fails, amount)))
        assert sum(zone.active for zone in self.disk) <= self.limit


@settings(deadline=None, max_examples=100)
@given(
    st.integers(1, 4),
    st.integers(0, 3),
    st.integers(1, 8),
    st.sampled_from([[], [FINISH], [RESET], [FINISH, RESET]]),
    st.integers(0, 2**32),
)
def test_a_failed_operation_fails_no_later_one(
    open_zones: int, spare: int, depth: int, commands: list[int], seed: int
) -> None:
    random = Random(seed)
    streams = [at_pointers(weight=6), *(at_pointers(operation=kind) for kind in commands)]
    worker = Failures(open_zones + spare, open_zones, depth, streams)
    for _ in range(500):
        worker.send(random, random.random() < 0.05)
    assert not worker.errors


def test_a_zone_with_a_failed_write_is_left_and_reset_before_it_is_used() -> None:
    generator = Generator(on_zones(3, 64 * KIB, 1), 1)
    zones, index = generator.zones, 64 * KIB
    failed, second, third = generator.next(), generator.next(), None
    assert begin(zones, failed) == READY
    assert begin(zones, second) == WAIT
    assert LIB.spek_zones_end(zones, failed, True)
    assert LIB.spek_zones_share_zone(zones, second, failed)
    LIB.spek_gen_place(generator._gen, second)
    assert int(second.addr) == index
    assert begin(zones, second) == RECOVER
    assert int(LIB.spek_zones_lost_addr(zones)) == 0
    assert begin(zones, second) == WAIT
    LIB.spek_zones_recovered(zones, second)
    assert begin(zones, second) == READY
    LIB.spek_zones_end(zones, second, False)
    # It is empty when its turn comes again.
    third = [generator.next() for _ in range(2 * 16)][-1]
    assert int(third.addr) == 0
    assert begin(zones, third) == READY


def test_sequence_is_the_recorded_one() -> None:
    streams = [
        at_pointers(300_000, sizes={4096: 3, 16384: 1}, weight=20),
        at_pointers(operation=APPEND, weight=10),
        *(at_pointers(operation=operation) for operation in (RESET, FINISH, OPEN, CLOSE)),
    ]
    workload = on_zones(64, MIB, 8, *streams)
    digests = [
        hashlib.sha256(Generator(workload, 42, worker, 2).ops(1000).tobytes()).hexdigest()[:16]
        for worker in range(2)
    ]
    assert digests == GOLDEN


GOLDEN = ["b6fa3b0b40ab9c10", "388401e40e846ac5"]

ZONED = on_zones(8, MIB, 2)
REFUSALS = [
    (on_zones(8, MIB, 0), 1, "asu", errno.ERANGE, "An address range has fewer open zones than"),
    (on_zones(8, MIB, 1), 2, "asu", errno.ERANGE, "An address range has fewer open zones than"),
    (on_zones(8, MIB, 9), 1, "asu", errno.ERANGE, "An address range has more open zones than"),
    (on_zones(8, MIB, 2**20 + 1), 1, "asu", errno.ERANGE, "An address range has more than 1048576"),
    (on_zones(8, 3 * MIB, 1), 1, "asu", errno.EINVAL, "The zone size of an address range must"),
    (
        Workload(
            [Asu(MIB + 4096, zone_bytes=MIB, open_zones=1)], [Arrival(depth=1)], [at_pointers()]
        ),
        *(1, "asu", errno.EINVAL, "An address range that is written at write pointers must"),
    ),
    (
        Workload([Asu(MIB, zone_bytes=MIB, open_zones=1)], [Arrival(depth=1)], [Stream()]),
        *(1, "asu", errno.EINVAL, "Zones are given for an address range without a stream"),
    ),
    (
        Workload(
            [Asu(4 * MIB, 65536, ((0, 0), (1, 0)), MIB, 1)], [Arrival(depth=1)], [at_pointers()]
        ),
        *(1, "asu", errno.EINVAL, "A striped address range can't be written at"),
    ),
    (
        Workload(
            [Asu(8 * MIB, zone_bytes=MIB, open_zones=2)],
            [Arrival(depth=1), Arrival(depth=8)],
            [at_pointers(), at_pointers(arrival=1)],
        ),
        *(2, "asu", errno.EINVAL, "Streams at write pointers of one address range need arrival"),
    ),
    (
        on_zones(8, MIB, 1, at_pointers(1_000_000, sizes={4096: 1, 2 * MIB: 1})),
        *(1, "asu", errno.ERANGE, "A block size of a stream at write pointers is above"),
    ),
    (
        on_zones(8, MIB, 1, at_pointers(replicas=2)),
        *(1, "stream", errno.EINVAL, "A stream at write pointers has replicas"),
    ),
    (
        on_zones(8, MIB, 1, at_pointers(range_start=MIB)),
        *(1, "stream", errno.EINVAL, "A stream at write pointers has all of its address range"),
    ),
    (
        on_zones(8, MIB, 1, at_pointers(sizes=6 * KIB)),
        *(1, "stream", errno.EINVAL, "The alignment of a stream at write pointers must be"),
    ),
    (
        on_zones(8, MIB, 1, at_pointers(operation=2)),
        *(1, "stream", errno.EINVAL, "A stream at write pointers has reads, writes or zone"),
    ),
    (
        on_zones(8, MIB, 1, at_pointers(), Stream(operation=RESET, read_ppm=0)),
        *(1, "stream", errno.EINVAL, "Zone operations are given for a stream whose pattern"),
    ),
]


def test_reads_of_empty_zones_stay_inside() -> None:
    """Grains are found by address: behind the last zone there are none."""
    streams = [at_pointers(1_000_000, sizes=MIB), at_pointers(operation=RESET, sizes=2 * MIB)]
    workload = on_zones(4, MIB, 1, *streams)
    workload.check(1)
    for op in Generator(workload, 1).ops(200):
        assert int(op["addr"]) // MIB == (int(op["addr"]) + max(int(op["bytes"]), 1) - 1) // MIB


@pytest.mark.parametrize(("workload", "workers", "kind", "err", "text"), REFUSALS)
def test_refusal(workload: Workload, workers: int, kind: str, err: int, text: str) -> None:
    with pytest.raises(WorkloadError) as refusal:
        workload.check(workers)
    assert (refusal.value.kind, refusal.value.errno) == (kind, err)
    assert refusal.value.text.startswith(text)


@pytest.mark.parametrize(
    ("pointer", "capacity", "valid"),
    [
        (0, 0, True),
        (96, 96, True),
        (0, 128, True),
        (97, 96, False),
        (1 << 32, 96, False),
        ((1 << 64) - 8, 96, False),  # before the zone
        (0, 129, False),
        (0, (1 << 32) + 96, False),
    ],
)
def test_a_zone_that_can_not_be_is_not_taken_over(pointer: int, capacity: int, valid: bool) -> None:
    """Reads below such a pointer, and writes up to such a capacity, would leave the range."""
    report = FFI.new("struct spek_zone_report *")
    assert LIB.spek_zone_report_set(report, pointer, capacity, 128) == valid
    assert (report.next, report.capacity) == ((pointer, capacity) if valid else (0, 0))
