"""A generator's set-up: sharing among workers, memory."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.build.declarations import opened
from lib.core.build import GENERATOR, LIBRARY
from lib.core.spekcore import (
    NEVER,
    SHIM,
    Arrival,
    Asu,
    Generator,
    Ops,
    Stream,
    Workload,
    library,
    spc1,
)

FFI, LIB = library()
ASU = Asu(1 << 30)


def single_stream(stream: Stream, arrival: Arrival) -> Workload:
    return Workload([ASU], [arrival], [stream])


def all_workers(workload: Workload, nr_workers: int, count: int) -> list[Ops]:
    return [Generator(workload, 1, w, nr_workers).ops(count) for w in range(nr_workers)]


# ---- sharing ----


@pytest.mark.parametrize("nr_workers", [1, 2, 3, 4, 9])
@pytest.mark.parametrize("depth", [1, 2, 5, 8])
def test_depth_is_shared_out_completely(depth: int, nr_workers: int) -> None:
    workload = single_stream(Stream(), Arrival(depth=depth))
    shares = []
    for worker in range(nr_workers):
        generator = Generator(workload, 1, worker, nr_workers)
        shares.append(0)
        while generator.next_ns != NEVER:
            generator.next()
            shares[-1] += 1
    assert sum(shares) == depth
    assert shares == sorted(shares, reverse=True)
    assert max(shares) - min(shares) <= 1


@pytest.mark.parametrize("nr_workers", [1, 2, 3, 5, 20])
@pytest.mark.parametrize("bsus", [1, 2, 7])
def test_every_replica_lives_on_one_worker_at_its_own_rate(bsus: int, nr_workers: int) -> None:
    total = np.zeros((8, bsus))
    owners: dict[tuple[int, int], set[int]] = {}
    for worker in range(nr_workers):
        generator = Generator(spc1(bsus), 1, worker, nr_workers)
        ops = generator.ops(20_000 * bsus)
        ops = ops[ops["at_ns"] < 300 * 10**9]
        np.add.at(total, (ops["stream"], ops["replica"]), 1)
        for key in set(zip(ops["stream"].tolist(), ops["replica"].tolist(), strict=True)):
            owners.setdefault(key, set()).add(worker)
    expected = 300 * 50 * np.array([35, 281, 70, 210, 18, 70, 35, 281]) / 1000
    deviation = (total - expected[:, None]) / np.sqrt(expected)[:, None]
    assert np.abs(deviation).max() < 5
    for (stream, _), workers in owners.items():
        if stream not in (0, 4):  # uniform streams have no history and go anywhere
            assert len(workers) == 1


def test_runs_and_walks_leave_workers_beyond_their_replicas_idle() -> None:
    walk = Stream("walk", replicas=2)
    for law in (Arrival(depth=8), Arrival("constant", rate=100), Arrival("poisson", rate=100)):
        lengths = [len(ops) for ops in all_workers(single_stream(walk, law), 4, 10)]
        assert lengths == [10, 10, 0, 0]


def test_other_patterns_are_copied_to_every_worker() -> None:
    for stream in (Stream("uniform"), Stream("sequential")):
        for ops in all_workers(single_stream(stream, Arrival("poisson", rate=1000)), 4, 2000):
            assert ops["at_ns"][-1] == pytest.approx(2000 / 250 * 1e9, rel=0.1)


def test_a_process_without_work_here_does_not_disturb_another() -> None:
    walk = replace(Stream("walk"), arrival=1)
    loops = [Arrival("poisson", rate=100), Arrival("poisson", rate=100)]
    workload = Workload([ASU], loops, [Stream(), walk])
    first, second = all_workers(workload, 2, 3000)
    assert set(first["stream"]) == {0, 1}
    assert set(second["stream"]) == {0}


def test_streams_without_a_replica_here_leave_their_rate_to_others() -> None:
    # 100/s of a walk that lives on worker 0 only, and 100/s of a uniform stream for both
    both = [Stream("walk"), Stream()]
    first, second = all_workers(Workload([ASU], [Arrival("poisson", rate=200)], both), 2, 9000)
    assert 9000e9 / first["at_ns"][-1] == pytest.approx(150, rel=0.06)
    assert 9000e9 / second["at_ns"][-1] == pytest.approx(50, rel=0.06)
    assert (first["stream"] == 0).mean() == pytest.approx(2 / 3, abs=0.03)


def loads(workload: Workload, nr_workers: int) -> list[int]:
    workload.check(nr_workers)
    return [LIB.spek_share_load(workload.c, w, nr_workers) for w in range(nr_workers)]


def parts_of(total: int, shares: list[int]) -> list[int]:
    """@total shared out by @shares, as runs do with numbers of I/Os."""
    left, parts = FFI.new("u64 *", total), []
    for at, load in enumerate(shares):
        parts.append(LIB.spek_share_part(left, load, sum(shares[at:])))
    assert left[0] == 0
    return parts


@pytest.mark.parametrize("nr_workers", [1, 2, 3, 5])
@pytest.mark.parametrize("bsus", [1, 2, 7])
def test_the_load_of_a_worker_is_its_rate(bsus: int, nr_workers: int) -> None:
    by_worker = loads(spc1(bsus), nr_workers)
    for worker, load in enumerate(by_worker):
        ops = Generator(spc1(bsus), 1, worker, nr_workers).ops(20_000)
        rate = 20_000e9 / int(ops["at_ns"][-1])
        assert load / sum(by_worker) == pytest.approx(rate / (50 * bsus), rel=0.05)


@pytest.mark.parametrize(
    ("arrivals", "expected"),
    [
        ([Arrival(depth=1)], [1, 0, 0]),
        ([Arrival(depth=4)], [2, 1, 1]),
        ([Arrival(depth=4), Arrival(depth=1)], [3, 1, 1]),
        ([Arrival("constant", rate=90)], [1, 1, 1]),
        ([Arrival("burst", burst_length=4, burst_interval_ns=10**6)], [2, 1, 1]),
        ([Arrival("burst", burst_length=2**32 - 1, burst_interval_ns=1)], [1, 1, 1]),
        # 80 I/Os per second on the first worker, and 90 on all
        (
            [
                Arrival("burst", burst_length=1, burst_interval_ns=12_500_000),
                Arrival("constant", rate=90),
            ],
            [11, 3, 3],
        ),
        # the same with a curve and periods
        (
            [
                Arrival("burst", burst_length=1, burst_interval_ns=12_500_000),
                Arrival("constant", curve=[(0, 0), (1, 180), (1, 90), (3, 90)]),
            ],
            [11, 3, 3],
        ),
        (
            [
                Arrival("burst", burst_length=1, burst_interval_ns=12_500_000),
                Arrival("constant", rate=360, on_ns=10**9, off_ns=3 * 10**9),
            ],
            [11, 3, 3],
        ),
        # what a closed loop makes beside an open one nobody knows
        ([Arrival(depth=1), Arrival("constant", rate=90)], [1, 1, 1]),
    ],
)
def test_the_loads_of_all_laws(arrivals: list[Arrival], expected: list[int]) -> None:
    streams = [Stream(arrival=i) for i in range(len(arrivals))]
    by_worker = loads(Workload([ASU], arrivals, streams), 3)
    assert by_worker == pytest.approx(
        [load * sum(by_worker) / sum(expected) for load in expected], rel=1e-3
    )


def test_a_worker_with_the_least_rate_has_a_load() -> None:
    walk = Stream("walk", weight=2**32 - 1)
    few = Arrival("poisson", rate=0.001)
    first, second = loads(Workload([ASU], [few], [walk, Stream()]), 2)
    assert first > second > 0


def test_equal_loads_get_equal_parts_and_the_first_ones_the_remainder() -> None:
    assert parts_of(10, [7, 7, 7, 7]) == [3, 3, 2, 2]
    assert parts_of(2**64 - 1, [1, 1]) == [2**63, 2**63 - 1]


def test_parts_follow_the_loads_and_leave_nothing() -> None:
    assert parts_of(101, [2**56, 0, 2**54]) == [81, 0, 20]
    assert parts_of(2**64 - 1, [2**60, 2**60, 0]) == [2**63, 2**63 - 1, 0]
    assert parts_of(1, [1, 10**6]) == [1, 0]


# ---- memory ----


def test_a_bsu_takes_96_bytes() -> None:
    assert LIB.shim_replica_bytes(spc1(1).c) == 96
    few, many = (Generator(spc1(n), 1).bytes for n in (10_000, 20_000))
    assert many - few == 96 * 10_000


def test_leaf_states_are_shared_by_all_replicas() -> None:
    small = Generator(spc1(1), 1).bytes
    assert 3 * 73728 < small < 3 * 73728 + 8192


def test_size_follows_the_worker() -> None:
    workload = spc1(3)
    sizes = [LIB.spek_gen_size(workload.c, w, 4) for w in range(4)]
    assert sizes[0] == sizes[1] == sizes[2] > sizes[3]


# ---- time ----

YIELDS = Path(__file__).with_name("yields.h")
YIELD_STEPS = 1 << 16


@pytest.fixture(scope="module")
def counting() -> tuple[Any, Any]:
    """A core that counts how often its set-up gives up the CPU."""
    flags = [*LIBRARY, "-include", str(YIELDS)]
    library = GENERATOR.build("libyields.so", flags, [SHIM, YIELDS])
    return opened(GENERATOR.declarations(SHIM) + "\nextern unsigned long yields;", library)


@pytest.mark.parametrize(
    "stream",
    [
        Stream("sequential"),
        Stream("backward"),
        Stream("strided", stride_bytes=8192),
        Stream("walk", read_ppm=300_000),
        Stream("runs", restart_bytes=1 << 29, run_bytes=1 << 20, run_align_bytes=1 << 16),
        Stream("once"),
        Stream(seq_ppm=500_000),
    ],
    ids=lambda stream: stream.pattern,
)
def test_a_long_set_up_lets_others_run(counting: tuple[Any, Any], stream: Stream) -> None:
    ffi, lib = counting
    replicas = 3 * YIELD_STEPS + 1
    workload = single_stream(replace(stream, replicas=replicas), Arrival("poisson", rate=1000))
    known = ffi.cast("struct spek_workload *", int(FFI.cast("uintptr_t", workload.c)))
    memory = ffi.new("char[]", lib.spek_gen_size(known, 0, 1) + 64)
    address = int(ffi.cast("uintptr_t", memory))
    lib.yields = 0

    lib.spek_gen_init(ffi.cast("struct spek_gen *", address + -address % 64), known, 1, 0, 1)

    assert lib.yields >= replicas // YIELD_STEPS
