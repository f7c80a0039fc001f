"""Replay: what a workload that replays a trace may be, which records it takes, and when."""

from __future__ import annotations

import errno
import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import (
    BLOCK,
    NEVER,
    Arrival,
    Asu,
    Generator,
    Stream,
    Workload,
    WorkloadError,
    library,
)

from spekctl.kernel.gen.spek import Law, Pattern

FFI, LIB = library()
MIB, GIB = 1 << 20, 1 << 30
TRACE_LAW, TRACE_PATTERN = int(Law.TRACE), int(Pattern.TRACE)
TRANSFER, FLUSH_STREAM, DISCARD_STREAM = 0, 1, 2
READ, WRITE, FLUSH, DISCARD = range(4)
FUA, PREFLUSH = 1, 2
YEAR_NS = 366 * 86400 * 10**9
START_NS = 5_000


def traced(
    streams: Sequence[tuple[Stream, int]] = ((Stream(read_ppm=500_000), TRANSFER),),
    arrivals: Sequence[Arrival] = (Arrival(),),
    law: int = TRACE_LAW,
) -> Workload:
    """A workload that replays a trace; @streams with their operations."""
    asus = [Asu(GIB)] * (1 + max(stream.asu for stream, _ in streams))
    workload = Workload(asus, arrivals, [stream for stream, _ in streams])
    if law == TRACE_LAW:
        workload.c.arrival[0].law = law
    for c, (_stream, operation) in zip(workload.c.stream, streams, strict=False):
        c.pattern, c.operation = TRACE_PATTERN, operation
    return workload


def mixed(
    company: Sequence[Arrival],
    others: Sequence[Stream],
    streams: Sequence[tuple[Stream, int]],
    closed: Arrival | None = None,
) -> Workload:
    """A workload of other arrival processes and streams and, last, those of a trace."""
    number = len(company)
    last = [replace(stream, arrival=number) for stream, _operation in streams]
    workload = Workload([Asu(GIB)] * 2, [*company, closed or Arrival()], [*others, *last])
    if closed is None:
        workload.c.arrival[number].law = TRACE_LAW
    for index, (_stream, operation) in enumerate(streams, start=len(others)):
        c = workload.c.stream[index]
        c.pattern, c.operation = TRACE_PATTERN, operation
    return workload


EVERYTHING = [
    (Stream(read_ppm=500_000, sizes=64 << 10), TRANSFER),
    (Stream(read_ppm=0), FLUSH_STREAM),
    (Stream(read_ppm=0), DISCARD_STREAM),
    (Stream(asu=1, range_start=MIB, range_bytes=MIB), TRANSFER),
]


# ---- workloads ----


BAD: list[tuple[Workload, int, int, str, int, str]] = [
    (
        traced([(Stream(sizes={BLOCK: 1, 2 * BLOCK: 1}), TRANSFER)]),
        *(1, errno.EINVAL, "stream", 0, "A stream of a trace needs one block size"),
    ),
    (
        traced([(Stream(align_bytes=1536, sizes=1536), TRANSFER)]),
        *(1, errno.EINVAL, "stream", 0, "The alignment of a trace must be a power of two"),
    ),
    (
        traced([(Stream(sizes=512), TRANSFER)]),
        *(1, errno.EINVAL, "stream", 0, "The alignment of a trace must be a power of two"),
    ),
    (
        traced([(Stream(replicas=2), TRANSFER)]),
        *(1, errno.EINVAL, "stream", 0, "A stream of a trace has one replica."),
    ),
    (
        traced([(Stream(read_ppm=0), 3)]),
        *(1, errno.EINVAL, "stream", 0, "A trace has no such operation"),
    ),
    (
        traced([(Stream(fua=1, read_ppm=0), TRANSFER)]),
        *(1, errno.EINVAL, "stream", 0, "The records of a trace say which writes"),
    ),
    (
        traced(arrivals=[Arrival("constant", rate=1)], law=-1),
        *(1, errno.EINVAL, "arrival", 0, "The streams of a trace need an arrival process with"),
    ),
    (
        traced(
            [(Stream(), TRANSFER), (Stream(asu=1, arrival=1), TRANSFER)],
            [Arrival(), Arrival("closed", depth=1)],
        ),
        *(1, errno.EINVAL, "stream", 1, "The streams of a trace have several arrival processes"),
    ),
    (
        mixed([Arrival("closed", depth=4)], [Stream(), Stream(arrival=1)], EVERYTHING),
        *(1, errno.EINVAL, "stream", 1, "A stream with another pattern uses the arrival process"),
    ),
    (
        mixed([Arrival("closed", depth=4)], [Stream()], EVERYTHING, Arrival("closed", depth=2)),
        *(3, errno.EINVAL, "arrival", 1, "A trace in a closed loop needs a depth"),
    ),
    (
        mixed([Arrival("closed", depth=4)], [Stream()], [*EVERYTHING, EVERYTHING[3]]),
        *(1, errno.EINVAL, "stream", 5, "Two streams of a trace have the same address range"),
    ),
    (
        traced(arrivals=[Arrival("closed", depth=2)], law=-1),
        *(3, errno.EINVAL, "arrival", 0, "A trace in a closed loop needs a depth"),
    ),
    (
        traced(arrivals=[Arrival("closed", depth=2, rate=10)], law=-1),
        *(2, errno.EINVAL, "arrival", 0, "A closed loop that replays a trace has no limit"),
    ),
    (
        traced(
            arrivals=[Arrival("closed", depth=2, pause_ns=1, pause_every=1)],
            law=-1,
        ),
        *(2, errno.EINVAL, "arrival", 0, "A closed loop that replays a trace has no pauses."),
    ),
    (
        traced([(Stream(), TRANSFER), (Stream(asu=1), TRANSFER), (Stream(asu=1), TRANSFER)]),
        *(1, errno.EINVAL, "stream", 2, "Two streams of a trace have the same address range"),
    ),
]


@pytest.mark.parametrize("case", BAD, ids=[case[5][:45] for case in BAD])
def test_workloads_that_are_refused(case: tuple[Workload, int, int, str, int, str]) -> None:
    workload, workers, code, kind, index, text = case
    with pytest.raises(WorkloadError) as refusal:
        workload.check(workers)
    no = refusal.value
    assert (no.errno, no.kind, no.index) == (code, kind, index)
    assert no.text.startswith(text)


def test_a_second_trace_is_refused() -> None:
    workload = mixed([Arrival()], [Stream()], EVERYTHING)
    workload.c.arrival[0].law = TRACE_LAW
    with pytest.raises(WorkloadError, match="for which a run has one arrival process") as refusal:
        workload.check()
    assert (refusal.value.kind, refusal.value.index) == ("arrival", 0)


def test_the_law_needs_the_pattern() -> None:
    workload = Workload([Asu(GIB)], [Arrival()], [Stream()])
    workload.c.arrival[0].law = TRACE_LAW
    with pytest.raises(WorkloadError, match="is for streams with the pattern trace"):
        workload.check()


@pytest.mark.parametrize(
    ("arrival", "law"), [(Arrival(), TRACE_LAW), (Arrival("closed", depth=2), -1)]
)
def test_workloads_that_are_accepted(arrival: Arrival, law: int) -> None:
    traced(EVERYTHING, [arrival], law).check(2)


@pytest.mark.parametrize("closed", [None, Arrival("closed", depth=2)])
def test_a_trace_may_have_company_on_the_same_addresses(closed: Arrival | None) -> None:
    company = [Arrival("poisson", rate=100), Arrival("closed", depth=1, rate=20)]
    others = [Stream(), Stream(arrival=1, asu=1), Stream("sequential", read_ppm=0)]
    mixed(company, others, EVERYTHING, closed).check(2)


# ---- records ----


@dataclass(frozen=True)
class Recorded:
    """struct spek_recorded."""

    at_ns: int = 0
    addr: int = 0
    bytes: int = BLOCK
    asu: int = 0
    op: int = READ
    flags: int = 0

    def fill(self, c: Any) -> Any:
        for name in ("at_ns", "addr", "bytes", "asu", "op", "flags"):
            setattr(c, name, getattr(self, name))
        return c


def refused(
    record: Recorded, before_ns: int = 0, workload: Workload | None = None
) -> tuple[int, str]:
    """errno and sentence; 0 if the record is accepted."""
    workload = workload or traced(EVERYTHING)
    rules = FFI.new("struct spek_replay_rules *")
    LIB.spek_replay_rules_init(rules, workload.c)
    refusal = FFI.new("struct spek_refusal *")
    err = LIB.spek_replay_check(
        rules, record.fill(FFI.new("struct spek_recorded *")), before_ns, refusal
    )
    return -err, FFI.string(refusal.text).decode() if err else ""


@pytest.mark.parametrize(
    "record",
    [
        Recorded(),
        Recorded(at_ns=YEAR_NS),
        Recorded(addr=GIB - BLOCK, op=WRITE),
        Recorded(bytes=64 << 10),
        Recorded(op=WRITE, flags=FUA | PREFLUSH),
        Recorded(op=FLUSH, bytes=0),
        Recorded(op=DISCARD, bytes=GIB),
        Recorded(asu=1, addr=MIB),
        Recorded(asu=1, addr=2 * MIB - BLOCK),
    ],
)
def test_records_that_are_accepted(record: Recorded) -> None:
    assert refused(record) == (0, "")


@pytest.mark.parametrize(
    ("record", "code", "text"),
    [
        (Recorded(asu=16), errno.EINVAL, "unknown operation or address range"),
        (Recorded(asu=65535), errno.EINVAL, "unknown operation or address range"),
        (Recorded(op=4), errno.EINVAL, "unknown operation"),
        (Recorded(asu=2), errno.EPERM, "no stream"),
        (Recorded(asu=1, addr=MIB, op=WRITE), errno.EPERM, "no stream"),
        (Recorded(flags=FUA), errno.EINVAL, "flag"),
        (Recorded(op=WRITE, flags=4), errno.EINVAL, "flag"),
        (Recorded(op=DISCARD, flags=PREFLUSH), errno.EINVAL, "flag"),
        (Recorded(at_ns=YEAR_NS + 1), errno.ERANGE, "a due time or a think time of more than 366"),
        (Recorded(op=FLUSH), errno.EINVAL, "A flush has"),
        (Recorded(op=FLUSH, bytes=0, addr=BLOCK), errno.EINVAL, "A flush has"),
        (Recorded(bytes=0), errno.EINVAL, "no bytes"),
        (Recorded(addr=512), errno.EINVAL, "alignment"),
        (Recorded(bytes=512), errno.EINVAL, "alignment"),
        (Recorded(bytes=68 << 10), errno.ERANGE, "longer"),
        (Recorded(addr=GIB), errno.ERANGE, "outside"),
        (Recorded(addr=GIB - BLOCK, bytes=2 * BLOCK), errno.ERANGE, "outside"),
        (Recorded(addr=2**64 - BLOCK), errno.ERANGE, "outside"),
        (Recorded(asu=1, addr=MIB - BLOCK), errno.ERANGE, "outside"),
        (Recorded(asu=1, addr=2 * MIB), errno.ERANGE, "outside"),
        (Recorded(op=DISCARD, addr=BLOCK, bytes=GIB), errno.ERANGE, "outside"),
    ],
)
def test_records_that_are_refused(record: Recorded, code: int, text: str) -> None:
    answer, sentence = refused(record)
    assert answer == code
    assert text in sentence


def test_a_record_may_be_due_with_the_one_before_but_not_before_it() -> None:
    assert refused(Recorded(at_ns=7), before_ns=7)[0] == 0
    assert "order" in refused(Recorded(at_ns=6), before_ns=7)[1]


def test_streams_beside_the_trace_allow_no_records() -> None:
    company = mixed(
        [Arrival("closed", depth=1)],
        [Stream(asu=1, read_ppm=0), Stream(asu=1, sizes=64 * BLOCK)],
        EVERYTHING,
    )
    assert refused(Recorded(asu=1, addr=MIB), workload=company) == (0, "")
    assert refused(Recorded(asu=1, addr=MIB, op=WRITE), workload=company)[0] == errno.EPERM
    assert refused(Recorded(asu=1, addr=0), workload=company)[0] == errno.ERANGE
    assert refused(Recorded(bytes=64 * BLOCK), workload=company)[0] == errno.ERANGE


U64, U32 = st.integers(0, 2**64 - 1), st.integers(0, 2**32 - 1)


@given(
    st.builds(
        Recorded,
        at_ns=U64 | st.integers(0, YEAR_NS),
        addr=U64 | st.integers(0, GIB // BLOCK).map(lambda n: n * BLOCK),
        bytes=U32 | st.integers(0, 20).map(lambda n: n * BLOCK),
        asu=st.integers(0, 65535) | st.integers(0, 2),
        op=st.integers(0, 255) | st.integers(0, 4),
        flags=st.integers(0, 255) | st.integers(0, 3),
    )
)
def test_what_is_accepted_lies_in_its_range(record: Recorded) -> None:
    code, sentence = refused(record)
    assert bool(code) == bool(sentence)
    if code or record.op == FLUSH:
        return
    low, high = (0, GIB) if record.asu == 0 else (MIB, 2 * MIB)
    assert low <= record.addr < record.addr + record.bytes <= high
    assert record.addr % BLOCK == record.bytes % BLOCK == 0
    assert record.bytes <= 64 << 10 or record.op == DISCARD


# ---- the generator ----


class Supplied:
    """A generator, and a queue of records that it takes from."""

    def __init__(
        self,
        workload: Workload,
        records: Sequence[Recorded] = (),
        worker: int = 0,
        nr_workers: int = 1,
    ) -> None:
        self.queue = deque(records)
        self.generator = Generator(workload, 1, worker, nr_workers, start_ns=START_NS)
        self._call = FFI.callback("bool(struct spek_supply *, struct spek_recorded *)", self._take)
        self._supply = FFI.new("struct spek_supply *", {"next": self._call})
        LIB.spek_gen_set_supply(self.generator._gen, self._supply)

    def _take(self, _supply: Any, record: Any) -> bool:
        if not self.queue:
            return False
        self.queue.popleft().fill(record)
        return True

    def refill(self) -> bool:
        return bool(LIB.spek_gen_refill(self.generator._gen))

    def has_record(self) -> bool:
        return bool(LIB.spek_gen_has_record(self.generator._gen))

    @property
    def record_ns(self) -> int:
        return int(LIB.spek_gen_record_ns(self.generator._gen))


def as_record(op: Any, streams: Sequence[tuple[Stream, int]]) -> Recorded:
    """The record that an operation was made of."""
    operation = streams[op.stream][1]
    kinds = {TRANSFER: op.write, FLUSH_STREAM: FLUSH, DISCARD_STREAM: DISCARD}
    assert op.asu == streams[op.stream][0].asu
    assert op.kind >> 2 == operation
    return Recorded(op.at_ns - START_NS, op.addr, op.bytes, op.asu, kinds[operation], op.kind & 3)


TRACE = [
    Recorded(at_ns=0),
    Recorded(at_ns=10, addr=BLOCK, bytes=2 * BLOCK, op=WRITE, flags=FUA),
    Recorded(at_ns=10, bytes=0, op=FLUSH),
    Recorded(at_ns=50, asu=1, addr=MIB),
    Recorded(at_ns=51, addr=0, bytes=GIB, op=DISCARD),
    Recorded(at_ns=51, addr=3 * BLOCK, op=WRITE, flags=PREFLUSH),
]


def test_operations_are_the_records_at_their_times() -> None:
    source = Supplied(traced(EVERYTHING), TRACE)
    operations = []
    while source.generator.next_ns != NEVER:
        operations.append(as_record(source.generator.next(), EVERYTHING))
    assert operations == TRACE


def test_an_empty_supply_is_asked_again_only_when_told_to() -> None:
    source = Supplied(traced(EVERYTHING), TRACE[:1])
    source.generator.next()
    source.queue.extend(TRACE[1:2])

    assert (source.has_record(), source.generator.next_ns) == (False, NEVER)
    assert source.refill()
    assert source.generator.next_ns == START_NS + 10
    source.generator.next()
    assert not source.refill()


def test_without_a_supply_there_is_no_work() -> None:
    generator = Generator(traced(EVERYTHING), 1)
    assert generator.next_ns == NEVER
    assert len(generator.ops(10)) == 0
    assert generator.backlog(10**18) == 0


def test_a_closed_loop_needs_a_record_and_a_completion() -> None:
    closed = traced(EVERYTHING, [Arrival("closed", depth=2, think_ns=5)], law=-1)
    source = Supplied(closed, [replace(record, at_ns=0) for record in TRACE[:3]])
    loop = source.generator

    assert [loop.next().addr, loop.next().addr] == [0, BLOCK]
    assert loop.next_ns == NEVER, "two are outstanding"
    loop.complete(0, 100)
    assert loop.next_ns == 105
    loop.next()
    loop.complete(0, 200)
    assert loop.next_ns == NEVER, "there is no record"
    source.queue.append(Recorded(addr=7 * BLOCK))
    assert source.refill()
    assert loop.next_ns == 205, "since when it could have been issued"
    assert loop.next().addr == 7 * BLOCK


def test_a_record_of_a_closed_loop_has_a_think_time_of_its_own() -> None:
    closed = traced(EVERYTHING, [Arrival("closed", depth=2, think_ns=5)], law=-1)
    thinks = [0, 30, 7, 900]
    source = Supplied(closed, [Recorded(at_ns=ns, addr=i * BLOCK) for i, ns in enumerate(thinks)])
    loop = source.generator

    assert [loop.next_ns, loop.next().addr] == [START_NS, 0]
    assert loop.next_ns == START_NS + 30, "its place was free from the start"
    loop.next()
    assert loop.next_ns == NEVER
    loop.complete(0, 10_000)
    loop.complete(0, 10_100)
    assert loop.next_ns == 10_000 + 5 + 7
    loop.next()
    assert loop.next_ns == 10_100 + 5 + 900, "after the completion that made room for it"


# ---- beside other arrival processes ----


def test_an_empty_supply_stops_nothing_else() -> None:
    every_ns = 1000
    beside = mixed([Arrival("constant", rate=10**9 // every_ns)], [Stream(asu=1)], EVERYTHING)
    source = Supplied(beside, TRACE[:1])
    loop = source.generator

    assert [loop.next().arrival for _ in range(4)] == [0, 1, 0, 0]
    assert (source.has_record(), source.record_ns) == (False, NEVER)
    assert loop.next_ns == START_NS + 3 * every_ns
    source.queue.append(replace(TRACE[1], at_ns=2 * every_ns + 7))
    assert source.refill()
    assert source.record_ns == loop.next_ns == START_NS + 2 * every_ns + 7, "late, but no later"
    assert loop.next().arrival == 1
    assert loop.next_ns == START_NS + 3 * every_ns


def test_the_time_of_a_record_is_not_that_of_another_process() -> None:
    beside = mixed([Arrival("closed", depth=1)], [Stream()], EVERYTHING)
    source = Supplied(beside, [Recorded(at_ns=900)])
    assert (source.generator.next_ns, source.record_ns) == (START_NS, START_NS + 900)


def test_the_backlog_of_others_leaves_the_trace_out() -> None:
    beside = mixed([Arrival("constant", rate=1000)], [Stream()], EVERYTHING)
    source = Supplied(beside, TRACE)
    assert source.generator.backlog(START_NS + 10_500_000) == 11


def test_a_closed_loop_beside_a_closed_trace_counts_its_own_completions() -> None:
    beside = mixed([Arrival("closed", depth=1)], [Stream()], EVERYTHING, Arrival("closed", depth=1))
    source = Supplied(beside, [Recorded(addr=BLOCK), Recorded(addr=2 * BLOCK)])
    loop = source.generator

    assert [loop.next().arrival, loop.next().arrival] == [0, 1]
    assert loop.next_ns == NEVER
    loop.complete(0, 70)
    assert (loop.next_ns, source.record_ns) == (70, NEVER)
    loop.complete(1, 60)
    assert (loop.next_ns, source.record_ns) == (60, 60)
    assert loop.next().addr == 2 * BLOCK


SERVICE_NS = 40_000
FIELDS = ("at_ns", "addr", "bytes", "replica", "stream", "asu", "arrival", "kind", "write")
COMPANY = [
    Arrival("poisson", rate=20_000),
    Arrival("constant", rate=3_333),
    Arrival("burst", burst_length=7, burst_interval_ns=1_000_000),
    Arrival("closed", depth=5, think_ns=10_000),
    Arrival("closed", depth=4, rate=9_000),
    Arrival("constant", rate=30_000, on_ns=500_000, off_ns=700_000),
]
OTHERS = [
    Stream(read_ppm=300_000, sizes={BLOCK: 3, 8 * BLOCK: 1}),
    Stream("sequential", asu=1, read_ppm=0),
    Stream("once", range_bytes=64 * BLOCK),
    Stream("walk", range_bytes=4096 * BLOCK, replicas=3),
    Stream("hotband", asu=1, read_ppm=500_000),
    Stream(seq_ppm=500_000, replicas=2),
]


def driven(source: Generator, count: int, turn: Any = None) -> list[tuple[int, ...]]:
    """Operations in order, each of which completes after SERVICE_NS; @turn before each."""
    operations: list[tuple[int, ...]] = []
    flying: list[tuple[int, int]] = []
    while len(operations) < count:
        if turn:
            turn()
        while flying and flying[0][0] <= source.next_ns:
            done_ns, arrival = heapq.heappop(flying)
            source.complete(arrival, done_ns)
        if source.next_ns == NEVER:
            break
        op = source.next()
        operations.append(tuple(int(getattr(op, name)) for name in FIELDS))
        heapq.heappush(flying, (int(op.at_ns) + SERVICE_NS, int(op.arrival)))
    return operations


@given(st.data())
def test_a_trace_and_its_company_do_as_each_does_alone(data: st.DataObject) -> None:
    """The trace's records in order with their times, and what the other streams do without it."""
    chosen = data.draw(st.lists(st.integers(0, len(COMPANY) - 1), min_size=1, max_size=4))
    company = [COMPANY[i] for i in chosen]
    others = [
        replace(data.draw(st.sampled_from(OTHERS)), arrival=i % len(company))
        for i in range(len(company) + data.draw(st.integers(0, 3)))
    ]
    nr_workers = data.draw(st.integers(1, 3))
    worker = data.draw(st.integers(0, nr_workers - 1))
    gaps = data.draw(st.lists(st.integers(0, 300_000), max_size=60))
    records = [
        replace(data.draw(st.sampled_from(TRACE)), at_ns=sum(gaps[: i + 1]))
        for i in range(len(gaps))
    ]
    # How many steps pass before each record is there.
    waits = iter(data.draw(st.lists(st.integers(0, 3), min_size=len(gaps), max_size=len(gaps))))

    alone = Generator(
        Workload([Asu(GIB)] * 2, company, others), 1, worker, nr_workers, start_ns=START_NS
    )
    source = Supplied(mixed(company, others, EVERYTHING), (), worker, nr_workers)
    coming, wait = deque(records), next(waits, 0)

    def feed() -> None:
        nonlocal wait
        if wait:
            wait -= 1
        elif coming:
            source.queue.append(coming.popleft())
            wait = next(waits, 0)
        if not source.has_record():
            source.refill()

    steps = 400
    both = driven(source.generator, steps, feed)
    mine = [op for op in both if op[6] == len(company)]
    rest = [op for op in both if op[6] != len(company)]

    streams = [*((stream, TRANSFER) for stream in others), *EVERYTHING]
    assert [
        as_record(type("Op", (), dict(zip(FIELDS, op, strict=True))), streams) for op in mine
    ] == records[: len(mine)]
    # Of operations that are due at the same time, any process may be the first.
    alone_ops = driven(alone, len(rest) + 100)
    for arrival in range(len(company)):
        operations = [op for op in rest if op[6] == arrival]
        assert operations == [op for op in alone_ops if op[6] == arrival][: len(operations)]
    end_ns = max((op[0] for op in rest), default=0)
    assert {op for op in alone_ops if op[0] < end_ns} <= set(rest)
    if len(both) < steps:
        assert len(mine) == len(records)
